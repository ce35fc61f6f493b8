"""The `Tokens` and `Answers` ports in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from core.domain.errors import AlreadyExists, NotFound
from core.domain.models.access import AccessToken, Answer, TokenKind
from core.testing.determinism import ticking_clock

_DEAD = timedelta(minutes=1)
_KEEP = timedelta(days=1)
Clock = Callable[[], datetime]


class MemoryTokens:
    """Tokens by id, in the order they were added."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.tokens: dict[str, AccessToken] = {}
        self._clock = clock or ticking_clock()

    async def add(self, token: AccessToken) -> None:
        taken = {known.name for known in self._live()}
        if token.kind is TokenKind.TOKEN and token.name in taken:
            raise AlreadyExists(
                f"there is a token called {token.name!r} already",
                item_id="",
                name=token.name,
                content="",
                hint="give another name",
            )
        self._store(token)

    async def find(self, hash_: str) -> AccessToken | None:
        return next((t for t in self.tokens.values() if t.hash == hash_ and self._lives(t)), None)

    async def list(self) -> Sequence[AccessToken]:
        return self._live()

    async def sessions(self) -> Sequence[AccessToken]:
        live = [t for t in self.tokens.values() if t.kind is TokenKind.SESSION and self._lives(t)]
        return live[::-1]

    async def revoke(self, token_id: str) -> AccessToken:
        token = self.tokens.get(token_id)
        if token is None or not self._lives(token):
            raise NotFound(f"there is no token {token_id!r}")
        self._end(token_id)
        return token

    async def redeem(self, link_hash: str, session: AccessToken) -> AccessToken | None:
        link = await self.find(link_hash)
        if link is None or link.kind is not TokenKind.LINK:
            return None
        self._end(link.id)
        own = {"id", "hash", "expires_at"}
        return self._store(
            link.model_copy(
                update={
                    **session.model_dump(include=own),
                    "kind": TokenKind.SESSION,
                }
            )
        )

    def _live(self) -> Sequence[AccessToken]:
        return [t for t in self.tokens.values() if t.kind is TokenKind.TOKEN and self._lives(t)]

    def _store(self, token: AccessToken) -> AccessToken:
        stored = token.model_copy(update={"created_at": self._clock()})
        self.tokens[token.id] = stored
        return stored

    def _end(self, token_id: str) -> None:
        del self.tokens[token_id]
        for child in [t.id for t in self.tokens.values() if t.parent == token_id]:
            self._end(child)

    def _lives(self, token: AccessToken) -> bool:
        parent = self.tokens.get(token.parent) if token.parent else None
        ends = [t.expires_at for t in (token, parent) if t and t.expires_at]
        return all(end > self._clock() for end in ends)


class MemoryAnswers:
    """Answers by owner and key."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._answers: dict[tuple[str, str], tuple[Answer, datetime]] = {}
        self._clock = clock or ticking_clock()

    async def begin(self, owner: str, key: str, digest: str) -> Answer | None:
        now = self._clock()
        known = self._answers.get((owner, key))
        if known is not None:
            answer, since = known
            if now - since <= (_DEAD if answer.status is None else _KEEP):
                return answer
        self._answers[owner, key] = (Answer(digest=digest), now)
        return None

    async def end(self, owner: str, key: str, answer: Answer) -> None:
        known = self._answers.get((owner, key))
        if known and known[0] == Answer(digest=answer.digest):
            self._answers[owner, key] = (answer, known[1])

    async def forget(self, owner: str, key: str) -> None:
        known = self._answers.get((owner, key))
        if known and known[0].status is None:
            del self._answers[owner, key]
