"""Built-in string functions that take patterns (DMN 1.3, 10.3.4.3); no pattern can run away."""

from __future__ import annotations

from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.pattern_text import pattern
from core.decision_table.feel.values import NoValue, Value


def _matches(text: str, wanted: str, flags: str | None = None) -> bool:
    return pattern(wanted, flags or "").search(text) is not None


def _replace(text: str, wanted: str, new: str, flags: str | None = None) -> str:
    if "$" in new or "\\" in new:
        raise NoValue("groups ('$1') in the replacement are not supported")
    return new.join(_pieces(text, wanted, flags or ""))


def _split(text: str, delimiter: str) -> tuple[Value, ...]:
    return tuple(_pieces(text, delimiter, ""))


def _pieces(text: str, wanted: str, flags: str) -> list[str]:
    pieces, done = [], 0
    for start, end in pattern(wanted, flags).matches(text):
        pieces.append(text[done:start])
        done = end
    return [*pieces, text[done:]]


PATTERNS = {
    "matches": Function(
        _matches, ("string", "string", "string|null"), "input, pattern, flags", optional=1
    ),
    "replace": Function(
        _replace,
        ("string", "string", "string", "string|null"),
        "input, pattern, replacement, flags",
        optional=1,
    ),
    "split": Function(_split, ("string", "string"), "string, delimiter"),
}
