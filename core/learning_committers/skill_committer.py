"""Skills: procedures written by the author and kept by the skill API."""

from __future__ import annotations

from core.learning_committers.base import CommitDeps
from core.models import (
    AttachRequest,
    MergeMode,
    Operation,
    Receipt,
    Relationship,
    SkillArtifact,
    SkillRequest,
)


def split_names(names: str) -> tuple[str, ...]:
    """Split a comma-separated list of names; blanks and repetitions are dropped."""
    return tuple(dict.fromkeys(part.strip() for part in names.split(",") if part.strip()))


async def commit_to_skill(
    agent_id: str,
    skill_artifact: SkillArtifact | None = None,
    operation: Operation = Operation.CREATE,
    skill_id: str | None = None,
    feedback_content: str = "",
    merge_mode: MergeMode | None = None,
    relationship_analysis: str = "",
    related_skill_ids: str = "",
    relationship: Relationship | None = None,
    reason: str = "",
    *,
    deps: CommitDeps,
) -> Receipt:
    """Submit the creation, edit or deletion of a skill to the change gate.

    Without `skill_artifact` the author writes it from the feedback. `related_skill_ids` is a
    comma-separated list of skill names that the author is shown.
    """
    request = SkillRequest(
        operation=operation,
        target_id=skill_id,
        artifact=skill_artifact,
        relationship_analysis=relationship_analysis,
        related_skill_ids=split_names(related_skill_ids),
        merge_mode=merge_mode,
        relationship=relationship,
        reason=reason,
    )
    update: dict[str, str] = {"agent_id": agent_id}
    if feedback_content:
        update["feedback_content"] = feedback_content
    return await deps.gate.submit(request, deps.context.model_copy(update=update))


async def attach_skills_to_agent(
    agent_id: str, skill_ids: str, reason: str = "", *, deps: CommitDeps
) -> Receipt:
    """Submit that existing skills (comma-separated names) go on the agent's list."""
    request = AttachRequest(target_id=agent_id, skill_ids=split_names(skill_ids), reason=reason)
    return await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": agent_id}))
