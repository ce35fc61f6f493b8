"""Which cases a change makes run, on what would be known after it, and for whom they ask."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.adapters.postgres.case_runner import PostgresCaseRunner
from core.adapters.postgres.queries import Pool, transaction
from core.adapters.postgres.search import index_document
from core.domain.hashing import name_key, same_key, state_hash
from core.domain.models import Change, Kind, Reach, Scope, Snapshot
from core.domain.models.cases import Case, CaseBody, CaseStatus, Check
from core.knowledge.search.documents import SearchDocument
from tests.support.react import item_change
from tests.support.seeding import AT, DAY, put, put_all

NOW = AT + DAY
MEMORY, RULE, SKILL = Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL
REFUND = "Refunds of damaged parcels are paid by the harbour office."
ASKS = "who pays refunds of damaged parcels"
LUNCH = "The canteen opens at noon."
FOR_KIM = Reach(scope=Scope.USER, user="kim")
FOR_LEE = Reach(scope=Scope.USER, user="lee")
FOR_ALL = Reach(scope=Scope.TENANT)


@pytest.fixture
def runner(pool: Pool) -> PostgresCaseRunner:
    return PostgresCaseRunner(pool, lambda: NOW)


async def known(
    pool: Pool,
    item: str,
    text: str,
    kind: Kind = MEMORY,
    tenant: str = "t",
    agent: str = "a",
    **more: object,
) -> None:
    """Put an item there, and what a search finds it by."""
    names = {"name_key": name_key(item), "same_key": same_key(text)}
    row = {"tenant_id": tenant, "agent_id": agent, "kind": kind.value, "item_id": item, **names}
    state = state_hash(Snapshot(content=text, name=item))
    async with transaction(pool) as conn:
        if kind is not SKILL:
            more |= {"name": item, "content": text, "hash": state}
            await put(conn, "knowledge_versions", **row, **more)
        found = SearchDocument(
            tenant_id=tenant, kind=kind, item_id=item, agent_id=None if kind is SKILL else agent,
            name=item, content=text,
        )  # fmt: skip
        await index_document(conn, found)


def made(item: str, text: str | None, kind: Kind = MEMORY, **more: object) -> Change:
    """Return a change that writes an item, or deletes it where there is no text."""
    given = {"tenant_id": "t", "agent_id": "a", "id": "c1", **more}
    change = item_change(kind, item, item, text or "").model_copy(update=given)
    return change if text is not None else change.model_copy(update={"after": None})


def from_(text: str, reach: Reach = Reach(), name: str = "refund") -> dict[str, object]:  # noqa: B008
    before = Snapshot(content=text, name=name, reach=reach)
    return {"before": before, "base_hash": state_hash(before)}


def case(check: str, text: str = ASKS, item: str = "refund", **more: object) -> Case:
    body = {"check": check, "text": text, **{k: more.pop(k) for k in ("of",) if k in more}}
    given: dict[str, object] = {
        "id": f"{check} {item}", "tenant_id": "t", "agent_id": "a", "kind": MEMORY,
        "item_id": item, "role": "regression", "origin": "derived", "status": "green",
        "body": body, **more,
    }  # fmt: skip
    return Case.model_validate(given)


async def is_asked(runner: PostgresCaseRunner, change: Change, one: Case) -> bool:
    """Whether a search was made for a case: there is always something that it finds."""
    ((_, after),) = await runner.before_and_after(change, {}, [one])
    assert after.passed or after.found
    return bool(after.found)


NEAR = "Refunds of damaged parcels: who pays them is asked."


async def test_a_question_is_asked_again_only_where_a_change_may_move_its_item(
    pool: Pool, runner: PostgresCaseRunner
) -> None:
    await known(pool, "refund", REFUND)
    await known(pool, "lunch", LUNCH)
    await known(pool, "refund-money", f"# refund-money\n\n{REFUND}", SKILL)
    await put_all(
        pool,
        ("agents_of_tenants", {"id": "a", "tenant_id": "t", "sole_id": "a", "name": "A"}),
        ("agent_skills", {"tenant_id": "t", "agent_id": "a", "name": "refund-money"}),
    )
    await known(pool, "keller", "Refunds to the Keller are paid by the harbour office.")
    recall = case("recall")
    of_keller = case("recall", "who pays refunds from the harbour office", "keller")
    chosen = case("chosen", "pay refunds of damaged parcels", "refund-money", kind=SKILL)
    naming = chosen.model_copy(
        update={"body": CaseBody(check=Check.CHOSEN, text=f"{chosen.body.text} by noon-menu")}
    )
    quiet = case("silence", "who pays refunds", "lunch")
    shared = Snapshot(content=NEAR, name="new", reach=FOR_ALL)
    for change, one, expected in (
        (made("new", NEAR), recall, True),
        (made("new", "The printer is out of paper."), recall, False),
        (made("new", NEAR, agent_id="b"), recall, False),
        (made("new", NEAR, agent_id="b", after=shared), recall, True),
        (made("lunch", None, **from_(LUNCH, name="lunch")), recall, False),
        (made("refund", NEAR, SKILL), recall, False),
        (made("new", "Refunds are gone."), of_keller, False),
        (made("new", NEAR), chosen, False),
        (made("noon-menu", "# Canteen\n\nOpens.", SKILL), naming, True),
        (made("other", NEAR, SKILL), chosen, True),
        (made("other", "# The canteen\n\nOpens at noon.", SKILL), chosen, False),
        # One whose last end is not known to be a pass is asked in any case.
        (made("new", LUNCH + " It is open."), recall.model_copy(update={"status": "red"}), True),
        # What the item itself becomes is asked for.
        (made("refund", NEAR, **from_(REFUND)), recall, True),
        # What shares too little with a question stays unfound, whatever else is written.
        (made("new", NEAR), quiet, False),
    ):
        assert await is_asked(runner, change, one) is expected, (change.after, one.id)


async def test_a_question_of_no_words_is_asked_and_finds_nothing(
    pool: Pool, runner: PostgresCaseRunner
) -> None:
    await known(pool, "refund", REFUND)
    asked = [case("recall", "?!"), case("recall").model_copy(update={"id": "words"})]
    found = await runner.before_and_after(made("new", LUNCH), {}, asked)
    assert [(before, one.passed) for before, one in found] == [(False, False), (None, True)]


async def test_what_is_deleted_brings_up_what_must_stay_unfound(
    pool: Pool, runner: PostgresCaseRunner
) -> None:
    for place in ("Busan", "Ulsan", "Jeju", "Mokpo", "Pohang"):
        await known(pool, place, f"{place}: {NEAR}")
    await known(pool, "low", "Damaged parcels are paid, " + "and a long list of others too. " * 9)
    low = case("silence", item="low")
    ((before, after),) = await runner.before_and_after(made("new", LUNCH), {}, [low])
    assert (before, after.passed, len(after.found)) == (None, True, 5)
    gone = made("Jeju", None, **from_(f"Jeju: {NEAR}", name="Jeju"))
    ((before, after),) = await runner.before_and_after(gone, {}, [low])
    assert (before, after.passed) == (True, False)
    assert "low" in after.found


async def test_a_list_of_skills_is_asked_for_what_it_chooses(
    pool: Pool, runner: PostgresCaseRunner
) -> None:
    for name in ("pay", "pay-more"):
        await known(pool, name, f"# {name}\n\n{REFUND}", SKILL)
    await put_all(
        pool,
        ("agents_of_tenants", {"id": "a", "tenant_id": "t", "sole_id": "a", "name": "A"}),
        ("agents_of_tenants", {"id": "b", "tenant_id": "t", "sole_id": "b", "name": "B"}),
        ("agent_skills", {"tenant_id": "t", "agent_id": "a", "name": "pay"}),
    )

    def lists(before: str, after: str, agent: str = "a") -> Change:
        state = {"before": Snapshot(content=before, name="")}
        return made(agent, after, Kind.AGENT_SKILLS, **state)

    await known(pool, "refund", REFUND)
    on = case("chosen", "pay refunds of damaged parcels", "pay", kind=SKILL)
    off = case("not_chosen", "pay refunds of damaged parcels", "pay", kind=SKILL)
    of_b = on.model_copy(update={"agent_id": "b", "id": "b"})
    of_nobody = on.model_copy(update={"agent_id": "nobody", "id": "nobody"})
    cases = [on, off, of_b, of_nobody]
    for change, expected in (
        (lists("pay", ""), [(True, False), (None, True), (False, False), (False, False)]),
        (lists("pay", "pay"), [(None, True), (False, False), (False, False), (False, False)]),
        (lists("", "pay", "b"), [(None, True), (False, False), (None, True), (False, False)]),
        (
            lists("pay", "pay-more"),
            [(True, False), (None, True), (False, False), (False, False)],
        ),
    ):
        found = await runner.before_and_after(change, {}, cases)
        assert [(before, one.passed) for before, one in found] == expected, change.after
    assert [one.found for one in await runner.now(cases)] == [("pay",), ("pay",), (), ()]


async def test_a_question_is_asked_by_whoever_found_its_item_before(
    pool: Pool, runner: PostgresCaseRunner
) -> None:
    await known(pool, "refund", REFUND)
    await known(pool, "own", "Kim signs letters in green ink.", scope="user", scope_user="kim")
    await known(pool, "other", "Lee signs letters in blue ink.", agent="b")
    await known(pool, "table", "Who signs letters in ink", RULE)
    own = case("recall", "who signs letters in ink", "own")
    (found,) = await runner.now([own])
    assert found.found == ("own",)
    old, new = case("recall"), case("recall", change_id="c1").model_copy(update={"id": "new"})

    def moved(before: Reach, after: Reach, text: str = REFUND) -> Change:
        state = Snapshot(content=text, name="refund", reach=after)
        return made("refund", text, **from_(REFUND, before)).model_copy(update={"after": state})

    async def ended(change: Change, *cases: Case) -> list[tuple[bool | None, bool | None]]:
        done = await runner.before_and_after(change, {}, cases)
        return [(before, one.passed) for before, one in done]

    # What becomes kim's alone is lost to all others; by its own question kim finds it.
    assert await ended(moved(Reach(), FOR_KIM), old, new) == [(True, False), (True, True)]
    assert await ended(moved(Reach(), Reach()), old, new) == [(None, True), (True, True)]
    assert await ended(moved(Reach(), FOR_ALL), old, new) == [(None, True), (True, True)]
    # Kim's question about another item is asked by kim, whatever else changes.
    red = own.model_copy(update={"status": CaseStatus.RED})
    assert await ended(moved(Reach(), FOR_LEE), red) == [(None, True)]
    # What was over is found by nobody, and what is over tomorrow still is.
    over, lasts = (
        Reach(valid_until=NOW - timedelta(seconds=1)),
        Reach(valid_until=NOW + timedelta(seconds=1)),
    )
    assert await ended(moved(Reach(), over), old) == [(True, False)]
    assert await ended(moved(Reach(), lasts), old) == [(None, True)]


async def test_what_a_case_is_about_may_be_another_item(
    pool: Pool, runner: PostgresCaseRunner
) -> None:
    await known(pool, "refund", REFUND)
    await known(pool, "refund", "Something else entirely.", tenant="u")
    await known(pool, "refund-rule", "Nothing of this.", RULE)
    about = case("stands", "harbour office", "new", of="refund", change_id="c1")
    itself = case("stands", "canteen", "new", change_id="c1").model_copy(update={"id": "itself"})
    gone = case("stands", "harbour office", "nowhere").model_copy(update={"id": "gone"})
    done = await runner.before_and_after(made("new", LUNCH), {}, [about, itself, gone])
    assert [(one.case.id, before, one.passed) for before, one in done] == [
        ("stands new", True, True), ("itself", False, True), ("gone", False, False),
    ]  # fmt: skip
    # With no case about what is there already, what is new was not there before.
    done = await runner.before_and_after(made("new", LUNCH), {}, [itself])
    assert [(before, one.passed) for before, one in done] == [(False, True)]
    assert await runner.before_and_after(made("new", LUNCH), {}, []) == []
    assert await runner.now([]) == []
    (now,) = await runner.now([about])
    assert now.passed
    deleted = made("refund", None, **from_(REFUND))
    done = await runner.before_and_after(deleted, {}, [case("stands", "harbour office"), about])
    assert [(before, one.passed) for before, one in done] == [(True, False), (True, False)]


async def test_a_skill_is_found_by_its_words_as_soon_as_it_is_new(
    pool: Pool, runner: PostgresCaseRunner
) -> None:
    text = f"# Refunds\n\n{REFUND}"
    await put_all(
        pool, ("agents_of_tenants", {"id": "a", "tenant_id": "t", "sole_id": "a", "name": "A"})
    )
    asked = [
        case("chosen", "pay refunds of damaged parcels", "pay", kind=SKILL, change_id="c1"),
        case("recall", "refnuds of parcels", "pay", kind=SKILL, change_id="c1"),
        case("stands", "harbour office", "pay", kind=SKILL, change_id="c1"),
    ]
    for some in (asked, asked[:1], asked[1:2]):
        found = await runner.before_and_after(made("pay", text, SKILL), {}, some)
        assert [(before, one.passed) for before, one in found] == [(False, True)] * len(some)
    await known(pool, "pay", text, SKILL)
    # That it is written again lists it for nobody, and deleted it is chosen by nobody.
    was = Snapshot(content="was", name="pay")
    again = made("pay", text, SKILL, before=was)
    (result,) = await runner.before_and_after(again, {}, asked[:1])
    assert (result[0], result[1].passed) == (False, False)
    away = made("pay", None, SKILL, before=was)
    found = await runner.before_and_after(away, {}, [asked[1]])
    assert [(before, one.passed) for before, one in found] == [(True, False)]
