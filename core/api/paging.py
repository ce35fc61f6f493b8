"""What every list takes: how many, and where to go on."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

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
AgentId = Annotated[str | None, Query(max_length=200, description="Only this agent.")]
