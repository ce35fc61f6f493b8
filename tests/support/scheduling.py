"""Which process of a run executes which tests, and in which order."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadFileScheduling

# Each group in one process, one after another: it shares a server or a browser, and would fill a
# machine.
TOGETHER = ("tests/chaos/", "tests/browser/")
# Each took more than four times its share of a run (`--durations=0`, added up by file).
SLOW = (
    "tests/acceptance/test_cli.py",
    "tests/integration/test_schemathesis.py",
    "tests/integration/test_said_order.py",
    "tests/integration/test_promote.py",
    "tests/integration/test_pod_faults.py",
    "tests/integration/test_reviewers_day.py",
    "tests/unit/test_skill_creator_committer.py",
    "tests/unit/test_cli_start.py",
    "tests/unit/test_messages.py",
    "tests/unit/test_sandbox.py",
)
# Slow files start early, so that at the end no process waits for another's last file.
ORDER = (*TOGETHER, *SLOW, "tests/acceptance/", "tests/integration/", "tests/contracts/")


class Scheduling(LoadFileScheduling):
    """Keeps a file together, and likewise the folders that share something."""

    def _split_scope(self, nodeid: str) -> str:
        folder = next((name for name in TOGETHER if nodeid.startswith(name)), None)
        return folder or super()._split_scope(nodeid)


def longest_first(items: list[pytest.Item]) -> None:
    """Sort what is distributed."""
    items.sort(key=lambda item: _place(item.nodeid))


def _place(nodeid: str) -> int:
    return next((at for at, folder in enumerate(ORDER) if nodeid.startswith(folder)), len(ORDER))
