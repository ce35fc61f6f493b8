"""What was said later of a target, and what a piece of feedback or a target came to."""

from __future__ import annotations

import pytest

from core.adapters.postgres.change_log import PostgresSteps
from core.adapters.postgres.queries import Pool
from core.domain.models import Change, Kind, Operation
from tests.support.change_rows import change, history
from tests.support.react import item_change
from tests.support.seeding import AT, DAY, Row, put_all

MEMORY, RULE, SKILL = Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL


def asking(**given: object) -> Change:
    made = item_change(MEMORY, "m", "m", "x")
    whose = {"tenant_id": "t", "agent_id": "a", "feedback_id": "f0", "said_at": AT, "heard_at": AT}
    return made.model_copy(update=whose | given)


async def later(pool: Pool, made: Change) -> list[str]:
    words = await PostgresSteps(pool).later(made)
    return [one.change_id or f"echo of {one.feedback_id}" for one in words]


AFTER = {"said_at": AT + DAY, "heard_at": AT + DAY, "feedback_id": "f1"}


async def test_what_was_said_later_of_a_target_is_what_came_to_it(pool: Pool) -> None:
    await put_all(
        pool,
        change("applied", **AFTER),
        change("undone", **AFTER | {"status": "reverted", "said_at": AT + 2 * DAY}),
        change("by-hand", **AFTER | {"feedback_id": None, "said_at": AT + 3 * DAY}),
        change("heard", **AFTER | {"said_at": AT, "heard_at": AT + DAY / 2}),
        change("held", **AFTER | {"status": "held"}),
        change("own", **AFTER | {"feedback_id": "f0"}),
        change("outside", **AFTER | {"origin": "OUTSIDE"}), change("before", feedback_id="f1"),
        change("earlier", **AFTER | {"said_at": AT - DAY}),
        change("foreign", **AFTER | {"tenant_id": "u"}),
        change("rule", **AFTER | {"kind": "DMN_RULE"}),
        change("elsewhere", **AFTER | {"target_id": "n"}),
    )  # fmt: skip
    assert await later(pool, asking()) == ["heard", "applied", "undone", "by-hand"]


ELSEWHERE = AFTER | {"target_id": "n", "before": {"content": "gone", "name": "gone"}}


@pytest.mark.parametrize(
    ("given", "asked", "counts"),
    [
        ({"operation": "DELETE"}, {}, True),
        ({"operation": "UPDATE", "merge_mode": "REPLACE"}, {}, True),
        ({"operation": "UPDATE", "relationship": "SUPERSEDES"}, {}, True),
        ({"operation": "UPDATE", "relationship": "EXTENDS", "merge_mode": "EXTEND"}, {}, False),
        ({"operation": "CREATE", "relationship": "SUPERSEDES"}, {}, False),
        ({"operation": "DELETE", "status": "reverted"}, {}, False),
        ({"operation": "DELETE", "agent_id": "b"}, {}, False),
        ({"operation": "DELETE", "tenant_id": "u"}, {}, False),
        ({"operation": "DELETE", "kind": "DMN_RULE"}, {}, False),
        ({"operation": "DELETE", "feedback_id": "f0"}, {}, False),
        ({"operation": "DELETE", "said_at": AT - DAY}, {}, False),
        ({"operation": "DELETE"}, {"operation": Operation.UPDATE}, False),
        ({"operation": "DELETE", "kind": "DMN_RULE"}, {"kind": RULE}, True),
        (
            {"operation": "DELETE", "kind": "DMN_RULE"},
            {"kind": RULE, "operation": Operation.UPDATE}, True,
        ),
        (
            {"operation": "UPDATE", "merge_mode": "REPLACE", "kind": "DMN_RULE"}, {"kind": RULE},
            False,
        ),
        ({"operation": "DELETE", "kind": "SKILL"}, {"kind": SKILL}, False),
    ],
)  # fmt: skip
async def test_of_other_items_only_what_went_or_gave_way_counts(
    pool: Pool, given: dict[str, object], asked: dict[str, object], counts: bool
) -> None:
    await put_all(pool, change("c", **ELSEWHERE | given))
    (*found,) = await PostgresSteps(pool).later(asking(**asked))
    assert [one.gone.content for one in found if one.gone] == (["gone"] if counts else [])
    assert len(found) == int(counts)


