"""What readers of the docs type works: a page's commands run in order, in a home of its own."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.support.databases import url_of
from tests.support.pages import MARKS, ROOT, Block, blocks_of, run_page

pytestmark = [
    pytest.mark.skipif(shutil.which("curl") is None, reason="the pages call curl"),
    pytest.mark.timeout(400),
]
DOCS = ROOT / "docs"
TYPED = [
    ROOT / "README.md",
    ROOT / "README.ko.md",
    *sorted((DOCS / "tutorial").glob("*.md")),
    *sorted((DOCS / "how-to").glob("*.md")),
]
BLOCKS = {page: blocks_of(page) for page in TYPED}
# A reason says what is missing, not that something is.
SHORTEST_REASON = 10


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _run(page: Path) -> list[Block]:
    return [b for b in BLOCKS[page] if b.title or (b.is_command and b.mark != "not run")]


# The Korean README has the commands of the English one; the tutorial begins with a database of
# its own.
QUICK = [
    page
    for page in TYPED
    if any(block.is_command for block in _run(page))
    and page.name not in {"README.ko.md", "first-run.md"}
]
# The commands of the others have tests of their own; at night they run as pages too.
IN_EACH_RUN = {"README.md", "decision-tables.md", "undo.md"}


@pytest.mark.parametrize(
    "page",
    [
        page if page.name in IN_EACH_RUN else pytest.param(page, marks=pytest.mark.nightly)
        for page in QUICK
    ],
    ids=_name,
)
def test_the_commands_of_a_page_run_as_they_stand(page: Path, database: str) -> None:
    with tempfile.TemporaryDirectory(prefix="skill-worker-page-") as folder:
        run_page(_run(page), Path(folder), url_of(database))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "page", [DOCS / "tutorial" / "first-run.md", ROOT / "README.md"], ids=_name
)
def test_newcomers_need_no_database(page: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="skill-worker-page-") as folder:
        run_page(_run(page), Path(folder), None)


def test_blocks_are_marked_with_what_a_test_can_act_on() -> None:
    for block in (block for page in TYPED for block in BLOCKS[page]):
        assert not block.looks_like_commands, f"{block.place}: fence it as bash"
        assert block.mark in {"", *MARKS}, block.place
        if block.mark in {"not run", "nightly"}:
            assert len(block.reason) >= SHORTEST_REASON, f"{block.place}: say why"
        if block.mark:
            assert block.is_command, f"{block.place}: only commands are run"
