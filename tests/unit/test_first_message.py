"""What a run begins with: the feedback, what was said and is known before it, all of it bounded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import JsonValue

from core.agent.loop.comparing import analysed
from core.agent.loop.prompt import (
    EARLIER_OUTPUT_CHARS,
    EVENT_CHARS,
    EVENTS,
    LESSON_CHARS,
    LESSONS,
    OUTPUT_CHARS,
    PIECE_CHARS,
    PIECES,
    QUERY_CHARS,
    abridged,
    conversation_data,
    feedback_data,
    told_receipts,
)
from core.agent.loop.transcript import TEXT_CHARS, transcript_of
from core.domain.errors import InvalidInput, SkillApiDown
from core.domain.models import (
    SETUP,
    SKILL_MD,
    Bundle,
    ChangeStatus,
    Hit,
    Kind,
    Operation,
    Receipt,
    ReceiptStatus,
    SkillFile,
)
from core.domain.models.conversation import EarlierPiece, Lesson
from core.domain.models.views import Speaker
from core.domain.text import read_fenced_json
from core.testing.scripted_model import calls
from tests.support.react import AGENT, CANDIDATE, FEEDBACK, Bench, FixedSearch, Told, item_change
from tests.support.rules import learnt, row

SEOUL = timezone(timedelta(hours=9))
AT = datetime(2026, 11, 3, 20, 30, 15, 999, tzinfo=UTC)
OFF = calls(("no_action", {"reason": "r", "category": "noise"}))
Data = dict[str, JsonValue]


def feedback(**given: object) -> Data:
    return feedback_data(FEEDBACK.model_copy(update=given), "said", SEOUL)


def test_feedback_is_told_with_its_times_where_they_are_meant() -> None:
    bare: Data = {"text": "said", "task": FEEDBACK.task, "author": "kim"}
    assert feedback() == bare
    assert feedback(said_at=AT)["said_at"] == "2026-11-04T05:30:15+09:00"
    assert feedback(claimed_at=AT)["today"] == "2026-11-04"
    assert feedback(source=SETUP) == {**bare, "setup": True}


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (None, None),
        ("", ""),
        ("x" * OUTPUT_CHARS, "x" * OUTPUT_CHARS),
        ("x" * (OUTPUT_CHARS + 1), "x" * (OUTPUT_CHARS - 1) + "…"),
        ({"a": [1]}, {"a": [1]}),
    ],
)
def test_the_output_it_is_about_is_told_up_to_a_length(output: JsonValue, shown: JsonValue) -> None:
    assert feedback(output=output).get("output") == shown
    assert ("output" in feedback(output=output)) == (output is not None)


def test_a_long_output_that_is_no_text_is_told_as_one() -> None:
    shown = feedback(output={"a": "x" * OUTPUT_CHARS})["output"]
    assert isinstance(shown, str)
    assert len(shown) == OUTPUT_CHARS
    assert shown.startswith('{"a":"xxx')


def lesson(**given: object) -> Lesson:
    known = {"kind": Kind.MEMORY, "id": "m1", "name": "n", "operation": Operation.CREATE}
    return Lesson.model_validate({**known, "agent_id": "a1", "known": "as it stands", **given})


def piece(*taught: Lesson, **given: object) -> Data:
    made = EarlierPiece.model_validate({"id": "f0", "content": "before", **given, "taught": taught})
    (shown,) = conversation_data([made], SEOUL, agent_id="a1")
    assert isinstance(shown, dict)
    return shown


def test_an_earlier_piece_is_told_with_what_is_known_of_it() -> None:
    assert piece() == {"text": "before", "author": None, "taught": []}
    given = {"author": "kim", "said_at": AT, "is_answered": True, "output": "it was"}
    assert piece(**given) == {
        "text": "before", "author": "kim", "said_at": "2026-11-04T05:30:15+09:00",
        "answered": True, "output": "it was", "taught": [],
    }  # fmt: skip
    long = piece(content="y" * (PIECE_CHARS + 1), output="x" * (EARLIER_OUTPUT_CHARS + 1))
    assert [len(str(long[name])) for name in ("text", "output")] == [
        PIECE_CHARS, EARLIER_OUTPUT_CHARS
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, {"status": "known", "known": "as it stands"}),
        ({"status": ChangeStatus.APPLIED}, {"status": "applied", "known": "as it stands"}),
        ({"status": ChangeStatus.APPLIED, "known": None}, {"status": "applied", "gone": True}),
        ({"status": ChangeStatus.HELD, "known": None}, {"status": "held"}),
        ({"before": "", "known": ""}, {"status": "known", "known": "", "before": ""}),
        (
            {"known": "x" * (LESSON_CHARS + 1), "before": "y" * (LESSON_CHARS + 1)},
            {
                "status": "known",
                "known": "x" * (LESSON_CHARS - 1) + "…",
                "before": "y" * (LESSON_CHARS - 1) + "…",
            },
        ),
    ],
)
def test_what_a_piece_taught_is_told_as_it_stands(given: dict[str, object], told: Data) -> None:
    assert piece(lesson(**given), lesson(agent_id="b"))["taught"] == [
        {"kind": "MEMORY", "id": "m1", "name": "n", "operation": "CREATE", **told}
    ]


def test_of_many_lessons_the_last_are_told() -> None:
    many = [lesson(id=f"m{n}") for n in range(LESSONS + 2)]
    taught = piece(*many)["taught"]
    assert isinstance(taught, list)
    ids = [one["id"] for one in taught if isinstance(one, dict)]
    assert ids == [f"m{n}" for n in range(2, LESSONS + 2)]


def test_of_a_log_the_last_events_are_told_and_long_ones_cut() -> None:
    many: list[JsonValue] = [{"n": n} for n in range(EVENTS + 2)]
    assert abridged(many) == many[2:]
    fits = "x" * (EVENT_CHARS - 2)  # with its quotes as JSON
    whole, cut = abridged([fits, f"{fits}x"])
    assert whole == fits
    assert isinstance(cut, str)
    assert (len(cut), cut[-1]) == (EVENT_CHARS, "…")


async def first(bench: Bench) -> Data:
    await bench.run()
    data = read_fenced_json(bench.model.seen[0][1].text)
    assert isinstance(data, dict)
    return data


async def test_a_run_begins_with_all_that_it_is_given() -> None:
    hits = [
        Hit(id="m1", kind=Kind.MEMORY, name="n", excerpt="x", score=0.123456),
        Hit(id="month-end", kind=Kind.SKILL, name="month-end", excerpt="x", score=1),
        Hit(id="other", kind=Kind.SKILL, name="other", excerpt="x", score=1),
    ]
    bench = Bench([OFF], search=FixedSearch(hits))
    bench.candidate = CANDIDATE.model_copy(update={"intent_hint": "hint"})
    data = await first(bench)
    assert data["candidate"] == {"content": CANDIDATE.content, "intent_hint": "hint"}
    agent = data["agent"]
    assert isinstance(agent, dict)
    assert (agent["id"], agent["role"], "tenant_id" in agent) == ("a1", "reporter", False)
    assert (data["events"], data["receipts"]) == ([], [])
    assert {"conversation", "denied"}.isdisjoint(data)
    related = data["related"]
    assert isinstance(related, list)
    named = [
        (one["id"], one.get("on_agent"), one["score"]) for one in related if isinstance(one, dict)
    ]
    assert named == [("m1", None, 0.123), ("month-end", True, 1), ("other", False, 1)]
    assert bench.search.asked == [("t1", "a1", None, bench.deps.search_limit)]


async def test_what_a_conversation_taught_comes_before_other_hits_once() -> None:
    hits = [Hit(id=name, kind=Kind.MEMORY, name=name, excerpt="x", score=0.5) for name in "ab"]
    earlier = EarlierPiece(id="f0", content="before", taught=(lesson(id="b"),))
    told = Told(earlier)
    bench = Bench([OFF], search=FixedSearch(hits), conversations=told)
    bench.feedback = FEEDBACK.model_copy(update={"in_reply_to": "f0"})
    data = await first(bench)
    related = data["related"]
    assert isinstance(related, list)
    assert [one["id"] for one in related if isinstance(one, dict)] == ["b", "a"]
    assert data["conversation"] == conversation_data([earlier], agent_id="a1")
    assert told.asked == [PIECES]
    threaded = Bench([OFF], conversations=Told(earlier))
    threaded.feedback = FEEDBACK.model_copy(update={"thread": "th"})
    assert "conversation" in await first(threaded)
    alone = Bench([OFF], conversations=Told(earlier))
    assert "conversation" not in await first(alone)
    assert isinstance(alone.conversations, Told)
    assert alone.conversations.asked == []


class Searched(FixedSearch):
    """A search, with the query and the person it was asked for."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error
        self.queries: list[tuple[str, str | None]] = []

    async def search(
        self, query: str, *, user: str | None = None, **given: object
    ) -> Sequence[Hit]:
        self.queries.append((query, user))
        return await super().search(query, user=user, **given)  # type: ignore[arg-type]

    async def refresh(self, tenant_id: str) -> None:
        assert tenant_id == "t1"
        if self.error:
            raise self.error


