"""Looking up a quantity among many agrees with comparing it with each."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.duplicates.quantities import Quantity
from core.knowledge.duplicates.quantity_patterns import CLOCK
from core.knowledge.duplicates.words import Words

QUANTITIES = st.builds(
    Quantity,
    what=st.sampled_from(["", "won", "kg", CLOCK]),
    value=st.sampled_from([Decimal(n) for n in (1, 60, 780)]),
    text=st.just("x"),
    start=st.just(0),
    end=st.just(1),
    is_half_known=st.booleans(),
)


@given(QUANTITIES, st.lists(QUANTITIES, max_size=4))
def test_what_is_held_is_what_is_the_same_as_one(one: Quantity, known: list[Quantity]) -> None:
    words = Words((), tuple(known), ())
    assert words.holds(one) == any(one.same(other) for other in known)
