"""The command line: ``hippo``. Exit codes: 0 done, 1 a store is not intact, 2 wrong use, 3 other errors."""

from hippo_async.cli.app import main

__all__ = ["main"]
