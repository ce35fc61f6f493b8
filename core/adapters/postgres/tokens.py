"""Access tokens, links and sessions, as rows."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.rows import DictRow

from core.adapters.postgres.queries import Pool, fetch_all, fetch_one, sql, transaction
from core.domain.errors import AlreadyExists, NotFound
from core.domain.messages import Message
from core.domain.models.access import AccessToken
from core.domain.tasks import over_all_tenants


class PostgresTokens:
    """The `Tokens` port. Whose a token is shows only once it is found: all tenants are asked."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, token: AccessToken) -> None:
        with over_all_tenants():
            await self._add(token)

    async def _add(self, token: AccessToken) -> None:
        params = token.model_dump(exclude={"created_at"}) | {"roles": list(token.roles)}
        async with transaction(self._pool) as conn:
            await conn.execute(sql("access.drop_expired_name"), {"name": token.name})
            if not (await conn.execute(sql("access.add"), params)).rowcount:
                raise name_taken(token)

    async def find(self, hash_: str) -> AccessToken | None:
        with over_all_tenants():
            row = await fetch_one(self._pool, "access.find", hash=hash_)
        return _token(row) if row else None

    async def list(self) -> Sequence[AccessToken]:
        with over_all_tenants():
            return [_token(row) for row in await fetch_all(self._pool, "access.list")]

    async def sessions(self) -> Sequence[AccessToken]:
        return [_token(row) for row in await fetch_all(self._pool, "access.sessions")]

    async def revoke(self, token_id: str) -> AccessToken:
        with over_all_tenants():
            row = await fetch_one(self._pool, "access.revoke", id=token_id)
        if row is None:
            raise NotFound(Message("no.token", id=token_id), hint=Message("see.tokens"))
        return _token(row)

    async def redeem(self, link_hash: str, session: AccessToken) -> AccessToken | None:
        ids = {"id": session.id, "hash": session.hash, "link_hash": link_hash}
        with over_all_tenants():
            row = await fetch_one(self._pool, "access.redeem", **ids, expires_at=session.expires_at)
        return _token(row) if row else None


def name_taken(token: AccessToken) -> AlreadyExists:
    """Return the error that a live token already has this name."""
    return AlreadyExists(
        Message("tokens.taken", name=token.name),
        item_id="",
        name=token.name,
        content="",
        hint=Message("tokens.hint_taken"),
    )


def _token(row: DictRow) -> AccessToken:
    return AccessToken.model_validate(dict(row))
