"""The files of a held change: what is read of them, and what a person may put in their place."""

from __future__ import annotations

import pytest

from core.domain.errors import InvalidInput, NotFound
from core.domain.hashing import sha256
from core.domain.models import FileRef, Kind, Snapshot
from core.entrypoints.service.review_view.editing import with_texts
from core.entrypoints.service.review_view.shown import Side
from core.entrypoints.service.review_view.states import read_file
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from tests.contracts.suites.change_log import memory_change

CHANGE = memory_change("c1", "원화로", "달러로")


@pytest.fixture
def log() -> MemoryChangeLog:
    return MemoryChangeLog(MemoryKnowledge())


async def test_a_memory_is_read_as_one_file_of_each_side(log: MemoryChangeLog) -> None:
    assert await read_file(CHANGE, "memory.txt", Side.BEFORE, log) == "원화로".encode()
    assert await read_file(CHANGE, "memory.txt", Side.AFTER, log) == "달러로".encode()
    created = CHANGE.model_copy(update={"before": None})
    for path, side in (("memory.txt", Side.BEFORE), ("other.txt", Side.AFTER)):
        with pytest.raises(NotFound, match=path):
            await read_file(created, path, side, log)


async def test_what_is_edited_is_a_file_of_the_change(log: MemoryChangeLog) -> None:
    edited = await with_texts(CHANGE, {"memory.txt": "유로로"}, log)
    assert (edited.content, edited.files) == ("유로로", None)
    with pytest.raises(InvalidInput, match=r"has no file 'other.txt'"):
        await with_texts(CHANGE, {"other.txt": "유로로"}, log)
    with pytest.raises(InvalidInput, match="nothing was edited"):
        await with_texts(CHANGE, {"memory.txt": "달러로"}, log)


async def test_of_an_edited_skill_all_other_files_stay(log: MemoryChangeLog) -> None:
    files = {"SKILL.md": b"---\nname: a\n---\n", "scripts/run.sh": b"#!/bin/sh\n", "logo": b"\0"}
    state = Snapshot(
        content="",
        name="a",
        files={
            path: FileRef(sha256=sha256(data), size=len(data), executable=path == "scripts/run.sh")
            for path, data in files.items()
        },
    )
    change = CHANGE.model_copy(update={"kind": Kind.SKILL, "before": None, "after": state})
    log.put_blobs({sha256(data): data for data in files.values()})
    edited = await with_texts(change, {"scripts/run.sh": "#!/bin/bash\n"}, log)
    assert edited.files is not None
    assert {path: file.data for path, file in edited.files.items()} == {
        **files,
        "scripts/run.sh": b"#!/bin/bash\n",
    }
    assert [path for path, file in edited.files.items() if file.executable] == ["scripts/run.sh"]
