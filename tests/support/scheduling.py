"""Which process of a run executes which tests, and in which order."""

from __future__ import annotations

import importlib
from contextlib import suppress
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

# Each group in one process, one after another: it shares a server or a browser, and would fill a
# machine.
TOGETHER = ("tests/chaos/", "tests/browser/")
# Each took more than four times its share of a run (`--durations=0`, added up by file).
SLOW = (
    "tests/acceptance/test_cli.py",
    "tests/integration/test_schemathesis.py",
    "tests/acceptance/test_cut_off.py",
    "tests/integration/test_pod_faults.py",
    "tests/acceptance/test_cli_agents.py",
    "tests/acceptance/test_worker_health.py",
    "tests/integration/test_computer_use.py",
    "tests/integration/test_budgets_on_postgres.py",
    "tests/unit/test_skill_creator_committer.py",
    "tests/unit/test_cli_start.py",
    "tests/acceptance/test_eval_command.py",
    "tests/acceptance/test_signals.py",
    "tests/integration/test_reviewers_day.py",
    "tests/integration/test_promote.py",
    "tests/integration/test_tracing.py",
    "tests/unit/test_sandbox.py",
    "tests/unit/test_messages.py",
)
# Slow files start early, so that at the end no process waits for another's last file.
ORDER = (*TOGETHER, *SLOW, "tests/acceptance/", "tests/integration/", "tests/contracts/")

FOLDER = Path(__file__).parents[1]


def import_by_turns(config: pytest.Config) -> None:
    """Import all tests, each process from another on, so that no two compile the same.

    In a fresh tree each process of a run spent as long with that as with all else of collecting:
    nine seconds of a processor. What cannot be imported is left for collecting to report.
    """
    given = getattr(config, "workerinput", None)
    if given is None or [Path(arg).name for arg in config.args] != [FOLDER.name]:
        return
    names = sorted(
        ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)
        for path in FOLDER.rglob("test_*.py")
    )
    first = len(names) * int(given["workerid"].removeprefix("gw")) // given["workercount"]
    for name in (*names[first:], *names[:first]):
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(name)


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
