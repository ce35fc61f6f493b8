"""A skill built in a pod: both layouts, failures name their step, no output is trusted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.adapters.mcp.answers import ToolAnswer
from core.adapters.mcp.pods import read_document
from core.domain.errors import McpDown, PodCallFailed, StepFailed
from core.domain.models import Bundle, Operation, ShellResult, SkillFile
from core.skill_creator_committer import SkillCreatorDeps, commit_to_skill_via_skill_creator
from core.testing.pods import LocalPods, MemorySkillDocuments, PodCall
from tests.support.packagers import INIT, NEWER, OLDER, package_skill
from tests.support.pod_answers import Lying, Truncating, Unframed, noise

TEXT = "---\nname: partial-refund\ndescription: 부분 환불을 정산한다\n---\n\n# Refund\n".encode()
SPLIT = b"#!/usr/bin/env python3\nprint('x')\n"
ADD = "archive = zipfile.ZipFile(target, 'a'); archive.writestr(name + '/x.md', 'x'); "
CLOSE = "archive.close()"
SKILL = Bundle(
    name="partial-refund",
    files={
        "SKILL.md": SkillFile(data=TEXT),
        "scripts/split.py": SkillFile(
            data=b"#!/usr/bin/env python3\nprint('x')\n", executable=True
        ),
        "references/it's a guide.md": SkillFile(data="# 안내\n".encode()),
        "assets/logo.bin": SkillFile(data=bytes(range(256)) * 600),
    },
)

INCOMPRESSIBLE = Bundle(
    name="partial-refund",
    files={**SKILL.files, "assets/noise.bin": SkillFile(data=noise(150_000))},
)


def documents(imports: str = OLDER, init: str | None = INIT, **given: str) -> MemorySkillDocuments:
    scripts = {"scripts/package_skill.py": package_skill(imports, **given)}
    if init is not None:
        scripts["scripts/init_skill.py"] = init
    return MemorySkillDocuments({"skill-creator": scripts})


def deps(root: Path, docs: MemorySkillDocuments | None = None, **given: object) -> SkillCreatorDeps:
    pods = LocalPods(root, **given)  # type: ignore[arg-type]
    return SkillCreatorDeps(pods=pods, documents=docs or documents(), new_id=lambda: "n0nce-1")


async def build(on: SkillCreatorDeps, skill: Bundle = SKILL, base: Bundle | None = None) -> Bundle:
    operation = Operation.UPDATE if base else Operation.CREATE
    return await commit_to_skill_via_skill_creator(skill.name, skill, operation, base, deps=on)


def calls(on: SkillCreatorDeps) -> list[PodCall]:
    assert isinstance(on.pods, LocalPods)
    return on.pods.calls


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
@pytest.mark.parametrize(("imports", "init"), [(OLDER, INIT), (NEWER, None)])
async def test_both_layouts_build_the_folder_that_was_sent(
    tmp_path: Path, imports: str, init: str | None, locale: str
) -> None:
    on = deps(tmp_path, documents(imports, init), env={"LC_ALL": locale})
    assert await build(on) == SKILL
    assert calls(on)[0] == PodCall("create_session", "600")
    assert calls(on)[-1] == PodCall("delete_session")


async def test_an_update_starts_from_bare_folders(tmp_path: Path) -> None:
    on = deps(tmp_path)
    assert await build(on, base=SKILL) == SKILL
    assert not [c for c in calls(on) if "init_skill" in c.argument and c.op == "run_shell"]


async def test_init_s_examples_are_left_out_also_where_they_cannot_be_deleted(
    tmp_path: Path,
) -> None:
    def before(call: PodCall) -> None:
        if call.op == "delete_file":
            raise PodCallFailed("read-only")

    assert await build(deps(tmp_path, before=before)) == SKILL


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Skill 'skill-creator' not found. Available: none", "no Python script"),
        ("def other():\n    pass\n", "defines no function"),
    ],
)
async def test_a_text_that_is_no_such_script_fails_the_step(
    tmp_path: Path, text: str, said: str
) -> None:
    scripts = {"scripts/package_skill.py": text, "scripts/init_skill.py": INIT}
    on = deps(tmp_path, MemorySkillDocuments({"skill-creator": scripts}))
    with pytest.raises(StepFailed, match=f"read_scripts: .*{said}"):
        await build(on)
    assert [call.op for call in calls(on)] in ([], ["create_session", "delete_session"])


async def test_a_server_without_a_packager_fails_the_step(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match=r"read_scripts: .*package_skill"):
        await build(deps(tmp_path, MemorySkillDocuments({})))


async def test_a_skill_server_that_is_down_may_pass(tmp_path: Path) -> None:
    with pytest.raises(McpDown, match="read_scripts:"):
        await build(deps(tmp_path, MemorySkillDocuments(down=True)))


@pytest.mark.parametrize(
    ("op", "needle", "step"),
    [
        ("create_session", "", "create_session"),
        ("create_file", "skill_work", "write_scripts"),
        ("run_shell", "init_skill.py", "init_skill"),
        ("create_file", "SKILL.md", "write_files"),
        ("run_shell", "quick_validate.py", "package_skill"),
    ],
)
@pytest.mark.parametrize("error", [McpDown("gone"), PodCallFailed("tool error")])
async def test_a_failed_call_names_its_step_and_the_session_is_deleted(
    tmp_path: Path, op: str, needle: str, step: str, error: Exception
) -> None:
    def before(call: PodCall) -> None:
        if call.op == op and needle in call.argument:
            raise error

    on = deps(tmp_path, before=before)
    with pytest.raises(McpDown if isinstance(error, McpDown) else StepFailed, match=f"^{step}:"):
        await build(on)
    if op != "create_session":
        assert calls(on)[-1] == PodCall("delete_session")


def when(needle: str, answer: Callable[[str], ShellResult]) -> Callable[[str], ShellResult | None]:
    return lambda command: answer(command) if needle in command else None


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Invalid frontmatter format: Skill is valid would be nice", 1),
        ("Skill is valid!", 1),
        ("Invalid", 0),
        ("", 0),
    ],
)
async def test_valid_is_a_status_of_zero_and_the_line_that_says_so(
    tmp_path: Path, said: str, status: int
) -> None:
    framed = f"<<n0nce1:quick_validate:begin>>\n{said}\n<<n0nce1:quick_validate:end:{status}>>\n"
    shell = when("quick_validate.py", lambda _: ShellResult(exit_code=0, stdout=framed))
    with pytest.raises(StepFailed, match="quick_validate:"):
        await build(deps(tmp_path, shell=shell))


async def test_a_folder_whose_making_never_ended_has_no_status(tmp_path: Path) -> None:
    cut_off = "<<n0nce1:init_skill:begin>>\nmaking"
    shell = when("init_skill.py", lambda _: ShellResult(exit_code=0, stdout=cut_off))
    with pytest.raises(StepFailed, match="init_skill: no status: making"):
        await build(deps(tmp_path, shell=shell))


async def test_a_packager_that_leaves_a_zip_but_ends_with_an_error_has_failed(
    tmp_path: Path,
) -> None:
    docs = documents(then="print('packaged'); return 3")
    with pytest.raises(StepFailed, match="package_skill: status 3"):
        await build(deps(tmp_path, docs))


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (
            ADD + CLOSE,
            "extra: x.md",
        ),
        (
            "archive = zipfile.ZipFile(target, 'w'); "
            "archive.write(folder + '/SKILL.md', name + '/SKILL.md'); archive.close()",
            "missing: assets/logo.bin",
        ),
    ],
)
async def test_what_comes_back_must_be_what_was_sent(tmp_path: Path, then: str, said: str) -> None:
    with pytest.raises(StepFailed, match="compare:") as raised:
        await build(deps(tmp_path, documents(then=then)))
    assert said in raised.value.message


async def test_a_file_the_packager_may_leave_out_stays_where_it_was(tmp_path: Path) -> None:
    then = (
        "kept = [i for i in zipfile.ZipFile(target).infolist() if '/evals/' not in i.filename]; "
        "data = [(i, zipfile.ZipFile(target).read(i)) for i in kept]; "
        "archive = zipfile.ZipFile(target, 'w'); "
        "[archive.writestr(i, d) for i, d in data]; archive.close()"
    )
    evals = {**SKILL.files, "evals/evals.json": SkillFile(data=b"{}")}
    with_evals = SKILL.model_copy(update={"files": evals})
    assert (
        await build(deps(tmp_path / "a", documents(then=then)), with_evals, with_evals)
        == with_evals
    )
    assert await build(deps(tmp_path / "b", documents(then=then)), with_evals) == SKILL


@pytest.mark.parametrize("limit", [50_000, 100_000])
@pytest.mark.parametrize("keeps", ["head", "tail"])
async def test_an_answer_that_is_cut_off_is_fetched_in_ranges(
    tmp_path: Path, limit: int, keeps: str
) -> None:
    on = deps(tmp_path)
    on = replace(on, pods=Truncating(on.pods, limit, keeps))  # type: ignore[arg-type]
    assert await build(on, INCOMPRESSIBLE) == INCOMPRESSIBLE


class ShapedDocuments(MemorySkillDocuments):
    """Documents in one of the shapes in which servers answer `read_skill_document`."""

    shape = "plain"

    async def read(self, skill_name: str, document_path: str) -> str | None:
        text = await super().read(skill_name, document_path)
        if text is None:
            said = ABSENT[self.shape].format(path=document_path)
        else:
            said = PRESENT[self.shape](text, document_path)
        return read_document(ToolAnswer((said,)), skill_name, document_path)


PRESENT: dict[str, Callable[[str, str], str]] = {
    "plain": lambda text, _: text,
    "ruled": lambda text, path: f"Document: {path}\n{'=' * 80}\n\n{text}",
    "json": lambda text, path: json.dumps({"result": {"path": path, "content": text}}),
}
ABSENT = {
    "plain": "Error: document not found: {path}",
    "ruled": "No documents matching '{path}' found in skill 'skill-creator'.",
    "json": '{{"error": {{"code": 404, "message": "no such file: {path}"}}}}',
}


@given(
    limit=st.one_of(st.just(500), st.integers(500, 3_000), st.integers(500, 60_000)),
    keeps=st.sampled_from(["head", "tail", "ends", "none"]),
    notice=st.sampled_from(["", "\n... [output truncated] ...\n"]),
    shape=st.sampled_from([*PRESENT]),
    layout=st.sampled_from([(OLDER, INIT), (NEWER, None)]),
    is_new=st.booleans(),
    size=st.integers(0, 100),
)
def through_any_pod(
    tmp_path: Path,
    most: int,
    limit: int,
    keeps: str,
    notice: str,
    shape: str,
    layout: tuple[str, str | None],
    *,
    is_new: bool,
    size: int,
) -> None:
    docs = documents(*layout)
    shaped = ShapedDocuments(docs.documents)
    shaped.shape = shape
    on = deps(tmp_path / "pods", shaped)
    on = replace(on, pods=Truncating(on.pods, limit, keeps, notice))  # type: ignore[arg-type]
    files = {**SKILL.files, "assets/logo.bin": SkillFile(data=noise(size * most // 100) or b"\xff")}
    skill = SKILL.model_copy(update={"files": files})
    assert asyncio.run(build(on, skill, None if is_new else SKILL)) == skill


@pytest.mark.parametrize(
    ("examples", "most"),
    [
        (3, 1_200),
        pytest.param(400, 60_000, marks=[pytest.mark.nightly, pytest.mark.timeout(1200)]),
    ],
)
def test_any_pod_that_passes_on_500_characters_will_do(
    tmp_path: Path, examples: int, most: int
) -> None:
    settings(max_examples=examples, deadline=None)(through_any_pod)(tmp_path, most)


async def test_ranges_that_are_not_what_was_packaged_are_refused(tmp_path: Path) -> None:
    on = deps(tmp_path)
    on = replace(on, pods=Lying(on.pods, 50_000, "head"))  # type: ignore[arg-type]
    with pytest.raises(StepFailed, match="fetch: what came is not what was packaged"):
        await build(on, INCOMPRESSIBLE)


async def test_an_answer_without_frames_is_accepted_if_it_is_the_folder(tmp_path: Path) -> None:
    on = deps(tmp_path)
    assert await build(replace(on, pods=Unframed(on.pods))) == SKILL  # type: ignore[arg-type]


async def test_hostile_names_reach_no_shell(tmp_path: Path) -> None:
    path = "references/$(touch hacked) `touch hacked`; touch hacked.md"
    skill = SKILL.model_copy(update={"files": {**SKILL.files, path: SkillFile(data=b"x\n")}})
    binary = "assets/$(touch hacked).bin"
    files = {**skill.files, binary: SkillFile(data=b"\xff\x00", executable=True)}
    skill = skill.model_copy(update={"files": files})
    assert await build(deps(tmp_path), skill) == skill
    assert not list(tmp_path.rglob("hacked"))
