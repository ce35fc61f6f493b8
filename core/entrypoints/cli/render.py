"""Single things, printed in full: feedback, an item, a change, a history record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from core.agent.budgets import says_used_up
from core.domain.messages import Message
from core.domain.models import (
    Candidate,
    Change,
    Feedback,
    FeedbackStatus,
    Finding,
    HistoryRecord,
    Kind,
    KnowledgeItem,
    Reach,
    RunEvent,
    SkillFile,
    TenantBudget,
    Verdict,
)
from core.domain.models.base import Model, shown
from core.domain.text import one_line
from core.entrypoints.cli.grid import table_text
from core.entrypoints.cli.output import (
    print_block,
    print_fields,
    print_table,
    reach_in_words,
    say,
)


class FeedbackFile(Model):
    """One piece of feedback and everything recorded about it."""

    feedback: Feedback
    currency: str
    budget: tuple[TenantBudget, ...]
    candidates: tuple[Candidate, ...]
    history: tuple[HistoryRecord, ...]
    run_events: tuple[RunEvent, ...]

    def details(self) -> dict[str, JsonValue]:
        """Return the record as JSON, without the feedback itself, which has `events` of its own."""
        dumped: dict[str, JsonValue] = self.model_dump(
            mode="json", exclude={"feedback", "currency", "budget"}
        )
        return dumped


def show_feedback(found: FeedbackFile) -> None:
    """Print one piece of feedback, how each candidate ended, and what happened."""
    feedback = found.feedback
    print_fields(
        {
            "id": feedback.id,
            "status": feedback.status,
            "error": feedback.error,
            "waits because": _why_it_waits(found),
            "source": f"{feedback.source} / {feedback.source_id}",
            "tenant": feedback.tenant_id,
            "agents": ", ".join(feedback.agent_ids),
            "task": feedback.task,
            "author": feedback.author,
            **_said(feedback),
            "attempts": feedback.attempts,
            "next attempt": feedback.retry_at,
            "model calls": feedback.usage.model_calls,
            "tokens": f"{feedback.usage.input_tokens} in, {feedback.usage.output_tokens} out",
            "cost": shown(feedback.usage.cost, found.currency) if feedback.usage.cost else "",
            "came in": feedback.created_at,
            "ended": feedback.finished_at,
        }
    )
    print_block("content", feedback.content)
    show_findings("masked before it was stored", feedback.masked)
    if feedback.output is not None:
        print_block("about this output", _output(feedback.output))
    _rows(
        ("AGENT", "VERDICT", "WHY", "DONE"),
        [
            (c.agent_name, c.verdict.status, c.verdict.reason, _done(c.verdict))
            for c in found.candidates
            if c.verdict
        ],
    )
    _rows(
        ("CHANGE", "WARNING"),
        [
            (receipt.change_id or receipt.target_name, warning)
            for candidate in found.candidates
            if candidate.verdict
            for receipt in candidate.verdict.receipts
            for warning in receipt.warnings
        ],
    )
    _rows(
        ("CHANGE", "STATUS", "OPERATION", "KIND", "NAME"),
        [
            (r.change_id, r.status, r.operation, r.knowledge_type, r.knowledge_name)
            for r in found.history
        ],
    )
    _rows(("AT", "EVENT", "DATA"), [(e.at, e.name, _in_words(e.data)) for e in found.run_events])


def _said(feedback: Feedback) -> dict[str, object]:
    """Return when it was said and what it belongs to; a time that was not taken says why."""
    claimed = feedback.claimed_said_at
    note = claimed and Message("said.ahead", claimed=claimed.isoformat())
    return {
        "said": feedback.said_at,
        "note": note,
        "in reply to": feedback.in_reply_to,
        "thread": feedback.thread,
    }


def _output(output: JsonValue) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, indent=2)


def _why_it_waits(found: FeedbackFile) -> str:
    if found.feedback.status is not FeedbackStatus.QUEUED:
        return ""
    return "; ".join(says_used_up(b, found.currency) for b in found.budget if b.is_used_up)


def show_item(
    item: KnowledgeItem, files: Mapping[str, SkillFile], facts: Mapping[str, object]
) -> None:
    """Print one item: a decision table as a grid, a skill with the list of its files.

    `facts` say how it came about, by label.
    """
    print_fields(
        {
            "id": item.id,
            "kind": item.kind,
            "name": item.name,
            "tenant": item.tenant_id,
            "agent": item.agent_id,
            **facts,
        }
    )
    print_block("content", _readable(item.kind, item.content))
    _rows(("FILE", "BYTES"), [(path, len(file.data)) for path, file in sorted(files.items())])


def show_change(change: Change, diff: str, cost: Mapping[str, str]) -> None:
    """Print one change, its cost, and its diff if there is one."""
    print_fields(
        {
            "id": change.id,
            "status": change.status,
            "what": f"{change.operation} {change.kind} {change.target_name}",
            "target": change.target_id,
            "tenant": change.tenant_id,
            "agent": change.agent_id,
            "reason": change.reason,
            "relationship": change.relationship,
            "merge mode": change.merge_mode,
            "holds": _holds(
                change.before.reach if change.before else None,
                change.after.reach if change.after else None,
            ),
            "feedback": change.feedback_id,
            "reverts": change.reverts,
            "error": change.error,
            "waits because": ", ".join(change.held),
            "contradicts": _contradicted(change),
            "content hash": change.content_hash if change.held else "",
            "edited by": change.edited_by,
            "decided by": change.decided_by,
            "decision": change.decision,
            "said": change.said_at,
            "asked": change.created_at,
            "decided": change.decided_at,
            "applied": change.applied_at,
            **cost,
        }
    )
    if change.warnings:
        print_block("warnings", "\n".join(map(one_line, change.warnings)))
    show_findings("found by the screen", change.findings)
    if change.feedback_content:
        print_block("feedback", change.feedback_content)
    if change.contradicts is not None and change.before is not None and change.after is not None:
        print_block("there is", _readable(change.kind, change.before.content))
        print_block("instead", _readable(change.kind, change.after.content))
    if diff:
        print_block("diff", diff)


def show_findings(title: str, findings: Sequence[Finding]) -> None:
    """Print what was found, where, and by which digest it is allowed."""
    if findings:
        say(f"\n── {title}")
    _rows(
        ("SEVERITY", "CODE", "WHERE", "FOUND", "TEXT", "DIGEST"),
        [
            (
                "allowed" if one.is_allowed else one.severity,
                one.code,
                f"{one.place} {one.start}-{one.end}".strip(),
                *(one.text, one.quote, one.digest),
            )
            for one in findings
        ],
    )


def _contradicted(change: Change) -> str:
    """Return what a change would override, and how to decide; "" if nothing."""
    if change.contradicts is None or not change.held:
        return ""
    by = f"change {change.contradicts}" if change.contradicts else "what is there"
    return f"{by}: approve takes this one, reject keeps the other, keep-both keeps both"


def show_record(record: HistoryRecord) -> None:
    """Print one history record with the content before and after."""
    print_fields(
        {
            "id": record.id,
            "status": record.status,
            "what": f"{record.operation} {record.knowledge_type} {record.knowledge_name}",
            "target": record.knowledge_id,
            "tenant": record.tenant_id,
            "agent": record.agent_id or "none: the skill was changed outside, past the gate",
            "change": f"{record.change_id}, attempt {record.attempt}",
            "holds": _holds(record.previous_reach, record.new_reach),
            "feedback": record.feedback_id,
            "error": record.error,
            "said": record.said_at,
            "at": record.created_at,
        }
    )
    if record.feedback_content:
        print_block("feedback", record.feedback_content)
    for title, content in (("before", record.previous_content), ("after", record.new_content)):
        if content is not None:
            print_block(title, _readable(record.knowledge_type, content))


def _holds(before: Reach | None, after: Reach | None) -> str:
    """Return how long and for whom a memory holds after a change, and before where it differs."""
    was, now = [reach_in_words(reach) if reach else "" for reach in (before, after)]
    return now if was == now or not was else f"{now or 'for its agent'}, before: {was}"


def _readable(kind: Kind, content: str) -> str:
    return table_text(content) if kind is Kind.DMN_RULE else content


def _rows(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    if rows:
        say("")
        print_table(columns, rows)


def _done(verdict: Verdict) -> str:
    return "; ".join(f"{receipt.status}: {receipt.message}" for receipt in verdict.receipts)


def _in_words(data: Mapping[str, JsonValue]) -> str:
    """Return `attempt=1, reason=…`; empty values are omitted."""
    return ", ".join(f"{key}={value}" for key, value in data.items() if value not in (None, ""))
