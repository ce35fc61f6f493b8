"""Output is safe for a terminal, true as JSON, and aligned for wide characters."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from core.domain.text import has_lone_surrogate, isolated, one_line, printable, to_json
from core.entrypoints.cli.output import print_fields, print_table, say
from core.entrypoints.cli.progress import Remaining

HOSTILE = "\x1b[31m안녕\x07\u202eabc\u2066\x9b\ud800\u200b"


def test_a_terminal_acts_on_nothing_that_others_wrote() -> None:
    shown = printable(HOSTILE)
    assert shown == r"\x1b[31m안녕\x07\u202eabc\u2066\x9b\ud800\u200b"


def test_line_breaks_tabs_and_joiners_stay() -> None:
    assert printable("a\n\tb👩\u200d💻") == "a\n\tb👩\u200d💻"
    assert one_line("a\n\tb\r\n c") == "a b c"


def test_unsafe_characters_above_the_first_plane_are_escaped_too() -> None:
    assert printable("\U000e0001") == r"\U000e0001"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_leftward_letters_reorder_nothing_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", shown := Terminal())
    say("f-1 12 الحساب 110-999 שלום 7\n\u202eb")
    print_table(("A", "B"), [("שלום", "مرحبا")])
    said, escaped, _, row = shown.getvalue().splitlines()
    assert said == "f-1 12 \u2068الحساب \u2066110-999\u2069 שלום\u2069 7"
    assert (escaped, row) == ("\\u202eb", "\u2068שלום\u2069  \u2068مرحبا\u2069")


def test_what_is_no_terminal_gets_the_letters_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("الحساب 110")
    assert capsys.readouterr().out == "الحساب 110\n"


@given(st.text(alphabet="اש\u05b0 1-a\n", max_size=200))
def test_isolates_are_closed_on_their_line_and_change_no_letter(text: str) -> None:
    for line in isolated(text).split("\n"):
        depth = [0]
        for char in line:
            depth.append(depth[-1] + (char in "\u2066\u2068") - (char == "\u2069"))
        assert min(depth) == depth[-1] == 0
    assert re.sub("[\u2066\u2068\u2069]", "", isolated(text)) == text


def test_json_is_safe_to_show_and_still_says_the_same() -> None:
    text = to_json({"text": HOSTILE + "\x7f\U000e0001"})
    assert json.loads(text) == {"text": HOSTILE + "\x7f\U000e0001"}
    assert "안녕" in text
    assert printable(text) == text


@given(st.text())
def test_any_text_survives_json(text: str) -> None:
    shown = to_json([text])
    assert json.loads(shown) == [text]
    assert printable(shown) == shown


@given(st.text())
def test_what_was_made_printable_stays_as_it_is(text: str) -> None:
    assert printable(printable(text)) == printable(text)


def test_half_a_character_is_noticed() -> None:
    assert has_lone_surrogate("a\udcff")
    assert not has_lone_surrogate("a😀")


def test_columns_stay_aligned_for_korean(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("NAME", "N"), [("한글 이름", 1), ("latin", 2)])
    head, first, second = capsys.readouterr().out.splitlines()
    columns = {cell_len(head[: head.index("N", 1)]) for head in (head,)}
    columns |= {
        cell_len(line[: line.index(digit)]) for line, digit in ((first, "1"), (second, "2"))
    }
    assert len(columns) == 1


def test_markup_of_others_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("A",), [("[bold red]x[/] :smile: \x1b[2J",)])
    say("[red]y\x1b")
    out = capsys.readouterr().out
    assert r"[bold red]x[/] :smile: \x1b[2J" in out
    assert r"[red]y\x1b" in out


def test_ids_stay_whole_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    identity = "0192e4a1b2c3-0123456789abcdef"
    print_table(("ID", "STATUS", "CONTENT", "WHY"), [(identity, "completed", "글" * 80, "x" * 80)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith(f"{identity}  ")
    assert max(map(cell_len, lines)) <= 60
    assert "".join(line[31:] for line in lines).count("글") == 80


def test_a_terminal_too_narrow_for_anything_still_gives_whole_ids(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    print_table(("ID", "WHY"), [("0192e4a1b2c3-0123456789abcdef", "because of it")])
    assert "0192e4a1b2c3-0123456789abcdef" in capsys.readouterr().out


def test_without_a_terminal_nothing_folds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    print_table(("ID", "WHY"), [("1", "words " * 100)])
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_fields_without_a_value_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    print_fields({"id": "f1", "error": None, "attempts": 0, "why": ""})
    assert capsys.readouterr().out == "id:       f1\nattempts: 0\n"


def test_progress_counts_what_was_there_at_the_start_and_what_came_since() -> None:
    remaining = Remaining()
    assert remaining.update({"queued": 3, "completed": 10}) == (0, 3)
    assert remaining.update({"queued": 1, "processing": 1, "completed": 11}) == (1, 3)
    assert remaining.update({"queued": 2, "completed": 12, "failed": 1}) == (3, 5)
