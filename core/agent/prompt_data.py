"""Data inside prompts: one fenced JSON block that text inside it cannot break out of."""

from __future__ import annotations

import json
import re

from pydantic import JsonValue

from core.domain.text import clean

_BLOCK = re.compile(r"```json\n(.*?)\n```", re.DOTALL)


def fenced_json(data: JsonValue) -> str:
    """Give `data` as a fenced block; backticks in it are escaped, so that it ends where we say."""
    text = json.dumps(clean(data), ensure_ascii=False, indent=1)
    return f"```json\n{text.replace('`', chr(92) + 'u0060')}\n```"


def read_fenced_json(text: str) -> JsonValue:
    """Give the data of the first fenced block, or None where there is none that parses."""
    found = _BLOCK.search(text)
    if found is None:
        return None
    try:
        data: JsonValue = json.loads(found.group(1))
    except ValueError:
        return None
    return data
