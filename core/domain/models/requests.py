"""Requests to the change gate, one model for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from core.domain.models.base import Model, Reach, Scope, Snapshot, Text, absent
from core.domain.models.cases import CaseBody
from core.domain.models.installed import Published, Upgrade
from core.domain.models.knowledge import Kind, MergeMode, Operation, Relationship, RuleDraft
from core.domain.models.skills import SkillArtifact, SkillFile


class Lister(Model):
    """An agent that has a skill on its list."""

    id: str
    name: str

    @property
    def shown(self) -> str:
        """Its name, with its id where that is another."""
        return self.id if self.name == self.id else f"{self.name} ({self.id})"


# Left out where it says nothing: a run that was cut off before the field existed asks again under
# the same key, which must come with the same request.
_Unsaid = Field(exclude_if=absent)


class _Request(Model):
    # A person brings it in or reviews it: near-duplicates are reported but do not block it.
    is_import: bool = False
    operation: Operation
    target_id: str | None = None
    merge_mode: MergeMode | None = None
    relationship: Relationship | None = None
    reason: Text = ""
    # Not asked but found: the other agents that list the skill when its deletion was prepared.
    listed_by: Annotated[tuple[Lister, ...], _Unsaid] = ()
    # What must hold after it, and went wrong before.
    cases: Annotated[tuple[CaseBody, ...], _Unsaid] = ()
    # Why a person decides first, whatever the policy says.
    must_wait: Annotated[Text, _Unsaid] = ""


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

    `folder` is a whole folder (path -> file), used as is in place of both; `published` says where
    it was installed from, and `as_published` what was published, if that is not the folder. If it
    `upgrades`, what was learnt since the base is merged into it. A skill that other agents list is
    deleted only `for_all`; else it is taken off this agent's list.
    """

    kind: Literal[Kind.SKILL] = Kind.SKILL
    artifact: SkillArtifact | None = None
    folder: Mapping[str, SkillFile] | None = None
    relationship_analysis: str = ""
    related_skill_ids: tuple[str, ...] = ()
    for_all: Annotated[bool, _Unsaid] = False
    published: Annotated[Published | None, _Unsaid] = None
    as_published: Annotated[Mapping[str, SkillFile] | None, _Unsaid] = None
    upgrades: Annotated[Upgrade | None, _Unsaid] = None


class KindRequest(_Request):
    """A request to create, update or delete an item of a kind that a package adds.

    `content` is data for the kind's model; `text` is the whole item as its kind writes it, used
    as is in place of it.
    """

    kind: Literal["KIND"] = "KIND"
    target_kind: Kind
    content: Mapping[str, JsonValue] = Field(default_factory=dict)
    text: str = ""


class ListEdit(StrEnum):
    """What is done with the named skills: they are put on a list, taken off, or become the list."""

    ADD = "add"
    REMOVE = "remove"
    SET = "set"


class SkillListRequest(_Request):
    """A request to change the agent's list of skills; the target is the agent."""

    kind: Literal[Kind.AGENT_SKILLS] = Kind.AGENT_SKILLS
    operation: Operation = Operation.UPDATE
    skill_ids: tuple[str, ...]
    edit: Annotated[ListEdit, Field(exclude_if=lambda edit: edit is ListEdit.ADD)] = ListEdit.ADD


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
    MemoryRequest | RuleRequest | SkillRequest | SkillListRequest | KindRequest | RestoreRequest,
    Field(discriminator="kind"),
]


class Edited(Model):
    """The content by which a person replaces that of a held change, as a whole.

    `content` is a memory's text, a decision table's DMN document, a skill's SKILL.md or skill
    names, one per line; `files` is a skill's whole folder, in which `content` replaces SKILL.md.
    `reach` is how long and for whom a memory holds; without it that stays.
    """

    content: str | None = None
    reach: Reach | None = None
    files: Mapping[str, SkillFile] | None = None
