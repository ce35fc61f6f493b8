"""The new text of a memory: put in place of the old, added to it, or in place of a part (pure)."""

from __future__ import annotations

import re
import unicodedata

from core.errors import Refused
from core.knowledge_conflicts import held_part, normal_form
from core.models import MemoryRequest, MergeMode, Operation

# A whole new text that keeps less of what the old one tells is no refinement of it.
KEPT = 0.5
SHOWN_CHARS = 2_000


def new_text(request: MemoryRequest) -> str:
    """Give the content of a request, without what Unicode counts as white space around it.

    Within the text every character stays. Raises Refused.
    """
    text = request.content.strip()
    if not text:
        raise Refused("the memory has no content", hint="say what is to be remembered")
    if request.part and request.operation is Operation.CREATE:
        raise Refused("a new memory has no part to refine", hint="leave `part` out with CREATE")
    return text


def merged(old: str, request: MemoryRequest) -> str:
    """Give the text that an UPDATE makes of the old one.

    EXTEND keeps every character of the old; REFINE all but the part it names; REPLACE, or none,
    puts the new text in its place. Raises Refused.
    """
    new = new_text(request)
    mode = request.merge_mode
    if request.part.strip():
        if mode not in (None, MergeMode.REFINE):
            raise Refused(
                f"`part` says what REFINE changes; it does not go with {mode}",
                hint="use merge_mode REFINE, or leave `part` out",
            )
        return _refined(old, request.part, new)
    if mode is MergeMode.EXTEND:
        return _extended(old, new)
    if mode is MergeMode.REFINE:
        _refuse_loss(old, new)
    return new


def _extended(old: str, new: str) -> str:
    if new.startswith(old):
        return new
    return old if normal_form(new) in normal_form(old) else f"{old}\n{new}"


def _refined(old: str, part: str, new: str) -> str:
    places = list(_pattern(part).finditer(old))
    if len(places) != 1:
        where = "is not in the memory" if not places else f"stands there {len(places)} times"
        raise Refused(
            f"the part {part.strip()!r} {where}",
            hint=f"give words that stand there exactly once; it says: {old[:SHOWN_CHARS]!r}",
        )
    return old[: places[0].start()] + new + old[places[0].end() :]


def _pattern(part: str) -> re.Pattern[str]:
    """Match a part whatever the white space between its words and their Unicode normal form."""
    return re.compile(r"\s+".join(_either_form(word) for word in part.split()))


def _either_form(word: str) -> str:
    composed, decomposed = (
        unicodedata.normalize("NFC", word),
        unicodedata.normalize("NFD", word),
    )
    return f"(?:{re.escape(composed)}|{re.escape(decomposed)})"


def _refuse_loss(old: str, new: str) -> None:
    kept = held_part(old, new)
    if kept < KEPT:
        raise Refused(
            f"this keeps {kept:.0%} of what the memory says, which is no REFINE",
            hint="name the `part` that changes, or use REPLACE if all of it is superseded; it "
            f"says: {old[:SHOWN_CHARS]!r}",
        )
