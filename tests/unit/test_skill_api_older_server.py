"""The skill API's client against the existing platform's server: no conditions and no ETags."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.adapters.embedded.skill_server import create_app
from core.domain.errors import NotFound, Stale
from core.domain.models import SkillFile
from core.skill_api_client import SkillApiClient
from core.skills.bundle import bundle_hash
from core.testing.contracts.skill_store import refund_skill

BASE = bundle_hash(refund_skill())
FILE = SkillFile(data=b"x")


class OlderServer:
    """The embedded server as the existing platform's behaves: no conditions, no ETags."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.hooks: dict[str, Callable[[], Awaitable[None]]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def bare(message: Message) -> None:
            headers = message.get("headers", [])
            await send({**message, "headers": [pair for pair in headers if pair[0] != b"etag"]})

        kept = [pair for pair in scope["headers"] if not pair[0].startswith(b"if-")]
        writes = scope["method"] != "GET"
        if writes and (hook := self.hooks.pop("before_write", None)):
            await hook()
        await self._app({**scope, "headers": kept}, receive, bare)
        if writes and (hook := self.hooks.pop("after_write", None)):
            await hook()


@pytest.fixture
def older(tmp_path: Path) -> OlderServer:
    return OlderServer(create_app(tmp_path))


@pytest.fixture
async def client(older: OlderServer) -> AsyncIterator[SkillApiClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(older)) as http:
        yield SkillApiClient("http://skills.test", None, http)


async def test_an_older_server_is_written_and_read_back(client: SkillApiClient) -> None:
    await client.upload(refund_skill(), "acme")
    base = await client.put_file("refund", "new.md", FILE, "acme", base_hash=BASE)
    base = await client.delete_file("refund", "assets/logo.png", "acme", base_hash=base)
    bundle = await client.read("refund", "acme")
    assert bundle is not None
    assert bundle_hash(bundle) == base
    assert set(bundle.files) == {*refund_skill().files, "new.md"} - {"assets/logo.png"}
    await client.delete("refund", "acme", base_hash=base)
    await client.delete("refund", "acme", base_hash=base)
    assert await client.read("refund", "acme") is None


async def test_an_older_server_is_not_overwritten_blindly(client: SkillApiClient) -> None:
    await client.upload(refund_skill(), "acme")
    with pytest.raises(Stale):
        await client.upload(refund_skill(), "acme")
    with pytest.raises(Stale):
        await client.put_file("refund", "a", FILE, "acme", base_hash="0")
    with pytest.raises(Stale):
        await client.delete("refund", "acme", base_hash="0")
    assert await client.read("refund", "acme") == refund_skill()


@pytest.mark.parametrize("moment", ["before_write", "after_write"])
async def test_on_an_older_server_another_writer_is_noticed(
    client: SkillApiClient, older: OlderServer, moment: str
) -> None:
    await client.upload(refund_skill(), "acme")

    async def interfere() -> None:
        await client.update_skill_file("refund", "references/other.md", "theirs", "acme")

    older.hooks[moment] = interfere
    with pytest.raises(Stale, match="someone else"):
        await client.put_file("refund", "a", FILE, "acme", base_hash=BASE)


async def test_the_calls_by_name_work_on_text_and_bytes(client: SkillApiClient) -> None:
    document = "---\nname: refund\ndescription: d\n---\nbody\n"
    files: dict[str, str | bytes] = {"scripts/a.sh": "#!/bin/sh\n", "logo": b"\xff\x00"}
    await client.upload_skill("refund", document, "acme", files)
    assert await client.get_skill_files("refund", "acme") == ("SKILL.md", "logo", "scripts/a.sh")
    await client.update_skill_file("refund", "가.md", "글\r\n", "acme")
    assert await client.get_skill_file_content("refund", "가.md", "acme") == "글\r\n"
    assert await client.get_skill_file_content("refund", "logo", "acme") == b"\xff\x00"
    await client.delete_skill_file("refund", "logo", "acme")
    with pytest.raises(NotFound):
        await client.get_skill_file_content("refund", "logo", "acme")
    bundle = await client.read("refund", "acme")
    assert bundle is not None
    assert bundle.files["scripts/a.sh"].executable
    await client.delete_skill("refund", "acme")
    with pytest.raises(NotFound):
        await client.delete_skill("refund", "acme")
