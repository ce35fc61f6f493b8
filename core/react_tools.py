"""The tools of the ReAct agent: read tools return hits, write tools submit to the change gate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Protocol, TypeVar

from langchain.agents import AgentState
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, Field, JsonValue, create_model

from core.agent.loop import known_already
from core.agent.loop import tool_args as given
from core.agent.loop.comparing import analysed
from core.agent.loop.deps import RunContext, RunDeps, tool_called
from core.agent.loop.middleware import (
    call_key,
    cases_told_in,
    hits_shown_in,
    receipts_of,
)
from core.agent.loop.prompt import QUERY_CHARS, hit_data
from core.agent.model.chat_model import ToolSchema, prompt_sections, tool_schema
from core.decision_table import parse_xml
from core.decision_table.learning.cases import case_data
from core.domain.errors import InvalidInput, KeyReused, NotFound, Refused, SkillWorkerError, Stale
from core.domain.hashing import more_key
from core.domain.kinds import Kinds, TextKind
from core.domain.messages import Message
from core.domain.models import (
    NO_USAGE,
    Bundle,
    Hit,
    Kind,
    KnowledgeItem,
    Receipt,
    ReceiptStatus,
    SubmitContext,
)
from core.domain.models.base import Model
from core.domain.models.moments import last_moment
from core.domain.ports import Knowledge, SkillStore
from core.domain.text import Part, compact, shorten
from core.learning_committers.agent_skills_committer import (
    attach_skills_to_agent,
    detach_skills_from_agent,
)
from core.learning_committers.base import CommitDeps, split_names
from core.learning_committers.dmn_rule_committer import commit_to_dmn_rule
from core.learning_committers.kind_committer import commit_to_kind
from core.learning_committers.memory_committer import commit_to_memory
from core.learning_committers.skill_committer import commit_to_skill

FILE_CHARS = 400_000
ANSWER_CHARS = 16_000  # of an answer that the model is given at once; the rest by `read_more`


class Readable(Protocol):
    """Where what is known is read from."""

    @property
    def knowledge(self) -> Knowledge:
        """Memories and tables."""

    @property
    def skills(self) -> SkillStore:
        """Skills."""


async def read_detail(kind: Kind, item_id: str, tenant_id: str, *, deps: Readable) -> JsonValue:
    """Return an item as data, or `{"status": "not_found"}`."""
    missing: JsonValue = {"status": "not_found", "kind": kind, "id": item_id}
    if kind is Kind.SKILL:
        bundle = await deps.skills.read(item_id, tenant_id)
        return _skill(bundle) if bundle else missing
    try:
        item = await deps.knowledge.get(kind, tenant_id, item_id)
    except NotFound:
        return missing
    return _rule(item) if kind is Kind.DMN_RULE else _memory(item)


def _memory(item: KnowledgeItem) -> JsonValue:
    reach = item.reach.model_dump(mode="json", exclude_defaults=True)
    return {**_head(item), **reach, "content": item.content}


def _rule(item: KnowledgeItem) -> JsonValue:
    table: JsonValue = parse_xml(item.content).model_dump(mode="json")
    return {**_head(item), "table": table, "cases": case_data(item.content)}


def _head(item: KnowledgeItem) -> dict[str, JsonValue]:
    return {
        "id": item.id,
        "kind": item.kind,
        "name": item.name,
        "agent_id": item.agent_id,
        "version": item.version,
    }


def _skill(bundle: Bundle) -> JsonValue:
    return {"id": bundle.name, "kind": Kind.SKILL, "files": skill_files(bundle, FILE_CHARS)}


def skill_files(bundle: Bundle, file_chars: int) -> dict[str, JsonValue]:
    """Return a skill's files: text cut at `file_chars`, or the size in bytes of a binary one."""
    return {path: _file(bundle.files[path].data, file_chars) for path in sorted(bundle.files)}


