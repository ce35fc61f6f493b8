"""Access tokens, and stored answers to calls that may be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain.models.access import AccessToken, Answer


class Tokens(Protocol):
    """The secrets that let people and programs in, by their hashes."""

    async def add(self, token: AccessToken) -> None:
        """Store a token. Raises AlreadyExists if a live one has its name."""

    async def find(self, hash_: str) -> AccessToken | None:
        """Return what a secret stands for; None if it is unknown, revoked or expired."""

    async def list(self) -> Sequence[AccessToken]:
        """Return the live tokens of programs, oldest first; neither links nor sessions."""

    async def sessions(self) -> Sequence[AccessToken]:
        """Return the live sessions, newest first."""

    async def revoke(self, token_id: str) -> AccessToken:
        """Revoke a token, its links and its sessions, or a session. Raises NotFound."""

    async def redeem(self, link_hash: str, session: AccessToken) -> AccessToken | None:
        """Consume a link and store the session it opens, with the link's name, tenant and roles.

        None if the link is no longer valid: of two concurrent attempts one succeeds.
        """


class Answers(Protocol):
    """Answers to calls with an idempotency key, stored for a day."""

    async def begin(self, owner: str, key: str, digest: str) -> Answer | None:
        """Note that a call begins; None if it is the first, else what is known of the first.

        A first call without an answer after a minute counts as dead: the next one is the first.
        """

    async def end(self, owner: str, key: str, answer: Answer) -> None:
        """Store the answer."""

    async def forget(self, owner: str, key: str) -> None:
        """Let the next call under the key be the first: this one had no result."""
