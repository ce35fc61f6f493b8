"""Adding feedback: in batches, and line by line if a batch has problems."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.input_formats.feedback import Line, Problem
from core.domain.models import Agent, NewFeedback
from core.entrypoints.cli.feedback.adding import Report, take_in
from core.testing.stores import MemoryAgents, MemoryInbox

AGENTS = (Agent(id="a", tenant_id="t", name="A"), Agent(id="b", tenant_id="other", name="B"))


def _line(
    number: int,
    content: str = "x",
    *,
    key: str | None = None,
    agent: str = "a",
    tenant: str = "t",
) -> Line:
    piece = NewFeedback(id=key, tenant_id=tenant, agent_ids=(agent,), content=content)
    return Line(number=number, size=10, piece=piece)


async def _take_in(inbox: MemoryInbox, entries: Sequence[Line | Problem]) -> Report:
    return await take_in(inbox, MemoryAgents(AGENTS), entries, lambda _: None)


async def test_good_lines_are_stored_and_bad_ones_named_in_order() -> None:
    inbox = MemoryInbox()
    report = await _take_in(
        inbox,
        [
            _line(1),
            Problem(line=2, reason="it is no JSON"),
            _line(3, agent="nobody"),
            _line(4, agent="b"),
            _line(5),
        ],
    )
    assert [line.line for line in report.added] == [1, 5]
    assert [(problem.line, problem.reason) for problem in report.problems] == [
        (2, "it is no JSON"),
        (3, "there is no agent 'nobody'"),
        (4, "agent 'b' does not belong to tenant 't'"),
    ]
    assert len(inbox.feedback) == len(inbox.jobs) == 2


async def test_one_line_that_contradicts_a_known_one_keeps_no_other_out() -> None:
    inbox = MemoryInbox()
    report = await _take_in(
        inbox, [_line(1, key="1"), _line(2, "other", key="1"), _line(3, key="3"), _line(4, key="1")]
    )
    assert [(line.line, line.new) for line in report.added] == [(1, True), (3, True), (4, False)]
    assert [problem.line for problem in report.problems] == [2]


async def test_the_same_file_twice_adds_nothing() -> None:
    inbox = MemoryInbox()
    first = await _take_in(inbox, [_line(1, key="1"), _line(2, key="2")])
    second = await _take_in(inbox, [_line(1, key="1"), _line(2, key="2")])
    assert [line.id for line in second.added] == [line.id for line in first.added]
    assert not any(line.new for line in second.added)
    assert len(inbox.feedback) == 2


async def test_an_id_is_that_of_one_tenant() -> None:
    inbox = MemoryInbox()
    theirs = _line(1, "theirs", key="1", agent="b", tenant="other")
    report = await _take_in(inbox, [theirs, _line(2, key="1"), theirs])
    assert [(line.line, line.new) for line in report.added] == [(1, True), (1, False), (2, True)]
    assert not report.problems
    assert {one.source for one in inbox.feedback.values()} == {"inbox/t", "inbox/other"}


async def test_what_was_added_before_tenants_had_ids_of_their_own_is_known() -> None:
    inbox = MemoryInbox()
    await inbox.add("inbox", [_line(1, key="1").piece])
    report = await _take_in(inbox, [_line(1, key="1"), _line(2, key="2")])
    assert [line.new for line in report.added] == [False, True]


async def test_a_long_file_goes_in_by_batches_and_tells_how_far_it_is() -> None:
    inbox = MemoryInbox()
    sizes: list[int] = []
    entries = (_line(number) for number in range(1, 1202))
    report = await take_in(inbox, MemoryAgents(AGENTS), entries, sizes.append)
    assert len(report.added) == 1201
    assert sizes == [5000, 5000, 2010]
