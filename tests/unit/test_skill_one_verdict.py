"""One verdict on a skill: validated, packaged, imported, in a pod, and as the program writes it."""

from __future__ import annotations

import io
import stat
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from skills_ref import validator as reference

from core.changes.gate.change_gate import ChangeGate
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Operation,
    Receipt,
    ReceiptStatus,
    SkillFile,
    SkillRequest,
)
from core.skill_quick_validate import (
    Problem,
    check_bundle,
    check_folder,
    errors_of,
    get_quick_validate_script,
)
from core.skills.bundle import (
    NoSkill,
    bundle_to_zip,
    read_skill_file,
    read_skill_folder,
    read_zip,
)
from core.skills.document.frontmatter import read_frontmatter
from core.skills.package import package_skill
from tests.support.skill_cases import in_memory, made_skills, put
from tests.support.skills import World

TAG = "\U000e0041"
WARN, FAIL = "warning", "error"


@dataclass(frozen=True)
class Case:
    """A folder, and the rules that it breaks; `mode` is that of `scripts/run.sh`, if any."""

    found: dict[str, str]
    name: str = "refund"
    description: str = "Reconciles refunds"
    extra: str = ""
    body: str = "\nDo this.\n"
    folder: str = "refund"
    mode: int | None = None
    paths: tuple[str, ...] = ()

    @property
    def document(self) -> bytes:
        head = f"---\nname: {self.name}\ndescription: {self.description}\n{self.extra}---\n"
        return (head + self.body).encode()

    def at(self, root: Path) -> Path:
        put(root / self.folder, self.document, self.paths)
        if self.mode is not None:
            script = root / self.folder / "scripts" / "run.sh"
            script.parent.mkdir()
            script.write_bytes(b"#!/bin/sh\n")
            script.chmod(self.mode)
        return root / self.folder


CASES = {
    "sound": Case({}),
    "another folder": Case({"name-folder": WARN}, folder="refunds"),
    "a key of one product": Case({"key-unknown": WARN}, extra="colour: red\n"),
    "a key of coding tools": Case({"key-of-tools": WARN}, extra="model: opus\n"),
    "a number as name": Case({"head-unquoted": WARN}, name="12", folder="12"),
    "a quoted number as name": Case({}, name="'12'", folder="12"),
    "a word of YAML as name": Case({"head-unquoted": WARN}, name="yes", folder="yes"),
    "a number as compatibility": Case({"head-unquoted": WARN}, extra="compatibility: 3.11\n"),
    "no body": Case({"body-empty": WARN}, body=""),
    "a blank body": Case({"body-empty": WARN}, body="\n \n"),
    "invisible in the body": Case({"document-invisible": WARN}, body="a\u200bb"),
    "tags in the body": Case({"document-invisible": WARN}, body=f"a{TAG}"),
    "a flag in the body": Case({}, body="\U0001f3f4\U000e0067\U000e0062\U000e007f\n"),
    "tags in the description": Case({"description-invisible": WARN}, description=f'"a{TAG}"'),
    "tags in another key": Case({"document-invisible": WARN}, extra=f'license: "a{TAG}"\n'),
    "NUL in the body": Case({"document-nul": FAIL}, body="a\0b"),
    "setuid": Case({"file-mode": WARN}, mode=0o4755),
    "sticky and setgid": Case({"file-mode": WARN}, mode=0o3644),
    "a name of a platform": Case({"name-reserved": WARN}, name="claude-x", folder="claude-x"),
    "a maker's name": Case({"name-reserved": WARN}, name="anthropic-x", folder="anthropic-x"),
    "angle brackets": Case({"description-brackets": WARN}, description="use <b>"),
    "a colon": Case({"head-quotes": FAIL}, description="a: b"),
    "letters of Korea": Case({"name-form": FAIL}, name="환불", folder="환불"),
    "litter": Case(
        {"files-left-aside": WARN},
        paths=(".git/config", ".git/HEAD", "node_modules/a/b.js", "a/__pycache__/x.pyc"),
    ),
    "a second document": Case({"document-second": FAIL}, paths=("a/SKILL.md",)),
    "a file of the file manager": Case({"files-left-aside": WARN}, paths=(".DS_Store",)),
}
cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def verdict(problems: tuple[Problem, ...] | list[Problem]) -> dict[str, str]:
    return {problem.code: problem.severity for problem in problems}


