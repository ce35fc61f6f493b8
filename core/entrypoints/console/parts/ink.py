"""The colour of what is written in a chart.

A chart draws on a canvas, which knows nothing of the style sheet: the browser looks the colour up
as it draws, so that it is read on light and on dark.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

# NiceGUI evaluates what stands under a key that begins with a colon.
INK: Mapping[str, JsonValue] = {
    ":color": "getComputedStyle(document.body).getPropertyValue('--muted')"
}
