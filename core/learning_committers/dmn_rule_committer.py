"""Decision rules: rows of DMN decision tables, edited one row at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count

from core.decision_table import parse_xml, render_text
from core.decision_table.learning.learn import Learnt, learn_document, learn_edit, learn_table
from core.domain.errors import AlreadyExists, NearDuplicate, Refused, RuleInvalid
from core.domain.hashing import name_key, new_item_id
from core.domain.messages import Message
from core.domain.models import (
    ChangeRequest,
    DecisionTable,
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
from core.domain.models.cases import CaseBody
from core.domain.ports import Knowledge, Search
from core.knowledge.duplicates.rules import Beside, beside
from core.learning_committers.base import (
    CommitDeps,
    ItemCommitter,
    said_of_near,
    says_unrelated,
    snapshot,
)

NEAR_SCORE = 0.9  # same columns, other rows: shown as near, never as equal


async def commit_to_dmn_rule(
    agent_id: str,
    rule: RuleDraft | None = None,
    operation: Operation = Operation.CREATE,
    rule_id: str | None = None,
    merge_mode: MergeMode | None = None,
    relationship: Relationship | None = None,
    reason: str = "",
    *,
    cases: Sequence[CaseBody] = (),
    deps: CommitDeps,
) -> Receipt:
    """Submit the creation, edit or deletion of a decision table to the change gate."""
    request = RuleRequest(
        operation=operation,
        target_id=None if operation is Operation.CREATE else rule_id,
        rule=rule or RuleDraft(),
        merge_mode=merge_mode,
        relationship=relationship,
        reason=reason,
        cases=tuple(cases),
    )
    return await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": agent_id}))


class DmnRuleCommitter(ItemCommitter):
    """Prepare decision tables; an edit leaves every row it does not name unchanged.

    A problem of a table is refused only if the change introduces it. Checks of large tables take
    long, so they run in a thread.
    """

    def __init__(self, knowledge: Knowledge, search: Search) -> None:
        super().__init__(Kind.DMN_RULE, knowledge)
        self._search = search

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        assert isinstance(request, RuleRequest)
        if request.operation is Operation.CREATE:
            return await self._create(request, context)
        item = await self._target(request, context)
        if request.operation is Operation.DELETE:
            return self._prepared(item, Operation.DELETE, None)
        return await self._edit(item, request, context)

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Prepared:
        """Refuse to restore a table whose name another of the agent's tables has taken."""
        if prepared.after is not None:
            await self._refuse_taken(prepared.after.name, context, but=prepared.target_id)
        return prepared

    async def _create(self, request: RuleRequest, context: SubmitContext) -> Prepared:
        rule_id = await self._new_id(request, context, "rule")
        learnt = await asyncio.to_thread(_new, request, context, rule_id)
        # Read before the tables, so that recording compares with any that are added from now on.
        seen = await self._newest(context)
        same, similar = await self._beside(learnt.table, context)
        if same is not None and not _is_twin(same, learnt.table, request):
            return self._prepared(same, Operation.UPDATE, snapshot(same))
        await self._refuse_taken(learnt.table.name, context, but=None)
        warnings = learnt.warnings
        if beside := same or similar:
            warnings += (_stands_beside(beside, request, context),)
        prepared = self._created(rule_id, _state(learnt))
        mark = None if request.is_import else seen
        return prepared.model_copy(update={"warnings": warnings, "seen": mark})

    async def _edit(
        self, item: KnowledgeItem, request: RuleRequest, context: SubmitContext
    ) -> Prepared:
        learnt = await asyncio.to_thread(_edited, item, request, context)
        _refuse_duplicate(item, learnt, request)
        await self._refuse_taken(learnt.table.name, context, but=item.id)
        prepared = self._prepared(item, Operation.UPDATE, _state(learnt))
        return prepared.model_copy(update={"warnings": learnt.warnings})

    async def _newest(self, context: SubmitContext) -> int:
        nearby = await self._search.near(
            "",
            tenant_id=context.tenant_id,
            agent_id=context.agent_id,
            kind=Kind.DMN_RULE,
            limit=0,
        )
        return nearby.seen

    async def _beside(
        self, table: DecisionTable, context: SubmitContext
    ) -> tuple[KnowledgeItem | None, KnowledgeItem | None]:
        """Return the agent's table that states all of this, or else the most similar one."""
        items = await self._knowledge.list(
            tenant_id=context.tenant_id, agent_id=context.agent_id, kind=Kind.DMN_RULE
        )
        found = await asyncio.to_thread(_compared, table, items)
        best = max(found, key=lambda pair: (pair[1].exact, pair[1].stated), default=None)
        if best is None:
            return None, None
        return (best[0], None) if best[1].exact else (None, best[0])

    async def _refuse_taken(self, name: str, context: SubmitContext, *, but: str | None) -> None:
        taken = await self._knowledge.find_named(
            Kind.DMN_RULE, context.tenant_id, context.agent_id, name
        )
        if taken is not None and taken.id != but:
            raise AlreadyExists(
                Message("near.table_named_so", name=taken.name),
                item_id=taken.id,
                name=taken.name,
                content=render_text(parse_xml(taken.content)),
                hint=Message("near.hint_update_rule", id=taken.id),
            )


