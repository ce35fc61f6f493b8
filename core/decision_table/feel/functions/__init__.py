"""The built-in functions of FEEL that are known, by name."""

from core.decision_table.feel.functions.calendar import CALENDAR
from core.decision_table.feel.functions.conversion import CONVERSION
from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.functions.lists import LISTS
from core.decision_table.feel.functions.numeric import NUMERIC
from core.decision_table.feel.functions.patterns import PATTERNS
from core.decision_table.feel.functions.sequences import SEQUENCES
from core.decision_table.feel.functions.statistics import STATISTICS
from core.decision_table.feel.functions.text import TEXT

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
