"""What an agent knows, written to a folder of a test: on disk, with git where it is asked for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.adapters.files.folder import DiskFolder
from core.adapters.files.git import GitRepository
from core.delivery.files.edits import Edit
from core.delivery.files.knowing import Known
from core.delivery.files.layouts import LayoutName
from core.delivery.files.outline import Key
from core.delivery.files.rendering import Style
from core.delivery.files.sync import Cause, FileSync, Synced
from core.domain.models import SKILL_MD, Agent, Bundle, Kind, KnowledgeItem, SkillFile
from tests.support.rules import learnt, row

AT = datetime(2026, 11, 23, tzinfo=UTC)
AGENT = Agent(id="orders", tenant_id="t", name="주문 담당")
DOCUMENT = "---\nname: {}\ndescription: How to refund. Use it for refunds.\n{}---\n# R\n{}"
CLAUDE = LayoutName.CLAUDE


def memory(item_id: str, content: str, version: int = 1, agent: Agent = AGENT) -> KnowledgeItem:
    return KnowledgeItem(
        id=item_id,
        kind=Kind.MEMORY,
        tenant_id=agent.tenant_id,
        agent_id=agent.id,
        name=content,
        content=content,
        version=version,
    )


def table(item_id: str, name: str = "승인", outcome: str = "팀장") -> KnowledgeItem:
    xml = learnt(row("> 10", outcome), row("<= 10", "없|음"), name=name).xml
    item = memory(item_id, xml)
    return item.model_copy(update={"kind": Kind.DMN_RULE, "name": name})


def skill(name: str, body: str = "", head: str = "", **files: str) -> Bundle:
    texts = {SKILL_MD: DOCUMENT.format(name, head, body)}
    texts |= {f"references/{path}.md": text for path, text in files.items()}
    return Bundle(
        name=name,
        files={path: SkillFile(data=text.encode()) for path, text in texts.items()},
    )


MEMORIES = (memory("m1", "원화로 적는다"), memory("m2", "Ship on Fridays\nbut never before ten"))
KNOWN = Known(AGENT, MEMORIES, (table("r1"),), (skill("refund", x="why"),), {"refund": 3})


@dataclass
class Target:
    """A folder that is synced; `causes` are the changes of items, by id."""

    root: Path
    style: Style = field(default_factory=lambda: Style(CLAUDE))
    causes: Mapping[str, Cause] = field(default_factory=dict)
    told: list[Edit] = field(default_factory=list)

    async def sync(
        self, known: Known = KNOWN, *, overwrite: bool = False, commit: bool = False
    ) -> Synced:
        """Sync once."""

        async def ask() -> Known:
            return known

        async def on_edits(edits: Sequence[Edit]) -> bool:
            self.told = [*edits]
            return overwrite

        async def cause_of(key: Key) -> Cause | None:
            return self.causes.get(key.id)

        return await FileSync(
            folder=DiskFolder(self.root),
            style=self.style,
            ask=ask,
            on_edits=on_edits,
            cause_of=cause_of,
            repository=GitRepository(self.root) if commit else None,
        ).sync()

    def of(self, layout: LayoutName, prefix: str = "", *paths: str) -> Target:
        """Return the same folder for another tool."""
        return replace(self, style=Style(layout, prefix, paths), told=[])

    def text(self, path: str) -> str:
        """Return a file's text."""
        return (self.root / path).read_text("utf-8")

    def write(self, path: str, text: str) -> None:
        """Write a file by hand."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode())

    def files(self) -> dict[str, bytes]:
        """Return all files but git's own."""
        found = (path for path in self.root.rglob("*") if path.is_file())
        named = ((str(path.relative_to(self.root)), path) for path in found)
        return {name: path.read_bytes() for name, path in named if not name.startswith(".git/")}


def cause(number: int) -> Cause:
    """Return the change of that number, a minute after the one before."""
    return Cause(f"c{number}", f"f{number}", AT + timedelta(minutes=number))


def git(root: Path, *arguments: str) -> str:
    """Run git in a folder, as a user with a name; return what it prints."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        env=environment,
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=60,
    )
    return done.stdout


def repository(root: Path) -> None:
    """Make a repository with one commit."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    named = {"user.name": "Kim", "user.email": "kim@example.com", "core.quotePath": "false"}
    for key, value in named.items():
        git(root, "config", key, value)
    (root / "README.md").write_text("# Shop\n", encoding="utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Begin")
