"""``python -m afterd`` and the ``afterd`` command."""

from __future__ import annotations

import sys

from afterd.cli.boundary import run
from afterd.cli.main import afterd
from afterd.execution.unreadable import make_unreadable


def main() -> None:
    """Run the command line and leave with its exit status; no test can read our environment."""
    make_unreadable()
    sys.exit(run(afterd, sys.argv[1:]))


if __name__ == "__main__":
    main()
