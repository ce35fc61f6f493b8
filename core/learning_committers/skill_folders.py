"""Skill folders as states of a change, and the checks on an author's answer (pure)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.domain.errors import ArtifactInvalid, BundleInvalid, NotFound, Refused, with_advice
from core.domain.hashing import state_hash
from core.domain.messages import Message, joined
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Kind,
    MergeMode,
    Operation,
    Prepared,
    Relationship,
    SkillArtifact,
    SkillEdits,
    SkillRequest,
    Snapshot,
)
from core.domain.ports import Agents, SkillStore
from core.domain.tasks import aside
from core.skill_quick_validate import check_bundle, errors_of, with_rule
from core.skills.bundle import file_refs
from core.skills.commands import bundle_tool_problems
from core.skills.document.assembly import assemble
from core.skills.document.edits import apart_from_fields, apply_edits
from core.skills.document.frontmatter import read_frontmatter
from core.skills.document.shrink import losses, refusals
from core.skills.library import look_into, look_through
from core.skills.references import Reference, dangling, find_references
from core.skills.validation.document import name_of, name_problems


@dataclass(frozen=True)
class DescriptionsBudget:
    """Warn if the descriptions of an agent's skills exceed `limit` characters together."""

    agents: Agents
    skills: SkillStore
    limit: int

    async def warnings(
        self,
        agent_id: str,
        tenant_id: str,
        *,
        added: Iterable[str] = (),
        removed: Iterable[str] = (),
        listed_too: Iterable[str] = (),
        changed: Bundle | None = None,
        base: Bundle | None = None,
    ) -> tuple[str, ...]:
        """Return a warning if a change exceeds the budget, or exceeds it further.

        `added` and `removed` are names that the agent's list gains and loses; `listed_too` are on
        it though it does not show them; `changed` is the new state of a skill, which is added too,
        and `base` its current state.
        """
        try:
            agent = await self.agents.get(tenant_id, agent_id)
        except NotFound:
            return ()
        if base and changed and base.name in agent.skills and not _is_longer(base, changed):
            return ()
        listed = {item.name: item.description for item in await self.skills.list(tenant_id)}
        new = {changed.name: description_of(changed)} if changed else {}
        current = {*agent.skills, *listed_too}
        before = _total(current, listed)
        names = {*current, *added, *new} - {*removed}
        after = _total(names, {**listed, **new})
        if after <= max(before, self.limit):
            return ()
        return (
            Message(
                "skill.descriptions_over_budget",
                n=len(names),
                agent=agent_id,
                now=after,
                over=after - self.limit,
                budget=self.limit,
                before=before,
            ),
        )


def description_of(bundle: Bundle) -> str:
    """Return a skill's description, "" if it cannot be read."""
    try:
        return read_frontmatter(bundle.document).description
    except (BundleInvalid, UnicodeDecodeError):
        return ""


def _is_longer(base: Bundle, changed: Bundle) -> bool:
    return len(description_of(changed)) > len(description_of(base))


def _total(names: Iterable[str], described: Mapping[str, str]) -> int:
    return sum(len(described.get(name, "")) for name in names)


_SHOWN = 10
_NOWHERE = Message("skill.reference_unknown")
Dependants = Mapping[str, Sequence[Reference]]


def reference_problems(base: Bundle | None, bundle: Bundle) -> list[str]:
    """Return the internal references that dangle and did not before."""
    known = {(item.file, item.target) for item in _own_dangling(base)} if base else set()
    return [
        Message(
            "skill.dangling", place=found.place, target=found.target, why=_why_missing(base, found)
        )
        for found in _own_dangling(bundle)
        if (found.file, found.target) not in known
    ]


def _why_missing(base: Bundle | None, found: Reference) -> str:
    if base and found.path in base.files:
        return Message("skill.reference_deleted")
    return Message("skill.reference_nowhere")


def _own_dangling(bundle: Bundle) -> Iterator[Reference]:
    return (item for item in dangling(find_references(bundle)) if item.skill is None)


