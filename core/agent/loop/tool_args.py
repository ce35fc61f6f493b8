"""Arguments of the ReAct agent's tools (contracts, section 2), and what of them may be denied."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar, cast, get_args

from pydantic import BeforeValidator, Field, JsonValue, WithJsonSchema, create_model

from core.agent.model.chat_model import ToolSchema
from core.domain.errors import InvalidInput
from core.domain.kinds import Kinds, TextKind
from core.domain.messages import Message, joined
from core.domain.models import Kind, MergeMode, Operation, Relationship, RuleDraft, Scope
from core.domain.models.base import Model, absent
from core.domain.models.cases import CaseBody, Check

Category = Literal["noise", "duplicate", "one_off", "unclear"]
StoredKind = Literal["MEMORY", "DMN_RULE", "SKILL"]
A = TypeVar("A", bound=Model)


def _upper(value: JsonValue) -> JsonValue:
    return value.strip().upper() if isinstance(value, str) else value


def _lower(value: JsonValue) -> JsonValue:
    return value.strip().lower() if isinstance(value, str) else value


def _optional_lower(value: JsonValue) -> JsonValue:
    return _lower(_optional(value))


def _optional(value: JsonValue) -> JsonValue:
    """Return None for a blank text, which models send to omit an argument."""
    return None if isinstance(value, str) and not value.strip() else value


def _optional_upper(value: JsonValue) -> JsonValue:
    upper = _upper(_optional(value))
    return MergeMode.EXTEND if upper == "MERGE" else upper


def _joined(value: JsonValue) -> JsonValue:
    """Join a list, which models send in place of a comma-separated text."""
    if isinstance(value, list):
        return ",".join(str(part) for part in value)
    return "" if value is None else value


Op = Annotated[Operation, BeforeValidator(_upper)]
Id = Annotated[str | None, BeforeValidator(_optional)]
Mode = Annotated[MergeMode | None, BeforeValidator(_optional_upper)]
Relation = Annotated[Relationship | None, BeforeValidator(_optional_upper)]
Names = Annotated[str, BeforeValidator(_joined)]
Reason = Annotated[str, Field(description="why, in one or two sentences for a reviewer")]


def _listed(value: JsonValue | tuple[CaseBody, ...]) -> JsonValue | tuple[CaseBody, ...]:
    """Return cases as a list: models also send one alone, or the list as a text."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ValueError(Message("case.no_json", why=str(error))) from None
    if not value:
        return []
    if isinstance(value, tuple):  # of cases that LangChain has read already
        return value
    return [_checked(one) for one in (value if isinstance(value, list) else [value])]


def _checked(case: JsonValue) -> JsonValue:
    if not isinstance(case, dict):
        return case
    check = case.get("check", "decision" if "inputs" in case else None)
    told: dict[str, JsonValue] = {name: part for name, part in case.items() if part is not None}
    return {**told, "check": _lower(check)} if check is not None else told


def _shown(checks: Sequence[Check], *texts: str, **fields: JsonValue) -> dict[str, JsonValue]:
    """Return the schema of the cases of a kind: only what they may have."""
    properties: dict[str, JsonValue] = {"check": {"enum": [*checks]}, **fields}
    properties |= {name: {"type": "string"} for name in texts}
    items: JsonValue = {"type": "object", "properties": properties, "required": ["check"]}
    about = "what must hold after it, and may not have held before: see section 4"
    return {"type": "array", "items": items, "description": about}


_OF_MEMORY = _shown((Check.RECALL, Check.SILENCE, Check.UNSAID), "text")
_OF_RULE = _shown((Check.DECISION,), inputs={"type": "object"}, outputs={})
_OF_SKILL = _shown(
    (Check.CHOSEN, Check.NOT_CHOSEN, Check.STANDS, Check.WITHDRAWN, Check.SCRIPT),
    *("text", "section", "of", "input", "output"),
)
_Listed = BeforeValidator(_listed)
MemoryCases = Annotated[tuple[CaseBody, ...], _Listed, WithJsonSchema(_OF_MEMORY)]
RuleCases = Annotated[tuple[CaseBody, ...], _Listed, WithJsonSchema(_OF_RULE)]
SkillCases = Annotated[tuple[CaseBody, ...], _Listed, WithJsonSchema(_OF_SKILL)]


class SearchArgs(Model):
    """Arguments of `search_similar_knowledge`."""

    content: str = Field(min_length=1, description="what to look for")
    knowledge_type: Annotated[
        Literal["ALL", "MEMORY", "DMN_RULE", "SKILL"], BeforeValidator(_upper)
    ] = "ALL"
    limit: int = Field(default=8, ge=1, le=50)


