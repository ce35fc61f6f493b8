"""The browser that this machine has, and whether tests may skip where it has none."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

PROGRAMS = ("/usr/bin/chromium", "chromium", "google-chrome")
NEEDED = ("CI", "BROWSER_TESTS")  # where one of them is set, nothing may be missing


def browser_program() -> str:
    """Give the browser's path; without one the test ends."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    return found or missing(f"no browser: none of {', '.join(PROGRAMS)} is installed")


def missing(reason: str) -> NoReturn:
    """Skip the test for what the machine lacks, or fail it where it must run."""
    if any(map(os.environ.get, NEEDED)):
        pytest.fail(reason)
    pytest.skip(reason)
