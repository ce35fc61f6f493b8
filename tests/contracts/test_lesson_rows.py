"""Lessons and conversations are read from their own rows: of the tenant, the key, the piece."""

from __future__ import annotations

from itertools import product

import pytest

from core.adapters.postgres.conversations import PostgresConversations
from core.adapters.postgres.lessons import PostgresLessonLog
from core.adapters.postgres.queries import Pool, connection
from core.domain.models import Feedback
from core.domain.models.feedback import WORKER_AGENT
from core.domain.models.lessons import Evidence
from tests.support.seeding import AT, DAY, Row, put_all


@pytest.fixture
def log(pool: Pool) -> PostgresLessonLog:
    return PostgresLessonLog(pool)


def evidence(evidence_id: str, tenant: str = "t", key: str = "k", **more: object) -> Row:
    row: dict[str, object] = {
        "id": evidence_id, "tenant_id": tenant, "key": key, "kind": "rejected", "about": "MEMORY",
        "operation": "CREATE", "feedback_id": f"f-{evidence_id}", "at": AT,
    }  # fmt: skip
    return "lesson_evidence", row | more


def proposal(tenant: str, key: str, ordinal: int, **more: object) -> Row:
    row = {"tenant_id": tenant, "key": key, "ordinal": ordinal, "at": AT}
    return "lesson_proposals", row | more


def change(change_id: str, **more: object) -> Row:
    row: dict[str, object] = {
        "id": change_id, "key": change_id, "tenant_id": "t", "agent_id": "a", "kind": "MEMORY",
        "target_id": "m", "target_name": "name", "operation": "CREATE", "status": "applied",
        "created_at": AT, "origin": "AGENT", "feedback_id": "f",
    }  # fmt: skip
    return "changes", row | more


def lesson(item: str, tenant: str = "t", **more: object) -> Row:
    row = {"tenant_id": tenant, "kind": "MEMORY", "item_id": item, "agent_id": WORKER_AGENT}
    row |= {"same_key": item, "name_key": item, "valid_from": AT}
    return "knowledge_versions", row | more


async def test_evidence_is_that_of_a_lesson_newest_first(
    log: PostgresLessonLog, pool: Pool
) -> None:
    await put_all(
        pool,
        evidence("old"), evidence("new", at=AT + DAY), evidence("refused", refused="why"),
        evidence("foreign", "u"), evidence("another", key="l"), evidence("b", at=AT + DAY),
        evidence("later", key="l", at=AT + 2 * DAY), evidence("edited", key="m", kind="edited"),
        evidence("skill", key="n", about="SKILL"), evidence("third", key="o", at=AT + 3 * DAY),
    )  # fmt: skip
    found = await log.evidence("t", "k", 9)
    assert [one.id for one in found] == ["b", "new", "old"]
    assert [one.id for one in await log.evidence("t", "k", 1)] == ["b"]
    # Of each lesson of the same kind the evidence that began it.
    begun = await log.keys(found[0], 9)
    assert [(one.key, one.id) for one in begun] == [("o", "third"), ("l", "another"), ("k", "old")]
    assert [one.key for one in await log.keys(found[0], 1)] == ["o"]


async def test_a_lesson_is_told_with_what_came_of_its_proposals(
    log: PostgresLessonLog, pool: Pool
) -> None:
    await put_all(
        pool,
        evidence("1"), evidence("2", at=AT + DAY), evidence("3", refused="why", at=AT + 9 * DAY),
        evidence("4", key="never", kind="edited"), evidence("5", "u"),
        evidence("6", key="all", refused="x"), evidence("7", key="standing"),
        proposal("t", "k", 1, change_id="c1", item_id="m1"),
        proposal("t", "k", 2, change_id="c2", item_id="m2", at=AT + DAY),
        proposal("t", "k", 3, change_id="c3", item_id="m3", at=AT + 2 * DAY),
        proposal("t", "standing", 1, change_id="c4"),
        proposal("t", "another", 9, change_id="c2"),
        proposal("u", "k", 1, refused="the screen", at=AT),
        change("c1", status="rejected"), change("c2"),
        change("c3", status="reverted", target_id="m3", decided_at=AT + 3 * DAY),
        change("c4", decided_at=AT),
        change("undone", target_id="m3", applied_at=AT + 5 * DAY),
        change("undone-before", target_id="m3", applied_at=AT + 4 * DAY),
        change("n1", target_id="m3", tenant_id="u", applied_at=AT + 8 * DAY),
        change("n2", target_id="m3", kind="DMN_RULE", applied_at=AT + 8 * DAY),
        change("n3", target_id="m4", applied_at=AT + 8 * DAY),
    )  # fmt: skip
    states = {(one.tenant_id, one.key): one for one in await log.states(None)}
    assert [*states] == [("t", "k"), ("t", "never"), ("t", "standing"), ("u", "k")]
    mine = states["t", "k"]
    assert (mine.pieces, mine.latest, mine.kind) == (2, AT + DAY, "rejected")
    assert (mine.proposals, mine.setbacks, mine.item_id, mine.status) == (3, 2, "m3", "reverted")
    assert (mine.proposed_at, mine.ended_at) == (AT + 2 * DAY, AT + 5 * DAY)
    never = states["t", "never"]
    assert (never.proposals, never.setbacks, never.change_id, never.ended_at) == (0, 0, None, None)
    standing = states["t", "standing"]
    assert (standing.proposals, standing.setbacks, standing.ended_at) == (1, 0, None)
    foreign = states["u", "k"]
    assert (foreign.pieces, foreign.proposals, foreign.refused) == (1, 1, "the screen")
    assert [one.key for one in await log.states("u")] == ["k"]


