"""The policy: which changes are applied, which wait for a person, which are refused, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Protocol, Self

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, model_validator

from core.changes.policy.conditions import (
    AFTER,
    Case,
    Conditions,
    Some,
    checked_condition,
    condition_holds,
    condition_needs,
    is_like,
)
from core.domain.errors import ConfigurationError
from core.domain.input_formats.yaml_text import model_of_yaml, read_yaml_file
from core.domain.messages import Message, joined, said
from core.domain.models import (
    Change,
    ChangeStatus,
    Kind,
    Lister,
    Operation,
    Origin,
    Scope,
    SubmitContext,
)
from core.domain.models.access import Role
from core.domain.models.base import Model

# Returns why a change is held, one sentence per reason; none to apply it at once.
Policy = Callable[[Change], Sequence[str]]
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
        Message("policy.locked"),
        Message("policy.tenant_wide"),
        Message("policy.not_accepted"),
    )
}
LOCKED = "locked"
TOKEN_ROLES = frozenset(role.value for role in Role)


class Denies(Protocol):
    """Returns why a change is refused, None if it is not.

    With `is_draft` it is only asked for: None too as long as that depends on what it will say.
    """

    def __call__(self, change: Change, *, is_draft: bool) -> str | None: ...


def apply_all(change: Change) -> Sequence[str]:
    """Hold nothing: apply every change that no check refuses."""
    del change
    return ()


def deny_nothing(change: Change, *, is_draft: bool) -> str | None:
    """Refuse nothing."""
    del change, is_draft
    return None


_NAMED = 10


def required_review(change: Change) -> Sequence[str]:
    """Return why a change waits for a person whatever the policy says."""
    asked = change.request
    reasons = [asked.must_wait] if asked and asked.must_wait else []
    if change.origin is Origin.WORKER:
        reasons.append(Message("policy.lesson"))
    if change.deletes_for_all:
        agents = named_briefly(change.listed_by)
        reasons.append(Message("policy.others_list", name=change.target_name, agents=agents))
    return reasons


def named_briefly(listers: Sequence[Lister]) -> str:
    """Return who lists a skill; of many the first, and how many more."""
    named = joined([lister.shown for lister in listers[:_NAMED]], ", ")
    more = len(listers) - _NAMED
    return Message("near.and_more", ids=named, n=more) if more > 0 else named


def shipped(reason: str) -> str:
    """Return a reason as the message that it is, if a shipped policy gives it."""
    return _SHIPPED.get(reason, reason)


class Effect(StrEnum):
    """What a rule does with the changes that meet it."""

    ALLOW = "allow"
    HOLD = "hold"
    DENY = "deny"


def _effect(value: object) -> object:
    return Effect.ALLOW if value == "apply" else value  # the older word


Then = Annotated[Effect, BeforeValidator(_effect)]


class Rule(Model):
    """One rule: its conditions, its effect, and the reason shown to reviewers and to the model."""

    name: str = ""
    when: Conditions = Conditions()
    condition: Annotated[str, AfterValidator(checked_condition)] = Field(default="", alias="if")
    then: Then
    because: Annotated[str, AfterValidator(shipped)] = ""

    @property
    def reason(self) -> str:
        """Why it does what it does."""
        return self.because or _A_RULE

    @property
    def is_unconditional(self) -> bool:
        """Whether every change meets it that is no person's decision."""
        return not self.when.model_fields_set and not self.condition

    @property
    def asks_author(self) -> bool:
        """Whether it asks if a person has approved something of the author."""
        is_asked = self.when.author_accepted is not None
        return is_asked or "author_accepted" in condition_needs(self.condition or "true")

    def answers(self, case: Case) -> Iterator[tuple[str, bool | None]]:
        """Yield each condition, and whether it is met; None if that is not known yet.

        A refusal says who may teach what: it binds a person's decisions only if it names them.
        """
        yield from self.when.answers(case)
        if self.condition:
            yield "if", self._holds(case)
        is_persons = case.change.origin is Origin.PERSON
        if self.then is Effect.DENY and self.when.origin is None and is_persons:
            yield "origin", False

    def met(self, case: Case) -> bool | None:
        """Whether all conditions are met; None if that is not known yet."""
        found = {answer for _, answer in self.answers(case)}
        if False in found:
            return False
        return None if None in found else True

    def _holds(self, case: Case) -> bool | None:
        if not condition_needs(self.condition).isdisjoint(case.unknown):
            return None
        holds = condition_holds(self.condition, case)
        # Without a value it errs on the side that somebody notices.
        return self.then is not Effect.ALLOW if holds is None else holds


