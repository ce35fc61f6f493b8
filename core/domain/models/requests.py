"""Requests to the change gate, one model for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from core.domain.models.base import Model, Scope, Snapshot
from core.domain.models.knowledge import Kind, MergeMode, Operation, Relationship, RuleDraft
from core.domain.models.messages import Text
from core.domain.models.skills import SkillArtifact, SkillFile


class _Request(Model):
    # A person brings it in or reviews it: near-duplicates are reported but do not block it.
    is_import: bool = False
    operation: Operation
    target_id: str | None = None
    merge_mode: MergeMode | None = None
    relationship: Relationship | None = None
    reason: Text = ""


class MemoryRequest(_Request):
    """A request to create, update or delete a memory.

    With REFINE, `part` is the passage of the old text that `content` replaces. `valid_until` and
    `scope` are set where the request says how long and for whom it holds; `endless` removes an
    end. `user` is the end user's id; with the scope USER it defaults to the feedback's author.
    """

    kind: Literal[Kind.MEMORY] = Kind.MEMORY
    content: str = ""
    part: str = ""
    valid_until: datetime | None = None
    endless: bool = False
    scope: Scope | None = None
    user: str | None = None


class RuleRequest(_Request):
    """A request to create, edit or delete a decision table.

    `document` is a whole DMN document, used as is in place of the draft `rule`.
    """

    kind: Literal[Kind.DMN_RULE] = Kind.DMN_RULE
    rule: RuleDraft = RuleDraft()
    document: str = ""


class SkillRequest(_Request):
    """A request to create, update or delete a skill; without `artifact` the author writes it.

    `folder` is a whole folder (path -> file), used as is in place of both.
    """

    kind: Literal[Kind.SKILL] = Kind.SKILL
    artifact: SkillArtifact | None = None
    folder: Mapping[str, SkillFile] | None = None
    relationship_analysis: str = ""
    related_skill_ids: tuple[str, ...] = ()


class AttachRequest(_Request):
    """A request to put existing skills on the agent's list; the target is the agent."""

    kind: Literal[Kind.AGENT_SKILLS] = Kind.AGENT_SKILLS
    operation: Operation = Operation.UPDATE
    skill_ids: tuple[str, ...]


class RestoreRequest(_Request):
    """A request to restore a target to a recorded state (None: absent), as a revert does.

    Refused if the target no longer has `expected_hash`: a later change stands in the way. `folder`
    is the whole folder of a skill whose state was never stored; `retracts` names the changes of the
    target that it reverts.
    """

    kind: Literal["RESTORE"] = "RESTORE"
    target_kind: Kind
    target_id: str
    state: Snapshot | None
    expected_hash: str
    folder: Mapping[str, SkillFile] | None = None
    reverts: str | None = None
    retracts: tuple[str, ...] = ()


ChangeRequest = Annotated[
    MemoryRequest | RuleRequest | SkillRequest | AttachRequest | RestoreRequest,
    Field(discriminator="kind"),
]


class Edited(Model):
    """The content by which a person replaces that of a held change, as a whole.

    `content` is a memory's text, a decision table's DMN document, a skill's SKILL.md or skill
    names, one per line; `files` is a skill's whole folder, in which `content` replaces SKILL.md.
    """

    content: str | None = None
    files: Mapping[str, SkillFile] | None = None
