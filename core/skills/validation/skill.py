"""All rules for a whole skill, and how strictly they bind: what is new more than what was there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.skills.validation.document import document_problems
from core.skills.validation.paths import folder_problems
from core.skills.validation.problems import ERROR, WARNING, Problem

# Warnings for an existing skill; what is created must not have them.
_BIND_WHAT_IS_NEW = frozenset(
    (
        "compatibility",
        "description-invisible",
        "description-lines",
        "document-mark",
        "key-unknown",
        "name-device",
        "name-folder",
        "name-reserved",
    )
)


def skill_problems(
    name: str, sizes: Mapping[str, int], document: bytes | None, folders: Iterable[str] = ()
) -> list[Problem]:
    """Return the rules that a skill breaks: its folder's name, files (path -> bytes) and SKILL.md.

    Errors come first, each kind in the order of the rules.
    """
    found = [*document_problems(name, document), *folder_problems(sizes, folders)]
    return sorted(found, key=lambda problem: problem.severity != ERROR)


def as_new(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems as they bind what is created: the platforms' upload rules are errors."""
    return [
        problem._replace(severity=ERROR) if problem.code in _BIND_WHAT_IS_NEW else problem
        for problem in problems
    ]


def tolerated(problems: Iterable[Problem], known: Iterable[tuple[str, str]]) -> list[Problem]:
    """Return the problems, those whose (code, path) was `known` before as warnings."""
    before = set(known)
    return [
        problem._replace(severity=WARNING) if (problem.code, problem.path) in before else problem
        for problem in problems
    ]
