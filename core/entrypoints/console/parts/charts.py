"""Charts: their frame, axes and bars, and the card that they stand in."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from core.entrypoints.console.parts.ink import INK
from core.entrypoints.console.parts.markup import el, show

_LINE = "#8b95a555"


def chart(title: str, options: dict[str, object]) -> ui.echart:
    """Draw a chart in a card; its title is its accessible name."""
    with ui.element("section").classes("card"):
        show(el("h3", title))
        return ui.echart(options).classes("chart").props(f'role=img aria-label="{title}"')


def frame(categories: Sequence[str]) -> dict[str, object]:
    """Return the options of a chart over categories, without its series."""
    return {
        "animation": False,
        "tooltip": {"trigger": "axis", "renderMode": "richText"},
        "legend": {"top": 0, "textStyle": {**INK}, "itemWidth": 12, "itemHeight": 12},
        "grid": {"left": 8, "right": 8, "top": 52, "bottom": 4, "containLabel": True},
        "xAxis": {
            "type": "category",
            "data": [*categories],
            "axisLabel": {**INK},
            "axisLine": {"lineStyle": {"color": _LINE}},
        },
    }


def axis() -> dict[str, object]:
    """Return an axis of whole numbers."""
    return {
        "type": "value",
        "minInterval": 1,
        "axisLabel": {**INK},
        "splitLine": {"lineStyle": {"color": _LINE}},
    }


def bar(name: str, colour: str, data: Sequence[int]) -> dict[str, object]:
    """Return a series of stacked bars."""
    return {
        "type": "bar",
        "name": name,
        "stack": "all",
        "data": [*data],
        "itemStyle": {"color": colour},
        "barMaxWidth": 22,
    }
