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
    """Re-execute in UTF-8 mode if the locale is ASCII only, so that no text is lost.

    Python fixes the encoding of arguments, file names and streams before any code of ours runs: in
    a bare container (`LANG=C`) re-executing is the only way to change all three.
    """
    if codecs.lookup(sys.getfilesystemencoding()).name == "ascii":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606


__all__ = ["main"]
