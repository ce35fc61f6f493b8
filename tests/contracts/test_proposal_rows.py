"""What is proposed about an item rests on its own rows, and is decided once."""

from __future__ import annotations

import pytest

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.uses import PostgresEffects, PostgresLookBack
from core.domain.models.effect import (
    Action,
    EffectFilter,
    Proposal,
    ProposalStatus,
)
from core.domain.models.feedback import WORKER_AGENT
from tests.support.effect_rows import WHOSE, complaint, known, use, whose
from tests.support.seeding import AT, DAY, Row, put_all


@pytest.fixture
def effects(pool: Pool) -> PostgresEffects:
    return PostgresEffects(pool)


def proposal(proposal_id: str, *of: str, **more: object) -> Row:
    row = {"id": proposal_id, "action": "archive", "created_at": AT, **more}
    return "proposals", whose(*of) | row


async def test_a_proposal_comes_with_what_speaks_for_it(
    pool: Pool, effects: PostgresEffects
) -> None:
    of = ("t", "a", "MEMORY", "m")
    rows = [complaint(n, *one) for n, one in enumerate(WHOSE)]
    rows += [complaint(50, *of), complaint(51, *of, said_at=AT - DAY)]
    rows += [complaint(60, *of, came="before")]
    rows += [use(*one, last_at=AT + n * DAY) for n, one in enumerate(WHOSE)]
    rows += [known(*of, version=2, name="newer", same_key="2", valid_from=AT + DAY)]
    rows += [known(*of, version=1, valid_to=AT + DAY)]
    rows += [known("u", "b", "MEMORY", "m", version=3, name="foreign")]
    rows += [known("t", "b", "DMN_RULE", "m", version=3, name="a table")]
    rows += [known("t", "b", "MEMORY", "n", version=3, name="another")]
    rows += [
        proposal("p2", *of),
        proposal("p1", "t", "a", "MEMORY", "gone", created_at=AT - DAY),
        proposal("p3", *of, status="dismissed"),
        proposal("p4", "t", "b", "MEMORY", "m"),
        proposal("p5", "u", "a", "MEMORY", "m"),
    ]
    await put_all(pool, *rows)
    wanted = EffectFilter(tenant_id="t", agent_id="a")
    first, second = await effects.proposals(wanted, limit=9)
    assert (first.id, first.name, first.back, first.last_id) == ("p1", "gone", 0, None)
    assert (second.id, second.name, second.back, second.last_id) == ("p2", "newer", 3, "f50")
    reached = max(n for n, one in enumerate(WHOSE) if (one[0], *one[2:]) == ("t", "MEMORY", "m"))
    assert (first.unused_since, second.unused_since) == (None, AT + reached * DAY)
    assert [one.id for one in await effects.proposals(wanted, limit=1)] == ["p1"]
    whole = await effects.proposals(EffectFilter(), limit=9)
    assert [one.id for one in whole] == ["p1", "p2", "p4", "p5"]
    assert (await effects.proposal("p3")).status == "dismissed"
    counts = [await effects.counts(EffectFilter(tenant_id=t, agent_id=a)) for t, a in
              ((None, None), ("t", None), ("t", "a"), (None, "a"))]  # fmt: skip
    assert [one.proposals for one in counts] == [4, 3, 2, 3]


async def test_a_proposal_is_decided_once(pool: Pool, effects: PostgresEffects) -> None:
    await put_all(
        pool,
        proposal("p1", "t", "a", "MEMORY", "m"),
        proposal("p2", "t", "a", "MEMORY", "n"),
    )
    made = (await effects.proposal("p1")).model_copy(
        update={
            "status": ProposalStatus.ACCEPTED,
            "decided_at": AT,
            "decided_by": "kim",
            "change_id": "c",
        }
    )
    assert await effects.decide(made)
    assert not await effects.decide(made.model_copy(update={"decided_by": "lee"}))
    stored = await effects.proposal("p1")
    assert (stored.status, stored.decided_by, stored.change_id) == ("accepted", "kim", "c")
    assert [one.id for one in await effects.proposals(EffectFilter(), limit=9)] == ["p2"]


