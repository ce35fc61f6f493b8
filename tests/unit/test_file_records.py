"""The record in a folder tells what each source wrote there, and is read with care."""

from __future__ import annotations

import pytest

from core.delivery.files.record import Record, Written, read_record
from core.domain.errors import InvalidInput
from core.domain.models import SkillFile

SUM = "0" * 64
KEY = "MEMORY m1"


def test_a_record_is_read_as_it_was_written() -> None:
    first = {"AGENTS.md": Written(sha256=SUM, entries={KEY: SUM})}
    second = {"AGENTS.md": Written(sha256=SUM, head=SUM), "b.md": Written(sha256=SUM, key=KEY)}
    record = Record().with_source("one", first).with_source("two", second)
    file = record.as_file()
    assert file is not None
    assert file.data.endswith(b"}\n")
    assert read_record(file) == record
    assert record.of("two") == second
    assert record.of("three") == {}
    assert record.others("one", "AGENTS.md") == {"two": second["AGENTS.md"]}
    assert record.others("one", "b.md") == {"two": second["b.md"]}
    assert record.others("two", "b.md") == {}


def test_a_source_that_writes_nothing_any_more_leaves_the_record() -> None:
    record = Record().with_source("one", {"a.md": Written(sha256=SUM)})
    assert record.with_source("two", {}) == record
    assert record.with_source("one", {}).as_file() is None
    assert read_record(None) == Record()


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        '{"version": 2, "sources": {}}',
        '{"sources": {"one": {"a.md": {"sha256": "0", "entries": {"no key": "0"}}}}}',
        '{"sources": {"one": {"a.md": {"sha256": "0", "key": "no key"}}}}',
    ],
)
def test_a_record_that_somebody_broke_is_refused_whole(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_record(SkillFile(data=text.encode()))
    assert refused.value.message.code == "files.record"  # type: ignore[union-attr]
