"""How skills, their files and what is wrong with them are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from core.domain.errors import BundleInvalid
from core.domain.models import Bundle
from core.entrypoints.cli.output import print_block, print_fields, print_json, print_table, say
from core.skill_quick_validate import VALID, Problem, check_bundle, errors_of
from core.skills.bundle import NoSkill, SkillRead, bundle_hash, file_hash
from core.skills.commands import bundle_tool_problems
from core.skills.document.frontmatter import read_values
from core.skills.package import Package
from core.skills.validation.head_values import Node


@dataclass(frozen=True)
class Inspection:
    """The content of a `.skill` file; no bundle if it cannot be read. `size` is the file's."""

    bundle: Bundle | None
    size: int
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, read: SkillRead, size: int) -> Inspection:
        """Inspect a skill that was read."""
        return cls(read.bundle, size, verdict_of(read))

    @classmethod
    def unreadable(cls, error: NoSkill, size: int) -> Inspection:
        """Return the inspection of a file that is not a skill."""
        return cls(None, size, error.problems)

    @property
    def valid(self) -> bool:
        """Whether it breaks no rule; warnings break none."""
        return not errors_of(self.problems)


def verdict_of(read: SkillRead) -> tuple[Problem, ...]:
    """Return the problems of a `.skill` file that was read, errors first."""
    found = [*read.problems, *check_bundle(read.bundle), *bundle_tool_problems(read.bundle)]
    return tuple(sorted(found, key=lambda problem: problem.severity != "error"))


def show_verdict(name: str, problems: Sequence[Problem], *, as_json: bool) -> None:
    """Print whether a skill is valid, and everything wrong with it."""
    valid = not errors_of(problems)
    if as_json:
        print_json({"name": name, "valid": valid, "problems": problems_json(problems)})
        return
    _show_problems(problems)
    say(VALID if valid else f"Skill is not valid: {count_of(problems)}")


def show_package(package: Package, *, as_json: bool) -> None:
    """Print what was written."""
    fields: dict[str, JsonValue] = {
        "path": str(package.path),
        "name": package.name,
        "files": package.files,
        "size": package.size,
        "sha256": package.sha256,
    }
    if as_json:
        print_json({**fields, "problems": problems_json(package.problems)})
        return
    _show_problems(package.problems)
    print_fields(fields)


def show_inspection(file: str, found: Inspection, *, as_json: bool) -> None:
    """Print the tree, the sizes, the frontmatter and the problems of a `.skill` file."""
    if as_json:
        print_json(_inspection(file, found))
        return
    if found.bundle is not None:
        _show_bundle(file, found.bundle, found.size)
    _show_problems(found.problems)
    say(VALID if found.valid else f"Skill is not valid: {count_of(found.problems)}")


def _show_bundle(file: str, bundle: Bundle, size: int) -> None:
    total = sum(len(item.data) for item in bundle.files.values())
    print_fields(
        {
            "file": file,
            "name": bundle.name,
            "hash": bundle_hash(bundle),
            "size": f"{size} bytes packed, {total} bytes in {len(bundle.files)} files",
        }
    )
    print_block("files", _tree(bundle))
    for key, value in (_frontmatter(bundle) or {}).items():
        print_fields({key: value if isinstance(value, str) else str(value)})
    say("")


def _tree(bundle: Bundle) -> str:
    lines, shown = [], set[str]()
    for path, file in sorted(bundle.files.items()):
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder not in shown:
                shown.add(folder)
                lines.append(f"{'  ' * (depth - 1)}{parts[depth - 1]}/")
        mark = "*" if file.executable else ""
        lines.append(f"{'  ' * (len(parts) - 1)}{parts[-1]}{mark}  {len(file.data)}")
    return "\n".join(lines)


def _inspection(file: str, found: Inspection) -> dict[str, JsonValue]:
    bundle = found.bundle
    files: list[JsonValue] = [
        {
            "path": path,
            "size": len(item.data),
            "executable": item.executable,
            "sha256": file_hash(item),
        }
        for path, item in sorted(bundle.files.items() if bundle else ())
    ]
    return {
        "file": file,
        "name": bundle.name if bundle else None,
        "valid": found.valid,
        "size": found.size,
        "hash": bundle_hash(bundle) if bundle else None,
        "files": files,
        "frontmatter": _frontmatter(bundle) if bundle else None,
        "problems": problems_json(found.problems),
    }


def _frontmatter(bundle: Bundle) -> dict[str, JsonValue] | None:
    try:
        return {key: _value(node) for key, node in read_values(bundle.document).items()}
    except BundleInvalid:
        return None


def _value(node: Node) -> JsonValue:
    if isinstance(node.value, dict):
        return {key: _value(item) for key, item in node.value.items()}
    if isinstance(node.value, list):
        return [_value(item) for item in node.value]
    return node.value


def problems_json(problems: Sequence[Problem]) -> list[JsonValue]:
    """Return problems as JSON objects."""
    return [dict(problem._asdict()) for problem in problems]


def _show_problems(problems: Sequence[Problem]) -> None:
    if problems:
        rows = [(p.severity, p.code, p.path, p.message, p.hint) for p in problems]
        print_table(("SEVERITY", "RULE", "PATH", "WHAT", "HINT"), rows)
        say("")


def count_of(problems: Sequence[Problem]) -> str:
    """Return in words how many rules are broken."""
    broken = len(errors_of(problems))
    return f"{broken} rule{'s' if broken > 1 else ''} broken"
