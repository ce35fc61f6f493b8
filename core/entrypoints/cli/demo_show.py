"""The output of the demo: a table of outcomes, a new skill, an edited one, a decision table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from core.domain.models import Kind, Operation, Receipt, ReceiptStatus
from core.domain.models.base import Model
from core.entrypoints.cli.diff import change_diff
from core.entrypoints.cli.grid import table_text
from core.entrypoints.cli.output import print_block, print_table, say
from core.entrypoints.demo.scenario import Scenario
from core.entrypoints.demo.story import PieceOutcome, Story

if TYPE_CHECKING:
    from core.app.program import App


class Exhibits(Model):
    """The story and three of its results; a text is empty if there is none."""

    story: Story
    new_skill: str = ""
    skill_diff: str = ""
    rule: str = ""


async def collect_exhibits(app: App, scenario: Scenario, story: Story) -> Exhibits:
    """Read what the demo shows while the program is still open."""
    created = story.receipt(Kind.SKILL, Operation.CREATE)
    updated = story.receipt(Kind.SKILL, Operation.UPDATE)
    rule = story.receipt(Kind.DMN_RULE, Operation.UPDATE)
    return Exhibits(
        story=story,
        new_skill=await _content(app, Kind.SKILL, scenario.tenant, created),
        skill_diff=await _diff(app, updated),
        rule=table_text(await _content(app, Kind.DMN_RULE, scenario.tenant, rule)) if rule else "",
    )


def summary(story: Story) -> dict[str, JsonValue]:
    """Return the figures and each item, as `--json` prints them."""
    usage = story.usage
    return {
        "counts": {kind: dict(counts) for kind, counts in story.count_changes().items()},
        "outcomes": dict(story.count_outcomes()),
        "no_action": dict(story.count_no_action()),
        "model_calls": usage.model_calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "skill_creator": _pods(story),
        "items": [_item(piece) for piece in story.pieces],
    }


def show_demo(exhibits: Exhibits, *, retained: Path | None) -> None:
    """Print the demo's outcome."""
    story = exhibits.story
    print_table(
        ("#", "WHAT THE USER SAID", "WHAT IT BECAME", "WHY"),
        [
            (piece.feedback.source_id, piece.feedback.content, became(piece), why(piece))
            for piece in story.pieces
        ],
    )
    for title, text in (
        ("a new skill: SKILL.md", exhibits.new_skill),
        ("an edited skill: what changed", exhibits.skill_diff),
        ("a decision table after its edit", exhibits.rule),
    ):
        if text:
            print_block(title, text)
    usage = story.usage
    say(
        f"\n{len(story.pieces)} pieces of feedback, {usage.model_calls} model calls,"
        f" {usage.input_tokens + usage.output_tokens} tokens"
        " (an offline stand-in for a model decided by rules of thumb)"
    )
    if story.sandbox:
        say(f"{story.skills_built} skills were built in a pod ({story.sandbox.detail})")
    print_block("where to look next", _next_steps(retained))


def became(piece: PieceOutcome) -> str:
    """Return what a piece of feedback became, in a few words."""
    words = [_in_words(receipt) for receipt in piece.receipts]
    return ", ".join(words) or str(piece.feedback.status)


def why(piece: PieceOutcome) -> str:
    """Return the reasons of the verdicts, or the error."""
    reasons = [c.verdict.reason for c in piece.candidates if c.verdict and c.verdict.reason]
    return piece.feedback.error or " / ".join(dict.fromkeys(reasons))


def _in_words(receipt: Receipt) -> str:
    if receipt.status is ReceiptStatus.NO_ACTION:
        return f"nothing ({receipt.category})"
    if receipt.status is ReceiptStatus.ATTACHED:
        return f"skill attached to {receipt.target_name or receipt.target_id}"
    if receipt.status is ReceiptStatus.APPLIED:
        return f"{receipt.kind} {receipt.operation} {receipt.target_name or ''}".strip()
    return str(receipt.status)


def _pods(story: Story) -> JsonValue:
    """Return the pods that skills were built in; None if there were none."""
    if story.sandbox is None:
        return None
    return {"skills_built": story.skills_built, "sandbox": story.sandbox.model_dump(mode="json")}


def _item(piece: PieceOutcome) -> JsonValue:
    return {
        "id": piece.feedback.id,
        "number": piece.feedback.source_id,
        "agents": list(piece.feedback.agent_ids),
        "content": piece.feedback.content,
        "status": str(piece.feedback.status),
        "became": [
            {
                "status": str(receipt.status),
                "kind": receipt.kind and str(receipt.kind),
                "operation": receipt.operation and str(receipt.operation),
                "target": receipt.target_name or receipt.target_id,
                "category": receipt.category,
            }
            for receipt in piece.receipts
        ],
        "why": why(piece),
        "model_calls": piece.feedback.usage.model_calls,
    }


async def _content(app: App, kind: Kind, tenant_id: str, receipt: Receipt | None) -> str:
    if receipt is None or receipt.target_id is None:
        return ""
    return (await app.stores.knowledge.get(kind, tenant_id, receipt.target_id)).content


async def _diff(app: App, receipt: Receipt | None) -> str:
    if receipt is None or receipt.change_id is None:
        return ""
    return await change_diff(await app.stores.changes.get(receipt.change_id), app.stores.changes)


def _next_steps(retained: Path | None) -> str:
    if retained is None:
        return (
            "The demo's home is gone again; `skill-worker demo --keep DIR` keeps it.\n"
            "Your own feedback: docs/how-to/own-feedback.md\n"
            "Your own model:    docs/how-to/own-model.md"
        )
    home = f"SKILL_WORKER_HOME={retained} skill-worker"
    return (
        f"{home} knowledge list\n"
        f"{home} history list\n"
        f"{home} changes list     (then: changes show ID --diff)\n"
        f"{home} feedback list"
    )