def _file(data: bytes, file_chars: int) -> JsonValue:
    try:
        return shorten(data.decode("utf-8"), file_chars)
    except UnicodeDecodeError:
        return {"binary": True, "bytes": len(data)}


Answer = Receipt | Part | JsonValue
A = TypeVar("A", bound=Model)
_Runtime = ToolRuntime[RunContext, AgentState[None]]
# Errors the model can correct. Any other (a dependency down, the lease lost) aborts the turn.
_FOR_THE_MODEL = (InvalidInput, Refused, NotFound, Stale, KeyReused)


def denied_writes(agent_id: str, feedback_content: str, *, deps: RunDeps) -> given.Denied:
    """Return what the policy refuses of this run whatever it says: why, by tool and operation."""
    context = _Tools(agent_id, feedback_content, deps).context("", frozenset())
    denies = deps.shared.denies
    return given.denied_writes(lambda *asked: denies(context, *asked), deps.shared.kinds)


def offered_schemas(denied: given.Denied, kinds: Kinds = ()) -> Sequence[ToolSchema]:
    """Return the schemas of the tools that are offered, with the operations that are."""
    schemas = react_tool_schemas(kinds)
    if not denied:
        return schemas
    named = zip(given.arguments(kinds), schemas, strict=True)
    return [
        given.without(schema, denied.get(tool, {}))
        for tool, schema in named
        if not given.is_whole(tool, denied)
    ]


def create_react_tools(
    agent_id: str, feedback_content: str, *, deps: RunDeps, denied: given.Denied | None = None
) -> list[StructuredTool]:
    """Return the tools of one run, ten less those of which all is `denied`.

    They close over agent and feedback. Each kind that a package adds has one more.
    """
    tools = _Tools(agent_id, feedback_content, deps)
    kinds = deps.shared.kinds
    args = given.arguments(kinds)
    made = [
        tools.reading(given.knowing(given.SearchArgs, kinds), tools.search_similar_knowledge),
        tools.reading(given.knowing(given.DetailArgs, kinds), tools.get_knowledge_detail),
        tools.reading(given.knowing(given.ConflictArgs, kinds), tools.analyze_knowledge_conflict),
        tools.reading(given.MoreArgs, tools.read_more),
        tools.writing(given.MemoryArgs, tools.commit_to_memory),
        tools.writing(given.RuleArgs, tools.commit_to_dmn_rule),
        tools.writing(given.SkillArgs, tools.commit_to_skill),
        tools.writing(given.AttachArgs, tools.attach_skills_to_agent),
        tools.writing(given.DetachArgs, tools.detach_skills_from_agent),
        *(tools.of_kind(args[given.tool_of(kind)], kind) for kind in kinds),
        tools.ending(given.NoActionArgs, tools.no_action),
    ]
    return [tool for tool in made if not given.is_whole(tool.name, denied or {})]


def stand_in_tools(kinds: Kinds = ()) -> list[BaseTool]:
    """Return the tools of the graph shared by all runs; each delegates to the run's own.

    `create_agent` compiles its tools into the graph, while a run's tools close over its agent and
    feedback; the stand-ins find the run's own in its context, so that one graph serves all runs.
    """
    about = _about(kinds)
    return [_stand_in(name, args, about[name]) for name, args in given.arguments(kinds).items()]


def _about(kinds: Kinds) -> Mapping[str, str]:
    """Return the descriptions of the tools by name."""
    return {**prompt_sections("tools"), **{given.tool_of(kind): kind.about for kind in kinds}}


def _stand_in(name: str, args: type[Model], about: str) -> BaseTool:
    async def call(runtime: _Runtime, **values: object) -> ToolMessage:
        own = runtime.context.tools[name].coroutine
        assert own is not None
        message: ToolMessage = await own(runtime=runtime, **values)
        return message

    return _structured(name, args, call, about)


