"""A run on record asked again without effect, by this program's model and prompts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.agent.loop.deps import ReactDeps, RunDeps
from core.agent.model.chat_model import usage_of
from core.agent.replay.comparing import Comparison, decisions, likeness, steps
from core.agent.replay.recorded import Answers, Recording
from core.domain.errors import ConfigurationError, InvalidInput, NotFound
from core.domain.messages import Message
from core.domain.models import Candidate, Feedback, VerdictStatus
from core.domain.models.recorded_runs import Fork, RecordedRun
from core.domain.tasks import in_name_of
from core.react_agent import create_feedback_react_agent, repeat_with_react

if TYPE_CHECKING:
    from core.app.program import App


async def replay(app: App, run_id: str, *, model: str, from_step: int = 1) -> Comparison:
    """Repeat a run from a step on, and return how it differs from the record.

    `app` is opened with a model for a dry run. Calls that are on record are answered as they were,
    others by what is known today, less what the run itself has changed. Raises NotFound, also for a
    run whose transcript is gone, InvalidInput for a step it never had, DependencyDown.
    """
    run = await app.stores.run_records.get(run_id)
    with in_name_of(run.tenant_id):
        deps = _react(app)
        recording = await _recording(run, deps)
        start = recording.before(from_step)
        answers = Answers(recording, deps.kinds)
        answers.skip(start)
        piece = await app.stores.inbox.get(run.feedback_id)
        run_deps = await _of_run(app, run, piece)
        own = create_feedback_react_agent(run.agent_id, piece.content, deps=run_deps)
        own = replace(own, context=replace(own.context, tools=answers.wrapped(own.context.tools)))
        messages, verdict = await repeat_with_react(own, start)
        spent = await deps.replies.usage(f"{run.id}:")
    both = steps(recording.messages, messages, deps.kinds)
    sides = [decisions(one, deps.kinds) for one in (recording.messages, messages)]
    return Comparison(
        run=run.id,
        model=model,
        from_step=from_step,
        likeness=likeness(*sides),
        first_difference=next((one.number for one in both if not one.is_same), None),
        steps=both,
        recorded=sides[0],
        repeated=sides[1],
        status_recorded=run.status or "",
        status_repeated=verdict.status,
        reason=verdict.reason if verdict.status is VerdictStatus.FAILED else "",
        asked_anew=answers.asked_anew,
        usage=sum((usage_of(one) for one in messages[len(start) :]), spent),
    )


async def fork(app: App, run_id: str, *, step: int, by: str) -> RecordedRun:
    """Queue the feedback of a run again; its new run goes on from a step of that one.

    What the run came to stands and is told to the new one. Raises NotFound, InvalidInput, and
    Refused while the feedback is at work.
    """
    run = await app.stores.run_records.get(run_id)
    with in_name_of(run.tenant_id):
        said = await app.stores.threads.read(run.id)
        if said is None:
            raise _gone(run)
        _require_step(step, max((one.ordinal for one in said), default=0))
        piece = await app.stores.inbox.get(run.feedback_id)
        named = f"{run.candidate_id}:{piece.generation + 1}"
        made = Fork(run=named, from_run=run.id, step=step, by=by)
        await app.stores.intake.revive(run.feedback_id, fork=made)
    return run.model_copy(
        update={
            "id": named,
            "generation": piece.generation + 1,
            "forked_from": run.id,
            "from_step": step,
            "status": None,
            "tags": (),
        }
    )


def _react(app: App) -> ReactDeps:
    if app.learning is None:
        raise ConfigurationError(Message("worker.no_model"))
    return app.learning.polling.react


async def _recording(run: RecordedRun, deps: ReactDeps) -> Recording:
    messages = await deps.recorded(run.id)
    if messages is None:
        raise _gone(run)
    return Recording(messages)


async def _of_run(app: App, run: RecordedRun, piece: Feedback) -> RunDeps:
    """Return what a repeated run depends on; it has the first epoch, as one without a thread."""
    candidate = Candidate(
        id=run.candidate_id,
        feedback_id=run.feedback_id,
        agent_id=run.agent_id,
        agent_name=run.agent_name,
        position=0,
        content=run.content,
        generation=run.generation,
        epoch=1,
    )
    agent = await app.stores.agents.get(run.tenant_id, run.agent_id)
    return RunDeps(shared=_react(app), candidate=candidate, feedback=piece, agent=agent)


def _require_step(step: int, steps: int) -> None:
    if not 1 <= step <= steps:
        raise InvalidInput(
            Message("replay.no_step", step=step), hint=Message("replay.steps", n=steps)
        )


def _gone(run: RecordedRun) -> NotFound:
    return NotFound(Message("run.pruned", id=run.id), hint=Message("run.hint_pruned"))
