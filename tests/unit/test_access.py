"""Tokens: how secrets are generated, what is shown of them, and the first token."""

from __future__ import annotations

import asyncio
import re
import stat
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.domain.errors import ConfigurationError, InvalidInput, NotFound
from core.domain.models.access import AccessToken, Role, TokenKind
from core.entrypoints.auth import Access, Grant, ensure_token, hash_of, make_secret
from core.testing.access import MemoryTokens
from core.testing.determinism import counting_ids

START = datetime(2026, 1, 1, tzinfo=UTC)


def access_over(tokens: MemoryTokens | None = None) -> Access:
    return Access(tokens or MemoryTokens(lambda: START), counting_ids("id"), lambda: START)


def test_secrets_are_long_and_never_the_same() -> None:
    made = {make_secret() for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch(r"swk_[A-Za-z0-9_-]{43}", secret) for secret in made)


async def test_a_secret_is_stored_by_its_hash_and_shown_by_nothing_that_holds_it() -> None:
    access = access_over()
    made = await access.add(Grant(name="ci"))
    secret = made.secret.get_secret_value()
    assert made.token.hash == hash_of(secret)
    assert secret not in repr(made) + str(made) + made.model_dump_json() + repr(access)
    assert await access.find(secret, TokenKind.TOKEN) is not None


@pytest.mark.parametrize(
    "grant",
    [
        {"name": ""},
        {"name": " "},
        {"name": "x" * 101},
        {"name": "two\nlines"},
        {"name": "x", "tenant_id": ""},
        {"name": "x", "tenant_id": "a\x00"},
        {"name": "x", "roles": ()},
    ],
)
async def test_a_grant_that_says_nothing_is_refused(grant: dict[str, str]) -> None:
    access = access_over()
    for make in (access.add, access.link):
        with pytest.raises(InvalidInput):
            await make(Grant.model_validate(grant))


async def test_roles_are_kept_once_and_a_life_of_no_time_is_over() -> None:
    access = access_over()
    twice = (Role.READ, Role.SUBMIT, Role.READ)
    made = await access.add(Grant(name="a", roles=twice), timedelta(0))
    assert made.token.roles == (Role.READ, Role.SUBMIT)
    assert await access.find(made.secret.get_secret_value(), TokenKind.TOKEN) is None


async def test_a_token_is_revoked_by_its_id_before_its_name() -> None:
    access = access_over()
    first = await access.add(Grant(name="id-000002"))
    second = await access.add(Grant(name="other"))
    assert (await access.revoke("id-000002")).id == second.token.id
    assert (await access.revoke("id-000002")).id == first.token.id
    with pytest.raises(NotFound, match="id-000002"):
        await access.revoke("id-000002")


async def test_the_first_token_is_for_everything_and_for_its_owner_alone(tmp_path: Path) -> None:
    access, home = access_over(), tmp_path / "new" / "home"
    file = await ensure_token(access, home)
    assert file == home / "token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    token = await access.find(file.read_text().strip(), TokenKind.TOKEN)
    assert token is not None
    assert (token.name, token.tenant_id, token.on_purpose) == ("first", None, False)
    assert set(token.roles) == set(Role)
    assert [path.name for path in home.iterdir()] == ["token"]


async def test_where_there_is_a_token_none_is_made(tmp_path: Path) -> None:
    access = access_over()
    await access.add(Grant(name="ci"))
    assert await ensure_token(access, tmp_path) is None
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_others_may_read_is_not_written_into(tmp_path: Path) -> None:
    old = tmp_path / "token"
    old.write_text("an old one")
    old.chmod(0o644)
    with old.open() as held:
        assert await ensure_token(access_over(), tmp_path) == old
        assert held.read() == "an old one"
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


async def test_a_first_token_that_was_revoked_does_not_come_back(tmp_path: Path) -> None:
    access = access_over()
    file = await ensure_token(access, tmp_path)
    assert file
    secret = file.read_text().strip()
    await access.revoke("first")
    assert await ensure_token(access, tmp_path) == file
    assert await access.find(secret, TokenKind.TOKEN) is None
    assert await access.find(file.read_text().strip(), TokenKind.TOKEN) is not None


class _Slow(MemoryTokens):
    """Yields to other tasks between the check and the creation."""

    async def list(self) -> Sequence[AccessToken]:
        """List as usual, then yield to other tasks."""
        found = await super().list()
        await asyncio.sleep(0)
        return found


async def test_of_workers_that_start_at_once_one_makes_it(tmp_path: Path) -> None:
    tokens = _Slow(lambda: START)
    access = Access(tokens, counting_ids("id"), lambda: START)
    made = await asyncio.gather(*(ensure_token(access, tmp_path) for _ in range(5)))
    assert sum(file is not None for file in made) == 1
    secret = (tmp_path / "token").read_text().strip()
    assert await access.find(secret, TokenKind.TOKEN) is not None
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


async def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    home = tmp_path / "file"
    home.write_text("no folder")
    access = access_over()
    with pytest.raises(ConfigurationError, match="first token") as caught:
        await ensure_token(access, home)
    assert "tokens add" in caught.value.hint
    assert await access.tokens.list() == []
