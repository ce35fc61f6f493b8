"""The graph of skills as Mermaid, DOT and JSON: any name in it is only a name (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue

from core.safe_text import printable
from core.skill_graph import Edge, SkillGraph

# What stands for itself in a label of Mermaid; letters of every script do too.
_PLAIN = frozenset(" -./")


def mermaid(graph: SkillGraph) -> str:
    """Give a Mermaid flowchart: a frame for each skill, a dashed line where nothing is.

    Mermaid's entity codes (`#34;`) stand for what would be syntax in a quoted label.
    """
    ids = _ids(graph)
    lines = ["flowchart LR"]
    for number, node in enumerate(graph.skills):
        lines.append(f'  subgraph s{number}["{coded(node.name)}"]')
        for path in node.files:
            mark = ":::unreferenced" if path in node.unreferenced else ""
            lines.append(f'    {ids[node.name, path]}["{coded(path)}"]{mark}')
        lines.append("  end")
    for edge in _missing(graph, ids):
        label = coded(_full(edge))
        mark = ":::missing" if edge.dangling else ""
        lines.append(f'  {ids[edge.to_skill, edge.to_path]}["{label}"]{mark}')
    for edge in graph.edges:
        arrow = "-.->" if edge.dangling else "-->"
        lines.append(f"  {_ends(edge, ids, arrow)}")
    lines += [
        "  classDef missing stroke:#c00,color:#c00,stroke-dasharray:4 3",
        "  classDef unreferenced stroke:#999,color:#777,stroke-dasharray:2 2",
    ]
    return "\n".join(lines)


def dot(graph: SkillGraph) -> str:
    """Give a Graphviz digraph: a cluster for each skill, a dashed edge where nothing is."""
    ids = _ids(graph)
    lines = ["digraph skills {", "  rankdir=LR;", "  node [shape=box];"]
    for number, node in enumerate(graph.skills):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(node.name)};"]
        for path in node.files:
            style = ", style=dotted" if path in node.unreferenced else ""
            lines.append(f"    {ids[node.name, path]} [label={_quoted(path)}{style}];")
        lines.append("  }")
    for edge in _missing(graph, ids):
        label = _quoted(_full(edge))
        place = ids[edge.to_skill, edge.to_path]
        style = ", color=red, fontcolor=red, style=dashed" if edge.dangling else ""
        lines.append(f"  {place} [label={label}{style}];")
    for edge in graph.edges:
        style = " [color=red, style=dashed]" if edge.dangling else ""
        lines.append(f"  {_ends(edge, ids, '->')}{style};")
    return "\n".join([*lines, "}"])


def as_json(graph: SkillGraph) -> dict[str, JsonValue]:
    """Give the graph as data: skills with their files, edges with their lines."""
    skills: list[JsonValue] = [
        {
            "name": node.name,
            "files": [
                {"path": path, "unreferenced": path in node.unreferenced} for path in node.files
            ],
        }
        for node in graph.skills
    ]
    edges: list[JsonValue] = [
        {
            "skill": edge.skill,
            "file": edge.file,
            "lines": [*edge.lines],
            "to_skill": edge.to_skill,
            "to_path": edge.to_path,
            "dangling": edge.dangling,
        }
        for edge in graph.edges
    ]
    unreadable: list[JsonValue] = [
        {"name": name, "problem": why} for name, why in graph.unreadable.items()
    ]
    return {"skills": skills, "edges": edges, "unreadable": unreadable}


RENDERERS: dict[str, Callable[[SkillGraph], str]] = {"mermaid": mermaid, "dot": dot}


def _ids(graph: SkillGraph) -> dict[tuple[str, str], str]:
    """Give each file an id that is no word of either language, those that are missing too."""
    found = {
        (node.name, path): f"s{number}f{place}"
        for number, node in enumerate(graph.skills)
        for place, path in enumerate(node.files)
    }
    for edge in graph.edges:
        found.setdefault((edge.to_skill, edge.to_path), f"m{len(found)}")
    return found


def _missing(graph: SkillGraph, ids: Mapping[tuple[str, str], str]) -> Iterator[Edge]:
    """Give one edge for each target that the graph's skills do not hold, or that was not read."""
    told: set[str] = set()
    for edge in graph.edges:
        place = ids[edge.to_skill, edge.to_path]
        if place.startswith("m") and place not in told:
            told.add(place)
            yield edge


def _ends(edge: Edge, ids: Mapping[tuple[str, str], str], arrow: str) -> str:
    return f"{ids[edge.skill, edge.file]} {arrow} {ids[edge.to_skill, edge.to_path]}"


def _full(edge: Edge) -> str:
    return f"{edge.to_skill}/{edge.to_path}"


def coded(text: str) -> str:
    """Give `text` for a quoted label of Mermaid, where nothing of it is syntax."""
    coded = "".join(char if char.isalnum() or char in _PLAIN else f"#{ord(char)};" for char in text)
    return f"#45;{coded[1:]}" if coded.startswith("-") else coded.replace(". ", "#46; ")


def _quoted(text: str) -> str:
    escaped = printable(text, keep="").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
