"""What earlier pieces taught comes up again as what is known, of the agent that learnt it."""

from __future__ import annotations

from core.agent.loop.prompt import conversation_data, taught_hits
from core.domain.models import Kind, Operation
from core.domain.models.conversation import EarlierPiece, Lesson


def lesson(agent_id: str, item_id: str, known: str | None = "it stands") -> Lesson:
    return Lesson(
        kind=Kind.MEMORY, id=item_id, name=f"name of {item_id}",
        operation=Operation.CREATE, agent_id=agent_id, known=known,
    )  # fmt: skip


NEWER = EarlierPiece(id="f2", content="newer", taught=(lesson("a", "m1"), lesson("b", "m2")))
OLDER = EarlierPiece(
    id="f1", content="older",
    taught=(lesson("a", "m1"), lesson("a", "gone", None), lesson("a", "m3"), lesson("a", "m4")),
)  # fmt: skip


def test_an_agent_gets_what_it_was_taught_and_what_still_stands_once() -> None:
    hits = taught_hits([NEWER, OLDER], "a")
    assert [hit.id for hit in hits] == ["m1", "m4", "m3"]
    first = hits[0]
    assert (first.kind, first.name, first.excerpt) == (Kind.MEMORY, "name of m1", "it stands")
    assert (first.agent_id, first.score) == ("a", 1.0)
    assert first.why.code == "hit.taught_before"  # type: ignore[union-attr]
    assert [hit.id for hit in taught_hits([NEWER, OLDER], "b")] == ["m2"]


def test_a_conversation_names_whom_it_taught_only_where_all_are_asked() -> None:
    (own,) = conversation_data([NEWER], agent_id="b")
    (whole,) = conversation_data([NEWER])
    assert isinstance(own, dict)
    assert isinstance(whole, dict)
    taught = [own["taught"], whole["taught"]]
    assert isinstance(taught[0], list)
    assert isinstance(taught[1], list)
    assert [len(each) for each in (taught[0], taught[1])] == [1, 2]  # type: ignore[arg-type]
    assert "agent" not in str(taught[0])
    assert "'agent_id': 'a'" in str(taught[1])
