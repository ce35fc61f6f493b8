"""The validator that runs here and, as one file, in a pod."""

from __future__ import annotations

import ast
import os
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.domain.models import SKILL_MD, Bundle, SkillFile
from core.skill_quick_validate import (
    check_bundle,
    errors_of,
    get_quick_validate_script,
    validate_skill,
)
from core.skills.validation import script as script_module
from core.skills.validation.document import skill_problems
from tests.support.skill_cases import in_memory
from tests.support.waiting import SOON

GOOD = "---\nname: refund-sum\ndescription: 환불 합계를 맞춥니다\n---\n\nbody\n"


def skill(folder: Path, document: str) -> Path:
    place = folder / "refund-sum"
    place.mkdir(exist_ok=True)
    (place / "SKILL.md").write_bytes(document.encode())
    return place


def bundle(document: str, *paths: str, name: str = "refund-sum") -> Bundle:
    return in_memory(name, document.encode(), paths)


@pytest.mark.parametrize(
    "document",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        '---\nname: "a"\ndescription: "b: c # d \\"e\\""\n---\n',
        "---\nname: 'a'\ndescription: 'it''s'\n---\n",
        "---\nname: a\ndescription: >-\n  folded\n  lines: too\n---\n",
        "---\n# note\nname: a # ours\ndescription:\n  two\n  lines\nallowed-tools:\n- Bash\n---\n",
        "---\nname: a\ndescription: b\nmetadata:\n  name: nested\n---\n",
        "---\nname: a\ndescription: b\nmodel: opus\npaths: ['*.py']\nhooks: {}\n---\n",
    ],
)
def test_a_valid_skill_is_said_to_be_valid(tmp_path: Path, document: str) -> None:
    assert validate_skill(skill(tmp_path, document)) == (True, "Skill is valid!")


@pytest.mark.parametrize(
    ("document", "code", "reason"),
    [
        ("# no head\n", "head-missing", "No YAML frontmatter"),
        ("---\nname: a\n", "head-unclosed", "not closed"),
        ("---\ndescription: b\n---\n", "name-missing", "Missing 'name'"),
        ("---\nname: a\n---\n", "description-missing", "Missing 'description'"),
        ("---\nname: a\ndescription:\n---\n", "description-empty", "empty"),
        ("---\nname: Refund\ndescription: b\n---\n", "name-form", "hyphen-case"),
        ("---\nname: x; touch y\ndescription: b\n---\n", "name-form", "hyphen-case"),
        ("---\nname: ../up\ndescription: b\n---\n", "name-form", "hyphen-case"),
        ("---\nname: -flag\ndescription: b\n---\n", "name-form", "hyphen-case"),
        ("---\nname: a--b\ndescription: b\n---\n", "name-form", "hyphen-case"),
        ("---\nname: 환불\ndescription: b\n---\n", "name-form", "hyphen-case"),
        (f"---\nname: {'a' * 65}\ndescription: b\n---\n", "name-length", "65 characters"),
        ("---\nname: [a]\ndescription: b\n---\n", "name-text", "'name' must be text"),
        (f"---\nname: a\ndescription: {'가' * 1025}\n---\n", "description-length", "1025 char"),
        ("---\nname: a\ndescription: b: c\n---\n", "head-quotes", "line 3: .*colon"),
        ("---\nname: a\ndescription: [b]\n---\n", "description-text", "must be text"),
        ('---\nname: a\ndescription: "b\n---\n', "head-yaml", "not closed"),
        ("---\nname: a\nname: b\ndescription: c\n---\n", "head-key-twice", "twice"),
        ("---\nname: a\nmetadata:\n  x: 1\n  x: 2\n---\n", "head-key-twice", "line 5"),
        ("---\nname: a\nwhat is this\ndescription: c\n---\n", "head-yaml", "no `key: value`"),
        ("---\nname: &x a\ndescription: *x\n---\n", "head-anchor", "anchors and aliases"),
        ("---\nname: !!str a\ndescription: b\n---\n", "head-tag", "tags"),
        ("---\nname: a\ndescription: b\n" + "x: y\n" * 20_000 + "---\n", "head-size", "over 65536"),
    ],
)
def test_a_broken_rule_is_the_reason(tmp_path: Path, document: str, code: str, reason: str) -> None:
    valid, message = validate_skill(skill(tmp_path, document))
    assert not valid
    assert not message.startswith("Skill is valid")
    problem = check_bundle(bundle(document))[0]
    assert (problem.code, problem.severity, problem.message) == (code, "error", message)
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(message)


