"""What no call may contain, whatever its route: unknown parameters, text that cannot be stored."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from http import HTTPStatus

from fastapi import HTTPException, Request

from core.domain.errors import InvalidInput
from core.domain.input_formats.text import of_field, text_problem
from core.domain.messages import Message

MOST_DEEP = 100
# What makes a second look at the body worthwhile: an escape of a lone surrogate or of NUL, a
# number that is NaN or may overflow, or enough brackets to be nested too deep.
_SUSPICIOUS = re.compile(rb"\\u0000|\\u[dD][89a-fA-F]|NaN|Infinity|\d[eE]\+?\d{3}|\d{300}")
_BODILESS = frozenset({"GET", "HEAD"})


async def plain_request(request: Request) -> None:
    """Refuse a call that contains what no route accepts. Raises InvalidInput."""
    for name, value in request.path_params.items():
        _see_text(f"path.{name}", str(value))
    known = _known_query(request)
    for name, value in request.query_params.multi_items():
        if name not in known:
            there = (
                Message("query.there_are", known=", ".join(sorted(known)))
                if known
                else Message("query.takes_none")
            )
            raise InvalidInput(Message("query.unknown", name=name), hint=there)
        _see_text(f"query.{name}", value)
    if request.method not in _BODILESS:  # awaiting an absent body costs turns of the event loop
        _see_body(await request.body())


def _known_query(request: Request) -> frozenset[str]:
    """Return the parameters that the route's own description names."""
    names: dict[str, frozenset[str]] = request.app.state.query_names
    return names.get(request.scope["route"].name, frozenset())


def _see_text(where: str, text: str) -> None:
    problem = text_problem(text)
    if problem:
        raise InvalidInput(of_field(where, problem))


def _see_body(body: bytes) -> None:
    # The framework also reads UTF-16 and UTF-32, in which the pattern finds nothing.
    if b"\0" in body:
        raise HTTPException(HTTPStatus.BAD_REQUEST, Message("body.no_utf8"))
    nested = body.count(b"[") + body.count(b"{")
    if nested <= MOST_DEEP and not _SUSPICIOUS.search(body):
        return
    try:
        value: object = json.loads(body)
    except RecursionError:
        raise InvalidInput(Message("body.deep", most=MOST_DEEP)) from None
    except ValueError:
        return  # the route itself refuses what is not JSON
    for part, depth in _parts(value):
        if depth > MOST_DEEP:
            raise InvalidInput(Message("body.deep", most=MOST_DEEP))
        if isinstance(part, str):
            _see_text("body", part)
        elif isinstance(part, float) and not math.isfinite(part):
            raise InvalidInput(Message("body.number"))


def _parts(value: object) -> Iterator[tuple[object, int]]:
    """Yield every part of a JSON value, keys included, with its depth."""
    waiting = [(value, 0)]
    while waiting:
        part, depth = waiting.pop()
        yield part, depth
        if depth > MOST_DEEP:
            continue
        if isinstance(part, dict):
            waiting += [(inner, depth + 1) for pair in part.items() for inner in pair]
        elif isinstance(part, list):
            waiting += [(inner, depth + 1) for inner in part]
