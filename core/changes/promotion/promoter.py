"""Plan a promotion from what two databases know; `taking.py` carries it out.

Which state both had in common is known from the last promotion, whose key says what was promoted;
where there was none, from the newest state of the target that the source had once, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.changes.promotion.plan import AsPublished, Origin, Standing, Step, decide, hash_of
from core.changes.steps import StoredStates, files_of
from core.changes.three_way_merge import State
from core.decision_table import same_table
from core.domain.errors import NotFound, RuleInvalid
from core.domain.hashing import ABSENT, name_key, same_key, state_hash
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Agent,
    Bundle,
    Change,
    ChangeStatus,
    FileRef,
    Kind,
    KnowledgeItem,
    Snapshot,
)
from core.domain.models.audit import ERASED
from core.domain.models.installed import Published
from core.domain.ports import (
    Agents,
    ChangeLog,
    Gate,
    InstalledSkills,
    Knowledge,
    KnowledgePages,
    KnowledgePast,
    SkillStore,
    Steps,
)
from core.skills.references import in_order

PREFIX = "promote:"
_PAGE = 500
_MOST_VERSIONS = 200
DONE = {ChangeStatus.APPLIED, ChangeStatus.REVERTED}


@dataclass(frozen=True)
class Source:
    """Where knowledge comes from: one database, which is only read.

    Skills are read from the changes on record in it, so that its skill API is not needed.
    `packages` are the kinds that packages brought it.
    """

    pages: KnowledgePages
    past: KnowledgePast
    agents: Agents
    changes: ChangeLog
    installed: InstalledSkills
    packages: Sequence[Kind] = ()


@dataclass(frozen=True)
class Target:
    """Where it goes, with the gate through which it does."""

    pages: KnowledgePages
    knowledge: Knowledge
    agents: Agents
    changes: ChangeLog
    steps: Steps
    skills: SkillStore
    installed: InstalledSkills
    gate: Gate


@dataclass(frozen=True)
class _Ours:
    """An item of the source, with its state as it is stored."""

    kind: Kind
    id: str
    name: str
    version: int
    state: Snapshot


@dataclass(frozen=True, kw_only=True)
class Promoter:
    """Promotes what `agent` knows to the agent `to`; `place` says where from, without secrets.

    With `delete`, what only the target knows is deleted there.
    """

    source: Source
    target: Target
    agent: Agent
    to: Agent
    kinds: Sequence[Kind]
    place: str
    now: datetime
    delete: bool = False

    async def plan(self) -> list[Step]:
        """Return a step for every item of either side, in the order to take them in.

        Raises DependencyDown.
        """
        ours, unreadable = await self._ours()
        there = await self._there()
        made: list[Step] = []
        met: set[tuple[Kind, str]] = set()
        by_name, by_text = _index(there, ours)
        for item in ours:
            known = there.get((item.kind, item.id))
            known = known or by_name.pop((item.kind, name_key(item.name)), None)
            known = known or by_text.pop((item.kind, same_key(item.state.content)), None)
            if known is not None:
                met.add((item.kind, known.id))
            made.append(await self._step(item, known))
        met |= {(step.kind, step.id) for step in unreadable}
        only = [step for key, step in there.items() if key not in met]
        return [*_ordered(made), *unreadable, *map(self._only_there, only)]

    async def _ours(self) -> tuple[list[_Ours], list[Step]]:
        """Return what the source's agent knows, and the skills that are not on record there."""
        found = [
            _Ours(item.kind, item.id, item.name, item.version, _snapshot(item))
            for item in await self._items(self.source.pages, self.agent)
            if item.valid_until is None or item.valid_until > self.now
        ]
        unreadable = []
        for name in sorted(self.agent.skills):
            item = await self._recorded(name)
            if item is not None:
                found.append(item)
            else:
                why = Message("promote.no_record", name=name)
                one = Step(Kind.SKILL, name, name, Standing.UNREADABLE, ABSENT, why=why)
                unreadable.append(one)
        return [one for one in found if one.state.content != ERASED], unreadable

    async def _items(self, pages: KnowledgePages, agent: Agent) -> list[KnowledgeItem]:
        """Return the items of an agent, without its skills."""
        found: list[KnowledgeItem] = []
        for kind in self.kinds:
            last: KnowledgeItem | None = None
            whose = {"tenant_id": agent.tenant_id, "agent_id": agent.id}
            while kind is not Kind.SKILL and (
                page := await pages.page(kind, **whose, after=last, limit=_PAGE)
            ):
                found += page
                last = page[-1]
        return found

    async def _recorded(self, name: str) -> _Ours | None:
        """Return a skill of the source as its last change there left it."""
        last = await self.source.past.last(name, tenant_id=self.agent.tenant_id, kind=Kind.SKILL)
        if not last or last[0].valid_to is not None:
            return None
        state = await self._version(Kind.SKILL, name, last[0].version)
        return _Ours(Kind.SKILL, name, name, last[0].version, state) if state else None

    async def _version(self, kind: Kind, item_id: str, version: int) -> Snapshot | None:
        try:
            item, files = await self.source.past.version(
                kind, self.agent.tenant_id, item_id, version
            )
        except NotFound:
            return None
        return _snapshot(item, files if kind is Kind.SKILL else None)

    async def _there(self) -> dict[tuple[Kind, str], Step]:
        """Return what the target's agent knows, as steps of what is known only there."""
        found = {
            (item.kind, item.id): _only(item.kind, item.id, item.name, _state(item))
            for item in await self._items(self.target.pages, self.to)
        }
        for name in sorted(self.to.skills):
            bundle = await self.target.skills.read(name, self.to.tenant_id)
            if bundle is not None:
                found[Kind.SKILL, name] = _only(Kind.SKILL, name, name, _whole(bundle))
        return found

    def _only_there(self, step: Step) -> Step:
        """Return the step of an item that only the target knows; it stays unless asked."""
        if not self.delete:
            return step
        return replace(step, is_deleted=True, after=None, source=ABSENT)

    async def _step(self, item: _Ours, known: Step | None) -> Step:
        """Return what becomes of an item of the source."""
        there = known.before if known else None
        is_listed = known is not None or item.kind is not Kind.SKILL
        if not is_listed:
            bundle = await self.target.skills.read(item.id, self.to.tenant_id)
            there = _whole(bundle) if bundle else None
        step = Step(
            kind=item.kind,
            id=known.id if known else item.id,
            name=item.name,
            standing=Standing.SAME,
            source=state_hash(item.state),
            before=there,
            after=there,
            version=item.version,
            published=await self._pin(item) if item.kind is Kind.SKILL else None,
        )
        if there is not None and _is_same(item, there):
            if not is_listed:
                return await self._listing(replace(step, published=None))
            return _pinning(step) if step.published else step
        chain = await self.target.steps.chain(item.kind, self.to.tenant_id, step.id)
        ours = await StoredStates(self.source.changes).read(item.state)
        assert ours is not None
        return decide(step, ours, await self._origin(item, there, chain))

    async def _pin(self, item: _Ours) -> AsPublished | None:
        """Return where a skill is installed from in the source, unless the target knows it."""
        ours = await _standing(self.source.installed, self.agent.tenant_id, item.id)
        theirs = await _standing(self.target.installed, self.to.tenant_id, item.id)
        if ours is None or (theirs is not None and theirs.digest == ours.digest):
            return None
        files = await StoredStates(self.source.changes).folder(ours.files)
        return AsPublished(ours.model_copy(update={"files": {}}), files)

    async def _listing(self, step: Step) -> Step:
        """Return the step that puts a skill on the agent's list, unless it was taken off there."""
        chain = self.target.steps.chain
        lists = await chain(Kind.AGENT_SKILLS, self.to.tenant_id, self.to.id)
        changes = await chain(step.kind, self.to.tenant_id, step.id)
        had = [state.content.splitlines() for one in lists for state in (one.after,) if state]
        if any(step.id in names for names in had) or any(
            change.agent_id == self.to.id for change in changes
        ):
            return replace(step, standing=Standing.KEPT, why=Message("promote.off_the_list"))
        why = Message("promote.to_list")
        return replace(step, standing=Standing.CHANGED, is_listed=True, why=why)

    async def _origin(self, item: _Ours, there: State | None, chain: Sequence[Change]) -> Origin:
        """Return the state that both sides had in common."""
        promoted = [one for one in chain if one.key.startswith(PREFIX) and one.status in DONE]
        if promoted:
            return await self._promoted(item, promoted[-1])
        if not chain and there is None:
            return Origin(None, is_known=True)
        wanted = [hash_of(there)] if there else []
        for change in reversed(chain):
            wanted += [state_hash(change.after), state_hash(change.before)]
        versions = await self._versions(item)
        for digest in wanted:
            if digest in versions:
                return Origin(await self._read(versions[digest]), is_known=True)
        return Origin()

    async def _promoted(self, item: _Ours, change: Change) -> Origin:
        """Return what the last promotion of an item has promoted."""
        digest = change.key.split(":")[1]
        if digest == state_hash(change.after):  # both are absent after a deletion
            stored = StoredStates(self.target.changes)
            return Origin(await stored.read(change.after), is_known=True)
        versions = await self._versions(item)
        if digest not in versions:
            return Origin()
        return Origin(await self._read(versions[digest]), is_known=True)

    async def _versions(self, item: _Ours) -> Mapping[str, Snapshot]:
        """Return the states that an item had in the source, by their hashes."""
        found = {state_hash(item.state): item.state}
        oldest = max(item.version - _MOST_VERSIONS, 0)
        for version in range(item.version - 1, oldest, -1):
            state = await self._version(item.kind, item.id, version)
            if state is not None:
                found.setdefault(state_hash(state), state)
        return found

    async def _read(self, state: Snapshot) -> State | None:
        return await StoredStates(self.source.changes).read(state)


