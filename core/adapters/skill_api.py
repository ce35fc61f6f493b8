"""The calls of the skill HTTP API, and how they are carried."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from core.domain import tracing
from core.domain.errors import ConfigurationError, InvalidInput, NotFound, SkillApiDown
from core.domain.http_retry import passes, retry_after
from core.domain.messages import Message
from core.domain.models import SkillFile, SkillSummary
from core.domain.ports import Sleep
from core.domain.text import one_line
from core.skills.bundle import check_path, is_script, is_text

MAX_RETRIES = 4
MAX_WAIT = 20.0  # seconds; asked to wait longer, the caller gives the work back instead
_RETURNED = frozenset({200, 201, 204, 404, 412})
_FORBIDDEN = frozenset({401, 403})
_backoff = wait_exponential(multiplier=0.2, max=5) + wait_random(0, 0.5)

_M = TypeVar("_M", bound=BaseModel)
# One for all calls, or the one for a call about a tenant.
Token = str | None | Callable[[str], str]


@dataclass(frozen=True)
class Answer:
    """An answer that the caller judges: success, 404 or 412.

    `etag` has no quotes. `repeated`: an earlier attempt of the same call failed and may have taken
    effect all the same.
    """

    where: str
    status: int
    kind: str
    body: bytes
    etag: str | None
    repeated: bool = False

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.status < 300

    def parse(self, model: type[_M]) -> _M:
        """Parse the JSON body. Raises SkillApiDown if it is something else."""
        try:
            return model.model_validate_json(self.body)
        except ValidationError as error:
            raise self.garbage() from error

    def garbage(self) -> SkillApiDown:
        """Return the error for an answer that does not follow the API."""
        return SkillApiDown(
            Message(
                "skill_api.garbage",
                where=self.where,
                status=self.status,
                type=self.kind or "no type",
                body=_excerpt(self.body),
            ),
            hint=Message("skill_api.hint_url"),
        )


class Transport:
    """Sends calls to one server, with its token, a timeout, and retries."""

    def __init__(
        self,
        base_url: str,
        token: Token,
        http: httpx.AsyncClient,
        *,
        timeout: float,
        max_retries: int,
        sleep: Sleep,
    ) -> None:
        """Raises ConfigurationError if `base_url` is no http URL; `timeout` is in seconds."""
        url = checked_url(base_url)
        bare = url.copy_with(userinfo=b"")
        # Credentials in the URL would become the Authorization header and override the token.
        self._base = str(bare if token else url).rstrip("/")
        self._shown = str(bare).rstrip("/")
        self._token = token
        self._http = http
        self._timeout = timeout
        self._enough = stop_after_attempt(max_retries + 1)
        self._sleep = sleep

    async def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        json: Mapping[str, str | bool] | None = None,
        form: Mapping[str, str] | None = None,
        file: tuple[str, bytes] | None = None,
    ) -> Answer:
        """Make a call; `path` is already quoted, `file` is a name and a zip.

        Raises SkillApiDown (after retries), ConfigurationError if access is refused, InvalidInput
        if the server rejects the call.
        """
        where = f"{method} {self._shown}{path}"
        request = self._http.build_request(
            method,
            self._base + path,
            params=dict(params or {}),
            headers={**tracing.outgoing(), **self._bearer(params or form or {}), **(headers or {})},
            json=json,
            data=dict(form) if form else None,
            files={"file": (*file, "application/zip")} if file else None,
            timeout=self._timeout,
        )
        retrying = AsyncRetrying(
            sleep=self._sleep,
            stop=self._give_up,
            wait=_wait,
            retry=retry_if_exception_type(SkillApiDown),
            reraise=True,
        )
        repeated = False
        async for attempt in retrying:
            with attempt:
                repeated = attempt.retry_state.attempt_number > 1
                response = await self._once(request, where)
        return _answer(response, where, repeated=repeated)

    def _bearer(self, named: Mapping[str, str]) -> Mapping[str, str]:
        token = self._token
        given = token(named.get("tenant_id", "")) if callable(token) else token
        return {"Authorization": f"Bearer {given}"} if given else {}

    def _give_up(self, state: RetryCallState) -> bool:
        return self._enough(state) or (_asked_wait(state) or 0.0) > MAX_WAIT

    async def _once(self, request: httpx.Request, where: str) -> httpx.Response:
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.send(request)
        except (httpx.HTTPError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            raise SkillApiDown(
                Message("call.failed", where=where, why=reason),
                hint=Message("skill_api.hint_up"),
            ) from error
        if response.status_code not in _RETURNED:
            raise _refusal(response, where)
        return response


def checked_url(base_url: str) -> httpx.URL:
    """Parse the URL of a server. Raises ConfigurationError."""
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ConfigurationError(Message("url.wrong", url=base_url, why=error)) from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigurationError(
            Message("url.no_http", url=base_url),
            hint=Message("skill_api.hint_set"),
        )
    return url


def _refusal(
    response: httpx.Response, where: str
) -> SkillApiDown | ConfigurationError | InvalidInput:
    status = response.status_code
    message = Message("call.answered", where=where, status=status, why=_detail(response))
    if status in _FORBIDDEN:
        return ConfigurationError(message, hint=Message("skill_api.hint_token"))
    if 300 <= status < 400:
        target = response.headers.get("location", "elsewhere")
        return ConfigurationError(
            Message("call.redirects", where=where, target=target),
            hint=Message("skill_api.hint_final"),
        )
    if passes(status):
        return SkillApiDown(message, retry_after=retry_after(response.headers))
    return InvalidInput(message)


def _answer(response: httpx.Response, where: str, *, repeated: bool) -> Answer:
    tag = response.headers.get("etag")
    return Answer(
        where=where,
        status=response.status_code,
        kind=response.headers.get("content-type", ""),
        body=response.content,
        etag=tag.strip().removeprefix("W/").strip('"') if tag else None,
        repeated=repeated,
    )


def _detail(response: httpx.Response) -> str:
    try:
        detail = response.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return _excerpt(response.content)
    text = detail if isinstance(detail, str) else json.dumps(detail, ensure_ascii=False)
    return one_line(text)[:500]


def _excerpt(body: bytes) -> str:
    return one_line(body[:400].decode("utf-8", "replace"))[:160] or "nothing"


def _asked_wait(state: RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome else None
    return error.retry_after if isinstance(error, SkillApiDown) else None


def _wait(state: RetryCallState) -> float:
    asked = _asked_wait(state)
    return _backoff(state) if asked is None else asked


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
        token: Token,
        http: httpx.AsyncClient,
        *,
        timeout: float = 30.0,
        max_retries: int = MAX_RETRIES,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Raises ConfigurationError if `base_url` is no http URL; `timeout` is in seconds."""
        self._transport = Transport(
            base_url, token, http, timeout=timeout, max_retries=max_retries, sleep=sleep
        )

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
        raise InvalidInput(Message("skill.no_name", name=name))
    return name


def see_absence(answer: Answer) -> None:
    """Check that a 404 is the API's own. Raises SkillApiDown if another server sent it."""
    answer.parse(_Failure)


def see_present(answer: Answer) -> None:
    """Check that a call succeeded. Raises NotFound with the server's message."""
    if answer.status == 404:
        raise NotFound(Message("call.says", where=answer.where, why=answer.parse(_Failure).detail))
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
