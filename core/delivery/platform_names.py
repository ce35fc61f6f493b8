"""The section `platform:` of skill-worker.yaml: what the platform calls its tables and columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from core.domain.messages import Message
from core.domain.models.base import Model

Table = Literal[
    "users", "tenants", "agent_skills", "agent_knowledge_history", "proc_def", "proc_def_version"
]
# Our name of each column is the platform's by default. Those that rows are found by come first.
KEYS: Mapping[str, tuple[str, ...]] = {
    "users": ("id", "tenant_id"),
    "tenants": ("id",),
    "agent_skills": ("user_id", "tenant_id", "skill_name"),
    "agent_knowledge_history": ("id",),
    "proc_def": ("id", "tenant_id"),
    "proc_def_version": ("uuid", "proc_def_id", "tenant_id"),
}
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "users": (*KEYS["users"], "skills"),
    "tenants": (*KEYS["tenants"], "skills"),
    "agent_skills": KEYS["agent_skills"],
    "agent_knowledge_history": (
        *KEYS["agent_knowledge_history"], "knowledge_type", "knowledge_id", "knowledge_name",
        "agent_id", "tenant_id", "operation", "previous_content", "new_content",
        "feedback_content", "created_at",
    ),
    "proc_def": (
        *KEYS["proc_def"], "name", "definition", "bpmn", "uuid", "isdeleted", "owner", "type",
        "prod_version",
    ),
    "proc_def_version": (
        *KEYS["proc_def_version"], "arcv_id", "version", "version_tag", "snapshot", "timeStamp",
        "diff", "message", "parent_version",
    ),
}  # fmt: skip
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]


class TableNames(Model):
    """What the platform calls a table and its columns, where that is not what we call them.

    A column of None is not written.
    """

    table: Name | None = None
    columns: Mapping[str, Name | None] = {}


def _known(names: Mapping[Table, TableNames | None]) -> Mapping[Table, TableNames | None]:
    """Return the names. Raises ValueError for a column that the table does not have."""
    for table, given in names.items():
        for column, named in (given.columns if given else {}).items():
            if column not in COLUMNS[table]:
                known = ", ".join(COLUMNS[table])
                raise ValueError(
                    Message("platform.no_column", table=table, column=column, known=known)
                )
            if named is None and column in KEYS[table]:
                raise ValueError(Message("platform.key_column", table=table, column=column))
    return names


PlatformNames = Annotated[Mapping[Table, TableNames | None], AfterValidator(_known)]
TABLES: tuple[Table, ...] = get_args(Table)


def table_name(names: PlatformNames, table: str) -> str | None:
    """Return what the platform calls a table; None if it is not to be written."""
    given = names.get(table, TableNames())  # type: ignore[call-overload]
    return None if given is None else given.table or table


def column_name(names: PlatformNames, table: str, column: str) -> str | None:
    """Return what the platform calls a column; None if it is not to be written."""
    given = names.get(table)  # type: ignore[call-overload]
    return given.columns.get(column, column) if given else column
