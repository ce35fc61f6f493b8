"""What people changed in what we wrote, and what is theirs and stays out of our hands."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.delivery.files.blocks import (
    Chunk,
    chunks,
    digest,
    find_block,
    head_of,
    of_one_tenant,
    plain,
)
from core.delivery.files.outline import HEADINGS, Block, Whole
from core.delivery.files.record import Written, ours
from core.delivery.files.rendering import shown_id
from core.domain.errors import Refused
from core.domain.hashing import sha256
from core.domain.messages import Message
from core.domain.models import SkillFile


@dataclass(frozen=True)
class Edit:
    """A change by hand in a managed block or file.

    `diff` is from what would be written to what is there, `said` what it says, in words that can be
    fed back, one piece for each; nothing of a block that is gone.
    """

    path: str
    diff: str
    said: Sequence[str]


@dataclass(frozen=True)
class Place:
    """A path: what is there, what we wrote there before, and what is to be there.

    `others` is what other sources wrote to it, by their marks.
    """

    path: str
    mark: str
    file: SkillFile | None
    known: Written | None
    wanted: Block | Whole | None
    others: Mapping[str, Written] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether all of the file is an item's."""
        return self.known.key is not None if self.known else isinstance(self.wanted, Whole)

    @property
    def text(self) -> str | None:
        """The text that is there. Raises Refused if it is no UTF-8."""
        if self.file is None:
            return None
        try:
            return self.file.data.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused(Message("files.no_text", path=self.path)) from None


def edit_at(place: Place) -> Edit | None:
    """Return what was changed by hand; None if nothing was. Raises Refused for what is theirs."""
    if place.file is None:
        return None
    return _of_whole(place) if place.is_whole else _of_block(place)


def _of_whole(place: Place) -> Edit | None:
    assert place.file is not None
    data = place.file.data
    wanted = place.wanted.file.data if isinstance(place.wanted, Whole) else None
    found, written = sha256(data), {one.sha256 for one in place.others.values()}
    if data == wanted or (found in written and _is_shared(place)):
        return None
    if place.known is None:
        foreign = Message("files.foreign", path=place.path)
        taken = Message("files.taken", path=place.path)
        raise Refused(taken if found in written else foreign, hint=Message("files.hint_prefix"))
    if found in {place.known.sha256, *written}:
        return None
    diff = _diff(place.path, _shown(wanted), _shown(data))
    return Edit(place.path, diff, (f"{place.path} was changed by hand:\n\n{diff}",))


def found_at(place: Place) -> str:
    """Return the digest of a whole file that people had before us, "" if there was none."""
    if place.file is None or not isinstance(place.wanted, Whole):
        return ""
    if place.known is not None:
        return place.known.found
    if place.others:
        return next((one.found for one in place.others.values() if one.found), "")
    return sha256(place.file.data)


def _is_shared(place: Place) -> bool:
    """Whether all that other sources wrote to a path is the same item: a skill of their tenant."""
    if not isinstance(place.wanted, Whole):
        return False
    key = str(place.wanted.key)
    return all(
        one.key == key and of_one_tenant(mark, place.mark) for mark, one in place.others.items()
    )


def _shown(data: bytes | None) -> str:
    if data is None:
        return ""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return f"{len(data)} bytes, SHA-256 {sha256(data)}\n"


def _of_block(place: Place) -> Edit | None:
    text = place.text or ""
    wanted = place.wanted if isinstance(place.wanted, Block) else None
    found = find_block(place.path, text, place.mark)
    head = head_of(text).replace("\r\n", "\n")
    if wanted and wanted.head and head != wanted.head:
        if place.known is None:
            raise Refused(
                Message("files.foreign", path=place.path), hint=Message("files.hint_prefix")
            )
        if digest(head) != place.known.head:
            diff = _diff(place.path, wanted.head, head)
            return Edit(place.path, diff, (f"{place.path} was changed by hand:\n\n{diff}",))
    body = f"{wanted.body.rstrip()}\n" if wanted else ""
    there = found.body if found else ""
    if (place.known is None and not found) or there == body:
        return None
    if place.known is not None and digest(there) == place.known.sha256:
        return None
    # A block that is gone as a whole says nothing about what was in it.
    said = [*_said(place.path, there, place.known, wanted)] if found else []
    return Edit(place.path, _diff(place.path, body, there), said)


def _diff(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm=""
    )
    return "\n".join(lines)


def _said(path: str, body: str, known: Written | None, wanted: Block | None) -> Iterator[str]:
    """Yield what the edit of a block says: what it changes, adds, and takes away."""
    known = known or Written(sha256="")
    entries = {shown_id(key.id): text for key, text in (wanted.entries if wanted else {}).items()}
    lead = set((wanted.lead if wanted else "").splitlines()) | HEADINGS
    there = chunks(body)
    for chunk in there:
        if ours(chunk, known) or chunk.text in entries.values() or chunk.text.strip() in lead:
            continue
        before = entries.get(chunk.item_id or "")
        if before is None:
            yield f"{_plain(chunk)}\n\n(Added by hand in {path}.)"
        else:
            yield f"{_plain(chunk)}\n\n(Edited by hand in {path}, which said: {plain(before)})"
    left = {chunk.item_id for chunk in there}
    for item_id, text in entries.items():
        if item_id not in left and digest(text) in known.entries.values():
            yield f"This holds no longer, it was taken out of {path} by hand: {plain(text)}"


def _plain(chunk: Chunk) -> str:
    return plain(chunk.text).removeprefix("- ")
