"""The graph of agents, their skills and who taught what: read, built and drawn, within bounds."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from core.domain.errors import DependencyDown
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Agent, Bundle, Kind
from core.domain.models.access import Role
from core.domain.models.views import KnownCount, Taught
from core.domain.ports import SkillStore
from core.domain.text import one_line
from core.entrypoints.service.graph.shown import Graph, Link, LinkKind, Node, NodeKind
from core.entrypoints.service.owners import own_agent
from core.entrypoints.service.session import Session
from core.skills.graph import SkillGraph, SkillParts, coded, skill_graph
from core.skills.library import look_into

MAX_SKILLS = 100
MAX_SKILL_BYTES = 2 * 2**20
SECONDS = 10.0
_NOT_READ = Message("graph.too_many_skills", n=MAX_SKILLS)
_TOO_SLOW = Message("graph.too_slow")
_TOO_LARGE = Message("graph.too_large")


async def read_skills(
    skills: SkillStore, tenant_id: str, wanted: Sequence[str], seconds: float = SECONDS
) -> SkillGraph:
    """Read some skills at a time; one that was not read is unreadable, and may have any file.

    If the server does not answer, or not within `seconds`, the result is what was read until then.
    """
    seen: dict[str, SkillParts] = {}
    large: dict[str, str] = {}

    def look(bundle: Bundle) -> None:
        if sum(len(file.data) for file in bundle.files.values()) > MAX_SKILL_BYTES:
            large[bundle.name] = _TOO_LARGE
            seen[bundle.name] = SkillParts(tuple(sorted(bundle.files)), ())
        else:
            seen[bundle.name] = SkillParts.of(bundle)

    unread: dict[str, str] = dict.fromkeys(wanted[MAX_SKILLS:], _NOT_READ)
    asked, why = wanted[:MAX_SKILLS], ""
    try:
        async with asyncio.timeout(seconds):
            unread |= (await look_into(skills, tenant_id, asked, look)).unreadable
    except TimeoutError:
        why = _TOO_SLOW
    except DependencyDown as error:
        why = error.message
    if why:
        unread |= {name: why for name in asked if name not in seen}
    graph = skill_graph(seen, unread)
    return replace(graph, unreadable={**graph.unreadable, **large})


@dataclass(frozen=True)
class GraphService:
    """Raises Forbidden without the role; an agent of another tenant is NotFound."""

    session: Session

    async def graph(
        self, *, tenant_id: str | None = None, agent_id: str | None = None, nodes: int = 300
    ) -> Graph:
        """Return the graph of a tenant, or of one agent, with at most `nodes` nodes.

        Raises NotFound; InvalidInput if no tenant is named.
        """
        self.session.require(Role.READ)
        app, tenant = self.session.app, self.session.tenant(tenant_id)
        if agent_id is not None:
            agents: Sequence[Agent] = [await own_agent(self.session, agent_id, tenant)]
            tenant = agents[0].tenant_id
        else:
            tenant = self.session.one_tenant(tenant)
            agents = await app.stores.agents.list(tenant)
        names, warnings = await self._names(tenant, agents)
        wanted = [*names] if agent_id is None else [n for n in agents[0].skills if n in names]
        counts = await app.stores.lineage.counts(tenant)
        parts = Parts(
            agents=agents,
            counts=[one for one in counts if agent_id in {None, one.agent_id}],
            names=names,
            wanted=wanted,
            skills=await read_skills(app.stores.skills, tenant, wanted),
            taught=await app.stores.lineage.taught(tenant, agent_id=agent_id, limit=nodes),
        )
        graph = build(tenant, agent_id, parts, nodes)
        drawn = {"mermaid": mermaid(graph), "warnings": warnings}
        return graph.model_copy(update=drawn)

    async def _names(
        self, tenant_id: str, agents: Sequence[Agent]
    ) -> tuple[Sequence[str], tuple[str, ...]]:
        """Return the names of all skills; if the skill API is down, those on agents' lists."""
        try:
            listed = await self.session.stores.skills.list(tenant_id)
        except DependencyDown as error:
            names = sorted({name for agent in agents for name in agent.skills})
            return names, (Message("graph.skills_unread", why=error.message),)
        return [summary.name for summary in listed], ()


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
    kind = _COUNTED.get(known.kind)
    if kind is None:  # one that a package adds
        return None
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
    elif one.kind in _COUNTED:
        key = (_COUNTED[one.kind].value, one.agent_id)
    else:
        return None
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


CHARS = 60
_SHAPES = {
    NodeKind.AGENT: ("([", "])"),
    NodeKind.MEMORIES: ("[(", ")]"),
    NodeKind.RULES: ("[(", ")]"),
    NodeKind.SKILL: ("[[", "]]"),
    NodeKind.FEEDBACK: ("(", ")"),
    NodeKind.FILE: ("[", "]"),
}
_ARROWS = {
    LinkKind.KNOWS: "---",
    LinkKind.HAS: "-->",
    LinkKind.CONTAINS: "---",
    LinkKind.REFERS: "-.->",
    LinkKind.TAUGHT: "==>",
}


def mermaid(graph: Graph) -> str:
    """Return the flowchart; ids are generated, labels are quoted with all syntax escaped."""
    return "\n".join(_lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    yield "flowchart LR"
    for node in graph.nodes:
        opens, closes = _SHAPES[node.kind]
        mark = ":::missing" if node.missing else f":::{node.kind.value}"
        yield f'  {node.id}{opens}"{_label(_said(node))}"{closes}{mark}'
    for link in graph.links:
        yield f"  {link.source} {_arrow(link)} {link.target}"
    yield "  classDef missing stroke:#c00,color:#c00,stroke-dasharray:4 3"


def _said(node: Node) -> str:
    if node.count is not None:
        return f"{node.label}: {node.count}"
    return f"{node.author}: {node.label}" if node.author else node.label


def _arrow(link: Link) -> str:
    arrow = _ARROWS[link.kind]
    return f'{arrow}|"{_label(link.label)}"|' if link.label.strip() else arrow


def _label(text: str) -> str:
    """Return a label that is short and not empty, which would be a syntax error."""
    line = one_line(text)
    short = line if len(line) <= CHARS else f"{line[: CHARS - 1]}…"
    return coded(short) or " "
