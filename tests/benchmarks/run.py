"""Run the benchmarks and print one table each: ``python tests/benchmarks/run.py --help``."""

from __future__ import annotations

import sys

from hippo_bench.runner import main

if __name__ == "__main__":
    sys.exit(main())