async def test_a_proposal_is_kept_with_what_became_of_it(
    log: PostgresLessonLog, pool: Pool
) -> None:
    await put_all(pool, evidence("1"), evidence("2", key="l"))
    first, second = await log.states("t")
    await log.proposed(first, change_id=None, item_id=None, refused="the screen")
    await log.proposed(second, change_id="c", item_id="m", refused=None)
    first, second = await log.states("t")
    assert (first.proposals, first.refused, first.change_id) == (1, "the screen", None)
    assert (second.proposals, second.refused) == (1, None)
    assert (second.change_id, second.item_id) == ("c", "m")


async def test_a_rejected_lesson_ended_when_it_was_decided(
    log: PostgresLessonLog, pool: Pool
) -> None:
    await put_all(
        pool,
        evidence("1"), evidence("2", key="l"), proposal("t", "k", 1, change_id="c1"),
        proposal("t", "l", 1, change_id="c2", at=AT + DAY),
        change("c1", status="rejected", target_id="m1", decided_at=AT + 3 * DAY),
        change("c2", status="failed", target_id="m2"),
    )  # fmt: skip
    assert [one.ended_at for one in await log.states("t")] == [AT + 3 * DAY, AT + DAY]


async def test_only_lessons_of_the_worker_that_stand_are_standing(
    log: PostgresLessonLog, pool: Pool
) -> None:
    items = ("m1", "m2", "gone", "table", "of-agent", "foreign")
    await put_all(
        pool,
        *(proposal("t", item, 1, item_id=item) for item in items),
        proposal("t", "m1", 2, item_id="m1"), proposal("u", "k", 1, item_id="m3"),
        lesson("m2"), lesson("m1"), lesson("gone", valid_to=AT), lesson("table", kind="DMN_RULE"),
        lesson("of-agent", agent_id="a"), lesson("foreign", "u"), lesson("m3", "u"),
        lesson("m4"),
    )  # fmt: skip
    assert await log.standing("t") == ["m1", "m2"]
    assert await log.standing("u") == ["m3"]


