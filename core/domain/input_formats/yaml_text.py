"""YAML files that people write by hand: each problem with its line, field and the nearest name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from core.domain.input_formats.text import explain_one
from core.domain.messages import Message, joined

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_BYTES = 1_000_000
_ALIKE = 0.6
_M = TypeVar("_M", bound=BaseModel)
Place = tuple[int | str, ...]


def read_yaml_file(path: Path) -> str:
    """Return the text of a file. Raises ValueError with the reason if it cannot be read."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(Message("file.has_more", most=MAX_BYTES))
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(Message("input.not_utf8")) from None
    except OSError as error:
        raise ValueError(Message("file.it_unreadable", why=error)) from None


def model_of_yaml(model: type[_M], text: str, *, may_be_empty: bool = False) -> _M:
    """Parse a text as a model. Raises ValueError with all problems, each with line and field."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
        twice = [] if root is None else [*_repeated(root)]
    except yaml.YAMLError as error:
        raise ValueError(Message("yaml.wrong", why=" ".join(str(error).split()))) from None
    except RecursionError:
        raise ValueError(Message("yaml.nested")) from None
    if root is None and may_be_empty:
        return model()
    if root is None or not isinstance(data, dict):
        raise ValueError(Message("policy.no_mapping"))
    if twice:
        raise ValueError(joined(twice))
    try:
        return model.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False)
        raise ValueError(joined(_told(model, root, one) for one in found)) from None


def _repeated(node: yaml.Node) -> Iterator[Message]:
    """Yield each key that stands twice in one mapping: the first would be lost silently."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated(item)
    if not isinstance(node, yaml.MappingNode):
        return
    seen: set[str] = set()
    for key, value in node.value:
        name = str(key.value)
        if name in seen:
            twice = Message("yaml.twice", name=name)
            yield Message("yaml.at_line", n=key.start_mark.line + 1, why=twice)
        seen.add(name)
        yield from _repeated(value)


def _told(model: type[BaseModel], root: yaml.Node, detail: ErrorDetails) -> Message:
    place = detail["loc"]
    why = explain_one(detail)
    if detail["type"] == "extra_forbidden":
        unknown = _unknown(str(place[-1]), sorted(_keys(model, place[:-1])))
        why = Message("field.of_pydantic", field=".".join(map(str, place)), why=unknown)
    elif not place:
        why = Message("field.of_pydantic", field=Message("field.whole"), why=why)
    return Message("yaml.at_line", n=_line(root, place), why=why)


def _unknown(name: str, known: Sequence[str]) -> Message:
    near = get_close_matches(name, known, n=1, cutoff=_ALIKE)
    if near:
        return Message("yaml.unknown_near", name=name, near=near[0])
    return Message("yaml.unknown", name=name, known=", ".join(known))


def _line(root: yaml.Node, place: Place) -> int:
    """Return the line of a place, or of the innermost part of it that stands in the text."""
    node, line = root, 1
    for part in place:
        found = _within(node, part)
        if found is None:
            break
        line, node = found
    return line


def _within(node: yaml.Node, part: int | str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        item = node.value[part]
        return item.start_mark.line + 1, item
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if str(key.value) == str(part):
                return key.start_mark.line + 1, value
    return None


def _keys(model: type[BaseModel], place: Place) -> set[str]:
    """Return the names that a mapping at a place may have."""
    models = [model]
    for part in place:
        inner = [
            found
            for one in models
            for name, kind in fields_of(one).items()
            if name == part
            for found in models_in(kind)
        ]
        models = inner or models
    return {name for one in models for name in fields_of(one)}


def fields_of(model: type[BaseModel]) -> Mapping[str, object]:
    """Return the fields of a model with their types, by the names they have in a file."""
    fields = model.model_fields.items()
    return {field.alias or name: field.annotation for name, field in fields}


def models_in(kind: object) -> Iterator[type[BaseModel]]:
    """Yield the models in a type: itself, or those of its items or values."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for part in get_args(kind):
        yield from models_in(part)