def test_a_folder_without_a_document_or_with_bytes_is_invalid(tmp_path: Path) -> None:
    assert validate_skill(tmp_path) == (False, "SKILL.md not found")
    nowhere = validate_skill(tmp_path / "nowhere")
    assert nowhere == (False, "SKILL.md not found: No such file or directory")
    (tmp_path / "SKILL.md").symlink_to(__file__)
    assert validate_skill(tmp_path) == (False, "'SKILL.md' is a link")
    (tmp_path / "SKILL.md").unlink()
    (tmp_path / "SKILL.md").write_bytes(b"---\nname: \xff\n---\n")
    assert validate_skill(str(tmp_path)) == (False, "SKILL.md is not UTF-8 text")


def test_of_several_broken_rules_the_first_is_the_reason(tmp_path: Path) -> None:
    folder = skill(tmp_path, f"---\nname: Refund\ndescription: {'a' * 1025}\n---\n")
    first, *others = errors_of(script_module.check_folder(folder))
    assert others
    assert validate_skill(folder) == (False, first.message)
    assert validate_skill(folder, [(first.code, first.path)]) == (False, others[0].message)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (GOOD.replace("---\n\n", "colour: red\n---\n\n"), "key-unknown"),
        (GOOD.replace("refund-sum", "old-name"), "name-folder"),
        (GOOD.replace("refund-sum", "claude-helper"), "name-reserved"),
        ("---\nname: a\ndescription: use <b>\n---\nx", "description-brackets"),
        (GOOD.replace("refund-sum", "con"), "name-device"),
        ("\ufeff" + GOOD, "document-mark"),
        ("---\nname: refund-sum\ndescription: |\n  two\n  lines\n---\nbody\n", "description-lines"),
        (GOOD.replace("합계", "합\u200b계"), "head-characters description-invisible"),
        (GOOD.replace("---\n\n", f"compatibility: {'x' * 501}\n---\n\n"), "compatibility"),
        (GOOD.replace("---\n\n", "compatibility: ''\n---\n\n"), "compatibility"),
    ],
)
def test_what_is_there_is_a_warning_and_binds_what_is_created(document: str, code: str) -> None:
    found = check_bundle(bundle(document))
    assert {problem.severity for problem in found} == {"warning"}
    assert code.split()[-1] in {problem.code for problem in found}
    created = check_bundle(bundle(document), created=True)
    assert {problem.severity for problem in created} == {"error"}


@pytest.mark.parametrize(
    ("body", "code"), [("line\n" * 501, "body-lines"), ("가" * 7_000, "body-tokens")]
)
def test_a_long_body_is_steered_into_references(body: str, code: str) -> None:
    (problem,) = check_bundle(bundle(GOOD + body), created=True)
    assert (problem.code, problem.severity) == (code, "warning")
    assert "references/" in problem.hint


OLD = "---\nname: Old Name\ndescription: was <so>\nhooks: {}\n---\n\nold\n"


def test_an_update_keeps_what_was_broken_and_breaks_nothing_new() -> None:
    before = bundle(OLD, "CON", name="Old Name")
    after = bundle(OLD.replace("\nold", "\nnew"), "CON", "references/a.md", name="Old Name")
    assert errors_of(check_bundle(before))
    assert errors_of(check_bundle(after, before)) == []
    worse = {
        "description-brackets": OLD.replace("<so>", "<not so>"),
        "key-unknown": OLD.replace("hooks", "colour"),
        "name-folder": OLD.replace("Old Name", "other"),
    }
    for code, document in worse.items():
        found = errors_of(check_bundle(bundle(document, "CON", name="Old Name"), before))
        assert [problem.code for problem in found] == [code]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "work" / "quick_validate.py"
    path.parent.mkdir()
    path.write_text(get_quick_validate_script(), encoding="utf-8")
    return path


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [sys.executable, "-I", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, check=False, timeout=SOON)


def test_the_script_stands_alone_and_exits_by_its_verdict(script: Path, tmp_path: Path) -> None:
    good = run(script, skill(tmp_path, GOOD), cwd=script.parent)
    assert (good.returncode, good.stdout, good.stderr) == (0, b"Skill is valid!\n", b"")
    extra = run(script, skill(tmp_path, GOOD.replace("---\n\n", "model: x\n---\n\n")), cwd=tmp_path)
    assert extra.returncode == 0
    assert extra.stdout.startswith(b"Warning: Key 'model'")
    assert extra.stdout.endswith(b"\nSkill is valid!\n")
    bad = run(script, skill(tmp_path, GOOD.replace("refund-sum", "환불")), cwd=script.parent)
    assert bad.returncode == 1
    assert "'환불' must be hyphen-case" in bad.stdout.decode("utf-8")
    assert run(script, cwd=script.parent).returncode == 1


def test_the_module_is_the_same_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    odd = GOOD.replace("---\n\n", "model: x\n---\n\n")
    good, bad = b"Skill is valid!\n", b"SKILL.md not found\n"
    for document, status, first, last in (
        (GOOD, 0, good, good),
        (odd, 0, b"Warning: Key 'model'", good),
        (None, 1, bad, bad),
    ):
        folder = skill(tmp_path, document) if document else tmp_path
        monkeypatch.setattr(sys, "argv", ["quick_validate.py", str(folder)])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(script_module.__file__), run_name="__main__")
        said = capfdbinary.readouterr().out
        assert (ended.value.code, said.startswith(first), said.endswith(last)) == (status, 1, 1)
    assert script_module.main([]) == script_module.main(["one", "two"]) == 1
    assert capfdbinary.readouterr().out == b"Usage: quick_validate.py SKILL_FOLDER\n" * 2


