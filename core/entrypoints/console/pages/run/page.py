"""The run of one piece of feedback: its facts, its results, its steps; drawn as they happen."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup
from nicegui import ui
from pydantic import JsonValue

from core.domain.errors import NotFound
from core.domain.messages import Message
from core.domain.models import Feedback, FeedbackStatus
from core.domain.models.access import Role
from core.entrypoints.console.pages.run.retracting import ask_retraction
from core.entrypoints.console.pages.run.steps import lines_of, notes, steps_of
from core.entrypoints.console.parts.dialogs import ask_reason
from core.entrypoints.console.parts.lists import badge, listed, twin
from core.entrypoints.console.parts.markup import Part, address, el, join, link, show
from core.entrypoints.console.parts.named import kind, moment, operation, spent, status
from core.entrypoints.console.parts.problem import notify_failures
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.feedback import FeedbackService
from core.entrypoints.service.run import RunCandidate, RunLine, RunService

LOOK_SECONDS = 1.5
LIST = "/console/feedback"
REVIEW = "/console/review"
_LIVE = {FeedbackStatus.QUEUED, FeedbackStatus.PROCESSING}
_TAUGHT = {FeedbackStatus.COMPLETED, FeedbackStatus.HELD}

_TITLE_CHARS = 60


async def build(visit: Visit) -> None:
    """Draw the page, and redraw it while the piece has not ended."""
    feedback_id = visit.query("id")
    if feedback_id is None:
        raise NotFound(Message("console.no_feedback"), hint=Message("console.hint_list"))
    line = await RunService(visit.session).timeline(feedback_id)
    show(link(visit.say("frame.feedback"), LIST), tag="p")
    head, steps = ui.element("div"), ui.element("ol").classes("steps")
    page = _Run(visit, feedback_id, head, steps, ui.element("div"))
    page.draw(line)
    ui.timer(LOOK_SECONDS, page.refresh)


@dataclass
class _Run:
    """What is on screen; refreshing redraws it only if something has happened."""

    visit: Visit
    feedback_id: str
    element: ui.element
    steps: ui.element
    dialogs: ui.element
    drawn: tuple[str, ...] = ()
    drawn_steps: list[tuple[Markup, ui.html]] = field(default_factory=list)
    is_live: bool = True

    async def refresh(self, *, always: bool = False) -> None:
        """Refresh unless the piece has ended, or after an action."""
        if self.is_live or always:
            with notify_failures(self.visit):
                self.draw(await RunService(self.visit.session).timeline(self.feedback_id))

    def draw(self, line: RunLine) -> None:
        """Draw the run, unless it is already on screen."""
        self.is_live = line.feedback.status in _LIVE
        seen = tuple(lines_of(line))
        if seen == self.drawn:
            return
        self.drawn = seen
        self.element.clear()
        with self.element:
            name = " ".join(line.feedback.content.split())[:_TITLE_CHARS]
            ui.page_title(f"{name} · {self.visit.say('run.title')}")
            show(el("h1", self.visit.say("run.title")))
            show(facts(self.visit, line))
            self._buttons(line)
            show(join(_outcome(self.visit, line)))
            show(el("h2", self.visit.say("run.steps")))
            show(notes(self.visit, line))
        self._draw_steps(steps_of(self.visit, line))

    def _draw_steps(self, steps: Sequence[Markup]) -> None:
        """Draw only new steps: one that the reader has expanded stays expanded."""
        for (was, element), markup in zip(self.drawn_steps, steps, strict=False):
            if was != markup:
                element.set_content(str(markup))
        with self.steps:
            new = [show(markup, tag="li") for markup in steps[len(self.drawn_steps) :]]
        for _, element in self.drawn_steps[len(steps) :]:
            element.delete()
        elements = [element for _, element in self.drawn_steps[: len(steps)]] + new
        self.drawn_steps = [*zip(steps, elements, strict=True)]

    def _buttons(self, line: RunLine) -> None:
        say, roles = self.visit.say, self.visit.session.principal.roles
        service = FeedbackService(self.visit.session)

        async def retry() -> None:
            await self._do("run.retried", service.retry(self.feedback_id))

        async def cancel(reason: str) -> None:
            await self._do("run.cancelled", service.cancel(self.feedback_id, reason))

        def ask_cancel() -> None:
            self.dialogs.clear()
            with self.dialogs:
                ask_reason(self.visit, say("run.cancel_title"), say("run.cancel"), cancel).open()

        with ui.row().classes("row"):
            if Role.OPERATE in roles and not self.is_live:
                ui.button(say("run.retry"), on_click=retry).props("outline no-caps")
            if Role.OPERATE in roles and self.is_live:
                ui.button(say("run.cancel"), on_click=ask_cancel).props("outline no-caps")
            if Role.REVIEW in roles and not self.is_live and line.changes:
                ui.button(say("run.retract"), on_click=self._retract).props(
                    "outline no-caps color=negative"
                )

    async def _retract(self) -> None:
        self.dialogs.clear()
        with self.dialogs:
            await ask_retraction(self.visit, self.feedback_id, lambda: self.refresh(always=True))

    async def _do(self, key: str, done: Awaitable[object]) -> None:
        with self.dialogs:  # refreshing may delete the button that was pressed
            with notify_failures(self.visit):
                await done
                ui.notify(self.visit.say(key), type="positive")
            await self.refresh(always=True)


def facts(visit: Visit, line: RunLine) -> Markup:
    """Draw what was said, when, by whom and about what."""
    piece, say = line.feedback, visit.say
    rows: list[tuple[str, Part]] = [
        (say("common.status"), status(visit, piece.status)),
        (say("run.came"), moment(visit, piece.created_at)),
        *_said(visit, piece),
        (say("common.author"), piece.author or say("frame.none")),
        (
            say("common.agents"),
            ", ".join(visit.agent(piece.tenant_id, one) for one in piece.agent_ids),
        ),
        (say("common.tenant"), piece.tenant_id),
        (say("run.source"), piece.source),
        (say("run.attempts"), str(piece.attempts)),
        (say("run.spent"), spent(visit, piece.usage)),
    ]
    pairs = [join([el("dt", name), el("dd", value)]) for name, value in rows]
    return el(
        "section",
        el("blockquote", piece.content, class_="text"),
        el("p", f"{say('run.task')}: {piece.task}", class_="muted") if piece.task else None,
        _output(visit, piece.output) if piece.output is not None else None,
        _error(visit, piece, piece.error) if piece.error else None,
        _masked(visit, piece) if piece.masked else None,
        el("dl", *pairs, class_="facts-grid"),
        twin(visit, f"/v1/feedback/{piece.id}/run"),
    )


def _masked(visit: Visit, piece: Feedback) -> Markup:
    """Draw what was taken out of a piece before it was stored."""
    told = dict.fromkeys(visit.translated(finding.text) for finding in piece.masked)
    return el("p", f"{visit.say('run.masked')}: {'; '.join(told)}", class_="banner warn")


def _said(visit: Visit, piece: Feedback) -> Iterator[tuple[str, Part]]:
    """Yield when it was said, and the conversation it belongs to."""
    say = visit.say
    yield say("run.said"), moment(visit, piece.said_at)
    if piece.claimed_said_at is not None:
        told = Message("said.ahead", claimed=piece.claimed_said_at.isoformat())
        yield say("run.said_ahead"), el("span", visit.translated(told), lang=visit.marked(told))
    if piece.in_reply_to is not None:
        yield say("run.in_reply_to"), piece.in_reply_to
    if piece.thread is not None:
        yield say("run.thread"), piece.thread


def _output(visit: Visit, output: JsonValue) -> Markup:
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=2)
    return el("details", el("summary", visit.say("run.output")), el("pre", text, class_="text"))


def _outcome(visit: Visit, line: RunLine) -> Iterator[Markup]:
    say = visit.say
    if line.candidates:
        yield el("h2", say("run.candidates"))
        yield join(candidate_card(visit, known) for known in line.candidates)
    yield el("h2", say("run.changes"))
    if not line.changes:
        yield el("p", say("run.no_changes"), class_="muted")
        return
    heads = ("common.status", "common.name", "common.kind", "common.agent")
    yield listed(
        [say(head) for head in heads],
        [
            (
                status(visit, change.status),
                el("a", change.target_name, href=address(REVIEW, id=change.id)),
                f"{kind(visit, change.kind)} · {operation(visit, change.operation)}",
                visit.agent(change.tenant_id, change.agent_id),
            )
            for change in line.changes
        ],
        label=say("run.changes"),
    )


def candidate_card(visit: Visit, known: RunCandidate) -> Markup:
    """Draw what an agent could learn, and how that ended."""
    candidate, verdict = known.candidate, known.candidate.verdict
    came = visit.say("run.in_work")
    mark: Part = badge(came, "processing")
    if verdict is not None:
        mark = badge(visit.say(f"common.{verdict.status.value}"), verdict.status.value)
    return el(
        "section",
        el("div", el("strong", candidate.agent_name or candidate.agent_id), mark, class_="row"),
        el("p", candidate.content, class_="text"),
        _reason(visit, verdict.reason) if verdict and verdict.reason else None,
        el("p", spent(visit, candidate.usage), class_="muted small"),
        el("p", known.problem, class_="banner warn") if known.problem else None,
        el("p", visit.say("run.thread_pruned"), class_="muted small") if known.pruned else None,
        class_="card",
    )


def _reason(visit: Visit, reason: str) -> Markup:
    return el("p", visit.translated(reason), class_="muted text", lang=visit.marked(reason))


def _error(visit: Visit, piece: Feedback, error: str) -> Markup:
    """Draw why a piece failed, or what of one that has taught something was refused."""
    tone = "warn" if piece.status in _TAUGHT else "bad"
    return el("p", visit.translated(error), class_=f"banner {tone} text", lang=visit.marked(error))
