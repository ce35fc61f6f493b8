"""How a run, and the difference between two, are printed."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from core.domain.models.base import Model
from core.domain.models.cases import CaseCounts
from core.domain.models.recorded_runs import RecordedRun
from core.domain.models.views import Said
from core.entrypoints.cli.output import print_block, print_fields, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.agent.replay.comparing import Asked, Comparison, Decision
    from core.app.program import App

ARGUMENT_CHARS = 300
_LIKE = {
    "same": "It decides the same.",
    "reworded": "It decides the same, in other words.",
    "otherwise": "It decides otherwise.",
}


class LessonOfRun(Model):
    """A lesson of the worker that a run was shown; `name` is None if it is known no more."""

    item_id: str
    version: int
    name: str | None = None
    cases: CaseCounts = CaseCounts()


class ShownRun(Model):
    """A run with its transcript; `is_stored`: whether that is still on record."""

    run: RecordedRun
    is_stored: bool
    said: tuple[Said, ...] = ()
    lessons: tuple[LessonOfRun, ...] = ()


async def lessons_of(opened: App, run: RecordedRun) -> tuple[LessonOfRun, ...]:
    """Return the lessons that the run's candidate was shown, with what is known of them now."""
    from core.domain.errors import NotFound
    from core.domain.models import Kind

    shown = await opened.stores.lesson_log.shown([run.candidate_id], [run.feedback_id])
    keys = [(one.tenant_id, Kind.MEMORY, one.item_id) for one in shown]
    counts = await opened.stores.cases.counts(keys)
    names = dict[str, str]()
    for tenant_id, kind, item_id in keys:
        with suppress(NotFound):  # it was taken back
            names[item_id] = (await opened.stores.knowledge.get(kind, tenant_id, item_id)).name
    return tuple(
        LessonOfRun(
            item_id=one.item_id,
            version=one.version,
            name=names.get(one.item_id),
            cases=counts.get(key, CaseCounts()),
        )
        for one, key in zip(shown, keys, strict=True)
    )


def show_run(shown: ShownRun) -> None:
    """Print a run step by step."""
    run = shown.run
    print_fields(
        {
            "id": run.id,
            "feedback": run.feedback_id,
            "tenant": run.tenant_id,
            "agent": run.agent_id,
            "status": run.status or "not ended",
            "reason": run.reason,
            "tags": ", ".join(run.tags),
            "forked from": f"{run.forked_from}, step {run.from_step}" if run.forked_from else "",
        }
    )
    for one in shown.lessons:
        state = one.cases.badge if one.name is not None else "taken back"
        say(f"shown lesson {one.item_id} v{one.version} ({state}): {one.name or ''}".rstrip(": "))
    if not shown.is_stored:
        say("\nIts transcript is no longer stored (RETENTION_DAYS).")
    for said in shown.said:
        title = said.tool or said.speaker
        print_block(f"{said.ordinal} {title}", _words(said))


def _words(said: Said) -> str:
    calls = [f"{call.tool} {call.arguments}" for call in said.calls]
    return "\n".join(filter(None, [said.text, *calls]))


def show_comparison(found: Comparison) -> None:
    """Print how a repeated run decided, beside the record."""
    usage = found.usage
    print_fields(
        {
            "run": found.run,
            "model": found.model,
            "asked from": f"step {found.from_step}",
            "first difference": f"step {found.first_difference}" if found.first_difference else "",
            "ended": f"{found.status_recorded or 'unknown'}, now {found.status_repeated}",
            "reason": found.reason,
            "answered by today's knowledge": found.asked_anew or "",
            "calls": f"{usage.model_calls} ({usage.input_tokens} + {usage.output_tokens} tokens)",
            "cost": f"{usage.cost:.4f}" if usage.cost else "",
        }
    )
    for step in found.steps:
        if not step.is_same:
            print_block(f"step {step.number}, on record", _calls(step.recorded))
            print_block(f"step {step.number}, now", _calls(step.repeated))
    if found.likeness != "same":
        print_block("decided, on record", _decided(found.recorded))
        print_block("decided, now", _decided(found.repeated))
    say("")
    say(_LIKE[found.likeness])


def _calls(asked: Sequence[Asked]) -> str:
    from core.domain.text import compact, shorten

    lines = [f"{one.tool} {shorten(compact({**one.arguments}), ARGUMENT_CHARS)}" for one in asked]
    return "\n".join(lines) or "(nothing asked for)"


def _decided(decisions: Sequence[Decision]) -> str:
    from core.domain.text import compact, shorten

    return (
        "\n".join(
            " ".join(
                filter(
                    None,
                    [
                        one.tool,
                        one.operation,
                        one.target,
                        one.category,
                        shorten(compact({**one.arguments}), ARGUMENT_CHARS),
                    ],
                )
            )
            for one in decisions
        )
        or "(nothing)"
    )
