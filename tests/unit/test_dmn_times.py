"""Dates, times and durations come to what the DMN TCK publishes. Each case cites its test.

Clauses of DMN 1.3: 10.3.2.3.4 to 10.3.2.3.8 (kinds of time), 10.3.4.1 (conversion). Years are
those of the calendar module, 0001 to 9999; a time of day takes an offset, not a named zone.
"""

from __future__ import annotations

import pytest

from tests.support.feel import comes_to, reason

VALUES = [
    ("0007", 'date("2016-02-29") + duration("P1Y")', "2017-02-28"),
    ("0007", 'date and time("2016-12-24T23:59:00-08:00").day', "24"),
    ("0007", 'time("23:00:00") + duration("PT2H")', "01:00:00"),
    ("0074", '@"2018-12-10".weekday', "1"), ("0074", 'date and time("2018-12-10").hour', "0"),
    ("0074", '@"2018-12-10T10:30:01.25".second', "1.25"),
    ("0074", '@"2018-12-10T10:30:00+05:00".time offset', "PT5H"),
    ("0074", '@"2018-12-10T10:30:00".time offset', "null"),
    ("0074", '@"2018-12-10T10:30:00@Etc/UTC".timezone', '"Etc/UTC"'),
    ("0074", '@"2018-12-10T10:30:00".timezone', "null"),
    ("0074", '@"10:30:00+05:00".time offset', "PT5H"),
    ("0074", '@"P2M".years', "0"), ("0074", '@"P1Y".months', "0"), ("0074", '@"PT2H".days', "0"),
    ("0074", "[1..10).start", "1"), ("0074", "[1..10).end included", "false"),
    ("0074", "]1..10].start included", "false"),
    ("0074", "[1..10].end  included", "true"),
    ("0093", '@"P1Y"', "P1Y"), ("0093", '@"10:00:00"', "10:00:00"),
    ("0093", '@"2019-01-01T10:00:00@Asia/Seoul".hour', "10"),
    ("0095", 'day of year(@"2019-09-17")', "260"),
    ("0095", 'day of year(date: @"2020-12-31")', "366"),
    ("0096", 'day of week(@"2019-09-17")', '"Tuesday"'),
    ("0097", 'month of year(@"2019-09-17")', '"September"'),
    ("0098", 'week of year(@"2003-12-29")', "1"), ("0098", 'week of year(@"2005-01-01")', "53"),
    ("0100", '@"2021-01-31" + @"P1M"', "2021-02-28"),
    ("0100", '@"2021-01-13" - @"2021-01-12"', "P1D"),
    ("0100", '@"P1Y" + @"P2M"', "P1Y2M"),
    ("0100", '@"2021-01-12T10:10:10" + @"P1DT1H"', "2021-01-13T11:10:10"),
    ("0100", '@"10:15:00Z" - @"10:00:00Z"', "PT15M"), ("0100", '@"P1D" - @"PT1H"', "PT23H"),
    ("1115", 'date("2017-12-31")', "2017-12-31"), ("1115", "date(2017, 12, 31)", "2017-12-31"),
    ("1115", 'date(date and time("2017-08-14T14:25:00"))', "2017-08-14"),
    ("1115", 'date(from: "2012-12-24")', "2012-12-24"),
    ("1115", "date(day: 3, month: 1, year: 2017)", "2017-01-03"),
    ("1116", 'time("01:02:03.5Z")', "01:02:03.5Z"),
    ("1116", 'time(hour: 11, minute: 59, second: 0)', "11:59:00"),
    ("1116", 'time(12, 0, 0, duration("-PT1H"))', "12:00:00-01:00"),
    ("1116", "time(1, 2, 3, null)", "01:02:03"),
    ("1116", 'time(@"2017-08-10T10:20:00+02:00")', "10:20:00+02:00"),
    ("1117", 'date and time(@"2017-01-01", @"23:59:01Z")', "2017-01-01T23:59:01Z"),
    ("1117", 'date and time(date: @"2017-01-01T10:00:00", time: @"23:59:01")',
     "2017-01-01T23:59:01"),
    ("1117", 'date and time("2016-03-13T03:00:00@Asia/Seoul")', "2016-03-13T03:00:00@Asia/Seoul"),
    ("1120", 'duration("P1DT2H3M4.123456S")', "P1DT2H3M4.123456S"),
    ("1120", 'duration("PT0.000S")', "PT0S"),
    ("1120", 'duration("PT36H")', "P1DT12H"), ("1120", 'duration("-P1Y13M")', "-P2Y1M"),
    ("1121", 'years and months duration(@"2011-12-22", @"2013-08-24")', "P1Y8M"),
    ("1121", 'years and months duration(@"2013-08-24", @"2011-12-22")', "-P1Y8M"),
    ("1121", 'years and months duration(@"2016-01-01", @"2016-01-01")', "P0M"),
    ("1121", 'years and months duration(from: @"2016-09-30T23:25:00", to: @"2017-12-28T12:12:12")',
     "P1Y2M"),
]  # fmt: skip
NULLS = [
    ("0074", '@"P1Y".days'), ("0074", '@"P1D".months'), ("0074", '@"2018-12-10".hour'),
    ("0100", '@"2021-01-12T10:00:00Z" - @"2021-01-12T10:00:00"'), ("0100", '@"2021-01-12" + 1'),
    ("1115", "date(null)"), ("1115", "date(2017, null, 1)"), ("1115", 'date("2017-13-10")'),
    ("1115", 'date("2017-1-1")'), ("1115", 'date("20170101")'), ("1115", "date(2017, 2, 30)"),
    ("1116", "time(null)"), ("1116", 'time("24:00:01")'), ("1116", 'time("1:00:00")'),
    ("1116", 'time("12:00:00+19:00")'), ("1116", 'time(12, null, 45, @"P0D")'),
    ("1117", 'date and time("2017-12-31T24:00:01")'),
    ("1117", 'date and time(@"2017-08-10", null)'),
    ("1117", 'date and time("2017-12-31T11:00:00@Nowhere/Town")'), ("1120", "duration(null)"),
    ("1120", 'duration("P1Y2D")'), ("1120", 'duration("P")'), ("1120", 'duration("1D")'),
    ("1121", 'years and months duration(@"2017-08-11", null)'),
]  # fmt: skip


@pytest.mark.parametrize(("case", "text", "wanted"), VALUES)
def test_a_time_is_as_published(case: str, text: str, wanted: str) -> None:
    assert comes_to(text) == wanted, case


@pytest.mark.parametrize(("case", "text"), NULLS)
def test_what_is_no_time_is_null_as_published(case: str, text: str) -> None:
    assert reason(text), case


def test_what_is_not_supported_of_times_says_so() -> None:
    assert "not a named zone" in reason('time("10:30:00@Europe/Paris")')
    assert "years 0001 to 9999" in reason('date("-2017-12-31")')
