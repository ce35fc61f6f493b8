"""Why a policy decides as it does: rule by rule, also where not all of a case is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.changes.policy.conditions import AFTER, BEFORE, Case, condition_needs
from core.changes.policy.review_policy import Effect, ReviewPolicy, Rule
from core.domain.messages import Message
from core.domain.models import Change
from core.domain.models.base import Model, Text

ALL = BEFORE | AFTER


class ExplainedRule(Model):
    """One rule, and the conditions that are not met, or that the case does not tell."""

    rule: int
    name: str = ""
    mode: str | None = None
    then: Effect
    because: Text = ""
    met: bool | None
    not_met: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


class Explanation(Model):
    """What becomes of a case and why.

    `effect` is None as long as that depends on what the case does not tell. `decided_by` is the
    number of the rule that decides, None where the end of all does.
    """

    effect: Effect | None
    reasons: tuple[Text, ...] = ()
    decided_by: int | None = None
    rules: tuple[ExplainedRule, ...]
    otherwise: Effect
    mode: str | None = None


def explain(policy: ReviewPolicy, change: Change, unknown: frozenset[str]) -> Explanation:
    """Return what becomes of a change of which some conditions are not known."""
    case = policy.case(change, unknown)
    own = len(policy.own_rules)
    told = [
        _explained(number, rule, policy.mode if number > own else None, case)
        for number, rule in enumerate(policy.rules, start=1)
    ]
    is_open = _is_open(policy, change, told)
    judged = None if is_open else policy.judge(change, unknown)
    return Explanation(
        effect=judged.effect if judged else None,
        reasons=tuple(judged.reasons) if judged else (),
        decided_by=judged.rule + 1 if judged and judged.rule is not None else None,
        rules=tuple(told),
        otherwise=policy.otherwise,
        mode=policy.mode,
    )


def _explained(number: int, rule: Rule, mode: str | None, case: Case) -> ExplainedRule:
    answers = [*rule.answers(case)]
    return ExplainedRule(
        rule=number,
        name=rule.name,
        mode=mode,
        then=rule.then,
        because=rule.because,
        met=rule.met(case),
        not_met=tuple(name for name, answer in answers if answer is False),
        depends_on=tuple(dict.fromkeys(_open_names(rule, case, answers))),
    )


def _open_names(
    rule: Rule, case: Case, answers: Sequence[tuple[str, bool | None]]
) -> Iterator[str]:
    for name, answer in answers:
        if answer is None and name == "if":
            yield from sorted(condition_needs(rule.condition) & case.unknown)
        elif answer is None:
            yield name


def _is_open(policy: ReviewPolicy, change: Change, told: Sequence[ExplainedRule]) -> bool:
    """Whether a rule that may be met would decide otherwise than what is sure."""
    possible: set[Effect] = set()
    for one in told:
        if one.met is not False:
            possible.add(policy.effect_of(one.then, change))
        if one.met:
            return len(possible) > 1
    return len(possible | {policy.end_of(change)}) > 1


def unreachable(policy: ReviewPolicy) -> Sequence[Message]:
    """Return which rules can never decide: one before them is met by everything."""
    rules = policy.own_rules
    ends = [n for n, rule in enumerate(rules, start=1) if rule.is_unconditional]
    if not ends or ends[0] == len(rules):
        return ()
    return [Message("policy.unreachable", n=ends[0] + 1, end=ends[0])]
