"""A pytest plugin that records which test executes which function and which block of SQL."""

from __future__ import annotations

import ast
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

from core.adapters.postgres import queries

FOLDER_VARIABLE = "MUTATE_RECORDS"

_running = ""
_blocks: dict[str, set[str]] = defaultdict(set)
_seconds: dict[str, float] = defaultdict(float)
_read_block = queries.sql


def _recorded_sql(name: str) -> str:
    _blocks[name].add(_running)
    return _read_block(name)


# Before any module of the adapter takes it by name.
queries.sql = _recorded_sql  # type: ignore[assignment]
_coverage = coverage.Coverage(data_file=None, source=["core"], config_file=False)


def pytest_sessionstart() -> None:
    _coverage.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    global _running
    _running = item.nodeid.split("[")[0]
    _coverage.switch_context(_running)
    return (yield)  # type: ignore[return-value]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid.split("[")[0]] += report.duration


def pytest_sessionfinish() -> None:
    _coverage.stop()
    if not _running:  # the process that hands tests out runs none
        return
    data = _coverage.get_data()
    record = {
        "seconds": _seconds,
        "blocks": {name: sorted(tests) for name, tests in _blocks.items()},
        "functions": {
            f"{Path(file).relative_to(Path.cwd())}::{name}": sorted(tests)
            for file in data.measured_files()
            for name, tests in _functions(file, data.contexts_by_lineno(file)).items()
        },
    }
    path = Path(os.environ[FOLDER_VARIABLE]) / f"{os.getpid()}.json"
    path.write_text(json.dumps(record), encoding="utf-8")


def _functions(file: str, contexts: dict[int, list[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for name, lines in bodies(Path(file).read_text("utf-8")).items():
        for line in lines:
            found[name].update(filter(None, contexts.get(line, ())))
    return {name: tests for name, tests in found.items() if tests}


def bodies(source: str) -> dict[str, range]:
    """Return the lines of the body of each function, by its qualified name."""
    found: dict[str, range] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                found[prefix + child.name] = range(
                    child.body[0].lineno, child.body[-1].end_lineno + 1
                )  # type: ignore[operator]
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")
            else:
                visit(child, prefix)

    visit(ast.parse(source), "")
    return found
