"""The values of FEEL expressions (DMN 1.3, 10.3.2.3), and how null carries its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal, DecimalException
from typing import TypeAlias

from core.domain.messages import Message

# IEEE 754 decimal128, as 10.3.2.3.1 requires; a result that does not fit is null.
NUMBERS = Context(prec=34, rounding=ROUND_HALF_EVEN, Emin=-6143, Emax=6144)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?", re.ASCII)
MAX_STRING = 100_000
MAX_MONTHS = 12 * 10**9


@dataclass(frozen=True, order=True)
class Months:
    """A years and months duration, counted in months."""

    count: int


@dataclass(frozen=True)
class Range:
    """The values between two ends; an end of None is open (`< 5`, `>= 3`)."""

    low: Value
    high: Value
    low_closed: bool = True
    high_closed: bool = True


Value: TypeAlias = (
    "bool | Decimal | str | date | time | datetime | timedelta | Months | Range"
    " | tuple[Value, ...] | None"
)

_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (Decimal, "number"),
    (str, "string"),
    (datetime, "date and time"),
    (date, "date"),
    (time, "time"),
    (timedelta, "days and time duration"),
    (Months, "years and months duration"),
    (tuple, "list"),
    (Range, "range"),
)
_EXACT = {**dict(_KINDS), type(None): "null"}


BY_ZERO = Message("feel.by_zero")


class NoValue(Exception):
    """An expression has no value: it becomes null, and the message says why."""


class Unsupported(NoValue):
    """An expression has a value that is not kept here: where it may decide, nothing is decided."""


def kind_of(value: Value) -> str:
    """Return the FEEL type of a value."""
    if exact := _EXACT.get(type(value)):
        return exact
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "null")


def bounded(text: str) -> str:
    """Return the string. Raises NoValue if it has grown beyond MAX_STRING characters."""
    if len(text) > MAX_STRING:
        raise Unsupported(Message("feel.string_long", most=MAX_STRING))
    return text


def months(count: int) -> Months:
    """Return a duration in months. Raises NoValue beyond what years can count."""
    if abs(count) > MAX_MONTHS:
        raise Unsupported(Message("feel.duration_long"))
    return Months(count)


def number(text: str) -> Decimal:
    """Return a number of 34 digits from its text. Raises NoValue."""
    if not _NUMBER.fullmatch(text):
        raise NoValue(Message("feel.no_number", text=text[:40]))
    try:
        found = NUMBERS.create_decimal(text)
    except DecimalException as error:
        raise NoValue(Message("feel.number_range", text=text[:40])) from error
    return found
