"""What stands in a folder, item by item: mixed of two states, compared, and found on disk."""

from __future__ import annotations

import pytest

from core.delivery.files.outline import Block, Key, Outline, Whole, changed, keys_of, mixed
from core.delivery.files.record import Record, stood, written
from core.domain.models import Kind, SkillFile

M1, M2, M3 = (Key(Kind.MEMORY, f"m{n}") for n in (1, 2, 3))
RULE, SKILL = Key(Kind.DMN_RULE, "r"), Key(Kind.SKILL, "s")


def whole(key: Key, text: str, **more: bool) -> Whole:
    return Whole(key, SkillFile(data=text.encode(), **more))


OLD: Outline = {
    "A.md": Block("lead\n", {M1: "one\n", M2: "two\n"}, "head\n"),
    "s.md": whole(SKILL, "old"),
    "gone.md": whole(RULE, "gone"),
}
NEW: Outline = {
    "A.md": Block("new lead\n", {M1: "ONE\n", M3: "three\n"}, "new head\n"),
    "s.md": whole(SKILL, "new"),
    "fresh.md": Block("x\n", {RULE: "rule\n"}),
}


def test_a_key_is_read_as_it_is_written() -> None:
    assert Key.read(str(Key(Kind.MEMORY, "a b"))) == Key(Kind.MEMORY, "a b")
    with pytest.raises(ValueError, match="Kind"):
        Key.read("no kind")


def test_a_block_has_its_entries_by_kind_and_id_under_a_heading_each() -> None:
    block = Block("lead\n", {SKILL: "s\n", M2: "two\n", RULE: "r\n", M1: "one\n"})
    assert block.body == (
        "lead\n\n### Memories\n\none\ntwo\n\n### Decision tables\n\nr\n\n### Skills\n\ns\n"
    )
    assert Block("lead\n", {}).body == "lead\n"
    assert keys_of(block) == {SKILL, M1, M2, RULE}
    assert keys_of(whole(SKILL, "x")) == {SKILL}


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        (set(), {**OLD, "A.md": Block("new lead\n", {M1: "one\n", M2: "two\n"}, "new head\n")}),
        (
            {M1},
            {**OLD, "A.md": Block("new lead\n", {M2: "two\n", M1: "ONE\n"}, "new head\n")},
        ),
        (
            {M2, M3},
            {**OLD, "A.md": Block("new lead\n", {M1: "one\n", M3: "three\n"}, "new head\n")},
        ),
        (
            {SKILL},
            {
                **OLD, "s.md": NEW["s.md"],
                "A.md": Block("new lead\n", {M1: "one\n", M2: "two\n"}, "new head\n"),
            },
        ),
        ({M1, M2, M3, SKILL, RULE}, NEW),
    ],
)  # fmt: skip
def test_items_that_are_done_are_as_they_are_to_be_and_others_as_they_were(
    done: set[Key], expected: Outline
) -> None:
    assert mixed(OLD, NEW, frozenset(done)) == expected


def test_a_file_goes_with_its_last_item() -> None:
    alone: Outline = {"A.md": Block("lead\n", {M1: "one\n"})}
    assert mixed(alone, {}, frozenset({M1})) == {}
    assert mixed(alone, {}, frozenset()) == alone
    assert mixed({}, alone, frozenset()) == {}


def test_items_of_which_something_differs_are_named() -> None:
    assert changed(OLD, NEW) == {M1, M2, M3, SKILL, RULE}
    assert changed(OLD, OLD) == frozenset()
    one = {**OLD, "A.md": Block("other lead\n", {M1: "one\n", M2: "TWO\n"}, "head\n")}
    assert changed(OLD, one) == {M2}
    assert changed({"A.md": OLD["A.md"]}, {}) == {M1, M2}
    assert changed({}, {"A.md": OLD["A.md"]}) == {M1, M2}
    assert changed({"a": OLD["s.md"]}, {"a": OLD["A.md"]}) == {M1, M2, SKILL}


def test_a_record_has_digests_of_each_part() -> None:
    made = written({**OLD, "x": whole(SKILL, "x", executable=True), "y": Block("l\n", {M1: "a\n"})})
    assert (made["s.md"].key, made["s.md"].executable, made["s.md"].entries) == (
        "SKILL s",
        False,
        {},
    )
    assert made["x"].executable
    assert made["A.md"].key is None
    assert made["A.md"].head
    assert made["y"].head == ""
    assert [*made["A.md"].entries] == ["MEMORY m1", "MEMORY m2"]
    other = written({"A.md": Block("lead\n", {M1: "one\n", M2: "else\n"}, "head\n")})["A.md"]
    assert other.sha256 != made["A.md"].sha256
    assert other.head == made["A.md"].head
    same = [one.entries["MEMORY m1"] for one in (other, made["A.md"])]
    assert same[0] == same[1]
    assert other.entries["MEMORY m2"] != made["A.md"].entries["MEMORY m2"]
    assert Record().with_source("s", made).of("s") == made


def test_what_is_left_on_disk_of_a_whole_file_is_the_file() -> None:
    known = written(OLD)["s.md"]
    file = SkillFile(data=b"edited")
    assert stood("s.md", file, known, "mark") == Whole(SKILL, file)
    assert stood("s.md", None, known, "mark") is None
    block = written(OLD)["A.md"]
    assert stood("A.md", SkillFile(data=b"no block here"), block, "mark") is None
