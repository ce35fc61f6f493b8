"""Cases of scripts: run in a sandbox on what a change would make of their skill."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import pytest

from core.changes.cases.running import WithScripts
from core.domain.errors import DependencyDown, SkillWorkerError
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    FileRef,
    Kind,
    ShellResult,
    SkillFile,
    Snapshot,
)
from core.domain.models.cases import (
    Case,
    CaseBody,
    CaseStatus,
    Check,
)
from core.domain.ports import Pods
from core.testing.skill_store import MemorySkillStore
from tests.support.react import item_change
from tests.unit.test_beside_the_work import GREEN, RED, Turn, case


@dataclass
class Sandbox:
    """Pods that remember what was put into them, and end as they are told."""

    status: int | None = 0
    output: str = "12\n"
    error: SkillWorkerError | None = None
    files: dict[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    opened: int = 0

    @asynccontextmanager
    async def open(self, *, ttl: int) -> AsyncIterator[Sandbox]:
        assert ttl == 300
        if self.error is not None:
            raise self.error
        self.opened += 1
        yield self

    async def create_file(self, path: str, content: str) -> None:
        self.files[path] = content

    async def run_shell(self, command: str) -> ShellResult:
        self.commands.append(command)
        return ShellResult(exit_code=self.status, stdout=self.output, stderr="")


def script(case_id: str = "s", text: str = "run.py", **given: object) -> Case:
    body = CaseBody(check=Check.SCRIPT, text=text, input="in", output="12")
    return case(case_id, body=body, **given)


CODE = {SKILL_MD: b"# Pay", "run.py": b"print(12)", "logo.png": b"\xff\x00"}
REFS = {path: FileRef(sha256=path, size=1) for path in CODE}


@dataclass
class Scripts:
    """A runner of scripts over a skill `pay` that stands."""

    sandbox: Sandbox = field(default_factory=Sandbox)
    others: Turn = field(default_factory=Turn)
    skills: MemorySkillStore = field(default_factory=MemorySkillStore)

    def __post_init__(self) -> None:
        files = {path: SkillFile(data=data) for path, data in CODE.items()}
        self.skills.skills["t", "pay"] = Bundle(name="pay", files=files)
        self.runner = WithScripts(self.others, self.skills, cast("Pods", self.sandbox))


def of_pay(**given: object) -> Change:
    made = item_change(Kind.SKILL, "pay", "pay", "# Pay")
    state = Snapshot(content="# Pay", name="pay", files=REFS)
    return made.model_copy(update={"after": state, "before": state, "tenant_id": "t", **given})


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("run.py", "python3 ./run.py"),
        (" ./run.py ", "python3 ./run.py"),
        ("run.sh", "bash ./run.sh"),
        ("run.js", "node ./run.js"),
        ("run", "sh ./run"),
        ("a b.py", "python3 './a b.py'"),
    ],
)
async def test_a_script_is_run_by_its_ending_on_what_the_case_gives(
    text: str, command: str
) -> None:
    world = Scripts()
    more = {name: SkillFile(data=b"x") for name in ("run.sh", "run.js", "run", "a b.py")}
    pay = world.skills.skills["t", "pay"]
    world.skills.skills["t", "pay"] = Bundle(name="pay", files={**pay.files, **more})
    (done,) = await world.runner.now([script(text=text)])
    assert (done.passed, done.why) == (True, "")
    (run,) = world.sandbox.commands
    assert run == f"cd /tmp/skill && timeout 60 {command} < /tmp/case-input"
    assert world.sandbox.files["/tmp/case-input"] == "in"
    assert world.sandbox.files["/tmp/skill/run.py"] == "print(12)"
    assert "/tmp/skill/logo.png" not in world.sandbox.files


@pytest.mark.parametrize(
    ("status", "output", "passed", "code"),
    [
        (0, "12  \r\n\n", True, ""),
        (None, "12", True, ""),
        (0, "13", False, "case.script_wrote"),
        (1, "12", False, "case.script_failed"),
    ],
)
async def test_a_script_ends_by_its_status_and_what_it_wrote(
    status: int | None, output: str, passed: bool, code: str
) -> None:
    world = Scripts(Sandbox(status, output))
    (done,) = await world.runner.now([script()])
    assert (done.passed, getattr(done.why, "code", "")) == (passed, code)


async def test_a_script_fails_where_it_is_not_there_and_needs_a_sandbox() -> None:
    world = Scripts()
    (missing,) = await world.runner.now([script(text="gone.py")])
    assert (missing.passed, missing.why.code) == (False, "case.no_script")  # type: ignore[attr-defined]
    (gone,) = await world.runner.now([script(item_id="ship")])
    assert (gone.passed, gone.why.code) == (False, "case.item_gone")  # type: ignore[attr-defined]
    assert world.sandbox.opened == 0
    world.sandbox.error = DependencyDown("no sandbox answers")
    (unrun,) = await world.runner.now([script()])
    assert (unrun.passed, unrun.why) == (None, "no sandbox answers")


async def test_other_cases_are_run_by_others_and_all_come_back_in_their_order() -> None:
    world = Scripts()
    cases = [script("s1"), case("r1"), script("s2"), case("r2")]
    done = await world.runner.now(cases)
    assert [one.case.id for one in done] == ["s1", "r1", "s2", "r2"]
    assert world.others.ran == [["r1", "r2"]]
    world.others.ran.clear()
    world.others.before = {"r1": False, "r2": True}
    tried = await world.runner.before_and_after(of_pay(), CODE, cases)
    assert [one.case.id for _, one in tried] == ["s1", "r1", "s2", "r2"]
    assert [before for before, _ in tried] == [True, False, True, True]
    assert world.others.ran == [["r1", "r2"]]
    # Nobody else is asked where there are scripts alone.
    await world.runner.now([script()])
    await world.runner.before_and_after(of_pay(), CODE, [script()])
    assert len(world.others.ran) == 1


async def test_a_script_is_run_on_what_a_change_makes_of_its_skill() -> None:
    world = Scripts()
    ((before, after),) = await world.runner.before_and_after(of_pay(), CODE, [script()])
    assert (before, after.passed, world.sandbox.opened) == (True, True, 2)
    new = of_pay(before=None)
    ((before, after),) = await world.runner.before_and_after(new, CODE, [script()])
    assert (before, after.passed) == (False, True)  # before it there was none
    ((before, after),) = await world.runner.before_and_after(of_pay(), {}, [script()])
    assert (before, after.why.code) == (True, "case.no_script")  # type: ignore[attr-defined]
    gone = of_pay(after=None)
    ((before, after),) = await world.runner.before_and_after(gone, CODE, [script()])
    assert (before, after.why.code) == (True, "case.no_script")  # type: ignore[attr-defined]
    world.sandbox.error = DependencyDown("no sandbox answers")
    ((before, after),) = await world.runner.before_and_after(of_pay(), CODE, [script()])
    assert (before, after.passed) == (None, None)


@pytest.mark.parametrize(
    ("change", "status", "opened"),
    [
        (of_pay(target_id="ship"), GREEN, 0),
        (of_pay(kind=Kind.MEMORY), GREEN, 0),
        (of_pay(target_id="ship"), RED, 1),
    ],
)
async def test_a_script_that_a_change_cannot_reach_stays_as_it_was(
    change: Change, status: CaseStatus, opened: int
) -> None:
    world = Scripts()
    asked = [script(status=status)]
    ((before, after),) = await world.runner.before_and_after(change, CODE, asked)
    assert (before, after.passed, world.sandbox.opened) == (None, True, opened)
