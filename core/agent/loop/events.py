"""The events a ReAct run writes to the journal.

| name | data |
|---|---|
| `run.started` | `generation`, `resumed`: the thread existed already |
| `model.called` | `generation`, `ordinal` in its thread, `input_tokens`, `output_tokens`, `cost` |
| `tool.called` | `tool`, `key` of the call, `status`: `success` or `error` |
| `run.finished` | `status` of the verdict, and over all calls `model_calls`, tokens, `cost` |
"""

from __future__ import annotations

from pydantic import JsonValue

from core.agent.loop.deps import RunDeps
from core.domain.models import NO_USAGE, RunEvent, Usage, Verdict
from core.domain.models.base import plain


async def run_started(deps: RunDeps, *, resumed: bool) -> None:
    """Record that a run starts, or resumes after an interruption."""
    generation = deps.candidate.generation
    await _emit(deps, "run.started", {"generation": generation, "resumed": resumed})


async def model_called(deps: RunDeps, ordinal: int, usage: Usage) -> None:
    """Record a model call; its cost is charged to the candidate however the run ends."""
    position: dict[str, JsonValue] = {"generation": deps.candidate.generation, "ordinal": ordinal}
    await _emit(deps, "model.called", position | _spent(usage), usage)


async def tool_called(deps: RunDeps, tool: str, key: str, status: str) -> None:
    """Record a tool's answer."""
    await _emit(deps, "tool.called", {"tool": tool, "key": key, "status": status})


async def run_finished(deps: RunDeps, verdict: Verdict) -> None:
    """Record the verdict of a run."""
    usage = verdict.usage
    data: dict[str, JsonValue] = {"status": verdict.status, "model_calls": usage.model_calls}
    await _emit(deps, "run.finished", data | _spent(usage))


def _spent(usage: Usage) -> dict[str, JsonValue]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost": plain(usage.cost),
    }


async def _emit(
    deps: RunDeps, name: str, data: dict[str, JsonValue], spent: Usage = NO_USAGE
) -> None:
    event = RunEvent(
        name=name,
        tenant_id=deps.feedback.tenant_id,
        feedback_id=deps.feedback.id,
        candidate_id=deps.candidate.id,
        data=data,
    )
    await deps.shared.journal.emit(event, spent)