async def test_evidence_for_a_lesson_that_stands_counts_as_a_complaint(
    log: PostgresLessonLog, pool: Pool
) -> None:
    used = {"kind": "MEMORY", "item_id": "m", "way": "shown", "agent_id": WORKER_AGENT}
    of_others = [
        {"tenant_id": "u"}, {"kind": "DMN_RULE"}, {"item_id": "n"}, {"agent_id": "a"},
    ]  # fmt: skip
    await put_all(
        pool,
        proposal("t", "k", 1, item_id="m"), proposal("t", "k", 2, item_id="m"),
        proposal("t", "gone", 1, item_id="gone"), proposal("t", "agent", 1, item_id="agent"),
        proposal("u", "k", 1, item_id="none"),
        lesson("m", valid_from=AT + 5 * DAY, version=2), lesson("m", valid_to=AT + 5 * DAY),
        lesson("m", "u", valid_from=AT - 9 * DAY), lesson("n", valid_from=AT - 9 * DAY),
        lesson("m", kind="DMN_RULE", valid_from=AT - 9 * DAY),
        lesson("gone", valid_to=AT), lesson("agent", agent_id="a"),
        ("uses", {"tenant_id": "t", **used, "first_at": AT + 3 * DAY}),
        ("uses", {"tenant_id": "t", **used, "first_at": AT + 8 * DAY, "version": 2}),
        *(("uses", {"tenant_id": "t", **used, **one, "first_at": AT - DAY}) for one in of_others),
        evidence("before", at=AT - DAY), evidence("unreached", at=AT + DAY),
        evidence("back", at=AT + 4 * DAY), evidence("refused", refused="why"),
        evidence("no-piece", feedback_id=None), evidence("foreign", "u"),
        evidence("twice", feedback_id="f-back", at=AT + 9 * DAY), evidence("other", key="l"),
        evidence("of-gone", key="gone"), evidence("of-agent", key="agent"),
    )  # fmt: skip
    for _ in range(2):
        await log.note_recurring()
        async with connection(pool) as conn:
            rows = await (await conn.execute(b"SELECT * FROM complaints")).fetchall()
        assert {(row["feedback_id"], row["came"]) for row in rows} == {
            ("f-before", "before"), ("f-unreached", "unreached"), ("f-back", "back"),
        }  # fmt: skip
        assert {(row["tenant_id"], row["agent_id"], row["item_id"]) for row in rows} == {
            ("t", WORKER_AGENT, "m")
        }
        assert {row["said_at"] for row in rows} == {AT - DAY, AT + DAY, AT + 4 * DAY}


async def test_what_was_collected_is_stored_by_one_worker(
    log: PostgresLessonLog, pool: Pool
) -> None:
    row = {**evidence("e")[1], "kind": "rejected"}
    piece = Evidence.model_validate(row)
    start = await log.cursor()
    assert await log.collected([piece], start, "5-6")
    assert await log.cursor() == "5-6"
    assert not await log.collected([piece.model_copy(update={"id": "x"})], start, "7-8")
    assert await log.collected([piece, piece.model_copy(update={"id": "y"})], "5-6", "9-1")
    assert [one.id for one in await log.evidence("t", "k", 9)] == ["e", "y"]


async def test_what_is_told_of_a_change_is_its_own(log: PostgresLessonLog, pool: Pool) -> None:
    earlier = {"applied_at": AT - 2 * DAY, "feedback_id": "g"}
    await put_all(
        pool,
        change("c", applied_at=AT, decided_by="kim", before={"content": "old"},
               after={"content": "new"}, proposed={"content": "asked"}),
        change("own", applied_at=AT - DAY),
        change("last", **earlier), change("first", applied_at=AT - 9 * DAY, feedback_id="g"),
        change("later", applied_at=AT + DAY, feedback_id="g"),
        change("n1", **{**earlier, "applied_at": AT - DAY, "target_id": "n"}),
        change("n2", **{**earlier, "applied_at": AT - DAY, "kind": "DMN_RULE"}),
        change("n3", **{**earlier, "applied_at": AT - DAY, "tenant_id": "u"}),
        change("n4", **{**earlier, "applied_at": AT - DAY, "status": "reverted"}),
        change("d", target_id="n2", edited_by="kim", reverts="c", decided_at=AT + DAY,
               after={"content": "x", "reach": {"scope": "user"}}),
        change("e", target_id="n3", retracts=["c"]),
    )  # fmt: skip
    first, second, third = await log.changes(["e", "c", "d"])
    assert (first.id, first.before, first.after, first.proposed) == ("c", "old", "new", "asked")
    assert (first.decided_by, first.is_edited, first.is_personal) == ("kim", False, False)
    assert (first.undoes, first.names_one, first.learnt_at) == (False, False, AT - 2 * DAY)
    assert (second.undoes, second.names_one, second.is_personal) == (True, True, True)
    assert (second.is_edited, second.at, second.learnt_at) == (True, AT + DAY, None)
    assert (third.id, third.undoes, third.names_one, third.at) == ("e", True, False, AT)


def event(name: str, candidate: str, number: int, status: str = "", **more: object) -> Row:
    row: dict[str, object] = {
        "id": number, "txid": str(number), "name": name, "feedback_id": "f", "tenant_id": "t",
        "candidate_id": candidate, "at": AT + number * DAY, "data": {"status": status},
    }  # fmt: skip
    return "run_events", row | more


