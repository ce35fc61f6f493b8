"""What the offline model does where a new memory stands beside one that says nearly the same.

It compares the two as the refusal shows them, and goes by what differs, the first that applies:

1. nothing but form: `no_action` duplicate
2. whom or what they are about: CREATE, UNRELATED, with both named as the reason
3. a value, or that one denies it: UPDATE, REPLACE, SUPERSEDES
4. next to nothing that is new, or but words that tell it: `no_action` duplicate
5. else UPDATE, EXTEND: no word of either is lost
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import JsonValue

from core.agent.offline.rules import Call, View, no_action, reason
from core.knowledge.duplicates import Evidence, Known, evidence

SAID_ALREADY = 0.75
TOLD_AGAIN = 0.5
_TELLS = re.compile(
    r"소요|걸[리립린려]|안내|알려|알리|말씀|설명|정도|보통|takes?$|lasts?$|tell", re.I
)
Data = dict[str, JsonValue]
Sides = tuple[tuple[str, ...], tuple[str, ...]]


def settle(view: View, content: str, hits: Sequence[JsonValue]) -> Call:
    """Give the call that follows where a new memory was refused because of near ones."""
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
    if not says_more and (found.held >= SAID_ALREADY or _repeats(found)):
        return no_action(view, "duplicate", "known", f"MEMORY {item_id}")
    return _update(item_id, content, reason(view, "adds", item_id), "EXTEND", "EXTENDS")


def _is_about_another(names: Sides, numbers: Sides) -> bool:
    """Tell whether each names somebody else, or one names somebody and the values differ."""
    return all(names) or (any(names) and all(numbers))


def _repeats(found: Evidence) -> bool:
    """Tell whether half is known, and nothing is new but words that merely tell it."""
    new, _ = _sides(found, "words")
    return found.held >= TOLD_AGAIN and all(map(_TELLS.match, new))


def _sides(found: Evidence, what: str) -> Sides:
    return next(((d.new, d.known) for d in found.differs if d.what == what), ((), ()))


def _create(content: str, why: str) -> Call:
    args: Data = {"operation": "CREATE", "content": content, "relationship": "UNRELATED"}
    return "commit_to_memory", args | {"reason": why}


def _update(item_id: str, content: str, why: str, mode: str, relationship: str) -> Call:
    args: Data = {"operation": "UPDATE", "memory_id": item_id, "content": content}
    how: Data = {"merge_mode": mode, "relationship": relationship, "reason": why}
    return "commit_to_memory", args | how
