"""Which changes reviewers have open."""

from __future__ import annotations

from core.changes.presence import FORGOTTEN_SECONDS, Presence


def test_others_see_what_somebody_has_open_and_they_do_not() -> None:
    looked = Presence(lambda: 0.0)
    looked.note("kim", ("a", "b"))
    assert looked.by_others("lee") == {"a", "b"}
    assert looked.by_others("kim") == frozenset()


def test_who_goes_on_leaves_what_they_had() -> None:
    looked = Presence(lambda: 0.0)
    looked.note("kim", ("a",))
    looked.note("kim", ("b",))
    assert looked.by_others("lee") == {"b"}


def test_what_nobody_looked_at_for_long_is_free_again() -> None:
    now = [0.0]
    looked = Presence(lambda: now[0])
    looked.note("kim", ("a",))
    now[0] = FORGOTTEN_SECONDS + 1
    assert looked.by_others("lee") == frozenset()
