"""Cases: what must stay true of what was learnt, and whether it does."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import AliasChoices, Field, JsonValue

from core.domain.models.base import Model, Text
from core.domain.models.knowledge import Kind

ItemKey = tuple[str, Kind, str]  # tenant, kind, id
MOST_IN_REACH = 50  # older cases that are run for one change; the rest is run once a day


class Check(StrEnum):
    """How a case is checked. All but `BEHAVIOUR` give the same answer each time, without a model.

    RECALL, SILENCE: the search of agents finds the item for a question, or must not. UNSAID: the
    text is nowhere in the item. DECISION: the table's outputs for inputs. CHOSEN, NOT_CHOSEN: the
    skill is the first for a request among all that its agent lists, or must not be. STANDS,
    WITHDRAWN: a skill says something, in a section where one is named, or says it no more. SCRIPT:
    a script's output for an input. BEHAVIOUR: what an agent's answer to a task must do.
    """

    RECALL = "recall"
    SILENCE = "silence"
    UNSAID = "unsaid"
    DECISION = "decision"
    CHOSEN = "chosen"
    NOT_CHOSEN = "not_chosen"
    STANDS = "stands"
    WITHDRAWN = "withdrawn"
    SCRIPT = "script"
    BEHAVIOUR = "behaviour"


class CaseOrigin(StrEnum):
    """Who made a case: the model with its change, code from what the change does, or a person."""

    MODEL = "model"
    DERIVED = "derived"
    PERSON = "person"


class CaseRole(StrEnum):
    """PROOF: it failed on the state before its change and passes after. Others are REGRESSION."""

    PROOF = "proof"
    REGRESSION = "regression"


class CaseStatus(StrEnum):
    """What is known of a case (contracts, section 10). UNPROVED: it has never been run."""

    GREEN = "green"
    RED = "red"
    UNPROVED = "unproved"
    DISABLED = "disabled"


class CaseBody(Model):
    """What a case asks and expects, as a model or a person writes it.

    `text` is the question, the request, the statement, the task, or the path of a script; `section`
    a heading of a skill, `of` another skill that must say it: this one relies on it. `inputs` and
    `outputs` are those of a decision table (column -> value), `input` and `output` those of a
    script. `must` and `must_not` are what an answer must do, or the rows that must match, and must
    not; `at_least` (of `runs`) is of BEHAVIOUR.
    """

    check: Check
    text: str = Field(
        default="", validation_alias=AliasChoices("text", "question", "request", "script", "task")
    )
    section: str = Field(default="", exclude_if=lambda value: not value)
    of: str = Field(default="", exclude_if=lambda value: not value)
    inputs: Mapping[str, JsonValue] = Field(
        default_factory=dict, exclude_if=lambda value: not value
    )
    outputs: JsonValue = Field(default=None, exclude_if=lambda value: value is None)
    input: str = Field(default="", exclude_if=lambda value: not value)
    output: str = Field(default="", exclude_if=lambda value: not value)
    must: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    must_not: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    runs: int = Field(default=1, ge=1, le=20, exclude_if=lambda value: value == 1)
    at_least: float = Field(default=1.0, gt=0, le=1, exclude_if=lambda value: value == 1.0)


class Case(Model):
    """A case of an item. `since` is when its status last changed, `by_change` what changed it.

    `change_id` is the change it came with, None if a person added it. `note` is why it is red, or
    why a person disabled it. Where it cannot be run any more, its status stays, and `unrun_since`
    and `unrun_why` say so. Cases of a retracted change are gone with it.
    """

    id: str
    tenant_id: str
    agent_id: str
    kind: Kind
    item_id: str
    item_name: str = ""
    body: CaseBody
    role: CaseRole
    origin: CaseOrigin
    status: CaseStatus = CaseStatus.UNPROVED
    change_id: str | None = None
    feedback_id: str | None = None
    by: str | None = None
    note: Text = ""
    created_at: datetime | None = None
    since: datetime | None = None
    by_change: str | None = None
    unrun_since: datetime | None = None
    unrun_why: Text = ""

    @property
    def is_on(self) -> bool:
        """Whether it is asked at all."""
        return self.status is not CaseStatus.DISABLED


class CaseResult(Model):
    """How a case ended: `passed` is None where it could not be run, and `why` says why.

    `found` are the ids of what its question or request brought up.
    """

    case: Case
    passed: bool | None
    why: Text = ""
    found: tuple[str, ...] = ()

    @property
    def status(self) -> CaseStatus:
        """What is known of the case after this run; where it could not be run, what was before."""
        if self.passed is None:
            return self.case.status
        return CaseStatus.GREEN if self.passed else CaseStatus.RED


class CaseFilter(Model):
    """Filter a list of cases; None matches any."""

    tenant_id: str | None = None
    agent_id: str | None = None
    kind: Kind | None = None
    item_id: str | None = None
    change_id: str | None = None
    check: Check | None = None
    status: CaseStatus | None = None


class CaseCounts(Model):
    """How many cases an item, or all of a tenant, has by status."""

    green: int = 0
    red: int = 0
    unproved: int = 0
    disabled: int = 0

    @property
    def badge(self) -> CaseStatus:
        """What is known of the item: RED if one fails, GREEN if one holds, else UNPROVED."""
        if self.red:
            return CaseStatus.RED
        return CaseStatus.GREEN if self.green else CaseStatus.UNPROVED


class CasesTried(Model):
    """When the cases of a change were run: `seen` is what the search knew of, by kind.

    `excused` are older ones that failed before the change: it has not broken them. `drifted` are
    questions that now just miss their item, since the change shifts what words weigh.
    """

    seen: tuple[int, ...]
    excused: frozenset[str] = frozenset()
    drifted: tuple[CaseResult, ...] = ()


class CasesInReach(Model):
    """The older cases that a change may break, and what the search knew of when they were read."""

    cases: tuple[Case, ...] = ()
    seen: tuple[int, ...] = ()


class BareItem(Model):
    """A known item without a case. `content` is its text, of a skill empty: the store has it.

    `revision` grows with each item that is written; `change_id` is the change that made it so.
    """

    tenant_id: str
    kind: Kind
    item_id: str
    name: str
    revision: int
    agent_id: str | None
    content: str
    change_id: str | None = None
    feedback_id: str | None = None