class DetailArgs(Model):
    """Arguments of `get_knowledge_detail`."""

    knowledge_type: Annotated[StoredKind, BeforeValidator(_upper)]
    knowledge_id: str = Field(min_length=1, description="the hit's id; a skill's is its name")


class ConflictArgs(Model):
    """Arguments of `analyze_knowledge_conflict`."""

    content: str = Field(
        min_length=1,
        description="the new knowledge as you would commit it; of a rule its `rule` as JSON",
    )
    knowledge_type: Annotated[StoredKind, BeforeValidator(_upper)]
    knowledge_ids: Names = Field(default="", description="ids, separated by commas")


class MoreArgs(Model):
    """Arguments of `read_more`."""

    handle: str = Field(min_length=1, max_length=40, description="as the cut answer gives it")
    offset: int = Field(ge=0, description="where to go on, as the cut answer gives it")


class MemoryArgs(Model):
    """Arguments of `commit_to_memory`."""

    content: str = Field(default="", description="the memory's text; empty only with DELETE")
    operation: Op
    memory_id: Id = Field(default=None, description="needed for UPDATE and DELETE")
    merge_mode: Mode = None
    part: str = Field(
        default="",
        description="with REFINE: the words of the old text that `content` takes the place of, "
        "exactly as they stand there",
    )
    valid_until: Id = Field(
        default=None,
        description="where the feedback says how long it holds: the last day (`2026-05-31`) or a "
        "time with its zone; `none` removes the end of a known one",
    )
    scope: Annotated[Scope | None, BeforeValidator(_optional_lower)] = Field(
        default=None,
        description="for whom it is: `agent` (default), `user` (one end user) or `tenant` (all)",
    )
    user: Id = Field(
        default=None, description="only with scope `user`: the end user's id; default the author"
    )
    relationship: Relation = None
    cases: MemoryCases = Field(default=(), exclude_if=absent)
    reason: Reason


class RuleArgs(Model):
    """Arguments of `commit_to_dmn_rule`."""

    rule: RuleDraft = Field(default=RuleDraft(), description="left out only with DELETE")
    operation: Op
    rule_id: Id = Field(default=None, description="needed for UPDATE and DELETE")
    merge_mode: Mode = None
    relationship: Relation = None
    cases: RuleCases = Field(default=(), exclude_if=absent)
    reason: Reason


class SkillArgs(Model):
    """Arguments of `commit_to_skill`: no content, the author writes it."""

    operation: Op
    skill_id: Id = Field(default=None, description="the skill's name; needed but for CREATE")
    merge_mode: Mode = None
    relationship: Relation = None
    relationship_analysis: str = Field(
        default="", description="for the author: what to keep, what to change, where"
    )
    related_skill_ids: Names = Field(default="", description="names, separated by commas")
    for_all: bool = Field(
        default=False, description="with DELETE: for all agents that list it; a person decides"
    )
    cases: SkillCases = Field(default=(), exclude_if=absent)
    reason: Reason


class AttachArgs(Model):
    """Arguments of `attach_skills_to_agent`."""

    skill_ids: Names = Field(min_length=1, description="names of skills, separated by commas")
    reason: Reason


class DetachArgs(Model):
    """Arguments of `detach_skills_from_agent`."""

    skill_ids: Names = Field(min_length=1, description="names of skills, separated by commas")
    reason: Reason


class NoActionArgs(Model):
    """Arguments of `no_action`."""

    reason: Reason
    category: Annotated[Category, BeforeValidator(_lower)]


class KindArgs(Model):
    """Arguments of the write tool of a kind that a package adds, less its id and its content."""

    operation: Op
    merge_mode: Annotated[
        MergeMode | None,
        BeforeValidator(_optional_upper),
        Field(description="with UPDATE: REPLACE writes over the whole item"),
    ] = None
    relationship: Relation = None
    reason: Reason


ARGUMENTS: dict[str, type[Model]] = {
    "search_similar_knowledge": SearchArgs,
    "get_knowledge_detail": DetailArgs,
    "analyze_knowledge_conflict": ConflictArgs,
    "read_more": MoreArgs,
    "commit_to_memory": MemoryArgs,
    "commit_to_dmn_rule": RuleArgs,
    "commit_to_skill": SkillArgs,
    "attach_skills_to_agent": AttachArgs,
    "detach_skills_from_agent": DetachArgs,
    "no_action": NoActionArgs,
}


def tool_of(kind: TextKind[Any]) -> str:
    """Return the name of a kind's write tool."""
    return f"commit_to_{kind.name.lower()}"


