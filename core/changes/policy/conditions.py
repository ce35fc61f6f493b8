"""The conditions of a rule, and what they look at: who asks, for what, and what it would say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from typing import Annotated, Any, TypeVar
from unicodedata import normalize

from pydantic import BeforeValidator, Field, field_validator

from core.decision_table.feel import Scope as Names
from core.decision_table.feel import Value, evaluate, parse_expression
from core.domain.errors import BundleInvalid, RuleInvalid
from core.domain.messages import Message
from core.domain.models import Asker, Change, FileRef, Kind, Operation, Origin, Scope, Snapshot
from core.domain.models.base import Model

_T = TypeVar("_T")
_SCRIPTS = "scripts/"
_NOBODY = Asker()


@dataclass(frozen=True)
class Case:
    """A change as rules see it, with the roles of who asks for it.

    `unknown` are the conditions that cannot be decided yet: of a change that is only asked for,
    what looks at its content.
    """

    change: Change
    roles: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()

    @property
    def asker(self) -> Asker:
        """Who asks; nobody, where no feedback does."""
        return self.change.asker or _NOBODY


def _listed(value: object) -> object:
    return value if value is None or isinstance(value, list | tuple) else [value]


# A single value is accepted as a list of one.
Some = Annotated[tuple[_T, ...], BeforeValidator(_listed)]


class Conditions(Model):
    """The conditions of a rule: a change must meet all that are set.

    All names but `role` take `*` and `?`; an author of "" is one who is not named. `role` is one
    that the author has, or the token that the feedback was given with; `author_accepted` says
    whether a person has approved something that the author taught. `finding` is the code or the
    severity of a finding of the screen. `warning` is searched in the warnings, ignoring case;
    `changed_over` counts characters. `commands` are those that the shell code of a SKILL.md runs,
    as `rm *`. `scope` is for whom a memory is after the change, or was before.
    """

    kind: Some[Kind] | None = None
    operation: Some[Operation] | None = None
    origin: Some[Origin] | None = None
    tenant: Some[str] | None = None
    agent: Some[str] | None = None
    author: Some[str] | None = None
    role: Some[str] | None = None
    source: Some[str] | None = None
    author_accepted: bool | None = None
    target: Some[str] | None = None
    finding: Some[str] | None = None
    warned: bool | None = None
    warning: Some[str] | None = None
    scripts: bool | None = None
    commands: Some[str] | None = None
    scope: Some[Scope] | None = None
    changed_over: int | None = Field(default=None, ge=0)

    @field_validator("*", mode="before")
    @classmethod
    def _something(cls, value: object) -> object:
        """Refuse a condition left empty: it would not narrow the rule as its author meant."""
        if value is None or value == [] or value == ():
            raise ValueError(Message("policy.empty_condition"))
        return value

    def answers(self, case: Case) -> Iterator[tuple[str, bool | None]]:
        """Yield each condition that is set, and whether it is met; None if that is not known."""
        for name in type(self).model_fields:
            wanted = getattr(self, name)
            if wanted is not None:
                yield name, None if name in case.unknown else _MET[name](case, wanted)


def is_like(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name is one of these, in which `*` and `?` stand for others."""
    # Not `fnmatch`, which ignores case on some systems and not on others.
    composed = normalize("NFC", name)
    return any(fnmatchcase(composed, normalize("NFC", pattern)) for pattern in patterns)


def _asked(name: str | None, case: Case, patterns: Sequence[str]) -> bool:
    return case.change.asker is not None and is_like(name or "", patterns)


def _says(case: Case, wanted: Sequence[str]) -> bool:
    told = "\n".join(case.change.warnings).casefold()
    return any(words.casefold() in told for words in wanted)


def _found(case: Case, wanted: Sequence[str]) -> bool:
    findings = case.change.findings
    return any(is_like(one.code, wanted) or one.severity in wanted for one in findings)


def _runs(state: Snapshot | None, wanted: Sequence[str]) -> bool:
    """Whether the steps of a skill run a command; so do those that nobody can read."""
    from core.skills.commands import runs

    if state is None or state.files is None:
        return False
    try:
        return runs(state.content, wanted)
    except BundleInvalid:
        return True


_MET: Mapping[str, Callable[[Case, Any], bool]] = {
    "kind": lambda case, wanted: case.change.kind in wanted,
    "operation": lambda case, wanted: case.change.operation in wanted,
    "origin": lambda case, wanted: case.change.origin in wanted,
    "tenant": lambda case, wanted: is_like(case.change.tenant_id, wanted),
    "agent": lambda case, wanted: is_like(case.change.agent_id, wanted),
    "author": lambda case, wanted: _asked(case.asker.author, case, wanted),
    "role": lambda case, wanted: not case.roles.isdisjoint(wanted),
    "source": lambda case, wanted: _asked(case.asker.source, case, wanted),
    "author_accepted": lambda case, wanted: wanted == case.asker.is_accepted,
    "target": lambda case, wanted: is_like(case.change.target_name, wanted),
    "finding": _found,
    "warned": lambda case, wanted: wanted == bool(case.change.warnings),
    "warning": _says,
    "scripts": lambda case, wanted: wanted == has_scripts(case.change),
    "commands": lambda case, wanted: _runs(case.change.after, wanted),
    "scope": lambda case, wanted: not scopes(case.change).isdisjoint(wanted),
    "changed_over": lambda case, wanted: changed_characters(case.change) > wanted,
}
# What is known of a change before it is prepared, and so before its tool is offered.
BEFORE = frozenset(
    {"kind", "operation", "origin", "tenant", "agent", "author", "role", "source", "feedback"}
)
AFTER = (frozenset(_MET) | {"content"}) - BEFORE