def test_the_script_can_be_imported_and_needs_no_package(script: Path, tmp_path: Path) -> None:
    folder = skill(tmp_path, GOOD)
    code = (
        f"import sys; sys.path.insert(0, {str(script.parent)!r}); sys.modules['yaml'] = None;"
        f"from quick_validate import validate_skill; print(validate_skill({str(folder)!r}))"
    )
    done = run("-S", "-c", code, cwd=script.parent)
    assert done.stdout == b"(True, 'Skill is valid!')\n"


def test_the_script_is_for_old_interpreters_and_names_everything_once() -> None:
    tree = ast.parse(get_quick_validate_script(), feature_version=(3, 8))
    imported = {n.module for n in tree.body if isinstance(n, ast.ImportFrom)}
    assert not {name for name in imported if name and name.startswith("core")}
    names = Counter(n.name for n in tree.body if isinstance(n, ast.ClassDef | ast.FunctionDef))
    targets = [n.targets[0] for n in tree.body if isinstance(n, ast.Assign)]
    names.update(target.id for target in targets if isinstance(target, ast.Name))
    assert [name for name, count in names.items() if count > 1] == []


def test_the_script_for_an_update_warns_of_what_was_there(tmp_path: Path) -> None:
    before = bundle(OLD, name="Old Name")
    folder = tmp_path / "Old Name"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(OLD.encode())
    script = tmp_path / "quick_validate.py"
    for base, status in ((None, 1), (before, 0)):
        script.write_text(get_quick_validate_script(base), encoding="utf-8")
        assert run(script, folder, cwd=tmp_path).returncode == status


def test_a_bundle_is_told_of_its_files_too() -> None:
    files = {
        **bundle(GOOD).files,
        "a/SKILL.md": SkillFile(data=b"x"),
        ".git/x": SkillFile(data=b""),
    }
    found = check_bundle(Bundle(name="refund-sum", files=files))
    assert [(p.code, p.path) for p in found] == [
        ("path-git", ".git/x"),
        ("document-second", "a/SKILL.md"),
    ]


def test_the_script_of_a_pod_needs_nothing_but_the_standard_library() -> None:
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name) or ""
        for node in ast.walk(ast.parse(get_quick_validate_script()))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


WORDS = "환불 합계를 맞춥니다"
SIZES = {SKILL_MD: 1}
MEGABYTE = 2**20


def with_head(head: str) -> str:
    return GOOD.replace("---\n\n", f"{head}\n---\n\n")


@pytest.mark.parametrize(
    ("code", "bound", "made"),
    [
        ("name-length", 64, lambda n: (GOOD.replace("refund-sum", "a" * n), SIZES)),
        ("description-length", 1_024, lambda n: (GOOD.replace(WORDS, "가" * n), SIZES)),
        ("compatibility", 500, lambda n: (with_head(f"compatibility: {'x' * n}"), SIZES)),
        ("body-lines", 500, lambda n: (GOOD.replace("\nbody\n", "x\n" * n), SIZES)),
        ("body-tokens", 5_000, lambda n: (GOOD.replace("\nbody\n", "abcd" * n), SIZES)),
        ("head-yaml", 255, lambda n: (with_head(f"{'k' * n}: v"), SIZES)),
        ("head-yaml", 31, lambda n: (with_head(f"x: {'[' * n}{']' * n}"), SIZES)),
        ("files-count", 1_000, lambda n: (GOOD, {**SIZES, **{str(f): 1 for f in range(n - 1)}})),
        ("file-size", 24 * MEGABYTE, lambda n: (GOOD, {**SIZES, "a": n})),
        ("files-size", 48 * MEGABYTE, lambda n: (GOOD, {"a": n // 2, "b": n - n // 2})),
        ("path-length", 1_024, lambda n: (GOOD, {"abcdefg/" * 15 + "x" * (n - 120): 1})),
        ("path-depth", 16, lambda n: (GOOD, {**SIZES, "/".join("x" * n): 1})),
        ("path-name-length", 255, lambda n: (GOOD, {**SIZES, "x" * n: 1})),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_bound_is_broken_by_what_is_over_it_alone(
    code: str, bound: int, made: Callable[[int], tuple[str, dict[str, int]]]
) -> None:
    for size, is_broken in ((bound, False), (bound + 1, True)):
        document, sizes = made(size)
        found = {problem.code for problem in skill_problems("refund-sum", sizes, document.encode())}
        assert (code in found) is is_broken, size
