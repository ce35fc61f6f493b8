"""Runs tests on mutants: each in a copy of the tree, on one database server for all."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from queue import SimpleQueue

from tests.mutate.mutant import Mutant
from tests.mutate.records import Records
from tests.mutate.scope import ROOT
from tests.support import databases

_LEFT_OUT = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", ".hypothesis", "v", ".venv")
_PASSED, _FAILED, _NOTHING = 0, 1, 5
_LEAST_SECONDS = 60.0


class End(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNTESTED = "untested"
    UNJUDGED = "unjudged"


@dataclass(frozen=True)
class Result:
    """What became of a mutant, and which test noticed it."""

    mutant: Mutant
    end: End
    test: str
    seconds: float


class Runner:
    """Runs tests on mutants, `processes` at a time."""

    def __init__(self, records: Records, server: str, folder: Path, processes: int) -> None:
        self._records = records
        self._trees: SimpleQueue[_Tree] = SimpleQueue()
        self._processes = processes
        # A module's bytecode is told from another's by size and time: no two have one time.
        self._times = itertools.count(1_000_000_000)
        for number in range(processes):
            self._trees.put(_Tree(folder / f"tree-{number}", server))

    def close(self) -> None:
        """End the processes that run tests."""
        for _ in range(self._processes):
            self._trees.get().close()

    def run(
        self, mutants: Sequence[Mutant], until: float, tell: Callable[[Result], None]
    ) -> Iterator[Result]:
        """Yield results in the order of the mutants; none is begun after `until` (monotonic)."""

        def judged(mutant: Mutant) -> Result | None:
            if time.monotonic() > until:
                return None
            result = self._judged(mutant)
            tell(result)
            return result

        with ThreadPoolExecutor(self._processes) as pool:
            for result in pool.map(judged, mutants):
                if result is not None:
                    yield result

    def _judged(self, mutant: Mutant) -> Result:
        tests = self._records.tests_of(mutant)
        if not tests:
            return Result(mutant, End.UNTESTED, "", 0.0)
        began = time.monotonic()
        tree = self._trees.get()
        try:
            with self._mutated(tree.path, mutant):
                end, test = self._tested(tree, tests)
            # A test that fails without the mutant too has noticed nothing.
            if "::" in test and tree.run([_whole(test)], _LEAST_SECONDS) == _FAILED:
                end, test = End.UNJUDGED, f"it fails without the mutant too: {test}"
        finally:
            self._trees.put(tree)
        return Result(mutant, end, test, time.monotonic() - began)

    @contextmanager
    def _mutated(self, tree: Path, mutant: Mutant) -> Iterator[None]:
        path = tree / mutant.path
        source = path.read_text("utf-8")
        try:
            self._write(path, mutant.write(source))
            yield
        finally:
            self._write(path, source)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, "utf-8")
        moment = next(self._times)
        os.utime(path, (moment, moment))

    def _tested(self, tree: _Tree, tests: Sequence[str]) -> tuple[End, str]:
        limit = max(_LEAST_SECONDS, 6 * self._records.expected(tests))
        status = tree.run(tests, limit)
        if status is None:
            return End.KILLED, "it takes too long"
        return _end(status, tree.log.read_text("utf-8", "replace"))


class _Tree:
    """A copy of the tree, and the process that runs tests in it."""

    def __init__(self, path: Path, server: str) -> None:
        self.path = path
        self.log = path.with_suffix(".log")
        shutil.copytree(ROOT, path, ignore=_LEFT_OUT)
        environment = {**os.environ, "PYTHONPATH": str(path), databases.SHARED_VARIABLE: server}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.mutate.warm"],
            cwd=path,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def run(self, tests: Sequence[str], limit: float) -> int | None:
        """Run tests, and return the status of pytest; None where they took too long."""
        assert self._process.stdin is not None
        request = {"tree": str(self.path), "tests": tests, "log": str(self.log), "limit": limit}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        status: int | None = json.loads(self._answer())
        return status

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def _end(status: int, said: str) -> tuple[End, str]:
    if status == _PASSED:
        return End.SURVIVED, ""
    failed = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if not failed and status != _FAILED:
        last = said.strip().splitlines()[-1:] or ["it said nothing"]
        return End.UNJUDGED, f"status {status}: {last[0]}"
    return End.KILLED, failed[0].split(" - ")[0].split(" ", 1)[1] if failed else ""


def _whole(test: str) -> str:
    """Return a test without its parameters, whose names pytest escapes."""
    return test.split("[")[0]


@contextmanager
def running(records: Records, processes: int) -> Iterator[Runner]:
    """Start the server and copy the tree."""
    databases.choose_home()
    try:
        with databases.test_server() as server, tempfile.TemporaryDirectory() as folder:
            databases.template(server)
            runner = Runner(records, server, Path(folder), processes)
            yield runner
            runner.close()
    finally:
        databases.remove_home()
