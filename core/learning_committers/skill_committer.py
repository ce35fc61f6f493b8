"""Skills: procedures written by the author and kept by the skill API."""

from __future__ import annotations

from core.errors import (
    AlreadyExists,
    ArtifactInvalid,
    DependencyDown,
    LeaseLost,
    NotFound,
    PrepareFailed,
    Refused,
    SkillWorkerError,
)
from core.learning_committers.base import CommitDeps, split_names
from core.learning_committers.skill_folders import (
    folder_of,
    prepared_change,
    refuse_bad_name,
    related_skill,
    state_of,
)
from core.learning_committers.skill_steps import Check, SkillSteps
from core.models import (
    AuthorRequest,
    Bundle,
    Change,
    ChangeRequest,
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
from core.ports import ChangeLog, Settlement, SkillAuthor, SkillStore
from core.skill_creator_committer import SkillCreatorDeps, commit_to_skill_via_skill_creator
from core.snapshots import state_hash


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
    """Prepares skills with the author and carries them out over the skill API.

    With `creator` what the author wrote is built in a pod before it is a change.
    """

    def __init__(
        self,
        skills: SkillStore,
        author: SkillAuthor,
        changes: ChangeLog,
        *,
        check: Check,
        max_rounds: int,
        creator: SkillCreatorDeps | None = None,
    ) -> None:
        self._skills = skills
        self._author = author
        self._changes = changes
        self._check = check
        self._max_rounds = max_rounds
        self._creator = creator

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        """Make before and after of a skill request; see `core.ports.Committer`."""
        assert isinstance(request, SkillRequest)
        base = await self._base(request, context)
        if request.operation is Operation.DELETE:
            return prepared_change(request.operation, base, None)
        bundle = await self._written(request, context, base)
        if base is None:
            await self._refuse_taken(bundle.name, context.tenant_id)
        if self._creator is not None:
            bundle = await self._built(bundle, request.operation, base, self._creator)
        return prepared_change(request.operation, base, bundle)

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        """Give the skill as the skill API holds it now, None where there is none."""
        bundle = await self._skills.read(target_id, tenant_id)
        return state_of(bundle) if bundle else None

    async def vet(self, prepared: Prepared, context: SubmitContext) -> None:
        """Do nothing: a skill's name is its identity, so nothing can stand in the way."""

    async def apply(self, change: Change) -> None:
        """Write the skill over the skill API, going on where an earlier try stopped.

        What fails for good part-way is taken back, so that readers keep no half-written skill.
        """
        steps = SkillSteps(change, self._skills, self._changes, self._check)
        try:
            await steps.take()
        except (DependencyDown, LeaseLost):
            raise
        except SkillWorkerError:
            await steps.take_back()
            raise

    async def record(self, change: Change, settlement: Settlement) -> None:
        """Follow the skill on the agent's and the tenant's lists."""
        await settlement.update_agent_and_tenant_skills(change)

    async def _base(self, request: SkillRequest, context: SubmitContext) -> Bundle | None:
        """Give the skill an UPDATE or DELETE starts from; refuse a CREATE under a taken name."""
        if request.operation is Operation.CREATE:
            if request.target_id:
                refuse_bad_name(request.target_id)
                await self._refuse_taken(request.target_id, context.tenant_id)
            return None
        if not request.target_id:
            raise Refused(
                f"{request.operation} of a skill needs skill_id",
                hint="search_similar_knowledge gives the names of skills",
            )
        base = await self._skills.read(request.target_id, context.tenant_id)
        if base is None:
            raise NotFound(
                f"there is no skill named {request.target_id!r}",
                hint="search_similar_knowledge gives the names of skills",
            )
        return base

    async def _refuse_taken(self, name: str, tenant_id: str) -> None:
        taken = await self._skills.read(name, tenant_id)
        if taken is not None:
            raise AlreadyExists(
                f"a skill named {name!r} exists",
                item_id=name,
                name=name,
                content=taken.document,
                hint=f"call again with operation UPDATE and skill_id {name}",
            )

    async def _written(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None
    ) -> Bundle:
        """Give the new folder: from the given artifact, or from the author in a few rounds."""
        if request.artifact is not None:
            return folder_of(request.artifact, request, base)
        asked = await self._asked(request, context, base)
        key = f"{context.key}:author:{state_hash(state_of(base) if base else None)[:12]}"
        problems: list[str] = []
        for ordinal in range(self._max_rounds):
            try:
                answer = await self._author.write(
                    asked, key=key, ordinal=ordinal, problems=problems
                )
                return folder_of(answer, request, base)
            except ArtifactInvalid as error:
                problems = error.problems
        raise ArtifactInvalid(
            problems, hint=f"the author did not get it right in {self._max_rounds} rounds"
        )

    async def _built(
        self, bundle: Bundle, operation: Operation, base: Bundle | None, creator: SkillCreatorDeps
    ) -> Bundle:
        """Give the folder as a pod packages it. Raises PrepareFailed: there is no other way."""
        try:
            return await commit_to_skill_via_skill_creator(
                bundle.name, bundle, operation, base, deps=creator
            )
        except SkillWorkerError as error:
            raise PrepareFailed(prepared_change(operation, base, bundle), error) from error

    async def _asked(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None
    ) -> AuthorRequest:
        related = [
            related_skill(bundle)
            for name in request.related_skill_ids
            if name != request.target_id
            and (bundle := await self._skills.read(name, context.tenant_id)) is not None
        ]
        return AuthorRequest(
            operation=request.operation,
            skill_name=request.target_id,
            feedback_content=context.feedback_content,
            candidate_content=context.candidate_content,
            fence=context.fence,
            merge_mode=request.merge_mode,
            relationship_analysis=request.relationship_analysis,
            existing=base,
            related=tuple(related),
        )
