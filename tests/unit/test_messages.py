"""Messages: a code and its parameters, rendered in English and Korean."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.pofile import read_po
from hypothesis import given
from hypothesis import strategies as st

from core.changes.gate.decisions import _decided
from core.changes.gate.receipts import receipt_of
from core.changes.policy.review_policy import PRESETS, load_policy, parse_policy
from core.decision_table import check_table, parse_xml
from core.decision_table.editing.draft import draft_to_table
from core.decision_table.feel import parse_expression
from core.domain import errors, messages
from core.domain.errors import IterationsExhausted, ModelDown, NotFound, SkillWorkerError
from core.domain.input_formats.agents import read_agents
from core.domain.input_formats.feedback import checked
from core.domain.messages import Message, cut, joined, said, term, translated, written
from core.domain.models import (
    Aggregation,
    Change,
    ChangeStatus,
    DecisionTable,
    FeedbackStatus,
    HitPolicy,
    InputColumn,
    Kind,
    Operation,
    OutputColumn,
    PauseKind,
    RuleDraft,
    SkillEdit,
    Verdict,
    VerdictStatus,
    outcome_of,
)
from core.domain.models.access import TokenKind
from core.domain.models.base import Model, Text, read_message
from core.domain.paging import decode_parts
from core.knowledge.duplicates import Known, evidence
from core.skills.bundle import zip_to_bundle
from core.skills.document.edits import edit_text
from core.skills.document.frontmatter import read_frontmatter, split_document
from tests.support.message_codes import CORE, made_messages, plain_refusals
from tests.support.table_cells import table

ROOT = CORE.parent
AT = datetime(2026, 11, 22, 10, tzinfo=UTC)
SHOWN_AT = "2026-11-22 10:00:00 UTC"
ENGLISH = CORE / "domain" / "locale" / "messages.pot"
KOREAN = CORE / "domain" / "locale" / "ko" / "LC_MESSAGES" / "messages.po"
NUMBER, OTHER = InputColumn(name="금액", type="number"), InputColumn(name="수량", type="number")
ONE_TO_FIVE = InputColumn(name="금액", type="number", allowed="[1..5]")
_ENGLISH = re.compile(r"(?!null|number|string)\b[a-z]{3,}")
_NAMED = re.compile(r"'[^']*'|`[^`]*`|\"[^\"]*\"")
# Their members are parameters of messages.
_NAMED_MEMBERS = (Kind, ChangeStatus, FeedbackStatus, PauseKind, TokenKind)


def _ko(text: str) -> str:
    return translated("ko", text)


def _catalogue(path: Path = KOREAN) -> dict[str, tuple[str, str]]:
    with path.open("rb") as file:
        return {m.context: (m.id, m.string) for m in read_po(file) if m.context}


def _places(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def _terms() -> dict[str, str]:
    words = {one.value for of in _NAMED_MEMBERS for one in of}
    words |= {error.kind for error in vars(errors).values() if _is_error(error)}
    return {f"term.{word}": word for word in words}


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, SkillWorkerError)


def test_every_message_has_english_and_none_is_left_over() -> None:
    assert set(made_messages()) == set(_catalogue(ENGLISH))


def test_english_is_read_as_gettext_reads_it() -> None:
    assert messages.english() == {code: text for code, (text, _) in _catalogue(ENGLISH).items()}
    assert any("\n" in text for text in messages.english().values())


def test_a_message_is_given_what_its_english_names() -> None:
    for code, (english, _) in _catalogue(ENGLISH).items():
        for where, names in made_messages()[code]:
            assert names in {None, frozenset(_places(english))}, (where, code)


def test_no_error_is_made_of_plain_text() -> None:
    kinds = {name for name, value in vars(errors).items() if _is_error(value)}
    assert plain_refusals({*kinds, "NoValue", "WrongCall"}) == []


def test_every_message_has_korean_for_the_english_it_has_now() -> None:
    english = {code: source for code, (source, _) in _catalogue(ENGLISH).items()} | _terms()
    assert english == {code: source for code, (source, _) in _catalogue().items()}


def test_korean_names_what_english_names() -> None:
    for code, (english, korean) in _catalogue().items():
        assert korean.strip(), code
        assert _places(korean) == _places(english), code


def test_reasons_of_the_shipped_policies_are_messages() -> None:
    for name in PRESETS:
        for rule in load_policy(name).rules:
            if rule.then == "hold":
                assert _ko(rule.because) != rule.because, rule.because


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
    assert _ko(why) == "유사도 0.84; 공통된 말: 배송은, 한다; 숫자: 새 내용은 5일, 기존 내용은 3일"


@pytest.mark.parametrize(
    "refused",
    [
        lambda: zip_to_bundle(b"PK", "refund"),
        lambda: split_document("# 개요"),
        lambda: read_frontmatter("---\nname: [a\n---\n"),
        lambda: edit_text("# 개요\n", SkillEdit(op="append_item", heading="절차", text="하나")),
        lambda: parse_xml("<definitions/>"),
        lambda: parse_expression('"가" +'),
        lambda: draft_to_table(RuleDraft(name="할인"), new_row_id=iter("abc").__next__),
        lambda: decode_parts("x", "q", 1),
        lambda: read_agents('[{"id": "a", "name": "b"}]'),
        lambda: checked({"content": " ", "tenant_id": "t", "agent_ids": ["a"]}, 9),
        lambda: parse_policy("[]", "mine.yaml"),
    ],
)
def test_a_refusal_is_told_without_english(refused: Callable[[], object]) -> None:
    with pytest.raises(SkillWorkerError) as caught:
        refused()
    for text in (caught.value.message, caught.value.hint):
        assert isinstance(text, Message) or not text, text
        assert not text or _ko(text) != text, text
    assert not re.search(r"\b(?:the|is|has|no|not)\b", _ko(caught.value.message)), caught.value


def test_an_error_is_told_with_its_kind_and_its_hint() -> None:
    hint = Message("model.check")
    why = Message(
        "model.unreachable", address=Message("model.at_address", address="http://llm"), text="no"
    )
    error = ModelDown(why, hint=hint)
    assert error.reason == (
        "model: the model at http://llm cannot be reached: no (check LLM_MODEL and its API key)"
    )
    assert _ko(error.reason) == (
        "모델: 모델(http://llm)에 연결할 수 없습니다: no (LLM_MODEL과 API 키를 확인해 주세요)"
    )


def _change(**given: object) -> Change:
    known: dict[str, object] = {
        "id": "c1", "key": "k", "digest": "d", "tenant_id": "t", "agent_id": "a",
        "kind": Kind.MEMORY, "target_id": "m1", "target_name": "x", "base_hash": "",
        "operation": Operation.DELETE, "before": None, "after": None,
        "status": ChangeStatus.HELD,
    }  # fmt: skip
    return Change.model_validate(known | given)


def test_a_receipt_is_told_with_the_reasons_why_it_waits() -> None:
    risky = {rule.because: rule.because for rule in load_policy("risky").rules}
    waits = _change(held=(risky["a check warns about it"], risky["it deletes something"]))
    receipt = receipt_of(waits)
    assert receipt.message == (
        "MEMORY 'x' will be deleted once a person approves it; it waits: "
        "a check warns about it; it deletes something"
    )
    assert _ko(receipt.message) == (
        "사람이 승인하면 메모리 'x'이(가) 삭제됩니다. "
        "검토 대기: 검사에서 경고가 나왔습니다; 삭제하는 변경입니다"
    )


@pytest.mark.parametrize(
    ("by", "at", "how", "korean"),
    [
        (
            "김지은",
            AT,
            " by 김지은 at 2026-11-22 10:00:00 UTC",
            " (김지은, 2026-11-22 10:00:00 UTC)",
        ),
        ("김지은", None, " by 김지은", " (김지은)"),
        (None, AT, f" at {SHOWN_AT}", f" ({SHOWN_AT})"),
        (None, None, "", ""),
    ],
)
def test_who_decided_is_named_where_it_is_known(
    by: str | None, at: datetime | None, how: str, korean: str
) -> None:
    applied = ChangeStatus.APPLIED
    change = _change(status=applied, held=("why",), decided_by=by, decided_at=at)
    message = _decided(change).message
    assert message == f"change c1 was decided already{how}: it is applied"
    assert _ko(message) == f"변경 c1은(는) 이미 결정되었습니다{korean}: 적용됨"


@pytest.mark.parametrize(
    ("operation", "status", "english", "korean"),
    [
        ("CREATE", "applied", "created", "이(가) 추가되었습니다"),
        ("UPDATE", "reverted", "updated", "이(가) 수정되었습니다"),
        ("DELETE", "failed", "could not be deleted", "을(를) 삭제하지 못했습니다"),
        ("CREATE", "rejected", "was rejected", "이(가) 거절되었습니다"),
        ("UPDATE", "prepared", "would be updated", "이(가) 수정됩니다"),
    ],
)
def test_a_receipt_says_what_a_change_came_to(
    operation: str, status: str, english: str, korean: str
) -> None:
    message = receipt_of(_change(operation=operation, status=status, merge_mode="EXTEND")).message
    assert f"MEMORY 'x' {english}" in message
    assert f"메모리 'x'{korean}" in _ko(message)


@given(st.recursive(st.text(max_size=9) | st.integers(), lambda inner: st.lists(inner, max_size=3)))
def test_a_message_outlives_being_stored(value: object) -> None:
    made = _nested(value)
    for back in (
        read_message(json.loads(json.dumps(made.to_json()))),
        pickle.loads(pickle.dumps(made)),
    ):
        assert back == made
        assert back.to_json() == made.to_json()


def _nested(value: object) -> Message:
    parts = [_nested(one) for one in value] if isinstance(value, list) else [str(value)]
    return Message.of("test.nested", "it says {value!r} {n:.1f}", {"value": joined(parts), "n": 1})


def test_a_models_field_keeps_the_message_and_gives_text() -> None:
    class Holder(Model):
        one: Text
        some: tuple[Text, ...] = ()

    held = Holder(one=Message.of("a", "one", {}), some=(Message.of("b", "two", {}), "three"))
    assert isinstance(held.one, Message)
    assert [isinstance(one, Message) for one in held.some] == [True, False]
    assert json.loads(held.model_dump_json()) == {"one": "one", "some": ["two", "three"]}
    assert Holder.model_json_schema()["properties"]["one"]["type"] == "string"


def test_feedback_whose_runs_failed_says_why_in_korean() -> None:
    failed = IterationsExhausted(Message("run.calls_used_up", n=5))
    end = outcome_of([Verdict(status=VerdictStatus.FAILED, reason=failed.reason)])
    assert end.error == "iterations: the run used up its 5 model calls"
    assert _ko(end.error) == "호출 한도: 모델 호출 한도 5회를 모두 썼습니다"


def test_what_has_no_translation_stays_english() -> None:
    assert _ko("something else; nobody knows it") == "something else; nobody knows it"
    unknown = Message.of("nobody.knows", "{what} is unknown", {"what": Kind.MEMORY})
    assert _ko(unknown) == "MEMORY is unknown"
    assert _ko(joined([unknown, term(Kind.MEMORY.value)])) == "MEMORY is unknown; 메모리"


def test_a_translation_that_names_other_parameters_is_passed_over() -> None:
    stored = Message.of("a.code", "an older {name}", {"name": "x"})
    assert written(stored, {"a.code": "{other}"}.get) == "an older x"


def test_a_message_is_not_made_of_what_is_missing() -> None:
    with pytest.raises(AssertionError, match=r"'no.change' .* 'id'"):
        Message("no.change", id=None)  # type: ignore[arg-type]


def test_what_the_system_refused_is_told_without_its_number() -> None:
    refused = OSError(13, "Permission denied", "/a")
    assert Message("file.unwritable", path=Path("/a"), why=refused).parameters == {
        "path": "/a",
        "why": "Permission denied",
    }
    assert Message("skill.document_not_read", why=OSError("gone")).parameters == {"why": "gone"}


def test_a_code_without_any_text_is_told_by_itself() -> None:
    lost = Message("no.text", what="x", n=2)
    assert lost == "no.text: 'x': 2"
    assert _ko(lost) == lost


def test_braces_in_a_parameter_are_no_places() -> None:
    quoted = Message("no.change", id="{x} {0}")
    assert _ko(quoted) == "변경 '{x} {0}'을(를) 찾을 수 없습니다"


def test_only_what_is_cut_loses_its_code() -> None:
    message = Message.of("a.code", "four", {})
    assert isinstance(cut(message, 4), Message)
    assert cut(message, 3) == "fou"
    assert isinstance(said(NotFound(message)), Message)
    assert said(ValueError()) == ""


def test_the_wheel_carries_the_compiled_catalogues(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        template = archive.read("core/domain/locale/messages.pot")
        korean = archive.read("core/domain/locale/ko/LC_MESSAGES/messages.mo")
    assert b"there is no change {id!r}" in template
    assert "변경 {id!r}을(를) 찾을 수 없습니다".encode() in korean
