"""What people changed in what we wrote: which of it counts as an edit, and what it says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.delivery.files.blocks import digest, drop_block, find_block, head_of, put_block
from core.delivery.files.edits import Edit, Place, edit_at, found_at
from core.delivery.files.outline import Block, Key, Whole
from core.delivery.files.record import Written, written
from core.domain.errors import Refused
from core.domain.hashing import sha256
from core.domain.models import Kind, SkillFile

MARK, SISTER, STRANGER = "claude t/orders", "claude t/returns", "claude u/orders"
KEY = Key(Kind.SKILL, "refund")
PATH = "a.md"
NO_TEXT = sha256(b"\xff")


def file(text: str | bytes) -> SkillFile:
    return SkillFile(data=text if isinstance(text, bytes) else text.encode())


def whole(text: str | bytes, key: Key = KEY) -> Whole:
    return Whole(key, file(text))


def ours(text: str | bytes, key: Key | None = KEY, found: str = "") -> Written:
    return Written(sha256=sha256(file(text).data), key=str(key) if key else None, found=found)


def place(
    there: str | bytes | None,
    wanted: Block | Whole | None,
    known: Written | None = None,
    others: Mapping[str, Written] | None = None,
) -> Place:
    found = None if there is None else file(there)
    return Place(PATH, MARK, found, known, wanted, others or {})


@pytest.mark.parametrize(
    "untouched",
    [
        place(None, whole("new"), ours("old")),
        place("new", whole("new")),  # as by chance, or with the record lost
        place("new", whole("new"), ours("old")),
        place("old", whole("new"), ours("old")),
        place("old", None, ours("old")),
        place("sister's", whole("new"), None, {SISTER: ours("sister's")}),
        place("sister's", whole("new"), ours("old"), {SISTER: ours("sister's")}),
        place("sister's", None, ours("old"), {SISTER: ours("sister's")}),
        place(None, Block("lead\n", {}), None),
        place("mine\n", Block("lead\n", {KEY: "x\n"})),
        place("mine\n", None),
    ],
)
def test_what_is_as_it_was_written_or_is_to_be_is_no_edit(untouched: Place) -> None:
    assert edit_at(untouched) is None


@pytest.mark.parametrize(
    ("there", "wanted", "diff"),
    [
        ("one\ntwo\n", whole("one\nnew\n"), ["@@ -1,2 +1,2 @@", " one", "-new", "+two"]),
        ("two\n", None, ["@@ -0,0 +1 @@", "+two"]),
        (b"\xff", whole("new\n"), ["@@ -1 +1 @@", "-new", f"+1 bytes, SHA-256 {NO_TEXT}"]),
    ],
)
def test_a_file_that_was_changed_is_told_with_its_difference(
    there: str | bytes, wanted: Whole | None, diff: list[str]
) -> None:
    edit = edit_at(place(there, wanted, ours("old")))
    assert edit is not None
    assert (edit.path, edit.diff.splitlines()) == (PATH, ["--- a/a.md", "+++ b/a.md", *diff])
    assert edit.said == (f"a.md was changed by hand:\n\n{edit.diff}",)


@pytest.mark.parametrize(
    ("others", "code"),
    [
        ({}, "files.foreign"),
        ({SISTER: ours("else")}, "files.foreign"),
        ({STRANGER: ours("theirs")}, "files.taken"),  # of another tenant
        ({SISTER: ours("theirs", Key(Kind.SKILL, "other"))}, "files.taken"),
        ({SISTER: ours("theirs"), STRANGER: ours("x")}, "files.taken"),
    ],
)
def test_a_file_that_is_not_ours_is_refused(others: Mapping[str, Written], code: str) -> None:
    with pytest.raises(Refused) as refused:
        edit_at(place("theirs", whole("new"), None, others))
    assert refused.value.message.code == code  # type: ignore[union-attr]
    assert "--prefix" in refused.value.hint


@pytest.mark.parametrize(
    ("at", "found"),
    [
        (place(None, whole("x")), ""),
        (place("x", Block("", {})), ""),
        (place("x", None, ours("x", found="f")), ""),
        (place("x", whole("x"), ours("x", found="f")), "f"),
        (place("x", whole("x"), ours("x"), {SISTER: ours("x", found="s")}), ""),
        (place("x", whole("x"), None, {SISTER: ours("x"), STRANGER: ours("x", found="s")}), "s"),
        (place("x", whole("x"), None, {SISTER: ours("x")}), ""),
        (place("x", whole("x")), sha256(b"x")),
    ],
)
def test_a_file_that_people_had_before_us_is_known_again(at: Place, found: str) -> None:
    assert found_at(at) == found


M1, M2, RULE = Key(Kind.MEMORY, "m1"), Key(Kind.MEMORY, "m2"), Key(Kind.DMN_RULE, "r")
ENTRIES = {M1: "- [m1 v1] one\n  more\n", M2: "- [m2 v3] two\n", RULE: "- [r v1] rule\n"}
BLOCK = Block("## Lead\n\nSaid first.\n", ENTRIES)
KNOWN = written({PATH: BLOCK})[PATH]
TEXT = put_block(PATH, "# Mine\n", MARK, BLOCK.body, "")


def edited(old: str, new: str, wanted: Block | None = BLOCK) -> Edit:
    assert old in TEXT
    edit = edit_at(place(TEXT.replace(old, new), wanted, KNOWN))
    assert edit is not None
    return edit


def test_a_block_as_it_is_or_is_to_be_is_no_edit() -> None:
    other = Block("## Lead\n", {M1: "- [m1 v2] newer\n"})
    newer = put_block(PATH, "# Mine\n", MARK, other.body, "")
    for there, wanted, known in (
        (TEXT, BLOCK, KNOWN), (TEXT, other, KNOWN), (TEXT, None, KNOWN), (newer, other, KNOWN),
        (TEXT, BLOCK, None), (TEXT.replace("\n", "\r\n"), other, KNOWN),
    ):  # fmt: skip
        assert edit_at(place(there, wanted, known)) is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "- [m1 v1] one\n  more\n",
            "- [m1 v1] ONE\n  more\n",
            ["ONE\nmore\n\n(Edited by hand in a.md, which said: one\nmore)"],
        ),
        (
            "- [m2 v3] two\n",
            "- [m2 v3] two\n- mine\n",
            ["mine\n\n(Added by hand in a.md.)"],
        ),
        (
            "- [m2 v3] two\n",
            "- [m9 v1] unknown\n- [m2 v3] two\n",
            ["unknown\n\n(Added by hand in a.md.)"],
        ),
        (
            "- [m2 v3] two\n",
            "",
            ["This holds no longer, it was taken out of a.md by hand: two"],
        ),
        ("### Memories\n", "", []),
        ("Said first.\n", "", []),
        ("Said first.\n", "Said first.\n\n### Skills\n", []),
        (
            "Said first.\n",
            "Said otherwise.\n",
            ["Said otherwise.\n\n(Added by hand in a.md.)"],
        ),
    ],
)
def test_an_edit_of_a_block_says_what_each_entry_has_become(
    old: str, new: str, said: list[str]
) -> None:
    edit = edited(old, new)
    assert [*edit.said] == said
    assert edit.diff.startswith("--- a/a.md\n+++ b/a.md\n@@ ")
    assert "# Mine" not in edit.diff


def test_what_is_new_here_is_not_said_to_be_taken_out() -> None:
    more = Block(BLOCK.lead, {**ENTRIES, Key(Kind.MEMORY, "m4"): "- [m4 v1] four\n"})
    assert [*edited("- [m2 v3] two\n", "", more).said] == [
        "This holds no longer, it was taken out of a.md by hand: two"
    ]
    changed = Block(BLOCK.lead, {**ENTRIES, M2: "- [m2 v4] newer\n"})
    assert [*edited("- [m2 v3] two\n", "", changed).said] == []
    # What we wrote then, and is to be otherwise now, is no edit of anybody.
    assert [*edited("Said first.\n", "", changed).said] == []


def test_an_edited_block_without_record_or_wish_is_told_as_added() -> None:
    text = TEXT.replace("- [m2 v3] two\n", "- [m2 v3] TWO\n")
    lost = edit_at(place(text, BLOCK, None))
    assert lost is not None
    assert [*lost.said] == ["TWO\n\n(Edited by hand in a.md, which said: two)"]
    gone = edit_at(place(text, None, KNOWN))
    assert gone is not None
    assert [one for one in gone.said if "TWO" in one] == ["TWO\n\n(Added by hand in a.md.)"]
    assert not any("one\nmore" in one for one in gone.said)


def test_a_block_that_was_taken_out_says_nothing_of_its_entries() -> None:
    edit = edit_at(place("# Mine\n", BLOCK, KNOWN))
    assert edit is not None
    assert ([*edit.said], "-- [m1 v1] one" in edit.diff) == ([], True)


HEAD = "---\nglobs: src\n---\n"
RULED = Block(BLOCK.lead, ENTRIES, HEAD)
RULED_KNOWN = written({PATH: RULED})[PATH]
RULED_TEXT = put_block(PATH, None, MARK, RULED.body, HEAD)


def test_a_head_that_was_changed_by_hand_is_an_edit() -> None:
    assert edit_at(place(RULED_TEXT, RULED, RULED_KNOWN)) is None
    assert edit_at(place(RULED_TEXT.replace("\n", "\r\n"), RULED, RULED_KNOWN)) is None
    wider = Block(BLOCK.lead, ENTRIES, HEAD.replace("src", "lib"))
    assert edit_at(place(RULED_TEXT, wider, RULED_KNOWN)) is None  # as it was written
    edit = edit_at(place(RULED_TEXT.replace("src", "mine"), RULED, RULED_KNOWN))
    assert edit is not None
    assert edit.diff.splitlines()[-4:] == [" ---", "-globs: src", "+globs: mine", " ---"]
    assert edit.said == (f"a.md was changed by hand:\n\n{edit.diff}",)
    with pytest.raises(Refused, match="not written by a sync"):
        edit_at(place(RULED_TEXT.replace("src", "mine"), RULED, None))


def test_what_is_no_text_takes_no_block_and_a_whole_file_any_bytes() -> None:
    with pytest.raises(Refused, match="not UTF-8"):
        edit_at(place(b"\xff", BLOCK, KNOWN))
    assert place(None, BLOCK).text is None
    assert [place("x", wanted, known).is_whole for wanted, known in (
        (BLOCK, None), (whole("x"), None), (whole("x"), KNOWN), (BLOCK, ours("x")), (None, None),
    )] == [False, True, False, True, False]  # fmt: skip


def test_a_block_is_put_where_it_fits_and_taken_out_as_it_came() -> None:
    for text, expected in (
        ("# Mine\n", "# Mine\n\n{}"),
        ("# Mine", "# Mine\n\n{}"),
        ("# Mine\r\n", "# Mine\r\n\r\n{}"),
        (HEAD, f"{HEAD}{{}}"),
        ("", "{}"),
        (None, "{}"),
    ):
        once = put_block(PATH, text, MARK, "body\n\n", HEAD if text == HEAD else "")
        newline = "\r\n" if text and "\r" in text else "\n"
        lines = (f"<!-- skill-worker:begin {MARK} -->", "body", f"<!-- skill-worker:end {MARK} -->")
        assert once == expected.format("".join(f"{line}{newline}" for line in lines))
    text = put_block(PATH, "# Mine\r\n", MARK, "body", "---\na: b\n---\n")
    assert text.startswith("---\r\na: b\r\n---\r\n# Mine\r\n\r\n<!--")
    assert head_of(put_block(PATH, text, MARK, "body", HEAD)).replace("\r", "") == HEAD
    assert put_block(PATH, text, MARK, "body", "") == text
    assert drop_block(PATH, "# Mine\n\n", MARK) == "# Mine\n"
    assert drop_block(PATH, "# Mine\r\n\r\n", MARK) == "# Mine\r\n"
    assert drop_block(PATH, "\ufeff \r\n", MARK) is None
    assert drop_block(PATH, f"{HEAD}\n", MARK) is None


def test_marks_of_others_stay_and_a_line_with_more_is_none() -> None:
    theirs = f"<!-- skill-worker:begin {SISTER} -->\nx\n<!-- skill-worker:end {SISTER} -->\n"
    own = theirs.replace(SISTER, MARK).replace("x", "y")
    found = find_block(PATH, f"{theirs}  {own}\t\n", MARK)
    assert found is not None
    assert (found.body, found.start) == ("y\n", len(theirs))
    assert find_block(PATH, theirs, MARK) is None
    assert find_block(PATH, f"see {own}".replace("\n", " "), MARK) is None
    assert digest("a\r\nb") == digest("a\nb")
