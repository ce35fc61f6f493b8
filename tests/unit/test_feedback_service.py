"""Feedback that comes in by a call: who may send it, for whom, and what is told of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import SimpleNamespace

import pytest

from core.domain.errors import Forbidden, InvalidInput, NotFound, Refused
from core.domain.models import Agent, Feedback, FeedbackFilter, FeedbackStatus, MaskedFeedback
from core.domain.models.access import Principal, Role
from core.entrypoints.service.feedback import MOST_AT_ONCE, FeedbackService
from core.testing.stores import MemoryAgents, MemoryInbox
from tests.support.sessions import principal, session_of

Entry = dict[str, object]
KIM = principal("t")


class Inbox(MemoryInbox):
    """An inbox, with what was put in at each call."""

    def __init__(self) -> None:
        super().__init__()
        self.came: list[tuple[str, Sequence[MaskedFeedback]]] = []

    async def add(
        self, source: str, pieces: Sequence[MaskedFeedback]
    ) -> Sequence[tuple[str, bool]]:  # type: ignore[override]
        self.came.append((source, pieces))
        return await super().add(source, pieces)


class Agents(MemoryAgents):
    """Agents, with how they were looked up."""

    def __init__(self, agents: Sequence[Agent]) -> None:
        super().__init__(agents)
        self.asked: set[str] = set()

    async def get(self, tenant_id: str, agent_id: str) -> Agent:
        self.asked.add("one")
        return await super().get(tenant_id, agent_id)

    async def list(self, tenant_id: str | None = None) -> Sequence[Agent]:
        found = await super().list(tenant_id)
        self.asked = {f"all of {tenant_id}"}
        return found


class World:
    """Agents of two tenants, and an inbox; `did` is what was asked of the other parts."""

    def __init__(self) -> None:
        many = (f"a{n}" for n in range(30))
        agents = [Agent(id=name, tenant_id="t", name=name) for name in ("a", "b", *many)]
        self.agents = Agents([*agents, Agent(id="c", tenant_id="u", name="C")])
        self.inbox = Inbox()
        self.did: list[object] = []
        self.refusal: InvalidInput | None = None

    def service(self, who: Principal = KIM) -> FeedbackService:
        parts: dict[str, object] = {
            "feedback_max_chars": 100,
            "retractor": self.retractor("for good"),
        }
        parts["as_dry_run"] = lambda: SimpleNamespace(retractor=self.retractor("dry"))
        stores = {"inbox": self.inbox, "agents": self.agents, "reader": self, "intake": self}
        return FeedbackService(session_of(who, parts=parts, **stores))

    def retractor(self, how: str) -> object:
        async def retract(piece: Feedback, *, by: str) -> tuple[object, ...]:
            if self.refusal:
                raise self.refusal
            return how, piece.id, by

        return SimpleNamespace(retract=retract)

    async def feedback(
        self, wanted: FeedbackFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Feedback], str | None]:
        self.did.append((wanted.tenant_id, wanted.statuses, limit, cursor))
        return [*self.inbox.feedback.values()], "next"

    async def revive(self, feedback_id: str) -> Feedback:
        self.did.append(("revive", feedback_id))
        return await self.inbox.get(feedback_id)

    async def cancel(self, feedback_id: str, reason: str) -> Feedback:
        self.did.append(("cancel", feedback_id, reason))
        return await self.inbox.get(feedback_id)

    @property
    def pieces(self) -> list[Feedback]:
        return [*self.inbox.feedback.values()]


@pytest.fixture
def world() -> World:
    return World()


def entry(agent: str = "a", content: str = "x", **given: object) -> Entry:
    return {"agent_ids": [agent], "content": content, **given}


async def test_what_is_new_is_queued_and_what_is_known_is_told_as_it_is(world: World) -> None:
    first, second = await world.service().add([entry(id="1"), entry("b")], None)
    assert (first.status, first.new, second.new) == (FeedbackStatus.QUEUED, True, True)
    done = {"status": FeedbackStatus.COMPLETED}
    world.inbox.feedback[first.id] = world.inbox.feedback[first.id].model_copy(update=done)
    (again,) = await world.service().add([entry(id="1")], None)
    assert (again.id, again.status, again.new) == (first.id, FeedbackStatus.COMPLETED, False)
    assert [source for source, _ in world.inbox.came] == ["api/t"] * 2


async def test_what_is_masked_is_told_with_each_piece(world: World) -> None:
    secret = "the key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    plain, masked = await world.service().add([entry(), entry(content=secret)], None)
    assert plain.masked == ()
    assert [found.quote != "" for found in masked.masked]
    (again,) = await world.service().add([entry(content=secret, id="1")], None)
    (known,) = await world.service().add([entry(content=secret, id="1")], None)
    assert again.masked == known.masked == masked.masked != ()


async def test_a_piece_knows_the_roles_of_who_sent_it(world: World) -> None:
    who = principal("t", Role.SUBMIT, Role.READ)
    await world.service(who).add([entry()], None)
    ((_, (piece,)),) = world.inbox.came
    assert piece.roles == tuple(sorted((Role.SUBMIT, Role.READ)))


async def test_a_piece_is_for_the_tenant_that_is_named(world: World) -> None:
    everywhere = world.service(principal(None))
    await everywhere.add([entry("c", tenant_id="u")], "t")
    await everywhere.add([entry("c")], "u")
    assert {piece.tenant_id for piece in world.pieces} == {"u"}
    with pytest.raises(NotFound):
        await world.service().add([entry("c", tenant_id="u")], None)
    with pytest.raises(InvalidInput, match="tenant"):
        await everywhere.add([entry("c")], None)
    with pytest.raises(InvalidInput, match="tenant"):
        await everywhere.add([entry("c", tenant_id="u"), entry(tenant_id="t")], None)
    assert len(world.pieces) == 2


async def test_a_key_makes_a_call_that_is_repeated_one(world: World) -> None:
    batch = [entry(), entry(), entry(id="own")]
    first = await world.service().add(batch, None, "k")
    again = await world.service().add(batch, None, "k")
    assert [one.id for one in again] == [one.id for one in first]
    assert (len(world.pieces), any(one.new for one in again)) == (3, False)
    others = (
        await world.service().add([entry()], None, "other"),
        await world.service(principal("t", token_id="2")).add([entry()], None, "k"),
        await world.service().add([entry()], None),
    )
    assert all(one.new for (one,) in others)
    ids = [piece.source_id for piece in world.pieces]
    assert ids[2] == "own"
    assert all(one.startswith("key-") and len(one) == 36 for one in (*ids[:2], *ids[3:5]))


@pytest.mark.parametrize(
    ("count", "fits"), [(0, False), (MOST_AT_ONCE, True), (MOST_AT_ONCE + 1, False)]
)
async def test_one_call_brings_a_thousand_pieces_and_no_more(
    world: World, count: int, fits: bool
) -> None:
    added = world.service().add([entry()] * count, None)
    if fits:
        assert len(await added) == count
        return
    with pytest.raises(InvalidInput) as refused:
        await added
    assert str(MOST_AT_ONCE) in refused.value.hint


Wrong = Callable[[int], Entry]
WRONG: Mapping[str, tuple[Wrong, type[Exception]]] = {
    "blank": (lambda _: entry(content=" "), InvalidInput),
    "long": (lambda _: entry(content="x" * 101), InvalidInput),
    "unknown": (lambda n: entry(f"nobody-{n}"), NotFound),
    "of another tenant": (lambda n: entry("c"), NotFound),
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_all_that_is_wrong_is_told_and_nothing_is_taken(world: World, wrong: str) -> None:
    make, error = WRONG[wrong]
    with pytest.raises(error) as alone:
        await world.service().add([make(0)], None)
    assert alone.value.hint == ""  # type: ignore[attr-defined]
    assert "items." not in alone.value.message  # type: ignore[attr-defined]
    for count, told, more in ((1, 1, 0), (20, 20, 0), (21, 20, 1), (25, 20, 5)):
        with pytest.raises(error) as refused:
            await world.service().add([entry(), *(make(n) for n in range(count))], None)
        message = refused.value.message  # type: ignore[attr-defined]
        assert message.count("items.") == told
        assert "items.1: " in message
        assert (f" {more} more" in message) == bool(more)
        assert "nothing was taken" in refused.value.hint.lower()  # type: ignore[attr-defined]
    assert world.pieces == []


async def test_what_is_no_object_is_refused(world: World) -> None:
    for wrong in ("text", 7, None, ["x"]):
        with pytest.raises(InvalidInput):
            await world.service().add([wrong], None)


@pytest.mark.parametrize(
    ("count", "asked"), [(1, "one"), (20, "one"), (21, "all of t"), (30, "all of t")]
)
async def test_of_many_agents_all_are_looked_up_at_once(
    world: World, count: int, asked: str
) -> None:
    known = [entry(f"a{n}") for n in range(count)]
    assert len(await world.service().add(known, None)) == count
    assert world.agents.asked == {asked}
    with pytest.raises(NotFound, match="nobody"):
        await world.service().add([*known, entry("nobody")], None)


async def test_an_agent_tells_only_about_itself(world: World) -> None:
    itself = world.service(principal("t", agent_id="a"))
    assert len(await itself.add([entry()], None)) == 1
    with pytest.raises(NotFound, match="'b'"):
        await itself.add([entry("b")], None)


async def test_what_contradicts_a_known_piece_is_refused(world: World) -> None:
    await world.service().add([entry(id="1")], None)
    with pytest.raises(Refused):
        await world.service().add([entry(id="1", content="other")], None)


Call = Callable[[FeedbackService, str], Awaitable[object]]
CALLS: Mapping[str, tuple[Call, Role]] = {
    "get": (lambda service, one: service.get(one), Role.READ),
    "page": (lambda service, _: service.page(FeedbackFilter(), limit=1), Role.READ),
    "add": (lambda service, _: service.add([entry()], None), Role.SUBMIT),
    "retry": (lambda service, one: service.retry(one), Role.OPERATE),
    "cancel": (lambda service, one: service.cancel(one, "why"), Role.OPERATE),
    "retract": (lambda service, one: service.retract(one), Role.REVIEW),
}


@pytest.mark.parametrize("name", CALLS)
async def test_each_call_needs_its_role_and_finds_no_piece_of_others(
    world: World, name: str
) -> None:
    call, role = CALLS[name]
    (piece,) = await world.service().add([entry()], None)
    await call(world.service(principal("t", role)), piece.id)
    world.did.clear()
    with pytest.raises(Forbidden, match=role.value):
        await call(world.service(principal("t", *(set(Role) - {role}))), piece.id)
    if name not in {"page", "add"}:
        for who, wanted in ((principal("u"), piece.id), (KIM, "unknown")):
            with pytest.raises(NotFound, match=f"feedback '?{wanted}"):
                await call(world.service(who), wanted)
    if name != "add":
        with pytest.raises(Forbidden):
            await call(world.service(principal("t", agent_id="a")), piece.id)
    assert world.did == []


async def test_a_page_is_of_what_the_principal_may_see(world: World) -> None:
    await world.service().add([entry()], None)
    wanted = FeedbackFilter(statuses=(FeedbackStatus.DEAD,))
    page = await world.service().page(wanted, limit=7, cursor="c")
    assert (page.items, page.next) == (tuple(world.pieces), "next")
    await world.service(principal(None)).page(FeedbackFilter(tenant_id="u"), limit=1)
    assert world.did == [("t", (FeedbackStatus.DEAD,), 7, "c"), ("u", (), 1, None)]
    with pytest.raises(NotFound):
        await world.service().page(FeedbackFilter(tenant_id="u"), limit=1)


async def test_what_is_asked_about_a_piece_is_done_in_the_caller_s_name(world: World) -> None:
    (one,) = await world.service().add([entry()], None)
    assert (await world.service().get(one.id)).id == one.id
    await world.service().retry(one.id)
    for blank in ("", "  "):
        with pytest.raises(InvalidInput, match="reason"):
            await world.service().cancel(one.id, blank)
    await world.service().cancel(one.id, "spam")
    assert world.did == [("revive", one.id), ("cancel", one.id, "spam")]
    assert await world.service().retract(one.id) == ("for good", one.id, "lee")
    assert await world.service().retract(one.id, dry_run=True) == ("dry", one.id, "lee")
    world.refusal = InvalidInput("it is being processed", hint="wait")
    with pytest.raises(Refused, match="being processed") as refused:
        await world.service().retract(one.id)
    assert refused.value.hint == "wait"
