"""Skills, their files and the references between them, as one graph (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from core.domain.models import SKILL_MD, Bundle
from core.domain.text import printable
from core.skills.references import Reference, find_references


@dataclass(frozen=True)
class SkillParts:
    """What the graph needs of one skill: its paths, and its references as written."""

    paths: tuple[str, ...]
    references: tuple[Reference, ...]

    @classmethod
    def of(cls, bundle: Bundle) -> SkillParts:
        """Extract the parts; references to other skills are resolved once all are known."""
        return cls(tuple(sorted(bundle.files, key=_document_first)), find_references(bundle))


@dataclass(frozen=True)
class Edge:
    """A reference between two files, at `lines` from 1; dangling if the target does not exist."""

    skill: str
    file: str
    to_skill: str
    to_path: str
    lines: tuple[int, ...]
    dangling: bool


@dataclass(frozen=True)
class SkillNode:
    """A skill with its files; `unreferenced` are those that no file of any skill points to."""

    name: str
    files: tuple[str, ...]
    unreferenced: frozenset[str]


@dataclass(frozen=True)
class SkillGraph:
    """All skills of a tenant and the references between their files, by name."""

    skills: tuple[SkillNode, ...]
    edges: tuple[Edge, ...]
    unreadable: Mapping[str, str]

    @property
    def dangling(self) -> tuple[Edge, ...]:
        """The references that lead nowhere."""
        return tuple(edge for edge in self.edges if edge.dangling)

    def only_dangling(self) -> SkillGraph:
        """Return the dangling references, and the skills and files that contain them."""
        named = {(edge.skill, edge.file) for edge in self.dangling}
        skills = (
            SkillNode(
                node.name,
                tuple(path for path in node.files if (node.name, path) in named),
                frozenset(),
            )
            for node in self.skills
        )
        remaining = tuple(node for node in skills if node.files)
        return SkillGraph(remaining, self.dangling, self.unreadable)


def skill_graph(
    skills: Mapping[str, SkillParts], unreadable: Mapping[str, str] | None = None
) -> SkillGraph:
    """Build the graph. A skill that is `unreadable` (name -> why) may have any file."""
    unknown = dict(unreadable or {})
    lines: dict[tuple[str, str, str, str], list[int]] = {}
    for name, parts in skills.items():
        for found in parts.references:
            key = (name, found.file, found.skill or name, found.path)
            lines.setdefault(key, []).append(found.line)
    paths = {name: frozenset(parts.paths) for name, parts in skills.items()}
    edges = tuple(
        Edge(*key, tuple(sorted(places)), _is_dangling(key[2], key[3], paths, unknown))
        for key, places in sorted(lines.items(), key=lambda item: _order(item[0]))
    )
    nodes = tuple(_node(name, skills[name].paths, edges) for name in sorted(skills))
    return SkillGraph(nodes, edges, dict(sorted(unknown.items())))


def _is_dangling(
    skill: str, path: str, paths: Mapping[str, frozenset[str]], unknown: Mapping[str, str]
) -> bool:
    return skill not in unknown and path not in paths.get(skill, ())


def _node(name: str, paths: tuple[str, ...], edges: Iterable[Edge]) -> SkillNode:
    pointed = {
        edge.to_path
        for edge in edges
        if edge.to_skill == name and (edge.skill, edge.file) != (name, edge.to_path)
    }
    left = frozenset(path for path in paths if path != SKILL_MD and path not in pointed)
    return SkillNode(name, paths, left)


def _order(key: tuple[str, str, str, str]) -> tuple[str, tuple[bool, str], str, tuple[bool, str]]:
    skill, file, to_skill, to_path = key
    return skill, _document_first(file), to_skill, _document_first(to_path)


def _document_first(path: str) -> tuple[bool, str]:
    return path != SKILL_MD, path


# Characters that need no code in a label of Mermaid; letters of every script need none either.
_PLAIN = frozenset(" -./")


def mermaid(graph: SkillGraph) -> str:
    """Return a Mermaid flowchart: a frame for each skill, dashed lines where dangling.

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
    """Return a Graphviz digraph: a cluster for each skill, dashed edges where dangling."""
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
    """Return the graph as data: skills with their files, edges with their lines."""
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
    """Return an id for each file, also missing ones, that is a keyword of neither language."""
    found = {
        (node.name, path): f"s{number}f{place}"
        for number, node in enumerate(graph.skills)
        for place, path in enumerate(node.files)
    }
    for edge in graph.edges:
        found.setdefault((edge.to_skill, edge.to_path), f"m{len(found)}")
    return found


def _missing(graph: SkillGraph, ids: Mapping[tuple[str, str], str]) -> Iterator[Edge]:
    """Yield one edge for each target that is missing from the graph, or was not read."""
    seen: set[str] = set()
    for edge in graph.edges:
        place = ids[edge.to_skill, edge.to_path]
        if place.startswith("m") and place not in seen:
            seen.add(place)
            yield edge


def _ends(edge: Edge, ids: Mapping[tuple[str, str], str], arrow: str) -> str:
    return f"{ids[edge.skill, edge.file]} {arrow} {ids[edge.to_skill, edge.to_path]}"


def _full(edge: Edge) -> str:
    return f"{edge.to_skill}/{edge.to_path}"


def coded(text: str) -> str:
    """Return `text` for a quoted label of Mermaid, with no syntax left in it."""
    coded = "".join(char if char.isalnum() or char in _PLAIN else f"#{ord(char)};" for char in text)
    return f"#45;{coded[1:]}" if coded.startswith("-") else coded.replace(". ", "#46; ")


def _quoted(text: str) -> str:
    escaped = printable(text, keep="").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
