"""The graph as a Mermaid flowchart: any text in it is only a label (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from core.domain.text import one_line
from core.entrypoints.service.graph.shown import Graph, Link, LinkKind, Node, NodeKind
from core.skills.graph import coded

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