@dataclass(frozen=True)
class SkillTies:
    """Check references against the current skills of a tenant."""

    skills: SkillStore

    async def warnings(
        self, base: Bundle | None, bundle: Bundle, tenant_id: str
    ) -> tuple[str, ...]:
        """Return the references that dangle after a change, in this skill and in others."""
        said = [
            Message("skill.dangling", place=found.place, target=found.target, why=_NOWHERE)
            for found in await self._dangling(bundle, tenant_id)
        ]
        gone = set(base.files) - set(bundle.files) if base else set()
        return tuple(_few([*said, *await self._broken(bundle.name, tenant_id, gone)]))

    async def broken_references(
        self, name: str, tenant_id: str, gone: Collection[str]
    ) -> tuple[str, ...]:
        """Return which other skills refer to files of a skill that would be gone."""
        return tuple(_few(await self._broken(name, tenant_id, gone)))

    async def require_deletable(
        self, name: str, tenant_id: str, named: Collection[str] | None
    ) -> tuple[str, ...]:
        """Return the warnings of a deletion. Raises Refused while skills not `named` refer to it.

        `named` are the dependants that the request acknowledges, None for all.
        """
        found = await self._dependants(name, tenant_id, lambda _: True)
        unnamed = [skill for skill in found if named is not None and skill not in named]
        if unnamed:
            said = joined(_few([_refers(*entry) for entry in found.items()]))
            raise Refused(
                Message("skill.others_refer", name=name, said=said),
                hint=Message("skill.hint_others", names=",".join(found)),
            )
        return tuple(_few([_cut(*entry) for entry in found.items()]))

    async def _dangling(self, bundle: Bundle, tenant_id: str) -> tuple[Reference, ...]:
        """Return the dangling references, internal and to other skills."""
        found = await aside(bundle.size, find_references, bundle)
        others = {item.skill for item in found if item.skill is not None}
        if not others:
            return dangling(found)
        looked = await look_into(self.skills, tenant_id, others, lambda other: [*other.files])
        return dangling(await aside(bundle.size, find_references, bundle, looked.seen))

    async def _broken(self, name: str, tenant_id: str, gone: Collection[str]) -> list[str]:
        if not gone:
            return []
        found = await self._dependants(name, tenant_id, lambda item: item.path in gone)
        return [_cut(*entry) for entry in found.items()]

    async def _dependants(
        self, name: str, tenant_id: str, wanted: Callable[[Reference], bool]
    ) -> Dependants:
        """Return the references of other skills to this one, by skill."""

        def look(bundle: Bundle) -> list[Reference]:
            return [item for item in find_references(bundle) if item.skill == name and wanted(item)]

        looked = await look_through(self.skills, tenant_id, look)
        return {skill: found for skill, found in looked.seen.items() if found and skill != name}


def _refers(skill: str, found: Sequence[Reference]) -> Message:
    return Message("skill.refers", skill=skill, places=_places(found))


def _cut(skill: str, found: Sequence[Reference]) -> Message:
    return Message("skill.cut_off", skill=skill, places=_places(found))


def _places(found: Sequence[Reference]) -> str:
    return joined(_few([f"{item.place} ({item.path})" for item in found]), ", ")


def _few(said: Iterable[str]) -> list[str]:
    listed = list(said)
    more = [Message("more", n=len(listed) - _SHOWN)] if len(listed) > _SHOWN else []
    return [*listed[:_SHOWN], *more]


def folder_of(
    answer: SkillArtifact | SkillEdits,
    request: SkillRequest,
    base: Bundle | None,
    shrink_percent: float,
) -> Bundle:
    """Return the whole folder from an artifact or edits.

    Raises ArtifactInvalid, with the problems of the answer, else with what it would drop from
    `base` and the references it would leave dangling.
    """
    if isinstance(answer, SkillArtifact):
        folder = assemble(answer, name=request.target_id, base=base)
    elif base is None:
        raise ArtifactInvalid([Message("edit.no_skill")])
    else:
        folder = apply_edits(base, answer)
    problems = reference_problems(base, folder)
    mode = guarded_mode(request)
    if base is not None and mode is not None:
        compared = base, folder
        if isinstance(answer, SkillEdits):
            kept = mode is MergeMode.EXTEND
            compared = apart_from_fields(base, folder, answer, kept=kept)
        problems = [*refusals(*compared, mode, shrink_percent), *problems]
    if problems:
        raise ArtifactInvalid(problems)
    return folder


