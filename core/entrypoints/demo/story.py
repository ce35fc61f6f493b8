"""The demo's course: store the scenario, run the worker, collect what each piece became."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from core.domain.errors import SkillWorkerError
from core.domain.messages import Message
from core.domain.models import (
    Candidate,
    Feedback,
    Kind,
    Operation,
    Receipt,
    ReceiptStatus,
    SubmitContext,
    Usage,
)
from core.domain.models.base import Model
from core.entrypoints.demo.scenario import Scenario

if TYPE_CHECKING:
    from core.app.program import App

SOURCE = "demo"
# One at a time: later pieces build on what earlier ones have taught.
CONCURRENCY = 1


class PieceOutcome(Model):
    """One piece of feedback and its outcome, agent by agent."""

    feedback: Feedback
    candidates: tuple[Candidate, ...]

    @property
    def receipts(self) -> Iterator[Receipt]:
        """Yield what was done, or deliberately not done."""
        for candidate in self.candidates:
            if candidate.verdict:
                yield from (r for r in candidate.verdict.receipts if r.status.is_outcome)


class Sandbox(Model):
    """What isolated the pods that the demo's skills were built in, and whether it is effective."""

    name: str
    is_boundary: bool
    detail: str


class Story(Model):
    """The outcome of the demo; `sandbox` is set if skills were built in pods."""

    pieces: tuple[PieceOutcome, ...]
    sandbox: Sandbox | None = None

    def receipt(self, kind: Kind, operation: Operation) -> Receipt | None:
        """Return the first applied change of this kind and operation."""
        for piece in self.pieces:
            for receipt in piece.receipts:
                if (receipt.kind, receipt.operation) == (kind, operation) and receipt.change_id:
                    return receipt
        return None

    @property
    def skills_built(self) -> int:
        """Return the number of skills that came out of a pod: with pods there is no other way."""
        changed = self.count_changes().get(Kind.SKILL, {})
        return changed.get(Operation.CREATE, 0) + changed.get(Operation.UPDATE, 0)

    @property
    def usage(self) -> Usage:
        """Return the model calls and tokens of all pieces."""
        return sum((piece.feedback.usage for piece in self.pieces), Usage())

    def count_changes(self) -> Mapping[str, Mapping[str, int]]:
        """Return the number of applied changes by kind and operation, attached skills apart."""
        counts: dict[str, Counter[str]] = {}
        for piece in self.pieces:
            for receipt in piece.receipts:
                if receipt.status is ReceiptStatus.APPLIED:
                    counts.setdefault(str(receipt.kind), Counter())[str(receipt.operation)] += 1
                elif receipt.status is ReceiptStatus.ATTACHED:
                    counts.setdefault(Kind.AGENT_SKILLS, Counter())["ATTACH"] += 1
        return counts

    def count_outcomes(self) -> Mapping[str, int]:
        """Return the number of pieces by how they ended."""
        return Counter(str(piece.feedback.status) for piece in self.pieces)

    def count_no_action(self) -> Mapping[str, int]:
        """Return the number of pieces that taught nothing, by category."""
        return Counter(
            receipt.category
            for piece in self.pieces
            for receipt in piece.receipts
            if receipt.status is ReceiptStatus.NO_ACTION and receipt.category
        )


async def run_story(
    app: App,
    scenario: Scenario,
    on_progress: Callable[[Mapping[str, int]], None],
    stop: asyncio.Event,
) -> Story:
    """Store the scenario, process it, and return what became of it."""
    for agent in scenario.make_agents():
        await app.stores.agents.save(agent)
    await _learn_before(app, scenario)
    stored = await app.stores.inbox.add(SOURCE, scenario.make_feedback())
    await app.run(True, CONCURRENCY, stop, on_progress)
    return await _collect(app, [feedback_id for feedback_id, _ in stored])


async def _learn_before(app: App, scenario: Scenario) -> None:
    """Store what is known before, through the gate, so that it has a history like the rest."""
    for number, item in enumerate(scenario.known, 1):
        context = SubmitContext(
            key=f"{SOURCE}:known:{number}", tenant_id=scenario.tenant, agent_id=item.agent
        )
        receipt = await app.gate.submit(item.request, context)
        if not receipt.status.is_outcome:
            raise SkillWorkerError(Message("demo.failed", why=receipt.message))


async def _collect(app: App, feedback_ids: Sequence[str]) -> Story:
    return Story(
        pieces=tuple(
            [
                PieceOutcome(
                    feedback=await app.stores.inbox.get(feedback_id),
                    candidates=tuple(await app.stores.runs.candidates(feedback_id)),
                )
                for feedback_id in feedback_ids
            ]
        )
    )
