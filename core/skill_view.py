"""How a skill is shown to the model that edits it: whole where there is room (pure)."""

from __future__ import annotations

from pydantic import JsonValue

from core.fair_share import fair_shares
from core.models import SKILL_MD, Bundle
from core.prompt_data import shorten
from core.skill_document.markdown import has_too_many_lines, headings

# In characters: more than any good skill has, and what models can read.
DOCUMENT_CHARS = 120_000
FILE_CHARS = 20_000
ALL_CHARS = 240_000
_HEADINGS = 200
_HEADING_CHARS = 120


def shown_files(bundle: Bundle) -> dict[str, JsonValue]:
    """Give a skill's files by path: text, of long ones the beginning and the headings.

    A binary file is shown as its size in bytes. An edit of what was not shown would be a guess;
    with the headings there is still something to add to.
    """
    texts = {
        path: text for path in sorted(bundle.files) if (text := _text(bundle, path)) is not None
    }
    order = sorted(texts, key=lambda path: path != SKILL_MD)
    rooms = [_most(path, texts[path]) for path in order]
    document = rooms[0] if order[:1] == [SKILL_MD] else 0
    others = rooms[1:] if document else rooms
    shares = fair_shares(others, ALL_CHARS - document)
    room = dict(zip(order, [document, *shares] if document else shares, strict=True))
    return {
        path: _shown(texts[path], room[path])
        if path in texts
        else {"binary": True, "bytes": len(bundle.files[path].data)}
        for path in sorted(bundle.files)
    }


def _text(bundle: Bundle, path: str) -> str | None:
    try:
        return bundle.files[path].data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _most(path: str, text: str) -> int:
    return min(len(text), DOCUMENT_CHARS if path == SKILL_MD else FILE_CHARS)


def _shown(text: str, room: int) -> JsonValue:
    if len(text) <= room:
        return text
    known = [] if has_too_many_lines(text) else headings(text)
    found = [shorten(heading.text, _HEADING_CHARS) for heading in known]
    return {
        "cut": True,
        "characters": len(text),
        "begins": text[:room],
        "headings": [*found[:_HEADINGS]],
    }