@pytest.mark.parametrize("error", [None, SkillApiDown("away"), InvalidInput("not read")])
async def test_without_the_skill_api_a_run_goes_on(error: Exception | None) -> None:
    search = Searched(error)
    bench = Bench([OFF], search=search)
    bench.candidate = CANDIDATE.model_copy(update={"content": "x" * (QUERY_CHARS + 1)})
    await first(bench)
    ((query, user),) = search.queries
    assert (len(query), user) == (QUERY_CHARS, "kim")


def test_a_run_that_goes_on_is_told_what_the_earlier_one_came_to() -> None:
    assert told_receipts([]) == ""
    receipt = Receipt(status=ReceiptStatus.APPLIED, message="made", change_id="c9")
    text = told_receipts([receipt])
    assert text.startswith("This run goes on from here anew.")
    data = read_fenced_json(text)
    assert isinstance(data, dict)
    assert data["receipts"] == [receipt.model_dump(mode="json", exclude_none=True)]


def told(*messages: BaseMessage) -> list[tuple[Speaker, int, str, str]]:
    return [(one.speaker, one.ordinal, one.text, one.key) for one in transcript_of("t", messages)]


def test_a_thread_is_told_turn_by_turn() -> None:
    first_call, second = ({"name": "a", "args": {}, "id": name} for name in ("x", "y"))
    bad = {"name": None, "args": None, "id": None, "error": "", "type": "invalid_tool_call"}
    turn = AIMessage("one", tool_calls=[first_call, second], invalid_tool_calls=[bad])  # type: ignore[list-item]
    messages = [
        HumanMessage("begin"), turn, ToolMessage("ok", tool_call_id="y"),
        ToolMessage("lost", tool_call_id="z"), AIMessage("two"), HumanMessage("go on"),
    ]  # fmt: skip
    assert told(*messages) == [
        (Speaker.START, 0, "begin", ""), (Speaker.MODEL, 1, "one", ""),
        (Speaker.TOOL, 1, "ok", "t:1:1"), (Speaker.TOOL, 1, "lost", ""),
        (Speaker.MODEL, 2, "two", ""), (Speaker.NUDGE, 2, "go on", ""),
    ]  # fmt: skip
    said = transcript_of("t", messages)
    assert [(use.key, use.tool, use.arguments) for use in said[1].calls] == [
        ("t:1:0", "a", "{}"), ("t:1:1", "a", "{}"), ("t:1:x0", "unknown", ""),
    ]  # fmt: skip
    assert (said[2].tool, said[2].failed, said[2].receipt) == ("", False, None)


