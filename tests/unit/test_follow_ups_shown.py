"""What a run and the matcher are shown of the conversation: as data, bounded, the newest first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic import JsonValue

from core.domain.models import (
    Agent,
    ChangeStatus,
    EarlierPiece,
    Feedback,
    Hit,
    Kind,
    Lesson,
    Operation,
)
from core.domain.text import read_fenced_json
from core.feedback_matcher import MatchDeps, match_feedback_to_agents
from core.testing.scripted_model import ScriptedChatModel, calls, says
from core.testing.stores import MemoryReplies
from tests.support.breaker import SimpleBreaker
from tests.support.react import AGENT, FEEDBACK, MEMORY, Bench, FixedSearch, Told

SEOUL = timezone(timedelta(hours=9))
SAID = datetime(2026, 5, 31, 20, tzinfo=UTC)
WON = Lesson(
    kind=Kind.MEMORY,
    id="m1",
    name="원화",
    operation=Operation.UPDATE,
    status=ChangeStatus.APPLIED,
    agent_id=AGENT.id,
    known="견적 금액은 원화로 적는다",
    before="견적 금액은 엔화로 적는다",
)
FIRST = EarlierPiece(
    id="f0", said_at=SAID, author="kim", content="원화로요", is_answered=True, taught=(WON,)
)
FOLLOW_UP = FEEDBACK.model_copy(
    update={"in_reply_to": "f0", "said_at": SAID, "claimed_at": SAID, "output": {"합계": 3}}
)
RUN = [calls(("commit_to_memory", MEMORY)), says("done")]


async def shown(
    *pieces: EarlierPiece, feedback: Feedback = FOLLOW_UP, hits: tuple[Hit, ...] = ()
) -> dict[str, Any]:
    bench = Bench(
        RUN,
        feedback=feedback,
        conversations=Told(*pieces),
        zone=SEOUL,
        search=FixedSearch(hits),
    )
    await bench.run()
    data = read_fenced_json(bench.model.seen[0][1].text)
    assert isinstance(data, dict)
    return data


async def test_a_run_is_shown_what_it_answers_and_what_that_taught() -> None:
    data = await shown(FIRST)
    assert data["conversation"] == [
        {
            "text": "원화로요",
            "author": "kim",
            "said_at": "2026-06-01T05:00:00+09:00",
            "answered": True,
            "taught": [
                {
                    "kind": "MEMORY",
                    "id": "m1",
                    "name": "원화",
                    "operation": "UPDATE",
                    "status": "applied",
                    "known": "견적 금액은 원화로 적는다",
                    "before": "견적 금액은 엔화로 적는다",
                }
            ],
        }
    ]


async def test_that_what_it_answers_is_not_here_is_told() -> None:
    others = FIRST.model_copy(update={"is_answered": False})
    assert (await shown(others))["feedback"]["answered_missing"] is True
    assert "answered_missing" not in (await shown(FIRST))["feedback"]
    alone = await shown(feedback=FOLLOW_UP.model_copy(update={"in_reply_to": None}))
    assert "answered_missing" not in alone["feedback"]


async def test_times_are_those_of_the_place_and_the_output_is_shown() -> None:
    feedback = (await shown(FIRST))["feedback"]
    assert (feedback["said_at"], feedback["today"]) == ("2026-06-01T05:00:00+09:00", "2026-06-01")
    assert feedback["output"] == {"합계": 3}


async def test_a_piece_that_stands_alone_is_shown_without_a_conversation() -> None:
    data = await shown(FIRST, feedback=FEEDBACK)
    assert "conversation" not in data
    assert "output" not in data["feedback"]


async def test_what_the_conversation_taught_stands_first_among_the_related_once() -> None:
    hits = [Hit(id=key, kind=Kind.MEMORY, name=key, excerpt=key, score=0.4) for key in ("m9", "m1")]
    related = (await shown(FIRST, hits=tuple(hits)))["related"]
    assert [(hit["id"], hit["excerpt"]) for hit in related] == [
        ("m1", "견적 금액은 원화로 적는다"),
        ("m9", "m9"),
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"known": None}, {"status": "applied", "gone": True}),
        ({"known": None, "status": ChangeStatus.HELD}, {"status": "held"}),
        ({"status": None}, {"status": "known", "known": WON.known}),
    ],
)
async def test_how_a_lesson_stands_is_told(
    change: dict[str, object], told: dict[str, JsonValue]
) -> None:
    lesson = WON.model_copy(update=change)
    data = await shown(FIRST.model_copy(update={"taught": (lesson,)}))
    ((taught,),) = (piece["taught"] for piece in data["conversation"])
    assert {key: taught[key] for key in ("status", "gone", "known") if key in taught} == told
    assert [hit["id"] for hit in data["related"]] == (["m1"] if lesson.known else [])


async def test_another_agents_lessons_are_not_a_runs_to_change() -> None:
    other = WON.model_copy(update={"agent_id": "somebody"})
    data = await shown(FIRST.model_copy(update={"taught": (other,)}))
    assert data["conversation"][0]["taught"] == []
    assert data["related"] == []


async def test_long_texts_are_cut() -> None:
    lesson = WON.model_copy(update={"known": "k" * 9_000, "before": "b" * 9_000})
    long = EarlierPiece(id="f0", content="x" * 9_000, output=["y" * 9_000], taught=(lesson,) * 50)
    data = await shown(*[long] * 8, feedback=FOLLOW_UP.model_copy(update={"output": "z" * 50_000}))
    assert len(data["feedback"]["output"]) == 3_000
    (piece, *others) = data["conversation"]
    assert len(others) == 7
    assert (len(piece["text"]), len(piece["output"]), len(piece["taught"])) == (1_500, 1_000, 10)
    assert {len(piece["taught"][0][part]) for part in ("known", "before")} == {600}


async def test_the_matcher_is_shown_it_too_with_the_agents_that_were_taught() -> None:
    agents = [AGENT, Agent(id="a2", tenant_id="t1", name="환불")]
    answer = {"agents": [{"agent_id": "a1", "content": "견적 금액은 달러로 적는다"}]}
    model = ScriptedChatModel([calls(("MatchAnswer", answer))])
    deps = MatchDeps(model, SimpleBreaker(), MemoryReplies(), conversations=Told(FIRST), zone=SEOUL)
    await match_feedback_to_agents(FOLLOW_UP, agents, "견적", [], deps=deps)
    data = read_fenced_json(model.seen[0][1].text)
    assert isinstance(data, dict)
    (piece,) = data["conversation"]
    assert (piece["text"], piece["taught"][0]["agent_id"]) == ("원화로요", AGENT.id)
    assert data["feedback"]["output"] == {"합계": 3}
