"""The walls available on this machine, and the processes still running on it."""

from __future__ import annotations

import psutil
import pytest

from core.adapters.embedded.sandbox import PlainProcess
from core.adapters.embedded.sandbox_bubblewrap import Bubblewrap, find_bubblewrap
from core.adapters.embedded.sandbox_wall import Wall

WALLS = ("bubblewrap", "process")


def bubblewrap() -> Bubblewrap:
    """Return the wall; skip the test with the reason if it is unavailable."""
    wall, reason = find_bubblewrap()
    if wall is None:
        pytest.skip(reason)
    return wall


def wall_named(name: str) -> Wall:
    """Return one of WALLS."""
    return bubblewrap() if name == "bubblewrap" else PlainProcess("a test asks for it")


def running(marker: str) -> list[psutil.Process]:
    """Return this machine's processes, inside sandboxes too, whose command contains `marker`."""
    found = []
    for process in psutil.process_iter():
        try:
            if marker in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found
