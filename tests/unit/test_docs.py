"""Docs and program say the same: links lead somewhere, commands and errors are all there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain import errors
from core.domain.errors import SkillWorkerError
from core.entrypoints.cli.app import run
from core.entrypoints.cli.exits import exit_code_of

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("folder", ["tutorial", "how-to", "reference", "explanation"])
def test_each_kind_of_page_is_reached_from_the_readme(folder: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = (ROOT / "docs" / folder).glob("*.md")
    assert [p.name for p in pages if f"docs/{folder}/{p.name}" not in readme] == []


def test_ci_runs_the_readmes_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert 'pip install ".[test]" && python -m pytest -n 3 --dist loadfile' in readme
    assert '".[test]"' in script
    assert "python -m pytest -n 3 --dist loadfile" in script


def test_commands_in_the_docs_exist(capsys: pytest.CaptureFixture[str]) -> None:
    used = {command for page in PAGES for command in _commands(page.read_text(encoding="utf-8"))}
    assert len(used) > 10
    assert [command for command in used if run([*command.split(), "--help"]) != 0] == []


def _commands(page: str) -> Iterator[str]:
    for block in re.findall(r"^```\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL):
        yield from re.findall(r"\bskill-worker ([a-z]+(?: [a-z]+)?)(?= |$)", block, re.MULTILINE)


def _tree(root: type[SkillWorkerError]) -> Iterator[type[SkillWorkerError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


def test_every_kind_of_error_stands_beside_its_exit_code() -> None:
    text = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\d) \|[^|]+\|([^|]+)\|$", text, flags=re.MULTILINE))
    kinds = {error.kind for error in _tree(errors.SkillWorkerError)}
    assert {k for k in kinds if f"`{k}`" not in rows[str(exit_code_of(k))]} == set()
