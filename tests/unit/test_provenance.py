"""Provenance of each line and row, also if the past is long, lost or not ours."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.knowledge import PostgresKnowledge
from core.adapters.postgres.lineage import PostgresLineage
from core.adapters.postgres.queries import Pool
from core.decision_table import to_xml
from core.domain.errors import NotFound
from core.domain.hashing import sha256
from core.domain.models import (
    SKILL_MD,
    DecisionRow,
    DecisionTable,
    InputColumn,
    Kind,
    KnowledgeItem,
    Operation,
    Origin,
    OutputColumn,
    SkillFile,
)
from core.domain.models.views import Cause, Made
from core.domain.ports import ChangeLog, Lineage
from core.entrypoints.service.items import Provenance, Source
from core.entrypoints.service.provenance import (
    LARGE,
    MAX_LINES,
    MAX_TEXT,
    OLDER,
    OTHERS,
    State,
    Step,
    blame,
    followed,
    provenance_of,
    steps_of,
)
from core.testing.skill_store import MemorySkillStore
from tests.contracts.suites.knowledge_past import carry, step
from tests.support.sessions import Asked

UNITS = st.lists(st.sampled_from("abcde"), max_size=8).map(tuple)
PLAIN = Provenance(kind=Kind.MEMORY, id="m", tenant_id="t", path="memory.txt")


def made(version: int | None, origin: Origin = Origin.AGENT, feedback: str | None = "f") -> Made:
    by = Cause(change_id=f"c{version}", origin=origin, feedback_id=feedback)
    return Made(version=version, operation=Operation.UPDATE, name="m", by=by)


def parts(provenance: Provenance) -> list[tuple[int, int, Source, int | None]]:
    return [(part.first, part.last, part.source, part.version) for part in provenance.parts]


def follow(
    changes: Sequence[Made], texts: Sequence[str | None], plain: Provenance = PLAIN
) -> Provenance:
    """Trace the texts left by successive changes; None is an unreadable one."""
    raw = [f"lost {n}".encode() if text is None else text.encode() for n, text in enumerate(texts)]
    hashes = [sha256(data) for data in raw]
    first: str | None = hashes[0] if changes[0].version != 1 else None
    before = [first, *hashes]
    pairs = [*zip(before, hashes, strict=False)]
    held = zip(hashes, raw, texts, strict=True)
    data = {sha: one for sha, one, text in held if text is not None}
    return followed(plain, changes, steps_of(changes, pairs, hashes[-1]), data)


@given(st.lists(UNITS, min_size=1, max_size=6), st.booleans())
def test_whoever_is_named_did_write_that_line(
    states: list[tuple[str, ...]], in_order: bool
) -> None:
    owners = blame([State(units, n) for n, units in enumerate(states)], in_order=in_order)
    assert len(owners) == len(states[-1])
    for unit, owner in zip(states[-1], owners, strict=True):
        assert all(unit in state for state in states[owner:])


@given(UNITS, UNITS)
def test_what_is_added_behind_is_the_newcomers(old: tuple[str, ...], more: tuple[str, ...]) -> None:
    owners = blame([State(old, 0), State((*old, *more), 1)], in_order=True)
    assert owners == [0] * len(old) + [1] * len(more)


def test_what_is_taken_back_is_again_whose_it_was() -> None:
    first, second = ("a", "b"), ("x", "y")
    there_and_back = [State(first, 0), State(second, 1), State(first, 2, takes_back=True)]
    assert blame(there_and_back, in_order=True) == [0, 0]
    said_again = [*there_and_back[:2], State(first, 2)]
    assert blame(said_again, in_order=True) == [2, 2]
    restored = [State(first, 0), State(None, 1), State(first, 2, takes_back=True)]
    assert blame(restored, in_order=True) == [0, 0]


def test_what_was_deleted_and_learnt_again_is_the_later_ones() -> None:
    assert blame([State(("a",), 0), State(None, 1), State(("a",), 2)], in_order=True) == [2]


def test_a_row_that_is_moved_stays_whose_it_was() -> None:
    moved = [State(("a", "b"), 0), State(("b", "c", "a"), 1)]
    assert blame(moved, in_order=False) == [0, 1, 0]


def test_of_lines_that_swap_places_one_is_the_newcomers() -> None:
    swapped = follow([made(1), made(2)], ["a\nb\n", "b\na\n"])
    assert sorted(version or 0 for _, _, _, version in parts(swapped)) == [1, 2]


def test_a_past_that_was_not_read_to_its_beginning_says_so() -> None:
    told = follow([made(7), made(8)], ["a\nb", "a\nb\nc"])
    assert parts(told) == [(1, 2, Source.OLDER, None), (3, 3, Source.VERSION, 8)]
    assert [version.version for version in told.versions] == [8]


def test_lines_behind_a_state_that_is_lost_are_older() -> None:
    told = follow([made(1), made(2), made(3), made(4)], ["a", None, "a\nb", "a\nb\nc"])
    assert parts(told) == [(1, 2, Source.OLDER, None), (3, 3, Source.VERSION, 4)]


def test_what_others_wrote_between_two_changes_is_theirs() -> None:
    changes = [made(1), made(2)]
    pairs = [(None, "ours"), ("theirs", "both")]
    steps = steps_of(changes, pairs, "now")
    assert steps == [
        Step("ours", 0),
        Step("theirs", OTHERS),
        Step("both", 1),
        Step("now", OTHERS),
    ]
    assert steps_of([], [], "now") == [Step("now", OTHERS)]
    assert steps_of([made(3)], [("x", "y")], "y")[0] == Step("x", OLDER)


def test_a_change_that_leaves_a_text_alone_is_no_step_of_it() -> None:
    changes = [made(1), made(2), made(3)]
    pairs = [(None, "ours"), ("ours", "ours"), ("ours", None)]
    assert steps_of(changes[:2], pairs[:2], "ours") == [Step("ours", 0)]
    assert steps_of(changes, pairs, "now")[1:] == [Step(None, 2), Step("now", OTHERS)]
    outside = [made(1), made(2, Origin.OUTSIDE)]
    assert steps_of(outside, [(None, "ours"), ("ours", "x")], "x")[1] == Step("x", OTHERS)


def test_what_was_deleted_and_learnt_again_is_of_the_version_that_did() -> None:
    first, again = "a\nb", "b\nc"
    hashes = [sha256(text.encode()) for text in (first, again)]
    steps = [Step(hashes[0], 0), Step(None, 1), Step(hashes[1], 2)]
    data = dict(zip(hashes, (first.encode(), again.encode()), strict=True))
    told = followed(PLAIN, [made(1), made(2), made(3)], steps, data)
    assert parts(told) == [(1, 2, Source.VERSION, 3)]
    lost = followed(PLAIN, [made(1), made(2), made(3)], [Step("lost", 0), *steps[1:]], data)
    assert parts(lost) == [(1, 2, Source.OLDER, None)]


def test_a_restored_version_gives_lines_back_to_whoever_brought_them() -> None:
    back = made(3, Origin.PERSON, None)
    told = follow([made(1), made(2), back], ["a\nb", "x", "a\nb"])
    assert parts(told) == [(1, 2, Source.VERSION, 1)]
    imported = follow([made(1), made(2), made(3, Origin.IMPORT, None)], ["a\nb", "x", "a\nb"])
    assert parts(imported) == [(1, 2, Source.VERSION, 3)]
    assert imported.versions[0].by.origin is Origin.IMPORT


@pytest.mark.parametrize("text", ["x" * (MAX_TEXT + 1), "\n" * (MAX_LINES + 1)])
def test_what_is_too_large_is_not_followed_and_says_so(text: str) -> None:
    told = follow([made(1)], [text])
    assert parts(told) == [(1, text.count("\n") or 1, Source.UNREAD, None)]
    assert told.lines == ()
    most = follow([made(1)], [text[:-1]])
    assert parts(most)[0] == (1, len(most.lines), Source.VERSION, 1)
    again = follow([made(1), made(2)], [text, "short"])
    assert parts(again) == [(1, 1, Source.OLDER, None)]


def test_lines_that_are_all_alike_are_followed_too() -> None:
    told = follow([made(1), made(2)], ["\n" * 15_000, "x\n" + "\n" * 15_000 + "x\n"])
    assert parts(told)[0] == (1, 1, Source.VERSION, 2)
    assert parts(told)[-1] == (15_002, 15_002, Source.VERSION, 2)


def test_an_empty_text_has_no_parts() -> None:
    assert follow([made(1)], [""]).parts == ()


def rule(*rows: tuple[str, str], columns: Sequence[str] = ("amount",)) -> str:
    table = DecisionTable(
        name="approval",
        inputs=tuple(InputColumn(name=name, type="number") for name in columns),
        outputs=(OutputColumn(name="who"),),
        rows=tuple(
            DecisionRow(
                id=f"row_{n}",
                inputs=(test, *("-" for _ in columns[1:])),
                outputs=(f'"{who}"',),
            )
            for n, (test, who) in enumerate(rows, 1)
        ),
    )
    return to_xml(table, decision_id="d")


TABLE = Provenance(kind=Kind.DMN_RULE, id="r", tenant_id="t", path="table.dmn")


def test_rows_keep_their_owner_when_rows_or_columns_are_added() -> None:
    first = rule(("> 100", "kim"))
    second = rule(("> 200", "lee"), ("> 100", "kim"))
    third = rule(("> 200", "lee"), ("> 100", "kim"), columns=("amount", "age"))
    told = follow([made(1), made(2), made(3)], [first, second, third], TABLE)
    assert parts(told) == [(1, 1, Source.VERSION, 2), (2, 2, Source.VERSION, 1)]
    assert told.table is not None
    assert len(told.table.rows) == 2
    assert told.lines == ()


def test_a_table_that_cannot_be_read_is_followed_line_by_line() -> None:
    told = follow([made(1), made(2)], ["<a>\n</a>", "<a>\n<b/>\n</a>"], TABLE)
    assert [part[3] for part in parts(told)] == [1, 2, 1]
    broken_once = follow([made(1), made(2)], ["<a>", rule(("> 1", "kim"))], TABLE)
    assert parts(broken_once) == [(1, 1, Source.OLDER, None)]


@pytest.mark.parametrize(("more", "lets_others"), [(0, False), (1, True)])
async def test_while_a_large_text_is_followed_other_calls_go_on(
    more: int, lets_others: bool
) -> None:
    content = "x" * (LARGE + more)
    item = KnowledgeItem(
        id="m", kind=Kind.MEMORY, tenant_id="t", agent_id="a", name="m", content=content
    )
    lineage, log = Asked(made=[]), Asked(blobs={})
    other = asyncio.create_task(asyncio.sleep(0))
    told = await provenance_of(item, {}, None, cast("Lineage", lineage), cast("ChangeLog", log))
    assert (told.lines, [part.source for part in told.parts]) == ((content,), [Source.OTHERS])
    assert other.done() is lets_others
    await other


async def traced(
    pool: Pool, files: Mapping[str, SkillFile], path: str | None, *texts: str
) -> Provenance:
    log = PostgresChangeLog(pool)
    before: str | None = None
    for number, text in enumerate(texts, 1):
        await carry(log, step(number, before, text, kind=Kind.SKILL))
        before = text
    knowledge = PostgresKnowledge(pool, MemorySkillStore())
    item = (await knowledge.versions(Kind.SKILL, "t", "item"))[-1]
    return await provenance_of(item, files, path, PostgresLineage(pool), log)


async def test_a_skill_is_followed_through_its_stored_files(pool: Pool) -> None:
    now = {SKILL_MD: SkillFile(data=b"one\ntwo\nthree\n")}
    told = await traced(pool, now, None, "one\n", "one\ntwo\n")
    assert told.lines == ("one", "two", "three")
    assert [(part.source, part.version) for part in told.parts] == [
        (Source.VERSION, 1),
        (Source.VERSION, 2),
        (Source.OTHERS, None),
    ]
    assert [version.by.feedback_id for version in told.versions] == ["feedback-1", "feedback-2"]


async def test_a_file_of_others_is_theirs_and_a_binary_one_has_no_lines(
    pool: Pool,
) -> None:
    now = {SKILL_MD: SkillFile(data=b"one\n"), "a.md": SkillFile(data=b"x\n")}
    told = await traced(pool, now, "a.md", "one\n")
    assert [part.source for part in told.parts] == [Source.OTHERS]
    for data in (b"\xff\xfe", b"\0"):
        binary = {**now, "a.md": SkillFile(data=data)}
        told = await traced(pool, binary, "a.md")
        assert (told.lines, told.parts) == ((), ())
    with pytest.raises(NotFound, match=r"no file 'b\.md'"):
        await traced(pool, now, "b.md")
