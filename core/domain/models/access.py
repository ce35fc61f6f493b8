"""Who may do what: roles, tokens, and the person or program behind a call."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from core.domain.models.base import Model


class Role(StrEnum):
    """What a token lets its holder do; none of them includes another."""

    SUBMIT = "submit"
    READ = "read"
    REVIEW = "review"
    OPERATE = "operate"


class Principal(Model):
    """On whose behalf a call is made. `tenant_id` None: that of all tenants."""

    token_id: str
    name: str
    tenant_id: str | None = None
    roles: frozenset[Role] = frozenset()

    def may_see(self, tenant_id: str) -> bool:
        """True where the tenant is this principal's."""
        return self.tenant_id is None or self.tenant_id == tenant_id


class TokenKind(StrEnum):
    """A token for programs, a link that opens the console once, or a browser's session."""

    TOKEN = "token"  # noqa: S105 - the word for the kind
    LINK = "link"
    SESSION = "session"


class AccessToken(Model):
    """A secret as it is stored: only its SHA-256. `parent` is the token that a session came of.

    What comes of a token ends with it. `on_purpose` is false for the one made at first start.
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
        """Who holds it."""
        return Principal(
            token_id=self.id,
            name=self.name,
            tenant_id=self.tenant_id,
            roles=frozenset(self.roles),
        )


class Answer(Model):
    """What a call under an idempotency key was answered; `status` None while it is worked on."""

    digest: str
    status: int | None = None
    body: str = ""
