"""Files of pairs that the search is measured on: read, or refused with what is wrong and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.search_pairs import BadPairs, interval, read_pairs

TEN = "\n".join(f"query {number}\ttext {number}" for number in range(10))
KORSTS = "genre\tscore\tsentence1\tsentence2"


def file(tmp_path: Path, text: str, name: str = "pairs.tsv") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def test_two_columns_are_queries_and_the_texts_that_answer_them(tmp_path: Path) -> None:
    for text in (TEN, f"query\ttext\n{TEN}\n\n", f"\ufeff{TEN}"):
        pairs = read_pairs(file(tmp_path, text))
        assert [pair.query for pair in pairs.queries] == [f"query {n}" for n in range(10)]
        assert pairs.texts == tuple(f"text {n}" for n in range(10))


def test_equal_texts_are_one_and_answer_each_of_their_queries(tmp_path: Path) -> None:
    pairs = read_pairs(file(tmp_path, TEN.replace("text 1", "text 0")))
    assert len(pairs.queries) == 10
    assert "text 1" not in pairs.texts
    assert len(pairs.texts) == 9


def test_of_korsts_the_like_pairs_ask_and_all_second_sentences_are_texts(tmp_path: Path) -> None:
    rows = [f"g\t{4 + n % 2}\ta {n}\tb {n}" for n in range(10)]
    text = "\n".join([KORSTS, *rows, rows[0], "g\t3.9\ta\tother"])
    pairs = read_pairs(file(tmp_path, text))
    assert len(pairs.queries) == 10
    assert "other" in pairs.texts


def test_lines_of_json_are_grouped_by_language(tmp_path: Path) -> None:
    lines = [f'{{"query": "q{n}", "item": "t{n}", "lang": "ko"}}' for n in range(10)]
    pairs = read_pairs(file(tmp_path, "\n".join(lines), "set.jsonl"))
    assert {pair.group for pair in pairs.queries} == {"ko"}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.tsv", "", "is empty"),
        ("a.tsv", f"{TEN}\nquery alone", ":11: 1 columns"),
        ("a.tsv", f"{TEN}\n\ttext", ":11: the query is empty"),
        ("a.tsv", f"{TEN}\nquery\t ", ":11: the text is empty"),
        ("a.tsv", f"{TEN}\nquery 0\ttext 0", ":11: the pair of line 1 again"),
        ("a.tsv", "one\ttext", "1 queries say nothing"),
        ("a.tsv", "genre\tsentence1\tsentence2", ":1: no column score"),
        ("a.tsv", f"{KORSTS}\ng\tmuch\ta\tb", ":2: score 'much' is no number"),
        ("a.tsv", f"{KORSTS}\ng\t5", ":2: 2 columns of 4"),
        ("a.jsonl", '{"query": "q"}', ":1: no object with query and item"),
        ("a.jsonl", "[]", ":1: no object with query and item"),
    ],
)
def test_a_bad_file_is_refused_with_the_line(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    with pytest.raises(BadPairs) as caught:
        read_pairs(file(tmp_path, text, name))
    assert told in str(caught.value)
    assert name in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadPairs, match="No such file"):
        read_pairs(tmp_path / "none.tsv")
    path = tmp_path / "latin.tsv"
    path.write_bytes(b"caf\xe9\ttext")
    with pytest.raises(BadPairs, match="no UTF-8 at byte 3"):
        read_pairs(path)


def test_the_interval_holds_the_difference_and_narrows_with_agreement() -> None:
    ours, theirs = [True] * 60 + [False] * 40, [True] * 50 + [False] * 50
    low, high = interval(ours, theirs)
    assert 0 < low < 10 < high < 20
    assert interval(ours, ours) == (0, 0)
