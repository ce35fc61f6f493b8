"""Times on the command line: a day means its end, no zone means local, errors are explained."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from core.entrypoints.cli.exits import WrongCall
from core.entrypoints.cli.moments import read_moment


@pytest.fixture(autouse=True)
def _seoul(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Seoul")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-11-20", datetime(2026, 11, 20, 14, 59, 59, 999999)),
        ("2026-11-20T09:30", datetime(2026, 11, 20, 0, 30)),
        ("2026-11-20T09", datetime(2026, 11, 20, 0, 0)),
        ("2026-11-20T09Z", datetime(2026, 11, 20, 9, 0)),
        ("9999-12-31", datetime.max),
        ("2026-11-20 09:30:15", datetime(2026, 11, 20, 0, 30, 15)),
        (" 2026-11-20T09:30:15.5 ", datetime(2026, 11, 20, 0, 30, 15, 500000)),
        ("2026-11-20T09:30:15.000001Z", datetime(2026, 11, 20, 9, 30, 15, 1)),
        ("2026-11-20T09:30+09:00", datetime(2026, 11, 20, 0, 30)),
        ("2026-11-20 09:30:00 -0500", datetime(2026, 11, 20, 14, 30)),
    ],
)
def test_a_time_is_read_as_people_mean_it(text: str, utc: datetime) -> None:
    assert read_moment(text) == utc.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "soon", "어제", "2026", "2026-11", "20261120", "2026-W47-5", "2026-11-31",
     "2026-11-20T25:00", "2026-11-20T", "2026-11-20T0930", "2026-11-20T09:30@Asia/Seoul",
     "2026-11-21T02:12:00+25:00", "0001-01-01T00:00", "٢٠٢٦-11-20"],
)  # fmt: skip
def test_what_is_no_time_is_refused_with_the_forms_that_are_read(text: str) -> None:
    with pytest.raises(WrongCall, match="is no time") as caught:
        read_moment(text)
    assert "2026-11-20T09:30:00+09:00" in caught.value.hint


@pytest.mark.parametrize("text", ["2026-11-31", "2026-11-20T25", "2026-11-21T02:12:00+25:00"])
def test_a_time_that_is_not_there_is_told_in_words_of_ours(text: str) -> None:
    with pytest.raises(WrongCall) as caught:
        read_moment(text)
    assert caught.value.message == f"{text!r} is no time: there is no such day, hour or zone"
