"""One verdict on a skill, on disk, in memory and in a pod, compared with other validators."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from skills_ref import validator as reference

from core.domain.errors import ArtifactInvalid
from core.domain.models import SkillArtifact
from core.skill_quick_validate import (
    VALID,
    check_bundle,
    errors_of,
    get_quick_validate_script,
    validate_skill,
)
from core.skills.document.assembly import assemble
from core.skills.validation.paths import LITTER
from tests.support.skill_cases import in_memory, made_skills, put
from tests.support.waiting import AT_LAST

counts = pytest.mark.parametrize("count", [100, pytest.param(300, marks=pytest.mark.nightly)])


@counts
def test_disk_memory_and_script_agree(tmp_path: Path, count: int) -> None:
    script = tmp_path / "quick_validate.py"
    script.write_text(get_quick_validate_script(), encoding="utf-8")
    skills = list(made_skills(count, seed=3))
    folders = [
        put(tmp_path / str(number) / "refund", document, paths)
        for number, (document, paths) in enumerate(skills)
    ]
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda folder: _run(script, folder), folders))
    verdicts = []
    for (document, paths), folder, (status, lines) in zip(skills, folders, said, strict=True):
        valid, message = validate_skill(folder)
        kept = tuple(path for path in paths if LITTER.isdisjoint(path.split("/")))
        errors = errors_of(check_bundle(in_memory("refund", document, kept)))
        assert (valid, message, status) == (not errors, lines[-1], int(not valid)), document
        assert message == (errors[0].message if errors else VALID)
        verdicts.append(valid)
    assert len(verdicts) == count
    assert count / 5 < sum(verdicts) < count * 4 / 5


def _run(script: Path, folder: Path) -> tuple[int, list[str]]:
    command = [sys.executable, "-S", "-I", "-X", "utf8=0", str(script), str(folder)]
    env = {"LANG": "C", "LC_ALL": "C"}
    done = subprocess.run(command, env=env, capture_output=True, check=False, timeout=AT_LAST)
    assert done.stderr == b""
    return done.returncode, done.stdout.decode("utf-8").splitlines()


words = st.text(min_size=1, max_size=60) | st.text("ab :#'\"\\-|>&*!{}[],?%@`가\u2028", max_size=20)


@given(name=st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}", fullmatch=True), text=words)
def test_what_we_create_satisfies_everyone(
    name: str, text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        artifact = SkillArtifact(name=name, description=text, body_markdown="Do this.")
        bundle = assemble(artifact, name=None, base=None)
    except ArtifactInvalid:
        return
    folder = put(tmp_path_factory.mktemp("made") / name, bundle.document.encode())
    assert check_bundle(bundle, created=True) == []
    assert validate_skill(folder) == (True, VALID)
    assert list(_published(bundle.document)) == []
    assert reference.validate(folder) == []


def _published(document: str) -> Iterator[str]:
    """The rules of the published quick_validate, in our words; it splits at the first fence."""
    head = document.removeprefix("---\n").split("\n---", 1)[0]
    fields = yaml.safe_load(head)
    if set(fields) != {"name", "description"}:
        yield "keys"
    for value in fields.values():
        if not isinstance(value, str) or "<" in value or ">" in value or len(value) > 1024:
            yield value


@counts
def test_where_the_reference_is_content_so_are_we(tmp_path: Path, count: int) -> None:
    compared = 0
    for number, (document, paths) in enumerate(made_skills(count, seed=5)):
        folder = put(tmp_path / str(number) / "refund", document, paths)
        bare_cr = b"\r" in document.replace(b"\r\n", b"")  # no line end in YAML of ours
        if paths or bare_cr or _theirs(folder) != []:
            continue
        compared += 1
        problems = check_bundle(in_memory("refund", document))
        assert errors_of(problems) == [], document
    assert compared > count / 30


def _theirs(folder: Path) -> list[str] | None:
    try:
        return reference.validate(folder)
    except (UnicodeDecodeError, AttributeError):  # it stumbles over control characters
        return None
