"""Hashes of targets, requests and names, keys of stored replies, tokens of tenants (pure)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import unicodedata
from datetime import UTC

from core.domain.models import UNBOUNDED, Change, ChangeRequest, Reach, RunEvent, Snapshot, Usage
from core.domain.text import normal_form

ABSENT = "absent"
_ADDED = ("valid_until", "endless", "scope", "user")
NAME_CHARS = 60
ID_CHARS = 16


def sha256(data: bytes) -> str:
    """Return the SHA-256 of `data`, in hex."""
    return hashlib.sha256(data).hexdigest()


def text_hash(text: str) -> str:
    """Return the SHA-256 of the UTF-8 bytes of `text`, in hex."""
    return sha256(text.encode("utf-8"))


def state_hash(state: Snapshot | None) -> str:
    """Return the hash of a target's state, `ABSENT` for None.

    For a skill this is the hash of the folder, the one the skill API expects in If-Match.
    """
    if state is None:
        return ABSENT
    if state.files is None:
        reach = "" if state.reach == UNBOUNDED else f"\0{_reach(state.reach)}"
        return text_hash(state.content + reach)
    files = sorted(state.files.items())
    return text_hash(
        "".join(f"{path}\0{int(ref.executable)}\0{ref.sha256}\n" for path, ref in files)
    )


def _reach(reach: Reach) -> str:
    until = reach.valid_until.astimezone(UTC).isoformat() if reach.valid_until else ""
    return "\0".join((until, reach.scope, reach.user or ""))


_OF_TENANT = "swt_"


def tenant_token(token: str, tenant_id: str) -> str:
    """Return the token that admits to one tenant, derived from that for all."""
    name = tenant_id.encode("utf-8", "surrogatepass")
    proof = hmac.digest(token.encode(), b"skill-worker tenant\0" + name, "sha256")
    return f"{_OF_TENANT}{_encoded(name)}.{_encoded(proof)}"


def tenant_of_token(given: bytes) -> str | None:
    """Return the tenant that a token names, right or wrong; None if it names none."""
    prefix, _, _ = given.partition(b".")
    if not prefix.startswith(_OF_TENANT.encode()):
        return None
    try:
        name = base64.urlsafe_b64decode(prefix.removeprefix(_OF_TENANT.encode()) + b"==")
        return name.decode("utf-8", "surrogatepass")
    except (binascii.Error, UnicodeDecodeError):
        return None


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def content_hash(change: Change) -> str:
    """Return the hash of what a change does: target, operation, base state, result and warnings.

    And to whom, where a skill is deleted that others list.
    """
    parts = (change.kind, change.target_id, change.operation, change.base_hash)
    whose = (lister.id for lister in change.listed_by)
    return text_hash("\0".join((*parts, state_hash(change.after), *change.warnings, *whose)))


def same_key(text: str) -> str:
    """Return the hash of the normal form of `text`; equal hashes mean duplicates."""
    return text_hash(normal_form(text))


def same_keys(text: str) -> tuple[str, ...]:
    """Return the keys a text may be stored under: rows of earlier versions folded all case."""
    return tuple({same_key(text): None, text_hash(normal_form(text.casefold())): None})


def memory_name(text: str) -> str:
    """Return a memory's name: its text on one line, shortened."""
    line = " ".join(text.split())
    return line if len(line) <= NAME_CHARS else line[: NAME_CHARS - 1] + "…"


def name_key(name: str) -> str:
    """Return the form in which names are compared: NFC, case and white space folded."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def request_digest(request: ChangeRequest) -> str:
    """Return the hash of a request: an idempotency key must always come with the same one.

    What was added to requests since counts only where it is set: the digests of runs that were
    under way at an upgrade stay as they are stored.
    """
    unset = {name for name in _ADDED if not getattr(request, name, None)}
    return text_hash(request.model_dump_json(exclude=unset))


def new_item_id(prefix: str, key: str) -> str:
    """Return the item id derived from an idempotency key: the same key yields the same id."""
    return f"{prefix}-{text_hash(key)[:ID_CHARS]}"


def matching_prefix(feedback_id: str) -> str:
    """Return the key prefix of the matcher's replies on a piece of feedback."""
    return f"match:{feedback_id}:"


def candidate_prefix(candidate_id: str) -> str:
    """Return the key prefix of all replies on a candidate, over all of its runs."""
    return f"{candidate_id}:"


def author_prefix(change_key: str) -> str:
    """Return the key prefix of the author's replies for a change."""
    return f"{change_key}:author"


def more_key(thread: str, handle: str) -> str:
    """Return the key under which a long answer of a tool is kept with its run."""
    return f"{thread}:more:{handle}"


def reply_event(key: str, ordinal: int, usage: Usage) -> RunEvent:
    """Return the event of a stored reply, for observers in this process."""
    spent = usage.model_dump(mode="json", include={"input_tokens", "output_tokens", "cost"})
    return RunEvent(name="reply.stored", data={"key": key, "ordinal": ordinal, **spent})


def pruned_key(feedback_id: str) -> str:
    """Return the key of the row that sums the cost of the pruned replies on a piece."""
    return f"{matching_prefix(feedback_id)}pruned"
