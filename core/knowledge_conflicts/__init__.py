"""What code can prove of how new knowledge relates to what is known, with evidence (pure)."""

from core.knowledge_conflicts.differs import Difference
from core.knowledge_conflicts.normal import normal_form
from core.knowledge_conflicts.texts import (
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
