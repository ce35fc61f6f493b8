"""What of an edit of a skill stands beside what was said later, file by file."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from core.changes.said_order.folders import LaterFiles, settled_folder
from core.changes.steps import Step
from core.changes.three_way_merge import State
from core.domain.models import Kind, SkillFile
from tests.support.react import item_change

CHANGE = item_change(Kind.SKILL, "pay", "pay", "")
Texts = Mapping[str, bytes]


def skill(files: Texts) -> State:
    made = {path: SkillFile(data=data) for path, data in files.items()}
    return State("# Pay\n", "pay", made)


def settled(wanted: Texts, *states: Texts, before: Texts | None = None) -> tuple[Texts, list[str]]:
    """Settle an edit of the last state, where all steps between the states were said later."""
    later = LaterFiles()
    for old, new in itertools.pairwise(states):
        later.follow(Step(CHANGE, skill(old), skill(new)), is_later=True)
    made, left = settled_folder(skill(before or states[-1]), skill(wanted), later)
    return {path: file.data for path, file in (made.files or {}).items()}, left


IMAGE, OTHER = b"\xff\x00", b"\xff\x01"


def test_a_binary_file_put_later_stands_and_is_named_if_it_was_edited() -> None:
    first, now = {"a.png": IMAGE, "b.md": b"b\n"}, {"a.png": OTHER, "b.md": b"b\n"}
    assert settled({**now, "a.png": IMAGE}, first, now) == (now, ["a.png"])
    edited = {**now, "b.md": b"B\n"}
    assert settled(edited, first, now) == (edited, [])


def test_a_file_that_was_dropped_later_does_not_come_back() -> None:
    first, now = {"a.md": b"a\n"}, {"b.md": b"b\n"}
    assert settled({**now, "a.md": b"a\n"}, {**first, **now}, now) == (now, ["a.md"])


def test_a_file_to_which_anything_was_added_later_is_not_dropped() -> None:
    first, now = {"a.md": b"one\n", "b.md": b"b\n"}, {"a.md": b"one\ntwo\n", "b.md": b"b\n"}
    assert settled({"b.md": b"b\n"}, first, now) == (now, ["a.md"])
    assert settled({"a.md": now["a.md"]}, first, now) == ({"a.md": now["a.md"]}, [])


def test_a_new_file_is_learnt_beside_those_that_were_put_later() -> None:
    first, now = {"a.md": b"a\n"}, {"a.md": b"A\n"}
    both = {**now, "c.md": b"c\n"}
    assert settled(both, first, now) == (both, [])
    assert settled({"a.md": b"mine\n", "c.md": b"c\n"}, first, now) == (both, ["a.md"])


def test_what_was_dropped_before_may_come_back() -> None:
    later, both = LaterFiles(), {"a.png": IMAGE, "b.md": b"b\n"}
    dropped = {"b.md": b"b\n"}
    later.follow(Step(CHANGE, skill(both), skill(dropped)), is_later=False)
    made, left = settled_folder(skill(dropped), skill(both), later)
    assert ({*(made.files or {})}, left) == ({"a.png", "b.md"}, [])
