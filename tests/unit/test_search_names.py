"""What is named is found: a name or id as a word anywhere in a text, in whatever script."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from core.agent.offline.rules import Related, View, decide
from core.knowledge.search.names import MAX_NAMES, is_named, names_in, stands_out

OPEN = Path(__file__).parents[1] / "evals" / "sets" / "open" / "named.jsonl"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("docx", "docx 스킬을 수정해 주세요"),
        ("docx", "보고서는 docx로 뽑아 주세요"),
        ("docx", "새docx파일을 열면"),
        ("refund-policy", "look at `refund-policy` again"),
        ("refund-policy", "the Refund Policy skill"),
        ("환불 처리", "환불처리스킬은 너무 느려요"),
        ("환불 처리", "“환불 처리”에서"),
        ("4대보험 신고", "4대 보험 신고를 먼저"),
        ("AS접수", "as 접수 스킬이"),
        ("R&D 예산", "R&D 예산에서는"),
        ("mem-204", "MEM-204번 기억"),
        ("표", "스킬 `표`가 이상해요"),
        ("請求書", "請求書スキルを直して"),
        ("報告書の提出", "報告書の提出を早めに"),
        ("出張 규정", "出張 규정이 바뀌었어요"),
        ("출장 규정", "出張 규정이 바뀌었어요"),
        ("出張 규정", "출장 규정이 바뀌었어요"),
        ("C++ 배포", "C++ 배포를 먼저 하세요"),
        ("v3.2-배포", "v3.2-배포부터 보세요"),
        ("고객(VIP) 안내", "고객(VIP) 안내에서는 존댓말"),
        ("go-live!", "the go-live! skill"),
        ("분기마감", "분기마감이야말로 중요합니다"),
        ("분기마감", "분기마감에서조차 안 써요"),
        ("분기마감", "분기마감이라서 그래요"),
        ("분기마감", "분기마감입니까 배포를 먼저"),
        ("IT", "the IT of the company"),
        ("it", "the it skill"),
    ],
)
def test_a_name_is_found_in_whatever_stands_around_it(name: str, text: str) -> None:
    for form in ("NFC", "NFD"):
        assert is_named(name, unicodedata.normalize(form, text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pdf", "pdfium and my-pdf-forms and pdf2"),
        ("port", "The quarterly report of the airport"),
        ("mem-20", "mem-204 was right"),
        ("mem-204", "mem-20 4 of them"),
        ("v3", "v3.2를 내려 주세요"),
        ("請求", "請求書を直して"),
        ("환불", "교환불가라고 말해 주세요"),
        ("마감", "바닥 마감재는 밝은 색으로"),
        ("감사", "빨리 답해 주셔서 감사합니다"),
        ("접수", "AS접수가 늦어요"),
        ("it", "it was late"),
        ("", "anything"),
    ],
)
def test_a_name_inside_a_longer_word_is_none(name: str, text: str) -> None:
    assert not is_named(name, text)


def test_names_are_told_from_longer_words_in_99_of_100_sentences() -> None:
    told: Counter[tuple[str, bool, bool]] = Counter()
    for line in OPEN.read_text("utf-8").splitlines():
        row = json.loads(line)
        is_word = row["names"].casefold() in _words(row["text"])
        if row["is_named"] or not is_word:  # homonyms are words: nobody can tell by the letters
            found = is_named(row["names"], row["text"])
            told[row["lang"], row["is_named"], found == row["is_named"]] += 1
    for lang in ("ko", "en"):
        for wanted in (True, False):
            right, wrong = told[lang, wanted, True], told[lang, wanted, False]
            assert right >= 0.99 * (right + wrong) > 0


def _words(text: str) -> set[str]:
    words = {word.strip(".,!?") for word in text.casefold().split()}
    return words | {word.removesuffix("도") for word in words}


def test_a_word_that_happens_to_be_a_name_does_not_stand_out() -> None:
    assert not stands_out("port", "a glass of port with the cheese")
    assert not stands_out("사과", "사과 한 상자를 보냈어요")
    assert stands_out("port", "The port skill put the wrong terminal")
    assert stands_out("사과", "사과 스킬 문구가 너무 길어요")
    assert stands_out("pdf", "I'd rather PDF merged the appendices")


def test_a_long_text_has_a_bounded_number_of_names() -> None:
    many = " ".join(f"word{number}x" for number in range(9_000))
    assert len(names_in(many)) <= MAX_NAMES


def test_the_stand_in_updates_the_skill_that_is_named_and_no_other() -> None:
    view = View(
        "docx로 만든 보고서는 표 테두리를 항상 굵게 해 주세요",
        "",
        (
            Related("report-tables", "SKILL", "report-tables", "보고서의 표 테두리", True, True),
            Related("docx", "SKILL", "docx", "Word documents", True, True),
        ),
    )
    tool, args = decide(view)
    assert (tool, args["operation"], args["skill_id"]) == ("commit_to_skill", "UPDATE", "docx")


def test_the_stand_in_takes_a_memory_by_its_id() -> None:
    known = Related("mem-204", "MEMORY", "담당자", "담당자는 총무팀이다", True, True)
    tool, args = decide(View("mem-204는 담당자를 구매팀으로 수정해 주세요", "", (known,)))
    assert (tool, args["operation"], args["memory_id"]) == ("commit_to_memory", "UPDATE", "mem-204")
    tool, args = decide(View("Forget mem-204.", "", (known,)))
    assert (tool, args["operation"], args["memory_id"]) == ("commit_to_memory", "DELETE", "mem-204")
