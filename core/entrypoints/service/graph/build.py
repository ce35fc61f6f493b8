"""Builds the graph, the most informative nodes first, until it is full (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.domain.models import SKILL_MD, Agent, Kind
from core.domain.models.views import KnownCount, Taught
from core.entrypoints.service.graph.shown import Graph, Link, LinkKind, Node, NodeKind
from core.skills.graph import SkillGraph

SHARE = 4  # no kind but files takes more than one part in this many of all nodes
_COUNTED = {Kind.MEMORY: NodeKind.MEMORIES, Kind.DMN_RULE: NodeKind.RULES}
Key = tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """What the graph is built from: `names` are all skills of the tenant, `wanted` those shown."""

    agents: Sequence[Agent]
    counts: Sequence[KnownCount]
    names: Sequence[str]
    wanted: Sequence[str]
    skills: SkillGraph
    taught: Sequence[Taught]


@dataclass
class _Shelf:
    """The nodes so far, by what they stand for; what does not fit is counted."""

    capacity: int
    nodes: dict[Key, Node] = field(default_factory=dict)
    taken: Counter[NodeKind] = field(default_factory=Counter)
    refused: dict[NodeKind, set[Key]] = field(default_factory=dict)

    def put(self, kind: NodeKind, *name: str, **given: str | int | bool | None) -> str | None:
        """Return the id of a node, created if it is new; None if it does not fit."""
        key = (kind.value, *name)
        if key not in self.nodes:
            most = self.capacity if kind is NodeKind.FILE else max(1, self.capacity // SHARE)
            if len(self.nodes) >= self.capacity or self.taken[kind] >= most:
                self.refused.setdefault(kind, set()).add(key)
                return None
            self.taken[kind] += 1
            made = {"id": f"n{len(self.nodes)}", "kind": kind, "label": name[-1], **given}
            self.nodes[key] = Node.model_validate(made)
        return self.nodes[key].id


def build(tenant_id: str, agent_id: str | None, parts: Parts, capacity: int) -> Graph:
    """Build a graph of at most `capacity` nodes."""
    shelf = _Shelf(capacity)
    links = [
        *_agents(shelf, parts),
        *_taught(shelf, parts),
        *_files(shelf, parts),
    ]
    return Graph(
        tenant_id=tenant_id,
        agent_id=agent_id,
        nodes=tuple(shelf.nodes.values()),
        links=tuple(links),
        left_out={kind: len(keys) for kind, keys in sorted(shelf.refused.items())},
        unread=parts.skills.unreadable,
    )


def _agents(shelf: _Shelf, parts: Parts) -> list[Link]:
    links: list[Link] = []
    ids: dict[str, str] = {}
    for agent in parts.agents:
        node = shelf.put(NodeKind.AGENT, agent.id, label=agent.name, agent_id=agent.id)
        if node is not None:
            ids[agent.id] = node
    for known in parts.counts:
        if known.agent_id in ids:
            links += _link(ids.get(known.agent_id), _count(shelf, known), LinkKind.KNOWS)
    for name in parts.wanted:
        _skill(shelf, parts, name)
    for agent in parts.agents:
        for name in agent.skills:
            if agent.id in ids:
                links += _link(ids[agent.id], _skill(shelf, parts, name), LinkKind.HAS)
    return links


def _count(shelf: _Shelf, known: KnownCount) -> str | None:
    kind = _COUNTED[known.kind]
    return shelf.put(
        kind, known.agent_id, label=kind.value, agent_id=known.agent_id, count=known.count
    )


def _skill(shelf: _Shelf, parts: Parts, name: str) -> str | None:
    return shelf.put(NodeKind.SKILL, name, skill=name, missing=name not in parts.names)


def _taught(shelf: _Shelf, parts: Parts) -> list[Link]:
    """Link feedback to what it taught: a skill, or the memories or rules of an agent."""
    taught: dict[tuple[str, str], list[Taught]] = {}
    for one in parts.taught:
        target = _target(shelf, one)
        if target is None:
            continue
        source = shelf.put(
            NodeKind.FEEDBACK,
            one.feedback_id,
            label=one.words,
            feedback_id=one.feedback_id,
            author=one.author,
        )
        if source is not None:
            taught.setdefault((source, target), []).append(one)
    return [_lesson(*ends, items) for ends, items in taught.items()]


def _target(shelf: _Shelf, one: Taught) -> str | None:
    if one.kind is Kind.SKILL:
        key: Key = (NodeKind.SKILL.value, one.item_id)
    else:
        key = (_COUNTED[one.kind].value, one.agent_id)
    return shelf.nodes[key].id if key in shelf.nodes else None


def _lesson(source: str, target: str, items: Sequence[Taught]) -> Link:
    more = f" (+{len(items) - 1})" if len(items) > 1 else ""
    return Link(
        source=source,
        target=target,
        kind=LinkKind.TAUGHT,
        label=f"{items[0].name}{more}",
        items=tuple(one.item_id for one in items),
    )


def _files(shelf: _Shelf, parts: Parts) -> list[Link]:
    links: list[Link] = []
    for skill in parts.skills.skills:
        owner = shelf.nodes.get((NodeKind.SKILL.value, skill.name))
        for path in skill.files if owner else ():
            if owner and path != SKILL_MD:
                links += _link(owner.id, _file(shelf, skill.name, path), LinkKind.CONTAINS)
    for edge in parts.skills.edges:
        source = _end(shelf, parts, edge.skill, edge.file, missing=False)
        target = _end(shelf, parts, edge.to_skill, edge.to_path, missing=edge.dangling)
        if source != target:
            links += _link(source, target, LinkKind.REFERS)
    return links


def _end(shelf: _Shelf, parts: Parts, skill: str, path: str, *, missing: bool) -> str | None:
    """Return the node of a file; for SKILL.md, and in an unread skill, that of the skill."""
    if path == SKILL_MD or skill not in {node.name for node in parts.skills.skills}:
        return _skill(shelf, parts, skill)
    if (NodeKind.SKILL.value, skill) not in shelf.nodes:
        return None
    return _file(shelf, skill, path, missing=missing)


def _file(shelf: _Shelf, skill: str, path: str, *, missing: bool = False) -> str | None:
    return shelf.put(NodeKind.FILE, skill, path, skill=skill, path=path, missing=missing)


def _link(source: str | None, target: str | None, kind: LinkKind) -> Iterable[Link]:
    if source is not None and target is not None:
        yield Link(source=source, target=target, kind=kind)
