"""Changes and their records in the history, as rows."""

from __future__ import annotations

from tests.support.seeding import AT, DAY, Row


def change(change_id: str, **more: object) -> Row:
    row: dict[str, object] = {
        "id": change_id, "key": change_id, "tenant_id": "t", "agent_id": "a", "kind": "MEMORY",
        "target_id": "m", "operation": "CREATE", "status": "applied", "created_at": AT,
        "applied_at": AT, "origin": "AGENT", "said_at": AT, "heard_at": AT,
        "after": {"content": "x", "name": "x"},
    }  # fmt: skip
    return "changes", row | more


def history(change_id: str, number: int, **more: object) -> Row:
    row: dict[str, object] = {
        "id": f"h{number}", "tenant_id": "t", "knowledge_type": "SKILL", "knowledge_id": "pay",
        "knowledge_name": "pay", "operation": "UPDATE", "status": "applied", "agent_id": "a",
        "change_id": change_id, "created_at": AT + number * DAY, "feedback_id": f"f{number}",
        "feedback_content": f"words {number}", "previous_content": "old", "new_content": "new",
    }  # fmt: skip
    return "history", row | more