def _snapshot(item: KnowledgeItem, files: Mapping[str, FileRef] | None = None) -> Snapshot:
    return Snapshot(content=item.content, name=item.name, files=files, reach=item.reach)


def _state(item: KnowledgeItem) -> State:
    return State(item.content, item.name, reach=item.reach)


def _whole(bundle: Bundle) -> State:
    files = {path: file for path, file in bundle.files.items() if path != SKILL_MD}
    runs = bundle.files[SKILL_MD].executable
    return State(bundle.document, bundle.name, files, runs)


def _only(kind: Kind, item_id: str, name: str, state: State) -> Step:
    return Step(kind, item_id, name, Standing.ONLY_IN_TARGET, ABSENT, state, state)


_Known = dict[tuple[Kind, str], Step]


def _index(there: _Known, ours: Sequence[_Ours]) -> tuple[_Known, _Known]:
    """Return what the target knows under ids of its own: by name, and by text."""
    taken = {(item.kind, item.id) for item in ours}
    own = [step for key, step in there.items() if key not in taken and step.before]
    by_name: _Known = {}
    by_text: _Known = {}
    for one in own:
        if one.kind not in {Kind.MEMORY, Kind.SKILL}:
            by_name[one.kind, name_key(one.name)] = one
        if one.kind is not Kind.SKILL and one.before:
            by_text[one.kind, same_key(one.before.text)] = one
    return by_name, by_text


