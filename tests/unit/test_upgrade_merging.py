"""An upgraded skill has what was published and what was learnt, or says where it cannot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.changes.installing.merging import merged_skill
from core.domain.models import SkillFile


def folder(**texts: str | bytes | None) -> dict[str, SkillFile]:
    return {
        path: SkillFile(data=text if isinstance(text, bytes) else text.encode())
        for path, text in texts.items()
        if text is not None
    }


def merged(*texts: str | bytes | None) -> str | None:
    """Merge one file: base, published, learnt; None is absent, a clash is "!"."""
    made = merged_skill(*(folder(a=text) for text in texts))
    if made.clashes:
        return "!"
    return made.files["a"].data.decode() if "a" in made.files else None


CASES = {
    "nothing was learnt": ("1\n2\n", "1\n3\n", "1\n2\n", "1\n3\n"),
    "nothing was published": ("1\n2\n", "1\n2\n", "1\n3\n", "1\n3\n"),
    "apart": ("1\n2\n3\n", "1!\n2\n3\n", "1\n2\n3?\n", "1!\n2\n3?\n"),
    "the same": ("1\n", "1\n2\n", "1\n2\n", "1\n2\n"),
    "the publisher took up what was learnt": ("1\n", "1\n2\n3\n", "1\n2\n", "1\n2\n3\n"),
    "and more was learnt": ("1\n", "1\n2\n", "1\n2\n4\n", "1\n2\n4\n"),
    "both added, the last two lines alike": (
        "1\n",
        "1\na\ny\nz\n",
        "1\nb\ny\nz\n",
        "1\nb\na\ny\nz\n",
    ),
    "both added, the first two lines alike": (
        "1\n",
        "1\ny\nz\na\n",
        "1\ny\nz\nb\n",
        "1\ny\nz\nb\na\n",
    ),
    "both added alike, and one of them elsewhere": (
        "1\n2\n3\n",
        "1\na\n2\nb\n3\n",
        "1\na\n2\n3\n",
        "1\na\n2\nb\n3\n",
    ),
    "both added": ("1\n", "1\n2\n", "1\n3\n", "1\n3\n2\n"),
    "both changed one line": ("1\n", "2\n", "3\n", "!"),
    "published anew, unknown before": (None, "1\n", None, "1\n"),
    "both made a file": (None, "1\n", "2\n", "!"),
    "learnt anew": (None, None, "1\n", "1\n"),
    "withdrawn": ("1\n", None, "1\n", None),
    "withdrawn, and learnt about": ("1\n", None, "2\n", "!"),
    "deleted here": ("1\n", "1\n", None, None),
    "deleted here, and published anew": ("1\n", "2\n", None, "!"),
    "gone on both sides": ("1\n", None, None, None),
    "no text": (b"\xff", b"\xfe", b"\xfd", "!"),
    "without an end of line": ("1\n2", "1\n2\n3", "0\n2", "0\n2\n3"),
    "with one since": ("1\n2\n", "1\n2", "0\n2\n", "0\n2"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_merged(name: str) -> None:
    *texts, expected = CASES[name]
    assert merged(*texts) == expected


def test_where_both_changed_a_line_the_published_file_stands_there() -> None:
    made = merged_skill(
        folder(a="1\n", b="1\n"), folder(a="2\n"), folder(a="3\n", b="3\n", c="4\n")
    )
    assert made.clashes == ["a", "b"]
    assert {path: one.data for path, one in made.files.items()} == {"a": b"2\n", "c": b"4\n"}


@pytest.mark.parametrize(("new", "now", "runs"), [(True, False, True), (False, True, True)])
def test_the_side_that_makes_a_file_executable_counts(new: bool, now: bool, runs: bool) -> None:
    made = merged_skill(
        {"a": SkillFile(data=b"1\n2\n3\n")},
        {"a": SkillFile(data=b"0\n2\n3\n", executable=new)},
        {"a": SkillFile(data=b"1\n2\n4\n", executable=now)},
    )
    assert made.files["a"] == SkillFile(data=b"0\n2\n4\n", executable=runs)


LINES = st.lists(st.sampled_from("abc"), max_size=6).map(lambda one: "".join(f"{c}\n" for c in one))


@given(LINES, LINES)
def test_one_side_alone_comes_out_as_it_is(base: str, changed: str) -> None:
    assert merged(base, changed, base) == changed
    assert merged(base, base, changed) == changed
    assert merged(base, changed, changed) == changed


@given(LINES, LINES, LINES)
def test_no_line_that_was_learnt_is_lost(base: str, new: str, now: str) -> None:
    made = merged(base, new, now)
    assert made is not None
    if made != "!":
        for line in "abc":
            learnt = now.count(line) > base.count(line) and new.count(line) >= base.count(line)
            assert not learnt or made.count(line) >= now.count(line)
