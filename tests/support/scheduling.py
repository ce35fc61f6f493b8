"""Who of the processes of a run does which tests, and in which order."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadFileScheduling

# Each in one process, one after another: they share a world or a browser, and fill a machine.
TOGETHER = ("tests/chaos/", "tests/browser/")
# What takes long begins early, so that at the end no process waits for another's last file.
ORDER = (*TOGETHER, "tests/acceptance/", "tests/integration/", "tests/contracts/")


class Scheduling(LoadFileScheduling):
    """A file stays together, and so do the folders that share something."""

    def _split_scope(self, nodeid: str) -> str:
        folder = next((name for name in TOGETHER if nodeid.startswith(name)), None)
        return folder or super()._split_scope(nodeid)


def longest_first(items: list[pytest.Item]) -> None:
    """Sort what is shared out."""
    items.sort(key=lambda item: _place(item.nodeid))


def _place(nodeid: str) -> int:
    return next((at for at, folder in enumerate(ORDER) if nodeid.startswith(folder)), len(ORDER))
