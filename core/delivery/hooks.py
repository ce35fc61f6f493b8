"""The section `hooks:` of skill-worker.yaml: on which events who is asked or told, and when."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, model_validator

from core.changes.policy.conditions import Some
from core.domain.errors import RuleInvalid
from core.domain.messages import Message
from core.domain.models import Change, RunEvent
from core.domain.models.base import Model
from core.domain.models.deliveries import Route
from core.domain.models.plugins import OnePlugin
from core.domain.ports.deliveries import BEFORE

if TYPE_CHECKING:
    from core.decision_table.feel import Node, Value

# The events of the journal (docs/reference/events.md).
JOURNAL = (
    "feedback.redated", "feedback.masked", "feedback.claimed", "feedback.matched",
    "feedback.retried", "feedback.asked_again", "feedback.put_behind", "feedback.held_back",
    "feedback.finished", "feedback.cancelled", "queue.paused", "queue.resumed", "run.started",
    "model.called", "tool.called", "run.finished", "change.overtaken", "change.applied",
    "change.held", "change.approved", "finding.allowed", "case.broken", "case.added",
    "case.retired", "case.disabled", "case.derived", "case.failed", "change.rejected",
    "change.edited", "change.prepared_again", "change.known_by_now", "change.asked_again",
    "change.reminded", "change.refused", "change.failed", "change.went_stale", "change.erased",
    "change.diverged", "skill.changed_outside", "lessons.shown", "lesson.refused",
    "hook.disabled",
)  # fmt: skip
# An event of the journal by how it ended.
ENDINGS: Mapping[str, frozenset[str]] = {
    "feedback.completed": frozenset({"completed", "no_action"}),
    "feedback.failed": frozenset({"failed", "dead"}),
}
_FINISHED = "feedback.finished"
EVENTS = (BEFORE, *ENDINGS, *JOURNAL)
# What a condition may name; what an event does not have is null.
NAMES = (
    "event", "tenant_id", "agent_id", "feedback_id", "candidate_id", "change_id", "kind",
    "operation", "target_id", "target_name", "status", "error", "reason", "by", "because",
    "warnings", "differs", "waited_seconds", "origin", "feedback", "agents", "attempt", "tool",
    "generation", "model_calls", "input_tokens", "output_tokens", "delay", "hook",
)  # fmt: skip
MAX_SECONDS = 600.0
T = TypeVar("T")


def _short(key: str) -> Callable[[object], object]:
    """Return a validator that takes a value alone for a mapping with just this key."""
    return lambda value: {key: value} if isinstance(value, str | list) else value


class HttpHook(Model):
    """A webhook. Of several secrets each signs, so that one can be replaced by another."""

    url: Annotated[str, Field(pattern=r"^(https?://|\$)")]
    secrets: Some[str] = ()
    headers: Mapping[str, str] = {}
    allow_private: bool = False


class CommandHook(Model):
    """A program with its arguments, without a shell; of the environment it sees PATH and `env`."""

    run: Annotated[tuple[str, ...], Field(min_length=1)]
    env: Mapping[str, str] = {}
    folder: str | None = None


class McpHook(Model):
    """A tool of an MCP server: one of the worker's, by its name, or at an address."""

    tool: Annotated[str, Field(min_length=1)]
    server: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = {}
    argument: str = "event"
    arguments: Mapping[str, JsonValue] = {}

    @model_validator(mode="after")
    def _one_server(self) -> McpHook:
        if (self.server is None) == (self.url is None):
            raise ValueError(Message("hooks.mcp_either"))
        return self


class NotifyHook(Model):
    """Addresses of Apprise: Slack, Teams, mail and many others."""

    urls: Annotated[tuple[str, ...], BeforeValidator(lambda v: [v] if isinstance(v, str) else v)]


def _parsed(text: str | None) -> str | None:
    if text is not None:
        _condition(text)
    return text


def _condition(text: str) -> Node:
    from core.decision_table.feel import parse_expression

    try:
        return parse_expression(text, NAMES)
    except RuleInvalid as error:
        raise ValueError(error.message) from error


def _known(events: tuple[str, ...] | None) -> tuple[str, ...]:
    for name in events or ():
        if name not in EVENTS:
            raise ValueError(Message("hooks.no_event", name=name, known=", ".join(EVENTS)))
    if not events:
        raise ValueError(Message("hooks.no_events"))
    return events


KINDS = ("http", "command", "python", "mcp", "prompt", "agent", "notify", "plugin")
_WITH_CONTENT = {"command", "python", "prompt", "agent"}


