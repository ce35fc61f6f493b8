"""Docs and program say the same: links, paths, commands, errors, the map and its terms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain import errors
from core.domain.errors import SkillWorkerError
from core.entrypoints.cli.app import run
from core.entrypoints.cli.exits import exit_code_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FRONT = [ROOT / "README.md", ROOT / "README.ko.md"]
PAGES = [*FRONT, *sorted(DOCS.rglob("*.md"))]
# The changelog names modules as they were called then.
CURRENT = [page for page in PAGES if page.name != "CHANGELOG.md"]
README_LINES, README_LINKS = 130, 12


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _links(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    return re.findall(r"\]\(([^)\s]+)\)", text)


def _anchors(page: Path) -> set[str]:
    text = page.read_text("utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = (re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in headings)
    return {*slugs, *re.findall(r'<a id="([^"]+)">', text)}


def test_links_lead_somewhere() -> None:
    broken = [
        (_name(page), link) for page in PAGES for link in _links(page) if _leads_nowhere(page, link)
    ]
    assert broken == []


def _leads_nowhere(page: Path, link: str) -> bool:
    """Whether a link of a page leads nowhere."""
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if "://" in link:
        return False
    return not target.exists() or bool(anchor and anchor not in _anchors(target))


def test_named_modules_exist() -> None:
    missing = [
        (_name(page), name) for page in CURRENT for name in _missing(page.read_text("utf-8"))
    ]
    assert missing == []


def _missing(text: str) -> list[str]:
    """Return which of the modules and files that a text names are not there."""
    paths = re.findall(r"\bcore/[\w/.-]*\w", text)
    modules = [m.split(".") for m in re.findall(r"\bcore(?:\.[a-z_]+)+\b", text)]
    missing = [path for path in paths if not (ROOT / path).exists()]
    return missing + [".".join(parts) for parts in modules if not _is_module(ROOT.joinpath(*parts))]


def _is_module(path: Path) -> bool:
    return path.is_dir() or path.with_suffix(".py").exists()


def test_the_index_lists_every_page() -> None:
    listed = {(DOCS / link).resolve() for link in _links(DOCS / "index.md")}
    pages = {page for page in DOCS.rglob("*.md") if page.name != "index.md"}
    assert pages - listed == set()


@pytest.mark.parametrize("page", FRONT, ids=_name)
def test_the_readme_is_short(page: Path) -> None:
    assert len(page.read_text("utf-8").splitlines()) <= README_LINES
    assert len(_links(page)) <= README_LINKS


@pytest.mark.parametrize("page", FRONT, ids=_name)
def test_the_map_of_the_readme_is_what_stands_in_core(page: Path) -> None:
    mapped = re.findall(r"^\| `(\w+(?:\.py|/))` \|", page.read_text("utf-8"), re.MULTILINE)
    there = [
        f"{path.name}/" if path.is_dir() else path.name
        for path in (ROOT / "core").iterdir()
        if path.name[0] != "_" and path.name != "py.typed"
    ]
    assert sorted(mapped) == sorted(there)


def test_both_readmes_have_the_same_commands() -> None:
    english, korean = ([line.split(" --")[0] for line in _shell(page)] for page in FRONT)
    assert english == korean


def test_the_glossary_has_every_term_once() -> None:
    text = (DOCS / "reference" / "glossary.md").read_text("utf-8")
    terms = Counter(re.findall(r"^\| <a id=\"([^\"]+)\"></a>", text, re.MULTILINE))
    assert len(terms) > 50
    assert [term for term, times in terms.items() if times > 1] == []


def test_ci_runs_the_readmes_commands() -> None:
    install, script = (
        (ROOT / ".ci" / name).read_text(encoding="utf-8") for name in ("environment.sh", "run")
    )
    tests = "python -m pytest -n 3 --dist loadfile"
    for page in FRONT:
        assert f'pip install ".[test]" && {tests}\n' in page.read_text("utf-8")
    assert '".[test]"' in install
    assert tests in script


def test_commands_in_the_docs_exist(capsys: pytest.CaptureFixture[str]) -> None:
    used = {command for page in PAGES for command in _commands(page)}
    assert len(used) > 30
    assert [command for command in used if run([*command.split(), "--help"]) != 0] == []


def _shell(page: Path) -> list[str]:
    blocks = re.findall(
        r"^```(?:bash|sh|console)?\n(.*?)^```", page.read_text("utf-8"), re.M | re.S
    )
    return [line for block in blocks for line in block.splitlines()]


def _commands(page: Path) -> Iterator[str]:
    for line in _shell(page):
        yield from re.findall(
            r"(?<!-n )(?<!--namespace )\bskill-worker ([a-z]+(?: [a-z]+)?)(?= |$)", line
        )


def _tree(root: type[SkillWorkerError]) -> Iterator[type[SkillWorkerError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)


def test_every_kind_of_error_stands_beside_its_exit_code() -> None:
    text = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\d) \|[^|]+\|([^|]+)\|$", text, flags=re.MULTILINE))
    kinds = {error.kind for error in _tree(errors.SkillWorkerError)}
    assert {k for k in kinds if f"`{k}`" not in rows[str(exit_code_of(k))]} == set()


def test_modules_lead_from_where_they_were_to_where_they_are() -> None:
    text = (DOCS / "CHANGELOG.md").read_text(encoding="utf-8")
    now = re.findall(r"^\| `[\w.`, …]+` \| `([\w.]+)` \|$", text, re.MULTILINE)
    assert len(now) > 100
    missing = [
        module for module in now if not _is_module(ROOT.joinpath("core", *module.split(".")))
    ]
    assert missing == []
