"""Signing out everywhere, as a call does it before anybody is let in: for no tenant yet."""

from __future__ import annotations

from pathlib import Path

from core.app.program import open_app
from core.domain.models.access import Role, TokenKind
from core.domain.tasks import NO_TENANT, in_name_of
from core.entrypoints.auth import Access, Grant
from tests.support.api import settings_of


async def test_all_sessions_of_a_person_end_and_nobody_elses(database: str, tmp_path: Path) -> None:
    async with open_app(settings_of(database, tmp_path)) as app:
        access = Access(app.stores.tokens, app.new_id)
        first, second, others = [
            (
                await access.admit(
                    Grant(name=name, tenant_id=tenant, roles=(Role.READ,), subject=who)
                )
            )
            for name, tenant, who in (
                ("kim", "t", "acme kim"),
                ("kim", "u", "acme kim"),
                ("lee", "t", "acme lee"),
            )
        ]
        secrets = [made.secret.get_secret_value() for made in (first, second, others)]
        with in_name_of(NO_TENANT):
            await access.close_session(secrets[0], everywhere=True)
        found = [await access.find(secret, TokenKind.SESSION) for secret in secrets]
        assert [one is None for one in found] == [True, True, False]
