"""Import of feedback: good lines are stored verbatim, bad ones are named."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from core.domain.errors import InvalidInput
from core.domain.input_formats.agents import tenants_by_agent
from core.domain.input_formats.feedback import Line, Problem, agent_problem, read_lines
from core.domain.input_formats.json_text import parse_json
from core.domain.models import Agent, NewFeedback

GOOD: dict[str, JsonValue] = {"tenant_id": "t", "agent_ids": ["a"], "content": "원화로 써 주세요"}


def _read(*lines: bytes, max_chars: int = 100) -> list[Line | Problem]:
    return list(read_lines([line + b"\n" for line in lines], max_chars))


def _entry(**fields: JsonValue) -> bytes:
    return json.dumps({**GOOD, **fields}, ensure_ascii=False).encode()


def _reason(line: bytes) -> str:
    (result,) = _read(line)
    assert isinstance(result, Problem)
    return result.reason


def test_a_good_line_comes_through_whole() -> None:
    line = _entry(id="1", task="정산", author="김", events=[{"a": [1, None]}])
    (result,) = _read(line)
    assert isinstance(result, Line)
    assert result.piece == NewFeedback(
        id="1",
        tenant_id="t",
        agent_ids=("a",),
        task="정산",
        content="원화로 써 주세요",
        author="김",
        events=({"a": [1, None]},),
    )


def test_a_byte_order_mark_crlf_and_blank_lines_are_fine() -> None:
    results = _read(b"\xef\xbb\xbf" + _entry() + b"\r", b"", b"  \r", _entry())
    assert [type(result) for result in results] == [Line, Line]
    assert [result.number for result in results if isinstance(result, Line)] == [1, 4]


def test_the_other_lines_go_in_when_one_is_bad() -> None:
    results = _read(_entry(), b"{oops", _entry(), b"[]")
    assert [type(result) for result in results] == [Line, Problem, Line, Problem]
    assert [result.line for result in results if isinstance(result, Problem)] == [2, 4]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{oops", "it is no JSON: expecting property name enclosed in double quotes"),
        (b"hello", "it is no JSON"),
        (b"[1]", "it is no JSON object"),
        (b"\xff\xfe", "it is not UTF-8 text"),
        (b"[" * 100_000, "it is no JSON that can be stored"),
        (b'{"content": 1' + b"0" * 5000 + b"}", "it is no JSON that can be stored"),
        (b'{"tenant_id": "t", "agent_ids": ["a"]}', "content is missing"),
        (b'{"content": "x"}', "tenant_id is missing; agent_ids is missing"),
        (_entry(content=""), "content is blank"),
        (_entry(content=" \n\t\u3000\u200b\u200f"), "content is blank"),
        (_entry(content="가" * 101), "content has 101 characters, more than 100"),
        (_entry(task="가" * 101), "task has 101 characters, more than 100"),
        (_entry(content="a\0b"), "content holds a NUL character"),
        (_entry(events=[{"k\0": 1}]), "events holds a NUL character"),
        (_entry(events=[{"k": ["\0"]}]), "events holds a NUL character"),
        (_entry(author="a\0"), "author holds a NUL character"),
        (_entry(agent_ids=["a\0"]), "agent_ids holds a NUL character"),
        (_entry(tenant_id=" "), "tenant_id is blank"),
        (_entry(agent_ids=[]), "agent_ids names no agent"),
        (_entry(agent_ids=["a", ""]), "agent_ids names no agent"),
        (_entry(agent_ids="a"), "agent_ids is no list"),
        (_entry(id=""), "id is blank"),
        (_entry(id="가" * 201), "id has 201 characters, more than 200"),
        (_entry(tenant_id="t" * 201), "tenant_id has 201 characters, more than 200"),
        (_entry(agent_ids=["a", "b" * 201]), "agent_ids has 201 characters, more than 200"),
        (_entry(author="김" * 201), "author has 201 characters, more than 200"),
        (_entry(id=7), "id is no text"),
        (_entry(colour="red"), "colour is no known field"),
        (_entry()[:-1] + b', "events": [NaN]}', "NaN is no JSON number"),
        (_entry()[:-1] + b', "content": "again"}', "the key 'content' comes twice"),
        (_entry()[:-1] + b', "events": [{"a": 1, "a": 2}]}', "the key 'a' comes twice"),
        (_entry(events=7), "events is no list"),
        (_entry()[:-1] + b', "events": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested too deep"),
        (_entry()[:-1] + b', "task": "\\ud800"}', "task holds a lone surrogate"),
    ],
)
def test_a_bad_line_says_why(line: bytes, reason: str) -> None:
    assert reason in _reason(line)


def test_a_megabyte_is_refused_by_its_length_only() -> None:
    assert _reason(_entry(content="x" * 1_000_000)) == (
        "content has 1000000 characters, more than 100"
    )


def test_right_to_left_marks_are_kept() -> None:
    (result,) = _read(_entry(content="\u200fשלום\u202e 안녕"))
    assert isinstance(result, Line)
    assert result.piece.content == "\u200fשלום\u202e 안녕"


def test_ids_are_normalised_and_the_content_is_not() -> None:
    decomposed = unicodedata.normalize("NFD", "한글")
    (result,) = _read(
        _entry(agent_ids=[decomposed, "한글"], tenant_id=decomposed, content=decomposed)
    )
    assert isinstance(result, Line)
    assert result.piece.agent_ids == ("한글",)
    assert result.piece.tenant_id == "한글"
    assert result.piece.content == decomposed


def test_an_agent_must_be_known_and_of_the_tenant() -> None:
    tenants = tenants_by_agent(
        Agent(id=agent_id, tenant_id=tenant_id, name="A")
        for agent_id, tenant_id in (("a", "other"), ("a", "t"), ("b", "other"))
    )
    piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="x")
    assert agent_problem(piece, tenants) is None
    assert agent_problem(piece.model_copy(update={"agent_ids": ("a", "c")}), tenants) == (
        "there is no agent 'c'"
    )
    assert agent_problem(piece.model_copy(update={"agent_ids": ("b",)}), tenants) == (
        "agent 'b' does not belong to tenant 't'"
    )


def test_text_that_is_cut_off_is_named_where_it_begins() -> None:
    with pytest.raises(InvalidInput, match=r"no JSON: unterminated string starting at character 8"):
        parse_json('{"id": "x')


def test_a_follow_up_comes_through_with_its_time_and_what_it_is_about() -> None:
    line = _entry(
        said_at="2026-05-01T09:00:00+09:00",
        in_reply_to="e\u0301",
        thread="견적 7",
        output={"합계": [3_500_000, None]},
    )
    (result,) = _read(line)
    assert isinstance(result, Line)
    piece = result.piece
    assert piece.said_at == datetime(2026, 5, 1, tzinfo=UTC)
    assert (piece.in_reply_to, piece.thread) == ("é", "견적 7")
    assert piece.output == {"합계": [3_500_000, None]}


@pytest.mark.parametrize(
    ("said_at", "why"),
    [
        ("2026-05-01T09:00:00", "has no time zone"),
        ("2026-05-01", "is no time that can be read"),
        ("yesterday", "is no time that can be read"),
        (1_777_000_000, "is no time that can be read"),
        ("1777000000", "is no time that can be read"),
        ("2026-13-01T09:00:00Z", "is no time that can be read"),
        ("9999-12-31T23:59:59-09:00", "is no time that can be read"),
    ],
)
def test_a_time_that_cannot_be_taken_is_refused_with_one_that_can(
    said_at: JsonValue, why: str
) -> None:
    reason = _reason(_entry(said_at=said_at))
    assert reason == f"said_at {why}: write it as 2026-05-01T09:00:00+09:00"


def test_an_output_that_is_too_long_is_refused_with_its_length() -> None:
    assert _reason(_entry(output=["x" * 100])) == "output has 104 characters, more than 100"
