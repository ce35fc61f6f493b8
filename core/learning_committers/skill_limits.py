"""How far a change of a skill may go, as the settings say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SkillLimits:
    """Rounds of the author, shrinking in percent, and two budgets in characters."""

    author_rounds: int = 3
    shrink_percent: float = 20
    related_chars: int = 12_000
    descriptions_chars: int = 15_000
