"""The files that carry the promises, and all their mutants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.mutate.mutant import Mutant
from tests.mutate.prompt_mutants import prompt_mutants
from tests.mutate.python_mutants import python_mutants
from tests.mutate.sql_mutants import sql_mutants

ROOT = Path(__file__).parents[2]
SCOPE = (
    "core/adapters/postgres",
    "core/agent/loop",
    "core/agent/prompts",
    "core/changes",
    "core/decision_table/checks",
    "core/delivery",
    "core/entrypoints/api/guard.py",
    "core/entrypoints/auth.py",
    "core/entrypoints/service",
    "core/learning_committers",
    "core/polling_manager.py",
    "core/react_agent.py",
    "core/react_tools.py",
    "core/safety",
    "core/skills/bundle",
    "core/skills/document",
    "core/skills/published",
    "core/skills/validation",
)
_MAKERS = {".py": python_mutants, ".sql": sql_mutants, ".md": prompt_mutants}


def files(within: str = "") -> list[Path]:
    """Return the files of the scope whose paths have `within` in them, without migrations."""
    found: list[Path] = []
    for name in SCOPE:
        path = ROOT / name
        if not path.exists():
            raise FileNotFoundError(
                f"{name} is in the scope of the mutants, but not there any more"
            )
        found += [path] if path.is_file() else sorted(path.rglob("*"))
    return [
        path.relative_to(ROOT)
        for path in found
        if path.suffix in _MAKERS and "migrations" not in path.parts and within in str(path)
    ]


def mutants(within: str = "") -> Iterator[Mutant]:
    """Yield every mutant of the files of the scope."""
    for path in files(within):
        yield from _MAKERS[path.suffix](path, (ROOT / path).read_text("utf-8"))
