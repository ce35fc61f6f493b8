"""The editor of a held change: the text of a file, checked when it is saved."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time

from nicegui import ui
from nicegui.events import GenericEventArguments

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.models import Kind, Reach, Scope
from core.domain.text import printable, visible_parts
from core.entrypoints.console.parts.markup import el, join, show
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.changes import ChangesService
from core.entrypoints.service.review_view.heads import ChangeHead

# In characters: an editor sends its whole text at each key, in one limited websocket message.
MOST = 100_000
Save = Callable[[Callable[[], Awaitable[object]]], Awaitable[bool]]


def offer_drafts(
    visit: Visit,
    change: ChangeHead,
    go_on: Callable[[Mapping[str, str]], Awaitable[None]],
) -> None:
    """Offer to go on with what this browser has kept of an edit that was not saved."""
    place = ui.element("div")

    def offer(event: GenericEventArguments) -> None:
        drafts = {str(path): str(text) for path, text in dict(event.args).items()}
        place.clear()
        if not drafts:
            return

        async def take() -> None:
            place.clear()
            await go_on(drafts)

        def drop() -> None:
            place.clear()
            _forget(visit, change.id)

        with place, ui.element("div").classes("banner row"):
            show(el("span", visit.say("review.draft")), tag="span")
            ui.button(visit.say("review.draft_go_on"), on_click=take).props("flat no-caps dense")
            ui.button(visit.say("review.draft_drop"), on_click=drop).props("flat no-caps dense")

    name = f"draft-{place.id}"
    ui.on(name, offer)
    prefix, event = json.dumps(_prefix(visit, change.id)), json.dumps(name)
    ui.run_javascript(
        f"const found = draftsOf({prefix}); if (Object.keys(found).length)"
        f" emitEvent({event}, found)"
    )


def _prefix(visit: Visit, change_id: str) -> str:
    """Return how the names begin under which the browser keeps unsaved texts of this person."""
    return f"draft:{visit.session.principal.name}:{change_id}:"


def _key(visit: Visit, change: ChangeHead, path: str) -> str:
    """Return the name of an unsaved text, which says of which state of the change it is."""
    return f"{_prefix(visit, change.id)}{change.content_hash}:{path}"


def _forget(visit: Visit, change_id: str) -> None:
    ui.run_javascript(f"dropDrafts({json.dumps(_prefix(visit, change_id))})")


def _typed(drafts: Mapping[str, str], change: ChangeHead) -> tuple[Mapping[str, str], bool]:
    """Return the drafts by path, and whether the change has moved since they were typed.

    They come in the order of typing: without one of the present state, the last one's state counts.
    """
    by_state: dict[str, dict[str, str]] = {}
    last = ""
    for key, text in drafts.items():
        last, _, path = key.partition(":")
        by_state.setdefault(last, {})[path] = text
    if not by_state or change.content_hash in by_state:
        return by_state.get(change.content_hash, {}), False
    return by_state[last], True


async def open_editor(
    visit: Visit,
    service: ChangesService,
    change: ChangeHead,
    save: Save,
    drafts: Mapping[str, str] | None = None,
) -> None:
    """Open the editor on the texts of a change. A text that the checks refuse stays in it.

    `drafts` are texts that were not saved, by state and path. The browser keeps what is typed. Of
    an earlier state of the change, they are shown above the text that it has now.
    """
    known = await service.texts(change.id)
    texts = {path: text for path, text in known.items() if len(text) <= MOST}
    large = [path for path in known if path not in texts]
    if not texts:
        raise InvalidInput(_elsewhere(visit, change, large))
    typed, is_older = _typed(drafts or {}, change)
    found = {path: text for path, text in typed.items() if path in texts}
    first = next(iter(found), next(iter(texts)))
    editor = _Editor(visit, service, change, texts | found, first, texts if is_older else {})
    editor.draw(_elsewhere(visit, change, large) if large else "", save)


class _Editor:
    """A dialog over the texts of a change, of which one is on screen."""

    def __init__(
        self,
        visit: Visit,
        service: ChangesService,
        change: ChangeHead,
        texts: dict[str, str],
        path: str,
        now: Mapping[str, str],
    ) -> None:
        self._visit, self._service, self._change = visit, service, change
        self._texts, self._path, self._now = texts, path, now

    def draw(self, warning: str, save: Save) -> None:
        """Open the dialog."""
        say, title = (
            self._visit.say,
            self._visit.say("review.edit_title", name=self._change.target_name),
        )
        opened = ui.dialog().props("maximized persistent")
        with opened as dialog, ui.card().classes("dialog editor"):
            dialog.props["aria-label"] = printable(title)
            show(el("h2", title))
            if warning:
                show(el("p", warning, class_="banner warn"))
            self._choice()
            self._hidden = ui.element("div")
            self._text(title)
            self._beside = ui.element("div")
            self._warn()
            reach = _ReachFields(self._visit, self._change) if self._change.reach else None
            with ui.row().classes("justify-end full-width"):

                def cancel() -> None:
                    _forget(self._visit, self._change.id)
                    dialog.close()

                async def go() -> None:
                    if await save(lambda: self._saved(reach)):
                        cancel()

                ui.button(say("frame.cancel"), on_click=cancel).props("flat no-caps")
                ui.button(say("review.save"), on_click=go).props("unelevated no-caps")
        dialog.open()

    def _choice(self) -> None:
        """Let one of several files be chosen."""
        if len(self._texts) < 2:
            return
        label = self._visit.say("review.edit_file")
        names = {path: printable(path) for path in self._texts}
        chooser = ui.select(names, value=self._path, label=label)
        chooser.props("outlined dense").classes("full-width")
        chooser.on_value_change(lambda: self._show(str(chooser.value)))

    def _text(self, title: str) -> None:
        self._field = field = ui.textarea(value=self._texts[self._path])
        field.props(f'outlined autofocus counter maxlength={2 * MOST} input-class="editor-text"')
        field.props["aria-label"] = printable(title)
        field.props["data-draft"] = _key(self._visit, self._change, self._path)
        field.classes("full-width")

    def _show(self, path: str) -> None:
        self._texts[self._path] = str(self._field.value or "")
        self._path = path
        self._field.value = self._texts[path]
        self._field.props["data-draft"] = _key(self._visit, self._change, path)
        self._field.update()
        self._warn()

    def _warn(self) -> None:
        """Say which characters of the text are not seen in it, and what the change says now."""
        self._hidden.clear()
        parts = visible_parts(self._texts[self._path])
        unseen = sorted({char for char, is_hidden in parts if is_hidden})
        if unseen:
            with self._hidden:
                said = self._visit.say("review.unseen")
                show(el("p", said, " ", join(unseen, " "), class_="banner warn"))

        self._beside.clear()
        if self._now:
            with self._beside:
                show(el("p", self._visit.say("review.draft_older"), class_="banner warn"))
                show(el("div", printable(self._now[self._path]), class_="code"))

    async def _saved(self, reach: _ReachFields | None) -> object:
        self._texts[self._path] = str(self._field.value or "")
        change, holds = self._change, reach.value() if reach else None
        return await self._service.edit_texts(
            change.id, self._texts, seen=change.content_hash, reach=holds
        )


class _ReachFields:
    """For whom a memory holds, and until when: a day in UTC, as it is stored."""

    def __init__(self, visit: Visit, change: ChangeHead) -> None:
        assert change.reach is not None
        self._reach = reach = change.reach
        names = {scope.value: visit.say(f"review.scope_{scope.value}") for scope in Scope}
        with ui.row().classes("full-width"):
            self._scope = ui.select(names, value=reach.scope.value, label=visit.say("review.scope"))
            self._user = ui.input(visit.say("review.user"), value=reach.user or "")
            until = f"{reach.valid_until:%Y-%m-%d}" if reach.valid_until else ""
            self._until = ui.input(visit.say("review.until"), value=until)
            self._until.props("type=date stack-label clearable")
        self._shown = until

    def value(self) -> Reach | None:
        """Return how long and for whom it is to hold, None if that stays. Raises InvalidInput."""
        scope, user = Scope(str(self._scope.value)), str(self._user.value or "").strip()
        until = self._reach.valid_until
        if str(self._until.value or "") != self._shown:
            until = _last_moment(str(self._until.value or ""))
        if scope is Scope.USER and not user:
            raise InvalidInput(Message("memory.no_user"), hint=Message("memory.scope_user"))
        made = Reach(valid_until=until, scope=scope, user=user if scope is Scope.USER else None)
        return None if made == self._reach else made


def _last_moment(day: str) -> datetime | None:
    """Return the last second of a day; None of no day. Raises InvalidInput."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day), time(23, 59, 59), UTC)
    except ValueError:
        raise InvalidInput(
            Message("console.no_date", text=day), hint=Message("console.hint_date")
        ) from None


def _elsewhere(visit: Visit, change: ChangeHead, large: Sequence[str]) -> str:
    """Return how to edit texts that are too large for the editor."""
    option = "--folder" if change.kind is Kind.SKILL else "--file"
    how = f"skill-worker changes edit {change.id} {option} …"
    return visit.say("review.too_large", files=", ".join(large), most=f"{MOST:,}", how=how)
