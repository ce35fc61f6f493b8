"""Who may do what: roles, tokens, and the person or program behind a call."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from core.domain.models.base import Model


class Role(StrEnum):
    """A permission of a token; none implies another."""

    SUBMIT = "submit"
    READ = "read"
    REVIEW = "review"
    OPERATE = "operate"


class Principal(Model):
    """On whose behalf a call is made; `tenant_id` None covers all tenants."""

    token_id: str
    name: str
    tenant_id: str | None = None
    roles: frozenset[Role] = frozenset()

    def may_see(self, tenant_id: str) -> bool:
        """Whether the principal has access to the tenant."""
        return self.tenant_id is None or self.tenant_id == tenant_id


class TokenKind(StrEnum):
    """A token for programs, a one-time link to the console, or a browser session."""

    TOKEN = "token"  # noqa: S105 - the word for the kind
    LINK = "link"
    SESSION = "session"


class AccessToken(Model):
    """A secret as stored: its SHA-256 only. `parent` is the token a session or link derives from.

    Revoking a token ends what derives from it. `on_purpose` is false for the one made at first
    start.
    """

    id: str
    kind: TokenKind = TokenKind.TOKEN
    hash: str
    name: str
    tenant_id: str | None = None
    roles: tuple[Role, ...]
    parent: str | None = None
    on_purpose: bool = True
    created_at: datetime | None = None
    expires_at: datetime | None = None

    @property
    def principal(self) -> Principal:
        """Who holds the token."""
        return Principal(
            token_id=self.id,
            name=self.name,
            tenant_id=self.tenant_id,
            roles=frozenset(self.roles),
        )


class Answer(Model):
    """The answer to a call under an idempotency key; `status` is None while it is in progress."""

    digest: str
    status: int | None = None
    body: str = ""
