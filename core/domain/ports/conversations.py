"""Conversations: what feedback answers, and what that taught."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain.models import EarlierPiece, Feedback


class Conversations(Protocol):
    """Reads of the pieces before one."""

    async def before(self, feedback: Feedback, limit: int) -> Sequence[EarlierPiece]:
        """Return what was said before in its thread and what it answers, newest first.

        At most `limit` pieces of its tenant, among them always the one it answers if that is
        stored: `in_reply_to` is looked up as an id of its source, then as one of ours.
        """


class NoConversations:
    """The port `Conversations` where nothing was said before."""

    async def before(self, feedback: Feedback, limit: int) -> Sequence[EarlierPiece]:  # noqa: ARG002
        """Return nothing."""
        return ()
