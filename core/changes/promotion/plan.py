"""What promotion makes of one item: the state it comes from, the one it meets, their origin (pure).

As in a merge of branches, what only the source has changed is taken over, what only the target has
changed stays, and what both have changed is merged where code can; a person decides the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from core.changes.steps import files_of, to_snapshot
from core.changes.three_way_merge import Clash, State, rebased
from core.domain.hashing import state_hash
from core.domain.messages import Message
from core.domain.models import (
    ChangeRequest,
    Kind,
    KindRequest,
    MemoryRequest,
    MergeMode,
    Operation,
    Relationship,
    RuleRequest,
    SkillFile,
    SkillListRequest,
    SkillRequest,
)
from core.domain.models.installed import Published


class Standing(StrEnum):
    """How an item of the source and what the target knows stand to each other."""

    NEW = "new"
    CHANGED = "changed"
    MERGED = "merged"
    CONFLICT = "conflict"
    SAME = "same"
    KEPT = "kept"
    ONLY_IN_TARGET = "only_in_target"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class AsPublished:
    """Where a skill is installed from, and the files that were published there."""

    published: Published
    files: Mapping[str, SkillFile]


@dataclass(frozen=True)
class Step:
    """An item, what the target knows of it, and what it is to say there.

    `source` is the hash of the source's state, from which the next promotion goes on. `is_listed`
    says of a skill that it is only put on the agent's list; `why` explains the standing.
    `published` says where a skill of the source is installed from, unless the target knows that.
    """

    kind: Kind
    id: str
    name: str
    standing: Standing
    source: str
    before: State | None = None
    after: State | None = None
    why: str = ""
    version: int = 0
    is_listed: bool = False
    is_deleted: bool = False
    published: AsPublished | None = None

    @property
    def writes(self) -> bool:
        """Whether something is to be changed in the target."""
        moves = {Standing.NEW, Standing.CHANGED, Standing.MERGED, Standing.CONFLICT}
        return self.standing in moves or self.is_deleted

    @property
    def mark(self) -> tuple[str, ...]:
        """What was shown of it: what is written later is to be just this."""
        states = (self.before, self.after)
        hashes = (hash_of(state) for state in states)
        pin = self.published.published.digest if self.published else ""
        return (self.kind, self.id, self.standing, self.source, *hashes, str(self.is_listed), pin)


@dataclass(frozen=True)
class Origin:
    """The state that source and target had in common; `is_known` is false if nobody knows."""

    state: State | None = None
    is_known: bool = False


def hash_of(state: State | None) -> str:
    """Return the hash of a state, as of its snapshot."""
    return state_hash(to_snapshot(state)[0] if state is not None else None)


def decide(step: Step, ours: State, origin: Origin) -> Step:
    """Return what becomes of an item whose state in the target differs from ours."""
    there = step.before
    if not origin.is_known:
        why = Message("promote.no_origin") if there else Message("promote.deleted_there")
        return _made(step, Standing.CONFLICT, ours, why)
    if hash_of(origin.state) == hash_of(ours):
        kept = Message("promote.changed_there") if there else Message("promote.deleted_there")
        return _made(step, Standing.KEPT, there, kept)
    if hash_of(origin.state) == hash_of(there):
        return _made(step, Standing.CHANGED if there else Standing.NEW, ours)
    if there is None or origin.state is None:
        why = Message("promote.deleted_there") if there is None else Message("promote.both")
        return _made(step, Standing.CONFLICT, ours, why)
    return _merged(step, ours, origin.state, there)


def _merged(step: Step, ours: State, origin: State, there: State) -> Step:
    try:
        made = rebased(step.kind, origin, ours, there)
    except Clash:
        return _made(step, Standing.CONFLICT, ours, Message("promote.both"))
    if hash_of(made) == hash_of(there):
        return _made(step, Standing.KEPT, there, Message("promote.has_it"))
    return _made(step, Standing.MERGED, made, Message("promote.merged"))


def _made(step: Step, standing: Standing, after: State | None, why: str = "") -> Step:
    kept = standing is Standing.KEPT
    return replace(
        step, standing=standing, after=after, why=why, published=None if kept else step.published
    )


def request_of(step: Step, reason: str) -> ChangeRequest:
    """Return the request for a step; a conflict waits for a person, whatever the policy says."""
    if step.is_listed:
        return SkillListRequest(skill_ids=(step.id,), reason=reason)
    given: dict[str, object] = {
        "operation": _operation(step),
        "target_id": step.id,
        "is_import": True,
        "reason": reason,
        "must_wait": step.why if step.standing is Standing.CONFLICT else "",
    }
    if step.is_deleted:
        return _deletion(step.kind, given)
    if step.before is None:
        return _content(step, {**given, "relationship": Relationship.UNRELATED})
    how = {"merge_mode": MergeMode.REPLACE, "relationship": Relationship.SUPERSEDES}
    return _content(step, {**given, **how})


def _operation(step: Step) -> Operation:
    if step.is_deleted:
        return Operation.DELETE
    return Operation.UPDATE if step.before is not None else Operation.CREATE


def _deletion(kind: Kind, given: Mapping[str, object]) -> ChangeRequest:
    if kind is Kind.MEMORY:
        return MemoryRequest.model_validate(given)
    if kind is Kind.DMN_RULE:
        return RuleRequest.model_validate(given)
    if kind is Kind.SKILL:
        return SkillRequest.model_validate(given)
    return KindRequest.model_validate({**given, "target_kind": kind})


def _content(step: Step, given: Mapping[str, object]) -> ChangeRequest:
    state = step.after
    assert state is not None
    if step.kind is Kind.MEMORY:
        endless = step.before is not None and state.reach.valid_until is None
        said = {"content": state.text, "endless": endless}
        return MemoryRequest.model_validate({**given, **dict(state.reach), **said})
    if step.kind is Kind.DMN_RULE:
        return RuleRequest.model_validate({**given, "document": state.text})
    if step.kind is Kind.SKILL:
        return SkillRequest.model_validate({**given, "folder": files_of(state), **_pin(step)})
    return KindRequest.model_validate({**given, "target_kind": step.kind, "text": state.text})


def _pin(step: Step) -> Mapping[str, object]:
    if step.published is None:
        return {}
    return {"published": step.published.published, "as_published": step.published.files}
