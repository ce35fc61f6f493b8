"""What people browse of the knowledge, and what an agent is shown for a task: whose it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime

import pytest

from core.domain.errors import InvalidInput, NotFound, SkillApiDown
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import (
    Agent,
    DaySpending,
    Kind,
    KnowledgeItem,
    Usage,
)
from core.domain.models.access import Principal, Role
from core.domain.models.cases import CaseCounts
from core.domain.models.context import TaskMatch
from core.domain.models.uses import Use, Way
from core.domain.models.views import KnowledgeFilter, Listed
from core.entrypoints.service.context import (
    LEAST_BUDGET,
    MOST_BUDGET,
    MOST_CHARS,
    SEARCHED_CHARS,
    Context,
    ContextService,
)
from core.entrypoints.service.items import KnownPage
from core.entrypoints.service.knowledge import KnowledgeService
from core.entrypoints.service.overview import _by_day
from core.testing.stores import MemoryAgents
from tests.support.sessions import Asked, principal, session_of

TASK = "How are refunds of damaged parcels paid?"
AT = datetime(2026, 11, 3, tzinfo=UTC)
AGENTS = (
    Agent(id="a", tenant_id="t", name="A", skills=("refund",)),
    Agent(id="b", tenant_id="t", name="B"),
    Agent(id="c", tenant_id="u", name="C"),
)


class Shelf:
    """Items in pages, and what was asked for; with `down` no skills of others are followed."""

    def __init__(self, count: int) -> None:
        self.items = [
            Listed(id=f"m{n}", kind=Kind.MEMORY, tenant_id="t", agent_id="a", name=f"n{n}")
            for n in range(count)
        ]
        self.asked: list[Mapping[str, object]] = []
        self.followed: list[str] = []
        self.kinds: list[Kind | None] = []
        self.is_down = False

    async def browse(self, **given: object) -> Sequence[Listed]:
        self.asked.append(given)
        after = given["after"]
        begin = 0 if after is None else int(str(after[2])[1:]) + 1  # type: ignore[index]
        return self.items[begin : begin + int(str(given["limit"]))]

    async def refresh(self, tenant_id: str) -> None:
        if self.is_down:
            raise SkillApiDown("the skill API does not answer")
        self.followed.append(tenant_id)

    async def require_kind(self, kind: Kind | None) -> None:
        self.kinds.append(kind)

    async def counts(self, keys: Sequence[tuple[str, Kind, str]]) -> Mapping[object, CaseCounts]:
        return {key: CaseCounts(green=1) for key in keys if key[2] == "m1"}

    async def page(
        self, wanted: KnowledgeFilter | None = None, who: Principal | None = None, **given: object
    ) -> KnownPage:
        stores = {"pages": self, "search": self, "cases": self, "agents": MemoryAgents(AGENTS)}
        session = session_of(
            who or principal(), parts={"require_kind": self.require_kind}, **stores
        )
        return await KnowledgeService(session).page(wanted or KnowledgeFilter(), **given)  # type: ignore[arg-type]


async def test_items_come_page_by_page_with_the_counts_of_their_cases() -> None:
    shelf = Shelf(5)
    pages: list[list[str]] = []
    cursor: str | None = None
    while not pages or cursor:
        page = await shelf.page(cursor=cursor, limit=2)
        pages.append([one.id for one in page.items])
        cursor = page.next
        assert {one.id for one in page.items if one.cases != CaseCounts()} <= {"m1"}
    assert pages == [["m0", "m1"], ["m2", "m3"], ["m4"]]
    assert [one["after"] for one in shelf.asked] == [
        None, ("t", "MEMORY", "m1"), ("t", "MEMORY", "m3")
    ]  # fmt: skip
    assert shelf.followed == ["t"]  # once, with the first page
    whole = await shelf.page(limit=5)
    assert (len(whole.items), whole.next) == (5, None)
    assert whole.items[1].cases.green == 1
    first = await shelf.page(limit=1)
    with pytest.raises(InvalidInput):  # a cursor of another list
        await shelf.page(KnowledgeFilter(kind=Kind.MEMORY), cursor=first.next)


@pytest.mark.parametrize(
    ("wanted", "followed"),
    [
        ({}, True),
        ({"kind": Kind.SKILL}, True),
        ({"kind": Kind.MEMORY}, False),
        ({"archived": True}, False),
        ({"expired": True}, True),
    ],
)
async def test_skills_of_others_are_looked_for_where_skills_are_listed(
    wanted: dict[str, object], followed: bool
) -> None:
    shelf = Shelf(1)
    given = KnowledgeFilter.model_validate({"agent_id": "a", **wanted})
    assert (await shelf.page(given, limit=3)).warnings == ()
    assert bool(shelf.followed) is followed
    assert shelf.asked == [
        {
            "tenant_id": "t", "agent_id": "a", "kind": given.kind, "after": None, "limit": 4,
            "expired": given.expired, "archived": given.archived,
        }
    ]  # fmt: skip
    assert shelf.kinds == [given.kind]
    shelf.is_down = True
    assert len((await shelf.page(given)).warnings) == int(followed)


async def test_an_item_is_shown_as_of_a_time_or_a_version_but_not_both() -> None:
    item = KnowledgeItem(
        id="m1", kind=Kind.MEMORY, tenant_id="t", agent_id="a", name="n", content="x"
    )
    store = Asked(last=[item], as_of=NotFound("then"), version=NotFound("that version"))
    names = ("past", "knowledge", "lineage", "changes", "skills", "search")
    service = KnowledgeService(session_of(**dict.fromkeys(names, store)))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput) as raised:
        await service.get("m1", kind=Kind.MEMORY, at=AT, version=0)
    assert (raised.value.message, store.calls) == (Message("history.time_and_version"), [])
    for asked, last in (({"at": AT}, ("as_of", AT)), ({"version": 0}, ("version", 0))):
        with pytest.raises(NotFound):
            await service.get("m1", kind=Kind.MEMORY, **asked)  # type: ignore[arg-type]
        assert last in [(name, given[-1]) for name, given, _ in store.calls if given]


async def test_a_list_is_of_the_agent_s_tenant_and_of_one_state() -> None:
    shelf = Shelf(1)
    await shelf.page(KnowledgeFilter(agent_id="c"), principal(None))
    assert (shelf.asked[-1]["tenant_id"], shelf.asked[-1]["agent_id"]) == ("u", "c")
    await shelf.page(KnowledgeFilter(agent_id="skill-worker"))  # its own lessons
    assert shelf.asked[-1]["agent_id"] == "skill-worker"
    for wanted in ({"agent_id": "c"}, {"tenant_id": "u"}):
        with pytest.raises(NotFound):
            await shelf.page(KnowledgeFilter.model_validate(wanted))
    with pytest.raises(InvalidInput):
        await shelf.page(KnowledgeFilter(expired=True, archived=True))


def match(item_id: str, content: str) -> TaskMatch:
    return TaskMatch(
        kind=Kind.MEMORY, id=item_id, name=item_id, version=2, content=content, matched=5.0,
        score=5.0, closeness=0.9,
    )  # fmt: skip


class Tasks:
    """What matches a task; `out` is left out by lot."""

    def __init__(self, *found: TaskMatch) -> None:
        self.found = found
        self.out: set[str] = set()
        self.asked: list[tuple[str, str, str | None]] = []
        self.used: list[Use] = []
        self.lots: list[object] = []
        self.refreshed: list[str] = []
        self.is_down = False

    async def find(self, task: str, agent: Agent, *, user: str | None) -> Sequence[TaskMatch]:
        self.asked.append((task, agent.id, user))
        return self.found

    async def left_out(self, *given: object) -> set[str]:
        self.lots.append(given)
        return self.out

    def note(self, uses: Sequence[Use]) -> None:
        self.used += uses

    async def refresh(self, tenant_id: str) -> None:
        self.refreshed.append(tenant_id)
        if self.is_down:
            raise SkillApiDown("away")

    async def context(
        self,
        task: str = TASK,
        agent: str | None = "b",
        who: Principal | None = None,
        **given: object,
    ) -> Context:
        stores = {"task_matches": self, "search": self, "agents": MemoryAgents(AGENTS)}
        session = session_of(who or principal(), parts={"uses": self}, **stores)
        return await ContextService(session, now=lambda: AT).context(agent, task, **given)  # type: ignore[arg-type]


KNOWN = (
    match("m1", "Refunds of damaged parcels are paid within 3 days"),
    match("m2", "Refunds of damaged parcels are paid by card"),
)


async def test_what_is_shown_for_a_task_is_on_record() -> None:
    tasks = Tasks(*KNOWN)
    context = await tasks.context(user="kim", agent="a")
    assert tasks.asked == [(TASK, "a", "kim")]
    assert (context.agent_id, context.tenant_id) == ("a", "t")
    assert [(one.id, one.version, one.kind, one.name) for one in context.items] == [
        ("m1", 2, Kind.MEMORY, "m1"), ("m2", 2, Kind.MEMORY, "m2")
    ]  # fmt: skip
    assert all(one.content in context.text for one in KNOWN)
    assert (context.left_out, context.warnings, tasks.refreshed) == (0, (), ["t"])
    assert tasks.used == [
        Use(
            at=AT, tenant_id="t", agent_id="a", kind=Kind.MEMORY, item_id=one.id, version=2,
            digest=text_hash(one.content), way=Way.SHOWN,
        )
        for one in KNOWN
    ]  # fmt: skip
    assert tasks.lots == [("t", "a", ["m1", "m2"], AT)]
    assert context.tokens == -(-len(context.text.encode()) // 3)


async def test_what_is_left_out_by_lot_is_neither_shown_nor_counted() -> None:
    tasks = Tasks(*KNOWN)
    tasks.out = {"m1"}
    context = await tasks.context()
    assert [one.id for one in context.items] == ["m2"]
    assert [one.item_id for one in tasks.used] == ["m2"]
    assert tasks.refreshed == []  # it lists no skill


async def test_what_has_no_room_is_counted_and_what_is_cut_is_said() -> None:
    long = match("m1", "Refunds of damaged parcels are paid. " * 200)
    context = await Tasks(long, *KNOWN[1:]).context(budget_tokens=LEAST_BUDGET)
    assert context.tokens <= LEAST_BUDGET
    assert any(one.is_cut for one in context.items) or context.left_out > 0


@pytest.mark.parametrize(
    ("task", "budget", "told"),
    [
        (" \n", 1500, "task"),
        ("x" * (MOST_CHARS + 1), 1500, f"{MOST_CHARS:,}"),
        (TASK, LEAST_BUDGET - 1, str(LEAST_BUDGET)),
        (TASK, MOST_BUDGET + 1, str(MOST_BUDGET)),
    ],
)
async def test_a_task_that_no_context_is_made_for_is_refused(
    task: str, budget: int, told: str
) -> None:
    tasks = Tasks(*KNOWN)
    with pytest.raises(InvalidInput, match=told):
        await tasks.context(task, budget_tokens=budget)
    assert tasks.asked == []


async def test_the_most_of_a_task_and_of_a_budget_is_taken() -> None:
    tasks = Tasks()
    for task, budget, warned in (
        ("x" * MOST_CHARS, LEAST_BUDGET, 1), ("x" * SEARCHED_CHARS, MOST_BUDGET, 0),
        ("x" * (SEARCHED_CHARS + 1), MOST_BUDGET, 1),
    ):  # fmt: skip
        context = await tasks.context(task, budget_tokens=budget)
        assert (context.text, context.items, len(context.warnings)) == ("", (), warned)
    assert {len(task) for task, *_ in tasks.asked} == {SEARCHED_CHARS}
    tasks.is_down = True
    both = await tasks.context("x" * MOST_CHARS, "a")
    assert len(both.warnings) == 2


async def test_a_context_is_of_the_agent_that_asks() -> None:
    tasks = Tasks(*KNOWN)
    itself = principal("t", Role.READ, agent_id="b")
    assert (await tasks.context(agent=None, who=itself)).agent_id == "b"
    with pytest.raises(NotFound):
        await tasks.context(agent="a", who=itself)
    anywhere = await tasks.context(agent="c", who=principal(None), tenant_id="u")
    assert anywhere.tenant_id == "u"


def test_spending_is_added_up_by_day_newest_first() -> None:
    def spent(day: int, tenant: str, calls: int, unpriced: int) -> DaySpending:
        usage = Usage(model_calls=calls)
        return DaySpending(
            day=date(2026, 11, day), tenant_id=tenant, model="m", usage=usage,
            unpriced_calls=unpriced,
        )  # fmt: skip

    found = _by_day([spent(1, "t", 2, 1), spent(3, "t", 4, 0), spent(1, "u", 3, 2)])
    assert [(one.day.day, one.usage.model_calls, one.unpriced_calls) for one in found] == [
        (3, 4, 0), (1, 5, 3)
    ]  # fmt: skip
