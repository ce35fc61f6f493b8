"""Whom to believe: raises the severity of findings, and never makes one."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase

from core.domain.models import Change, Facts, Finding, ScreenSeverity
from core.domain.models.base import Model
from core.safety.config import INTERFERENCE_JUDGED, FindingClass, ScreenConfig

_ENOUGH = 2


class Standing(StrEnum):
    """What is known of who said it."""

    KNOWN = "known"
    FIRST_TIME = "first_time"
    ANONYMOUS = "anonymous"


class Trust(Model):
    """Who said it, who else did, and how far it would spread.

    `is_wary` is set for a source that the configuration names. `independent` counts the people who
    said the same, this one too. `spread` counts the agents that would learn it; `has_authority`
    says that it decides or acts: a rule, or a skill with code.
    """

    standing: Standing = Standing.KNOWN
    is_wary: bool = False
    independent: int = 1
    spread: int = 1
    has_authority: bool = False


def raise_severity(findings: Sequence[Finding], trust: Trust) -> tuple[Finding, ...]:
    """Return the findings; those told of are held where nobody trusted enough answers for them.

    That is: what comes from a wary source, and what decides or acts for more than one agent
    (a rule of authority, a skill with code) on the word of one person not known yet. Trust makes
    no finding, and lowers none. What other items rely on is no question of whom to believe.
    """
    if not (trust.is_wary or _answers_for_nothing(trust)):
        return tuple(findings)
    return tuple(map(_raised, findings))


def _raised(finding: Finding) -> Finding:
    if finding.code.startswith((f"{FindingClass.INTERFERENCE}.", INTERFERENCE_JUDGED)):
        return finding
    return finding.model_copy(update={"severity": ScreenSeverity.HOLD})


def trust_in(change: Change, facts: Facts, config: ScreenConfig, *, has_authority: bool) -> Trust:
    """Return whom to believe; a person who asks for it themselves is known."""
    standing = Standing.KNOWN
    if change.feedback_id is not None and not facts.is_known:
        standing = Standing.FIRST_TIME if facts.author else Standing.ANONYMOUS
    source = facts.source or ""
    return Trust(
        standing=standing,
        is_wary=any(fnmatchcase(source, pattern) for pattern in config.wary_sources),
        independent=facts.others + 1,
        spread=facts.spread,
        has_authority=has_authority,
    )


def _answers_for_nothing(trust: Trust) -> bool:
    spreads = trust.has_authority and trust.spread > 1
    return spreads and trust.standing is not Standing.KNOWN and trust.independent < _ENOUGH