NOW = AT + 200 * DAY


async def proposed(pool: Pool) -> list[tuple[str, str, str, Action]]:
    await PostgresLookBack(pool).propose(NOW, unused_days=90, recurring=2)
    found = await PostgresEffects(pool).proposals(EffectFilter(), limit=99)
    return [(one.agent_id, one.kind, one.item_id, one.action) for one in _ordered(found)]


def _ordered(found: list[Proposal] | object) -> list[Proposal]:
    assert isinstance(found, list)
    return sorted(found, key=lambda one: (one.tenant_id, one.agent_id, one.item_id))


def asking(tenant: str = "t", agent: str = "a", item: str = "another") -> list[Row]:
    """Return uses that say that an agent asks all the time."""
    first = use(tenant, agent, "MEMORY", item, first_at=AT, last_at=AT)
    last = use(tenant, agent, "MEMORY", item, day=NOW.date(), first_at=NOW, last_at=NOW)
    return [first, last]


ARCHIVE = [("a", "MEMORY", "m", Action.ARCHIVE)]


@pytest.mark.parametrize(
    ("more", "is_proposed"),
    [
        ([], True),
        # It has reached somebody lately; a memory counts wherever, as its tenant may share it.
        ([use("t", "a", "MEMORY", "m", last_at=NOW)], False),
        ([use("t", "b", "MEMORY", "m", last_at=NOW)], False),
        ([use("t", "a", "MEMORY", "m", last_at=NOW - 89 * DAY)], False),
        ([use("t", "a", "MEMORY", "m", last_at=NOW - 91 * DAY)], True),
        ([use("u", "a", "MEMORY", "m", last_at=NOW)], True),
        ([use("t", "a", "DMN_RULE", "m", last_at=NOW)], True),
        ([use("t", "a", "MEMORY", "n", last_at=NOW)], True),
        # Uses that were too many to be told apart may have been of it.
        ([use("t", "a", "MEMORY", "", last_at=NOW)], False),
        ([use("t", "a", "MEMORY", "", last_at=NOW - 91 * DAY)], True),
        ([use("t", "b", "MEMORY", "", last_at=NOW)], True),
        # A person has looked at it not long ago, or long ago; or at another one.
        ([proposal("p", "t", "a", "MEMORY", "m", status="dismissed", decided_at=NOW - DAY)], False),
        ([proposal("p", "t", "a", "MEMORY", "m", status="dismissed", decided_at=AT)], True),
        ([proposal("p", "u", "a", "MEMORY", "m", status="dismissed", decided_at=NOW)], True),
        ([proposal("p", "t", "b", "MEMORY", "m", status="dismissed", decided_at=NOW)], True),
        ([proposal("p", "t", "a", "DMN_RULE", "m", status="dismissed", decided_at=NOW)], True),
        ([proposal("p", "t", "a", "MEMORY", "n", status="dismissed", decided_at=NOW)], True),
    ],
)
async def test_what_reached_nobody_is_proposed_for_the_archive(
    pool: Pool, more: list[Row], is_proposed: bool
) -> None:
    await put_all(pool, known("t", "a", "MEMORY", "m"), *asking(), *more)
    assert await proposed(pool) == (ARCHIVE if is_proposed else [])
    assert await proposed(pool) == (ARCHIVE if is_proposed else [])


@pytest.mark.parametrize(
    ("uses", "is_proposed"),
    [
        (asking()[:1], False),  # it asks no more
        (asking()[1:], False),  # it has only begun to ask
        (asking(agent="b"), False),
        (asking(tenant="u"), False),
        ([*asking()[:1], *asking(item="third")[1:]], True),
    ],
)
async def test_an_agent_has_to_ask_all_the_time(
    pool: Pool, uses: list[Row], is_proposed: bool
) -> None:
    await put_all(pool, known("t", "a", "MEMORY", "m"), *uses)
    assert await proposed(pool) == (ARCHIVE if is_proposed else [])