async def test_a_run_recovered_where_the_one_just_before_had_failed(
    log: PostgresLessonLog, pool: Pool
) -> None:
    receipts = [
        {"status": "applied", "kind": "MEMORY", "operation": "CREATE"},
        {"status": "held", "kind": "MEMORY", "operation": "CREATE"},
        {"status": "held", "kind": "SKILL", "operation": "UPDATE"},
        {"status": "refused", "kind": "DMN_RULE", "operation": "CREATE"},
        {"status": "applied"},
    ]
    candidates = ("back", "never", "before", "still", "twice", "of-g")
    failed = {"status": "failed", "error": "the model is down"}
    done = "run.finished"
    await put_all(
        pool,
        ("feedback", {"id": "f", "tenant_id": "t"}),
        *(("candidates", {"id": one, "feedback_id": "f", "agent_id": "a", "tenant_id": "t",
                          "position": n, "content": f"of {one}", "verdict": {"receipts": receipts}})
          for n, one in enumerate(candidates)),
        event(done, "back", 1, data=failed), event(done, "back", 2, "completed"),
        event("run.started", "back", 3), event(done, "never", 4, "completed"),
        event(done, "before", 5, data=failed), event(done, "before", 6, "held"),
        event(done, "before", 7, "completed"),
        event(done, "still", 8, "completed"), event(done, "still", 9, data=failed),
        event(done, "twice", 10, data=failed), event(done, "twice", 11, "held"),
        event(done, "twice", 12, data=failed), event(done, "twice", 13, "held"),
        event(done, "of-g", 14, data=failed, feedback_id="g"), event(done, "of-g", 15, "held"),
    )  # fmt: skip
    found = await log.recovered([*candidates], ["f"])
    assert [(one.candidate_id, one.failed_id) for one in found] == [
        ("back", 1), ("before", 5), ("twice", 12),
    ]  # fmt: skip
    first = found[0]
    assert (first.content, first.error, first.at) == ("of back", "the model is down", AT + 2 * DAY)
    assert (first.agent_id, first.made) == ("a", ("CREATE MEMORY", "UPDATE SKILL"))
    assert found[2].at == AT + 13 * DAY
    assert await log.recovered(["never"], ["f"]) == []
    assert await log.recovered([*candidates], ["g"]) == []


async def test_what_runs_were_shown_is_told_by_run(log: PostgresLessonLog, pool: Pool) -> None:
    def shown(number: int, candidate: str, *items: str, **more: object) -> Row:
        data = {"lessons": [{"id": item, "version": 2} for item in items]}
        table, row = event("lessons.shown", candidate, number, data=data)
        return table, row | more

    await put_all(
        pool, shown(1, "k", "m", "n"), shown(2, "k", "m"), shown(3, "l", "o"),
        shown(4, "k", "p", feedback_id="g"), shown(5, "k", "q", name="lessons.hidden"),
    )  # fmt: skip
    found = await log.shown(["k"], ["f"])
    assert [(one.candidate_id, one.item_id, one.version) for one in found] == [
        ("k", "m", 2), ("k", "n", 2),
    ]  # fmt: skip


def piece(feedback_id: str, days: float = 0, tenant: str = "t", **more: object) -> Row:
    row: dict[str, object] = {
        "id": feedback_id, "source": "slack", "source_id": f"s-{feedback_id}", "tenant_id": tenant,
        "said_at": AT + days * DAY, "created_at": AT, "content": f"says {feedback_id}",
    }  # fmt: skip
    return "feedback", row | more


async def before(pool: Pool, limit: int = 9, **given: object) -> list[str]:
    known: dict[str, object] = {
        "id": "now", "source": "slack", "source_id": "s-now", "tenant_id": "t", "agent_ids": ("a",),
        "content": "", "said_at": AT, "created_at": AT, "status": "queued", "thread": None,
        "digest": "",
    }  # fmt: skip
    asked = Feedback.model_construct(**{**known, "in_reply_to": None, **given})  # type: ignore[arg-type]
    found = await PostgresConversations(pool).before(asked, limit)
    return [f"{one.id}!" if one.is_answered else one.id for one in found]


async def test_a_conversation_is_what_was_said_before_in_a_thread(pool: Pool) -> None:
    await put_all(
        pool, piece("now", thread="x"), piece("one", -1, thread="x"), piece("two", -2, thread="x"),
        piece("later", 1, thread="x"), piece("other", -1, thread="y"), piece("z", thread="x"),
        piece("foreign", -1, "u", thread="x"), piece("a", thread="x"),
    )  # fmt: skip
    assert await before(pool, thread="x") == ["a", "one", "two"]
    assert await before(pool, limit=2, thread="x") == ["a", "one"]
    assert await before(pool) == []


