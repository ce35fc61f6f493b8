"""The browser on this machine, and whether tests may skip without one."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

PROGRAMS = ("/usr/bin/chromium", "chromium", "google-chrome")
NEEDED = ("CI", "BROWSER_TESTS")  # if one of these is set, nothing may be missing


def browser_program() -> str:
    """Return the browser's path; without one the test ends."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    return found or missing(f"no browser: none of {', '.join(PROGRAMS)} is installed")


def missing(reason: str) -> NoReturn:
    """Skip the test because something is missing, or fail it where it must run."""
    if any(map(os.environ.get, NEEDED)):
        pytest.fail(reason)
    pytest.skip(reason)
