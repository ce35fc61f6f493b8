"""The graph as data: nodes, links, and what was left out of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from core.domain.models.base import Model
from core.domain.models.messages import Text


class NodeKind(StrEnum):
    """What a node stands for. `memories` and `rules` are all of them that one agent knows."""

    AGENT = "agent"
    MEMORIES = "memories"
    RULES = "rules"
    SKILL = "skill"
    FEEDBACK = "feedback"
    FILE = "file"


class LinkKind(StrEnum):
    """What a link says of its two nodes."""

    KNOWS = "knows"
    HAS = "has"
    CONTAINS = "contains"
    REFERS = "refers"
    TAUGHT = "taught"


class Node(Model):
    """A node; `label` is other people's text. Of the rest what its kind has.

    A skill stands for its SKILL.md too. `missing`: something names it, and it is not there.
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

    `left_out` counts the nodes of each kind that there was no place for, as far as they are known;
    `unread` says of skills why their files are not shown.
    """

    tenant_id: str
    agent_id: str | None = None
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    left_out: Mapping[NodeKind, int]
    unread: Mapping[str, Text]
    warnings: tuple[Text, ...] = ()
    mermaid: str = ""
