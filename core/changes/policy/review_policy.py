"""Review policies: which prepared changes are held for a person, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from core.domain.errors import ConfigurationError
from core.domain.messages import Message, joined
from core.domain.models import (
    Change,
    FileRef,
    Kind,
    Lister,
    Operation,
    Origin,
    Scope,
    Snapshot,
)
from core.domain.models.base import Model

# Returns why a change is held, one sentence per reason; none to apply it at once.
Policy = Callable[[Change], Sequence[str]]
_SCRIPTS = "scripts/"
_T = TypeVar("_T")
_A_RULE = Message("policy.a_rule")
# The reasons used in `presets/`, which a custom policy may use too.
_SHIPPED = {
    str(reason): reason
    for reason in (
        Message("policy.every_change"),
        Message("policy.warned"),
        Message("policy.scripts"),
        Message("policy.deletes"),
        Message("policy.large"),
        Message("policy.tenant_wide"),
    )
}


def _listed(value: object) -> object:
    return value if value is None or isinstance(value, list | tuple) else [value]


# A single value is accepted as a list of one.
Some = Annotated[tuple[_T, ...] | None, BeforeValidator(_listed)]


def apply_all(change: Change) -> Sequence[str]:
    """Hold nothing: apply every change that no check refuses."""
    del change
    return ()


_NAMED = 10


def required_review(change: Change) -> Sequence[str]:
    """Return why a change waits for a person whatever the policy says."""
    if not change.deletes_for_all:
        return ()
    agents = named_briefly(change.listed_by)
    return (Message("policy.others_list", name=change.target_name, agents=agents),)


def named_briefly(listers: Sequence[Lister]) -> str:
    """Return who lists a skill; of many the first, and how many more."""
    named = joined([lister.shown for lister in listers[:_NAMED]], ", ")
    more = len(listers) - _NAMED
    return Message("near.and_more", ids=named, n=more) if more > 0 else named


class Conditions(Model):
    """The conditions of a rule: a change must meet all that are set.

    `agent`, `tenant` and `target` take `*` and `?`; `warning` is searched in the warnings,
    ignoring case; `changed_over` counts characters. `scope` is for whom a memory is after the
    change, or was before.
    """

    kind: Some[Kind] = None
    operation: Some[Operation] = None
    origin: Some[Origin] = None
    tenant: Some[str] = None
    agent: Some[str] = None
    target: Some[str] = None
    warned: bool | None = None
    warning: Some[str] = None
    scripts: bool | None = None
    scope: Some[Scope] = None
    changed_over: int | None = Field(default=None, ge=0)

    def meet(self, change: Change) -> bool:
        """Whether a change meets all of them."""
        return all(self._answers(change))

    def _answers(self, change: Change) -> Iterator[bool]:
        yield self.kind is None or change.kind in self.kind
        yield self.operation is None or change.operation in self.operation
        yield self.origin is None or change.origin in self.origin
        yield self.tenant is None or _like(change.tenant_id, self.tenant)
        yield self.agent is None or _like(change.agent_id, self.agent)
        yield self.target is None or _like(change.target_name, self.target)
        yield self.warned is None or self.warned == bool(change.warnings)
        yield self.warning is None or any(map(_says(change), self.warning))
        yield self.scripts is None or self.scripts == has_scripts(change)
        yield self.scope is None or bool(scopes(change).intersection(self.scope))
        yield self.changed_over is None or changed_characters(change) > self.changed_over


def shipped(reason: str) -> str:
    """Return a reason as the message that it is, if a shipped policy gives it."""
    return _SHIPPED.get(reason, reason)


class Rule(Model):
    """One rule: its conditions, its effect, and the reason shown to reviewers."""

    then: Literal["hold", "apply"]
    because: Annotated[str, AfterValidator(shipped)] = ""
    when: Conditions = Conditions()


class ReviewPolicy(Model):
    """Rules in order: the first match decides, `otherwise` if none matches.

    What an agent writes for its whole tenant is held unless a rule decides that names `scope`. An
    instance is itself a `Policy`.
    """

    rules: tuple[Rule, ...] = ()
    otherwise: Literal["hold", "apply"] = "apply"

    def __call__(self, change: Change) -> Sequence[str]:
        """Return why a change is held: the reasons of every matching rule that holds."""
        met = [rule for rule in self.rules if rule.when.meet(change)]
        if _is_tenant_wide(change) and not (met and met[0].when.scope):
            reasons = [rule.because or _A_RULE for rule in met if rule.then == "hold"]
            return tuple(dict.fromkeys([Message("policy.tenant_wide"), *reasons]))
        if (met[0].then if met else self.otherwise) == "apply":
            return ()
        reasons = [rule.because or _A_RULE for rule in met if rule.then == "hold"]
        return tuple(dict.fromkeys(reasons)) or (Message("policy.otherwise"),)


def scopes(change: Change) -> frozenset[Scope]:
    """Return for whom a memory is, before and after a change; of other kinds none."""
    states = (change.before, change.after) if change.kind is Kind.MEMORY else ()
    return frozenset(state.reach.scope for state in states if state is not None)


def _is_tenant_wide(change: Change) -> bool:
    return change.origin is Origin.AGENT and Scope.TENANT in scopes(change)


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


def _like(name: str, patterns: Sequence[str]) -> bool:
    # Not `fnmatch`, which ignores case on some systems and not on others.
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _says(change: Change) -> Callable[[str], bool]:
    told = "\n".join(change.warnings).casefold()
    return lambda words: words.casefold() in told


PRESETS = ("auto", "risky", "all")
MAX_BYTES = 1_000_000


def load_policy(name: str) -> ReviewPolicy:
    """Load the preset of that name, else the file. Raises ConfigurationError."""
    if name in PRESETS:
        text = files("core.changes.policy").joinpath("presets", f"{name}.yaml").read_text("utf-8")
    else:
        text = _read(Path(name).expanduser())
    return parse_policy(text, name)


def parse_policy(text: str, name: str) -> ReviewPolicy:
    """Parse a policy; `name` is used in errors. Raises ConfigurationError."""
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _wrong(name, Message("yaml.wrong", why=error)) from None
    if not isinstance(data, dict):
        raise _wrong(name, Message("policy.no_mapping"))
    try:
        return ReviewPolicy.model_validate(data)
    except ValidationError as error:
        whole = Message("field.whole")
        told = [
            Message(
                "field.of_pydantic",
                field=".".join(map(str, problem["loc"])) or whole,
                why=problem["msg"],
            )
            for problem in error.errors(include_url=False)
        ]
        raise _wrong(name, joined(told)) from None


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _wrong(str(path), Message("file.has_more", most=MAX_BYTES))
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong(str(path), Message("input.not_utf8")) from None
    except OSError as error:
        raise _wrong(str(path), Message("file.it_unreadable", why=error)) from None


def _wrong(name: str, problem: str) -> ConfigurationError:
    presets = ", ".join(PRESETS)
    return ConfigurationError(
        Message("setting.review_policy", name=name, why=problem),
        hint=Message("policy.hint", presets=presets),
    )
