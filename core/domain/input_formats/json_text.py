"""Strict JSON parsing for outside input, with error messages that say what to fix."""

from __future__ import annotations

import json
from typing import NoReturn, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from core.domain.errors import InvalidInput
from core.domain.input_formats.text import explain
from core.domain.messages import Message

MAX_DEPTH = 100
M = TypeVar("M", bound=BaseModel)


def parse_model(data: bytes, model: type[M]) -> M:
    """Parse JSON in UTF-8 as a model. Raises InvalidInput, which names the field."""
    try:
        return model.model_validate(parse_json(data.decode("utf-8-sig")))
    except UnicodeDecodeError:
        raise InvalidInput(Message("input.not_utf8")) from None
    except ValidationError as error:
        raise InvalidInput(explain(error)) from None


def parse_json(text: str) -> JsonValue:
    """Parse one JSON value. Raises InvalidInput, also for NaN and duplicate keys."""
    try:
        parsed: JsonValue = json.loads(
            text, parse_constant=_no_constant, object_pairs_hook=_unique_keys
        )
    except json.JSONDecodeError as error:
        said = error.msg.removesuffix(" at")  # only some of its messages end in " at"
        what = f"{said[:1].lower()}{said[1:]}"
        raise InvalidInput(Message("json.wrong", why=what, n=error.pos + 1)) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # an integer of thousands of digits
        raise InvalidInput(Message("json.number_long")) from None
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
    return InvalidInput(Message("json.too_deep", most=MAX_DEPTH))


def _no_constant(name: str) -> NoReturn:
    raise InvalidInput(Message("json.no_number", name=name))


def _unique_keys(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidInput(Message("json.key_twice", key=key))
        found[key] = value
    return found
