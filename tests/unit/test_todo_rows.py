"""User feedback on a row of the platform is read completely, in any format."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from core.adapters.sources.todo_rows import TodoRow, read_row, row_id_of


def _read(feedback: JsonValue, **values: JsonValue) -> TodoRow:
    row = read_row(
        {"id": "r/1", "tenant_id": "acme", "user_id": "clerk", "feedback": feedback, **values}
    )
    assert row is not None
    return row


def _said(feedback: JsonValue) -> list[str]:
    row = _read(feedback)
    assert row.problems == ()
    return [item.content for item in row.items]


@pytest.mark.parametrize(
    ("feedback", "contents"),
    [
        ([{"time": "2026-01-01T00:00:00Z", "content": "원화로", "user_id": "kim"}], ["원화로"]),
        ({"content": "one object"}, ["one object"]),
        ("a legacy string", ["a legacy string"]),
        (["strings", "in a list"], ["strings", "in a list"]),
        ('[{"content": "JSON 문자열"}]', ["JSON 문자열"]),
        (['{"content": "JSON in a list"}'], ["JSON in a list"]),
        ("[urgent] use KRW", ["[urgent] use KRW"]),
        ("{braces} of a user", ["{braces} of a user"]),
        ('"quoted" and 123', ['"quoted" and 123']),
        ("123", ["123"]),
        (None, []),
        ([], []),
        ({}, []),
        ("", []),
        ("[]", []),
        ([None, "", {"content": None}, {"content": " \u200b"}, "left"], ["left"]),
    ],
)
def test_each_form_of_feedback_is_read(feedback: JsonValue, contents: list[str]) -> None:
    assert _said(feedback) == contents


def test_items_come_oldest_first_and_those_without_a_time_stay_in_place() -> None:
    at = "2026-01-0{}T09:00:00+09:00".format
    feedback: list[JsonValue] = [
        {"time": at(3), "content": "third"},
        {"content": "after the third"},
        {"time": at(1), "content": "first"},
        {"time": "yesterday", "content": "after the first"},
        {"time": "2026-01-02T00:00:00Z", "content": "second"},
        {"time": "2026-01-02 00:00:01", "content": "no zone is UTC"},
    ]
    assert _said(feedback) == [
        "first",
        "after the first",
        "second",
        "no zone is UTC",
        "third",
        "after the third",
    ]


def test_an_item_keeps_its_id_whatever_is_said_or_added() -> None:
    one: dict[str, JsonValue] = {"time": "2026-01-01", "content": "원화로", "user_id": "kim"}
    (before,) = _read([one]).items
    after = _read(["earlier", {**one, "read": True}, one]).items
    assert [item.id for item in after if item.content == "원화로"] == [before.id]
    assert before.author == "kim"
    assert row_id_of(before.id) == "r/1"
    others = [{**one, "time": "2026-01-02"}, {**one, "user_id": "lee"}]
    assert before.id not in {item.id for item in _read([*others]).items}


@pytest.mark.parametrize(
    ("feedback", "problem"),
    [
        ([{"text": "no content"}, "fine"], "item 1 has no text"),
        (["fine", 5], "item 2 has no text"),
        (["fine", {"content": ["list"]}], "item 2 has no text"),
        (["fine", "NUL \0"], "item 2 holds a NUL"),
        (["fine", {"content": "\ud800"}], "item 2 holds a lone surrogate"),
    ],
)
def test_what_cannot_be_read_is_named_and_the_rest_is_read(
    feedback: JsonValue, problem: str
) -> None:
    row = _read(feedback)
    assert [item.content for item in row.items] == ["fine"]
    assert len(row.problems) == 1
    assert problem in row.problems[0]


@pytest.mark.parametrize("feedback", ['[{"content": "cut o', '{"content": "a", "content": "b"}'])
def test_json_that_is_cut_off_is_no_legacy_string(feedback: str) -> None:
    row = _read(feedback)
    assert row.items == ()
    assert "begins like JSON" in row.problems[0]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"tenant_id": None}, "no tenant"),
        ({"tenant_id": " "}, "tenant_id is blank"),
        ({"user_id": None}, "no agent"),
        ({"user_id": " , "}, "no agent"),
    ],
)
def test_a_row_for_nobody_is_refused_whole(values: dict[str, JsonValue], problem: str) -> None:
    row = _read(["원화로"], **values)
    assert row.items == ()
    assert problem in row.problems[0]


@pytest.mark.parametrize("value", [None, 7, "text", {}, {"id": None}, {"id": ""}, {"id": "a\0"}])
def test_what_has_no_id_is_no_row(value: JsonValue) -> None:
    assert read_row(value) is None


def test_a_number_may_be_an_id() -> None:
    row = read_row({"id": 42, "tenant_id": "acme", "user_id": "clerk", "feedback": "x"})
    assert row is not None
    assert row.id == "42"


@pytest.mark.parametrize(
    "assignees",
    [
        [{"endpoint": ["a", "b"]}, {"endpoint": "c"}, {"name": "x"}, None],
        '[{"endpoint": "a, b"}, {"endpoint": ["c", "a", 5]}]',
        {"endpoint": ["a", "b", "c"]},
    ],
)
def test_assignees_name_agents_in_their_endpoints(assignees: JsonValue) -> None:
    row = _read("x", user_id="one,two , one", assignees=assignees)
    assert row.agent_ids == ("one", "two")
    assert row.assignee_ids == ("a", "b", "c")


@pytest.mark.parametrize("assignees", ["[broken", 5, "name", [["a"]]])
def test_assignees_that_cannot_be_read_name_nobody(assignees: JsonValue) -> None:
    assert _read("x", assignees=assignees).assignee_ids == ()


def test_items_of_a_row_answer_each_other_and_are_about_its_output() -> None:
    said: list[JsonValue] = [
        {"time": "2026-01-02T09:00:00+09:00", "content": "달러로요"},
        {"time": "2026-01-01T09:00:00+09:00", "content": "원화로 적어 주세요"},
    ]
    row = _read(said, output={"합계": 3})
    first, second = row.items
    assert (first.answers, second.answers) == (None, first.id)
    assert [item.said_at and item.said_at.day for item in row.items] == [1, 2]
    assert row.output == {"합계": 3}


def test_an_item_without_a_time_is_said_with_the_next_that_has_one() -> None:
    row = _read(["first", {"time": "2026-01-01T09:00:00Z", "content": "second"}])
    assert [item.content for item in row.items] == ["first", "second"]
    assert row.items[0].said_at == row.items[1].said_at is not None
    assert [item.said_at for item in _read(["no", "times"]).items] == [None, None]


def test_an_output_that_is_long_or_cannot_be_stored_hinders_nobody() -> None:
    long, broken = _read("x", output=["y" * 20_000]), _read("x", output=["\0"])
    assert isinstance(long.output, str)
    assert len(long.output) <= 10_000
    assert (broken.output, len(broken.items)) == (None, 1)
