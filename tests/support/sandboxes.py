"""The walls that this machine has, and what still runs on it."""

from __future__ import annotations

import psutil
import pytest

from core.adapters.embedded.sandbox import PlainProcess
from core.adapters.embedded.sandbox_bubblewrap import Bubblewrap, find_bubblewrap
from core.adapters.embedded.sandbox_wall import Wall

WALLS = ("bubblewrap", "process")


def bubblewrap() -> Bubblewrap:
    """Give the wall; skip the test where it cannot be had, with the reason."""
    wall, reason = find_bubblewrap()
    if wall is None:
        pytest.skip(reason)
    return wall


def wall_named(name: str) -> Wall:
    """Give one of WALLS."""
    return bubblewrap() if name == "bubblewrap" else PlainProcess("a test asks for it")


def running(marker: str) -> list[psutil.Process]:
    """Give the processes of this machine, inside sandboxes too, whose command has `marker`."""
    found = []
    for process in psutil.process_iter():
        try:
            if marker in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found
