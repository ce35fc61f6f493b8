"""Skills: procedures written by the author and stored by the skill API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from core.changes.installing.merging import merged_skill
from core.changes.policy.review_policy import named_briefly
from core.changes.steps import StoredStates
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
from core.domain.hashing import state_hash
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Agent,
    Bundle,
    Change,
    ChangeRequest,
    Fence,
    FileRef,
    Kind,
    Lister,
    MergeMode,
    Operation,
    Origin,
    Prepared,
    Receipt,
    Relationship,
    SkillArtifact,
    SkillFile,
    SkillRequest,
    Snapshot,
    SubmitContext,
)
from core.domain.models.cases import CaseBody
from core.domain.ports import Agents, ChangeLog, SkillAuthor, SkillStore, UnitOfWork
from core.domain.tasks import aside
from core.learning_committers.base import (
    CommitDeps,
    Neighbours,
    list_change,
    says_unrelated,
    split_names,
    warnings_beside,
)
from core.learning_committers.skill_folders import (
    DescriptionsBudget,
    SkillLimits,
    SkillTies,
    prepared_change,
    refuse_bad_name,
    refuse_duplicate,
    replaced_warnings,
    state_of,
)
from core.learning_committers.skill_writing import SkillWriter
from core.skill_creator_committer import SkillCreatorDeps, commit_to_skill_via_skill_creator
from core.skills.bundle import file_refs

Files = Mapping[str, SkillFile]


async def with_learnt(
    request: SkillRequest, now: Bundle | None, changes: ChangeLog
) -> tuple[SkillRequest, Files | None]:
    """Return a request whose folder has what was learnt since, and the folder as it was given.

    It is merged here, where the target is locked, and again where the skill has moved: a request
    with a folder that was merged before would undo what was learnt meanwhile. Raises Refused.
    """
    if request.upgrades is None or request.folder is None or now is None:
        return request, request.folder
    base = await StoredStates(changes).folder(request.upgrades.base)
    merged = await aside(now.size, merged_skill, base, request.folder, now.files)
    if merged.clashes and not request.upgrades.replaces:
        paths = ", ".join(merged.clashes)
        raise Refused(
            Message("installed.clash", name=now.name, paths=paths),
            hint=Message("installed.hint_clash", name=now.name),
        )
    return request.model_copy(update={"folder": merged.files}), request.folder


def as_published(prepared: Prepared, request: SkillRequest, given: Files | None) -> Prepared:
    """Return a prepared change with the files that were published, if it installs any.

    Once that is on record it stays: what a reviewer edits was not published.
    """
    if request.published is None or request.published.files or given is None:
        return prepared
    given = request.as_published or given
    refs = file_refs(Bundle(name=prepared.target_id, files=given))
    data = {ref.sha256: given[path].data for path, ref in refs.items()}
    return prepared.model_copy(update={"published": refs, "blobs": {**prepared.blobs, **data}})


def _listers(agents: Sequence[Agent]) -> tuple[Lister, ...]:
    return tuple(Lister(id=agent.id, name=agent.name) for agent in agents)


Manifest = Mapping[str, FileRef]
Check = Callable[[Fence], Awaitable[None]]


@dataclass(frozen=True)
class Step:
    """One call that turns the folder `before` into `after`: `path` is written, or deleted."""

    path: str
    before: Manifest
    after: Manifest


@dataclass(frozen=True)
class SkillSteps:
    """The calls that carry out one change; `check` raises LeaseLost before each."""

    change: Change
    skills: SkillStore
    changes: ChangeLog
    check: Check

    async def take(self) -> None:
        """Bring the store from the change's before to its after.

        Idempotent: the state of the store shows how far an earlier attempt came. Raises Stale if
        it is no intermediate state of this change.
        """
        stored = await self._stored()
        if _hash(stored) == state_hash(self.change.after):
            return
        if self.change.before is None or self.change.after is None:
            await self._whole(stored)
            return
        # The API has no transaction over several files: each call is conditional on the last hash.
        for step in self._remaining(stored):
            await self._call(step)

    async def roll_back(self) -> None:
        """Return a half-written folder to the change's before.

        Does nothing if the store has a state this change has not made, or its final one: then a
        concurrent worker has finished it.
        """
        before, stored = self.change.before, await self._stored()
        if _hash(stored) == state_hash(self.change.after):
            return
        made = {_hash(step.after) for step in _steps(self.change)}
        if before is None or stored is None or _hash(stored) not in made:
            return
        for step in _steps_between(stored, before.files or {}):
            await self._call(step)

    async def _stored(self) -> Manifest | None:
        bundle = await self.skills.read(self.change.target_id, self.change.tenant_id)
        return file_refs(bundle) if bundle else None

    async def _whole(self, stored: Manifest | None) -> None:
        """Create or delete the folder in one call."""
        change = self.change
        if _hash(stored) != change.base_hash:
            raise self._stale()
        await self._fenced()
        if change.after is None:
            await self.skills.delete(change.target_id, change.tenant_id, base_hash=change.base_hash)
            return
        refs = change.after.files or {}
        blobs = await self.changes.blobs(list(refs.values()))
        files = {path: _file(ref, blobs) for path, ref in refs.items()}
        await self.skills.upload(Bundle(name=change.target_id, files=files), change.tenant_id)

    def _remaining(self, stored: Manifest | None) -> list[Step]:
        """Return the steps still to take from the state of the store."""
        steps = _steps(self.change)
        for taken, step in enumerate(steps):
            if _hash(step.before) == _hash(stored):
                return steps[taken:]
        raise self._stale()

    async def _call(self, step: Step) -> None:
        await self._fenced()
        name, tenant, base_hash = self.change.target_id, self.change.tenant_id, _hash(step.before)
        if step.path not in step.after:
            await self.skills.delete_file(name, step.path, tenant, base_hash=base_hash)
            return
        ref = step.after[step.path]
        file = _file(ref, await self.changes.blobs([ref]))
        await self.skills.put_file(name, step.path, file, tenant, base_hash=base_hash)

    async def _fenced(self) -> None:
        candidate_id, epoch = self.change.candidate_id, self.change.epoch
        if candidate_id is not None and epoch is not None:
            await self.check(Fence(candidate_id=candidate_id, epoch=epoch))

    def _stale(self) -> Stale:
        return Stale(Message("skill.moved", name=self.change.target_id))


def _steps(change: Change) -> list[Step]:
    if change.before is None or change.after is None:
        return []
    return _steps_between(change.before.files or {}, change.after.files or {})


def _steps_between(old: Manifest, new: Manifest) -> list[Step]:
    """Return the steps: SKILL.md first, then changed files by path, then deletions.

    A fixed order, so that each intermediate state is known and its hash shows where to resume.
    """
    written = sorted((p for p in new if old.get(p) != new[p]), key=lambda p: (p != SKILL_MD, p))
    steps: list[Step] = []
    folder = dict(old)
    for path in [*written, *sorted(set(old) - set(new))]:
        before = dict(folder)
        folder.pop(path, None)
        if path in new:
            folder[path] = new[path]
        steps.append(Step(path, before, dict(folder)))
    return steps


def _hash(manifest: Manifest | None) -> str:
    return state_hash(None if manifest is None else Snapshot(content="", name="", files=manifest))


def _file(ref: FileRef, blobs: Mapping[str, bytes]) -> SkillFile:
    return SkillFile(data=blobs[ref.sha256], executable=ref.executable)


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
    for_all: bool = False,
    cases: Sequence[CaseBody] = (),
    deps: CommitDeps,
) -> Receipt:
    """Submit the creation, edit or deletion of a skill to the change gate.

    Without `skill_artifact` the author writes it from the feedback. `related_skill_ids` is a
    comma-separated list of skill names that the author is shown. A deletion is `for_all` where
    other agents that list the skill are to lose it too; a person decides that.
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
        for_all=for_all,
        cases=tuple(cases),
    )
    update: dict[str, str] = {"agent_id": agent_id}
    if feedback_content:
        update["feedback_content"] = feedback_content
    return await deps.gate.submit(request, deps.context.model_copy(update=update))


