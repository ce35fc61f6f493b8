"""Who may call, and what was answered to calls that may come twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain.models.access import AccessToken, Answer


class Tokens(Protocol):
    """The secrets that let people and programs in, by their hashes."""

    async def add(self, token: AccessToken) -> None:
        """Store a token. Raises AlreadyExists where a live one has its name."""

    async def find(self, hash_: str) -> AccessToken | None:
        """Give what a secret stands for; None where it is unknown, revoked or has expired."""

    async def list(self) -> Sequence[AccessToken]:
        """Give the live tokens of programs, oldest first; neither links nor sessions."""

    async def revoke(self, token_id: str) -> AccessToken:
        """End a token, its links and its sessions. Raises NotFound."""

    async def redeem(self, link_hash: str, session: AccessToken) -> AccessToken | None:
        """End a link and store the session that it opens, with the link's name, tenant and roles.

        None where there is no such link any more: of two that come at once one is let in.
        """


class Answers(Protocol):
    """Answers to calls with an idempotency key, kept for a day."""

    async def begin(self, owner: str, key: str, digest: str) -> Answer | None:
        """Note that a call begins; None where it is the first, else what is known of the first.

        A first call that did not end within a minute died: the next one is the first.
        """

    async def end(self, owner: str, key: str, answer: Answer) -> None:
        """Keep what was answered."""

    async def forget(self, owner: str, key: str) -> None:
        """Let the next call under the key be the first: this one came to nothing."""
