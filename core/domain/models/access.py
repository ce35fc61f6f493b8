"""Who may do what: roles, tokens, and the person or program behind a call."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from core.domain.messages import Message
from core.domain.models.base import Model


class Role(StrEnum):
    """A permission of a token; none implies another."""

    SUBMIT = "submit"
    READ = "read"
    REVIEW = "review"
    OPERATE = "operate"


class ToolMark(StrEnum):
    """What a tool of an MCP server does at worst; one that does not say so is taken to write."""

    READING = "reading"
    WRITING = "writing"
    DESTRUCTIVE = "destructive"

    @classmethod
    def of(cls, annotations: Mapping[str, object]) -> ToolMark:
        """Return what the annotations of a tool say; those of MCP are hints of its server."""
        if annotations.get("readOnlyHint") is True:
            return cls.READING
        return cls.DESTRUCTIVE if annotations.get("destructiveHint") is True else cls.WRITING


class MarkedTool(Model):
    """A tool of an MCP server, and how it is marked."""

    name: str
    mark: ToolMark = ToolMark.WRITING


class Principal(Model):
    """On whose behalf a call is made; `tenant_id` None covers all tenants.

    With an `agent_id` it is that agent itself, which may only use what it knows.
    """

    token_id: str
    name: str
    tenant_id: str | None = None
    agent_id: str | None = None
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
    start. `subject` is the person of a session, as an identity provider calls them. A token with an
    `agent_id` is that agent's own.
    """

    id: str
    kind: TokenKind = TokenKind.TOKEN
    hash: str
    name: str
    tenant_id: str | None = None
    agent_id: str | None = None
    roles: tuple[Role, ...]
    parent: str | None = None
    on_purpose: bool = True
    subject: str | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None

    @property
    def principal(self) -> Principal:
        """Who holds the token."""
        return Principal(
            token_id=self.id,
            name=self.name,
            tenant_id=self.tenant_id,
            agent_id=self.agent_id,
            roles=frozenset(self.roles),
        )


class Limits(Model):
    """How much of a worker's server one caller may use. Each worker counts for itself.

    The numbers are far above what people and programs need: they stop what runs away.
    """

    calls_per_minute: int = Field(default=12_000, ge=1, le=10_000_000)
    streams_per_token: int = Field(default=100, ge=1, le=100_000)
    sessions_per_token: int = Field(default=500, ge=1, le=2_000)
    wrong_tokens_per_minute: int = Field(default=10, ge=1, le=100_000)
    body_seconds: float = Field(default=120.0, gt=0, le=86_400, allow_inf_nan=False)
    send_seconds: float = Field(default=60.0, gt=0, le=86_400, allow_inf_nan=False)


def secure_url(value: str) -> str:
    """Return an address of HTTPS, or of this machine. Raises ValueError on any other."""
    parts = urlsplit(value)
    if parts.scheme == "https" and parts.hostname:
        return value
    host = parts.hostname or ""
    is_here = host == "localhost" or (host[:1].isdigit() and ip_address(host).is_loopback)
    if parts.scheme == "http" and is_here:
        return value
    raise ValueError(Message("sign_in.no_https", url=value))


SecureUrl = Annotated[str, AfterValidator(secure_url)]
Named = Annotated[str, Field(min_length=1, max_length=1_000)]


class ClaimGrant(Model):
    """Roles for whoever has a value in a claim: in `tenants`, in the one of a claim, or in all.

    A claim inside another is named with dots, as `realm_access.roles`; one that is a list has each
    of its values.
    """

    claim: Named
    value: Named
    roles: tuple[Role, ...] = Field(min_length=1)
    tenants: tuple[Named, ...] = ()
    tenant_claim: Named | None = None
    all_tenants: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> ClaimGrant:
        ways = (bool(self.tenants), self.tenant_claim is not None, self.all_tenants)
        if sum(ways) != 1:
            raise ValueError(Message("sign_in.whose_tenants"))
        return self


class SignIn(Model):
    """How people sign in to the console: at an OpenID Connect provider.

    `client_secret_env` names the environment variable with the client's secret. `audiences` are
    those that an ID token may be for, by default the client. `name_claims` say by which claim a
    person is known in decisions: the first that there is. `base_url` is the worker's own address as
    browsers see it.
    """

    issuer: SecureUrl
    client_id: Named
    client_secret_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    audiences: tuple[Named, ...] = ()
    scopes: tuple[Named, ...] = ("openid", "profile", "email")
    name_claims: tuple[Named, ...] = ("email", "preferred_username", "name", "sub")
    label: str = Field(default="OpenID Connect", min_length=1, max_length=60)
    base_url: SecureUrl | None = None
    session_hours: float = Field(default=12.0, gt=0, le=24 * 31, allow_inf_nan=False)
    grants: tuple[ClaimGrant, ...] = Field(min_length=1)


class Answer(Model):
    """The answer to a call under an idempotency key; `status` is None while it is in progress."""

    digest: str
    status: int | None = None
    body: str = ""
