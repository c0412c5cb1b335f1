"""Benchmarks of hippo_async: each figure is taken next to a floor or a peer, in the same run."""
