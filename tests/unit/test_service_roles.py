"""Every call of a service needs its role, and what changes something is put on record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest

from core.delivery.files.outline import Key
from core.domain.errors import Forbidden
from core.domain.models import (
    Agent,
    ChangeFilter,
    Edited,
    HistoryFilter,
    Kind,
)
from core.domain.models.access import Role
from core.domain.models.audit import Call as AuditedCall
from core.domain.models.audit import CallFilter
from core.domain.models.cases import CaseFilter
from core.domain.models.deliveries import DeliveryFilter
from core.domain.models.effect import EffectFilter
from core.domain.models.views import KnowledgeFilter
from core.entrypoints.call_record import CallRecord
from core.entrypoints.service.agent_files import AgentFiles
from core.entrypoints.service.agent_knowledge import AgentKnowledge
from core.entrypoints.service.agents import AgentsService
from core.entrypoints.service.cases import CasesService
from core.entrypoints.service.changes import ChangesService
from core.entrypoints.service.context import ContextService
from core.entrypoints.service.costs import CostsService
from core.entrypoints.service.deliveries import DeliveriesService
from core.entrypoints.service.effect import EffectService
from core.entrypoints.service.events import EventsService
from core.entrypoints.service.feedback import FeedbackService
from core.entrypoints.service.graph.service import GraphService
from core.entrypoints.service.history import HistoryService
from core.entrypoints.service.knowledge import KnowledgeService
from core.entrypoints.service.overview import OverviewService
from core.entrypoints.service.review_view.shown import Side
from core.entrypoints.service.run import RunService
from core.entrypoints.service.search import SearchService
from core.entrypoints.service.session import Session
from core.entrypoints.service.signed_in import SignedInService
from core.entrypoints.service.work import WorkService
from tests.support.sessions import principal, session_of

AT = datetime(2026, 11, 3, tzinfo=UTC)
AGENT = Agent(id="a", tenant_id="t", name="A")

Call = Callable[[Session], Awaitable[object]]
READ, SUBMIT, REVIEW, OPERATE = Role.READ, Role.SUBMIT, Role.REVIEW, Role.OPERATE
PEOPLE: Mapping[str, tuple[Role, Call]] = {
    "cases.page": (READ, lambda s: CasesService(s).page(CaseFilter(), limit=1)),
    "cases.get": (READ, lambda s: CasesService(s).get("c")),
    "cases.overview": (READ, lambda s: CasesService(s).overview(CaseFilter())),
    "cases.counts": (READ, lambda s: CasesService(s).counts([])),
    "cases.coverage": (READ, lambda s: CasesService(s).coverage("i")),
    "cases.add": (REVIEW, lambda s: CasesService(s).add("i", None)),  # type: ignore[arg-type]
    "cases.edit": (REVIEW, lambda s: CasesService(s).edit("c", None)),  # type: ignore[arg-type]
    "cases.disable": (REVIEW, lambda s: CasesService(s).disable("c", reason="r")),
    "cases.run": (REVIEW, lambda s: CasesService(s).run(CaseFilter())),
    "changes.page": (READ, lambda s: ChangesService(s).page(ChangeFilter(), limit=1)),
    "changes.get": (READ, lambda s: ChangesService(s).get("c")),
    "changes.next": (READ, lambda s: ChangesService(s).next()),
    "changes.review_view": (READ, lambda s: ChangesService(s).review_view("c")),
    "changes.file": (READ, lambda s: ChangesService(s).file("c", "p", Side.AFTER)),
    "changes.approve": (REVIEW, lambda s: ChangesService(s).approve("c", seen="")),
    "changes.allow": (REVIEW, lambda s: ChangesService(s).allow("c", reason="r")),
    "changes.reject": (REVIEW, lambda s: ChangesService(s).reject("c", reason="r", seen="")),
    "changes.edit": (REVIEW, lambda s: ChangesService(s).edit("c", Edited(content="x"), seen="")),
    "changes.texts": (REVIEW, lambda s: ChangesService(s).texts("c")),
    "changes.edit_texts": (REVIEW, lambda s: ChangesService(s).edit_texts("c", {}, seen="")),
    "changes.refresh": (REVIEW, lambda s: ChangesService(s).refresh("c")),
    "changes.keep_both": (REVIEW, lambda s: ChangesService(s).keep_both("c", seen="")),
    "changes.revert": (REVIEW, lambda s: ChangesService(s).revert("c", reason="r")),
    "costs.by_day": (READ, lambda s: CostsService(s).by_day()),
    "costs.budgets": (READ, lambda s: CostsService(s).budgets()),
    "costs.of_change": (READ, lambda s: CostsService(s).of_change("c")),
    "deliveries.page": (READ, lambda s: DeliveriesService(s).page(DeliveryFilter(), limit=1)),
    "deliveries.get": (READ, lambda s: DeliveriesService(s).get("d")),
    "deliveries.replay": (OPERATE, lambda s: DeliveriesService(s).replay("d")),
    "effect.page": (READ, lambda s: EffectService(s).page(EffectFilter())),
    "effect.overview": (READ, lambda s: EffectService(s).overview(EffectFilter())),
    "effect.accept": (REVIEW, lambda s: EffectService(s).accept("p")),
    "effect.dismiss": (REVIEW, lambda s: EffectService(s).dismiss("p")),
    "events.watch": (READ, lambda s: EventsService(s).watch(None)),
    "events.of_feedback": (READ, lambda s: EventsService(s).of_feedback("f", None)),
    "files.known": (READ, lambda s: AgentFiles(s, AGENT).known()),
    "files.cause_of": (READ, lambda s: AgentFiles(s, AGENT).cause_of(Key(Kind.MEMORY, "m"))),
    "graph.graph": (READ, lambda s: GraphService(s).graph()),
    "history.page": (READ, lambda s: HistoryService(s).page(HistoryFilter(), limit=1)),
    "history.get": (READ, lambda s: HistoryService(s).get("h")),
    "history.calls": (OPERATE, lambda s: HistoryService(s).calls(CallFilter(), limit=1)),
    "knowledge.page": (READ, lambda s: KnowledgeService(s).page(KnowledgeFilter())),
    "knowledge.get": (READ, lambda s: KnowledgeService(s).get("i")),
    "knowledge.file": (READ, lambda s: KnowledgeService(s).file("i", "p")),
    "knowledge.versions": (READ, lambda s: KnowledgeService(s).versions("i")),
    "knowledge.provenance": (READ, lambda s: KnowledgeService(s).provenance("i")),
    "knowledge.restore": (REVIEW, lambda s: KnowledgeService(s).restore("i", 1)),
    "overview.overview": (READ, lambda s: OverviewService(s).overview()),
    "run.timeline": (READ, lambda s: RunService(s).timeline("f")),
    "signed_in.list": (OPERATE, lambda s: SignedInService(s).list()),
    "signed_in.end": (OPERATE, lambda s: SignedInService(s).end("s")),
    "work.state": (READ, lambda s: WorkService(s).state()),
    "work.pause": (OPERATE, lambda s: WorkService(s).pause("r")),
    "work.resume": (OPERATE, lambda s: WorkService(s).resume()),
}
AGENTS_TOO: Mapping[str, tuple[Role, Call]] = {
    "context.context": (READ, lambda s: ContextService(s).context("a", "x")),
    "search.search": (READ, lambda s: SearchService(s).search("x")),
    "use.agent": (READ, lambda s: AgentKnowledge(s).agent("a")),
    "use.search_memories": (READ, lambda s: AgentKnowledge(s).search_memories("a", "x")),
    "use.evaluate_decision": (READ, lambda s: AgentKnowledge(s).evaluate_decision("a", "n", {})),
    "use.tables": (READ, lambda s: AgentKnowledge(s).tables("a")),
    "use.skills": (READ, lambda s: AgentKnowledge(s).skills("a")),
    "use.skill": (READ, lambda s: AgentKnowledge(s).skill("a", "n")),
    "use.load_skill": (READ, lambda s: AgentKnowledge(s).load_skill("a", "n")),
    "use.report_outcome": (READ, lambda s: AgentKnowledge(s).report_outcome("a", [], True)),
    "use.give_feedback": (SUBMIT, lambda s: AgentKnowledge(s).give_feedback("a", "x")),
}


DONE: Mapping[str, Call] = {
    "agents.attach": lambda s: AgentsService(s).attach("a", "x"),
    "agents.detach": lambda s: AgentsService(s).detach("a", "x"),
    "agents.set_skills": lambda s: AgentsService(s).set_skills("a", ["x"]),
    "agents.save": lambda s: AgentsService(s).save(AGENT, None),
    "feedback.add": lambda s: FeedbackService(s).add([], None),
    "feedback.retry": lambda s: FeedbackService(s).retry("f"),
    "feedback.cancel": lambda s: FeedbackService(s).cancel("f", "r"),
    "feedback.retract": lambda s: FeedbackService(s).retract("f"),
} | {
    name: call for name, (role, call) in PEOPLE.items()
    if role is not READ
    and name not in {"changes.texts", "history.calls", "signed_in.list", "signed_in.end"}
}  # fmt: skip


@pytest.mark.parametrize("name", DONE)
async def test_what_changes_something_is_put_on_record(name: str) -> None:
    noted: list[AuditedCall] = []
    calls = SimpleNamespace(now=lambda: AT, note=noted.append)
    session = replace(session_of(principal("t", READ)), calls=cast("CallRecord", calls))
    with pytest.raises(Forbidden):
        await DONE[name](session)
    (call,) = noted
    service, method = call.route.split(".")
    assert (service.lower(), method) == (f"{name.split('.')[0]}service", name.split(".")[1])
    assert (call.caller, call.outcome) == ("lee", "forbidden")


@pytest.mark.parametrize("name", [*PEOPLE, *AGENTS_TOO])
async def test_each_call_needs_its_role_before_anything_is_looked_up(name: str) -> None:
    role, call = {**PEOPLE, **AGENTS_TOO}[name]
    everything_else = principal("t", *(set(Role) - {role}))
    with pytest.raises(Forbidden, match=role.value):
        await call(session_of(everything_else))
    if name in PEOPLE:
        with pytest.raises(Forbidden, match="agent"):
            await call(session_of(principal("t", role, agent_id="a")))
