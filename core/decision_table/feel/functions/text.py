"""Built-in string functions (DMN 1.3, 10.3.4.3). Characters are code points, counted from 1."""

from __future__ import annotations

from decimal import Decimal

from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.pattern import pattern
from core.decision_table.feel.values import NoValue, Unsupported, Value, kind_of
from core.domain.messages import Message


def _substring(text: str, start: Decimal, length: Decimal | None = None) -> str:
    first = int(start)
    if first == 0 or (length is not None and int(length) < 1):
        raise NoValue(Message("feel.substring"))
    begin = first - 1 if first > 0 else max(len(text) + first, 0)
    return text[begin:] if length is None else text[begin : begin + int(length)]


def _before(text: str, part: str) -> str:
    return text.partition(part)[0] if part and part in text else ""


def _after(text: str, part: str) -> str:
    return text.partition(part)[2] if part else text


def _join(items: tuple[Value, ...], delimiter: str | None = None) -> str:
    """Join strings, omitting null. Raises NoValue for a non-string."""
    strings = [item for item in items if item is not None]
    for item in strings:
        if not isinstance(item, str):
            raise NoValue(Message("feel.list_string", kind=kind_of(item)))
    return (delimiter or "").join(item for item in strings if isinstance(item, str))


_TWO = ("string", "string")

TEXT = {
    "contains": Function(lambda text, part: part in text, _TWO, "string, match"),
    "starts with": Function(lambda text, part: text.startswith(part), _TWO, "string, match"),
    "ends with": Function(lambda text, part: text.endswith(part), _TWO, "string, match"),
    "substring": Function(
        _substring, ("string", "number", "number"), "string, start position, length", optional=1
    ),
    "substring before": Function(_before, _TWO, "string, match"),
    "substring after": Function(_after, _TWO, "string, match"),
    "string length": Function(lambda text: Decimal(len(text)), ("string",), "string"),
    "string join": Function(_join, ("list", "string|null"), "list, delimiter", optional=1),
    "upper case": Function(lambda text: text.upper(), ("string",), "string"),
    "lower case": Function(lambda text: text.lower(), ("string",), "string"),
}


def _matches(text: str, wanted: str, flags: str | None = None) -> bool:
    return pattern(wanted, flags or "").search(text) is not None


def _replace(text: str, wanted: str, new: str, flags: str | None = None) -> str:
    if "$" in new or "\\" in new:
        raise Unsupported(Message("feel.replacement"))
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
