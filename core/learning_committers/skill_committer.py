"""Skills: procedures written by the author and stored by the skill API."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.errors import (
    AlreadyExists,
    DependencyDown,
    LeaseLost,
    NotFound,
    PrepareFailed,
    Refused,
    SkillWorkerError,
    Stale,
)
from core.domain.messages import Message
from core.domain.models import (
    Bundle,
    Change,
    ChangeRequest,
    Kind,
    MergeMode,
    Operation,
    Prepared,
    Receipt,
    Relationship,
    SkillArtifact,
    SkillRequest,
    Snapshot,
    SubmitContext,
)
from core.domain.ports import Agents, ChangeLog, SkillAuthor, SkillStore, UnitOfWork
from core.learning_committers.base import CommitDeps, split_names
from core.learning_committers.neighbours import Neighbours, says_unrelated, warnings_beside
from core.learning_committers.skill_descriptions import DescriptionsBudget
from core.learning_committers.skill_folders import (
    SkillLimits,
    prepared_change,
    refuse_bad_name,
    replaced_warnings,
    state_of,
)
from core.learning_committers.skill_steps import Check, SkillSteps
from core.learning_committers.skill_ties import SkillTies
from core.learning_committers.skill_writing import SkillWriter
from core.skill_creator_committer import SkillCreatorDeps, commit_to_skill_via_skill_creator


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


class SkillCommitter:
    """Prepare skills with the author and apply them over the skill API.

    With `creator` a skill, written or given, is built in a pod before it becomes a change.
    """

    def __init__(
        self,
        skills: SkillStore,
        author: SkillAuthor,
        changes: ChangeLog,
        agents: Agents,
        *,
        check: Check,
        limits: SkillLimits,
        neighbours: Neighbours,
        creator: SkillCreatorDeps | None = None,
    ) -> None:
        self._neighbours = neighbours
        self._skills = skills
        self._changes = changes
        self._check = check
        self._limits = limits
        self._creator = creator
        self._writer = SkillWriter(author, skills, limits)
        self._ties = SkillTies(skills)
        self._budget = DescriptionsBudget(agents, skills, limits.descriptions_chars)

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        assert isinstance(request, SkillRequest)
        base = await self._base(request, context)
        if request.operation is Operation.DELETE:
            return await self._deletion(request, context, base)
        bundle = await self._writer.written(request, context, base)
        beside: Sequence[str] = ()
        seen = None
        if base is None:
            # Refusals come before a pod is opened in vain.
            await self._refuse_taken(bundle.name, context.tenant_id)
            found = await self._neighbours.of_skill(bundle, context)
            if found.exact is not None and not says_unrelated(request):
                return await self._known(found.exact.known.id, context.tenant_id)
            beside = warnings_beside(request, Kind.SKILL, found.near, context)
            seen = None if request.is_import else found.seen
        if self._creator is not None:
            bundle = await self._built(bundle, request.operation, base, self._creator)
        warnings = await self._warnings(request, context, base, bundle)
        prepared = prepared_change(request.operation, base, bundle, [*beside, *warnings])
        return prepared.model_copy(update={"seen": seen})

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        bundle = await self._skills.read(target_id, tenant_id)
        return state_of(bundle) if bundle else None

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Sequence[str]:
        """Return whose references it breaks; a name is a skill's identity, so nothing conflicts.

        A person who reverts a change wants it gone, so references from other skills only warn.
        """
        before, after = (
            frozenset(state.files or ()) if state else frozenset[str]()
            for state in (prepared.before, prepared.after)
        )
        return await self._ties.broken_references(
            prepared.target_id, context.tenant_id, before - after
        )

    async def apply(self, change: Change) -> None:
        """Write the skill over the skill API, resuming where an earlier attempt stopped.

        A permanent failure part-way is rolled back, so that readers see no half-written skill.
        """
        steps = SkillSteps(change, self._skills, self._changes, self._check)
        try:
            await steps.take()
        except (DependencyDown, LeaseLost):
            raise
        except SkillWorkerError:
            await steps.roll_back()
            raise

    async def record(self, change: Change, unit: UnitOfWork) -> None:
        """Update the agent's and the tenant's lists of skills."""
        await unit.update_agent_and_tenant_skills(change)

    async def _base(self, request: SkillRequest, context: SubmitContext) -> Bundle | None:
        """Return the skill an UPDATE or DELETE starts from; refuse a CREATE under a taken name."""
        if request.operation is Operation.CREATE:
            if request.target_id:
                refuse_bad_name(request.target_id)
                await self._refuse_taken(request.target_id, context.tenant_id)
            return None
        if not request.target_id:
            raise Refused(
                Message(
                    "skill.id_missing",
                    "{operation} of a skill needs skill_id",
                    operation=request.operation,
                ),
                hint=Message(
                    "see.skill_names", "search_similar_knowledge gives the names of skills"
                ),
            )
        base = await self._skills.read(request.target_id, context.tenant_id)
        if base is None:
            raise NotFound(
                Message("no.skill", "there is no skill named {name!r}", name=request.target_id),
                hint=Message(
                    "see.skill_names", "search_similar_knowledge gives the names of skills"
                ),
            )
        return base

    async def _deletion(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None
    ) -> Prepared:
        """Prepare a deletion; refused until the request names the skills whose references break."""
        assert base is not None
        named = request.related_skill_ids
        warnings = await self._ties.require_deletable(base.name, context.tenant_id, named)
        return prepared_change(request.operation, base, None, warnings)

    async def _warnings(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None, bundle: Bundle
    ) -> list[str]:
        """Return the warnings of a change."""
        agent_id, tenant_id = context.agent_id, context.tenant_id
        return [
            *replaced_warnings(request, base, bundle, self._limits.shrink_percent),
            *await self._ties.warnings(base, bundle, tenant_id),
            *await self._budget.warnings(agent_id, tenant_id, changed=bundle, base=base),
        ]

    async def _known(self, name: str, tenant_id: str) -> Prepared:
        """Prepare a change without effect: a skill of another name is identical."""
        same = await self._skills.read(name, tenant_id)
        if same is None:
            raise Stale(Message("skill.gone", "skill {name!r} is gone meanwhile", name=name))
        return prepared_change(Operation.UPDATE, same, same)

    async def _refuse_taken(self, name: str, tenant_id: str) -> None:
        taken = await self._skills.read(name, tenant_id)
        if taken is not None:
            raise AlreadyExists(
                Message("skill.exists", "a skill named {name!r} exists", name=name),
                item_id=name,
                name=name,
                content=taken.document,
                hint=Message(
                    "skill.update_it",
                    "call again with operation UPDATE and skill_id {name}",
                    name=name,
                ),
            )

    async def _built(
        self, bundle: Bundle, operation: Operation, base: Bundle | None, creator: SkillCreatorDeps
    ) -> Bundle:
        """Return the folder as a pod packages it. Raises PrepareFailed: there is no fallback."""
        try:
            return await commit_to_skill_via_skill_creator(
                bundle.name, bundle, operation, base, deps=creator
            )
        except SkillWorkerError as error:
            raise PrepareFailed(prepared_change(operation, base, bundle), error) from error
