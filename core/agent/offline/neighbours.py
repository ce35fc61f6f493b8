"""What the offline model does with a new memory that was refused beside a near one.

It compares the two as shown in the refusal, and acts on the first difference that applies:

1. only form: `no_action` duplicate
2. whom or what they are about: CREATE, UNRELATED, naming both in the reason
3. a value, or a negation: UPDATE, REPLACE, SUPERSEDES
4. hardly anything new, or only verbs of telling: `no_action` duplicate
5. else UPDATE, EXTEND: no word of either is lost
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import JsonValue

from core.agent.offline.rules import Call, View, no_action, reason
from core.knowledge.duplicates import Evidence, Known, evidence

SAID_ALREADY = 0.75  # share of the new text that the known one has: nothing to add
TOLD_AGAIN = 0.5  # enough if all new words are verbs of telling
_TELLS = re.compile(
    r"소요|걸[리립린려]|안내|알려|알리|말씀|설명|정도|보통|takes?$|lasts?$|tell", re.I
)
Data = dict[str, JsonValue]
Sides = tuple[tuple[str, ...], tuple[str, ...]]


def settle(view: View, content: str, hits: Sequence[JsonValue]) -> Call:
    """Return the call that follows the refusal of a memory beside near ones."""
    hit, ids = hits[0], ", ".join(str(hit["id"]) for hit in hits if isinstance(hit, dict))
    assert isinstance(hit, dict)
    item_id = str(hit["id"])
    found = evidence(content, Known(item_id, str(hit["name"]), str(hit["excerpt"])))
    names, numbers, denials = (_sides(found, what) for what in ("name", "number", "negation"))
    if found.is_exact:
        return no_action(view, "duplicate", "known", f"MEMORY {item_id}")
    if _is_about_another(names, numbers):
        about = f"{', '.join(names[0])} / {', '.join(names[1])}".strip(" /")
        return _create(content, reason(view, "unrelated", f"{ids}: {about}"))
    if all(numbers) or any(denials):
        why = reason(view, "near_memory", item_id)
        return _update(item_id, content, why, "REPLACE", "SUPERSEDES")
    says_more = names[0] or numbers[0]
    if not says_more and (found.contained >= SAID_ALREADY or _repeats(found)):
        return no_action(view, "duplicate", "known", f"MEMORY {item_id}")
    return _update(item_id, content, reason(view, "adds", item_id), "EXTEND", "EXTENDS")


def _is_about_another(names: Sides, numbers: Sides) -> bool:
    """Whether each names someone else, or one names someone and the values differ."""
    return all(names) or (any(names) and all(numbers))


def _repeats(found: Evidence) -> bool:
    """Whether half is known and all new words are verbs of telling."""
    new, _ = _sides(found, "words")
    return found.contained >= TOLD_AGAIN and all(map(_TELLS.match, new))


def _sides(found: Evidence, what: str) -> Sides:
    return next(((d.new, d.known) for d in found.differs if d.what == what), ((), ()))


def _create(content: str, why: str) -> Call:
    args: Data = {"operation": "CREATE", "content": content, "relationship": "UNRELATED"}
    return "commit_to_memory", args | {"reason": why}


def _update(item_id: str, content: str, why: str, mode: str, relationship: str) -> Call:
    args: Data = {"operation": "UPDATE", "memory_id": item_id, "content": content}
    how: Data = {"merge_mode": mode, "relationship": relationship, "reason": why}
    return "commit_to_memory", args | how