def test_what_is_no_hit_and_no_receipt_is_none() -> None:
    def hits(text: str) -> int:
        (answer,) = transcript_of("t", [ToolMessage(text, tool_call_id="x")])
        return len(answer.hits)

    hit = '{"id": "m", "kind": "MEMORY", "name": "n", "excerpt": "x", "score": 1}'
    assert [hits(f'{{"hits": [{one}]}}') for one in (hit, f"{hit},{hit}", '{"id": 1}', "7")] == [
        1, 2, 0, 0
    ]  # fmt: skip
    assert [hits(text) for text in ("no JSON", "[1]", "7", '{"hits": {}}', "[" * 100_000)] == [
        0
    ] * 5
    broken = ToolMessage("x", tool_call_id="x", artifact={"status": "no such"})
    assert transcript_of("t", [broken])[0].receipt is None
    later = HumanMessage(f'```json\n{{"related": [{hit}]}}\n```')
    first_one, nudge = transcript_of("t", [later, later])
    assert (len(first_one.hits), len(nudge.hits)) == (1, 0)


def test_texts_are_told_whole_up_to_a_length() -> None:
    for more, is_cut in ((0, False), (1, True)):
        text = "x" * (TEXT_CHARS + more)
        call = {"name": "a", "args": text, "id": "x", "error": "", "type": "invalid_tool_call"}
        turn, answer = transcript_of(
            "t",
            [AIMessage(text, invalid_tool_calls=[call]), ToolMessage(text, tool_call_id="x")],  # type: ignore[list-item]
        )
        for shown in (turn.text, turn.calls[0].arguments, answer.text):
            assert len(shown) == TEXT_CHARS
        assert (turn.cut, turn.calls[0].cut, answer.cut) == (is_cut,) * 3


async def test_a_text_is_compared_with_items_of_its_kind_and_missing_ones_named() -> None:
    bench = Bench([])
    xml = learnt(row("> 100", "team lead"), name="approval").xml
    for kind, item, text in (
        (Kind.MEMORY, "m1", "Ms. Kim wants KRW"),
        (Kind.DMN_RULE, "r1", xml),
    ):
        bench.knowledge.write(item_change(kind, item, item, text))
    document = "---\nname: refund\ndescription: Refund parcels damaged at sea\n---\nbody\n"
    bundle = Bundle(name="refund", files={SKILL_MD: SkillFile(data=document.encode())})

    async def read(name: str, tenant_id: str) -> Bundle | None:
        return bundle if (name, tenant_id) == ("refund", AGENT.tenant_id) else None

    deps = SimpleNamespace(knowledge=bench.knowledge, skills=SimpleNamespace(read=read))
    for kind, text, item in (
        (Kind.MEMORY, "Ms. Kim wants EUR", "m1"),
        (Kind.DMN_RULE, "approval over 100", "r1"),
        (Kind.SKILL, "Refund parcels damaged at sea", "refund"),
    ):
        found = await analysed(kind, text, [item, "gone"], "t1", deps=deps)  # type: ignore[arg-type]
        assert isinstance(found, dict)
        assert found["not_found"] == ["gone"]
        assert len(found["compared"]) == 1  # type: ignore[arg-type]
        assert item in str(found["compared"])
        foreign = await analysed(kind, text, [item], "t2", deps=deps)  # type: ignore[arg-type]
        assert foreign == {"compared": [], "not_found": [item]}
