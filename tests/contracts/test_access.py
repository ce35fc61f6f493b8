"""Tokens and answers under idempotency keys, in memory and in PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.answers import PostgresAnswers
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.runs import PostgresRetention
from core.adapters.postgres.tokens import PostgresTokens
from core.domain.models.access import Answer, TokenKind
from core.domain.ports import Answers, Tokens
from core.testing.access import MemoryAnswers, MemoryTokens
from tests.contracts.suites.access import HOUR, Age, AnswersContract, TokensContract, token

START = datetime(2026, 1, 1, tzinfo=UTC)


class TestTokensInMemory(TokensContract):
    @pytest.fixture
    def now(self) -> datetime:
        return START

    @pytest.fixture
    def tokens(self, now: datetime) -> Tokens:
        return MemoryTokens(lambda: now)


class TestTokensInPostgres(TokensContract):
    @pytest.fixture
    def now(self) -> datetime:
        return datetime.now(UTC)

    @pytest.fixture
    def tokens(self, pool: Pool) -> Tokens:
        return PostgresTokens(pool)


class TestAnswersInMemory(AnswersContract):
    @pytest.fixture
    def answers(self) -> Answers:
        self.time = START
        return MemoryAnswers(lambda: self.time)

    @pytest.fixture
    def age(self) -> Age:
        async def pass_by(seconds: float) -> None:
            self.time += timedelta(seconds=seconds)

        return pass_by


class TestAnswersInPostgres(AnswersContract):
    @pytest.fixture
    def answers(self, pool: Pool) -> Answers:
        return PostgresAnswers(pool)

    @pytest.fixture
    def age(self, pool: Pool) -> Age:
        return lambda seconds: grow_old(pool, seconds)


async def grow_old(pool: Pool, seconds: float) -> None:
    async with connection(pool) as conn:
        await conn.execute(
            "UPDATE idempotent_answers SET created_at = created_at - make_interval(secs => %s)",
            [seconds],
        )


async def test_pruning_leaves_no_row_of_what_has_ended(pool: Pool) -> None:
    tokens, answers = PostgresTokens(pool), PostgresAnswers(pool)
    now = datetime.now(UTC)
    await tokens.add(token("live", expires_at=now + HOUR))
    await tokens.add(token("for ever"))
    for kind in TokenKind:
        await tokens.add(token(f"old {kind}", kind=kind, expires_at=now - HOUR))
    await answers.begin("me", "old", "d")
    await answers.end("me", "old", Answer(digest="d", status=200))
    await grow_old(pool, 25 * 3600)
    await answers.begin("me", "new", "d")
    assert await PostgresRetention(pool).prune(3600) == 0
    async with connection(pool) as conn:
        rows = await (await conn.execute("SELECT id FROM access_tokens ORDER BY id")).fetchall()
        assert [row["id"] for row in rows] == ["for ever", "live"]
        rows = await (await conn.execute("SELECT key FROM idempotent_answers")).fetchall()
        assert [row["key"] for row in rows] == ["new"]
