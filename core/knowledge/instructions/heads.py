"""The heads of rule files: for which files a rule is, in the notations of three tools (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.text import one_line
from core.skills.document.markdown import lines_of

_FENCE = re.compile(r"---[ \t]*")
# Cursor writes patterns without quotes, which YAML reads as an alias, a tag or a mapping.
_BARE = re.compile(r"^(?P<key>globs|paths|applyTo):[ \t]+(?P<value>[*!{?@%&][^\n]*?)[ \t]*$", re.M)
_BARE_ITEM = re.compile(r"^(?P<lead>[ \t]*-[ \t]+)(?P<value>[*!{?@%&][^\n]*?)[ \t]*$", re.M)
_EVERYTHING = frozenset(("*", "**", "**/*"))
_MOST = 20
_LONGEST = 200
_MOST_CHARS = 8_000


@dataclass(frozen=True)
class Reach:
    """When a file's instructions apply: to files that match `globs`, or for what `about` says."""

    globs: tuple[str, ...] = ()
    about: str = ""


def split_head(text: str) -> tuple[str, str]:
    """Split a text into what stands in its head and the rest, whose line numbers stay.

    Raises InvalidInput if the head has no end.
    """
    lines = lines_of(text)
    if not lines or not _FENCE.fullmatch(lines[0].strip("\r\n")):
        return "", text
    for at, line in enumerate(lines[1:], 1):
        if _FENCE.fullmatch(line.strip("\r\n")):
            return "".join(lines[1:at]), "\n" * (at + 1) + "".join(lines[at + 1 :])
    raise InvalidInput(Message("instructions.head_open"))


def reach_of(head: str, field: str) -> Reach:
    """Return when the instructions under a head apply; `field` holds its patterns.

    Raises InvalidInput with the line of the file for what is no such head.
    """
    values = _values(head)
    if values.get("alwaysApply") is True:
        return Reach()
    globs = tuple(_globs(values.get(field), field))
    about = values.get("description") if field == "globs" else None
    if about is not None and not isinstance(about, str):
        raise InvalidInput(Message("instructions.no_text", field="description"))
    return Reach(globs, "" if globs else one_line(about or "").strip()[:_LONGEST])


def _values(head: str) -> Mapping[str, object]:
    # PyYAML takes seconds for thousands of brackets.
    if len(head) > _MOST_CHARS or head.count("[") + head.count("{") > _MOST_CHARS // 20:
        raise InvalidInput(Message("instructions.head_large", most=_MOST_CHARS))
    try:
        found = yaml.safe_load(_BARE_ITEM.sub(_quoted_item, _BARE.sub(_quoted, head)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        why = " ".join(filter(None, (error.problem, error.context)))
        line = mark.line + 2 if mark else 1  # the head begins in the file's second line
        raise InvalidInput(Message("instructions.bad_head", n=line, why=why)) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        why = type(error).__name__
        raise InvalidInput(Message("instructions.bad_head", n=1, why=why)) from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InvalidInput(Message("instructions.bad_head", n=2, why="no mapping"))
    return {str(key): value for key, value in found.items()}


def _quoted(found: re.Match[str]) -> str:
    return f"{found['key']}: '{_doubled(found['value'])}'"


def _quoted_item(found: re.Match[str]) -> str:
    return f"{found['lead']}'{_doubled(found['value'])}'"


def _doubled(value: str) -> str:
    return value.replace("'", "''")


def _globs(given: object, field: str) -> Iterator[str]:
    if given is None or given == "":
        return
    items = given if isinstance(given, list) else [given]
    texts = [item for item in items if isinstance(item, str)]
    if len(texts) < len(items):
        raise InvalidInput(Message("instructions.no_text", field=field))
    globs = [one_line(glob) for text in texts for glob in _parts(text)]
    if len(globs) > _MOST or any(len(glob) > _LONGEST for glob in globs):
        said = Message("instructions.many_globs", field=field, most=_MOST, chars=_LONGEST)
        raise InvalidInput(said)
    if not _EVERYTHING & set(globs):
        yield from dict.fromkeys(globs)


def _parts(text: str) -> Iterator[str]:
    """Yield the patterns of a list with commas; those in braces belong to a pattern."""
    depth, part = 0, ""
    for char in text + ",":
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            if part.strip():
                yield part.strip()
            part, depth = "", 0
        else:
            part += char
    if part.strip(" ,"):
        yield part.strip(" ,")
