"""Arguments of the ReAct agent's tools (contracts, section 2): strict types, lenient spelling."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue

from core.domain.models import MergeMode, Operation, Relationship, RuleDraft, Scope
from core.domain.models.base import Model

Category = Literal["noise", "duplicate", "one_off", "unclear"]
StoredKind = Literal["MEMORY", "DMN_RULE", "SKILL"]


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
    reason: Reason


class RuleArgs(Model):
    """Arguments of `commit_to_dmn_rule`."""

    rule: RuleDraft = Field(default=RuleDraft(), description="left out only with DELETE")
    operation: Op
    rule_id: Id = Field(default=None, description="needed for UPDATE and DELETE")
    merge_mode: Mode = None
    relationship: Relation = None
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
