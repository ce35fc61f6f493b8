"""Secrets that admit people and programs: how they are made, recognised and looked up.

A secret has 256 random bits. So its SHA-256 is as good as a slow hash, no number of guesses finds
one (there is no lockout), and the time of a look-up reveals nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog
from pydantic import SecretStr

from core.domain.errors import AlreadyExists, ConfigurationError, InvalidInput, NotFound
from core.domain.messages import Message
from core.domain.models.access import AccessToken, Role, TokenKind
from core.domain.models.base import Model
from core.domain.models.feedback import refuse_reserved
from core.domain.ports import NewId, Tokens
from core.domain.tasks import over_all_tenants

log = structlog.get_logger(__name__)

ALL_ROLES = tuple(Role)
OF_AGENTS = (Role.READ, Role.SUBMIT)
FIRST = "first"
LINK_LIFE = timedelta(minutes=10)
SESSION_LIFE = timedelta(hours=12)
LONGEST_NAME = 100
_SECRET = re.compile(r"swk_[A-Za-z0-9_-]{43}")


class Made(Model):
    """A new token and its secret, which cannot be shown again."""

    secret: SecretStr
    token: AccessToken
    lasts: int | None = None  # seconds, None without an end


class Grant(Model):
    """What a token or a link permits its bearer; `tenant_id` None: in all tenants.

    `subject` is the person, as an identity provider calls them. With an `agent_id` it is for that
    agent of the tenant, to use what it knows.
    """

    name: str
    tenant_id: str | None = None
    agent_id: str | None = None
    roles: tuple[Role, ...] = ALL_ROLES
    subject: str | None = None


def make_secret() -> str:
    """Return a new secret; its prefix lets scanners of leaked secrets recognise it."""
    return f"swk_{secrets.token_urlsafe(32)}"


def hash_of(secret: str) -> str:
    """Return what is stored of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Access:
    """Creates, finds and revokes what admits callers."""

    tokens: Tokens
    new_id: NewId
    now: Callable[[], datetime] = utc_now
    make_secret: Callable[[], str] = field(default=make_secret, repr=False)
    person_life: timedelta = SESSION_LIFE  # of a session that an identity provider vouched for

    async def find(self, secret: str, kind: TokenKind) -> AccessToken | None:
        """Return the live token of this kind that a secret stands for. Raises DatabaseDown."""
        if not _SECRET.fullmatch(secret):
            return None
        token = await self.tokens.find(hash_of(secret))
        return token if token is not None and token.kind is kind else None

    async def add(self, grant: Grant, life: timedelta | None = None) -> Made:
        """Create a token on request. Raises InvalidInput, AlreadyExists."""
        made = await self._add(TokenKind.TOKEN, _checked(grant), life)
        log.info("token.added", token=made.token.id, name=grant.name)
        return made

    def first(self) -> Made:
        """Create the token of a first start; the caller stores it."""
        return self._made(TokenKind.TOKEN, Grant(name=FIRST), None, on_purpose=False)

    async def link(self, grant: Grant) -> Made:
        """Create a link that opens the console once. Raises InvalidInput."""
        return await self._add(TokenKind.LINK, _checked(grant), LINK_LIFE)

    async def redeem(self, link_secret: str) -> Made | None:
        """Open a session by a link; None if it is wrong, used or expired."""
        if not _SECRET.fullmatch(link_secret):
            return None
        link = await self.find(link_secret, TokenKind.LINK)
        life = self.person_life if link is not None and link.subject else SESSION_LIFE
        wanted = self._made(TokenKind.SESSION, Grant(name="link"), life)
        session = await self.tokens.redeem(hash_of(link_secret), wanted.token)
        if session is None:
            return None
        log.info("session.opened", token=session.id, name=session.name)
        return Made(secret=wanted.secret, token=session, lasts=wanted.lasts)

    async def open_session(self, token_secret: str) -> Made | None:
        """Open a session by a token, no longer than the token lasts; None if it is wrong.

        The console is for people: an agent's token opens none.
        """
        parent = await self.find(token_secret, TokenKind.TOKEN)
        if parent is None or parent.agent_id is not None:
            return None
        grant = Grant(name=parent.name, tenant_id=parent.tenant_id, roles=parent.roles)
        made = await self._add(TokenKind.SESSION, grant, SESSION_LIFE, parent=parent.id)
        log.info("session.opened", token=made.token.id, name=made.token.name)
        return made

    async def admit(self, person: Grant) -> Made:
        """Open a session for a person whom an identity provider has vouched for."""
        made = await self._add(TokenKind.SESSION, person, self.person_life)
        log.info("session.opened", token=made.token.id, name=made.token.name)
        return made

    async def close_session(self, secret: str, *, everywhere: bool = False) -> AccessToken | None:
        """End a session, `everywhere` all of the same person; one that has ended is no error."""
        session = await self.find(secret, TokenKind.SESSION)
        if session is not None:
            with over_all_tenants():  # one person may have sessions of several
                sessions = await self.tokens.sessions()
            own = [one for one in sessions if _is_same_person(one, session)]
            await self._end(own if everywhere else [session])
        return session

    async def end(self, wanted: str) -> Sequence[AccessToken]:
        """End a session by its id, or all of a name. Raises NotFound."""
        live = await self.tokens.sessions()
        found = [s for s in live if s.id == wanted] or [s for s in live if s.name == wanted]
        if not found:
            raise NotFound(Message("no.session", id=wanted), hint=Message("see.sessions"))
        await self._end(found)
        return found

    async def _end(self, sessions: Sequence[AccessToken]) -> None:
        for session in sessions:
            with suppress(NotFound):  # it has ended meanwhile
                await self.tokens.revoke(session.id)
                log.info("session.ended", token=session.id, name=session.name)

    async def revoke(self, wanted: str) -> AccessToken:
        """Revoke a token by id or name, and the sessions opened with it. Raises NotFound."""
        live = await self.tokens.list()
        found = [t for t in live if t.id == wanted] or [t for t in live if t.name == wanted]
        if not found:
            raise NotFound(Message("no.token", id=wanted), hint=Message("see.tokens"))
        revoked = await self.tokens.revoke(found[0].id)
        log.info("token.revoked", token=revoked.id, name=revoked.name)
        return revoked

    async def _add(
        self,
        kind: TokenKind,
        grant: Grant,
        life: timedelta | None,
        *,
        parent: str | None = None,
    ) -> Made:
        made = self._made(kind, grant, life, parent=parent)
        await self.tokens.add(made.token)
        return made

    def _made(
        self,
        kind: TokenKind,
        grant: Grant,
        life: timedelta | None,
        *,
        parent: str | None = None,
        on_purpose: bool = True,
    ) -> Made:
        secret = self.make_secret()
        token = AccessToken(
            id=self.new_id(),
            kind=kind,
            hash=hash_of(secret),
            name=grant.name,
            tenant_id=grant.tenant_id,
            agent_id=grant.agent_id,
            roles=grant.roles,
            parent=parent,
            on_purpose=on_purpose,
            subject=grant.subject,
            expires_at=None if life is None else self.now() + life,
        )
        lasts = None if life is None else int(life.total_seconds())
        return Made(secret=SecretStr(secret), token=token, lasts=lasts)


