"""``python -m peers FILE``: see ``--help``."""

from __future__ import annotations

import sys

from peers.runner import main

if __name__ == "__main__":
    sys.exit(main())
