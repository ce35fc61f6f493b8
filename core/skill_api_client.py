"""The skill store over the skill HTTP API: conditional writes, or read back and compare."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache

import httpx

from core.adapters.skill_api import (
    MAX_RETRIES,
    Answer,
    SkillApiCalls,
    Token,
    as_file,
    checked_url,
    see_absence,
)
from core.domain.errors import SkillApiDown, Stale
from core.domain.http_origin import is_loopback, verification
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Bundle, SkillFile
from core.domain.tasks import aside
from core.skills.bundle import bundle_hash, bundle_to_zip, is_script, sound, zip_to_bundle

AsgiApp = Callable[..., Awaitable[None]]


class SkillApiClient(SkillApiCalls):
    """The `SkillStore` port over the calls of the API.

    A server that sends ETags is trusted to honour If-Match. Any other ignores it, so the skill is
    read before and after each write, and Stale is raised if it is not as expected.
    """

    _sends_etags: bool | None = None

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        """Return the whole folder, or None. Raises BundleInvalid if it breaks a rule."""
        answer = await self._download(name, tenant_id)
        if not answer.ok:
            see_absence(answer)
            if self._sends_etags:  # such a server serves whole folders: 404 means absent
                return None
            exists = await self.check_skill_exists(name, tenant_id)
            return await self._read_by_files(name, tenant_id) if exists else None
        if not answer.body.startswith(b"PK"):
            raise answer.garbage()
        self._sends_etags = answer.etag is not None
        bundle = await asyncio.to_thread(zip_to_bundle, answer.body, name)
        if answer.etag is None:
            return _with_scripts(bundle)
        if await _hash(bundle) != answer.etag:
            raise SkillApiDown(Message("skill_api.other_folder", where=answer.where))
        return bundle

    async def upload(self, bundle: Bundle, tenant_id: str) -> None:
        """Create a skill. Raises Stale if it exists, BundleInvalid."""
        name = sound(bundle).name
        if not self._sends_etags and await self.check_skill_exists(name, tenant_id):
            raise Stale(Message("stale.exists", name=name))  # such a server would overwrite it
        data = await asyncio.to_thread(bundle_to_zip, bundle, root=True)
        answer = await self._upload(name, data, tenant_id)
        if answer.status == 404:
            raise answer.garbage()
        if answer.ok and answer.etag == await _hash(bundle):
            self._sends_etags = True
            return
        stored = await self.read(name, tenant_id)
        if not (_may_have_settled(answer) and stored and _texts(stored) == _texts(bundle)):
            raise Stale(Message("stale.written", name=name))

    async def upload_skill(
        self,
        name: str,
        content: str,
        tenant_id: str,
        additional_files: Mapping[str, str | bytes] | None = None,
    ) -> None:
        """Create a skill from its SKILL.md and other files. Raises Stale if it exists."""
        texts = {**(additional_files or {}), SKILL_MD: content}
        files = {path: as_file(path, text) for path, text in texts.items()}
        await self.upload(Bundle(name=name, files=files), tenant_id)

    async def put_file(
        self, name: str, path: str, file: SkillFile, tenant_id: str, *, base_hash: str
    ) -> str:
        return await self._write(name, path, file, tenant_id, base_hash)

    async def delete_file(self, name: str, path: str, tenant_id: str, *, base_hash: str) -> str:
        """Delete one file of the bundle with hash `base_hash`; return the new hash. Raises Stale.

        Deleting a file that is not there succeeds.
        """
        return await self._write(name, path, None, tenant_id, base_hash)

    async def delete(self, name: str, tenant_id: str, *, base_hash: str) -> None:
        compares = await self._compares(name, tenant_id)
        if not compares:
            before = await self.read(name, tenant_id)
            if before is None:
                return
            await _require_unmoved(before, base_hash)
        answer = await self._delete(name, None, tenant_id, base_hash)
        if answer.status == 404:
            see_absence(answer)
        elif answer.status == 412 or (
            not compares and await self.check_skill_exists(name, tenant_id)
        ):
            raise Stale(Message("stale.deleted", name=name))

    async def _write(
        self, name: str, path: str, file: SkillFile | None, tenant_id: str, base_hash: str
    ) -> str:
        if not await self._compares(name, tenant_id):
            return await self._write_compared(name, path, file, tenant_id, base_hash)
        answer = await self._send_file(name, path, file, tenant_id, base_hash)
        if answer.ok and answer.etag:
            return answer.etag
        current = await self.read(name, tenant_id)
        if current and current.files.get(path) == file:
            found = await _hash(current)
            if _may_have_settled(answer) or found == base_hash:
                return found
        raise Stale(Message("stale.file", name=name, path=path))

    async def _write_compared(
        self, name: str, path: str, file: SkillFile | None, tenant_id: str, base_hash: str
    ) -> str:
        before = await self.read(name, tenant_id)
        if before is None:
            raise Stale(Message("stale.gone", name=name))
        await _require_unmoved(before, base_hash)
        await self._send_file(name, path, file, tenant_id, base_hash)
        after = await self.read(name, tenant_id)
        wanted = {key: text for key, text in _texts(before).items() if key != path}
        if file is not None:
            wanted[path] = file.data
        if after is None or _texts(after) != wanted:
            raise Stale(Message("stale.other_content", name=name))
        return await _hash(after)

    async def _send_file(
        self, name: str, path: str, file: SkillFile | None, tenant_id: str, base_hash: str
    ) -> Answer:
        if file is None:
            return await self._delete(name, path, tenant_id, base_hash)
        return await self._put(name, path, file, tenant_id, base_hash)

    async def _compares(self, name: str, tenant_id: str) -> bool:
        """Whether the server honours If-Match, as one that sends ETags does."""
        if self._sends_etags is None:
            answer = await self._files(name, tenant_id)
            if not answer.ok:
                see_absence(answer)
                return True  # no skill yet: nothing to overwrite
            self._sends_etags = answer.etag is not None
        return self._sends_etags

    async def _read_by_files(self, name: str, tenant_id: str) -> Bundle:
        files = {}
        for path in await self.get_skill_files(name, tenant_id):
            content = await self.get_skill_file_content(name, path, tenant_id)
            files[path] = as_file(path, content)
        return Bundle(name=name, files=files)


@asynccontextmanager
async def open_skill_api(
    base_url: str,
    token: Token,
    timeout: float = 30.0,  # noqa: ASYNC109 - bounds each call, not this one
    max_retries: int = MAX_RETRIES,
    within: Callable[[], AsgiApp] | None = None,
) -> AsyncIterator[SkillApiClient]:
    """Open a client with its own connection pool; `timeout` is in seconds per call.

    `token` may be a function of the tenant that a call is about. Loopback addresses bypass the
    proxy settings of the environment. `within` makes an ASGI app, at the first call, which is then
    called in this process rather than over the network.
    """
    transport = None
    if within:
        transport = httpx.ASGITransport(_made_late(within), raise_app_exceptions=False)
    direct = is_loopback(checked_url(base_url).host)
    async with httpx.AsyncClient(
        trust_env=not direct, verify=verification(base_url), transport=transport
    ) as http:
        yield SkillApiClient(base_url, token, http, timeout=timeout, max_retries=max_retries)


def _made_late(make: Callable[[], AsgiApp]) -> AsgiApp:
    """Return an app that is made when it is first asked: most commands need no web framework."""
    made = cache(make)

    async def app(*asked: object) -> None:
        await made()(*asked)

    return app


def _may_have_settled(answer: Answer) -> bool:
    """Whether the call may have taken effect, now or in an attempt whose answer was lost."""
    return answer.repeated or (answer.ok and answer.etag is None)


async def _hash(bundle: Bundle) -> str:
    return await aside(bundle.size, bundle_hash, bundle)


async def _require_unmoved(bundle: Bundle, base_hash: str) -> None:
    if await _hash(bundle) != base_hash:
        raise Stale(Message("stale.moved", name=bundle.name))


def _texts(bundle: Bundle) -> Mapping[str, bytes]:
    return {path: file.data for path, file in bundle.files.items()}


def _with_scripts(bundle: Bundle) -> Bundle:
    """Restore the executable bits that a server without ETags drops, as `as_file` would."""
    files = {
        path: SkillFile(data=file.data, executable=file.executable or is_script(path, file.data))
        for path, file in bundle.files.items()
    }
    return Bundle(name=bundle.name, files=files)
