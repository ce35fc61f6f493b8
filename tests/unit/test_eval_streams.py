"""How a stream of feedback is judged by what is known in the end."""

from __future__ import annotations

import pytest

from tests.evals.streams import Played, holds, report, streams

WON, DOLLARS = "견적 금액은 원화로 적는다.", "견적 금액은 달러로 적는다."


@pytest.mark.parametrize(
    ("statement", "other", "known", "is_held"),
    [
        (DOLLARS, WON, "견적 금액은 달러로 적어 주세요", True),
        (WON, DOLLARS, "견적 금액은 달러로 적어 주세요", False),
        (DOLLARS, WON, "휴가는 팀장이 승인한다", False),
        ("급여일은 25일이다", "급여일은 10일이다", "급여일은 매달 25일입니다.", True),
        ("급여일은 25일이다", "급여일은 10일이다", "급여일은 매달 10일입니다.", False),
        ("Shipping is free over $40", "Shipping is free over $30", "Free shipping over $40", True),
    ],
)
def test_a_statement_is_held_by_what_sets_it_apart(
    statement: str, other: str, known: str, is_held: bool
) -> None:
    assert holds(statement, [other], [known]) is is_held


def test_a_stream_is_right_if_all_of_it_holds_and_nothing_else() -> None:
    stream = next(one for one in streams() if one.gone and one.state)
    right = Played(stream, stream.state, (), ())
    assert right.is_right
    assert not Played(stream, (), (), ()).is_right
    assert not Played(stream, stream.state, stream.gone, ()).is_right
    assert "1 of 2 streams right" in report([right, Played(stream, (), (), ())])
