"""Who asks: which roles a call needs, whose data it finds, and what is put on record of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest

from core.domain.errors import DependencyDown, Forbidden, InvalidInput, NotFound, Refused
from core.domain.models import Agent, ListEdit, Receipt, ReceiptStatus
from core.domain.models.access import Principal, Role
from core.domain.models.audit import Call, Via
from core.domain.models.views import ListedSkill
from core.entrypoints.call_record import CallRecord
from core.entrypoints.service.agents import AgentFilter, AgentsService
from core.entrypoints.service.owners import agent_in_use, follow_skills, own_agent
from core.entrypoints.service.session import Session, acting
from core.testing.stores import MemoryAgents, MemoryInbox
from tests.support.sessions import principal, session_of

AT = datetime(2026, 11, 3, tzinfo=UTC)
A, B, A_OF_U, C = (
    Agent(id="a", tenant_id="t", name="A", skills=("x", "y")),
    Agent(id="b", tenant_id="t", name="B", skills=("x",)),
    Agent(id="a", tenant_id="u", name="Another"),
    Agent(id="c", tenant_id="u", name="C"),
)
ANYWHERE = principal(None)


class World:
    """Four agents of two tenants; `did` is what was asked of other parts."""

    def __init__(self) -> None:
        self.agents = MemoryAgents([A, B, A_OF_U, C])
        self.inbox = MemoryInbox()
        self.did: list[object] = []
        self.status = ReceiptStatus.APPLIED
        self.is_down = False

    def session(self, who: Principal | None = None) -> Session:
        stores = {"agents": self.agents, "inbox": self.inbox, "search": self}
        parts: dict[str, object] = {"skill_lists": self.lists("for good")}
        parts["as_dry_run"] = lambda: SimpleNamespace(skill_lists=self.lists("dry"))
        return session_of(who or principal(), parts=parts, **stores)

    def service(self, who: Principal | None = None) -> AgentsService:
        return AgentsService(self.session(who))

    def lists(self, how: str) -> object:
        async def edit(agent: Agent, edit: ListEdit, skills: Sequence[str], by: str) -> Receipt:
            self.did.append((how, agent.tenant_id, agent.id, edit, tuple(skills), by))
            return Receipt(status=self.status, message="said")

        async def of(agent: Agent) -> Sequence[ListedSkill]:
            return [SimpleNamespace(name=name) for name in agent.skills]  # type: ignore[misc]

        return SimpleNamespace(edit=edit, of=of)

    async def refresh(self, tenant_id: str) -> None:
        if self.is_down:
            raise DependencyDown("the skill API does not answer")
        self.did.append(tenant_id)


@pytest.fixture
def world() -> World:
    return World()


def test_a_call_needs_its_role_and_an_agent_is_let_in_where_it_may() -> None:
    reader = session_of(principal("t", Role.READ))
    reader.require(Role.READ)
    with pytest.raises(Forbidden, match="review") as refused:
        reader.require(Role.REVIEW)
    assert refused.value.hint
    agent = session_of(principal("t", Role.READ, agent_id="a"))
    agent.require(Role.READ, of_agents=True)
    with pytest.raises(Forbidden, match="submit"):
        agent.require(Role.SUBMIT, of_agents=True)
    with pytest.raises(Forbidden, match="agent") as refused:
        agent.require(Role.READ)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("own", "wanted", "found"),
    [("t", None, "t"), ("t", "t", "t"), (None, "u", "u"), (None, None, None)],
)
def test_a_list_is_of_the_tenant_that_is_wanted(
    own: str | None, wanted: str | None, found: str | None
) -> None:
    session = session_of(principal(own))
    assert session.tenant(wanted) == found
    assert session.about == ({"tenant": found} if found else {})
    if found is None:
        with pytest.raises(InvalidInput, match="tenant") as refused:
            session.one_tenant(wanted)
        assert refused.value.hint
    else:
        assert session.one_tenant(wanted) == found


def test_another_tenant_does_not_exist() -> None:
    session = session_of(principal("t"))
    for ask in (session.tenant, session.one_tenant):
        with pytest.raises(NotFound, match="'u'"):
            ask("u")
    assert session.about == {}


async def test_what_is_another_s_is_refused_like_what_does_not_exist(world: World) -> None:
    session = world.session()
    found = await session.own(world.agents.get("t", "a"), "agent", "a")
    assert (found, session.about) == (A, {"tenant": "t"})
    session = world.session()
    told = []
    for tenant, what in (("u", "agent"), ("t", "agent"), ("u", "gadget")):
        with pytest.raises(NotFound) as refused:
            await session.own(world.agents.get(tenant, "c"), what, "c")
        told.append(refused.value.message)
    assert told[0] == told[1] == "there is no agent 'c'"
    assert "gadget" in told[2]
    assert session.about == {}


async def test_an_agent_is_found_in_its_tenant_or_in_the_only_one(world: World) -> None:
    assert await own_agent(world.session(), "a", None) == A
    anywhere = world.session(ANYWHERE)
    assert await own_agent(anywhere, "c", None) == C
    assert await own_agent(anywhere, "a", "u") == A_OF_U
    with pytest.raises(InvalidInput, match=r"'t', 'u'") as refused:
        await own_agent(anywhere, "a", None)
    assert refused.value.hint
    for session, name in ((anywhere, "d"), (world.session(), "c")):
        with pytest.raises(NotFound, match=f"agent '{name}'"):
            await own_agent(session, name, None)


async def test_an_agent_that_asks_for_itself_need_not_be_named(world: World) -> None:
    itself = world.session(principal("t", agent_id="a"))
    for named in (None, "a"):
        assert await agent_in_use(itself, named, None) == A
    with pytest.raises(NotFound, match="'b'"):
        await agent_in_use(itself, "b", None)
    assert await agent_in_use(world.session(), "b", None) == B
    with pytest.raises(InvalidInput, match="agent") as refused:
        await agent_in_use(world.session(), None, None)
    assert refused.value.hint


async def test_skills_are_looked_for_in_each_tenant_once(world: World) -> None:
    assert await follow_skills(world.session(), None) == ()
    assert await follow_skills(world.session(), "t") == ()
    assert world.did == ["t", "u", "t"]
    world.is_down = True
    (warning,) = await follow_skills(world.session(), "t")
    assert "does not answer" in warning


async def test_agents_come_page_by_page_in_one_order(world: World) -> None:
    pages = []
    cursor: str | None = None
    while not pages or cursor:
        page = await world.service(ANYWHERE).page(AgentFilter(), limit=3, cursor=cursor)
        pages.append([(agent.id, agent.tenant_id) for agent in page.items])
        cursor = page.next
    assert pages == [[("a", "t"), ("a", "u"), ("b", "t")], [("c", "u")]]
    whole = await world.service(ANYWHERE).page(AgentFilter(), limit=4)
    assert (len(whole.items), whole.next) == (4, None)
    first = await world.service().page(AgentFilter(), limit=1)
    assert ([agent.id for agent in first.items], first.next is not None) == (["a"], True)
    with pytest.raises(InvalidInput):  # a cursor of another list
        await world.service(ANYWHERE).page(AgentFilter(tenant_id="u"), limit=1, cursor=first.next)


async def test_only_what_the_principal_may_see_is_listed(world: World) -> None:
    assert await world.service().names() == {("t", "a"): "A", ("t", "b"): "B"}
    assert await world.service(principal("t", Role.SUBMIT)).names() == {}
    assert await world.service().tenants() == ["t"]
    assert await world.service(ANYWHERE).tenants() == ["t", "u"]
    assert [agent.id for agent in await world.service().having("x", "t")] == ["a", "b"]
    assert [agent.id for agent in await world.service().having("y", "t")] == ["a"]
    with pytest.raises(NotFound):
        await world.service().having("x", "u")


async def test_a_skill_on_a_list_is_found_by_its_name(world: World) -> None:
    assert [one.name for one in await world.service().skills("a")] == ["x", "y"]
    assert (await world.service().skill("a", "y")).name == "y"
    with pytest.raises(NotFound, match="z") as refused:
        await world.service().skill("a", "z")
    assert refused.value.hint


async def test_an_edit_of_a_list_is_submitted_in_the_caller_s_name(world: World) -> None:
    service = world.service()
    await service.attach("a", "z")
    await service.detach("a", "x", dry_run=True)
    await service.set_skills("b", ["z", "w"])
    assert world.did == [
        ("for good", "t", "a", ListEdit.ADD, ("z",), "lee"),
        ("dry", "t", "a", ListEdit.REMOVE, ("x",), "lee"),
        ("for good", "t", "b", ListEdit.SET, ("z", "w"), "lee"),
    ]
    world.status = ReceiptStatus.REFUSED
    for call, error in (
        (service.attach("a", "z"), NotFound),
        (service.detach("a", "z"), NotFound),
        (service.set_skills("a", ["z"]), InvalidInput),
    ):
        with pytest.raises(error, match="said"):
            await call


async def test_an_agent_that_is_saved_keeps_its_list_and_is_its_tenant_s(world: World) -> None:
    changed = A.model_copy(update={"name": "Anew", "skills": (), "tenant_id": "u"})
    saved, is_new = await world.service().save(changed, None)
    assert (saved.tenant_id, saved.name, saved.skills, is_new) == ("t", "Anew", ("x", "y"), False)
    saved, is_new = await world.service(ANYWHERE).save(Agent(id="n", tenant_id="", name="N"), "u")
    assert (saved.tenant_id, is_new) == ("u", True)
    assert await world.agents.get("u", "n") == saved
    with pytest.raises(InvalidInput):
        await world.service().save(Agent(id="", tenant_id="t", name="N"), None)


@pytest.mark.parametrize(
    ("role", "name"),
    [
        (Role.READ, "page"), (Role.READ, "tenants"), (Role.READ, "get"), (Role.READ, "skills"),
        (Role.READ, "having"), (Role.REVIEW, "attach"), (Role.REVIEW, "detach"),
        (Role.REVIEW, "set_skills"), (Role.OPERATE, "save"),
    ],
)  # fmt: skip
async def test_without_its_role_a_call_about_agents_is_refused(
    world: World, role: Role, name: str
) -> None:
    def call(who: Principal) -> object:
        service = world.service(who)
        return {
            "page": lambda: service.page(AgentFilter(), limit=1),
            "tenants": service.tenants,
            "get": lambda: service.get("a"),
            "skills": lambda: service.skills("a"),
            "having": lambda: service.having("x", "t"),
            "attach": lambda: service.attach("a", "x"),
            "detach": lambda: service.detach("a", "x"),
            "set_skills": lambda: service.set_skills("a", []),
            "save": lambda: service.save(A, None),
        }[name]()

    await call(principal("t", role))  # type: ignore[misc]
    with pytest.raises(Forbidden, match=role.value):
        await call(principal("t", *(set(Role) - {role})))  # type: ignore[misc]


@dataclass
class Record:
    """Calls that were put on record."""

    calls: list[Call] = field(default_factory=list)

    def now(self) -> datetime:
        return AT

    def note(self, call: Call) -> None:
        self.calls.append(call)


@dataclass(frozen=True)
class Doing:
    """A service with one action."""

    session: Session

    @acting
    async def act(self, *args: object, dry_run: bool = False) -> object:
        if args and isinstance(args[0], Exception):
            raise args[0]
        if args == ("of a tenant",):
            self.session.tenant("u")
        return args


async def test_an_action_of_the_console_is_put_on_record_however_it_ends() -> None:
    record = Record()
    session = replace(session_of(principal("t")), calls=cast("CallRecord", record), via=Via.CONSOLE)
    service = Doing(session)
    assert await service.act("c1", 2) == ("c1", 2)
    await service.act("x" * 300)
    await service.act(7)
    await service.act()
    await service.act("c1", dry_run=True)
    for error, outcome in ((Refused("no"), "refused"), (ValueError("a defect"), "failed")):
        with pytest.raises(type(error)):
            await service.act(error)
        assert record.calls[-1].outcome == outcome
    assert [call.ids for call in record.calls[:4]] == [{"id": "c1"}, {"id": "x" * 200}, {}, {}]
    first = record.calls[0]
    assert first == Call(
        tenant_id="t", at=AT, via=Via.CONSOLE, caller="lee", token_id="1", route="Doing.act",
        ids={"id": "c1"}, outcome="done",
    )  # fmt: skip
    assert len(record.calls) == 6
    anywhere = replace(session_of(ANYWHERE), calls=cast("CallRecord", record))
    await Doing(anywhere).act("c1")
    await Doing(anywhere).act("of a tenant")
    assert [call.tenant_id for call in record.calls[6:]] == ["", "u"]
    await Doing(session_of(ANYWHERE)).act("c1")  # a call over HTTP is on record by itself
    assert len(record.calls) == 8
