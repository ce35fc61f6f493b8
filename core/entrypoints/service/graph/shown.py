"""The graph as data: nodes, links, and what was left out of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from core.domain.models.base import Model, Text


class NodeKind(StrEnum):
    """What a node represents. `memories` and `rules` are all of them that one agent knows."""

    AGENT = "agent"
    MEMORIES = "memories"
    RULES = "rules"
    SKILL = "skill"
    FEEDBACK = "feedback"
    FILE = "file"


class LinkKind(StrEnum):
    """The relation between two nodes."""

    KNOWS = "knows"
    HAS = "has"
    CONTAINS = "contains"
    REFERS = "refers"
    TAUGHT = "taught"


class Node(Model):
    """A node; `label` is text that users wrote. The other fields depend on its kind.

    A skill also represents its SKILL.md. `missing`: something refers to it, and it does not exist.
    """

    id: str
    kind: NodeKind
    label: str
    agent_id: str | None = None
    skill: str | None = None
    path: str | None = None
    count: int | None = None
    feedback_id: str | None = None
    author: str | None = None
    missing: bool = False


class Link(Model):
    """A link from one node's id to another's. `items` are the ids of what feedback taught."""

    source: str
    target: str
    kind: LinkKind
    label: str = ""
    items: tuple[str, ...] = ()


class Graph(Model):
    """A graph of bounded size, and the same as Mermaid text.

    `left_out` counts the known nodes of each kind that did not fit; `unread` says why the files of
    some skills are not shown.
    """

    tenant_id: str
    agent_id: str | None = None
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    left_out: Mapping[NodeKind, int]
    unread: Mapping[str, Text]
    warnings: tuple[Text, ...] = ()
    mermaid: str = ""
