"""JSON values of a case as typed inputs of a table; what does not fit is refused by name."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

from pydantic import JsonValue

from core.decision_table.column_types import FEEL_TYPES, feel_type
from core.decision_table.feel import Value
from core.decision_table.feel.temporal import to_date, to_duration, to_moment, to_time
from core.decision_table.feel.values import NoValue, kind_of, number

_FROM_TEXT: dict[str, Callable[[str], Value]] = {
    "number": number,
    "date": to_date,
    "time": to_time,
    "date and time": to_moment,
    "days and time duration": to_duration,
    "years and months duration": to_duration,
}


@lru_cache(maxsize=256)
def value_type(name: str) -> str:
    """Give the FEEL type of a column. Raises NoValue for types of item definitions."""
    kind = feel_type(name.removeprefix("feel:"))
    if kind is None:
        known = ", ".join(FEEL_TYPES)
        raise NoValue(f"the type '{name}' is not supported (supported: {known})")
    return kind


def typed(value: JsonValue, type_name: str) -> Value:
    """Give a JSON value as a value of a column's type.

    Numbers are JSON numbers, or strings where all digits have to stay; dates, times and durations
    are strings in the form of ISO 8601; null stays null. Raises NoValue.
    """
    wanted = value_type(type_name)
    plain = _plain(value)
    if isinstance(plain, str) and wanted in _FROM_TEXT:
        plain = _FROM_TEXT[wanted](plain)
    if plain is not None and wanted not in ("Any", kind_of(plain)):
        raise NoValue(f"{kind_of(plain)} was given where {wanted} is needed")
    return plain


def _plain(value: JsonValue) -> Value:
    if isinstance(value, dict):
        raise NoValue("objects (contexts) are not supported")
    if isinstance(value, list):
        return tuple(_plain(item) for item in value)
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if value is None or isinstance(value, bool):
        return value
    return number(repr(value)) if isinstance(value, float) else number(str(Decimal(value)))