def _is_same_person(one: AccessToken, other: AccessToken) -> bool:
    if one.subject is not None or other.subject is not None:
        return one.subject == other.subject
    return (one.name, one.tenant_id, one.parent) == (other.name, other.tenant_id, other.parent)


def _checked(grant: Grant) -> Grant:
    """Return the grant as it may be stored. Raises InvalidInput, naming the field first."""
    if not grant.name.strip() or len(grant.name) > LONGEST_NAME or not grant.name.isprintable():
        raise InvalidInput(Message("tokens.name", most=LONGEST_NAME))
    if grant.tenant_id is not None and not (
        grant.tenant_id.strip() and grant.tenant_id.isprintable()
    ):
        raise InvalidInput(Message("tokens.tenant"))
    if not grant.roles:
        raise InvalidInput(
            Message("tokens.roles"),
            hint=Message("tokens.hint_roles", roles=", ".join(ALL_ROLES)),
        )
    if grant.agent_id is not None:
        refuse_reserved(grant.agent_id)
        _check_agent(grant)
    return grant.model_copy(update={"roles": tuple(dict.fromkeys(grant.roles))})


def _check_agent(grant: Grant) -> None:
    """Raise InvalidInput if no agent could hold the grant."""
    if grant.tenant_id is None:
        raise InvalidInput(Message("tokens.agent_tenant"), hint=Message("access.say_tenant"))
    more = [role for role in grant.roles if role not in OF_AGENTS]
    if more:
        raise InvalidInput(
            Message("tokens.agent_roles", roles=", ".join(more)),
            hint=Message("tokens.hint_roles", roles=", ".join(OF_AGENTS)),
        )


FILE = "token"


async def ensure_token(access: Access, home: Path) -> Path | None:
    """Create a token for everything if there is none, and return the file with its secret.

    None if there already is one. The secret is on disk, under another name, before the token
    counts: a crash in between leaves a token that nobody knows, and `tokens add` makes another.
    Raises ConfigurationError if the file cannot be written.
    """
    if await access.tokens.list():
        return None
    file, part = home / FILE, home / f".{FILE}-{uuid.uuid4().hex}"
    made = access.first()
    try:
        _write(part, made.secret.get_secret_value() + "\n")
        try:
            await access.tokens.add(made.token)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except AlreadyExists:  # another worker has just made it
        return None
    except OSError as error:
        raise ConfigurationError(
            Message("tokens.first_unwritable", file=file, why=error),
            hint=Message("tokens.hint_home"),
        ) from error
    log.info("token.added", token=made.token.id, name=made.token.name, file=str(file))
    return file


def _write(path: Path, text: str) -> None:
    """Write a new file that is never readable by other users."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(text)
