"""A skill's files to and from JSON: text as text, the rest as base64, lossless (pure)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from pydantic import JsonValue

from core.domain.errors import InvalidInput
from core.domain.input_formats.text import of_field, text_problem
from core.domain.messages import Message
from core.domain.models import SKILL_MD, SkillFile
from core.domain.models.base import Model


class FileEntry(Model):
    """One file: `text` in UTF-8, or `base64`. SKILL.md needs neither: its text is the content."""

    text: str | None = None
    base64: str | None = None
    executable: bool = False


def folder_of(document: str, files: Mapping[str, FileEntry]) -> dict[str, SkillFile]:
    """Build a skill folder from the text of SKILL.md and its other files.

    Raises InvalidInput. Whether such a skill is acceptable is for the gate to decide.
    """
    head = files.get(SKILL_MD, FileEntry())
    if head.text is not None or head.base64 is not None:
        raise InvalidInput(Message("input.document_twice", file=SKILL_MD))
    folder = {SKILL_MD: SkillFile(data=document.encode(), executable=head.executable)}
    others = {path: entry for path, entry in files.items() if path != SKILL_MD}
    return folder | {path: _file(path, entry) for path, entry in others.items()}


def files_to_json(folder: Mapping[str, SkillFile]) -> dict[str, JsonValue]:
    """Return all files but SKILL.md by path, in the form that `folder_of` accepts."""
    entries: dict[str, JsonValue] = {}
    for path in sorted(folder):
        bit: dict[str, JsonValue] = {"executable": True} if folder[path].executable else {}
        if path != SKILL_MD:
            entries[path] = _content(folder[path].data) | bit
        elif bit:
            entries[path] = bit
    return entries


def _content(data: bytes) -> dict[str, JsonValue]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if text_problem(text):
        return {"base64": base64.b64encode(data).decode("ascii")}
    return {"text": text}


def _file(path: str, entry: FileEntry) -> SkillFile:
    if (entry.text is None) == (entry.base64 is None):
        raise InvalidInput(Message("input.file_content", path=path))
    if entry.text is not None:
        if problem := text_problem(path + entry.text):
            raise InvalidInput(of_field(f"files.{path}.text", problem))
        return SkillFile(data=entry.text.encode(), executable=entry.executable)
    try:
        data = base64.b64decode(entry.base64 or "", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput(Message("input.no_base64", path=path)) from None
    return SkillFile(data=data, executable=entry.executable)
