"""Check a bundle by the rules of this folder, and join the modules into one script for a pod."""

from __future__ import annotations

import ast
import re
from importlib.resources import files

from core.domain.messages import Message, english
from core.domain.models import SKILL_MD, Bundle
from core.skills.validation.document import (
    as_new,
    description_of,
    name_problems,
    skill_problems,
    tolerated,
    written_problems,
)
from core.skills.validation.paths import Problem, errors_of

# In dependency order.
_PARTS = (
    "paths",
    "folder",
    "head_values",
    "head_reader",
    "document",
    "script",
)
_FUTURE = "from __future__ import annotations\n"
# Nothing is translated in a pod: there a message is its English text.
_MESSAGE = '''def Message(code: str, /, **parameters: object) -> str:
    """Return the text of a message."""
    return _ENGLISH[code].format_map(parameters)


_ENGLISH = {english}
'''
_CODE = re.compile(r'Message\(\s*"([^"]+)"')


def check_bundle(
    bundle: Bundle, base: Bundle | None = None, *, created: bool = False, given: bool = False
) -> list[Problem]:
    """Return the rules that a skill breaks, errors first.

    A skill that is `created` must obey the platforms' upload rules too. For one that was `base`
    before, what it already broke is a warning, and only what is new must obey the rules for created
    skills; if a person has `given` it whole, those rules stay warnings, as wherever it is read.
    """
    problems = _problems(bundle)
    if created:
        return [*as_new(problems), *written_problems(_document(bundle))]
    if base is None:
        return problems
    written = (
        [] if given or written_problems(_document(base)) else written_problems(_document(bundle))
    )
    known = [*_still_meant(_problems(base), base, bundle), *name_problems(base.name)]
    before = {_without_severity(problem) for problem in known}
    old = [problem for problem in problems if _without_severity(problem) in before]
    new = [problem for problem in problems if _without_severity(problem) not in before]
    return [*written, *(new if given else as_new(new)), *tolerated(old, _rules(old))]


def with_rule(problem: Problem) -> Message:
    """Return what is wrong with the rule's name, for where problems are told in a row."""
    return Message("skill.rule", why=problem.message, rule=problem.code)


def get_quick_validate_script(base: Bundle | None = None) -> str:
    """Return the text of `quick_validate.py`: one file that needs only the standard library.

    What the skill already broke as `base` is a warning for it.
    """
    known = sorted(_rules(errors_of(_problems(base)))) if base else []
    return _joined().replace(
        "KNOWN: tuple[tuple[str, str], ...] = ()", f"KNOWN = {tuple(map(tuple, known))!a}"
    )


def _problems(bundle: Bundle) -> list[Problem]:
    sizes = {path: len(file.data) for path, file in bundle.files.items()}
    return skill_problems(bundle.name, sizes, _document(bundle))


def _document(bundle: Bundle) -> bytes | None:
    file = bundle.files.get(SKILL_MD)
    return file.data if file else None


def _still_meant(problems: list[Problem], base: Bundle, bundle: Bundle) -> list[Problem]:
    """Return the base's problems; those about a description only if it is unchanged."""
    texts = [description_of(_document(skill) or b"") for skill in (base, bundle)]
    if texts[0] == texts[1]:
        return problems
    return [problem for problem in problems if not problem.code.startswith("description-")]


def _without_severity(problem: Problem) -> Problem:
    return problem._replace(severity="")


def _rules(problems: list[Problem]) -> set[tuple[str, str]]:
    return {(problem.code, problem.path) for problem in problems}


def _joined() -> str:
    """Return the modules of `core.skills.validation` as one, without imports of each other.

    The pod has neither this package nor a way to install it, and its packager imports
    `quick_validate` as a single file; joining the modules leaves one definition of each rule.
    """
    folder = files("core.skills.validation")
    sources = {part: (folder / f"{part}.py").read_text(encoding="utf-8") for part in _PARTS}
    doc = ast.get_docstring(ast.parse(sources[_PARTS[-1]]))
    bodies = [_without_imports_of_ours(source) for source in sources.values()]
    codes = sorted({code for body in bodies for code in _CODE.findall(body)})
    texts = "".join(f"    {code!r}: {english()[code]!a},\n" for code in codes)
    message = _MESSAGE.replace("{english}", f"{{\n{texts}}}")
    return "\n\n".join([f'#!/usr/bin/env python3\n"""{doc}"""\n\n{_FUTURE}', message, *bodies])


def _without_imports_of_ours(source: str) -> str:
    lines = source.splitlines()
    for node in ast.parse(source).body:
        ours = isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in {
            "core",
            "__future__",
        }
        if ours or (isinstance(node, ast.Expr) and node.lineno == 1):
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = ""
    return "\n".join(lines).strip("\n") + "\n"