@dataclass(frozen=True)
class Judgement:
    """What becomes of a change, why, and the place of the rule that decided, counted from 0."""

    effect: Effect
    reasons: Sequence[str] = ()
    rule: int | None = None


_OTHERWISE = {
    Effect.HOLD: Message("policy.otherwise"),
    Effect.DENY: Message("policy.otherwise_denied"),
}


class ReviewPolicy(Model):
    """Rules in order: the first match decides, `otherwise` if none matches.

    `roles` names the roles of authors; tokens have theirs besides. What an agent writes for its
    whole tenant is held unless a rule decides that names `scope`. An instance is itself a `Policy`.
    """

    rules: tuple[Rule, ...] = ()
    otherwise: Then = Effect.ALLOW
    roles: Mapping[str, Some[str]] = {}

    _mode: str | None = PrivateAttr(default=None)
    _own: int | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _see_roles(self) -> Self:
        """Refuse a rule about a role that nobody has, and a name that tokens have already."""
        for name in self.roles.keys() & TOKEN_ROLES:
            raise ValueError(Message("policy.token_role", name=name))
        known = [*self.roles, *sorted(TOKEN_ROLES)]
        for number, rule in enumerate(self.rules, start=1):
            for name in rule.when.role or ():
                if name not in known:
                    near = get_close_matches(name, known, n=1) or [", ".join(known)]
                    shown = near[0] or Message("list.none")
                    raise ValueError(
                        Message("policy.unknown_role", n=number, name=name, known=shown)
                    )
        return self

    @property
    def asks_author(self) -> bool:
        """Whether a rule asks if a person has approved something of the author."""
        return any(rule.asks_author for rule in self.rules)

    def __call__(self, change: Change) -> Sequence[str]:
        """Return why a change is held: the reasons of every matching rule that holds."""
        judged = self.judge(change)
        return judged.reasons if judged.effect is Effect.HOLD else ()

    def denies(self, change: Change, *, is_draft: bool) -> str | None:
        """Return why a change is refused, None if it is not or, of a draft, not surely."""
        return self.refusal(change, AFTER if is_draft else frozenset())

    def refusal(self, change: Change, unknown: frozenset[str]) -> str | None:
        """Return why a change is refused whatever the conditions come to that are not known."""
        if not self._may_refuse:  # most policies; each run asks for all that it might write
            return None
        case = self.case(change, unknown)
        why = None
        for rule in self.rules:
            met = rule.met(case)
            if met is False:
                continue
            if self.effect_of(rule.then, change) is not Effect.DENY:
                return None
            why = why or rule.reason
            if met:
                return why
        if self.end_of(change) is not Effect.DENY:
            return None
        return why or _OTHERWISE[Effect.DENY]

    @property
    def _may_refuse(self) -> bool:
        effects = {self.otherwise, *(rule.then for rule in self.rules)}
        return self._mode == LOCKED or Effect.DENY in effects

    def judge(self, change: Change, unknown: frozenset[str] = frozenset()) -> Judgement:
        """Return what becomes of a change, and why; what is not known counts as not met."""
        case = self.case(change, unknown)
        met = [(place, rule) for place, rule in enumerate(self.rules) if rule.met(case)]
        place, first = met[0] if met else (None, None)
        effect = self.effect_of(first.then, change) if first else self.end_of(change)
        if effect is Effect.DENY:
            why = first.reason if first else _OTHERWISE[Effect.DENY]
            return Judgement(effect, (why,), place)
        holds = [rule.reason for _, rule in met if rule.then is Effect.HOLD]
        if _is_tenant_wide(change) and not (first and first.when.scope):
            holds = [Message("policy.tenant_wide"), *holds]
        elif effect is Effect.ALLOW:
            return Judgement(effect, (), place)
        reasons = tuple(dict.fromkeys(holds)) or (_OTHERWISE[Effect.HOLD],)
        return Judgement(Effect.HOLD, reasons, place)

    def case(self, change: Change, unknown: frozenset[str] = frozenset()) -> Case:
        """Return a change as the rules see it."""
        asker = change.asker
        if asker is None:
            return Case(change, unknown=unknown)
        named = (name for name, who in self.roles.items() if is_like(asker.author or "", who))
        return Case(change, asker.roles.union(named), unknown)

    def under(self, mode: str) -> Self:
        """Return the policy with a mode that decides what its own rules do not.

        Where the policy says what happens otherwise that stands; not so under `locked`.
        """
        if mode != LOCKED and "otherwise" in self.model_fields_set:
            return self
        rest = load_policy(mode)
        rules = (*self.rules, *rest.rules)
        made = self.model_copy(update={"rules": rules, "otherwise": rest.otherwise})
        made._mode, made._own = mode, len(self.rules)
        return made

    @property
    def mode(self) -> str | None:
        """The mode that decides what its own rules do not; None if it says itself what happens."""
        return self._mode

    @property
    def own_rules(self) -> Sequence[Rule]:
        """Its rules less those of the mode, which come last."""
        return self.rules[: self._own]

    def effect_of(self, then: Effect, change: Change) -> Effect:
        """Return what a rule does here: under `locked` nothing that is asked for waits either."""
        is_shut = self._mode == LOCKED and change.origin is not Origin.PERSON
        return Effect.DENY if is_shut and then is Effect.HOLD else then

    def end_of(self, change: Change) -> Effect:
        """Return what happens where no rule decides; a person's decision is never refused by it."""
        is_free = self.otherwise is Effect.DENY and change.origin is Origin.PERSON
        return Effect.ALLOW if is_free else self.otherwise