def _structured(
    name: str, args: type[Model], call: Callable[..., Awaitable[ToolMessage]], about: str
) -> StructuredTool:
    return StructuredTool(
        name=name,
        description=about,
        args_schema=_with_runtime(args),
        coroutine=call,
    )


def react_tool_schemas(kinds: Kinds = ()) -> tuple[ToolSchema, ...]:
    """Return the tool schemas shown to the model, the same for every run."""
    about, named = _about(kinds), given.arguments(kinds).items()
    return tuple(tool_schema(args, name, about[name]) for name, args in named)


@lru_cache
def _with_runtime(args: type[Model]) -> type[Model]:
    """Add the `runtime` field through which LangGraph injects it: extra fields are forbidden."""
    runtime = (Annotated[object, InjectedToolArg()], Field(default=None, exclude=True))
    return create_model(args.__name__, __base__=args, runtime=runtime)  # type: ignore[arg-type]


class _Tools:
    """The tools of one run; each public coroutine is named after its tool."""

    def __init__(self, agent_id: str, feedback_content: str, deps: RunDeps) -> None:
        self._agent_id = agent_id
        self._feedback_content = feedback_content
        self._run = deps
        self._deps = deps.shared
        self._tenant_id = deps.feedback.tenant_id

    def reading(self, args: type[A], use: Callable[[A], Awaitable[Answer]]) -> StructuredTool:
        """Wrap a read-only tool."""
        return self._tool(use.__name__, args, lambda values, *_: use(values))

    def of_kind(self, args: type[Model], kind: TextKind[BaseModel]) -> StructuredTool:
        """Return the tool that submits an item of a kind that a package adds."""
        argument = Kind(kind.name).argument

        async def use(values: Model, deps: CommitDeps) -> Receipt:
            said = values.model_dump(mode="json", include={"content"})["content"]
            asked = given.KindArgs.model_validate(values.model_dump(exclude={"content", argument}))
            item_id: str | None = getattr(values, argument)
            given.needs_target(asked.operation, item_id, argument)
            return await commit_to_kind(
                Kind(kind.name),
                self._agent_id,
                said or {},
                item_id=item_id,
                **dict(asked),
                deps=deps,
            )

        use.__name__ = given.tool_of(kind)
        return self.writing(args, use)

    def writing(
        self, args: type[A], use: Callable[[A, CommitDeps], Awaitable[Answer]]
    ) -> StructuredTool:
        """Wrap a tool that submits to the change gate under the key of the call."""

        def submit(values: A, key: str, messages: Sequence[BaseMessage]) -> Awaitable[Answer]:
            context = self.context(key, hits_shown_in(messages), cases_told_in(messages))
            return use(values, CommitDeps(gate=self._deps.gate, context=context))

        return self._tool(use.__name__, args, submit)

    def ending(
        self, args: type[A], use: Callable[[A, Sequence[BaseMessage]], Awaitable[Answer]]
    ) -> StructuredTool:
        """Wrap the tool that ends a run, which looks at what the run was told."""
        return self._tool(use.__name__, args, lambda values, _, messages: use(values, messages))

    def _tool(
        self,
        name: str,
        args: type[A],
        use: Callable[[A, str, Sequence[BaseMessage]], Awaitable[Answer]],
    ) -> StructuredTool:
        async def call(runtime: _Runtime, **values: object) -> ToolMessage:
            messages = runtime.state["messages"]
            key = call_key(self._run.candidate.thread, messages, runtime.tool_call_id)
            status = None
            try:
                answer = await use(args.model_validate(values), key, messages)
            except _FOR_THE_MODEL as error:
                answer = _refusal(error)
                status = "invalid" if isinstance(error, InvalidInput) else None
            message = _message(await self._bounded(answer, key), name, runtime.tool_call_id or "")
            await tool_called(self._run, name, key, status or message.status, _failure(answer))
            return message

        return _structured(name, args, call, _about(self._deps.kinds)[name])

    async def _bounded(self, answer: Answer, key: str) -> Answer:
        """Return an answer that fits, or its first part; the whole is then kept with the run.

        Its handle is the place of the call in the thread, so that no other run can read it.
        """
        if isinstance(answer, Receipt | Part):
            return answer
        text = compact(answer)
        if len(text) <= ANSWER_CHARS:
            return answer
        thread = self._run.candidate.thread
        handle = key.removeprefix(f"{thread}:")
        await self._deps.replies.put(
            more_key(thread, handle), 0, text, NO_USAGE, tenant_id=self._tenant_id
        )
        return _part(text, handle, 0)

    async def read_more(self, args: given.MoreArgs) -> Part:
        """Return the next part of an answer that was cut. Raises NotFound, InvalidInput."""
        stored = await self._deps.replies.get(more_key(self._run.candidate.thread, args.handle), 0)
        if stored is None:
            raise NotFound(Message("more.no_handle", handle=args.handle))
        text = str(stored[0])
        if args.offset >= len(text):
            raise InvalidInput(Message("more.past_end", n=len(text)))
        return _part(text, args.handle, args.offset)

    async def search_similar_knowledge(self, args: given.SearchArgs) -> JsonValue:
        """Return the ranked hits."""
        kind = None if args.knowledge_type == "ALL" else Kind(args.knowledge_type)
        hits = await self._search(args.content, kind, args.limit)
        return {"hits": [hit_data(hit) for hit in hits]}

    async def get_knowledge_detail(self, args: given.DetailArgs) -> JsonValue:
        """Return one item in full."""
        kind = Kind(args.knowledge_type)
        return await read_detail(kind, args.knowledge_id, self._tenant_id, deps=self._deps)

    async def analyze_knowledge_conflict(self, args: given.ConflictArgs) -> JsonValue:
        """Return what code can prove about how a text relates to known items."""
        kind = Kind(args.knowledge_type)
        ids = split_names(args.knowledge_ids)
        if not ids:
            ids = tuple(hit.id for hit in await self._search(args.content, kind, 5))
        return await analysed(kind, args.content, ids, self._tenant_id, deps=self._deps)

    async def commit_to_memory(self, args: given.MemoryArgs, deps: CommitDeps) -> Receipt:
        """Submit a memory."""
        given.needs_target(args.operation, args.memory_id, "memory_id")
        endless = (args.valid_until or "").strip().lower() == "none"
        return await commit_to_memory(
            self._agent_id,
            args.content,
            args.operation,
            args.memory_id,
            args.merge_mode,
            args.relationship,
            args.reason,
            args.part,
            None if endless else self._until(args.valid_until),
            args.scope,
            args.user,
            endless=endless,
            cases=args.cases,
            deps=deps,
        )

    async def commit_to_dmn_rule(self, args: given.RuleArgs, deps: CommitDeps) -> Receipt:
        """Submit a decision table."""
        given.needs_target(args.operation, args.rule_id, "rule_id")
        return await commit_to_dmn_rule(
            self._agent_id,
            args.rule,
            args.operation,
            args.rule_id,
            args.merge_mode,
            args.relationship,
            args.reason,
            cases=args.cases,
            deps=deps,
        )

    async def commit_to_skill(self, args: given.SkillArgs, deps: CommitDeps) -> Receipt:
        """Submit a skill, to be written by the author."""
        given.needs_target(args.operation, args.skill_id, "skill_id")
        return await commit_to_skill(
            self._agent_id,
            operation=args.operation,
            skill_id=args.skill_id,
            feedback_content=self._feedback_content,
            merge_mode=args.merge_mode,
            relationship_analysis=args.relationship_analysis,
            related_skill_ids=args.related_skill_ids,
            relationship=args.relationship,
            reason=args.reason,
            for_all=args.for_all,
            cases=args.cases,
            deps=deps,
        )

    async def attach_skills_to_agent(self, args: given.AttachArgs, deps: CommitDeps) -> Receipt:
        """Submit the addition of existing skills to the agent's list."""
        return await attach_skills_to_agent(self._agent_id, args.skill_ids, args.reason, deps=deps)

    async def detach_skills_from_agent(self, args: given.DetachArgs, deps: CommitDeps) -> Receipt:
        """Submit the removal of skills from the agent's list."""
        return await detach_skills_from_agent(
            self._agent_id, args.skill_ids, args.reason, deps=deps
        )

    async def no_action(self, args: given.NoActionArgs, messages: Sequence[BaseMessage]) -> Receipt:
        """End the run with nothing learnt.

        What is called known although the item differs is refused once, and then on record.
        """
        reason = args.reason
        if args.category == known_already.DUPLICATE:
            text = self._run.candidate.content
            claim = known_already.Claim(text, reason, self._tenant_id, self._agent_id)
            unlike = await known_already.unlike(claim, self._deps)
            if unlike is not None and not known_already.was_refused(receipts_of(messages)):
                return known_already.refused(unlike)
            reason = known_already.although(reason, unlike) if unlike else reason
        return Receipt(status=ReceiptStatus.NO_ACTION, message=reason, category=args.category)

    def _until(self, given: str | None) -> datetime | None:
        """Return the last moment of a day or a time. Raises InvalidInput."""
        if given is None:
            return None
        try:
            return last_moment(given, self._deps.zone)
        except ValueError as error:
            why = Message("field.wrong", field="valid_until", why=error.args[0])
            raise InvalidInput(why, hint=Message("memory.hint_until")) from None

    async def _search(self, query: str, kind: Kind | None, limit: int) -> list[Hit]:
        hits = await self._deps.search.search(
            shorten(query, QUERY_CHARS),
            tenant_id=self._tenant_id,
            agent_id=self._agent_id,
            kind=kind,
            limit=limit,
            user=self._run.feedback.author,
        )
        return [*hits]

    def context(
        self, key: str, shown: frozenset[str], told: frozenset[str] = frozenset()
    ) -> SubmitContext:
        """Return on whose behalf the run writes, under a key."""
        return SubmitContext(
            key=key,
            tenant_id=self._tenant_id,
            agent_id=self._agent_id,
            feedback_id=self._run.feedback.id,
            feedback_content=self._feedback_content,
            candidate_content=self._run.candidate.content,
            fence=self._run.fence,
            shown=shown,
            told=told,
            said_at=self._run.feedback.said_at,
            heard_at=self._run.feedback.created_at,
            author=self._run.feedback.author,
            source=self._run.feedback.source,
            roles=frozenset(self._run.feedback.roles),
        )


def _refusal(error: SkillWorkerError) -> Receipt:
    return Receipt(status=ReceiptStatus.REFUSED, message=error.sentences)


def _failure(answer: Answer) -> str | None:
    if not isinstance(answer, Receipt) or answer.status.is_outcome:
        return None
    return answer.message


def _part(text: str, handle: str, offset: int) -> Part:
    end = min(offset + ANSWER_CHARS, len(text))
    return Part(text[offset:end], handle, offset, len(text) - end)


def _message(answer: Answer, name: str, call_id: str) -> ToolMessage:
    """Return an answer as a message; a receipt is also its artifact, read for the verdict."""
    if isinstance(answer, Part):
        return ToolMessage(str(answer), tool_call_id=call_id, name=name)
    if not isinstance(answer, Receipt):
        return ToolMessage(compact(answer), tool_call_id=call_id, name=name)
    return ToolMessage(
        answer.model_dump_json(exclude_none=True, exclude_defaults=True),
        tool_call_id=call_id,
        name=name,
        artifact=answer.model_dump(mode="json", exclude_none=True),
        status="success" if answer.status.is_outcome else "error",
    )
