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
from core.entrypoints.auth import SESSION_LIFE, Access, Grant, ensure_token, hash_of, make_secret
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


@pytest.mark.parametrize(
    "grant",
    [
        {"name": "x" * 100},
        {"name": "x", "tenant_id": " t "},
        {"name": "x", "tenant_id": "t", "agent_id": "a", "roles": (Role.SUBMIT, Role.READ)},
    ],
)
async def test_a_grant_of_any_use_is_stored_as_it_is(grant: dict[str, object]) -> None:
    wanted = Grant.model_validate(grant)
    token = (await access_over().add(wanted)).token
    assert Grant.model_validate(token.model_dump(include=set(Grant.model_fields))) == wanted
    assert (token.kind, token.expires_at, token.parent, token.on_purpose) == (
        TokenKind.TOKEN, None, None, True
    )  # fmt: skip


@pytest.mark.parametrize(
    ("grant", "told"),
    [
        ({"tenant_id": None}, "tenant"),
        ({"roles": tuple(Role)}, "roles?.*review"),
        ({"agent_id": " Skill-Worker"}, "Skill-Worker"),
    ],
)
async def test_what_no_agent_could_hold_is_refused(grant: dict[str, object], told: str) -> None:
    given = {"name": "x", "tenant_id": "t", "agent_id": "a", "roles": (Role.READ,), **grant}
    with pytest.raises(InvalidInput, match=told):
        await access_over().add(Grant.model_validate(given))


async def test_a_link_opens_one_session_within_ten_minutes() -> None:
    tokens = MemoryTokens(lambda: START)
    access = Access(tokens, counting_ids("id"), lambda: START, person_life=timedelta(hours=1))
    for subject, life in ((None, SESSION_LIFE), ("kim@x", timedelta(hours=1))):
        grant = Grant(name="kim", tenant_id="t", roles=(Role.READ,), subject=subject)
        link = await access.link(grant)
        assert (link.token.kind, link.lasts) == (TokenKind.LINK, 600)
        assert link.token.expires_at == START + timedelta(minutes=10)
        secret = link.secret.get_secret_value()
        opened = await access.redeem(secret)
        assert opened is not None
        assert (opened.token.kind, opened.token.name) == (TokenKind.SESSION, "kim")
        assert (opened.token.tenant_id, opened.token.roles) == ("t", (Role.READ,))
        assert opened.lasts == life.total_seconds()
        assert opened.token.expires_at == START + life
        found = await access.find(opened.secret.get_secret_value(), TokenKind.SESSION)
        assert found == opened.token
        assert await access.redeem(secret) is None
    assert await access.redeem("no secret") is None
    assert (
        await access.redeem((await access.add(Grant(name="x"))).secret.get_secret_value()) is None
    )


async def test_a_token_opens_sessions_with_its_rights_unless_it_is_an_agent_s() -> None:
    access = access_over()
    grant = Grant(name="ci", tenant_id="t", roles=(Role.READ,))
    token = await access.add(grant, timedelta(days=1))
    made = await access.open_session(token.secret.get_secret_value())
    assert made is not None
    session = made.token
    assert (session.kind, session.name, session.tenant_id) == (TokenKind.SESSION, "ci", "t")
    assert (session.roles, session.parent) == ((Role.READ,), token.token.id)
    assert (session.expires_at, made.lasts) == (START + SESSION_LIFE, 12 * 3600)
    assert await access.open_session(made.secret.get_secret_value()) is None
    agent = Grant(name="bot", tenant_id="t", agent_id="a", roles=(Role.READ,))
    bot = await access.add(agent)
    assert await access.open_session(bot.secret.get_secret_value()) is None


async def test_a_person_is_admitted_for_as_long_as_is_set() -> None:
    access = Access(
        MemoryTokens(lambda: START), counting_ids("id"), lambda: START,
        person_life=timedelta(minutes=90),
    )  # fmt: skip
    made = await access.admit(Grant(name="kim", subject="kim@x"))
    assert (made.token.subject, made.token.kind) == ("kim@x", TokenKind.SESSION)
    assert (made.token.expires_at, made.lasts) == (START + timedelta(minutes=90), 5400)


async def opened(access: Access, **given: object) -> str:
    grant = Grant.model_validate({"name": "kim", **given})
    return (await access.admit(grant)).secret.get_secret_value()


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ({"subject": "kim@x"}, True),
        ({"subject": "kim@x", "tenant_id": "u", "name": "Kim"}, True),
        ({"subject": "lee@x"}, False),
        ({}, False),
    ],
)
async def test_signing_out_everywhere_ends_the_sessions_of_one_person(
    other: dict[str, object], is_same: bool
) -> None:
    access = access_over()
    mine, another = await opened(access, subject="kim@x"), await opened(access, **other)
    ended = await access.close_session(mine, everywhere=True)
    assert ended is not None
    assert await access.find(mine, TokenKind.SESSION) is None
    assert (await access.find(another, TokenKind.SESSION) is None) == is_same
    assert await access.close_session(mine) is None


@pytest.mark.parametrize(
    ("other", "is_same"), [({}, True), ({"tenant_id": "u"}, False), ({"name": "lee"}, False)]
)
async def test_without_a_provider_a_person_is_a_name_in_a_tenant(
    other: dict[str, object], is_same: bool
) -> None:
    access = access_over()
    mine, another = await opened(access), await opened(access, **other)
    await access.close_session(mine, everywhere=True)
    assert (await access.find(another, TokenKind.SESSION) is None) == is_same


async def test_signing_out_ends_one_session_and_no_token() -> None:
    access = access_over()
    token = await access.add(Grant(name="kim"))
    secret = token.secret.get_secret_value()
    first, second = [await access.open_session(secret) for _ in range(2)]
    assert first is not None
    assert second is not None
    assert await access.close_session(secret, everywhere=True) is None
    ended = await access.close_session(first.secret.get_secret_value())
    assert ended is not None
    assert ended.id == first.token.id
    for made, kind, is_live in (
        (first, TokenKind.SESSION, False), (second, TokenKind.SESSION, True),
        (token, TokenKind.TOKEN, True),
    ):  # fmt: skip
        assert (await access.find(made.secret.get_secret_value(), kind) is not None) == is_live
    other = await access.open_session(
        (await access.add(Grant(name="kim2"))).secret.get_secret_value()
    )
    assert other is not None
    await access.close_session(second.secret.get_secret_value(), everywhere=True)
    assert await access.find(other.secret.get_secret_value(), TokenKind.SESSION) is not None


async def test_sessions_are_ended_by_an_id_or_else_all_of_a_name() -> None:
    access = access_over()
    for name in ("kim", "kim", "lee", "id-000001"):
        await opened(access, name=name)
    assert [one.name for one in await access.end("id-000001")] == ["kim"]
    assert [one.name for one in await access.end("id-000001")] == ["id-000001"]
    assert [one.name for one in await access.end("kim")] == ["kim"]
    with pytest.raises(NotFound, match="kim"):
        await access.end("kim")
    assert [one.name for one in await access.tokens.sessions()] == ["lee"]


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
