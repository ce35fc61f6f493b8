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
from core.learning_committers.skill_steps import Check, SkillSteps
from core.models import (
    SKILL_MD,
    AuthorRequest,
    Bundle,
    Change,
    ChangeRequest,
    Kind,
    MergeMode,
    Operation,
    Prepared,
    Receipt,
    RelatedSkill,
    Relationship,
    SkillArtifact,
    SkillEdits,
    SkillRequest,
    Snapshot,
    SubmitContext,
)
from core.ports import ChangeLog, Settlement, SkillAuthor, SkillStore
from core.skill_bundle import file_refs
from core.skill_creator_committer import SkillCreatorDeps, commit_to_skill_via_skill_creator
from core.skill_document.assembly import assemble, creation_name_problems
from core.skill_document.edits import apply_edits
from core.skill_document.frontmatter import read_frontmatter
from core.skill_document.markdown import headings
from core.snapshots import state_hash

RELATED_HEAD_CHARS = 600


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
            return _prepared(request.operation, base, None)
        bundle = await self._written(request, context, base)
        if base is None:
            await self._refuse_taken(bundle.name, context.tenant_id)
        if self._creator is not None:
            bundle = await self._built(bundle, request.operation, base, self._creator)
        return _prepared(request.operation, base, bundle)

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        """Give the skill as the skill API holds it now, None where there is none."""
        bundle = await self._skills.read(target_id, tenant_id)
        return _state(bundle) if bundle else None

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
                _refuse_bad_name(request.target_id)
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
            return _folder(request.artifact, request, base)
        asked = await self._asked(request, context, base)
        key = f"{context.key}:author:{state_hash(_state(base) if base else None)[:12]}"
        problems: list[str] = []
        for ordinal in range(self._max_rounds):
            try:
                answer = await self._author.write(
                    asked, key=key, ordinal=ordinal, problems=problems
                )
                return _folder(answer, request, base)
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
            raise PrepareFailed(_prepared(operation, base, bundle), error) from error

    async def _asked(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None
    ) -> AuthorRequest:
        related = [
            _related(bundle)
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


def _folder(
    answer: SkillArtifact | SkillEdits, request: SkillRequest, base: Bundle | None
) -> Bundle:
    """Turn an answer of the author into the whole folder. Raises ArtifactInvalid."""
    if isinstance(answer, SkillArtifact):
        folder = assemble(answer, name=request.target_id, base=base)
        if base is not None and not _replaces(request):
            _keep_headings(base, folder)
        return folder
    if base is None:
        raise ArtifactInvalid(["edits need an existing skill; answer with a whole SkillArtifact"])
    return apply_edits(base, answer)


def _refuse_bad_name(name: str) -> None:
    problems = creation_name_problems(name)
    if problems:
        raise Refused("; ".join(problems), hint="give another skill_id, or leave it to the author")


def _replaces(request: SkillRequest) -> bool:
    """REPLACE may drop what was there, and so may an artifact that is passed in without a mode."""
    if request.merge_mode is None:
        return request.artifact is not None
    return request.merge_mode is MergeMode.REPLACE


def _keep_headings(base: Bundle, folder: Bundle) -> None:
    """Refuse a document that loses sections where it was asked to add or to refine."""
    kept = [heading.text for heading in headings(folder.document)]
    lost = [h.text for h in headings(base.document) if h.text not in kept]
    if lost:
        raise ArtifactInvalid(
            [f"these sections are gone: {', '.join(lost)}; answer with edits that keep the rest"]
        )


def _state(bundle: Bundle) -> Snapshot:
    return Snapshot(content=bundle.document, name=bundle.name, files=file_refs(bundle))


def _prepared(operation: Operation, base: Bundle | None, bundle: Bundle | None) -> Prepared:
    named = bundle or base
    assert named is not None
    before = _state(base) if base else None
    after = _state(bundle) if bundle else None
    blobs = {}
    for folder, state in ((base, before), (bundle, after)):
        if folder is not None and state is not None and state.files is not None:
            blobs.update({ref.sha256: folder.files[p].data for p, ref in state.files.items()})
    return Prepared(
        kind=Kind.SKILL,
        target_id=named.name,
        target_name=named.name,
        operation=operation,
        before=before,
        after=after,
        base_hash=state_hash(before),
        blobs=blobs,
    )


def _related(bundle: Bundle) -> RelatedSkill:
    return RelatedSkill(
        name=bundle.name,
        description=read_frontmatter(bundle.document).description,
        paths=tuple(sorted(path for path in bundle.files if path != SKILL_MD)),
        head=bundle.document[:RELATED_HEAD_CHARS],
    )
