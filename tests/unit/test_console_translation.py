"""The program's messages in Korean: each that is known is said somewhere, and nothing is lost."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from core.decision_table import check_table
from core.domain.models import (
    Aggregation,
    DecisionTable,
    HitPolicy,
    InputColumn,
    Kind,
    OutputColumn,
)
from core.entrypoints.console.language import Language
from core.entrypoints.console.translation import messages, translated
from core.knowledge.duplicates import Known, evidence
from tests.support.table_cells import table

CORE = Path(__file__).parents[2] / "core"
ENTRIES = yaml.safe_load((CORE / "entrypoints" / "console" / "messages.yaml").read_text("utf-8"))
KNOWN = [*ENTRIES["sentences"], *ENTRIES["parts"]]
NUMBER, OTHER = InputColumn(name="금액", type="number"), InputColumn(name="수량", type="number")
ONE_TO_FIVE = InputColumn(name="금액", type="number", allowed="[1..5]")
_PLACE = re.compile(r"\{(\w+)\}")
_ENGLISH = re.compile(r"(?!null|number|string)\b[a-z]{3,}")
_NAMED = re.compile(r"'[^']*'|`[^`]*`|\"[^\"]*\"")


def _ko(text: str) -> str:
    return translated(Language.KO, text)


@cache
def _written() -> str:
    """Give every text of the program, each on a line of its own where it is one."""
    found = [reason for file in CORE.rglob("policy/presets/*.yaml") for reason in _reasons(file)]
    for file in CORE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n\n".join(found)


def _reasons(file: Path) -> Iterator[str]:
    yield from (
        rule.get("because", "") for rule in yaml.safe_load(file.read_text("utf-8"))["rules"]
    )


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry["en"])
def test_what_is_translated_is_what_the_program_says(entry: dict[str, str]) -> None:
    for fixed in _PLACE.split(entry["en"])[::2]:
        for piece in fixed.split("; "):
            assert piece.strip(" ;:,.()[]'`") in _written(), "nobody says this any more"
    assert {*_PLACE.findall(entry["en"])} == {*_PLACE.findall(entry["ko"])}


def test_nothing_is_translated_twice() -> None:
    for section in ENTRIES.values():
        texts = sorted(_PLACE.sub("{}", entry["en"]) for entry in section)
        assert [one for one, other in pairwise(texts) if one == other] == []


def _given(
    cells: Sequence[str],
    policy: HitPolicy = HitPolicy.UNIQUE,
    *,
    column: InputColumn = NUMBER,
    **more: object,
) -> DecisionTable:
    return table([column], [[cell] for cell in cells], policy=policy, **more)  # type: ignore[arg-type]


def _summed(output: str) -> DecisionTable:
    text = OutputColumn(name="out", type="string")
    made = _given(["-"], HitPolicy.COLLECT, outputs=[output], output=text)
    return made.model_copy(update={"aggregation": Aggregation.SUM})


@pytest.mark.parametrize(
    "found",
    [
        _given(["> 1", "> 2"]),
        _given(["> 1", "< 5"]),
        _given(["> 1", "< 5"], HitPolicy.ANY),
        _given(["> 1", "> 2"], HitPolicy.ANY, outputs=["1", "1"]),
        _given(["> 1", "> 2"], HitPolicy.ANY, outputs=["금액 + 1", "금액 * 2"]),
        _given(["> 1", "> 2"], HitPolicy.FIRST),
        _given(["> 1", "[2..3]", "> 5", "-"], HitPolicy.FIRST),
        _given(["> 7", "[1..5]"], column=ONE_TO_FIVE),
        _given(["> 1"]),
        _given(['"가"', "-"]),
        _given(["> 수량", "< 3"]),
        table([NUMBER, OTHER], [["> 수량", "-"], ["< 3", "-"]]),
        _given(["> today().year", "< 3"]),
        _given(["-"], output=OutputColumn(name="out", type="number", allowed="2, 3")),
        _given(["-"], output=OutputColumn(name="out", type="number", allowed="[2..5]")),
        _given(["-"], outputs=['"가"']),
        _given(["-"], HitPolicy.PRIORITY),
        _summed('"가"'),
    ],
    ids=str,
)  # fmt: skip
def test_what_checks_find_in_a_table_is_told_without_english(found: DecisionTable) -> None:
    defects = check_table(found)
    assert defects
    for defect in defects:
        assert not _ENGLISH.search(_NAMED.sub("", _ko(defect.message))), defect.message


def test_what_stands_beside_new_knowledge_is_told_with_its_reasons() -> None:
    known = Known(id="mem-1", name="배송", text="배송은 3일 안에 한다", kind=Kind.MEMORY)
    why = evidence("배송은 5일 안에 한다", known).why
    assert _ko(f"near MEMORY mem-1 '배송' ({why}); said to be unrelated: 다른 창고다") == (
        "비슷한 메모리: mem-1 '배송' (유사도 0.84; 공통된 말: 배송은, 한다; "
        "숫자: 새 내용은 5일, 기존 내용은 3일). 관련 없다는 설명: 다른 창고다"
    )


@pytest.mark.parametrize(
    ("said", "korean"),
    [
        (
            "change c1 was decided already by 김지은 at 2026-11-22 10:00:00 UTC: it is applied",
            "변경 c1은(는) 이미 결정되었습니다 (김지은, 2026-11-22 10:00:00 UTC): 적용됨",
        ),
        (
            "there is no change 'c1'",
            "변경 'c1'을(를) 찾을 수 없습니다",
        ),
        (
            "the oldest has waited for 12 minutes; work is held back (model: the model answered "
            "401: no; paused: 점검)",
            "가장 오래된 피드백이 12분째 기다리고 있습니다. 처리를 보류하고 있습니다"
            "(모델: 모델이 401(으)로 응답했습니다: no; 일시 중지: 점검)",
        ),
        (
            "gave up after 5 attempts: model: the model at http://llm cannot be reached: no (check "
            "LLM_MODEL and its API key)",
            "5번 시도한 뒤 그만두었습니다: 모델: 모델(http://llm)에 연결할 수 없습니다: no "
            "(LLM_MODEL과 API 키를 확인해 주세요)",
        ),
        (
            "2 being processed, 3 queued; work is held back (model: the model at http://llm cannot "
            "be reached: no)",
            "처리 중 2건, 대기 3건; 처리를 보류하고 있습니다"
            "(모델: 모델(http://llm)에 연결할 수 없습니다: no)",
        ),
        (
            "near SKILL returns 'returns (반품)' (similarity 0.84; both would be read for the same "
            "request)",
            "비슷한 스킬: returns 'returns (반품)' (유사도 0.84; 같은 요청에 둘 다 쓰이게 됨)",
        ),
        (
            "skill 'returns' refers to it in SKILL.md (a.md), which this deletes",
            "스킬 'returns'의 SKILL.md (a.md)에서 참조하는 것을 이 변경이 삭제합니다",
        ),
        (
            "MEMORY 'x' will be deleted once a person approves it; it waits: a check warns about "
            "it; it deletes something",
            "사람이 승인하면 메모리 'x'이(가) 삭제됩니다. "
            "검토 대기: 검사에서 경고가 나왔습니다; 삭제하는 변경입니다",
        ),
        ("matches 환불 in the name; 절차 in the text", "일치: 환불 (이름); 절차 (본문)"),
        (
            "row 'a', input '금액': {x} is what nobody knows [row 'b' (\"{y}\")]",
            "행 'a', 입력 '금액': {x} is what nobody knows [행 'b' (\"{y}\")]",
        ),
        ("something else; nobody knows it", "something else; nobody knows it"),
        ("", ""),
    ],
)
def test_messages_within_messages_are_told_and_what_is_unknown_stays(
    said: str, korean: str
) -> None:
    assert _ko(said) == korean
    assert translated(Language.EN, said) == said


@given(st.sampled_from(KNOWN), st.data())
def test_whatever_stands_in_a_place_is_kept(entry: dict[str, str], data: st.DataObject) -> None:
    places = [name for name in _PLACE.findall(entry["en"]) if name.islower()]
    marks = {name: f"<{number}>" for number, name in enumerate(places)}
    inner = {name: data.draw(st.text(max_size=9)) for name in _PLACE.findall(entry["en"])}
    text = entry["en"].format(**{**inner, **marks})
    told = _ko(text)
    for mark in marks.values():
        assert mark in told


@given(st.text(alphabet="ab; ({[]})'\"`:", max_size=80))
@example("[" * 50_000)
@example("; " * 20_000)
def test_any_text_is_told_and_none_breaks_it(text: str) -> None:
    assert isinstance(_ko(text), str)


def test_all_of_the_file_is_read() -> None:
    assert [len(messages(section)) for section in ENTRIES] == [
        len(each) for each in ENTRIES.values()
    ]
