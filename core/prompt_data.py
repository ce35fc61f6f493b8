"""Data inside prompts: one fenced JSON block that text inside it cannot break out of."""

from __future__ import annotations

import json
import re

from pydantic import JsonValue

_BLOCK = re.compile(r"```json\n(.*?)\n```", re.DOTALL)
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def compact(data: JsonValue) -> str:
    """Give `data` as JSON on one line, with non-ASCII text as it is."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


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


def clean_text(text: str) -> str:
    """Drop NUL and replace lone surrogates: neither can be stored as text."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    return text if text.isascii() else _LONE_SURROGATES.sub("\ufffd", text)


def clean(data: JsonValue) -> JsonValue:
    """Give `data` with every text in it cleaned."""
    if isinstance(data, str):
        return clean_text(data)
    if isinstance(data, list):
        return [clean(part) for part in data]
    if isinstance(data, dict):
        return {clean_text(key): clean(value) for key, value in data.items()}
    return data


def shorten(text: str, limit: int) -> str:
    """Cut `text` to at most `limit` characters, saying that it was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
