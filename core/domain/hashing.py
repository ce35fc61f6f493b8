"""Hashes that tell whether a target still is what a change was prepared against (pure)."""

from __future__ import annotations

import hashlib
import unicodedata

from core.domain.models import Change, ChangeRequest, Snapshot
from core.domain.text import normal_form

ABSENT = "absent"
NAME_CHARS = 60
ID_CHARS = 16


def sha256(data: bytes) -> str:
    """SHA-256 of `data`, in hex."""
    return hashlib.sha256(data).hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 of the UTF-8 bytes of `text`, in hex."""
    return sha256(text.encode("utf-8"))


def state_hash(state: Snapshot | None) -> str:
    """Hash of a target's state, `ABSENT` for none.

    For a skill it is the hash of the folder, the same that the skill API carries in If-Match.
    """
    if state is None:
        return ABSENT
    if state.files is None:
        return text_hash(state.content)
    files = sorted(state.files.items())
    return text_hash(
        "".join(f"{path}\0{int(ref.executable)}\0{ref.sha256}\n" for path, ref in files)
    )


def content_hash(change: Change) -> str:
    """Hash of what a change does, to which target, from which state, and what is warned of."""
    parts = (change.kind, change.target_id, change.operation, change.base_hash)
    return text_hash("\0".join((*parts, state_hash(change.after), *change.warnings)))


def same_key(text: str) -> str:
    """Hash of the normal form of `text`: equal means a duplicate."""
    return text_hash(normal_form(text))


def memory_name(text: str) -> str:
    """The name of a memory: its text as one line, cut short."""
    line = " ".join(text.split())
    return line if len(line) <= NAME_CHARS else line[: NAME_CHARS - 1] + "…"


def name_key(name: str) -> str:
    """The form under which names are compared: NFC, case and white space folded."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def request_digest(request: ChangeRequest) -> str:
    """Hash of a request: the same idempotency key must come with the same digest."""
    return text_hash(request.model_dump_json())


def new_item_id(prefix: str, key: str) -> str:
    """An id that the same idempotency key always gives again."""
    return f"{prefix}-{text_hash(key)[:ID_CHARS]}"
