"""Contract of the stores of tokens and answers; a test class supplies them and the time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import pytest

from core.domain.errors import AlreadyExists, NotFound
from core.domain.models.access import AccessToken, Answer, Role, TokenKind
from core.domain.ports import Answers, Tokens

HOUR = timedelta(hours=1)
MINUTE = 60.0
DAY = 24 * 3600.0
Age = Callable[[float], Awaitable[None]]


def token(id_: str, **fields: object) -> AccessToken:
    """Return a token whose hash and name derive from its id."""
    made = {"id": id_, "hash": f"hash of {id_}", "name": id_, "roles": (Role.READ,), **fields}
    return AccessToken.model_validate(made)


class TokensContract:
    """Tests for any store of tokens; `now` is the store's time."""

    @pytest.fixture(autouse=True)
    def _stores(self, tokens: Tokens, now: datetime) -> None:
        self.tokens, self.now = tokens, now

    async def test_a_token_is_found_by_its_hash_as_it_was_stored(self) -> None:
        one = token(
            "a",
            tenant_id="acme",
            roles=(Role.REVIEW, Role.SUBMIT),
            on_purpose=False,
            expires_at=self.now + HOUR,
        )
        await self.tokens.add(one)
        found = await self.tokens.find("hash of a")
        assert found is not None
        assert found.created_at is not None
        assert found.model_copy(update={"created_at": None}) == one
        assert await self.tokens.find("a") is None

    async def test_live_sessions_are_listed_with_their_person_and_ended(self) -> None:
        await self.tokens.add(token("a"))
        of = {"kind": TokenKind.SESSION, "name": "kim", "expires_at": self.now + HOUR}
        await self.tokens.add(token("s1", **of, parent="a"))
        await self.tokens.add(token("s2", **of, subject="https://login kim"))
        await self.tokens.add(token("over", **of | {"expires_at": self.now - HOUR}))
        listed = {one.id: one.subject for one in await self.tokens.sessions()}
        assert listed == {"s1": None, "s2": "https://login kim"}
        assert (await self.tokens.revoke("s2")).id == "s2"
        await self.tokens.revoke("a")
        assert await self.tokens.sessions() == []

    async def test_a_link_hands_its_person_to_the_session(self) -> None:
        link = token("l", kind=TokenKind.LINK, subject="https://login kim")
        await self.tokens.add(link)
        made = await self.tokens.redeem(link.hash, token("s", kind=TokenKind.SESSION))
        assert made is not None
        assert (made.subject, made.name) == ("https://login kim", "l")

    async def test_a_token_that_has_expired_is_not_found_and_frees_its_name(self) -> None:
        await self.tokens.add(token("a", name="ci", expires_at=self.now - HOUR))
        assert await self.tokens.find("hash of a") is None
        assert await self.tokens.list() == []
        with pytest.raises(NotFound):
            await self.tokens.revoke("a")
        await self.tokens.add(token("b", name="ci"))
        assert await self.tokens.find("hash of b")

    async def test_a_name_is_given_once_but_links_and_sessions_may_share_it(self) -> None:
        await self.tokens.add(token("a", name="ci"))
        with pytest.raises(AlreadyExists, match="ci"):
            await self.tokens.add(token("b", name="ci"))
        await self.tokens.add(token("c", name="ci", kind=TokenKind.LINK))
        await self.tokens.add(token("d", name="ci", kind=TokenKind.SESSION, parent="a"))
        assert [t.id for t in await self.tokens.list()] == ["a"]

    async def test_of_two_under_one_name_at_once_one_is_stored(self) -> None:
        both = (self.tokens.add(token(id_, name="first")) for id_ in "ab")
        ended = await asyncio.gather(*both, return_exceptions=True)
        assert [type(end) for end in ended if end] == [AlreadyExists]
        assert len(await self.tokens.list()) == 1

    async def test_the_list_begins_with_the_oldest(self) -> None:
        for id_ in ("c", "a", "b"):
            await self.tokens.add(token(id_))
        assert [t.id for t in await self.tokens.list()] == ["c", "a", "b"]

    async def test_what_came_of_a_token_ends_with_it(self) -> None:
        await self.tokens.add(token("a"))
        await self.tokens.add(token("l", kind=TokenKind.LINK, parent="a"))
        await self.tokens.add(token("s", kind=TokenKind.SESSION, parent="a"))
        await self.tokens.add(token("other", kind=TokenKind.SESSION))
        assert (await self.tokens.revoke("a")).name == "a"
        for gone in "als":
            assert await self.tokens.find(f"hash of {gone}") is None
        assert await self.tokens.find("hash of other")
        with pytest.raises(NotFound, match="'a'"):
            await self.tokens.revoke("a")

    async def test_a_session_ends_when_its_token_expires(self) -> None:
        await self.tokens.add(token("a", expires_at=self.now - HOUR))
        for id_, kind in (("s", TokenKind.SESSION), ("l", TokenKind.LINK)):
            await self.tokens.add(token(id_, kind=kind, parent="a", expires_at=self.now + HOUR))
            assert await self.tokens.find(f"hash of {id_}") is None
        assert await self.tokens.redeem("hash of l", token("n")) is None

    async def test_what_came_of_a_token_is_good_until_the_token_expires(self) -> None:
        await self.tokens.add(token("a", expires_at=self.now + HOUR))
        await self.tokens.add(token("s", kind=TokenKind.SESSION, parent="a"))
        await self.tokens.add(token("l", kind=TokenKind.LINK, parent="a"))
        assert await self.tokens.find("hash of s")
        assert await self.tokens.redeem("hash of l", token("n"))
        assert await self.tokens.find("hash of n")

    async def test_a_link_opens_one_session_with_its_name_tenant_and_roles(self) -> None:
        link = token(
            "l", kind=TokenKind.LINK, tenant_id="acme", roles=(Role.REVIEW,), name="from Kim"
        )
        await self.tokens.add(link)
        wanted = token("s", kind=TokenKind.SESSION, expires_at=self.now + HOUR)
        opened = await self.tokens.redeem("hash of l", wanted)
        assert opened is not None
        assert opened == await self.tokens.find("hash of s")
        assert (opened.id, opened.kind) == ("s", TokenKind.SESSION)
        assert (opened.name, opened.tenant_id) == ("from Kim", "acme")
        assert (opened.roles, opened.expires_at) == ((Role.REVIEW,), self.now + HOUR)
        assert await self.tokens.find("hash of l") is None
        assert await self.tokens.redeem("hash of l", token("s2")) is None
        assert await self.tokens.find("hash of s2") is None

    async def test_a_link_opens_a_session_until_it_expires(self) -> None:
        for id_, expires_at in (("live", self.now + HOUR), ("dead", self.now - HOUR)):
            await self.tokens.add(token(id_, kind=TokenKind.LINK, expires_at=expires_at))
        assert await self.tokens.redeem("hash of live", token("s1"))
        assert await self.tokens.redeem("hash of dead", token("s2")) is None
        assert await self.tokens.find("hash of s2") is None

    async def test_of_two_that_redeem_a_link_at_once_one_is_let_in(self) -> None:
        await self.tokens.add(token("l", kind=TokenKind.LINK))
        both = (self.tokens.redeem("hash of l", token(id_)) for id_ in "xy")
        opened = await asyncio.gather(*both)
        assert sum(session is not None for session in opened) == 1

    @pytest.mark.parametrize("kind", [TokenKind.TOKEN, TokenKind.SESSION])
    async def test_what_is_no_link_is_not_redeemed(self, kind: TokenKind) -> None:
        await self.tokens.add(token("a", kind=kind))
        assert await self.tokens.redeem("hash of a", token("s")) is None
        assert await self.tokens.find("hash of a")

    async def test_a_link_that_has_expired_opens_nothing(self) -> None:
        await self.tokens.add(token("l", kind=TokenKind.LINK, expires_at=self.now - HOUR))
        assert await self.tokens.redeem("hash of l", token("s")) is None


