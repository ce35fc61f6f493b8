"""What code can prove about how new knowledge relates to what is known, with evidence (pure).

It may import what `knowledge` may; no model is asked.
Begin with `texts.py`; `rules.py` and `skills.py` compare tables and folders.
"""

from core.domain.text import normal_form
from core.knowledge.duplicates.contrasts import CLASHES, Difference
from core.knowledge.duplicates.texts import (
    Evidence,
    Known,
    compare,
    contained_part,
    evidence,
    is_repeated,
    sentences,
)

__all__ = [
    "CLASHES",
    "Difference",
    "Evidence",
    "Known",
    "compare",
    "contained_part",
    "evidence",
    "is_repeated",
    "normal_form",
    "sentences",
]
