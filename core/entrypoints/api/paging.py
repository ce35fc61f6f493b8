"""The parameters of every list: how many items, and where to continue."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Path, Query
from pydantic import AwareDatetime, BeforeValidator, Field

from core.domain.messages import Message

MOST = 200
Limit = Annotated[int, Query(ge=1, le=MOST, description="Most items to give.")]
Cursor = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=2000,
        description="Where to go on: `next` of the page before, with the same filters.",
    ),
]
TenantId = Annotated[
    str | None,
    Query(max_length=200, description="Only this tenant. Another one than the token's is 404."),
]
FeedbackId = Annotated[str, Path(description="Id of the feedback.")]
AgentId = Annotated[str | None, Query(max_length=200, description="Only this agent.")]
_DATE = re.compile(r"\d{4}-\d\d-\d\d.")


def _as_written(value: object) -> object:
    """Refuse what would be read as seconds since 1970."""
    if isinstance(value, str) and not _DATE.match(value):
        raise ValueError(Message("field.no_moment"))
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_as_written)]

# A visible character, in terms on which all regex dialects agree: on `\S` they do not.
SEEN = r"[^\x00-\x20\x7f-\xa0\xad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]"
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=SEEN)]
Reason = Annotated[str, Field(min_length=1, max_length=2000, pattern=SEEN)]
