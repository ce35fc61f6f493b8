"""Data inside prompts: a fenced JSON block that its content cannot break out of."""

from __future__ import annotations

import json
import re

from pydantic import JsonValue

from core.domain.text import clean

_BLOCK = re.compile(r"```json\n(.*?)\n```", re.DOTALL)


def fenced_json(data: JsonValue) -> str:
    """Return `data` as a fenced block; backticks are escaped, so that content cannot close it."""
    text = json.dumps(clean(data), ensure_ascii=False, indent=1)
    return f"```json\n{text.replace('`', chr(92) + 'u0060')}\n```"


def read_fenced_json(text: str) -> JsonValue:
    """Return the data of the first fenced block, or None if it is missing or does not parse."""
    found = _BLOCK.search(text)
    if found is None:
        return None
    try:
        data: JsonValue = json.loads(found.group(1))
    except ValueError:
        return None
    return data