@cases
def test_validate_package_and_zip_give_one_verdict(case: Case, tmp_path: Path) -> None:
    folder = case.at(tmp_path)
    assert verdict(check_folder(folder)) == case.found
    assert verdict(_packaged(folder, tmp_path)) == case.found
    assert verdict(_zipped(folder)) == case.found


def _packaged(folder: Path, out: Path) -> tuple[Problem, ...]:
    try:
        package = package_skill(read_skill_folder(folder), out)
    except NoSkill as error:
        return error.problems
    packed = read_zip(package.path.read_bytes())
    assert packed.name == package.name == read_frontmatter(packed.document).name
    return package.problems


def _zipped(folder: Path) -> tuple[Problem, ...]:
    """The verdict on the same folder, packed by another tool."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, f"{folder.name}/{file.relative_to(folder)}")
    try:
        read = read_skill_file(buffer.getvalue())
    except NoSkill as error:
        return error.problems
    return (*read.problems, *check_bundle(read.bundle))


@cases
async def test_the_gate_takes_what_is_valid_and_names_every_rule(
    case: Case, tmp_path: Path
) -> None:
    if not _is_valid(case):
        receipt = await given(World(), None, in_memory("x", case.document, case.paths))
        assert receipt.status is ReceiptStatus.REFUSED
        assert [code for code, how in case.found.items() if how == FAIL] == [
            code for code in case.found if f"[{code}]" in receipt.message
        ]
        return
    read = read_skill_folder(case.at(tmp_path)).bundle
    name = read_frontmatter(read.document).name
    known = in_memory(name, f"---\nname: '{name}'\ndescription: old\n---\nold".encode())
    for base in (None, known):
        world = World()
        receipt = await given(world, base, Bundle(name=name, files=read.files))
        assert receipt.status is ReceiptStatus.APPLIED, receipt.message
        told = "\n".join(receipt.warnings)
        of_the_text = {code for code in case.found if not code.startswith(("file", "name-folder"))}
        assert [code for code in of_the_text if f"[{code}]" not in told] == []
        assert world.store.skills["t", name].files == read.files


async def given(world: World, base: Bundle | None, bundle: Bundle) -> Receipt:
    """Submit a folder as an import does; the skill is there already as `base`, if any."""
    if base is not None:
        world.store.skills["t", base.name] = base
    name = None if base is None else base.name
    operation = Operation.UPDATE if base else Operation.CREATE
    request = SkillRequest(operation=operation, target_id=name, folder=bundle.files)
    deps = world.deps("k")
    assert isinstance(deps.gate, ChangeGate)
    return await deps.gate.submit(request, deps.context)


def _is_valid(case: Case) -> bool:
    return FAIL not in case.found.values()


def test_a_pod_says_the_same(tmp_path: Path) -> None:
    script = tmp_path / "quick_validate.py"
    script.write_text(get_quick_validate_script(), encoding="utf-8")
    for number, case in enumerate(CASES.values()):
        folder = case.at(tmp_path / str(number))
        if number % 4 and "document-invisible" not in case.found:
            continue  # each costs a process
        command = [sys.executable, "-I", "-S", str(script), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == (0 if _is_valid(case) else 1), case
        assert done.stdout.count("Warning: ") == list(case.found.values()).count(WARN)


def test_what_one_of_the_validators_reads_is_read(tmp_path: Path) -> None:
    # What readers of YAML take for different things, what nobody could address, and NUL.
    not_ours = {"description-empty", "head-anchor", "head-key-twice", "head-tag", "name-form"}
    read = 0
    for number, (name, document) in enumerate(_documents()):
        folder = put(tmp_path / str(number) / "refund", document)
        codes = {problem.code for problem in errors_of(check_bundle(in_memory(name, document)))}
        if _reference(folder) or _published(document):
            read += 1
            assert codes <= not_ours | {"document-nul"}, document
        both = _reference(folder) and _published(document)
        created = check_bundle(in_memory("refund", document), created=True)
        is_of_tools = "key-of-tools" in verdict(created)  # which neither of them knows
        assert both or errors_of(created) or is_of_tools, document
    assert read > 35


def _documents() -> list[tuple[str, bytes]]:
    """Skills in a folder `refund`, without the line ends of old Macs."""
    made = [document for document, paths in made_skills(200, seed=11) if not paths]
    made += [case.document for case in CASES.values() if not case.paths and case.mode is None]
    return [("refund", doc) for doc in made if b"\r" not in doc.replace(b"\r\n", b"")]


def _reference(folder: Path) -> bool:
    try:
        return reference.validate(folder) == []
    except (UnicodeDecodeError, AttributeError):  # it stumbles over control characters
        return False


def _published(document: bytes) -> bool:
    """Whether the published quick_validate accepts a document: its rules, in our words."""
    try:
        text = document.decode("utf-8")
        head = text.removeprefix("---\n").split("\n---", 1)
        fields = yaml.safe_load(head[0]) if text.startswith("---\n") and len(head) == 2 else None
    except (UnicodeDecodeError, yaml.YAMLError):
        return False
    known = {"name", "description", "license", "allowed-tools", "metadata", "compatibility"}
    if not isinstance(fields, dict) or not {"name", "description"} <= set(fields) <= known:
        return False
    texts = [fields[key] for key in ("name", "description")]
    if not all(isinstance(value, str) for value in texts):
        return False
    name, description = (value.strip() for value in texts)
    tools = fields.get("compatibility", "x")
    return (
        all(part.isascii() and part.isalnum() and part == part.lower() for part in name.split("-"))
        and len(name) <= 64
        and not {"<", ">"} & set(description)
        and len(description) <= 1024
        and isinstance(tools, str)
        and 0 < len(tools) <= 500
    )


def test_a_truncated_zip_is_called_truncated_and_a_flat_one_flat() -> None:
    bundle = in_memory("refund", CASES["sound"].document, ("a.md",))
    whole = bundle_to_zip(bundle, root=False)
    for size in (10, len(whole) // 2, len(whole) - 22, len(whole) - 1):
        with pytest.raises(NoSkill, match="is truncated") as caught:
            read_skill_file(whole[:size])
        assert [problem.code for problem in caught.value.problems] == ["archive-truncated"]
    flat = read_skill_file(bundle_to_zip(bundle, root=True))
    assert flat.bundle == bundle
    assert [(found.code, found.severity) for found in flat.problems] == [("archive-flat", WARN)]


def test_links_and_other_documents_have_their_rules_in_a_zip_too(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("refund/link")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    entries: dict[str, list[zipfile.ZipInfo | str]] = {
        "file-kind": [f"refund/{SKILL_MD}", link],
        "document-missing": ["refund/a.md"],
        "document-second": [f"refund/{SKILL_MD}", f"refund/a/{SKILL_MD}"],
        "path-traversal": [f"refund/{SKILL_MD}", "refund/../x"],
    }
    for code, names in entries.items():
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name in names:
                archive.writestr(name, CASES["sound"].document)
        with pytest.raises(NoSkill) as caught:
            read_skill_file(buffer.getvalue())
        assert [problem.code for problem in caught.value.problems] == [code]
    skill = CASES["sound"].at(tmp_path)
    (skill / "link").symlink_to("/etc/passwd")
    with pytest.raises(NoSkill, match=r"\[file-kind\]"):
        read_skill_folder(skill)


def test_what_a_mac_puts_into_a_zip_is_left_aside() -> None:
    bundle = in_memory("refund", CASES["sound"].document)
    buffer = io.BytesIO(bundle_to_zip(bundle, root=False))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("__MACOSX/refund/._SKILL.md", b"\0")
        archive.writestr("refund/.DS_Store", b"x")
        archive.writestr("refund/.git/config", b"x")
        archive.writestr("refund/.git/HEAD", b"x")
    read = read_skill_file(buffer.getvalue())
    assert read.bundle == bundle
    (said,) = read.problems
    assert said.message.endswith("parts: .DS_Store, .git (2), __MACOSX") or ".git" in said.message


def test_an_edit_of_a_skill_that_is_not_ours_may_leave_its_weakness() -> None:
    old = in_memory("refund", CASES["a key of one product"].document)
    given = Bundle(name="refund", files={**old.files, "b.md": SkillFile(data=b"x")})
    assert verdict(check_bundle(given, old, given=True)) == {"key-unknown": WARN}
    changed = in_memory("refund", CASES["no body"].document)
    assert verdict(check_bundle(changed, old)) == {"body-empty": FAIL}
    assert verdict(check_bundle(changed, old, given=True)) == {"body-empty": WARN}
