"""Strict JSON parsing for outside input, with error messages that say what to fix."""

from __future__ import annotations

import json
from typing import NoReturn

from pydantic import JsonValue

from core.domain.errors import InvalidInput

MAX_DEPTH = 100


def parse_json(text: str) -> JsonValue:
    """Parse one JSON value. Raises InvalidInput, also for NaN and duplicate keys."""
    try:
        parsed: JsonValue = json.loads(
            text, parse_constant=_no_constant, object_pairs_hook=_unique_keys
        )
    except json.JSONDecodeError as error:
        said = error.msg.removesuffix(" at")  # only some of its messages end in " at"
        what = f"{said[:1].lower()}{said[1:]}"
        raise InvalidInput(f"it is no JSON: {what} at character {error.pos + 1}") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # an integer of thousands of digits
        raise InvalidInput("it is no JSON that can be stored: a number is too long") from None
    if _depth(parsed) > MAX_DEPTH:
        raise _too_deep()
    return parsed


def _depth(value: JsonValue) -> int:
    """Return the nesting depth of lists and objects, computed without recursion."""
    level: list[JsonValue] = [value]
    depth = 0
    while level:
        nested = [v for v in level if isinstance(v, list | dict)]
        depth += bool(nested)
        level = [item for v in nested for item in (v.values() if isinstance(v, dict) else v)]
    return depth


def _too_deep() -> InvalidInput:
    return InvalidInput(
        f"it is no JSON that can be stored: it is nested too deep, {MAX_DEPTH} levels are allowed"
    )


def _no_constant(name: str) -> NoReturn:
    raise InvalidInput(f"it is no JSON that can be stored: {name} is no JSON number")


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidInput(f"the key {key!r} comes twice")
        found[key] = value
    return found
