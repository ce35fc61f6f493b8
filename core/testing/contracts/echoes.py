"""What every store must tell of feedback that said what others had said."""

from __future__ import annotations

from core.models import Kind
from core.ports import Echoes
from core.snapshots import state_hash
from core.testing.contracts.steps import taught


class EchoesContract:
    """Tests for any such store; a test class supplies `echoes`."""

    async def test_who_said_the_same_is_remembered_once(self, echoes: Echoes) -> None:
        same = taught(2, "하나", "하나")
        await echoes.note(same)
        await echoes.note(same)
        (echo,) = await echoes.at(Kind.MEMORY, "t", "m1")
        assert (echo.feedback_id, echo.hash) == ("f2", state_hash(same.after))
        assert await echoes.at(Kind.MEMORY, "t", "m2") == []
        assert await echoes.at(Kind.MEMORY, "other", "m1") == []

    async def test_what_a_piece_said_again_is_told_until_it_is_forgotten(
        self, echoes: Echoes
    ) -> None:
        await echoes.note(taught(2, "하나", "하나"))
        await echoes.note(taught(2, "둘", "둘", target_id="m2"))
        await echoes.note(taught(3, "하나", "하나"))
        said = await echoes.of_feedback("f2")
        assert [(echo.kind, echo.target_id) for echo in said] == [
            ("MEMORY", "m1"),
            ("MEMORY", "m2"),
        ]
        await echoes.forget("f2")
        assert await echoes.of_feedback("f2") == []
        assert [echo.feedback_id for echo in await echoes.at(Kind.MEMORY, "t", "m1")] == ["f3"]
