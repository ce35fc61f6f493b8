"""Values written for people and as JSON."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal

from pydantic import JsonValue

from core.decision_table.feel.temporal import iso
from core.decision_table.feel.values import Months, Range, Value


def to_text(value: Value, *, quoted: bool = True) -> str:
    """Return a value as FEEL text; the bare string if it is not `quoted`."""
    if isinstance(value, str):
        return _quoted(value) if quoted else value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(to_text(item) for item in value)}]"
    if isinstance(value, Range):
        low, high = "[" if value.low_closed else "(", "]" if value.high_closed else ")"
        return f"{low}{to_text(value.low)}..{to_text(value.high)}{high}"
    if isinstance(value, Decimal):
        return _digits(value)
    return "null" if value is None else iso(value)


def to_json(value: Value) -> JsonValue:
    """Return a value for JSON: a number as a number if JSON preserves all its digits, else as text.

    Dates, times and durations are text in ISO 8601 form, ranges are FEEL text.
    """
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    if isinstance(value, Decimal):
        return _json_number(value)
    if isinstance(value, (date, time, timedelta, Months, Range)):
        return to_text(value)
    return value


def _json_number(value: Decimal) -> JsonValue:
    if value == value.to_integral_value() and abs(value) < 2**53:
        return int(value)
    near = float(value)
    return near if Decimal(repr(near)) == value else _digits(value)


def _digits(value: Decimal) -> str:
    plain = format(value if value else Decimal(0), "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
