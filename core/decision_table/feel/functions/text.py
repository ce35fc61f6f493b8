"""Built-in string functions (DMN 1.3, 10.3.4.3). Characters are code points, counted from 1."""

from __future__ import annotations

from decimal import Decimal

from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.values import NoValue


def _substring(text: str, start: Decimal, length: Decimal | None = None) -> str:
    first = int(start)
    if first == 0 or (length is not None and int(length) < 1):
        raise NoValue("'substring' counts from 1, or from -1 backwards, and takes 1 or more")
    begin = first - 1 if first > 0 else max(len(text) + first, 0)
    return text[begin:] if length is None else text[begin : begin + int(length)]


def _before(text: str, part: str) -> str:
    return text.partition(part)[0] if part and part in text else ""


def _after(text: str, part: str) -> str:
    return text.partition(part)[2] if part else text


TEXT = {
    "contains": Function(lambda text, part: part in text, ("string", "string")),
    "starts with": Function(lambda text, part: text.startswith(part), ("string", "string")),
    "ends with": Function(lambda text, part: text.endswith(part), ("string", "string")),
    "substring": Function(_substring, ("string", "number", "number"), optional=1),
    "substring before": Function(_before, ("string", "string")),
    "substring after": Function(_after, ("string", "string")),
    "string length": Function(lambda text: Decimal(len(text)), ("string",)),
    "upper case": Function(lambda text: text.upper(), ("string",)),
    "lower case": Function(lambda text: text.lower(), ("string",)),
}