def asked_change(
    context: SubmitContext, kind: Kind, operation: Operation, target: str = ""
) -> Change:
    """Return a change that somebody might ask for, of which nothing more is known."""
    return Change(
        id="",
        key=context.key,
        digest="",
        tenant_id=context.tenant_id,
        agent_id=context.agent_id,
        kind=kind,
        target_id=target,
        target_name=target,
        operation=operation,
        before=None,
        after=None,
        base_hash="",
        status=ChangeStatus.PREPARED,
        feedback_content=context.feedback_content,
        origin=context.origin,
        asker=context.asker,
    )


def _is_tenant_wide(change: Change) -> bool:
    if change.origin is not Origin.AGENT or change.kind is not Kind.MEMORY:
        return False
    states = (change.before, change.after)
    return any(state.reach.scope is Scope.TENANT for state in states if state is not None)


PRESETS = ("auto", "risky", "strict", "all", LOCKED)
_SETTING = "REVIEW_POLICY"


def load_policy(name: str) -> ReviewPolicy:
    """Load the preset of that name, else the file. Raises ConfigurationError."""
    if name not in PRESETS:
        try:
            return parse_policy(read_yaml_file(Path(name).expanduser()), name)
        except ValueError as error:
            raise _wrong(name, said(error)) from None
    text = files("core.changes.policy").joinpath("presets", f"{name}.yaml").read_text("utf-8")
    policy = parse_policy(text, name)
    policy._mode, policy._own = name, 0
    return policy


def parse_policy(text: str, name: str) -> ReviewPolicy:
    """Parse a policy; `name` is used in errors. Raises ConfigurationError."""
    try:
        return model_of_yaml(ReviewPolicy, text)
    except ValueError as error:
        raise _wrong(name, said(error)) from None


def _wrong(name: str, problem: str) -> ConfigurationError:
    presets = ", ".join(PRESETS)
    return ConfigurationError(
        Message("setting.review_policy", name=name, why=problem),
        hint=Message("policy.hint", presets=presets),
    )
