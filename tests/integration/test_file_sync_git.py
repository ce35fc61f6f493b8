"""Syncing with commits: one for each change, of our paths alone, or nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.adapters.files.git import GitRepository
from core.delivery.files.layouts import LayoutName
from core.delivery.files.record import PATH
from core.domain.errors import InvalidInput, Refused
from tests.support.file_sync import KNOWN, MEMORIES, Target, cause, git, memory, repository, skill

MAIN = "CLAUDE.md"
CAUSES = {"m1": cause(1), "m2": cause(2), "r1": cause(3), "refund": cause(4)}


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    repository(tmp_path)
    yield Target(tmp_path / "shop", causes=CAUSES)
    git(tmp_path, "fsck", "--no-dangling")


def commits(target: Target) -> list[tuple[str, list[str]]]:
    """Return what was committed since the first commit, oldest first: messages and paths."""
    log = git(target.root, "log", "--reverse", "--name-only", "--format=%x01%B%x02", "HEAD")
    found = []
    for one in log.split("\x01")[2:]:
        message, _, paths = one.partition("\x02")
        found.append((message.strip(), sorted(paths.split())))
    return found


def status(target: Target) -> str:
    return git(target.root, "status", "--porcelain", "--untracked-files=all")


async def test_each_change_is_a_commit_that_names_its_feedback(target: Target) -> None:
    done = await target.sync(commit=True)
    assert len(done.commits) == 4
    record, folder = f"shop/{PATH}", "shop/.claude"
    assert commits(target) == [
        (
            "Sync what 주문 담당 knows: MEMORY m1\n\nFeedback-Id: f1\nChange-Id: c1",
            [record, "shop/CLAUDE.md"],
        ),
        (
            "Sync what 주문 담당 knows: MEMORY m2\n\nFeedback-Id: f2\nChange-Id: c2",
            [record, "shop/CLAUDE.md"],
        ),
        (
            "Sync what 주문 담당 knows: DMN_RULE r1\n\nFeedback-Id: f3\nChange-Id: c3",
            [
                f"{folder}/knowledge/orders/승인.dmn",
                f"{folder}/knowledge/orders/승인.md",
                record,
                "shop/CLAUDE.md",
            ],
        ),
        (
            "Sync what 주문 담당 knows: SKILL refund\n\nFeedback-Id: f4\nChange-Id: c4",
            [f"{folder}/skills/refund/SKILL.md", f"{folder}/skills/refund/references/x.md", record],
        ),
    ]
    assert git(target.root, "log", "-1", "--format=%(trailers:key=Change-Id,valueonly)") == "c4\n\n"
    assert status(target) == ""
    assert (await target.sync(commit=True)).commits == []


async def test_changes_and_ends_follow_in_their_order(target: Target) -> None:
    await target.sync(commit=True)
    causes = {"m1": cause(9), "m2": cause(7), "refund": cause(8), "m3": cause(7)}
    later = replace(target, causes=causes)
    known = replace(
        KNOWN,
        memories=(memory("m1", "달러로 적는다", 2), memory("m3", "new")),
        skills=(skill("refund", body="Otherwise.\n"),),
    )
    assert len((await later.sync(known, commit=True)).commits) == 3
    subjects = [message.splitlines()[0].partition(": ")[2] for message, _ in commits(target)[4:]]
    assert subjects == ["MEMORY m2, MEMORY m3", "SKILL refund", "MEMORY m1"]
    between = git(target.root, "show", "HEAD~1:shop/CLAUDE.md")
    assert ("원화로" in between, "[m3 v1] new" in between, "m2 v1" in between) == (
        True,
        True,
        False,
    )
    assert status(target) == ""


async def test_an_item_without_a_known_change_is_committed_last(target: Target) -> None:
    unknown = replace(target, causes={"m2": cause(2)})
    known = replace(KNOWN, tables=(), skills=())
    await unknown.sync(known, commit=True)
    last = "Sync what 주문 담당 knows: MEMORY m1"
    assert [message.partition("\n\n")[0] for message, _ in commits(target)][-1] == last
    assert "Change-Id" not in commits(target)[-1][0]


async def test_what_the_user_staged_or_changed_is_left_alone(target: Target) -> None:
    top = target.root.parent
    (top / "README.md").write_text("# Changed\n", encoding="utf-8")
    (top / "staged.txt").write_text("staged", encoding="utf-8")
    git(top, "add", "staged.txt")
    (top / "loose.txt").write_text("loose", encoding="utf-8")
    await target.sync(commit=True)
    assert status(target).splitlines() == [" M README.md", "A  staged.txt", "?? loose.txt"]
    assert all(path.startswith("shop/") for _, paths in commits(target) for path in paths)


async def test_text_of_the_user_is_not_committed_along(target: Target) -> None:
    target.write(MAIN, "# Mine\n")
    with pytest.raises(Refused, match=r"CLAUDE\.md.*not committed"):
        await target.sync(commit=True)
    assert target.files() == {MAIN: b"# Mine\n"}
    git(target.root, "add", MAIN)
    with pytest.raises(Refused, match="staged"):
        await target.sync(commit=True)
    git(target.root, "commit", "-q", "-m", "Mine")
    assert len((await target.sync(commit=True)).commits) == 4
    target.write(MAIN, target.text(MAIN) + "\nMore of mine.\n")
    with pytest.raises(Refused, match=r"CLAUDE\.md.*not committed"):
        await target.sync(replace(KNOWN, memories=()), commit=True)
    assert status(target) == " M shop/CLAUDE.md\n"


async def test_what_was_written_before_is_committed_at_last(target: Target) -> None:
    await target.sync()
    assert status(target)
    assert len((await target.sync(commit=True)).commits) == 1
    assert status(target) == ""


async def test_a_hook_of_the_user_that_refuses_undoes_the_write(target: Target) -> None:
    await target.sync(commit=True)
    hook = target.root.parent / ".git/hooks/commit-msg"
    hook.write_text('#!/bin/sh\ngrep -q "m1" "$1" || { echo no such luck >&2; exit 1; }\n', "utf-8")
    hook.chmod(0o755)
    known = replace(KNOWN, memories=(memory("m1", "달러", 2), memory("m2", "x", 2)), tables=())
    more = replace(known, skills=(*known.skills, skill("vat")))
    causes = {"m1": cause(5), "m2": cause(6), "vat": cause(7), "r1": cause(8)}
    later = replace(target, causes=causes)
    with pytest.raises(Refused, match="no such luck"):
        await later.sync(more, commit=True)
    assert len(commits(target)) == 5  # that of m1 stands
    assert status(target) == ""
    assert ("달러" in target.text(MAIN), "m2 v1" in target.text(MAIN)) == (True, True)
    with pytest.raises(Refused, match="no such luck"):
        await replace(later.of(LayoutName.COPILOT), causes={}).sync(
            replace(more, memories=()), commit=True
        )
    assert status(target) == ""
    hook.unlink()
    assert len((await later.sync(more, commit=True)).commits) == 3
    assert status(target) == ""


async def test_what_cannot_be_committed_is_said_before_a_write(
    target: Target, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = replace(target, root=tmp_path_factory.mktemp("plain") / "x")
    with pytest.raises(InvalidInput, match="no git repository"):
        await outside.sync(commit=True)
    assert not outside.root.exists()
    (target.root.parent / ".gitignore").write_text(".claude\n", encoding="utf-8")
    with pytest.raises(Refused, match="ignores"):
        await target.sync(commit=True)
    assert not target.root.exists()
    with pytest.raises(InvalidInput, match="git cannot be run"):
        await GitRepository(target.root.parent, "no-such-git").check([])


async def test_the_first_commit_of_a_repository_may_be_ours(tmp_path: Path) -> None:
    repository(tmp_path)
    git(tmp_path, "update-ref", "-d", "HEAD")
    git(tmp_path, "rm", "-q", "--cached", "README.md")
    target = Target(tmp_path, causes=CAUSES).of(LayoutName.COPILOT)
    await target.sync(replace(KNOWN, memories=MEMORIES[:1]), commit=True)
    assert status(target) == "?? README.md\n"
    await target.sync(replace(KNOWN, memories=(), tables=(), skills=()), commit=True)
    assert git(tmp_path, "ls-files") == ""
