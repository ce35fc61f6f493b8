"""The cases of one item, on its page: for reviewers to add, edit, disable and run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nicegui import ui

from core.changes.cases.wording import case_words
from core.domain.models import Kind, KnowledgeItem
from core.domain.models.access import Role
from core.domain.models.cases import Case, CaseBody, CaseFilter, CaseResult, CaseStatus
from core.domain.text import printable, shorten
from core.entrypoints.console.pages.cases.editing import ask_case
from core.entrypoints.console.pages.cases.rows import (
    PATH,
    asked,
    changed,
    coverage_lines,
    origin,
    state,
)
from core.entrypoints.console.parts.dialogs import ask_reason
from core.entrypoints.console.parts.markup import el, join, link, show
from core.entrypoints.console.parts.problem import notify_failures
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.agents import AgentsService
from core.entrypoints.service.cases import CasesService

_MOST = 50
_NAME = 60


@dataclass(frozen=True)
class ItemCases:
    """The cases of an item; `dialogs` is an element that survives when they are drawn again."""

    visit: Visit
    item: KnowledgeItem
    drawn: ui.element
    dialogs: ui.element

    async def draw(self) -> None:
        """Draw them, or draw them again."""
        say, item = self.visit.say, self.item
        service = CasesService(self.visit.session)
        page = await service.page(self._wanted, limit=_MOST)
        coverage = await service.coverage(item.id, kind=item.kind, tenant_id=item.tenant_id)
        self.drawn.clear()
        with self.drawn:
            show(el("h2", say("cases.cases")))
            if not page.items:
                show(el("p", say("cases.none_of_item"), class_="muted"))
            for one in page.items:
                self._draw_one(one)
            if coverage is not None:
                show(join(coverage_lines(self.visit, [coverage])))
            if page.next:
                whose = {"kind": item.kind.value, "tenant": item.tenant_id, "item": item.id}
                show(link(say("cases.all_of_item"), PATH, **whose), tag="p")
            if self._may:
                with ui.row().classes("row"):
                    _button(say("cases.add"), self._add, "outline")
                    if page.items:
                        _button(say("cases.run_all"), self._run, "flat")

    @property
    def _may(self) -> bool:
        return Role.REVIEW in self.visit.session.principal.roles

    @property
    def _wanted(self) -> CaseFilter:
        item = self.item
        return CaseFilter(tenant_id=item.tenant_id, kind=item.kind, item_id=item.id)

    def _draw_one(self, one: Case) -> None:
        visit, say = self.visit, self.visit.say
        with ui.row().classes("row holder"):
            for part in (state(visit, one.status), asked(visit, one), origin(visit, one)):
                show(el("span", part), tag="span")
            show(el("span", changed(visit, one), class_="muted small"), tag="span")
            if self._may and one.status is not CaseStatus.DISABLED:
                _button(say("cases.edit"), lambda: self._edit(one), "flat dense")
                _button(say("cases.disable"), lambda: self._ask_disable(one), "flat dense")

    async def _add(self) -> None:
        with notify_failures(self.visit):
            agents = await self._agents()
            service, item = CasesService(self.visit.session), self.item

            async def add(body: CaseBody, agent: str | None) -> CaseResult:
                return await service.add(
                    item.id, body, kind=item.kind, tenant_id=item.tenant_id, agent_id=agent
                )

            await self._ask(None, agents, add)

    async def _edit(self, one: Case) -> None:
        service = CasesService(self.visit.session)

        async def edit(body: CaseBody, _agent: str | None) -> CaseResult:
            return await service.edit(one.id, body)

        await self._ask(one.body, {}, edit)

    async def _ask(
        self,
        body: CaseBody | None,
        agents: dict[str, str],
        save: Callable[[CaseBody, str | None], Awaitable[CaseResult]],
    ) -> None:
        async def saved(given: CaseBody, agent: str | None) -> bool:
            done = False
            with self.dialogs, notify_failures(self.visit):
                self._tell(await save(given, agent))
                done = True
                await self.draw()
            return done

        self.dialogs.clear()
        with self.dialogs:
            ask_case(self.visit, self.item, body, agents, saved)

    async def _agents(self) -> dict[str, str]:
        """Return the agents to choose from, with their names: those that list a skill."""
        if self.item.kind is not Kind.SKILL:
            return {}
        having = await AgentsService(self.visit.session).having(self.item.id, self.item.tenant_id)
        return {agent.id: agent.name for agent in having}

    def _ask_disable(self, one: Case) -> None:
        say = self.visit.say

        async def disable(reason: str) -> None:
            with self.dialogs, notify_failures(self.visit):
                await CasesService(self.visit.session).disable(one.id, reason=reason)
                name = shorten(self.visit.translated(case_words(one.body)), _NAME)
                ui.notify(printable(say("cases.was_disabled", name=name)), type="positive")
                await self.draw()

        self.dialogs.clear()
        with self.dialogs:
            title, do = say("cases.disable_title"), say("cases.disable")
            ask_reason(self.visit, title, do, disable).open()

    async def _run(self) -> None:
        with self.dialogs, notify_failures(self.visit):
            done = await CasesService(self.visit.session).run(self._wanted)
            ended = [result.passed for result in done.results]
            told = self.visit.say(
                "cases.ran",
                green=ended.count(True),
                red=ended.count(False),
                other=ended.count(None),
            )
            ui.notify(told, type="negative" if done.has_failed else "positive")
            await self.draw()

    def _tell(self, result: CaseResult) -> None:
        say, why = self.visit.say, self.visit.translated(result.why)
        if result.passed is None:
            ui.notify(printable(say("cases.not_run", why=why)), type="warning")
        elif result.passed:
            name = shorten(self.visit.translated(case_words(result.case.body)), _NAME)
            ui.notify(printable(say("cases.passed", name=name)), type="positive")
        else:
            ui.notify(printable(say("cases.failed", why=why)), type="warning")


def _button(text: str, do: Callable[[], Awaitable[None] | None], props: str) -> None:
    ui.button(text, on_click=do).props(f"no-caps {props}")
