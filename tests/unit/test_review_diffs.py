"""What a change does, file by file: which differ, what is marked in them, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.changes.gate.siblings import Relation, Relative
from core.domain.errors import InvalidInput, NotFound
from core.domain.hashing import sha256
from core.domain.models import (
    Change,
    ChangeStatus,
    FileRef,
    Finding,
    Kind,
    Reach,
    ScreenSeverity,
    Snapshot,
)
from core.domain.models.base import Scope
from core.entrypoints.service.review_view.besides import beside_of, opposite_of
from core.entrypoints.service.review_view.diffs import MAX_FILES, diff_of
from core.entrypoints.service.review_view.editing import editable_texts, with_texts
from core.entrypoints.service.review_view.heads import head_of
from core.entrypoints.service.review_view.shown import Diff, FileDiff, RowKind, Side
from core.entrypoints.service.review_view.states import file_of, read_file
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from tests.contracts.suites.change_log import memory_change
from tests.support.rules import learnt, row

CHANGE = memory_change("c1", "원화로", "달러로")
Files = Mapping[str, bytes]


class Log(MemoryChangeLog):
    """A change log, with how many files were asked for at each call."""

    def __init__(self, *files: Files) -> None:
        super().__init__(MemoryKnowledge())
        for some in files:
            self.put_blobs({sha256(data): data for data in some.values()})


def state(files: Files, executable: str = "") -> Snapshot:
    refs = {
        path: FileRef(sha256=sha256(data), size=len(data), executable=path == executable)
        for path, data in files.items()
    }
    return Snapshot(content=files.get("SKILL.md", b"").decode(), name="s", files=refs)


def skill_change(before: Snapshot | None, after: Snapshot | None) -> Change:
    return CHANGE.model_copy(update={"kind": Kind.SKILL, "before": before, "after": after})


def kinds(diff: Diff) -> dict[str, str]:
    return {file.path: file.kind.value for file in diff.files}


def finding(start: int, end: int, place: str = "") -> Finding:
    return Finding(
        code="r",
        text="x",
        severity=ScreenSeverity.HOLD,
        place=place,
        start=start,
        end=end,
        digest="d",
    )


OLD: Files = {
    "SKILL.md": b"one\n",
    "b.md": b"b\n",
    "gone.md": b"g\n",
    "run.sh": b"x\n",
    "p": b"1\n",
}
NEW: Files = {
    "SKILL.md": b"two\n",
    "b.md": b"b\n",
    "new.md": b"n\n",
    "run.sh": b"x\n",
    "p": b"\0\n",
}


async def test_files_that_differ_are_shown_and_others_counted() -> None:
    diff = await diff_of(skill_change(state(OLD), state(NEW, "run.sh")), Log(OLD, NEW))
    assert kinds(diff) == {
        "SKILL.md": "changed", "gone.md": "removed", "new.md": "added", "p": "changed",
        "run.sh": "changed",
    }  # fmt: skip
    assert (diff.unchanged, diff.more, diff.table, diff.names) == (1, 0, None, None)
    shown = {file.path: file for file in diff.files}
    assert shown["SKILL.md"].text is not None
    assert (shown["p"].binary, shown["p"].text) == (True, None)
    mode = shown["run.sh"]
    assert (mode.text, mode.binary, mode.problem) == (None, False, "")
    assert [side and side.executable for side in (mode.before, mode.after)] == [False, True]
    assert (shown["gone.md"].after, shown["new.md"].before) == (None, None)
    gone, new = shown["gone.md"].text, shown["new.md"].text
    assert gone is not None
    assert new is not None
    assert [(one.added, one.removed) for one in (gone, new)] == [(0, 1), (1, 0)]
    first = shown["SKILL.md"].before
    assert first is not None
    assert (first.sha256, first.size) == (sha256(b"one\n"), 4)


async def test_a_file_that_is_not_stored_is_said_and_hides_no_other() -> None:
    stored = {path: data for path, data in NEW.items() if path != "new.md"}
    change = skill_change(state(OLD), state(NEW))
    diff = await diff_of(change, Log(OLD, stored))
    problems = {file.path: file.problem for file in diff.files if file.problem}
    assert [*problems] == ["new.md"]
    assert "not stored" in problems["new.md"]
    (text,) = (file.text for file in diff.files if file.path == "SKILL.md")
    assert text is not None
    unread = {path: data for path, data in OLD.items() if path != "SKILL.md"}
    without = await diff_of(change, Log(unread, NEW))
    assert [file.path for file in without.files if file.problem] == ["SKILL.md"]


async def test_of_many_files_the_first_are_shown() -> None:
    files = {f"{n:03}.md": b"x\n" for n in range(MAX_FILES + 3)}
    diff = await diff_of(skill_change(None, state(files)), Log(files))
    assert (len(diff.files), diff.more, diff.unchanged) == (MAX_FILES, 3, 0)
    assert all(file.text for file in diff.files)


async def test_what_is_large_is_compared_like_the_rest() -> None:
    files = {"SKILL.md": b"one\n" * 10_000}
    diff = await diff_of(
        skill_change(state({"SKILL.md": b""}), state(files)), Log(files, {"": b""})
    )
    (file,) = diff.files
    assert file.text is not None
    assert file.text.added == 10_000


async def test_an_agent_s_list_is_told_name_by_name() -> None:
    lists = {"before": "a\nb\nc", "after": "c\nd\na"}
    states = {name: Snapshot(content=text, name="A") for name, text in lists.items()}
    change = CHANGE.model_copy(update={"kind": Kind.AGENT_SKILLS, **states})
    names = (await diff_of(change, Log())).names
    assert names is not None
    assert (names.added, names.removed, names.kept) == (("d",), ("b",), ("c", "a"))
    for gone, added, removed in (("before", ("c", "d", "a"), ()), ("after", (), ("a", "b", "c"))):
        names = (await diff_of(change.model_copy(update={gone: None}), Log())).names
        assert names is not None
        assert (names.added, names.removed, names.kept) == (added, removed, ())


async def test_a_table_is_told_as_one_unless_it_cannot_be_read() -> None:
    xml = learnt(row("> 100", "team lead"), name="limit").xml
    states = {"before": None, "after": Snapshot(content=xml, name="limit")}
    change = CHANGE.model_copy(update={"kind": Kind.DMN_RULE, **states})
    diff = await diff_of(change, Log())
    assert diff.table is not None
    assert [one.kind for one in diff.table.rows] == [RowKind.ADDED]
    assert kinds(diff) == {"table.dmn": "added"}
    gone = {"before": states["after"], "after": None}
    diff = await diff_of(change.model_copy(update=gone), Log())
    assert diff.table is not None
    assert [one.kind for one in diff.table.rows] == [RowKind.REMOVED]
    broken = change.model_copy(update={"after": Snapshot(content="<", name="limit")})
    diff = await diff_of(broken, Log())
    assert diff.table is None
    assert diff.table_problem
    assert diff.files[0].text is not None


def found_in(file: FileDiff) -> dict[int, list[str]]:
    """Return what is marked as found, by the number of its line."""
    assert file.text is not None
    lines = [one.right for one in file.text.rows if one.right is not None]
    return {
        line.number: [line.text[span.start : span.end] for span in line.found]
        for line in lines
        if line.found
    }


async def test_what_the_screen_found_is_marked_line_by_line() -> None:
    text = "one two\nthree\n\nfour five\nsix"
    place = text.index
    found = (
        finding(place("two"), place("two") + 3),
        finding(place("one"), place("one") + 3),
        finding(place("hree"), place("five")),  # over several lines, one of them empty
        finding(place("six"), len(text)),
    )
    change = memory_change("c1", None, text).model_copy(update={"findings": found})
    (file,) = (await diff_of(change, Log())).files
    assert found_in(file) == {1: ["two", "one"], 2: ["hree"], 4: ["four "], 5: ["six"]}
    at_an_end = change.model_copy(update={"findings": (finding(7, place("four") + 4),)})
    (file,) = (await diff_of(at_an_end, Log())).files
    assert found_in(file) == {2: ["three"], 4: ["four"]}
    other = change.model_copy(update={"findings": (finding(0, 3, "other.txt"),)})
    (file,) = (await diff_of(other, Log())).files
    assert found_in(file) == {}
    gone = memory_change("c1", text, None).model_copy(update={"findings": found})
    (file,) = (await diff_of(gone, Log())).files
    assert found_in(file) == {}


async def test_what_is_found_is_marked_in_its_own_file_of_a_skill() -> None:
    files = {"SKILL.md": b"one\n", "b.md": b"two\n", "bin": b"\0"}
    found = (finding(0, 3), finding(0, 2, "b.md"), finding(0, 1, "bin"))
    change = skill_change(None, state(files)).model_copy(update={"findings": found})
    shown = {file.path: file for file in (await diff_of(change, Log(files))).files}
    assert found_in(shown["SKILL.md"]) == {1: ["one"]}
    assert found_in(shown["b.md"]) == {1: ["tw"]}


async def test_in_a_line_that_is_cut_nothing_is_marked() -> None:
    long = memory_change("c1", None, "x" * 1_001).model_copy(update={"findings": (finding(0, 3),)})
    (file,) = (await diff_of(long, Log())).files
    assert found_in(file) == {}


async def test_the_texts_of_a_skill_may_be_edited_its_document_first() -> None:
    files = {"a.md": b"a", "SKILL.md": b"s", "z.bin": b"\xff", "nul": b"a\0"}
    change = skill_change(None, state(files))
    assert [*(await editable_texts(change, Log(files))).items()] == [
        ("SKILL.md", "s"),
        ("a.md", "a"),
    ]
    with pytest.raises(InvalidInput, match="delet"):
        await editable_texts(skill_change(state(files), None), Log(files))
    missing = {path: data for path, data in files.items() if path not in {"a.md", "z.bin"}}
    with pytest.raises(NotFound, match=r"a\.md, z\.bin"):
        await editable_texts(change, Log(missing))


async def test_of_a_memory_how_long_it_holds_may_be_edited_alone() -> None:
    reach, texts = Reach(scope=Scope.TENANT), {"memory.txt": "달러로"}
    edited = await with_texts(CHANGE, texts, Log(), reach)
    assert (edited.content, edited.reach) == ("달러로", reach)
    for same in (None, Reach()):
        with pytest.raises(InvalidInput, match="nothing was edited"):
            await with_texts(CHANGE, texts, Log(), same)
    both = await with_texts(CHANGE, {"memory.txt": "유로로"}, Log(), Reach())
    assert (both.content, both.reach) == ("유로로", Reach())


async def test_of_a_skill_some_files_may_be_edited_and_one_has_to_differ() -> None:
    files = {"SKILL.md": b"s", "a.md": b"a"}
    change = skill_change(None, state(files))
    edited = await with_texts(change, {"SKILL.md": "s", "a.md": "b"}, Log(files))
    assert edited.files is not None
    assert {path: file.data for path, file in edited.files.items()} == {
        "SKILL.md": b"s",
        "a.md": b"b",
    }
    with pytest.raises(InvalidInput, match="nothing was edited"):
        await with_texts(change, {"SKILL.md": "s", "a.md": "a"}, Log(files))


async def test_each_file_is_read_of_its_side() -> None:
    change, log = skill_change(state(OLD), state(NEW)), Log(OLD, NEW)
    assert await read_file(change, "SKILL.md", Side.BEFORE, log) == b"one\n"
    assert await read_file(change, "SKILL.md", Side.AFTER, log) == b"two\n"
    with pytest.raises(NotFound, match=r"gone\.md"):
        await read_file(change, "gone.md", Side.AFTER, log)
    assert [file_of(kind) for kind in (Kind.SKILL, "PLAYBOOK")] == ["SKILL.md", "playbook.txt"]  # type: ignore[arg-type]


def test_the_head_of_a_change_has_all_but_its_contents() -> None:
    reach = Reach(scope=Scope.TENANT)
    after = Snapshot(content="달러로", name="m", reach=reach)
    head = head_of(CHANGE.model_copy(update={"after": after, "status": ChangeStatus.HELD}))
    assert (head.id, head.kind, head.status) == ("c1", Kind.MEMORY, "held")
    assert (head.reach, head.reach_was) == (reach, Reach())
    assert "달러로" not in head.model_dump_json().replace(head.target_name, "")
    created = head_of(memory_change("c1", None, "x"))
    assert (created.reach, created.reach_was) == (Reach(), None)
    other = head_of(CHANGE.model_copy(update={"kind": Kind.DMN_RULE}))
    assert (other.reach, other.reach_was) == (None, None)


async def test_what_a_change_contradicts_stands_beside_what_it_says_instead() -> None:
    log = Log()
    known = memory_change("old", None, "원화로").model_copy(
        update={"feedback_content": "said then"}
    )
    log.changes["old"] = known
    assert await opposite_of(CHANGE, log) is None
    now = CHANGE.model_copy(update={"contradicts": "old", "feedback_content": "said now"})
    found = await opposite_of(now, log)
    assert found is not None
    assert (found.change_id, found.known, found.known_feedback) == ("old", "원화로", "said then")
    assert (found.instead, found.feedback) == ("달러로", "said now")
    created = await opposite_of(now.model_copy(update={"before": None}), log)
    assert created is not None
    assert created.known == "원화로"
    for unknown in ("", "gone"):
        found = await opposite_of(now.model_copy(update={"contradicts": unknown}), log)
        assert found is not None
        assert (found.change_id, found.known, found.known_feedback) == ("", "원화로", "")
    nothing = await opposite_of(
        now.model_copy(update={"before": None, "after": None, "contradicts": ""}), log
    )
    assert nothing is not None
    assert (nothing.known, nothing.instead) == ("", "")


def test_another_change_is_shown_beside_with_what_it_leads_to() -> None:
    xml = learnt(row("> 100", "team lead"), name="limit").xml
    texts = {Kind.MEMORY: "x" * 2_001, Kind.DMN_RULE: xml}
    shown = {}
    for kind, text in texts.items():
        after = Snapshot(content=text, name="n")
        more = {"kind": kind, "after": after, "feedback_content": "said"}
        relative = Relative(CHANGE.model_copy(update=more), Relation.TOUCHES, "one item")
        beside = beside_of(relative)
        assert (beside.relation, beside.why, beside.feedback) == (
            Relation.TOUCHES,
            "one item",
            "said",
        )
        assert beside.change.id == "c1"
        shown[kind] = beside.text
    assert shown[Kind.MEMORY] == "x" * 2_000
    assert "team lead" in shown[Kind.DMN_RULE]
    assert "<" not in shown[Kind.DMN_RULE]
    broken = CHANGE.model_copy(update={"kind": Kind.DMN_RULE})
    assert beside_of(Relative(broken, Relation.TOUCHES)).text == "달러로"
    gone = memory_change("c1", "x", None)
    assert beside_of(Relative(gone, Relation.TOUCHES)).text == ""
