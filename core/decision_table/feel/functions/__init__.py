"""The supported built-in functions of FEEL, by name."""

from core.decision_table.feel.functions.conversion import CALENDAR, CONVERSION
from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.functions.lists import LISTS, SEQUENCES
from core.decision_table.feel.functions.numeric import NUMERIC, STATISTICS
from core.decision_table.feel.functions.text import PATTERNS, TEXT

FUNCTIONS: dict[str, Function] = {
    **CALENDAR,
    **CONVERSION,
    **LISTS,
    **NUMERIC,
    **PATTERNS,
    **SEQUENCES,
    **STATISTICS,
    **TEXT,
}

__all__ = ["FUNCTIONS", "Function"]
