"""JSON goes into columns and comes back as it was, also what the quick parser cannot read."""

from __future__ import annotations

import math

import pytest
from psycopg.types.json import Json, Jsonb

from core.adapters.postgres.queries import Pool, connection
from core.domain.errors import InvalidInput


async def asked(pool: Pool, expression: str, *params: object) -> object:
    async with connection(pool) as conn:
        row = await (
            await conn.execute(f"SELECT {expression} AS found".encode(), params)
        ).fetchone()
    assert row is not None
    return row["found"]


@pytest.mark.parametrize(
    "value",
    [
        {"승인": [1, 2.5, None, True, "줄\u2028바꿈"]},
        10**30,
        -0.1,
        [],
        "",
        {"text": 'a "quoted" \\ word'},
    ],
)
async def test_a_value_comes_back_as_it_was(pool: Pool, value: object) -> None:
    assert await asked(pool, "%s::jsonb", Jsonb(value)) == value


async def test_nesting_that_the_quick_parser_refuses_is_read(pool: Pool) -> None:
    found = await asked(pool, "%s::json", "[" * 500 + "]" * 500)
    depth = 0
    while found:
        assert isinstance(found, list)
        (found,) = found
        depth += 1
    assert depth == 499


async def test_half_a_character_is_read(pool: Pool) -> None:
    assert await asked(pool, "%s::json", '"\\ud800"') == "\ud800"


@pytest.mark.parametrize("text", ["[" * 5_000 + "]" * 5_000, "1" * 5_000])
async def test_what_python_cannot_hold_says_so(pool: Pool, text: str) -> None:
    assert str(await asked(pool, "%s::json", text)).startswith("unreadable JSON: ")


async def test_half_a_character_is_refused_by_name(pool: Pool) -> None:
    with pytest.raises(InvalidInput, match="cannot store"):
        await asked(pool, "%s::jsonb", Jsonb({"text": "\ud800"}))


async def test_what_is_no_number_is_refused(pool: Pool) -> None:
    with pytest.raises(InvalidInput):
        await asked(pool, "%s::json", Json(math.nan))
