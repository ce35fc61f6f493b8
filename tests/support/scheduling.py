"""Who of the processes of a run does which tests, and in which order."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadFileScheduling

ALONE = "tests/chaos/"  # in one process, one after another: they share a world, and fill a machine
# What takes long begins early, so that at the end no process waits for another's last file.
ORDER = (ALONE, "tests/acceptance/", "tests/browser/", "tests/integration/", "tests/contracts/")


class Scheduling(LoadFileScheduling):
    """A file stays together, and so does what must be alone."""

    def _split_scope(self, nodeid: str) -> str:
        return ALONE if nodeid.startswith(ALONE) else super()._split_scope(nodeid)


def longest_first(items: list[pytest.Item]) -> None:
    """Sort what is shared out."""
    items.sort(key=lambda item: _place(item.nodeid))


def _place(nodeid: str) -> int:
    return next((at for at, folder in enumerate(ORDER) if nodeid.startswith(folder)), len(ORDER))
