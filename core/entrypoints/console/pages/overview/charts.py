"""The charts of the overview, as options of ECharts, which draws text on a canvas as text."""

from __future__ import annotations

from core.domain.models import FeedbackStatus
from core.domain.models.views import EndedSeries, Overview
from core.entrypoints.console.parts.ink import INK
from core.entrypoints.console.visit import Visit

_COLOURS = {
    FeedbackStatus.COMPLETED: "#2c9a67",
    FeedbackStatus.HELD: "#c98a2b",
    FeedbackStatus.NO_ACTION: "#8b95a5",
    FeedbackStatus.FAILED: "#d0605b",
    FeedbackStatus.DEAD: "#8f2f2b",
    FeedbackStatus.CANCELLED: "#5f6b7c",
}
_LINE = "#8b95a555"
_DAY = 86_400


def ended_options(visit: Visit, series: EndedSeries) -> dict[str, object]:
    """Return the chart of what ended in each step, stacked by outcome."""
    form = "%m-%d" if series.step_seconds >= _DAY else "%H:%M"
    times = [bucket.at.strftime(form) for bucket in series.buckets]
    bars = [
        _bar(
            visit.say(f"common.{status.value}"),
            colour,
            [bucket.by_status.get(status, 0) for bucket in series.buckets],
        )
        for status, colour in _COLOURS.items()
    ]
    return {**_frame(times), "yAxis": [_axis()], "series": bars}


def spent_options(visit: Visit, seen: Overview) -> dict[str, object]:
    """Return the chart of tokens as bars and money as a line, by day."""
    days = [*reversed(seen.spent)]
    tokens = [one.usage.input_tokens + one.usage.output_tokens for one in days]
    money = [float(one.usage.cost) for one in days]
    line = {
        "type": "line",
        "name": visit.say("overview.cost", currency=seen.currency),
        "data": money,
        "yAxisIndex": 1,
        "itemStyle": {"color": "#c98a2b"},
    }
    return {
        **_frame([one.day.strftime("%m-%d") for one in days]),
        "yAxis": [_axis(), {**_axis(), "splitLine": {"show": False}}],
        "series": [_bar(visit.say("overview.tokens"), "#3f7fd8", tokens), line],
    }


def _frame(categories: list[str]) -> dict[str, object]:
    return {
        "animation": False,
        "tooltip": {"trigger": "axis", "renderMode": "richText"},
        "legend": {"top": 0, "textStyle": {**INK}, "itemWidth": 12, "itemHeight": 12},
        "grid": {"left": 8, "right": 8, "top": 52, "bottom": 4, "containLabel": True},
        "xAxis": {
            "type": "category",
            "data": categories,
            "axisLabel": {**INK},
            "axisLine": {"lineStyle": {"color": _LINE}},
        },
    }


def _axis() -> dict[str, object]:
    return {
        "type": "value",
        "minInterval": 1,
        "axisLabel": {**INK},
        "splitLine": {"lineStyle": {"color": _LINE}},
    }


def _bar(name: str, colour: str, data: list[int]) -> dict[str, object]:
    return {
        "type": "bar",
        "name": name,
        "stack": "all",
        "data": data,
        "itemStyle": {"color": colour},
        "barMaxWidth": 22,
    }
