"""Which tests execute what: recorded once, kept beside the caches of other tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.mutate.mutant import Mutant
from tests.mutate.recording import FOLDER_VARIABLE
from tests.mutate.scope import ROOT

FILE = Path(".mutation_records.json")
FOLDERS = ("tests/unit", "tests/contracts", "tests/integration")
PROMPT_TESTS = "tests/unit/test_prompts.py"
# A mutant that so many seconds of tests did not notice, quickest first, has survived.
SECONDS = 60.0
# What starts a test, its database or its program, and is no time of its own.
_EACH = 0.02


@dataclass
class Records:
    """Seconds of each test, and tests by function (`path::name`) and by block of SQL."""

    seconds: dict[str, float] = field(default_factory=dict)
    functions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    blocks: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests to run, the quickest first; of new test files all."""
        found = filter(_is_there, self._covering(mutant))
        chosen: list[str] = []
        left = SECONDS
        for test in sorted(found, key=lambda test: (self.seconds.get(test, 0.0), test)):
            left -= self.seconds.get(test, 0.0) + _EACH
            if left < 0 and chosen:
                break
            chosen.append(test)
        return chosen

    def expected(self, tests: Iterable[str]) -> float:
        """Return the seconds that tests took when they were recorded."""
        return sum(self.seconds.get(test, 1.0) + _EACH for test in tests)

    def _covering(self, mutant: Mutant) -> set[str]:
        if mutant.path.endswith(".md"):
            return {PROMPT_TESTS}
        if mutant.path.endswith(".sql"):
            return _of(self.blocks, mutant.place, mutant.place.split(".")[0] + ".")
        name = f"{mutant.path}::{mutant.place}"
        return _of(self.functions, name, f"{mutant.path}::")

    def add(self, record: dict[str, dict[str, object]]) -> None:
        """Add what one process has recorded."""
        for test, took in record["seconds"].items():
            self.seconds[test] = max(float(str(took)), self.seconds.get(test, 0.0))
        for kind in ("functions", "blocks"):
            for name, tests in record[kind].items():
                getattr(self, kind)[name].update(tests)  # type: ignore[arg-type]


def _is_there(test: str) -> bool:
    """Whether a test was neither renamed nor removed since it was recorded."""
    file, *names = test.split("::")
    return not names or f"def {names[-1]}(" in _text(file) or _inherits(test)


def _inherits(test: str) -> bool:
    """Whether a test stands in a class, whose base may be in another file."""
    file, *names = test.split("::")
    return len(names) > 1 and f"class {names[0]}" in _text(file)


@cache
def _text(file: str) -> str:
    path = ROOT / file
    return path.read_text("utf-8") if path.is_file() else ""


def _of(recorded: Mapping[str, set[str]], name: str, beginning: str) -> set[str]:
    """Return the tests of a place or, where it is not on record, those of all of its file."""
    if name in recorded:
        return recorded[name]
    return set().union(*(tests for other, tests in recorded.items() if other.startswith(beginning)))


def recorded(*, anew: bool) -> Records:
    """Return what is recorded, and record it where that was never done, or is to be done anew."""
    if anew or not FILE.exists():
        with tempfile.TemporaryDirectory() as folder:
            _record(folder)
            save(Path(folder))
    records = Records()
    records.add(json.loads(FILE.read_text("utf-8")))
    return records


def save(folder: Path) -> None:
    """Write what processes have recorded in a folder as one file."""
    records = Records()
    for path in sorted(folder.glob("*.json")):
        records.add(json.loads(path.read_text("utf-8")))
    whole = {
        "seconds": records.seconds,
        "functions": {name: sorted(tests) for name, tests in records.functions.items()},
        "blocks": {name: sorted(tests) for name, tests in records.blocks.items()},
    }
    FILE.write_text(json.dumps(whole), "utf-8")


def _record(folder: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", *FOLDERS, "-n", "2", "--dist", "loadfile"]
    command += ["-p", "no:cacheprovider", "-p", "tests.mutate.recording", "-o", "timeout=600"]
    # What fails because it is traced is of no use here, and no reason to stop.
    subprocess.run(command, env={**os.environ, FOLDER_VARIABLE: folder}, check=False)
