"""Contract of every store of model replies; a test class supplies `replies`."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import JsonValue

from core.domain.models import Usage
from core.domain.ports import Replies

SPENT = Usage(model_calls=1, input_tokens=1_000, output_tokens=50, cost=Decimal("0.000123456789"))


class RepliesContract:
    """Tests for any store of replies."""

    async def test_nothing_stored_is_none(self, replies: Replies) -> None:
        assert await replies.get("f:match", 0) is None

    @pytest.mark.parametrize("reply", [{"원": ["화", 1, None, True]}, [1.5], "글 👩‍💻", 0, None])
    async def test_a_reply_comes_back_as_it_was(self, replies: Replies, reply: JsonValue) -> None:
        await replies.put("f:match", 0, reply, SPENT, tenant_id="t")
        assert await replies.get("f:match", 0) == (reply, SPENT)
        assert await replies.get("f:match", 1) is None

    async def test_the_first_reply_stays(self, replies: Replies) -> None:
        await replies.put("f:match", 0, "first", SPENT, tenant_id="t")
        await replies.put("f:match", 0, "second", Usage(model_calls=9), tenant_id="t")
        assert await replies.get("f:match", 0) == ("first", SPENT)

    async def test_usage_is_that_of_the_keys_with_the_prefix(self, replies: Replies) -> None:
        for key, ordinal in (("f:a", 0), ("f:a", 1), ("f:b", 0), ("f%", 0), ("g:a", 0)):
            await replies.put(key, ordinal, {}, SPENT, tenant_id="t")
        assert await replies.usage("f:") == SPENT + SPENT + SPENT
        assert await replies.usage("f%") == SPENT
        assert await replies.usage("nothing") == Usage()
