"""Agents' lists of skills: who has a skill, and what an agent has, each to be changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup
from nicegui import ui

from core.domain.models import Agent, Kind, Lister, Receipt
from core.domain.models.access import Role
from core.domain.models.views import KnowledgeFilter, ListedSkill
from core.entrypoints.console.parts.dialogs import ask, ask_which
from core.entrypoints.console.parts.markup import address, el, link, show
from core.entrypoints.console.parts.problem import notify_done, notify_failures
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.agents import AgentsService
from core.entrypoints.service.knowledge import KnowledgeService

REVIEW = "/console/review"
ITEM = "/console/knowledge/item"
_MOST = 200  # skills offered


@dataclass
class SkillHolders:
    """The agents that list a skill, below it; reviewers take it off a list, or ask to delete it.

    `dialogs` is an element that survives when `after` draws the page again.
    """

    visit: Visit
    skill: str
    dialogs: ui.element
    after: Callable[[], Awaitable[None]]
    last: Receipt | None = field(default=None, init=False)

    async def draw(self, tenant: str) -> None:
        """Draw who has the skill, and the change that was made last, to be undone."""
        service, say = AgentsService(self.visit.session), self.visit.say
        agents = await service.having(self.skill, tenant)
        show(el("h2", say("knowledge.on_lists")))
        if not agents:
            show(el("p", say("knowledge.on_no_list"), class_="muted"))
        for agent in agents:
            with ui.row().classes("row holder"):
                show(link(_named(agent), "/console/knowledge", agent=agent.id, tenant=tenant))
                if Role.REVIEW in self.visit.session.principal.roles:
                    button = ui.button(
                        say("knowledge.take_off"), on_click=lambda agent=agent: self._ask(agent)
                    )
                    button.props("flat dense no-caps")
        if agents and Role.REVIEW in self.visit.session.principal.roles:
            delete = ui.button(
                say("knowledge.delete_for_all"), on_click=lambda: self._ask_for_all(tenant, agents)
            )
            delete.props("outline dense no-caps color=negative")
        _show_last(self.visit, self.last)

    def _ask(self, agent: Agent) -> None:
        say, name = self.visit.say, _named(agent)

        async def detach() -> None:
            with notify_failures(self.visit):
                service = AgentsService(self.visit.session)
                done = await service.detach(agent.id, self.skill, agent.tenant_id)
                notify_done(self.visit, "knowledge.taken_off", done, name)
                self.last = done
                await self.after()

        self.dialogs.clear()
        title = say("knowledge.take_off_title", skill=self.skill, name=name)
        with self.dialogs:
            stays = [say("knowledge.skill_stays")]
            ask(self.visit, title, say("knowledge.take_off"), detach, stays).open()

    def _ask_for_all(self, tenant: str, agents: Sequence[Agent]) -> None:
        say = self.visit.say

        async def delete() -> None:
            with notify_failures(self.visit):
                service = AgentsService(self.visit.session)
                done = await service.delete_for_all(self.skill, tenant)
                notify_done(self.visit, "knowledge.skill_deleted", done, self.skill)
                self.last = done
                await self.after()

        self.dialogs.clear()
        title = say("knowledge.delete_for_all_title", skill=self.skill)
        named = ", ".join(map(_named, agents))
        with self.dialogs:
            told = [say("knowledge.loses_skill", names=named), say("knowledge.deletion_waits")]
            ask(self.visit, title, say("knowledge.ask_deletion"), delete, told).open()


async def agents_list(visit: Visit, agent_id: str, tenant: str | None) -> None:
    """Draw the skills on an agent's list, for reviewers with a button that sets it."""
    service = AgentsService(visit.session)
    agent = await service.get(agent_id, tenant)
    drawn, dialogs = ui.element("div"), ui.element("div")

    async def draw(done: Receipt | None = None) -> None:
        listed = await service.skills(agent.id, agent.tenant_id)
        drawn.clear()
        with drawn, ui.row().classes("row skill-list"):
            show(el("strong", visit.say("knowledge.list_of", name=_named(agent))), tag="span")
            for skill in listed:
                show(_item(agent, skill), tag="span")
            if not listed:
                show(el("span", visit.say("frame.none"), class_="muted"), tag="span")
            if Role.REVIEW in visit.session.principal.roles:
                edit = ui.button(visit.say("knowledge.edit_list"), on_click=choose)
                edit.props("outline dense no-caps")
            _show_last(visit, done)

    async def choose() -> None:
        with notify_failures(visit):
            now = [skill.name for skill in await service.skills(agent.id, agent.tenant_id)]
            names = sorted({*now, *await _skills(visit, agent.tenant_id)})
            dialogs.clear()
            with dialogs:
                title = visit.say("knowledge.list_of", name=_named(agent))
                save = visit.say("knowledge.save_list")
                ask_which(visit, title, save, names, now, set_list).open()

    async def set_list(names: Sequence[str]) -> None:
        with dialogs, notify_failures(visit):
            done = await service.set_skills(agent.id, names, agent.tenant_id)
            notify_done(visit, "knowledge.list_set", done, _named(agent))
            await draw(done)

    await draw()


async def _skills(visit: Visit, tenant: str) -> Sequence[str]:
    wanted = KnowledgeFilter(tenant_id=tenant, kind=Kind.SKILL)
    page = await KnowledgeService(visit.session).page(wanted, limit=_MOST)
    return [item.id for item in page.items]


def _show_last(visit: Visit, done: Receipt | None) -> None:
    """Show the way to the change that was just made: it can be taken back there."""
    if done is not None and done.change_id is not None:
        to = address(REVIEW, id=done.change_id)
        show(el("a", visit.say("knowledge.last_edit"), href=to, class_="small"), tag="span")


def _item(agent: Agent, skill: ListedSkill) -> Markup:
    to = address(ITEM, kind=Kind.SKILL.value, tenant=agent.tenant_id, id=skill.name)
    return el("a", skill.name, href=to, class_="chip")


def _named(agent: Agent) -> str:
    return Lister(id=agent.id, name=agent.name).shown
