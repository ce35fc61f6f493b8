"""Points in time that come from outside: written out, with a zone, and storable."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from core.domain.messages import Message

MOMENT_ERROR = "moment"  # a type of error of our own; `why` in its context is a message
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:?\d\d.*", re.ASCII)
_ZONE = re.compile(r"(?:[Zz]|[+-]\d\d(?::?\d\d)?)$", re.ASCII)


def _refused(why: Message) -> PydanticCustomError:
    return PydanticCustomError(MOMENT_ERROR, "{why}", {"why": why})


def _as_written(value: object) -> object:
    """Refuse numbers, which would be seconds since 1970, and a time without a zone."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise _refused(Message("moment.no_zone"))
        return value
    text = value.strip() if isinstance(value, str) else ""
    if not _WRITTEN.fullmatch(text):
        raise _refused(Message("moment.unread"))
    if not _ZONE.search(text):
        raise _refused(Message("moment.no_zone"))
    try:
        datetime.fromisoformat(text.upper())
    except ValueError:
        raise _refused(Message("moment.unread")) from None
    return text


def _storable(value: datetime) -> datetime:
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise _refused(Message("moment.unread")) from None
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_as_written), AfterValidator(_storable)]


_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def last_moment(text: str, zone: tzinfo) -> datetime:
    """Return the last moment of a day in `zone` (2026-05-31), or the time that is written.

    Raises ValueError with a message: a time needs a zone of its own.
    """
    plain = text.strip()
    if not _DAY.fullmatch(plain):
        try:
            return _TIME.validate_python(plain)
        except ValidationError as error:
            raise ValueError(error.errors()[0]["ctx"]["why"]) from None
    try:
        following = datetime.combine(date.fromisoformat(plain), time(), zone) + timedelta(days=1)
        return (following - timedelta(microseconds=1)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(Message("moment.unread")) from None


_TIME: TypeAdapter[datetime] = TypeAdapter(Moment)
