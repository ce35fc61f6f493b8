"""Every SQL block the code names exists, and every block is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.adapters.postgres.queries import sql

FOLDER = Path("core/adapters/postgres")
FILES = {path.stem: path.read_text("utf-8") for path in (FOLDER / "sql").glob("*.sql")}
CODE = "".join(path.read_text("utf-8") for path in FOLDER.glob("*.py"))
_NO_MESSAGES = re.sub(r'Message\(\s*"[\w.]+"', "", CODE)  # their codes look like names of blocks
NAMED = set(re.findall(rf'"((?:{"|".join(FILES)})\.\w+)"', _NO_MESSAGES))
COMPOSED = {"changes", "erasing", "knowledge"}  # some of their names are put together from a verb


def test_every_named_block_exists() -> None:
    assert [name for name in sorted(NAMED) if not sql(name)] == []


def test_no_block_is_unused() -> None:
    blocks = {
        f"{file}.{block}"
        for file in FILES.keys() - COMPOSED
        for block in re.findall(r"^-- name: (\w+)", FILES[file], re.MULTILINE)
    }
    assert blocks - NAMED == set()


def test_an_unknown_block_is_an_error() -> None:
    with pytest.raises(KeyError):
        sql("inbox.nothing")
