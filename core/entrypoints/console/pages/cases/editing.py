"""The dialog in which a person says what a case asks, and what it expects."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping

from nicegui import ui
from pydantic import JsonValue

from core.changes.cases.proposed import checks_of
from core.domain.models import KnowledgeItem
from core.domain.models.cases import CaseBody, Check
from core.domain.text import printable
from core.entrypoints.console.parts.markup import el, show
from core.entrypoints.console.visit import Visit

Saved = Callable[[CaseBody, str | None], Awaitable[bool]]

# The fields that a check reads, besides the text that most do.
_MORE: Mapping[Check, tuple[str, ...]] = {
    Check.DECISION: ("inputs", "outputs", "must", "must_not"),
    Check.STANDS: ("text", "section"),
    Check.WITHDRAWN: ("text", "section"),
    Check.SCRIPT: ("text", "input", "output"),
    Check.BEHAVIOUR: ("text", "must", "must_not"),
}
_TEXT = ("text",)
# What the text of a check is: the word for it. Of those left out it is a statement.
_NAMES: Mapping[Check, str] = {
    Check.RECALL: "question",
    Check.SILENCE: "question",
    Check.CHOSEN: "request",
    Check.NOT_CHOSEN: "request",
    Check.SCRIPT: "path",
    Check.BEHAVIOUR: "task",
}
_FIELDS = ("text", "section", "inputs", "outputs", "input", "output", "must", "must_not")
_JSON = frozenset({"inputs", "outputs"})
_LINES = frozenset({"must", "must_not"})
_FIRST = (Check.DECISION, Check.CHOSEN, Check.RECALL)


def ask_case(
    visit: Visit,
    item: KnowledgeItem,
    body: CaseBody | None,
    agents: Mapping[str, str],
    save: Saved,
) -> None:
    """Open the dialog on a case, or on a new one; it stays open until it could be saved.

    `agents` are those to choose from, by id.
    """
    _CaseDialog(visit, item, body, agents, save).open()


class _CaseDialog:
    def __init__(
        self,
        visit: Visit,
        item: KnowledgeItem,
        body: CaseBody | None,
        agents: Mapping[str, str],
        save: Saved,
    ) -> None:
        self._visit, self._item, self._body, self._save = visit, item, body, save
        self._agents = agents
        known = checks_of(item.kind)
        first = next(check for check in (*_FIRST, *sorted(known)) if check in known)
        self._check = body.check if body is not None else first
        self._fields: dict[str, ui.textarea] = {}

    def open(self) -> None:
        """Draw the dialog and open it."""
        say, title = self._visit.say, self._visit.say("cases.edit_title", name=self._item.name)
        with ui.dialog() as dialog, ui.card().classes("dialog"):
            dialog.props["aria-label"] = printable(title)
            show(el("h2", title))
            self._choices()
            for name in _FIELDS:
                self._field(name)
            self._show_fields()
            self._problem = show(el("p", "", role="alert"))
            with ui.row().classes("justify-end full-width"):
                ui.button(say("frame.cancel"), on_click=dialog.close).props("flat no-caps")

                async def go() -> None:
                    if await self._saved():
                        dialog.close()

                ui.button(say("cases.save"), on_click=go).props("unelevated no-caps")
        dialog.open()

    def _choices(self) -> None:
        say = self._visit.say
        options = {
            one.value: say(f"cases.{one.value}") for one in sorted(checks_of(self._item.kind))
        }
        chooser = ui.select(options, value=self._check.value, label=say("cases.check"))
        chooser.props("outlined").classes("full-width")

        def chosen() -> None:
            self._check = Check(str(chooser.value))
            self._show_fields()

        chooser.on_value_change(chosen)
        self._agent: ui.select | None = None
        if len(self._agents) > 1:
            named = {agent: name or agent for agent, name in self._agents.items()}
            self._agent = ui.select(named, value=next(iter(named)), label=say("cases.agent"))
            self._agent.props("outlined").classes("full-width")

    def _field(self, name: str) -> None:
        field = ui.textarea(self._label(name), value=self._written(name))
        field.props("outlined autogrow").classes("full-width q-mt-sm")
        self._fields[name] = field

    def _label(self, name: str) -> str:
        word = _NAMES.get(self._check, "statement") if name == "text" else name
        if self._check is Check.DECISION and name in _LINES:
            word = f"rows_{name}"
        return self._visit.say(f"cases.{word}")

    def _written(self, name: str) -> str:
        value = getattr(self._body, name) if self._body is not None else None
        if not value:
            return ""
        if name in _JSON:
            return json.dumps(value, ensure_ascii=False)
        return "\n".join(value) if name in _LINES else str(value)

    def _show_fields(self) -> None:
        wanted = _MORE.get(self._check, _TEXT)
        for name, field in self._fields.items():
            field.set_visibility(name in wanted)
            field.label = self._label(name)

    async def _saved(self) -> bool:
        """Save what was given; what is no JSON is told at its field."""
        given: dict[str, JsonValue] = {"check": self._check.value}
        if self._body is not None and self._body.check is self._check:
            given = self._body.model_dump(mode="json")  # with what has no field here
        for name in _MORE.get(self._check, _TEXT):
            text = str(self._fields[name].value or "").strip()
            try:
                given[name] = _read(name, text)
            except ValueError as error:
                told = self._visit.say("cases.no_json", why=error)
                self._problem.set_content(str(el("p", told, class_="banner bad", role="alert")))
                return False
        agent = str(self._agent.value) if self._agent is not None else None
        return await self._save(CaseBody.model_validate(given), agent)


def _read(name: str, text: str) -> JsonValue:
    """Return the value of a field. Raises ValueError on what is no JSON, or no object of inputs."""
    if name in _LINES:
        return [line.strip() for line in text.splitlines() if line.strip()]
    if name not in _JSON:
        return text
    value: JsonValue = json.loads(text) if text else None
    if name == "inputs" and value is None:
        return {}
    if name == "inputs" and not isinstance(value, dict):
        raise ValueError("{…}")
    return value
