"""Why a line was not taken, for the person who imports: receipts speak to a model (pure)."""

from __future__ import annotations

from core.intake.knowledge_line import KnowledgeLine
from core.learning_committers.base import new_item_id
from core.models import Receipt

_SAYS = {
    "same name": "has this name already",
    "same text": "says exactly this already",
}


def refusal(line: KnowledgeLine, receipt: Receipt, key: str) -> str:
    """Give the reason, with what to do to the line. Rows are named by their place in it."""
    if receipt.hits:
        hit = receipt.hits[0]
        says = _SAYS.get(hit.why, "says nearly this already")
        return (
            f"{hit.kind} {hit.id} {hit.name!r} {says}: change the line or take it out, or change "
            "that one first"
        )
    message = receipt.message
    rows = len(line.entry.rule.rows) if line.entry.rule else 0
    for place in range(1, 1 + rows):
        message = message.replace(f"'{new_item_id('row', f'{key}#{place}')}'", str(place))
    return message