class SkillCommitter:
    """Prepare skills with the author and apply them over the skill API.

    With `creator` a skill, written or given, is built in a pod before it becomes a change; without
    one `without_pod`, if any, is called for it.
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
        without_pod: Callable[[], None] | None = None,
    ) -> None:
        self._neighbours = neighbours
        self._skills = skills
        self._changes = changes
        self._check = check
        self._limits = limits
        self._creator = creator
        self._without_pod = without_pod
        self._writer = SkillWriter(author, skills, limits)
        self._ties = SkillTies(skills)
        self._agents = agents
        self._budget = DescriptionsBudget(agents, skills, limits.descriptions_chars)

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        assert isinstance(request, SkillRequest)
        base = await self._base(request, context)
        if request.operation is Operation.DELETE:
            return await self._deletion(request, context, base)
        request, given = await with_learnt(request, base, self._changes)
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
        else:
            refuse_duplicate(request, base, bundle)
        if self._creator is not None:
            bundle = await self._built(bundle, request.operation, base, self._creator)
        elif self._without_pod is not None:
            self._without_pod()
        warnings = await self._warnings(request, context, base, bundle)
        told = [*beside, *warnings]
        prepared = await aside(bundle.size, prepared_change, request.operation, base, bundle, told)
        return as_published(prepared.model_copy(update={"seen": seen}), request, given)

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        bundle = await self._skills.read(target_id, tenant_id)
        return await aside(bundle.size, state_of, bundle) if bundle else None

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Prepared:
        """Add whose references it breaks, and who lists it; a name is a skill's identity.

        A person who reverts a change wants it gone, so references from other skills only warn.
        """
        before, after = (
            frozenset(state.files or ()) if state else frozenset[str]()
            for state in (prepared.before, prepared.after)
        )
        warnings = await self._ties.broken_references(
            prepared.target_id, context.tenant_id, before - after
        )
        others: Sequence[Agent] = ()
        if prepared.after is None:
            others = await self._others(prepared.target_id, context)
        return prepared.model_copy(update={"warnings": warnings, "listed_by": _listers(others)})

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
                refuse_bad_name(request.target_id, given=request.folder is not None)
                await self._refuse_taken(request.target_id, context.tenant_id)
            return None
        if not request.target_id:
            raise Refused(
                Message("skill.id_missing", operation=request.operation),
                hint=Message("see.skill_names"),
            )
        base = await self._skills.read(request.target_id, context.tenant_id)
        if base is None:
            raise NotFound(
                Message("no.skill", name=request.target_id),
                hint=Message("see.skill_names"),
            )
        return base

    async def _deletion(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None
    ) -> Prepared:
        """Prepare a deletion; refused until the request names the skills whose references break.

        What other agents list too is taken off this one's list, unless it is to go for all. A
        person who asks for that is warned of those references, as it waits anyway.
        """
        assert base is not None
        others = await self._others(base.name, context)
        if others and not request.for_all:
            return await self._taken_off(base.name, context, others)
        is_persons = bool(others) and context.origin is Origin.PERSON
        named = None if is_persons else request.related_skill_ids
        warnings = await self._ties.require_deletable(base.name, context.tenant_id, named)
        prepared = prepared_change(request.operation, base, None, warnings)
        return prepared.model_copy(update={"listed_by": _listers(others)})

    async def _taken_off(
        self, name: str, context: SubmitContext, others: Sequence[Agent]
    ) -> Prepared:
        """Prepare to take a skill off the agent's list. Raises Refused if it is not on it."""
        having = await self._agents.having(context.tenant_id, name)
        agent = next((agent for agent in having if agent.id == context.agent_id), None)
        if agent is None:
            agents = named_briefly(_listers(others))
            raise Refused(
                Message("skill.others_have_it", name=name, agents=agents),
                hint=Message("skill.hint_for_all"),
            )
        prepared = list_change(agent, set(agent.skills) - {name})
        return prepared.model_copy(update={"listed_by": _listers(others)})

    async def _others(self, name: str, context: SubmitContext) -> Sequence[Agent]:
        """Return the other agents that list a skill."""
        having = await self._agents.having(context.tenant_id, name)
        return [agent for agent in having if agent.id != context.agent_id]

    async def _warnings(
        self, request: SkillRequest, context: SubmitContext, base: Bundle | None, bundle: Bundle
    ) -> list[str]:
        """Return the warnings of a change."""
        agent_id, tenant_id = context.agent_id, context.tenant_id
        listed_too = [item.id for item in context.compared.items] if context.compared else []
        return [
            *replaced_warnings(request, base, bundle, self._limits.shrink_percent),
            *await self._ties.warnings(base, bundle, tenant_id),
            *await self._budget.warnings(
                agent_id, tenant_id, changed=bundle, base=base, listed_too=listed_too
            ),
        ]

    async def _known(self, name: str, tenant_id: str) -> Prepared:
        """Prepare a change without effect: a skill of another name is identical."""
        same = await self._skills.read(name, tenant_id)
        if same is None:
            raise Stale(Message("skill.gone", name=name))
        return prepared_change(Operation.UPDATE, same, same)

    async def _refuse_taken(self, name: str, tenant_id: str) -> None:
        taken = await self._skills.read(name, tenant_id)
        if taken is not None:
            raise AlreadyExists(
                Message("skill.exists", name=name),
                item_id=name,
                name=name,
                content=taken.document,
                hint=Message("skill.update_it", name=name),
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
