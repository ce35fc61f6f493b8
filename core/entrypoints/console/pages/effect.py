"""The effect: what helps, what never reached anyone, what came back, and what is proposed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from nicegui import ui

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.models.access import Role
from core.domain.models.effect import (
    Action,
    EffectFilter,
    EffectOverview,
    ItemEffect,
    Judgement,
    Only,
    Proposal,
)
from core.entrypoints.console.parts.charts import axis, bar, chart, frame
from core.entrypoints.console.parts.dialogs import ask
from core.entrypoints.console.parts.lists import badge, chip, empty, listed, pages, twin
from core.entrypoints.console.parts.markup import Part, address, el, join, link, show
from core.entrypoints.console.parts.named import kind, moment
from core.entrypoints.console.parts.problem import notify_done, notify_failures
from core.entrypoints.console.parts.tenants import named_tenant, tenant_chips
from core.entrypoints.console.site import Site
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.effect import DecidedProposal, EffectService

PATH = "/console/effect"
ITEM = "/console/knowledge/item"
_PAGE = 50
_FILTERS = ("tenant", "agent", "only")
_GOOD, _BAD, _WARN, _PLAIN, _BLUE = "#2c9a67", "#d0605b", "#c98a2b", "#8b95a5", "#3f7fd8"
_TONES = {Judgement.HELPS: "ok", Judgement.HARMS: "failed", Judgement.UNDECIDED: ""}


def add(site: Site) -> None:
    """Register the page on the site."""
    site.page("/effect", "effect", build)


async def build(visit: Visit) -> None:
    """Draw the page."""
    given = {name: visit.query(name) for name in _FILTERS}
    tenant = await named_tenant(visit)
    wanted = EffectFilter(tenant_id=tenant, agent_id=given["agent"], only=_only(given["only"]))
    service, cursor = EffectService(visit.session), visit.query("cursor")
    page = await service.page(wanted, limit=_PAGE, cursor=cursor)
    seen = await service.overview(wanted)
    show(el("h1", visit.say("frame.effect")))
    chips = await tenant_chips(visit, PATH, tenant)
    if chips:
        show(chips)
    _charts(visit, seen)
    _Decisions(visit, ui.element("div")).draw(seen.proposals)
    show(el("h2", visit.say("effect.items")))
    show(_lists(visit, given))
    show(_items(visit, page.items))
    more = pages(visit, PATH, page.next, **given)
    if more:
        show(more)
    of = {"tenant_id": tenant, "agent_id": wanted.agent_id, "only": given["only"]}
    show(twin(visit, "/v1/effect", **of, cursor=cursor, limit=str(_PAGE)))


def _only(text: str | None) -> Only | None:
    if text is not None and text not in set(Only):
        raise InvalidInput(Message("console.no_effect_list", text=text, lists=", ".join(Only)))
    return Only(text) if text else None


def _charts(visit: Visit, seen: EffectOverview) -> None:
    say, days = visit.say, seen.days
    names = [f"{one.day:%m-%d}" for one in days]
    reached = [
        bar(say("effect.shown"), _BLUE, [one.shown for one in days]),
        bar(say("effect.opened"), _GOOD, [one.opened for one in days]),
    ]
    tasks = [
        bar(say("effect.success"), _GOOD, [one.success for one in days]),
        bar(say("effect.failure"), _BAD, [one.failure for one in days]),
        {
            "type": "line",
            "name": say("effect.back"),
            "data": [one.back for one in days],
            "itemStyle": {"color": _WARN},
        },
    ]
    with ui.element("div").classes("charts"):
        chart(say("effect.days"), {**frame(names), "yAxis": [axis()], "series": reached})
        chart(say("effect.tasks"), {**frame(names), "yAxis": [axis()], "series": tasks})
        chart(say("effect.where"), _where(visit, seen))


def _where(visit: Visit, seen: EffectOverview) -> dict[str, object]:
    """Return the chart of how many items reached an agent, never did, or came back."""
    counts = {
        "effect.reached": (seen.counts.known - seen.counts.unreached, _GOOD),
        "effect.unreached": (seen.counts.unreached, _PLAIN),
        "effect.back": (seen.counts.back, _WARN),
    }
    names = [visit.say(name) for name in counts]
    bars = [{"value": number, "itemStyle": {"color": colour}} for number, colour in counts.values()]
    one = {"type": "bar", "name": visit.say("effect.items"), "data": bars, "barMaxWidth": 60}
    return {**frame(names), "yAxis": [axis()], "series": [one], "legend": {"show": False}}


def _lists(visit: Visit, given: dict[str, str | None]) -> Markup:
    links = [
        chip(
            visit.say(f"effect.only_{only or 'all'}"),
            address(PATH, tenant=given["tenant"], agent=given["agent"], only=only),
            here=given["only"] == only,
        )
        for only in (None, *(one.value for one in Only))
    ]
    return el("nav", *links, class_="chips", aria_label=visit.say("effect.lists"))


def _items(visit: Visit, items: Sequence[ItemEffect]) -> Markup:
    if not items:
        return empty(visit.say("effect.nothing"), visit.say("effect.nothing_hint"))
    heads = ("item", "agent", "shown", "opened", "used", "ended", "contradicted", "last")
    names = [visit.say(f"effect.{head}") for head in (*heads, "complaints", "judged")]
    rows = [_row(visit, one) for one in items]
    return listed(names, rows, label=visit.say("effect.items"))


def _row(visit: Visit, one: ItemEffect) -> tuple[Part, ...]:
    return (
        join([_item(one), f" {kind(visit, one.kind)}"]),
        visit.agent(one.tenant_id, one.agent_id),
        f"{one.shown:,}",
        f"{one.opened:,}",
        f"{one.used:,}",
        f"{one.ended.success:,} / {one.ended.failure:,}",
        f"{one.contradicted:,}",
        moment(visit, one.last_at),
        f"{one.before:,} / {one.unreached + one.back:,}",
        _judged(visit, one),
    )


def _item(one: ItemEffect | Proposal) -> Markup:
    return link(one.name, ITEM, kind=one.kind.value, tenant=one.tenant_id, id=one.item_id)


def _judged(visit: Visit, one: ItemEffect) -> Markup:
    trial = one.trial
    if trial.p is None:
        why = visit.say("effect.too_few")
    else:
        why = visit.say(f"effect.{trial.basis.value}", p=f"{trial.p:.2g}")
    word = badge(visit.say(f"effect.{trial.judgement.value}"), _TONES[trial.judgement])
    return join([word, el("span", why, class_="muted small")], " ")


@dataclass(frozen=True)
class _Decisions:
    """The proposals, for reviewers with buttons; `drawn` is the element they stand in."""

    visit: Visit
    drawn: ui.element

    def draw(self, proposals: Sequence[Proposal]) -> None:
        """Draw the proposals that wait."""
        say = self.visit.say
        with self.drawn:
            show(el("h2", say("effect.proposals")))
            if not proposals:
                show(el("p", say("effect.no_proposals"), class_="muted"))
            for one in proposals:
                self._draw(one)

    def _draw(self, one: Proposal) -> None:
        say, visit = self.visit.say, self.visit
        why = say(f"effect.why_{one.action.value}", n=one.back)
        agent = visit.agent(one.tenant_id, one.agent_id)
        with ui.row().classes("row holder"):
            word = badge(say(f"effect.{one.action.value}"), "held")
            for part in (word, _item(one), f"{agent} · {why}"):
                show(el("span", part), tag="span")
            if Role.REVIEW in visit.session.principal.roles:
                accept = ui.button(say("effect.accept"), on_click=lambda: self._ask(one))
                accept.props(f'outline dense no-caps aria-label="{say("effect.accept")}"')
                dismiss = ui.button(say("effect.dismiss"), on_click=lambda: self._dismiss(one))
                dismiss.props("flat dense no-caps")

    def _ask(self, one: Proposal) -> None:
        say = self.visit.say
        is_archive = one.action is Action.ARCHIVE
        detail = say("effect.stays" if is_archive else "effect.asks")
        title = say(f"effect.ask_{one.action.value}", name=one.name)

        async def accept() -> None:
            service = EffectService(self.visit.session)
            await self._decide(one, "effect.accepted", service.accept)

        with self.drawn:
            ask(self.visit, title, say("effect.accept"), accept, [detail]).open()

    async def _dismiss(self, one: Proposal) -> None:
        service = EffectService(self.visit.session)
        await self._decide(one, "effect.dismissed", service.dismiss)

    async def _decide(
        self, one: Proposal, key: str, decide: Callable[[str], Awaitable[DecidedProposal]]
    ) -> None:
        with self.drawn, notify_failures(self.visit):
            done = await decide(one.id)
            notify_done(self.visit, key, done.receipt, one.name)
            left = await EffectService(self.visit.session).overview(
                EffectFilter(tenant_id=one.tenant_id)
            )
            self.drawn.clear()
            self.draw(left.proposals)
