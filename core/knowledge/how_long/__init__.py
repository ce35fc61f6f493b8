"""How long something holds, as people say it: the span in a text, its end, the text without it.

A day by which something is due ("5일까지 제출"), a limit that a rule itself has ("30일 동안 무료",
"open until 6 pm") and what recurs ("매달 5일까지") say nothing of how long it holds.
"""

from core.knowledge.how_long.spans import (
    Span,
    holds_for_all,
    is_open,
    span_in,
    without_open,
    without_span,
)

__all__ = ["Span", "holds_for_all", "is_open", "span_in", "without_open", "without_span"]