async def test_answers_are_followed_back_a_few_steps(pool: Pool) -> None:
    await put_all(
        pool, piece("now"), piece("c", -1, in_reply_to="s-b"), piece("b", -2, in_reply_to="a"),
        piece("a", -3, in_reply_to="s-first"), piece("first", -4),
        piece("u1", -1, "u", in_reply_to="s-b"),
        # What is answered is of the same tenant, whichever id is named.
        piece("g", -1, in_reply_to="s-h"), piece("h", -2, "u"), piece("i", -1, in_reply_to="h"),
        # An id of the source goes before one of ours.
        piece("x", -5, source_id="c"), piece("y", -5, source="mail", source_id="s-c"),
        piece("f2", -6, "u", source_id="s-q", source="mail"), piece("self", in_reply_to="s-now"),
    )  # fmt: skip
    assert await before(pool, in_reply_to="s-c") == ["c!", "b", "a", "first"]
    assert await before(pool, in_reply_to="c") == ["x!"]
    assert await before(pool, in_reply_to="b") == ["b!", "a", "first"]
    assert await before(pool, limit=2, in_reply_to="s-c") == ["c!", "b"]
    assert await before(pool, in_reply_to="s-g") == ["g!"]
    assert await before(pool, in_reply_to="s-i") == ["i!"]
    assert await before(pool, in_reply_to="u1") == []
    assert await before(pool, in_reply_to="s-u1") == []
    assert await before(pool, in_reply_to="now") == []
    assert await before(pool, in_reply_to="s-self") == ["self!"]


async def test_what_pieces_taught_is_told_as_it_stands(pool: Pool) -> None:
    receipt = {"status": "known", "kind": "MEMORY", "target_id": "known", "target_name": "K"}
    receipts = [
        receipt, {**receipt, "status": "refused", "target_id": "no"},
        {**receipt, "kind": "AGENT_SKILLS", "target_id": "list"}, {**receipt, "target_id": None},
    ]  # fmt: skip
    of = [*product("tu", ("MEMORY", "DMN_RULE"), ("m", "known"))]
    await put_all(
        pool, piece("one", -1, thread="x"), piece("two", -2, thread="x"), piece("now", thread="x"),
        *(("knowledge_versions", {"tenant_id": t, "kind": k, "item_id": i, "same_key": f"{k}{i}",
                                  "name_key": f"{k}{i}", "content": f"{t} {k} {i}"})
          for t, k, i in of),
        ("knowledge_versions", {"tenant_id": "t", "kind": "MEMORY", "item_id": "m", "version": 2,
                                "content": "was", "valid_to": AT}),
        *(("search_documents", {"tenant_id": t, "kind": k, "item_id": i,
                                "content": f"doc {t} {k} {i}"}) for t, k, i in of),
        change("c1", feedback_id="one", before={"content": "before"}),
        change("c2", feedback_id="one", kind="DMN_RULE", before={"content": "xml"},
               created_at=AT + DAY),
        change("c3", feedback_id="one", target_id="waits", status="held", created_at=AT + 2 * DAY),
        change("c4", feedback_id="one", status="rejected", target_id="no"),
        change("c5", feedback_id="one", reverts="c1", target_id="no"),
        change("c6", feedback_id="one", kind="AGENT_SKILLS", target_id="no"),
        change("c7", feedback_id="one", tenant_id="u", target_id="no"),
        change("c8", feedback_id="other", target_id="no"),
        ("candidates", {"id": "k", "feedback_id": "two", "agent_id": "b", "tenant_id": "t",
                        "verdict": {"receipts": receipts}}),
        ("candidates", {"id": "l", "feedback_id": "two", "agent_id": "b", "tenant_id": "t",
                        "position": 2, "verdict": {"receipts": "x"}}),
    )  # fmt: skip
    known = {"source": "slack", "source_id": "s", "in_reply_to": None, "thread": "x"}
    asked = Feedback.model_construct(id="now", tenant_id="t", said_at=AT, created_at=AT, **known)  # type: ignore[arg-type]
    first, second = await PostgresConversations(pool).before(asked, 9)
    assert [(one.id, one.kind, one.known, one.before, one.status) for one in first.taught] == [
        ("m", "MEMORY", "t MEMORY m", "before", "applied"),
        ("m", "DMN_RULE", "doc t DMN_RULE m", None, "applied"),
        ("waits", "MEMORY", None, None, "held"),
    ]
    assert [(one.id, one.name, one.agent_id, one.known) for one in second.taught] == [
        ("known", "K", "b", "t MEMORY known")
    ]
    assert second.taught[0].status is None