def given_folder(request: SkillRequest, base: Bundle | None) -> Bundle:
    """Return the folder of the request unchanged. Raises BundleInvalid.

    It must be a valid skill, by the verdict of `skill validate`; the stricter rules for what the
    author writes do not apply, neither to a new skill nor to an existing one.
    """
    assert request.folder is not None
    if request.artifact is not None:
        raise BundleInvalid(Message("skill.folder_and_artifact"))
    files = dict(request.folder)
    if SKILL_MD not in files:
        raise BundleInvalid(Message("skill.no_document", file=SKILL_MD))
    found = name_of(files[SKILL_MD].data) or ""
    name = request.target_id or found
    bundle = Bundle(name=name, files=files)
    if errors := errors_of(check_bundle(bundle, base, given=True)):
        raise BundleInvalid(joined(map(with_rule, errors)))
    if base is None and found != name:
        raise BundleInvalid(Message("skill.folder_of_another", found=found, name=name))
    return bundle


def guarded_mode(request: SkillRequest) -> MergeMode | None:
    """Return the merge mode an update is checked against; None if it may drop content.

    Without a mode, edits by the author refine and a whole artifact or folder replaces.
    """
    if request.merge_mode is MergeMode.REPLACE or request.folder is not None:
        return None
    if request.merge_mode is None and request.artifact is not None:
        return None
    return request.merge_mode or MergeMode.REFINE


def refuse_bad_name(name: str, *, given: bool) -> None:
    """Refuse a name that no new skill may have; some bind only what is not `given` whole.

    Raises Refused.
    """
    found = name_problems(name)
    problems = [problem.message for problem in (errors_of(found) if given else found)]
    if problems:
        raise Refused(joined(problems), hint=Message("skill.other_name"))


def refuse_duplicate(request: SkillRequest, base: Bundle, bundle: Bundle) -> None:
    """Raise Refused for a change of a skill that is said to be the same."""
    paths = sorted({*base.files, *bundle.files})
    changed = [path for path in paths if base.files.get(path) != bundle.files.get(path)]
    if changed and request.relationship is Relationship.DUPLICATE:
        raise Refused(
            Message(
                "near.no_duplicate",
                kind=Kind.SKILL,
                id=base.name,
                name=base.name,
                why=Message("near.changes_files", paths=joined(_few(changed), ", ")),
            ),
            hint=Message("near.hint_relationship"),
        )


def state_of(bundle: Bundle) -> Snapshot:
    """Return the state of a folder, as stored in a change."""
    return Snapshot(content=bundle.document, name=bundle.name, files=file_refs(bundle))


def prepared_change(
    operation: Operation, base: Bundle | None, bundle: Bundle | None, warnings: Iterable[str] = ()
) -> Prepared:
    """Return the prepared change from one folder to another; None is absent."""
    named = bundle or base
    assert named is not None
    before = state_of(base) if base else None
    after = state_of(bundle) if bundle else None
    blobs = {}
    for folder, state in ((base, before), (bundle, after)):
        if folder is not None and state is not None and state.files is not None:
            blobs.update({ref.sha256: folder.files[p].data for p, ref in state.files.items()})
    rules = _rule_warnings(base, bundle) if bundle else ()
    return Prepared(
        kind=Kind.SKILL,
        target_id=named.name,
        target_name=named.name,
        operation=operation,
        before=before,
        after=after,
        base_hash=state_hash(before),
        blobs=blobs,
        warnings=tuple(dict.fromkeys([*rules, *warnings])),
    )


def replaced_warnings(
    request: SkillRequest, base: Bundle | None, bundle: Bundle, shrink_percent: float
) -> list[str]:
    """Return what a replacing change drops: permitted, but not silently."""
    if base is None or guarded_mode(request) is not None:
        return []
    try:
        dropped = losses(base, bundle, MergeMode.REFINE, shrink_percent)
    except BundleInvalid as error:
        dropped = [Message("shrink.not_compared", why=error.message)]
    return [Message("shrink.replaced", mode=MergeMode.REPLACE, loss=loss) for loss in dropped]


def _rule_warnings(base: Bundle | None, bundle: Bundle) -> Iterator[str]:
    """Yield the permitted weaknesses of a skill, as an overlong body or an old-style name."""
    known = bundle_tool_problems(base) if base else []
    new = [problem for problem in bundle_tool_problems(bundle) if problem not in known]
    for problem in (*check_bundle(bundle, base, created=base is None), *new):
        yield with_advice(with_rule(problem), problem.hint)


@dataclass(frozen=True)
class SkillLimits:
    """Rounds of the author, shrinking in percent, and two budgets in characters."""

    author_rounds: int = 3
    shrink_percent: float = 20
    related_chars: int = 12_000
    descriptions_chars: int = 15_000
