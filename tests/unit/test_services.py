"""Services: whose data a call is about, and in whose name it is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest

from core.app.fair_semaphore import ReviewSlots
from core.changes.presence import Presence
from core.delivery.files.edits import Edit
from core.delivery.files.outline import Key
from core.delivery.files.sync import Cause
from core.domain.errors import DependencyDown, Forbidden, InvalidInput, NotFound
from core.domain.models import (
    Agent,
    ChangeCost,
    ChangeFilter,
    ChangeStatus,
    DaySpending,
    Edited,
    HistoryFilter,
    HistoryRecord,
    HistoryStatus,
    Kind,
    Operation,
    Pause,
    PauseKind,
    Reach,
    Receipt,
    ReceiptStatus,
    Usage,
)
from core.domain.models.access import AccessToken, Principal, Role, TokenKind
from core.domain.models.audit import CallFilter
from core.domain.models.deliveries import Delivered, DeliveryFilter
from core.domain.models.effect import Action, Proposal, ProposalStatus
from core.domain.models.views import Cause as Behind
from core.domain.models.views import Made
from core.entrypoints.service.agent_files import AgentFiles
from core.entrypoints.service.changes import ChangesService
from core.entrypoints.service.costs import MOST_DAYS, CostsService
from core.entrypoints.service.deliveries import DeliveriesService
from core.entrypoints.service.effect import EffectService
from core.entrypoints.service.history import HistoryService
from core.entrypoints.service.review_view.shown import Side
from core.entrypoints.service.search import SearchService
from core.entrypoints.service.session import Session
from core.entrypoints.service.signed_in import SignedInService
from core.entrypoints.service.work import WorkService
from core.testing.stores import MemoryAgents, MemoryInbox
from tests.support.react import item_change
from tests.support.sessions import Asked, principal, session_of

AT = datetime(2026, 11, 3, tzinfo=UTC)
AGENT = Agent(id="a", tenant_id="t", name="A", skills=("kept",))
ANYWHERE = principal(None)
CHANGE = item_change(Kind.MEMORY, "m", "m", "x").model_copy(update={"tenant_id": "t"})
FOREIGN = CHANGE.model_copy(update={"tenant_id": "u"})

READ, REVIEW, OPERATE = Role.READ, Role.REVIEW, Role.OPERATE


@pytest.mark.parametrize(
    ("store", "method", "role", "call"),
    [
        ("reader", "changes", READ,
         lambda s, of: ChangesService(s).page(ChangeFilter(**of), limit=7, cursor="c")),
        ("reader", "history", READ,
         lambda s, of: HistoryService(s).page(HistoryFilter(**of), limit=7, cursor="c")),
        ("calls", "page", OPERATE,
         lambda s, of: HistoryService(s).calls(CallFilter(**of), limit=7, cursor="c")),
        ("delivery_log", "page", READ,
         lambda s, of: DeliveriesService(s).page(DeliveryFilter(**of), limit=7, cursor="c")),
    ],
)  # fmt: skip
async def test_a_page_is_of_the_principal_s_tenant_or_the_one_named(
    store: str,
    method: str,
    role: Role,
    call: Callable[[Session, dict[str, str]], Awaitable[object]],
) -> None:
    asked = Asked(**{method: ((), "next")})
    for who, of, tenant in ((principal("t", role), {}, "t"), (ANYWHERE, {"tenant_id": "u"}, "u")):
        page = await call(session_of(who, **{store: asked}), of)
        assert (page.items, page.next) == ((), "next")  # type: ignore[attr-defined]
        name, (wanted,), given = asked.calls[-1]
        assert (name, wanted.tenant_id) == (method, tenant)  # type: ignore[attr-defined]
        assert given == {"limit": 7, "cursor": "c"}
    with pytest.raises(NotFound, match="'u'"):
        await call(session_of(**{store: asked}), {"tenant_id": "u"})


async def test_a_delivery_and_a_record_are_found_in_their_tenant_alone() -> None:
    record = HistoryRecord.of(CHANGE, "h", HistoryStatus.APPLIED)
    delivered = SimpleNamespace(delivery=SimpleNamespace(tenant_id="t", id="d"))
    log = Asked(get=cast("Delivered", delivered), replay="again")
    for who, is_own in ((principal("t"), True), (ANYWHERE, True), (principal("u"), False)):
        log.calls.clear()
        session = session_of(who, delivery_log=log, reader=Asked(history_record=record))
        if is_own:
            assert await DeliveriesService(session).get("d") is delivered
            assert await DeliveriesService(session).replay("d") == "again"
            assert log.calls[-1] == ("replay", ("d",), {})
            assert await HistoryService(session).get("h") == record
            continue
        for call in (DeliveriesService(session).get("d"), DeliveriesService(session).replay("d")):
            with pytest.raises(NotFound, match="delivery 'd'"):
                await call
        assert {name for name, *_ in log.calls} == {"get"}
        with pytest.raises(NotFound, match="'h'"):
            await HistoryService(session).get("h")


async def test_costs_are_of_the_tenant_and_of_so_many_days() -> None:
    spent = DaySpending(day=AT.date(), tenant_id="t", model="m", usage=Usage())
    spending = Asked(of_days=[spent], of_change=ChangeCost())
    budgets, changes = Asked(today=["b"]), Asked(get=CHANGE)
    stores = {"spending": spending, "budgets": budgets, "changes": changes}
    service = CostsService(session_of(parts={"currency": "EUR"}, **stores))
    found = await service.by_day(days=7)
    assert (found.currency, found.days) == ("EUR", (spent,))
    for days, asked in ((0, 1), (1, 1), (MOST_DAYS + 1, MOST_DAYS), (MOST_DAYS, MOST_DAYS)):
        await service.by_day(days=days)
        assert spending.calls[-1] == ("of_days", ("t", asked), {})
    await service.by_day()
    assert spending.calls[-1][1] == ("t", 30)
    assert (await service.budgets(), budgets.calls) == (["b"], [("today", ("t",), {})])
    assert await service.of_change("c") == ChangeCost()
    assert spending.calls[-1] == ("of_change", (CHANGE,), {})
    changes.answers["get"] = FOREIGN
    with pytest.raises(NotFound, match="change 'c'"):
        await service.of_change("c")


async def test_work_is_paused_by_who_operates_all_tenants() -> None:
    pause = Pause(kind=PauseKind.PAUSED, reason="upkeep", since=AT)
    intake = Asked(paused=None)

    async def nothing_else() -> Pause | None:
        return None

    async def the_model() -> Pause | None:
        return pause

    def service(who: Principal = ANYWHERE, held: object = nothing_else) -> WorkService:
        return WorkService(session_of(who, parts={"current_pause": held}, intake=intake))

    state = await service().state()
    assert (state.paused, state.hold) == (False, None)
    state = await service(held=the_model).state()
    assert (state.paused, state.hold) == (False, pause)
    intake.answers["paused"] = pause
    state = await service(principal("t", READ)).state()
    assert (state.paused, state.hold) == (True, pause)
    intake.calls.clear()
    for call in (service(principal("t")).pause("r"), service(principal("t")).resume()):
        with pytest.raises(Forbidden, match="all tenants") as refused:
            await call
        assert refused.value.hint
    assert intake.calls == []
    assert (await service().pause("why")).paused
    assert (await service().resume()).paused
    done = [(name, args) for name, args, _ in intake.calls if name != "paused"]
    assert done == [("pause", ("why",)), ("resume", ())]


async def test_sessions_of_another_tenant_are_neither_seen_nor_ended() -> None:
    def signed_in(name: str, tenant_id: str | None) -> AccessToken:
        return AccessToken(
            id=name, kind=TokenKind.SESSION, hash="", name=name, tenant_id=tenant_id, roles=()
        )

    live = [signed_in("s1", "t"), signed_in("s2", "u"), signed_in("s3", None)]
    tokens = Asked(sessions=live)

    def service(who: Principal) -> SignedInService:
        parts: dict[str, object] = {"new_id": lambda: "id"}
        return SignedInService(session_of(who, parts=parts, tokens=tokens))

    assert [one.id for one in await service(principal("t")).list()] == ["s1"]
    assert await service(ANYWHERE).list() == live
    with pytest.raises(NotFound, match="s2"):
        await service(principal("t")).end("s2")
    assert (await service(ANYWHERE).end("s2")).id == "s2"
    assert [args for name, args, _ in tokens.calls if name == "revoke"] == [("s2",)]


class Deciding:
    """A gate whose decisions are noted, for good and in a dry run."""

    def __init__(self) -> None:
        self.real, self.dry = Asked(), Asked()
        self.findings, self.changes = Asked(of=("found",), allow=CHANGE), Asked(get=CHANGE)
        for made in (self.real, self.dry):
            names = ("edit", "prepare_again", "reject")
            made.answers |= dict.fromkeys(names, CHANGE) | {"approve": "ok", "keep_both": "kept"}

    def app(self, made: Asked) -> dict[str, object]:
        made_decisions = _WithFindings(made, self.findings)
        return {"gate": SimpleNamespace(decisions=made_decisions), "revert": made.revert}

    def service(self, who: Principal | None = None, **stores: object) -> ChangesService:
        parts = {**self.app(self.real), "review_slots": ReviewSlots()}
        parts["as_dry_run"] = lambda: SimpleNamespace(**self.app(self.dry))
        parts["presence"] = Presence(lambda: 0.0)
        given = {"changes": self.changes, **stores}
        return ChangesService(session_of(who or principal("t", REVIEW, READ), parts=parts, **given))


class _WithFindings:
    def __init__(self, asked: Asked, findings: Asked) -> None:
        self.asked, self.findings = asked, findings

    def __getattr__(self, name: str) -> object:
        return getattr(self.asked, name)


DECIDED: Mapping[str, tuple[Callable[..., Awaitable[object]], dict[str, object]]] = {
    "approve": (
        lambda s, **d: s.approve("c", seen="h", allow="a", retire="r", **d),
        {"by": "lee", "seen": "h", "known": CHANGE, "allow": "a", "retire": "r"},
    ),
    "reject": (
        lambda s, **d: s.reject("c", reason="r", seen="h", **d),
        {"by": "lee", "reason": "r", "seen": "h", "known": CHANGE},
    ),
    "edit": (
        lambda s, **d: s.edit("c", Edited(content="y"), seen="h", **d), {"by": "lee", "seen": "h"},
    ),
    "prepare_again": (lambda s, **d: s.refresh("c", **d), {"by": "lee"}),
    "keep_both": (lambda s, **d: s.keep_both("c", seen="h", **d), {"by": "lee", "seen": "h"}),
    "revert": (lambda s, **d: s.revert("c", reason="wrong", **d), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", DECIDED)
async def test_a_decision_is_made_in_the_principal_s_name(name: str) -> None:
    call, given = DECIDED[name]
    world = Deciding()
    done = await call(world.service())
    assert world.dry.calls == []
    ((method, args, told),) = world.real.calls
    assert (method, args[0], told) == (name, "c", given)
    if name == "revert":
        assert args[1] == "wrong, asked for by lee"
    elif name in {"approve", "keep_both"}:
        assert done in {"ok", "kept"}
    else:
        assert done.id == CHANGE.id  # type: ignore[attr-defined]
    await call(world.service(), dry_run=True)
    assert (len(world.real.calls), len(world.dry.calls)) == (1, 1)
    world.changes.answers["get"] = FOREIGN
    with pytest.raises(NotFound, match="change 'c'"):
        await call(world.service())
    assert len(world.real.calls) == 1


async def test_what_was_found_in_a_change_is_allowed_with_a_reason() -> None:
    world = Deciding()
    head = await world.service().allow("c", reason="r", digests=("d",))
    assert head.id == CHANGE.id
    assert world.findings.calls == [("allow", ("c", ("d",)), {"by": "lee", "reason": "r"})]
    assert (await world.service().get("c")).findings == ("found",)
    assert world.findings.calls[-1] == ("of", (CHANGE,), {})


async def test_texts_of_a_change_are_read_and_replaced() -> None:
    world = Deciding()
    assert await world.service().texts("c") == {"memory.txt": "x"}
    assert await world.service().file("c", "memory.txt", Side.AFTER) == b"x"
    with pytest.raises(NotFound):
        await world.service().file("c", "memory.txt", Side.BEFORE)
    await world.service().edit_texts("c", {"memory.txt": "y"}, seen="h", reach=Reach(user="kim"))
    ((_, (_, edited), given),) = world.real.calls
    assert edited == Edited(content="y", reach=Reach(user="kim"))
    assert given == {"by": "lee", "seen": "h"}


class Queue:
    """The ids that wait, oldest first, some at a time."""

    def __init__(self, *ids: str) -> None:
        self.ids = ids
        self.asked: list[tuple[str | None, frozenset[str]]] = []

    async def oldest(self, *, tenant_id: str | None, but: frozenset[str]) -> list[str]:
        self.asked.append((tenant_id, frozenset(but)))
        return [one for one in self.ids if one not in but][:2]


async def test_who_asks_for_the_next_change_gets_one_that_nobody_views() -> None:
    queue, presence = Queue("c1", "c2", "c3"), Presence(lambda: 0.0)

    def asking(name: str) -> ChangesService:
        who = principal("t", token_id=name)
        return ChangesService(session_of(who, parts={"presence": presence}, review_queue=queue))

    assert [(await asking(name).next()).id for name in "abc"] == ["c1", "c2", "c3"]
    assert (await asking("a").next()).id == "c1"  # which nobody else views
    assert (await asking("d").next()).id == "c1"  # all are viewed: the oldest
    assert {tenant for tenant, _ in queue.asked} == {"t"}
    queue.ids = ()
    assert (await asking("d").next()).id is None


async def test_why_an_item_is_in_a_file_is_its_last_change() -> None:
    def made(operation: Operation = Operation.UPDATE) -> Made:
        by = Behind(change_id="c9", feedback_id="f9")
        return Made(version=2, operation=operation, name="n", by=by, valid_from=AT)

    lineage = Asked(made=[made()])
    off = CHANGE.model_copy(update={"id": "c7", "feedback_id": "f7"})
    reader = Asked(changes=([off], None))
    stores = {"lineage": lineage, "reader": reader, "agents": MemoryAgents([AGENT])}
    files = AgentFiles(session_of(**stores), AGENT)
    known = Cause("c9", "f9", AT)
    assert await files.cause_of(Key(Kind.MEMORY, "m")) == known
    assert lineage.calls == [("made", (Kind.MEMORY, "t", "m"), {"limit": 1, "max_bytes": 0})]
    assert await files.cause_of(Key(Kind.SKILL, "kept")) == known
    assert reader.calls == []
    assert await files.cause_of(Key(Kind.SKILL, "off")) == Cause("c7", "f7")
    ((_, (wanted,), given),) = reader.calls
    assert wanted == ChangeFilter(
        statuses=(ChangeStatus.APPLIED,), tenant_id="t", kind=Kind.AGENT_SKILLS, target_id="a"
    )
    assert given == {"limit": 1, "cursor": None}
    reader.answers["changes"] = ((), None)
    assert await files.cause_of(Key(Kind.SKILL, "off")) is None
    lineage.answers["made"] = [made(Operation.DELETE)]
    assert await files.cause_of(Key(Kind.SKILL, "off")) == known
    lineage.answers["made"] = []
    assert await files.cause_of(Key(Kind.MEMORY, "m")) is None


async def test_what_edits_of_files_say_is_taken_in_once_each() -> None:
    inbox = MemoryInbox()
    stores = {"inbox": inbox, "agents": MemoryAgents([AGENT])}
    session = session_of(parts={"feedback_max_chars": 100}, **stores)
    edits = [Edit("a.md", "", ("one", "two")), Edit("b.md", "", ("one",)), Edit("c.md", "", ())]
    taken = await AgentFiles(session, AGENT).feed_back(edits)
    assert [path for path, _ in taken] == ["a.md", "a.md", "b.md"]
    assert all(piece.new for _, piece in taken)
    again = await AgentFiles(session, AGENT).feed_back(edits)
    assert [(piece.id, piece.new) for _, piece in again] == [
        (piece.id, False) for _, piece in taken
    ]
    piece = inbox.feedback[taken[0][1].id]
    assert (piece.content, piece.author, piece.agent_ids) == ("one", "lee", ("a",))
    assert piece.task.startswith("The agent's knowledge")


async def test_a_proposal_is_decided_in_the_principal_s_name() -> None:
    proposal = Proposal(
        id="p", tenant_id="t", agent_id="a", kind=Kind.MEMORY, item_id="m", name="n",
        action=Action.ARCHIVE, status=ProposalStatus.WAITING, created_at=AT,
    )  # fmt: skip
    receipt = Receipt(status=ReceiptStatus.APPLIED, message="archived")
    effects = Asked(proposal=proposal)
    proposals = Asked(accept=(proposal, receipt), dismiss=proposal)
    service = EffectService(session_of(parts={"proposals": proposals}, effects=effects))
    accepted, dismissed = await service.accept("p"), await service.dismiss("p")
    assert (accepted.proposal, accepted.receipt) == (proposal, receipt)
    assert (dismissed.proposal, dismissed.receipt) == (proposal, None)
    assert proposals.calls == [(name, (proposal, "lee"), {}) for name in ("accept", "dismiss")]
    effects.answers["proposal"] = proposal.model_copy(update={"tenant_id": "u"})
    for call in (service.accept, service.dismiss):
        with pytest.raises(NotFound, match="'p'"):
            await call("p")
    assert len(proposals.calls) == 2


@pytest.mark.parametrize(
    ("query", "error"), [("  ", InvalidInput), ("...", InvalidInput), ("refund", None)]
)
async def test_a_search_is_of_one_tenant_and_has_words(
    query: str, error: type[Exception] | None
) -> None:
    search = Asked(search=["hit"], refresh=DependencyDown("away"))
    kinds = Asked()
    agents = MemoryAgents([AGENT, Agent(id="b", tenant_id="t", name="B")])
    parts = {"require_kind": kinds.require_kind}

    def service(who: Principal) -> SearchService:
        return SearchService(session_of(who, parts=parts, search=search, agents=agents))

    if error:
        with pytest.raises(error) as refused:
            await service(principal()).search(query)
        assert refused.value.hint  # type: ignore[attr-defined]
        return
    given = {"kind": Kind.MEMORY, "limit": 3, "user": "kim"}
    search.answers |= {"search": ()}
    for who, named, agent_id in (
        (principal(), {}, None),
        (principal(), {"agent_id": "a"}, "a"),
        (principal("t", READ, agent_id="b"), {}, "b"),
        (ANYWHERE, {"agent_id": "a"}, "a"),
        (ANYWHERE, {"tenant_id": "t"}, None),
    ):
        found = await service(who).search(query, **named, **given)  # type: ignore[arg-type]
        assert (found.tenant_id, len(found.warnings)) == ("t", 1)
        assert search.calls[-1] == (
            "search", (query,), {"tenant_id": "t", "agent_id": agent_id, **given}
        )  # fmt: skip
    assert {args for _, args, _ in kinds.calls} == {(Kind.MEMORY,)}
    with pytest.raises(InvalidInput, match="tenant"):
        await service(ANYWHERE).search(query)
    with pytest.raises(NotFound):
        await service(principal("t", READ, agent_id="b")).search(query, agent_id="a")
