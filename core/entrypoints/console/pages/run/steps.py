"""The timeline drawn: each step, and what was said there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from markupsafe import Markup
from pydantic import JsonValue

from core.changes.policy.review_policy import shipped
from core.domain.models import Hit
from core.domain.models.views import Said, ToolUse
from core.entrypoints.console.language import words
from core.entrypoints.console.parts.lists import badge
from core.entrypoints.console.parts.markup import Part, address, el, join
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.run import RunLine, RunStep

REVIEW = "/console/review"
_BAD = {"feedback.retried", "change.failed", "change.refused", "change.rejected"}
_GOOD = {"change.applied", "feedback.finished", "run.finished"}
_FAILED = {"error", "invalid", "failed", "dead"}  # of a tool, a run or a piece


def notes(visit: Visit, line: RunLine) -> Markup:
    """Draw the remarks that come before the steps."""
    parts: list[Part] = []
    if line.pruned:
        parts.append(el("p", visit.say("run.pruned"), class_="muted"))
    elif not line.steps:
        parts.append(el("p", visit.say("run.nothing_yet"), class_="muted"))
    if line.more:
        parts.append(el("p", visit.say("run.more", n=line.more), class_="muted small"))
    return join(parts)


def steps_of(visit: Visit, line: RunLine) -> list[Markup]:
    """Draw each step, oldest first."""
    names = {known.candidate.id: known.candidate.agent_name for known in line.candidates}
    tenant = line.feedback.tenant_id
    return [_step(visit, _with_names(visit, step, tenant), names) for step in line.steps]


def _with_names(visit: Visit, step: RunStep, tenant_id: str) -> RunStep:
    """Return a step that names agents, not their ids."""
    agents = step.data.get("agents")
    if not isinstance(agents, str):
        return step
    named = ", ".join(visit.agent(tenant_id, one) for one in agents.split(", "))
    return step.model_copy(update={"data": {**step.data, "agents": named}})


def _step(visit: Visit, step: RunStep, names: Mapping[str, str]) -> Markup:
    is_bad = step.name in _BAD or step.data.get("status") in _FAILED
    tone = "failed" if is_bad else "completed" if step.name in _GOOD else "processing"
    at = step.at.isoformat(timespec="milliseconds") if step.at else None
    exact = visit.local(step.at) if step.at else None
    passed = f"{step.after_seconds:+.2f} s" if step.after_seconds is not None else ""
    parts = (
        el(
            "div",
            badge(_name(visit, step.name), tone),
            el("span", names.get(step.candidate_id or "", ""), class_="small"),
            el("time", passed, datetime=at, title=exact, class_="muted small") if at else None,
            class_="row",
        ),
        _facts(visit, step.data),
        _change_link(step),
        join(_said(visit, said) for said in step.said),
    )
    return join(parts)


def _name(visit: Visit, name: str) -> str:
    """Return the words for an event; one without words goes by its own name."""
    key = name.replace(".", "_")
    return visit.say(f"run.{key}") if key in words("run") else name


def _facts(visit: Visit, data: Mapping[str, JsonValue]) -> Markup | None:
    """Draw what is known of a step in the visitor's words; what has none is for programs."""
    known = words("run")
    shown = [
        f"{visit.say(f'run.data_{name}')}: {_value(visit, value)}"
        for name, value in data.items()
        if f"data_{name}" in known and value not in (None, "", [])
    ]
    return el("div", " · ".join(shown), class_="muted small facts") if shown else None


def _value(visit: Visit, value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(_value(visit, one) for one in value)
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value in words("common"):
        return visit.say(f"common.{value}")
    return visit.translated(shipped(value))


def _change_link(step: RunStep) -> Markup | None:
    if step.change_id is None:
        return None
    name = str(step.data.get("target_name") or step.change_id)
    return el("div", el("a", name, href=address(REVIEW, id=step.change_id)))


def _said(visit: Visit, said: Said) -> Markup:
    parts: list[Part] = []
    if said.text:
        rest = f" … ({visit.say('run.cut')})" if said.cut else None
        parts.append(el("div", said.text, rest, class_="said text"))
    parts += [_call(visit, call) for call in said.calls]
    if said.hits:
        hits = el("ul", *(_hit(hit) for hit in said.hits))
        parts.append(el("div", el("strong", visit.say("run.hits"), class_="small"), hits))
    title = said.tool or None
    tone = "bad" if said.failed else ""
    head = el("code", title) if title else None
    return el("details", el("summary", head or _first(said)), *parts, class_=tone or None)


def _first(said: Said) -> str:
    """Return the beginning of what was said, for the line that expands it."""
    named = ", ".join(call.tool for call in said.calls)
    text = " ".join(said.text.split())[:80]
    return " → ".join(filter(None, (text, named))) or said.speaker.value


def _call(visit: Visit, call: ToolUse) -> Markup:
    rest = f" … ({visit.say('run.cut')})" if call.cut else None
    return el("div", el("code", call.tool), el("div", call.arguments, rest, class_="code"))


def _hit(hit: Hit) -> Markup:
    return el("li", hit.name, el("span", f" {hit.score:.0%}", class_="muted small"))


def lines_of(line: RunLine) -> Iterator[str]:
    """Yield what distinguishes one state of the timeline from another."""
    yield line.feedback.status.value
    yield str(len(line.steps) + line.more)
    yield from (f"{change.id}{change.status}" for change in line.changes)
