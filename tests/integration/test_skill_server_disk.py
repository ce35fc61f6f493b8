"""The embedded skill server's folders: several processes, and a kill at any moment."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette

from core.adapters.embedded.http_server import run_server
from core.adapters.embedded.skill_server import create_app
from core.adapters.embedded.skill_server_folders import SkillFolders
from core.domain.errors import ConfigurationError, SkillApiDown
from core.domain.models import Bundle, SkillFile
from core.skill_api_client import open_skill_api
from core.skills.bundle import bundle_hash
from core.testing.contracts.skill_store import refund_skill
from tests.support.forked import script

MEBIBYTE = 1 << 20
OLD = refund_skill()
NEW = Bundle(name="refund", files={**OLD.files, "new.md": SkillFile(data=b"new")})

# For each n: a child changes the skill to and fro, and dies at the n-th call that touches the disk.
KILLER = """
import os, pathlib, signal, sys
from core.adapters.embedded.skill_server_folders import SkillFolders
from core.domain.models import Bundle, SkillFile
from core.testing.contracts.skill_store import refund_skill

EVENTS = {"os.rename", "os.remove", "os.rmdir", "os.link", "os.mkdir", "open", "os.chmod"}
old = refund_skill()
new = Bundle(name="refund", files={**old.files, "new.md": SkillFile(data=b"new")})
folders = SkillFolders(pathlib.Path(sys.argv[1]))
folders.change("acme", "refund", lambda _: old)

def die_at(left):
    def audit(event, arguments):
        nonlocal left
        if event in EVENTS:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(audit)
    while True:
        folders.change("acme", "refund", lambda _: new)
        folders.change("acme", "refund", lambda _: old)

for call in range(1, 121):
    child = os.fork()
    if child == 0:
        die_at(call)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    found = folders.read("acme", "refund")
    print("nothing" if found is None else ["other", "old", "new"][
        (found.bundle == old) + 2 * (found.bundle == new)])
"""


def test_a_kill_at_any_moment_leaves_one_whole_state(tmp_path: Path) -> None:
    with script(KILLER, str(tmp_path), stdout=subprocess.PIPE) as killer:
        out, _ = killer.communicate(timeout=100)
    assert killer.returncode == 0
    states = out.split()
    assert len(states) == 120
    assert set(states) == {"old", "new"}


def test_what_a_killed_writer_left_is_put_right_by_whoever_comes_next(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    folders = SkillFolders(tmp_path)
    for look in (
        lambda: folders.read("acme", "refund"),
        lambda: folders.change("acme", "refund", lambda current: current),
    ):
        folders.change("acme", "refund", lambda _: OLD)
        (folder / "refund").rename(folder / ".old-refund")
        (folder / ".junk-refund").mkdir()
        look()
        assert sorted(path.name for path in folder.iterdir()) == [".lock", "refund"]
        shutil.rmtree(folder)


def test_untouched_files_keep_their_time(tmp_path: Path) -> None:
    folders = SkillFolders(tmp_path)
    folders.change("acme", "refund", lambda _: OLD)
    os.utime(tmp_path / "acme/refund/SKILL.md", (1_000_000_000, 1_000_000_000))
    after = folders.change("acme", "refund", lambda _: NEW)
    assert after is not None
    assert after.modified["SKILL.md"] == 1_000_000_000
    assert after.modified["new.md"] > 1_000_000_000


def test_a_read_leaves_no_folder_behind(tmp_path: Path) -> None:
    folders = SkillFolders(tmp_path)
    assert folders.read("acme", "refund") is None
    assert folders.list("acme") == ()
    assert folders.count() == 0
    assert not list(tmp_path.iterdir())


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    folders = SkillFolders(tmp_path)
    folders.change("acme", "refund", lambda _: OLD)
    (tmp_path / "acme/refund/passwd").symlink_to("/etc/passwd")
    found = folders.read("acme", "refund")
    assert found is not None
    assert found.bundle == OLD


async def test_two_servers_over_one_folder_see_each_others_writes(tmp_path: Path) -> None:
    async with (
        run_server(create_app(tmp_path)) as first_url,
        run_server(create_app(tmp_path)) as second_url,
        open_skill_api(first_url, None) as first,
        open_skill_api(second_url, None) as second,
    ):
        await first.upload(OLD, "acme")
        assert await second.read("refund", "acme") == OLD


async def test_a_full_disk_refuses_a_write_whole_and_it_is_tried_again(tmp_path: Path) -> None:
    large, base = SkillFile(data=os.urandom(2 * MEBIBYTE)), bundle_hash(OLD)
    async with run_server(create_app(tmp_path)) as url, open_skill_api(url, None) as client:
        await client.upload(OLD, "acme")
        with _files_of_at_most(MEBIBYTE), pytest.raises(SkillApiDown, match="cannot be") as full:
            await client.put_file("refund", "large", large, "acme", base_hash=base)
        assert full.value.retryable
        assert await client.read("refund", "acme") == OLD
        await client.put_file("refund", "large", large, "acme", base_hash=base)
        found = await client.read("refund", "acme")
    assert found is not None
    assert found.files["large"] == large


@contextmanager
def _files_of_at_most(size: int) -> Iterator[None]:
    """Let writes fail half way, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_an_app_that_does_not_start_is_an_error_of_the_caller() -> None:
    @asynccontextmanager
    async def broken(_: Starlette) -> AsyncIterator[None]:
        raise OSError("no disk")
        yield

    with pytest.raises(ConfigurationError, match="did not start"):
        async with run_server(Starlette(lifespan=broken)):
            pass


async def test_a_port_that_is_taken_is_a_configuration_error(tmp_path: Path) -> None:
    async with run_server(create_app(tmp_path)) as url:
        port = int(url.rsplit(":", 1)[1])
        with pytest.raises(ConfigurationError, match="cannot listen"):
            async with run_server(create_app(tmp_path), port=port):
                pass
