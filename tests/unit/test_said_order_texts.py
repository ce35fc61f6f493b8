"""Of an edit of a text, what stands beside what was said later, line by line."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.changes.said_order.texts import Later, plain, settled


def by_letter(lines: Sequence[str]) -> Sequence[str]:
    """Return the sections of lines: their first letters, of a blank line that of the one before."""
    found: list[str] = []
    for line in lines:
        found.append(line[:1].strip() or (found[-1] if found else ""))
    return found


def settle(states: str, edit: str) -> tuple[str, str]:
    """Settle an edit where these states followed each other, those said later in brackets.

    States are parted by `|`, lines by blanks; `_` is a blank line.
    """
    later, before = Later(), list[str]()
    for state in states.split("|"):
        is_later = state.strip().startswith("[")
        after = lines(state.strip(" []"))
        later.follow(before, after, by_letter, is_later=is_later)
        before = after
    made, left = settled(before, lines(edit), later, by_letter)
    return " ".join(line or "_" for line in made), " ".join(left)


def lines(text: str) -> list[str]:
    return ["" if line == "_" else line for line in text.split()]


@pytest.mark.parametrize(
    ("states", "edit", "made", "left"),
    [
        # Where nothing was said later, all of it stands.
        ("a1 a2 b1", "a8 b1 b2", "a8 b1 b2", ""),
        ("a1 a2 b1|a1 a3 b1", "a1 a4 b1", "a1 a4 b1", ""),
        # What was rewritten later stays, in all of its section; others are rewritten.
        ("a1 a2 _ b1|[a9 a2 _ b1]", "a9 a3 _ b2", "a9 a2 _ b2", "a"),
        ("a1 a2 b1|[a9 a2 b1]", "a9 b1", "a9 a2 b1", "a"),
        ("a1 b1 b2 b3 c1|[a9 b1 b2 b3 c9]", "a2 b1 b4 b3 c2", "a9 b1 b4 b3 c9", "a c"),
        ("a1 a2|[a9 a2]|a8 a2", "a8 a3", "a8 a2", "a"),
        # There is still room for more in it, unless all of it was taken out.
        ("a1 b1|[a9 b1]", "a9 a2 b1", "a9 b1", "a"),
        ("a1 a2 b1|[a2 b1]", "a2 a3 b1", "a2 a3 b1", ""),
        ("a1 a2 b1|[b1]", "a3 b1", "a3 b1", ""),
        ("b1 a1|[b1 a2]", "b1 a2 a3", "b1 a2", "a"),
        ("b1 a1 a2|[b1 a1 a3]", "b1 a1 a3 a4", "b1 a1 a3 a4", ""),
        ("a1 b1|[a9 b1]", "c1 a9 b1", "a9 b1", "a"),
        ("a1 _ b1|[a9 _ b1]", "a9 _ a3 b1", "a9 _ b1", "a"),
        # What was only added later stays; what stood before it may go.
        ("b1|[b1 b2]", "b8", "b8 b2", ""),
        ("b1|[b1 b2]", "b2", "b2", ""),
        ("b1|[b1 b2]", "b1", "b1 b2", "b"),
        ("b1|[b1 b2]", "", "b2", ""),
        ("b1 c1|[b1 b2 c1]", "b1 c1", "b1 b2 c1", "b"),
        # What is added stands before what was added later, and behind what was not.
        ("b1|[b1 b2]", "b1 b2 b3", "b1 b3 b2", ""),
        ("b1|[b1 b2 b3]", "b1 b2 b3 b4", "b1 b4 b2 b3", ""),
        ("b1|[b1 b2]", "b9 b2 b3", "b9 b3 b2", ""),
        ("b1|b1 b2", "b1 b2 b3", "b1 b2 b3", ""),
        ("|[b1]", "b1 b2", "b2 b1", ""),
        ("b1 c1|[b1 b2 c1]", "b1 b2 c1 c2", "b1 b2 c1 c2", ""),
        # What was made later is not rewritten, wherever.
        ("[a1 b1]", "a2 b1", "a1 b1", "a"),
        ("[a1 b1]", "a1 b1 b2", "b2 a1 b1", ""),
        ("a1|[a1 b1]|a1 b1 c1", "a1 b1 c2", "a1 b1 c2", ""),
    ],
)
def test_what_was_said_later_stays_where_both_meet(
    states: str, edit: str, made: str, left: str
) -> None:
    assert settle(states, edit) == (made, left)


def test_a_text_without_sections_is_one() -> None:
    assert plain(["a", "b"]) == ["", ""]
    assert settled([], ["a"], Later(), plain) == (["a"], [])