@lru_cache
def arguments(kinds: Kinds) -> Mapping[str, type[Model]]:
    """Return the arguments of all tools by name, with those of the kinds that packages add."""
    if not kinds:
        return ARGUMENTS
    made = {name: knowing(args, kinds) for name, args in ARGUMENTS.items()}
    ending = made.popitem()  # `no_action` comes last
    return made | {tool_of(kind): _args_of(kind) for kind in kinds} | dict([ending])


def knowing(args: type[A], kinds: Kinds) -> type[A]:
    """Return arguments of which `knowledge_type` may be one of these kinds too."""
    if not kinds or "knowledge_type" not in args.model_fields:
        return args
    return cast("type[A]", _knowing(args, kinds))


@lru_cache
def _knowing(args: type[Model], kinds: Kinds) -> type[Model]:
    known = args.model_fields["knowledge_type"]
    names: Any = (*get_args(known.annotation), *(kind.name for kind in kinds))
    default: Any = ... if known.is_required() else known.default
    also: Any = Annotated[Literal[names], BeforeValidator(_upper)]
    made: type[Model] = create_model(args.__name__, __base__=args, knowledge_type=(also, default))
    return made


def _args_of(kind: TextKind[Any]) -> type[Model]:
    known = Field(default=None, description="needed for UPDATE and DELETE")
    content = Field(default=None, description="the whole item; left out only with DELETE")
    fields = {
        "content": (kind.content | None, content),
        Kind(kind.name).argument: (Id, known),
    }
    made: type[Model] = create_model(f"{kind.name}Args", __base__=KindArgs, **fields)  # type: ignore[call-overload]
    return made


# What the writing tools write, and how.
_WRITTEN: Mapping[str, tuple[Kind, tuple[Operation, ...]]] = {
    "commit_to_memory": (Kind.MEMORY, tuple(Operation)),
    "commit_to_dmn_rule": (Kind.DMN_RULE, tuple(Operation)),
    "commit_to_skill": (Kind.SKILL, tuple(Operation)),
    "attach_skills_to_agent": (Kind.AGENT_SKILLS, (Operation.UPDATE,)),
    "detach_skills_from_agent": (Kind.AGENT_SKILLS, (Operation.UPDATE,)),
}
Denied = Mapping[str, Mapping[Operation, str]]


def _written(kinds: Kinds) -> Mapping[str, tuple[Kind, tuple[Operation, ...]]]:
    own = {tool_of(kind): (Kind(kind.name), tuple(Operation)) for kind in kinds}
    return {**_WRITTEN, **own} if own else _WRITTEN


def denied_writes(denies: Callable[[Kind, Operation], str | None], kinds: Kinds = ()) -> Denied:
    """Return what may not be written whatever it says: why, by tool and operation."""
    found: dict[str, dict[Operation, str]] = {}
    for tool, (kind, operations) in _written(kinds).items():
        for operation in operations:
            if why := denies(kind, operation):
                found.setdefault(tool, {})[operation] = why
    return found


def denied_in_words(denied: Denied) -> Mapping[str, str]:
    """Return why tools, or operations of tools, are not offered, as the model is told."""
    told: dict[str, str] = {}
    for tool, operations in denied.items():
        if is_whole(tool, denied):
            told[tool] = joined(dict.fromkeys(operations.values()))
        else:
            told |= {f"{tool} {operation}": why for operation, why in operations.items()}
    return told


def offered(denied: Denied, kinds: Kinds = ()) -> list[str]:
    """Return the tools that are left to a run."""
    return [tool for tool in arguments(kinds) if not is_whole(tool, denied)]


def is_whole(tool: str, denied: Denied) -> bool:
    """Whether nothing is left that a tool may do."""
    operations = _WRITTEN[tool][1] if tool in _WRITTEN else tuple(Operation)
    return tool in denied and len(denied[tool]) == len(operations)


def without(schema: ToolSchema, operations: Collection[str]) -> ToolSchema:
    """Return a tool's schema that does not offer these operations."""
    if not operations:
        return schema
    made = deepcopy(schema)
    offered: Any = made["function"]
    offered = offered["parameters"]["properties"]["operation"]
    offered["enum"] = [one for one in offered["enum"] if one not in operations]
    return made


def needs_target(operation: Operation, target: str | None, argument: str) -> None:
    """Raise InvalidInput for a change of something known that does not say of what."""
    if operation is not Operation.CREATE and not target:
        raise InvalidInput(
            Message("call.needs", operation=operation, argument=argument),
            hint=Message("call.hint_id"),
        )
