"""Decision rules: rows of DMN decision tables, edited one row at a time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from core.decision_table import draft_to_table, edit_xml, parse_xml, render_text, to_xml
from core.errors import AlreadyExists, Refused
from core.learning_committers.base import CommitDeps, ItemCommitter, new_item_id
from core.models import (
    ChangeRequest,
    Kind,
    KnowledgeItem,
    MergeMode,
    Operation,
    Prepared,
    Receipt,
    Relationship,
    RuleDraft,
    RuleRequest,
    Snapshot,
    SubmitContext,
)
from core.ports import Knowledge


async def commit_to_dmn_rule(
    agent_id: str,
    rule: RuleDraft | None = None,
    operation: Operation = Operation.CREATE,
    rule_id: str | None = None,
    merge_mode: MergeMode | None = None,
    relationship: Relationship | None = None,
    reason: str = "",
    *,
    deps: CommitDeps,
) -> Receipt:
    """Submit the creation, edit or deletion of a decision table to the change gate."""
    request = RuleRequest(
        operation=operation,
        target_id=rule_id,
        rule=rule or RuleDraft(),
        merge_mode=merge_mode,
        relationship=relationship,
        reason=reason,
    )
    return await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": agent_id}))


class DmnRuleCommitter(ItemCommitter):
    """Prepares decision tables; an edit leaves every row it does not name as it was."""

    def __init__(self, knowledge: Knowledge) -> None:
        super().__init__(Kind.DMN_RULE, knowledge)

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        """Make before and after of a rule request; see `core.ports.Committer`."""
        assert isinstance(request, RuleRequest)
        if request.operation is Operation.CREATE:
            return await self._create(request, context)
        item = await self._target(request, context)
        if request.operation is Operation.DELETE:
            return self._prepared(item, Operation.DELETE, None)
        return await self._edit(item, request, context)

    async def vet(self, prepared: Prepared, context: SubmitContext) -> None:
        """Refuse to restore a table whose name another one of the agent has by now."""
        if prepared.after is not None:
            await self._refuse_taken(prepared.after.name, context, but=prepared.target_id)

    async def _create(self, request: RuleRequest, context: SubmitContext) -> Prepared:
        table = draft_to_table(request.rule, new_row_id=_row_ids(context.key))
        await self._refuse_taken(table.name, context, but=None)
        rule_id = new_item_id("rule", context.key)
        xml = to_xml(table, decision_id=rule_id)
        return self._created(rule_id, Snapshot(content=xml, name=table.name))

    async def _edit(
        self, item: KnowledgeItem, request: RuleRequest, context: SubmitContext
    ) -> Prepared:
        row_ids = _row_ids(context.key)
        xml = edit_xml(item.content, request.rule, request.merge_mode, new_row_id=row_ids)
        table = parse_xml(xml)
        if not table.rows:
            raise Refused(
                f"the edit leaves {table.name!r} without a row",
                hint="use operation DELETE to remove the whole table",
            )
        await self._refuse_taken(table.name, context, but=item.id)
        return self._prepared(item, Operation.UPDATE, Snapshot(content=xml, name=table.name))

    async def _refuse_taken(self, name: str, context: SubmitContext, *, but: str | None) -> None:
        taken = await self._knowledge.find_rule(context.tenant_id, context.agent_id, name)
        if taken is not None and taken.id != but:
            raise AlreadyExists(
                f"a decision table named {taken.name!r} exists",
                item_id=taken.id,
                name=taken.name,
                content=render_text(parse_xml(taken.content)),
                hint=f"call again with operation UPDATE and rule_id {taken.id}",
            )


def _row_ids(key: str) -> Callable[[], str]:
    """Row ids that the same idempotency key always gives again."""
    numbers = count(1)
    return lambda: new_item_id("row", f"{key}#{next(numbers)}")
