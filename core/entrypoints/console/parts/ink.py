"""The text colour of charts.

A chart is drawn on a canvas, to which the style sheet does not apply: the browser looks the colour
up as it draws, so that it suits the light and the dark theme.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

# NiceGUI evaluates the value of a key that begins with a colon as JavaScript.
INK: Mapping[str, JsonValue] = {
    ":color": "getComputedStyle(document.body).getPropertyValue('--muted')"
}