@pytest.mark.parametrize(
    ("given", "is_proposed"),
    [
        ({}, True),
        ({"valid_from": NOW - 89 * DAY}, False),
        ({"valid_to": NOW - DAY}, False),
        ({"valid_until": NOW - DAY}, False),
        ({"valid_until": NOW + DAY}, True),
        ({"agent_id": "b"}, False),
        ({"tenant_id": "u"}, False),
    ],
)
async def test_only_what_an_agent_has_had_for_long_is_proposed(
    pool: Pool, given: dict[str, object], is_proposed: bool
) -> None:
    await put_all(pool, known("t", "a", "MEMORY", "m", **given), *asking())
    assert await proposed(pool) == (ARCHIVE if is_proposed else [])


async def test_a_skill_counts_where_its_own_agent_got_it(pool: Pool) -> None:
    listed = {"tenant_id": "t", "agent_id": "a", "added_at": AT}
    await put_all(
        pool,
        ("agents", {"id": "a", "tenant_id": "t", "name": "A"}),
        *(("agent_skills", {**listed, "name": name}) for name in ("pay", "ship")),
        use("t", "b", "SKILL", "pay", last_at=NOW),
        use("t", "a", "SKILL", "ship", last_at=NOW),
        *asking(),
    )
    assert await proposed(pool) == [("a", "SKILL", "pay", Action.ARCHIVE)]


REWRITE = [("a", "MEMORY", "m", Action.REWRITE)]
LATE = NOW - 10 * DAY
OF = ("t", "a", "MEMORY", "m")


def back(*of: str, **more: object) -> list[Row]:
    return [complaint(n, *(of or OF), **{"said_at": LATE, **more}) for n in (1, 2)]


@pytest.mark.parametrize(
    ("rows", "is_proposed"),
    [
        (back(), True),
        (back()[:1], False),
        (back(came="unreached"), False),
        (back(said_at=AT - DAY), False),
        (back("u", *OF[1:]), False),
        (back("t", "b", *OF[2:]), False),
        (back("t", "a", "DMN_RULE", "m"), False),
        (back("t", "a", "MEMORY", "n"), False),
    ],
)
async def test_what_comes_back_is_proposed_for_a_rewrite(
    pool: Pool, rows: list[Row], is_proposed: bool
) -> None:
    await put_all(pool, known(*OF), *rows)
    assert await proposed(pool) == (REWRITE if is_proposed else [])


@pytest.mark.parametrize(
    ("given", "is_proposed"),
    [
        ({}, False),
        ({"created_at": LATE - DAY}, True),
        ({"status": "failed"}, True),
        ({"tenant_id": "u"}, True),
        ({"knowledge_type": "DMN_RULE"}, True),
        ({"knowledge_id": "n"}, True),
    ],
)
async def test_what_was_changed_since_has_had_its_rewrite(
    pool: Pool, given: dict[str, object], is_proposed: bool
) -> None:
    row = {"tenant_id": "t", "knowledge_type": "MEMORY", "knowledge_id": "m", "status": "applied",
           "created_at": LATE + DAY, "change_id": "c", **given}  # fmt: skip
    await put_all(
        pool, ("changes", {"id": "c", "status": "applied"}), known(*OF), *back(), ("history", row)
    )
    assert await proposed(pool) == (REWRITE if is_proposed else [])


async def test_of_two_reasons_the_rewrite_is_proposed_and_lessons_never(pool: Pool) -> None:
    own = ("t", WORKER_AGENT, "MEMORY", "lesson")
    later = [complaint(n, *own, said_at=LATE) for n in (1, 2)]
    await put_all(pool, known(*OF), known(*own), *back(), *later, *asking())
    assert await proposed(pool) == REWRITE
