"""Cases in words, for receipts, reviewers and lists (pure)."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from core.domain.messages import Message, joined
from core.domain.models import Kind, RunEvent
from core.domain.models.cases import Case, CaseBody, CaseResult, Check
from core.domain.text import compact, shorten

_CHARS = 300
MOST_TOLD = 10


def case_words(body: CaseBody) -> Message:
    """Return what a case asks, and what it expects."""
    text, section = shorten(body.text, _CHARS), body.section
    if body.check is Check.DECISION:
        gives = shorten(compact(body.outputs), _CHARS)
        return Message("case.decision", inputs=_inputs(body), outputs=gives)
    if body.check is Check.SCRIPT:
        given, output = shorten(body.input, _CHARS), shorten(body.output, _CHARS)
        return Message("case.script", script=text, input=given, output=output)
    if body.of:
        return Message("case.relies", text=text, skill=body.of)
    if body.check is Check.STANDS and section:
        return Message("case.stands_in", text=text, section=section)
    if body.check is Check.WITHDRAWN and section:
        return Message("case.withdrawn_in", text=text, section=section)
    return _asked(body.check, text)


def _asked(check: Check, text: str) -> Message:
    return {
        Check.RECALL: Message("case.recall", text=text),
        Check.SILENCE: Message("case.silence", text=text),
        Check.UNSAID: Message("case.unsaid", text=text),
        Check.CHOSEN: Message("case.chosen", text=text),
        Check.NOT_CHOSEN: Message("case.not_chosen", text=text),
        Check.STANDS: Message("case.stands", text=text),
        Check.WITHDRAWN: Message("case.withdrawn", text=text),
    }.get(check) or Message("case.behaviour", text=text)


def _inputs(body: CaseBody) -> str:
    return shorten(compact({**body.inputs}), _CHARS)


def broken_words(result: CaseResult) -> Message:
    """Return a case that a change breaks: what it asks of which item, what happens, who made it."""
    case, what = result.case, case_words(result.case.body)
    if case.change_id is not None and case.since is None:
        return Message("case.own_fails", what=what, why=result.why)
    named = {"id": case.id, "kind": case.kind, "name": _name(case)}
    return Message("case.breaks", what=what, why=result.why, by=_taught(case), **named)


def _name(case: Case) -> str:
    return case.item_name if case.kind is not Kind.MEMORY else case.item_id


def _taught(case: Case) -> Message:
    if case.feedback_id is not None:
        return Message("case.by_feedback", id=case.feedback_id)
    if case.by is not None:
        return Message("case.by_person", name=case.by)
    return Message("case.by_nobody")


def told_of(name: str, case: Case, /, **data: JsonValue) -> RunEvent:
    """Return an event about a case."""
    return RunEvent(
        name=name,
        tenant_id=case.tenant_id,
        feedback_id=case.feedback_id,
        change_id=case.change_id,
        data={"kind": case.kind.value, "target_id": case.item_id, **data},
    )


def all_broken(results: Iterable[CaseResult]) -> str:
    """Return the cases that a change breaks, in words."""
    words = [broken_words(result) for result in results]
    if len(words) > MOST_TOLD:
        words = [*words[:MOST_TOLD], Message("case.more", n=len(words) - MOST_TOLD)]
    return joined(words)
