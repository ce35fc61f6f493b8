"""Skills, their files and what refers to what, as one graph (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.models import SKILL_MD, Bundle
from core.skill_references import Reference, find_references


@dataclass(frozen=True)
class SkillParts:
    """What the graph needs of one skill: its paths, and its references as they stand."""

    paths: tuple[str, ...]
    references: tuple[Reference, ...]

    @classmethod
    def of(cls, bundle: Bundle) -> SkillParts:
        """Look into a skill; references to others are resolved once all are known."""
        return cls(tuple(sorted(bundle.files, key=_document_first)), find_references(bundle))


@dataclass(frozen=True)
class Edge:
    """That a file refers to a file, at `lines` from 1; dangling where that is not there."""

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
        """Give the references that lead nowhere, and the skills and files they stand in."""
        named = {(edge.skill, edge.file) for edge in self.dangling}
        skills = (
            SkillNode(
                node.name,
                tuple(path for path in node.files if (node.name, path) in named),
                frozenset(),
            )
            for node in self.skills
        )
        kept = tuple(node for node in skills if node.files)
        return SkillGraph(kept, self.dangling, self.unreadable)


def skill_graph(
    skills: Mapping[str, SkillParts], unreadable: Mapping[str, str] | None = None
) -> SkillGraph:
    """Make the graph. A skill that is `unreadable` (name -> why) may have any file."""
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