def _refuse_duplicate(item: KnowledgeItem, learnt: Learnt, request: RuleRequest) -> None:
    """Raise Refused for a change of a table that is said to be the same."""
    if request.relationship is Relationship.DUPLICATE and learnt.xml != item.content:
        raise Refused(
            Message(
                "near.no_duplicate",
                kind=Kind.DMN_RULE,
                id=item.id,
                name=item.name,
                why=Message("near.changes_table"),
            ),
            hint=Message("near.hint_relationship"),
        )


def _new(request: RuleRequest, context: SubmitContext, rule_id: str) -> Learnt:
    if request.document:
        return learn_document(request.document, None)
    row_ids, feedback_id = _row_ids(context.key), context.feedback_id
    return learn_table(request.rule, rule_id=rule_id, new_row_id=row_ids, feedback_id=feedback_id)


def _edited(item: KnowledgeItem, request: RuleRequest, context: SubmitContext) -> Learnt:
    if not request.document:
        return learn_edit(
            item.content,
            request.rule,
            request.merge_mode,
            new_row_id=_row_ids(context.key),
            feedback_id=context.feedback_id,
        )
    if request.merge_mode not in (None, MergeMode.REPLACE):
        raise Refused(
            Message("rule.whole_document", mode=request.merge_mode),
            hint=Message("rule.ask_replace"),
        )
    return learn_document(request.document, item.content)


def _compared(
    table: DecisionTable, items: Sequence[KnowledgeItem]
) -> list[tuple[KnowledgeItem, Beside]]:
    """Return the items whose table has the same columns; unreadable ones are skipped."""
    found = []
    for item in items:
        with suppress(RuleInvalid):
            if (how := beside(table, parse_xml(item.content))) is not None:
                found.append((item, how))
    return found


def _is_twin(same: KnowledgeItem, table: DecisionTable, request: RuleRequest) -> bool:
    """Whether an equal table is deliberately requested under another name."""
    return says_unrelated(request) and name_key(same.name) != name_key(table.name)


def _stands_beside(similar: KnowledgeItem, request: RuleRequest, context: SubmitContext) -> str:
    """Return the warning of a table created beside one of the same columns.

    Raises NearDuplicate unless the request says UNRELATED, and names or was shown that table.
    """
    is_known = context.shown is None or similar.id in context.shown or similar.id in request.reason
    if says_unrelated(request) and is_known:
        told = said_of_near(request)
        return Message("near.same_columns", name=similar.name, id=similar.id, told=told)
    raise NearDuplicate(
        Message("near.rows_belong_in_table", name=similar.name),
        item_id=similar.id,
        name=similar.name,
        content=render_text(parse_xml(similar.content)),
        hint=Message("near.hint_rows", id=similar.id),
        why=Message("near.columns"),
        score=NEAR_SCORE,
    )


def _state(learnt: Learnt) -> Snapshot:
    return Snapshot(content=learnt.xml, name=learnt.table.name)


def _row_ids(key: str) -> Callable[[], str]:
    """Return a generator of row ids, deterministic in the idempotency key."""
    numbers = count(1)
    return lambda: new_item_id("row", f"{key}#{next(numbers)}")