@pytest.mark.parametrize(
    ("made", "counts"),
    [
        ({}, True),
        ({"status": "reverted"}, True),
        ({"status": "held"}, False),
        ({"said_at": AT - DAY}, False),
        ({"operation": "UPDATE"}, False),
        ({"target_id": "l"}, False),
        ({"tenant_id": "u"}, False),
        ({"kind": "DMN_RULE"}, False),
    ],
)
async def test_what_went_counts_for_what_was_made_anew_later(
    pool: Pool, made: dict[str, object], counts: bool
) -> None:
    anew = AFTER | {"operation": "CREATE"} | made
    await put_all(pool, change("c", **ELSEWHERE | {"operation": "DELETE"}), change("anew", **anew))
    found = await PostgresSteps(pool).later(asking(operation=Operation.UPDATE))
    assert [one.change_id for one in found if one.gone] == (["c"] if counts else [])


@pytest.mark.parametrize(
    ("given", "is_undoing"), [({}, False), ({"reverts": "x"}, True), ({"retracts": ["x"]}, True)]
)
async def test_what_only_takes_something_back_is_told_apart(
    pool: Pool, given: dict[str, object], is_undoing: bool
) -> None:
    await put_all(pool, change("c", **ELSEWHERE | {"operation": "DELETE"} | given))
    (found,) = await PostgresSteps(pool).later(asking())
    assert (found.gone is not None, found.is_undoing) == (True, is_undoing)


async def test_who_repeats_a_thing_later_says_it_later(pool: Pool) -> None:
    def echo(feedback_id: str, **more: object) -> list[Row]:
        row = {"tenant_id": "t", "kind": "MEMORY", "target_id": "m", "feedback_id": feedback_id}
        said: dict[str, object] = {"said_at": AT + DAY, "created_at": AT + DAY}
        said |= {key: more.pop(key) for key in ("said_at",) if key in more}
        piece = {"id": feedback_id, "source_id": feedback_id, "tenant_id": "t"}
        return [("feedback", piece | said), ("echoes", row | more)]

    await put_all(
        pool, change("done", key="done", target_id="x"),
        change("waits", key="waits", target_id="y", status="held"),
        *echo("f1"), *echo("f2", change_id="done", said_at=AT + 2 * DAY),
        *echo("f3", change_id="waits"), *echo("f4", target_id="n"), *echo("f5", kind="DMN_RULE"),
        *echo("f6", tenant_id="u"), *echo("f7", said_at=AT - DAY), *echo("f0"),
    )  # fmt: skip
    assert await later(pool, asking()) == ["echo of f1", "echo of f2"]


async def test_changes_of_a_piece_and_of_a_target_are_its_own(pool: Pool) -> None:
    of = {"knowledge_type": "MEMORY", "knowledge_id": "m"}
    piece = {"feedback_id": "f"}
    await put_all(
        pool, change("c1", **piece), change("c2", **piece | {"created_at": AT - DAY}),
        change("waits", **piece | {"status": "held", "held": ["why"]}),
        change("stale", **piece | {"status": "stale", "held": ["why"]}),
        change("let-go", **piece | {"status": "held"}),
        change("undoes", **piece | {"reverts": "c1"}),
        change("takes", **piece | {"retracts": ["c1"]}),
        change("rejected", **piece | {"status": "rejected", "held": ["why"]}),
        change("other", feedback_id="g"),
        history("c1", 1, **of), history("c2", 2, **of | {"status": "reverted"}),
        history("waits", 3, **of | {"status": "failed"}),
        history("stale", 4, **of | {"tenant_id": "u"}),
        history("let-go", 5, **of | {"knowledge_type": "DMN_RULE"}),
        history("other", 6, **of | {"knowledge_id": "n"}),
    )  # fmt: skip
    steps = PostgresSteps(pool)
    assert [one.id for one in await steps.of_feedback("f")] == ["c2", "c1", "stale", "waits"]
    assert [one.id for one in await steps.chain(MEMORY, "t", "m")] == ["c1", "c2"]