class AnswersContract:
    """Tests for any store of answers; `age` ages all of them by a number of seconds."""

    @pytest.fixture(autouse=True)
    def _stores(self, answers: Answers, age: Age) -> None:
        self.answers, self.age = answers, age

    async def test_the_first_call_is_told_from_those_that_follow(self) -> None:
        assert await self.answers.begin("me", "k", "d") is None
        assert await self.answers.begin("me", "k", "d") == Answer(digest="d")
        done = Answer(digest="d", status=201, body='{"이름": "값"}')
        await self.answers.end("me", "k", done)
        assert await self.answers.begin("me", "k", "other") == done

    async def test_keys_are_apart_by_owner(self) -> None:
        assert await self.answers.begin("me", "k", "d") is None
        assert await self.answers.begin("you", "k", "d") is None
        assert await self.answers.begin("me", "k2", "d") is None

    async def test_an_answer_is_told_to_its_owner_alone(self) -> None:
        told = {"me": Answer(digest="d", status=200), "you": Answer(digest="e", status=201)}
        for owner, done in told.items():
            assert await self.answers.begin(owner, "k", done.digest) is None
            await self.answers.end(owner, "k", done)
        found = {owner: await self.answers.begin(owner, "k", "d") for owner in told}
        assert found == told

    async def test_of_two_at_once_one_is_the_first(self) -> None:
        both = (self.answers.begin("me", "k", digest) for digest in "de")
        known = await asyncio.gather(*both)
        assert sum(answer is None for answer in known) == 1

    async def test_what_came_to_nothing_may_be_tried_again(self) -> None:
        await self.answers.begin("me", "k", "d")
        await self.answers.forget("me", "k")
        assert await self.answers.begin("me", "k", "d") is None

    async def test_an_answer_that_was_given_is_not_forgotten(self) -> None:
        await self.answers.begin("me", "k", "d")
        done = Answer(digest="d", status=200)
        await self.answers.end("me", "k", done)
        await self.answers.forget("me", "k")
        assert await self.answers.begin("me", "k", "d") == done

    async def test_a_call_that_died_leaves_its_key_to_the_next(self) -> None:
        await self.answers.begin("me", "k", "d")
        await self.age(MINUTE - 10)
        assert await self.answers.begin("me", "k", "d") is not None
        await self.age(20)
        assert await self.answers.begin("me", "k", "e") is None
        await self.answers.end("me", "k", Answer(digest="d", status=200))  # not dead after all
        assert await self.answers.begin("me", "k", "e") == Answer(digest="e")

    async def test_an_answer_is_kept_for_a_day(self) -> None:
        await self.answers.begin("me", "k", "d")
        await self.answers.end("me", "k", Answer(digest="d", status=200))
        await self.age(DAY - 60)
        assert await self.answers.begin("me", "k", "d") is not None
        await self.age(120)
        assert await self.answers.begin("me", "k", "d") is None
