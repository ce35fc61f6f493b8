"""The calls of the skill HTTP API, as in contracts, section 5."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from core.adapters.skill_api.transport import Answer, Transport
from core.domain.errors import InvalidInput, NotFound
from core.domain.models import SkillFile, SkillSummary
from core.domain.ports import Sleep
from core.skills.bundle import check_path, is_script, is_text


class _Object(BaseModel):
    """Any JSON object."""


class _Check(BaseModel):
    exists: bool


class _Failure(BaseModel):
    detail: str


class _Entry(BaseModel):
    path: str


class _Files(BaseModel):
    files: tuple[_Entry, ...]


class _Content(BaseModel):
    content: str | None = None
    content_base64: str | None = None


class _Listed(BaseModel):
    name: str
    description: str | None = None
    file_count: int = 0


class _List(BaseModel):
    skills: tuple[_Listed, ...]


class SkillApiCalls:
    """One method per call; those with a leading underscore leave 404 and 412 to the caller."""

    def __init__(
        self,
        base_url: str,
        token: str | None,
        http: httpx.AsyncClient,
        *,
        timeout: float = 30.0,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Raises ConfigurationError if `base_url` is no http URL; `timeout` is in seconds."""
        self._transport = Transport(base_url, token, http, timeout=timeout, sleep=sleep)

    async def ping(self) -> None:
        """Check that the server answers. Raises SkillApiDown, ConfigurationError."""
        answer = await self._transport.send("GET", "/health")
        if not answer.ok:
            raise answer.garbage()
        answer.parse(_Object)

    async def check_skill_exists(self, name: str, tenant_id: str) -> bool:
        """Whether there is such a skill."""
        params = {"name": checked_name(name), "tenant_id": tenant_id}
        answer = await self._transport.send("GET", "/skills/check", params=params)
        exists = answer.parse(_Check).exists
        if exists != answer.ok:
            raise answer.garbage()
        return exists

    async def list(self, tenant_id: str) -> Sequence[SkillSummary]:
        """Return the tenant's skills, as the server lists them."""
        params = {"tenant_id": tenant_id}
        answer = await self._transport.send("GET", "/skills/list", params=params)
        see_present(answer)
        skills = [
            SkillSummary(
                name=skill.name, description=skill.description or "", file_count=skill.file_count
            )
            for skill in answer.parse(_List).skills
        ]
        return tuple(sorted(skills, key=lambda skill: skill.name))

    async def get_skill_files(self, name: str, tenant_id: str) -> tuple[str, ...]:
        """Return the paths of a skill's files. Raises NotFound."""
        answer = await self._files(name, tenant_id)
        see_present(answer)
        return tuple(entry.path for entry in answer.parse(_Files).files)

    async def get_skill_file_content(self, name: str, path: str, tenant_id: str) -> str | bytes:
        """Return a file: text if it is UTF-8, else its bytes. Raises NotFound."""
        params = {"tenant_id": tenant_id}
        answer = await self._transport.send("GET", _url(name, path), params=params)
        see_present(answer)
        found = answer.parse(_Content)
        if found.content is not None:
            return found.content
        if found.content_base64 is None:
            raise answer.garbage()
        try:
            data = base64.b64decode(found.content_base64, validate=True)
        except ValueError as error:
            raise answer.garbage() from error
        return data.decode("utf-8") if is_text(data) else data

    async def update_skill_file(
        self, name: str, path: str, content: str | bytes, tenant_id: str
    ) -> None:
        """Write one file, whatever the skill's state. Raises NotFound."""
        see_present(await self._put(name, path, as_file(path, content), tenant_id, None))

    async def delete_skill_file(self, name: str, path: str, tenant_id: str) -> None:
        """Delete one file, whatever the skill's state. Raises NotFound."""
        see_present(await self._delete(name, path, tenant_id, None))

    async def delete_skill(self, name: str, tenant_id: str) -> None:
        """Delete a skill, whatever its state. Raises NotFound."""
        see_present(await self._delete(name, None, tenant_id, None))

    async def _download(self, name: str, tenant_id: str) -> Answer:
        params = {"name": checked_name(name), "tenant_id": tenant_id}
        return await self._transport.send("GET", "/skills/download", params=params)

    async def _files(self, name: str, tenant_id: str) -> Answer:
        params = {"tenant_id": tenant_id}
        return await self._transport.send("GET", f"{_url(name)}/files", params=params)

    async def _upload(self, name: str, data: bytes, tenant_id: str) -> Answer:
        return await self._transport.send(
            "POST",
            "/skills/upload",
            headers={"If-None-Match": "*"},
            form={"tenant_id": tenant_id},
            file=(f"{checked_name(name)}.zip", data),
        )

    async def _put(
        self, name: str, path: str, file: SkillFile, tenant_id: str, base_hash: str | None
    ) -> Answer:
        body: dict[str, str | bool] = {"executable": file.executable}
        if is_text(file.data):
            body["content"] = file.data.decode("utf-8")
        else:
            body["content_base64"] = base64.b64encode(file.data).decode("ascii")
        return await self._transport.send(
            "PUT",
            _url(name, path),
            params={"tenant_id": tenant_id},
            headers=_if_match(base_hash),
            json=body,
        )

    async def _delete(
        self, name: str, path: str | None, tenant_id: str, base_hash: str | None
    ) -> Answer:
        return await self._transport.send(
            "DELETE",
            _url(name, path),
            params={"tenant_id": tenant_id},
            headers=_if_match(base_hash),
        )


def as_file(path: str, content: str | bytes) -> SkillFile:
    """Build a file of text or bytes, executable if it is a script with a shebang."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    return SkillFile(data=data, executable=is_script(path, data))


def checked_name(name: str) -> str:
    """Return the name. Raises InvalidInput if it is no single folder's name."""
    check_path(name)
    if "/" in name:
        raise InvalidInput(f"{name!r} is no name of a skill")
    return name


def see_absence(answer: Answer) -> None:
    """Check that a 404 is the API's own. Raises SkillApiDown if another server sent it."""
    answer.parse(_Failure)


def see_present(answer: Answer) -> None:
    """Check that a call succeeded. Raises NotFound with the server's message."""
    if answer.status == 404:
        raise NotFound(f"{answer.where}: {answer.parse(_Failure).detail}")
    if not answer.ok:
        raise answer.garbage()
    if answer.status != 204:
        answer.parse(_Object)


def _url(name: str, path: str | None = None) -> str:
    skill = f"/skills/{quote(checked_name(name), safe='')}"
    if path is None:
        return skill
    check_path(path)
    return f"{skill}/files/{quote(path)}"


def _if_match(base_hash: str | None) -> Mapping[str, str]:
    return {} if base_hash is None else {"If-Match": f'"{base_hash}"'}
