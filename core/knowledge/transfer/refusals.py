"""Why a line was refused: what stands in its way, with rows numbered as in the line (pure)."""

from __future__ import annotations

from core.domain.hashing import new_item_id
from core.domain.input_formats.knowledge import KnowledgeLine
from core.domain.messages import Message
from core.domain.models import Receipt

_SAYS = {
    "same name": Message("import.same_name"),
    "same text": Message("import.same_text"),
}


def refusal(line: KnowledgeLine, receipt: Receipt, key: str) -> str:
    """Return why a line was refused and what to do about it. Rows are numbered as in the line."""
    if receipt.hits:
        hit = receipt.hits[0]
        says = _SAYS.get(hit.why, Message("import.near"))
        return Message("import.beside", kind=hit.kind, id=hit.id, name=hit.name, says=says)
    message = receipt.message
    rows = len(line.entry.rule.rows) if line.entry.rule else 0
    for number in range(1, 1 + rows):
        message = _numbered(message, new_item_id("row", f"{key}#{number}"), number)
    return message


def _numbered(text: str, row_id: str, number: int) -> str:
    """Return a text with the number of a row for its id in quotes."""
    if not isinstance(text, Message):
        return text.replace(f"'{row_id}'", str(number))
    english, parameters = text.english, dict(text.parameters)
    for name, value in text.parameters.items():
        if value == row_id:
            english = english.replace(f"'{{{name}}}'", f"{{{name}}}")
            parameters[name] = number
        elif isinstance(value, str):
            parameters[name] = _numbered(value, row_id, number)
    return Message.of(text.code, english, parameters)
