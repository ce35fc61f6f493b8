"""What code can prove of how new knowledge relates to what is known, with evidence (pure)."""

from core.domain.text import normal_form
from core.knowledge.duplicates.texts import (
    Difference,
    Evidence,
    Known,
    compare,
    evidence,
    held_part,
    is_repeated,
)

__all__ = [
    "Difference",
    "Evidence",
    "Known",
    "compare",
    "evidence",
    "held_part",
    "is_repeated",
    "normal_form",
]