class Hook(Model):
    """Who is asked or told on some events: exactly one of the kinds is set.

    `content`: the words of the change and its feedback come along; by default to what runs here.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")]
    event: Annotated[Some[str], AfterValidator(_known)]
    condition: Annotated[str | None, AfterValidator(_parsed)] = Field(default=None, alias="if")
    once: bool = False
    in_background: bool = Field(default=False, alias="async")
    timeout: Annotated[float, Field(gt=0, le=MAX_SECONDS)] = 10.0
    required: bool = False
    on_no: Literal["hold", "deny"] = "hold"
    lang: Literal["en", "ko"] = "en"
    content: bool | None = None
    http: Annotated[HttpHook, BeforeValidator(_short("url"))] | None = None
    command: Annotated[CommandHook, BeforeValidator(_short("run"))] | None = None
    python: Annotated[str, Field(pattern=r"^[\w.]+[.:]\w+$")] | None = None
    mcp: McpHook | None = None
    prompt: Annotated[str, Field(min_length=1)] | None = None
    agent: Annotated[str, Field(min_length=1)] | None = None
    notify: Annotated[NotifyHook, BeforeValidator(_short("urls"))] | None = None
    plugin: OnePlugin | None = None

    @model_validator(mode="after")
    def _fits(self) -> Hook:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(Message("hooks.one_kind", kinds=", ".join(KINDS), n=len(given)))
        if BEFORE not in self.events and self.required:
            raise ValueError(Message("hooks.required_before", event=BEFORE))
        if BEFORE in self.events and (self.in_background or self.notify):
            raise ValueError(Message("hooks.answers_before", event=BEFORE))
        return self

    @property
    def events(self) -> tuple[str, ...]:
        """The names of its events."""
        return self.event or ()

    @property
    def kind(self) -> str:
        """The one kind that is set."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def shown_kind(self) -> str:
        """Its kind as people are told it: of a plug-in that one's name."""
        return next(iter(self.plugin)) if self.plugin else self.kind

    @property
    def has_content(self) -> bool:
        """Whether it is given the words of the change and of its feedback."""
        return self.kind in _WITH_CONTENT if self.content is None else self.content

    @property
    def digest(self) -> str:
        """A digest of all of it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def matches(self, values: Mapping[str, JsonValue]) -> bool:
        """Whether its condition comes to true; one that comes to null does not."""
        if self.condition is None:
            return True
        from core.decision_table.feel import Scope, evaluate

        names = {name: _value(value) for name, value in values.items()}
        return evaluate(_condition(self.condition), Scope(names)) is True


def _value(value: JsonValue) -> Value:
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        return Decimal(str(value))
    return tuple(_value(part) for part in value) if isinstance(value, list) else None


def _apart(hooks: tuple[Hook, ...]) -> tuple[Hook, ...]:
    names = [hook.name for hook in hooks]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(Message("hooks.one_name", name=name))
    return hooks


HookList = Annotated[tuple[Hook, ...], AfterValidator(_apart)]


def values_of(event: RunEvent, name: str) -> dict[str, JsonValue]:
    """Return what a condition may name, of an event under the name that the hook gives it."""
    ids = event.model_dump(include={"tenant_id", "feedback_id", "candidate_id", "change_id"})
    return {**event.data, **ids, "event": name}


def values_before(change: Change) -> dict[str, JsonValue]:
    """Return what a condition may name of a change that is about to be applied."""
    return {
        "event": BEFORE,
        "tenant_id": change.tenant_id,
        "agent_id": change.agent_id,
        "feedback_id": change.feedback_id,
        "candidate_id": change.candidate_id,
        "change_id": change.id,
        "kind": change.kind.value,
        "operation": change.operation.value,
        "target_id": change.target_id,
        "target_name": change.target_name,
        "reason": str(change.reason),
        "origin": change.origin.value,
        "feedback": change.feedback_content,
        "warnings": len(change.warnings),
    }


class Hooks:
    """The hooks of a configuration, by their events."""

    def __init__(self, hooks: Sequence[Hook]) -> None:
        self.all = tuple(hooks)

    @cached_property
    def _by_event(self) -> Mapping[str, Sequence[Hook]]:
        return {
            name: found
            for name in EVENTS
            if (found := [hook for hook in self.all if name in hook.events])
        }

    def on(self, name: str, values: Mapping[str, JsonValue]) -> Sequence[Hook]:
        """Return the hooks of an event whose conditions its values meet."""
        return [hook for hook in self._by_event.get(name, ()) if hook.matches(values)]

    def routes(self, event: RunEvent) -> Sequence[Route]:
        """Return where an event goes out to (`Routes`)."""
        subject = event.feedback_id or event.change_id or ""
        once_key = f"{event.name}:{event.change_id or event.feedback_id or ''}"
        return [
            Route(hook.name, name, subject, f"{name}:{once_key}" if hook.once else None)
            for name in self._names(event)
            for hook in self.on(name, values_of(event, name))
        ]

    @property
    def awaited(self) -> Sequence[str]:
        """The names of those whose answer the stream of a piece of feedback ends with."""
        return [hook.name for hook in self.all if not hook.in_background]

    def _names(self, event: RunEvent) -> Sequence[str]:
        """Return the names under which hooks ask for an event, as far as any does."""
        names = [event.name]
        if event.name == _FINISHED:
            status = event.data.get("status")
            names += [name for name, statuses in ENDINGS.items() if status in statuses]
        return [name for name in names if name in self._by_event]