def _is_same(item: _Ours, there: State) -> bool:
    if state_hash(item.state) == hash_of(there):
        return True
    if item.kind is not Kind.DMN_RULE:
        return False
    try:
        return same_table(item.state.content, there.text)
    except RuleInvalid:
        return False


def _ordered(steps: Sequence[Step]) -> list[Step]:
    """Return the steps with skills last, each after those that it refers to."""
    skills: dict[str, Step] = {step.id: step for step in steps if step.kind is Kind.SKILL}
    bundles: dict[str, Bundle] = {}
    for name, step in skills.items():
        if step.after is not None:
            bundles[name] = Bundle(name=name, files=files_of(step.after))
    ordered = [skills[name] for name in in_order(bundles)]
    rest = [step for name, step in skills.items() if name not in bundles]
    return [*(step for step in steps if step.kind is not Kind.SKILL), *ordered, *rest]


def _pinning(step: Step) -> Step:
    """Return the step that puts on record where a skill is from; it says the same."""
    return replace(step, standing=Standing.CHANGED, why=Message("promote.to_pin"))


async def _standing(installed: InstalledSkills, tenant_id: str, name: str) -> Published | None:
    """Return where a skill that stands was installed from; None if it was not."""
    found = await installed.list(tenant_id, name)
    return next((one.published for one in found if not one.is_held), None)