def scopes(change: Change) -> frozenset[Scope]:
    """Return for whom a memory is, before and after a change; of other kinds none."""
    states = (change.before, change.after) if change.kind is Kind.MEMORY else ()
    return frozenset(state.reach.scope for state in states if state is not None)


def has_scripts(change: Change) -> bool:
    """Whether the skill after a change has executable files."""
    files = _files(change.after)
    return any(path.startswith(_SCRIPTS) or ref.executable for path, ref in files.items())


def changed_characters(change: Change) -> int:
    """Return how much a change adds and removes, in characters; in bytes for a skill's other files.

    A moved line does not count.
    """
    before, after = change.before, change.after
    old = Counter((before.content if before else "").splitlines())
    new = Counter((after.content if after else "").splitlines())
    lines = sum(len(line) * times for line, times in ((old - new) + (new - old)).items())
    return lines + _changed_bytes(_files(before), _files(after))


def _changed_bytes(old: Mapping[str, FileRef], new: Mapping[str, FileRef]) -> int:
    paths = (old.keys() | new.keys()) - {"SKILL.md"}
    changed = [(old.get(path), new.get(path)) for path in paths if old.get(path) != new.get(path)]
    return sum(max(ref.size for ref in pair if ref) for pair in changed)


def _files(state: Snapshot | None) -> Mapping[str, FileRef]:
    return (state.files or {}) if state else {}


def _text(state: Snapshot | None) -> str:
    return state.content if state else ""


# What an `if` sees: by name, the condition that has to be known for it, and its value.
_VALUES: Mapping[str, tuple[str, Callable[[Case], Value]]] = {
    "kind": ("kind", lambda case: case.change.kind.value),
    "operation": ("operation", lambda case: case.change.operation.value),
    "origin": ("origin", lambda case: case.change.origin.value),
    "tenant": ("tenant", lambda case: case.change.tenant_id),
    "agent": ("agent", lambda case: case.change.agent_id),
    "author": ("author", lambda case: case.asker.author),
    "roles": ("role", lambda case: tuple(sorted(case.roles))),
    "source": ("source", lambda case: case.asker.source),
    "author_accepted": ("author_accepted", lambda case: case.asker.is_accepted),
    "target": ("target", lambda case: case.change.target_name),
    "findings": ("finding", lambda case: tuple(one.code for one in case.change.findings)),
    "warnings": ("warning", lambda case: tuple(map(str, case.change.warnings))),
    "scripts": ("scripts", lambda case: has_scripts(case.change)),
    "scopes": ("scope", lambda case: tuple(sorted(one.value for one in scopes(case.change)))),
    "changed": ("changed_over", lambda case: Decimal(changed_characters(case.change))),
    "before": ("content", lambda case: _text(case.change.before)),
    "after": ("content", lambda case: _text(case.change.after)),
    "files": ("content", lambda case: tuple(sorted(_files(case.change.after)))),
    "feedback": ("feedback", lambda case: case.change.feedback_content),
    "reason": ("content", lambda case: str(case.change.reason)),
}
NAMES = tuple(_VALUES)
_CLOCKS = {"now", "today"}


def checked_condition(text: str) -> str:
    """Return an `if` as it is. Raises ValueError if it is no FEEL, or gives no yes or no."""
    if not text.strip():
        raise ValueError(Message("policy.empty_condition"))
    try:
        node = parse_expression(text, NAMES)
    except RuleInvalid as error:
        raise ValueError(error.message) from None
    if any(part.op == "call" and part.value in _CLOCKS for part in node.walk()):
        raise ValueError(Message("policy.no_clock"))
    value = evaluate(node, Names({name: _EXAMPLE[name] for name in NAMES}))
    if value is not None and not isinstance(value, bool):
        raise ValueError(Message("policy.no_yes_or_no"))
    return text


# Of the types that the values have: what `if` gives does not depend on which they are.
_EXAMPLE: Mapping[str, Value] = {
    **dict.fromkeys(NAMES, "x"),
    **dict.fromkeys(("roles", "findings", "warnings", "scopes", "files"), ("x",)),
    "author_accepted": True,
    "scripts": True,
    "changed": Decimal(1),
}


def condition_holds(text: str, case: Case) -> bool | None:
    """Whether an `if` comes to true; None if it has no value, as after an error."""
    values = {name: _VALUES[name][1](case) for name in _used(text)}
    found = evaluate(parse_expression(text, NAMES), Names(values))
    return found if isinstance(found, bool) else None


def condition_needs(text: str) -> frozenset[str]:
    """Return the conditions that must be known to decide an `if`."""
    return frozenset(_VALUES[name][0] for name in _used(text))


@cache
def _used(text: str) -> frozenset[str]:
    nodes = parse_expression(text, NAMES).walk()
    return frozenset(str(node.value) for node in nodes if node.op == "name")
