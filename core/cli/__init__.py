"""The command line: each command parses, calls the program through `bootstrap`, and renders."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `skill-worker` with the arguments of the process and leave with its exit code."""
    from core.cli.app import run

    sys.exit(run(sys.argv[1:]))


__all__ = ["main"]
