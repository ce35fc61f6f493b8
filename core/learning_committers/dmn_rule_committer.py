"""Decision rules: rows of DMN decision tables, edited one row at a time."""

from __future__ import annotations

from core.learning_committers.base import CommitDeps
from core.models import MergeMode, Operation, Receipt, Relationship, RuleDraft, RuleRequest


async def commit_to_dmn_rule(
    agent_id: str,
    rule: RuleDraft | None = None,
    operation: Operation = Operation.CREATE,
    rule_id: str | None = None,
    merge_mode: MergeMode | None = None,
    relationship: Relationship | None = None,
    reason: str = "",
    *,
    deps: CommitDeps,
) -> Receipt:
    """Submit the creation, edit or deletion of a decision table to the change gate."""
    request = RuleRequest(
        operation=operation,
        target_id=rule_id,
        rule=rule or RuleDraft(),
        merge_mode=merge_mode,
        relationship=relationship,
        reason=reason,
    )
    return await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": agent_id}))
