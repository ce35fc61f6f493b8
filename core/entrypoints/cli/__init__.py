"""The command line: each command parses, calls the program through `bootstrap`, and renders."""

from __future__ import annotations

import codecs
import os
import sys


def main() -> None:
    """Run `skill-worker` with the arguments of the process and leave with its exit code."""
    _speak_utf8()
    from core.entrypoints.cli.app import run

    sys.exit(run(sys.argv[1:]))


def _speak_utf8() -> None:
    """Begin again in UTF-8 mode where the locale knows ASCII only, so that no text is lost."""
    if codecs.lookup(sys.getfilesystemencoding()).name == "ascii":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606


__all__ = ["main"]
