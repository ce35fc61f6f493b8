"""One change at a time: viewed, decided by button or key, and on to the next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from nicegui import ui

from core.domain.errors import SkillWorkerError
from core.domain.models import ChangeStatus, Kind
from core.domain.models.access import Role
from core.entrypoints.console.pages.review.editing import offer_drafts, open_editor
from core.entrypoints.console.pages.review.view import headline, view_parts
from core.entrypoints.console.parts.dialogs import ask_reason
from core.entrypoints.console.parts.keys import Key, listen
from core.entrypoints.console.parts.lists import empty, twin
from core.entrypoints.console.parts.markup import address, el, link, show
from core.entrypoints.console.parts.problem import notify_done, notify_failures, show_problem
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.changes import ChangesService
from core.entrypoints.service.review_view.view import ReviewView

PATH = "/console/review"
LIST = "/console/changes"


async def build(visit: Visit) -> None:
    """Draw the page: the change that the URL names, else the next that waits."""
    service = ChangesService(visit.session)
    wanted = visit.query("id") or (await service.next()).id
    if wanted is None:
        show(el("h1", visit.say("frame.review")))
        show(empty(visit.say("review.nothing"), visit.say("review.nothing_hint")))
        show(el("p", link(visit.say("review.all_changes"), LIST)))
        show(twin(visit, "/v1/changes/next"))
        return
    review_view = await service.review_view(wanted)
    page = _Review(visit, service, review_view, ui.element("div"), ui.element("div"))
    page.draw()
    page.listen()


@dataclass
class _Review:
    """The review view on screen, in an element that is redrawn, and `dialogs` that stay.

    Only one action runs at a time, so that a decision is about the change on screen.
    """

    visit: Visit
    service: ChangesService
    review_view: ReviewView
    area: ui.element
    dialogs: ui.element
    is_busy: bool = False

    def draw(self) -> None:
        """Redraw the review view."""
        name = self.review_view.change.target_name
        ui.page_title(f"{name} · {self.visit.say('frame.review')}")
        self.area.clear()
        with self.area:
            self._bar()
            offer_drafts(self.visit, self.review_view.change, self._continue)
            show(headline(self.visit, self.review_view.change))
            show(view_parts(self.visit, self.review_view))

    def _draw_again(self) -> None:
        """Redraw it, and move the focus to its beginning: the button that was pressed is gone."""
        self.draw()
        ui.run_javascript('document.querySelector("#content h1")?.focus({preventScroll: true})')

    def listen(self) -> None:
        """Let keys do what the buttons do."""
        say = self.visit.say
        listen(
            self.visit,
            {
                "ArrowLeft": Key(say("review.previous"), self._previous),
                "ArrowRight": Key(say("review.next"), self._next),
                "a": Key(say("review.approve"), self._approve),
                "r": Key(say("review.reject"), self._ask_rejection),
                "e": Key(say("review.edit"), self._edit),
            },
        )

    def _bar(self) -> None:
        say, near = self.visit.say, self.review_view.neighbours
        with ui.element("div").classes("decide"):
            with ui.row().classes("row"):
                _button(
                    say("review.previous"), self._previous, "flat icon=chevron_left", near.previous
                )
                key = "review.place" if near.position else "review.waiting"
                show(
                    el(
                        "span",
                        say(key, position=near.position, waiting=near.waiting),
                        class_="muted",
                    )
                )
                _button(say("review.next"), self._next, "flat icon-right=chevron_right", near.next)
                show(link(say("review.all_changes"), LIST), tag="span")
            if Role.REVIEW not in self.visit.session.principal.roles:
                show(el("span", say("review.only_readers"), class_="muted"))
                return
            with ui.row().classes("row"):
                self._decisions()

    def _decisions(self) -> None:
        say, status = self.visit.say, self.review_view.change.status
        if status in {ChangeStatus.HELD, ChangeStatus.STALE}:
            if self.review_view.moved:
                _button(say("review.refresh"), self._refresh, "unelevated")
                _button(say("review.edit"), self._edit, "outline")
            elif self.review_view.opposite is not None:
                self._choices()
                return
            else:
                approve = say(f"review.{self._way}approve")
                _button(approve, self._approve, "unelevated color=positive")
                _button(say("review.edit"), self._edit, "outline")
            _button(say("review.reject"), self._ask_rejection, "outline color=negative")
        elif status is ChangeStatus.APPLIED:
            _button(say("review.revert"), self._ask_revert, "outline color=negative")

    def _choices(self) -> None:
        """Offer the decision between a change and what it contradicts."""
        say = self.visit.say
        _button(say("review.take"), self._approve, "unelevated color=positive")
        _button(say("review.keep"), self._keep, "unelevated")
        if self.review_view.change.kind in {Kind.MEMORY, Kind.SKILL}:
            _button(say("review.keep_both"), self._keep_both, "outline")
        _button(say("review.edit"), self._edit, "outline")

    async def _keep(self) -> None:
        """Keep what is there: the change is rejected, with that as its reason."""
        change, reason = self.review_view.change, self.visit.say("review.kept_reason")
        await self._decide(
            "review.kept",
            lambda: self.service.reject(change.id, reason=reason, seen=change.content_hash),
        )

    async def _keep_both(self) -> None:
        change = self.review_view.change
        await self._decide(
            "review.both_kept",
            lambda: self.service.keep_both(change.id, seen=change.content_hash),
        )

    @property
    def _can_decide(self) -> bool:
        waits = self.review_view.change.status in {ChangeStatus.HELD, ChangeStatus.STALE}
        return waits and Role.REVIEW in self.visit.session.principal.roles and not self.is_busy

    async def _previous(self) -> None:
        await self._open(self.review_view.neighbours.previous)

    async def _next(self) -> None:
        await self._open(self.review_view.neighbours.next)

    async def _open(self, change_id: str | None) -> None:
        if change_id is None or self.is_busy:
            return
        with self._alone(), notify_failures(self.visit):
            self.review_view = await self.service.review_view(change_id)
            self._draw_again()
            ui.navigate.history.replace(address(PATH, id=change_id))

    async def _approve(self) -> None:
        if not self._can_decide or self.review_view.moved:
            return
        if self._way:
            self._ask_why()
        else:
            seen = self.review_view.change.content_hash
            await self._decide(
                "review.approved",
                lambda: self.service.approve(self.review_view.change.id, seen=seen),
            )

    @property
    def _way(self) -> str:
        """What has to be said before the change is approved: the beginning of the words for it."""
        change = self.review_view.change
        if change.breaks:
            return "retire_and_"
        return "allow_and_" if any(finding.holds for finding in change.findings) else ""

    def _ask_why(self) -> None:
        """Ask why it is approved in spite of what was found, or of what it breaks: on record."""
        say, change = self.visit.say, self.review_view.change
        allows = any(finding.holds for finding in change.findings)

        async def approve(reason: str) -> None:
            retire, allow = reason if change.breaks else "", reason if allows else ""
            await self._decide(
                "review.approved",
                lambda: self.service.approve(
                    change.id, seen=change.content_hash, allow=allow, retire=retire
                ),
            )

        with self._dialog():
            title, do = say(f"review.{self._way}title"), say(f"review.{self._way}approve")
            ask_reason(self.visit, title, do, approve).open()

    def _ask_rejection(self) -> None:
        if not self._can_decide:
            return
        say, change = self.visit.say, self.review_view.change

        async def reject(reason: str) -> None:
            seen = change.content_hash
            await self._decide(
                "review.rejected", lambda: self.service.reject(change.id, reason=reason, seen=seen)
            )

        with self._dialog():
            ask_reason(self.visit, say("review.reject_title"), say("review.reject"), reject).open()

    def _ask_revert(self) -> None:
        if self.is_busy:
            return
        say, change = self.visit.say, self.review_view.change

        async def revert(reason: str) -> None:
            await self._change(
                "review.reverted", lambda: self.service.revert(change.id, reason=reason)
            )

        with self._dialog():
            ask_reason(self.visit, say("review.revert_title"), say("review.revert"), revert).open()

    async def _edit(self) -> None:
        if self._can_decide:
            with self._alone(), notify_failures(self.visit), self._dialog():
                await open_editor(self.visit, self.service, self.review_view.change, self._edited)

    def _dialog(self) -> ui.element:
        """Return an empty element for the one open dialog."""
        self.dialogs.clear()
        return self.dialogs

    async def _continue(self, drafts: Mapping[str, str]) -> None:
        """Open the editor on what was not saved."""
        if self._can_decide:
            with self._alone(), notify_failures(self.visit), self._dialog():
                change = self.review_view.change
                await open_editor(self.visit, self.service, change, self._edited, drafts)

    async def _edited(self, save: Callable[[], Awaitable[object]]) -> bool:
        return await self._change("review.edited", save)

    async def _refresh(self) -> None:
        await self._change(
            "review.refreshed", lambda: self.service.refresh(self.review_view.change.id)
        )

    async def _decide(self, key: str, do: Callable[[], Awaitable[object]]) -> None:
        """Decide, and go on to the next that waits; if it failed, reload the change."""
        if await self._change(key, do) and self.review_view.neighbours.next:
            await self._open(self.review_view.neighbours.next)

    async def _change(self, key: str, do: Callable[[], Awaitable[object]]) -> bool:
        """Do something to the change, report it, and reload the change, whatever the outcome."""
        if self.is_busy:
            return False
        done, name = False, self.review_view.change.target_name
        with self._alone():
            with notify_failures(self.visit):
                notify_done(self.visit, key, await do(), name)
                done = True
            await self._look_again()
        return done

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Block other actions; the slot of the block is in an element that no redrawing deletes."""
        self.is_busy = True
        try:
            # Redrawing deletes the button that was pressed, and NiceGUI needs a living slot to
            # notify from.
            with self.dialogs:
                yield
        finally:
            self.is_busy = False

    async def _look_again(self) -> None:
        try:
            self.review_view = await self.service.review_view(self.review_view.change.id)
        except SkillWorkerError as error:
            self.area.clear()
            with self.area:
                show_problem(self.visit, error)
        else:
            self._draw_again()


def _button(
    text: str, do: Callable[[], Awaitable[None] | None], props: str, there: str | None = ""
) -> None:
    button = ui.button(text, on_click=do).props(f"no-caps {props}")
    if there is None:
        button.disable()
