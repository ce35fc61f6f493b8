"""The kinds of knowledge, how one piece relates to another, and decision tables as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import Field, GetJsonSchemaHandler, JsonValue
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from core.domain.models.base import Model, Reach, Scope, Text

# Of UTF-8. Memories are shown whole in every prompt they fit, skills are read on demand.
MAX_MEMORY_BYTES = 16 * 2**10


KIND_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
MAX_KIND_CHARS = 30


class Kind(StrEnum):
    """What can be changed through the gate: the three kinds, and an agent's list of skills.

    Besides, the kinds that packages add, by their names. Such a name is read whether or not the
    package is there; what is changed needs it (`core/domain/kinds.py`).
    """

    MEMORY = "MEMORY"
    DMN_RULE = "DMN_RULE"
    SKILL = "SKILL"
    AGENT_SKILLS = "AGENT_SKILLS"

    @classmethod
    def _missing_(cls, value: object) -> Kind | None:
        """Return the kind of a package; it equals any other of the same name."""
        if not isinstance(value, str) or not is_kind_name(value):
            return None
        made = str.__new__(cls, value)
        made._name_ = made._value_ = str(value)
        return made

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema of a name, not that of a closed list."""
        named = {"type": "string", "pattern": f"^{KIND_NAME.pattern}$", "maxLength": MAX_KIND_CHARS}
        about = f"{', '.join(cls)}, or the name of a kind that a package adds"
        return {**named, "description": about, "examples": [kind.value for kind in cls]}

    @property
    def is_built_in(self) -> bool:
        """Whether it is one of ours, which no package adds."""
        return self.value in Kind.__members__

    @property
    def argument(self) -> str:
        """The argument of its write tool that names an item."""
        return "rule_id" if self is Kind.DMN_RULE else f"{self.lower()}_id"


def is_kind_name(text: str) -> bool:
    """Whether a text can be the name of a kind: `GLOSSARY`, `SAFETY_NOTE`."""
    return len(text) <= MAX_KIND_CHARS and KIND_NAME.fullmatch(text) is not None


# The kinds of items that agents know, as far as they are ours.
ITEM_KINDS = (Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL)


