"""A skill's folder on disk: what is read, skipped and refused."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from core.domain.errors import BundleInvalid, NotFound
from core.domain.models import SKILL_MD, SkillFile
from core.skills.bundle import MAX_FILES, bundle_to_zip, read_folder, read_zip
from core.skills.validation.folder import list_folder
from core.skills.validation.paths import MAX_DEPTH, MAX_FILE_BYTES

DOCUMENT = "---\nname: refund\ndescription: d\n---\nbody\n"


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    folder = tmp_path / "refund"
    (folder / "scripts").mkdir(parents=True)
    (folder / SKILL_MD).write_text(DOCUMENT, encoding="utf-8")
    (folder / "scripts" / "run.py").write_bytes(b"#!/usr/bin/env python3\n")
    (folder / "scripts" / "run.py").chmod(0o755)
    return folder


def test_a_folder_is_read_with_its_executable_bits(skill: Path) -> None:
    blob = bytes(range(256))
    (skill / "logo.png").write_bytes(blob)
    (skill / unicodedata.normalize("NFD", "규정.md")).write_bytes(b"x")
    bundle = read_folder(skill)
    assert bundle.name == "refund"
    assert bundle.files == {
        SKILL_MD: SkillFile(data=DOCUMENT.encode()),
        "logo.png": SkillFile(data=blob),
        "scripts/run.py": SkillFile(data=b"#!/usr/bin/env python3\n", executable=True),
        "규정.md": SkillFile(data=b"x"),
    }
    assert read_zip(bundle_to_zip(bundle, root=False)) == bundle


def test_what_tools_leave_behind_is_passed_over(skill: Path) -> None:
    (skill / "scripts" / "__pycache__").mkdir()
    (skill / "scripts" / "__pycache__" / "run.pyc").write_bytes(b"x")
    (skill / ".DS_Store").write_bytes(b"x")
    assert set(read_folder(skill).files) == {SKILL_MD, "scripts/run.py"}


def test_a_file_that_is_too_large_is_refused_and_never_cut_off(skill: Path) -> None:
    with (skill / "video.mp4").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(BundleInvalid, match=r"'video\.mp4' has .* bytes, more than"):
        read_folder(skill)
    os.truncate(skill / "video.mp4", MAX_FILE_BYTES)
    assert len(read_folder(skill).files["video.mp4"].data) == MAX_FILE_BYTES


def test_a_link_is_never_followed(skill: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s", encoding="utf-8")
    (skill / "notes.md").symlink_to(tmp_path / "secret")
    with pytest.raises(BundleInvalid, match=r"'notes\.md' is a link"):
        read_folder(skill)
    (skill / "notes.md").unlink()
    (skill / "all").symlink_to(tmp_path)
    with pytest.raises(BundleInvalid, match="'all' is a link"):
        read_folder(skill)


def test_a_pipe_is_no_file(skill: Path) -> None:
    os.mkfifo(skill / "pipe")
    with pytest.raises(BundleInvalid, match="no regular file"):
        read_folder(skill)


def test_a_name_that_is_no_text_is_refused(skill: Path) -> None:
    (skill / os.fsdecode(b"\xff.md")).write_bytes(b"x")
    with pytest.raises(BundleInvalid, match="not UTF-8"):
        read_folder(skill)


def test_files_are_listed_by_their_composed_names(skill: Path) -> None:
    (skill / unicodedata.normalize("NFD", "é.md")).touch()
    (skill / "f.md").touch()
    files, problems = list_folder(os.fsencode(skill))
    assert [file.path for file in files] == [SKILL_MD, "f.md", "scripts/run.py", "é.md"]
    assert problems == []


def test_two_names_of_one_normal_form_are_refused(skill: Path) -> None:
    for form in ("NFC", "NFD"):
        (skill / unicodedata.normalize(form, "é.md")).touch()
    with pytest.raises(BundleInvalid, match=r"two names of 'é\.md' differ only in normal form"):
        read_folder(skill)


@pytest.mark.parametrize(("depth", "is_read"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False)])
def test_folders_are_read_so_deep_and_no_deeper(skill: Path, depth: int, is_read: bool) -> None:
    deep = skill.joinpath(*"x" * depth)
    deep.mkdir(parents=True)
    (deep / "a.md").touch()
    files, problems = list_folder(os.fsencode(skill))
    assert any(file.path.endswith("/a.md") for file in files) is is_read
    said = [f"'{'/'.join('x' * depth)}' is over {MAX_DEPTH} folders deep"]
    assert [problem.message for problem in problems] == ([] if is_read else said)


def test_a_folder_that_is_no_skill_is_not_listed_to_its_end(tmp_path: Path) -> None:
    for number in range(3 * MAX_FILES):
        (tmp_path / f"{number}").touch()
    files, _ = list_folder(os.fsencode(tmp_path))
    assert MAX_FILES < len(files) <= 2 * MAX_FILES + 1


def test_a_name_that_is_no_text_hides_no_other_file(skill: Path) -> None:
    (skill / os.fsdecode(b"A\xff.md")).touch()
    files, problems = list_folder(os.fsencode(skill))
    assert [file.path for file in files] == [SKILL_MD, "scripts/run.py"]
    assert [problem.message for problem in problems] == ["the name of 'A\\\\xff.md' is not UTF-8"]


def test_too_many_files_are_refused_unread(skill: Path) -> None:
    for number in range(MAX_FILES):
        (skill / f"{number}").touch()
    with pytest.raises(BundleInvalid, match="files, more than"):
        read_folder(skill)


def test_a_file_too_large_is_refused_unread(skill: Path) -> None:
    with (skill / "big").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(BundleInvalid, match="bytes, more than"):
        read_folder(skill)


def test_a_folder_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_folder(tmp_path / "nothing")
    with pytest.raises(BundleInvalid, match=r"no SKILL\.md"):
        read_folder(tmp_path)
