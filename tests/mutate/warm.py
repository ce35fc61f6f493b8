"""A process that has the imports of others: it forks one that runs tests, as often as asked.

Imports are most of what a short run of tests costs. Modules of our own are imported behind the
fork, since one of them is mutated. Each request is a line `{"tree", "tests", "log", "limit"}`, each
answer the status of pytest, or null where the time was up.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Sequence

# Of all that tests import, what is not ours.
_FOREIGN = """
import sys, schemathesis.pytest.plugin, tests.conftest, core.app.bootstrap, core.react_agent
import core.entrypoints.api.app, core.entrypoints.cli.app, tests.support.worker, tests.support.gate
print(*(name for name in sorted(sys.modules) if name.split(".")[0] not in ("core", "tests")))
"""
_OPTIONS = ("-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist")
# A plugin that is imported before pytest begins is not rewritten, and need not be.
_OPTIONS += ("-W", "ignore::pytest.PytestAssertRewriteWarning")


def import_foreign() -> None:
    """Import what tests import of others."""
    # Its C part, which is named before it, would break it: no task would know that it runs.
    importlib.import_module("asyncio")
    names = subprocess.check_output([sys.executable, "-c", _FOREIGN], text=True).split()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            with contextlib.suppress(Exception):  # some are names of no file
                importlib.import_module(name)
    importlib.import_module("pytest")


def run(tree: str, tests: Sequence[str], log: str, limit: float) -> int | None:
    """Run tests in a tree, and return the status of pytest; None where they took too long."""
    child = os.fork()
    if not child:
        _become_pytest(tree, tests, log)
    ends = time.monotonic() + limit
    while time.monotonic() < ends:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            # What a test has started and left must not outlive it.
            _kill_group(child)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    _kill_group(child)
    os.waitpid(child, 0)
    return None


def _kill_group(child: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)


def _become_pytest(tree: str, tests: Sequence[str], log: str) -> None:
    os.setsid()
    os.chdir(tree)
    sys.path[0] = tree
    os.environ["PYTHONPATH"] = tree
    for name in [name for name in sys.modules if name.split(".")[0] in {"core", "tests"}]:
        del sys.modules[name]
    importlib.invalidate_caches()
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    status = 3
    try:
        import pytest

        status = int(pytest.main([*_OPTIONS, *tests]))
    except BaseException:  # noqa: BLE001 - it must not go on as the process that forked it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Answer requests until there are no more."""
    import_foreign()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