class Operation(StrEnum):
    """What a change does to its target."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


class Relationship(StrEnum):
    """How new knowledge relates to the item it touches."""

    DUPLICATE = "DUPLICATE"
    EXTENDS = "EXTENDS"
    REFINES = "REFINES"
    EXCEPTION = "EXCEPTION"
    CONFLICTS = "CONFLICTS"
    SUPERSEDES = "SUPERSEDES"
    COMPLEMENTS = "COMPLEMENTS"
    UNRELATED = "UNRELATED"


class MergeMode(StrEnum):
    """EXTEND adds, REFINE changes a named part, REPLACE supersedes the whole."""

    EXTEND = "EXTEND"
    REFINE = "REFINE"
    REPLACE = "REPLACE"


class KnowledgeItem(Model):
    """An item as it stands or stood: `content` is text, DMN XML, or a SKILL.md.

    `valid_to` is set once it was superseded or deleted; `version` counts from 1. `valid_until`,
    `scope` and `user` are the reach of a memory.
    """

    id: str
    kind: Kind
    tenant_id: str
    agent_id: str
    name: str
    content: str
    version: int = 1
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    relationship: Relationship | None = None
    change_id: str | None = None
    feedback_id: str | None = None
    valid_until: datetime | None = None
    scope: Scope = Scope.AGENT
    user: str | None = None

    @property
    def reach(self) -> Reach:
        """How long and for whom it holds."""
        return Reach(valid_until=self.valid_until, scope=self.scope, user=self.user)


class HitPolicy(StrEnum):
    """Hit policies of DMN 1.3 (8.2.10), by their names in the XML."""

    UNIQUE = "UNIQUE"
    FIRST = "FIRST"
    PRIORITY = "PRIORITY"
    ANY = "ANY"
    COLLECT = "COLLECT"
    RULE_ORDER = "RULE ORDER"
    OUTPUT_ORDER = "OUTPUT ORDER"


class Aggregation(StrEnum):
    """Aggregations of COLLECT (DMN 1.3: C+, C#, C<, C>), by their names in the XML."""

    SUM = "SUM"
    COUNT = "COUNT"
    MIN = "MIN"
    MAX = "MAX"


class InputColumn(Model):
    """An input clause: a FEEL expression over the case, with a FEEL type."""

    name: str = Field(min_length=1, max_length=200)
    type: str = "string"
    allowed: str = Field(default="", description="the allowed values as FEEL unary tests")


class OutputColumn(Model):
    """An output clause: a named value with a FEEL type."""

    name: str = Field(min_length=1, max_length=200)
    type: str = "string"
    allowed: str = Field(
        default="", description="the allowed values as FEEL unary tests, highest priority first"
    )
    default: str = Field(default="", description="the FEEL value where no row fires")


class DecisionRow(Model):
    """A row: one FEEL unary test an input, one FEEL literal an output, in column order."""

    id: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    annotation: str = ""


class DecisionTable(Model):
    """A decision table as data."""

    name: str = Field(min_length=1, max_length=200)
    hit_policy: HitPolicy = HitPolicy.UNIQUE
    aggregation: Aggregation | None = None
    inputs: tuple[InputColumn, ...]
    outputs: tuple[OutputColumn, ...]
    rows: tuple[DecisionRow, ...] = ()
    declared: tuple[InputColumn, ...] = Field(
        default=(), description="what cells may name besides the inputs: a document's other data"
    )


class DefectKind(StrEnum):
    """What can be wrong with a well-formed decision table."""

    OVERLAP = "overlap"
    CONTRADICTION = "contradiction"
    DEAD_ROW = "dead_row"
    SUBSUMED_ROW = "subsumed_row"
    GAP = "gap"
    NOT_ALLOWED = "not_allowed"
    UNREADABLE = "unreadable"
    NOT_CHECKED = "not_checked"
    SPOKEN_TEST = "spoken_test"


class Severity(StrEnum):
    """An `error` refuses the change that introduces it; a `warning` is passed on with it."""

    ERROR = "error"
    WARNING = "warning"


class Defect(Model):
    """One finding about a decision table.

    `rows` are row ids in table order, `columns` column names; `example` is an input that shows it:
    input column -> JSON value, None if no single input does.
    """

    kind: DefectKind
    severity: Severity
    message: Text
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    example: Mapping[str, JsonValue] | None = None


class RowEdit(Model):
    """A row as the model writes it. With `id` it changes that row, without it adds one."""

    id: str | None = Field(default=None, description="the row to change; leave out to add a row")
    before: str | None = Field(
        default=None,
        description="for a row that is added: the row that it is to stand before, as an exception "
        "does under FIRST; leave out to add it at the end",
    )
    inputs: dict[str, str] = Field(
        description="input column -> FEEL unary test, e.g. '> 1000000', '\"VIP\"', '-' for any"
    )
    outputs: dict[str, str] = Field(description="output column -> FEEL literal, e.g. '\"manager\"'")
    annotation: str = Field(default="", description="the rule in one plain sentence")
    example: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="the case that the feedback itself tells of: input column -> plain JSON value, "
        'e.g. {"amount": 1500000}; leave out where it tells of none',
    )


class RuleDraft(Model):
    """A rule as the model writes it: a whole table for CREATE, edits of rows for UPDATE."""

    name: str = Field(default="", description="name of the decision table; required for CREATE")
    inputs: tuple[InputColumn, ...] = Field(default=(), description="columns of the conditions")
    outputs: tuple[OutputColumn, ...] = Field(default=(), description="columns of the outcome")
    hit_policy: HitPolicy | None = Field(default=None, description="default UNIQUE")
    rows: tuple[RowEdit, ...] = Field(default=(), description="one entry for each rule")
    remove_rows: tuple[str, ...] = Field(default=(), description="ids of rows to remove")
