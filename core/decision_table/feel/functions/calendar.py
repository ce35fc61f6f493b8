"""Built-in functions that place a date in its week, month and year (DMN 1.3, 10.3.4)."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from core.decision_table.feel.functions.function import Function

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_DATE = ("date|date and time",)


def _day_of_year(day: date) -> Decimal:
    return Decimal(day.timetuple().tm_yday)


def _week_of_year(day: date) -> Decimal:
    """Give the week as ISO 8601 counts: the first one has the year's first Thursday."""
    return Decimal(day.isocalendar().week)


CALENDAR = {
    "day of year": Function(_day_of_year, _DATE, "date"),
    "day of week": Function(lambda day: _DAYS[day.weekday()], _DATE, "date"),
    "month of year": Function(lambda day: _MONTHS[day.month - 1], _DATE, "date"),
    "week of year": Function(_week_of_year, _DATE, "date"),
}
