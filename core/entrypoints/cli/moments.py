"""Points in time as people write them on a command line."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall

_HINT = Message("cli.hint_moment")
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d(:\d\d(:\d\d(\.\d{1,6})?)?)?\s*(Z|[+-]\d\d:?\d\d)?", re.ASCII
)


def read_moment(text: str) -> datetime:
    """Read ISO 8601; a date alone is its last moment, and a time without a zone is local.

    Raises WrongCall with the accepted forms.
    """
    plain = text.strip()
    try:
        if _DAY.fullmatch(plain):
            return _last_moment(date.fromisoformat(plain))
        if _MOMENT.fullmatch(plain):
            return datetime.fromisoformat(plain.replace(" ", "T", 1).replace(" ", "")).astimezone()
    except (ValueError, OverflowError) as error:
        problem = Message("cli.no_such_moment", text=text)
        raise WrongCall(problem, hint=_HINT) from error
    raise WrongCall(Message("cli.no_moment", text=text), hint=_HINT)


def _last_moment(day: date) -> datetime:
    if day == date.max:
        return datetime.max.replace(tzinfo=UTC)
    midnight = datetime.combine(day + timedelta(days=1), time())
    return midnight.astimezone() - timedelta(microseconds=1)
