"""What a change takes from under other items that rely on it, found by code (pure).

It may import what `knowledge` may; no model is asked. Begin with `finding.py`.
"""

from core.knowledge.interference.finding import find_reliance
from core.knowledge.interference.items import (
    Item,
    Statement,
    read_known,
    read_memory,
    read_skill,
    read_table,
)
from core.knowledge.interference.pairs import QUOTED_CHARS, Answer, Doubt, Pair, doubt
from core.knowledge.interference.rules import Broken, Reliance

__all__ = [
    "QUOTED_CHARS",
    "Answer",
    "Broken",
    "Doubt",
    "Item",
    "Pair",
    "Reliance",
    "Statement",
    "doubt",
    "find_reliance",
    "read_known",
    "read_memory",
    "read_skill",
    "read_table",
]
