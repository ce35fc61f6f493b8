"""Sends one call of the skill HTTP API: retries where useful, translates failures once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

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

from core.domain.errors import ConfigurationError, InvalidInput, SkillApiDown
from core.domain.http_retry import passes, retry_after
from core.domain.ports import Sleep
from core.domain.text import one_line

ATTEMPTS = 5
MAX_WAIT = 20.0  # seconds; asked to wait longer, the caller gives the work back instead
_RETURNED = frozenset({200, 201, 204, 404, 412})
_FORBIDDEN = frozenset({401, 403})
_backoff = wait_exponential(multiplier=0.2, max=5) + wait_random(0, 0.5)

_M = TypeVar("_M", bound=BaseModel)


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
            f"{self.where} answered {self.status} with {self.kind or 'no type'} that is not the"
            f" skill API's: {_excerpt(self.body)}",
            hint="does SKILL_API_BASE_URL point at the skill API?",
        )


class Transport:
    """Sends calls to one server, with its token, a timeout, and retries."""

    def __init__(
        self,
        base_url: str,
        token: str | None,
        http: httpx.AsyncClient,
        *,
        timeout: float,
        sleep: Sleep,
    ) -> None:
        """Raises ConfigurationError if `base_url` is no http URL; `timeout` is in seconds."""
        url = checked_url(base_url)
        bare = url.copy_with(userinfo=b"")
        # Credentials in the URL would become the Authorization header and override the token.
        self._base = str(bare if token else url).rstrip("/")
        self._shown = str(bare).rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = http
        self._timeout = timeout
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
            headers={**self._headers, **(headers or {})},
            json=json,
            data=dict(form) if form else None,
            files={"file": (*file, "application/zip")} if file else None,
            timeout=self._timeout,
        )
        retrying = AsyncRetrying(
            sleep=self._sleep,
            stop=_give_up,
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

    async def _once(self, request: httpx.Request, where: str) -> httpx.Response:
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.send(request)
        except (httpx.HTTPError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            raise SkillApiDown(
                f"{where} failed: {reason}",
                hint="is the skill API up, and SKILL_API_BASE_URL right?",
            ) from error
        if response.status_code not in _RETURNED:
            raise _refusal(response, where)
        return response


def checked_url(base_url: str) -> httpx.URL:
    """Parse the URL of a server. Raises ConfigurationError."""
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ConfigurationError(f"{base_url!r} is no URL: {error}") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigurationError(
            f"{base_url!r} is no http URL", hint="set SKILL_API_BASE_URL to http(s)://host[:port]"
        )
    return url


def _refusal(
    response: httpx.Response, where: str
) -> SkillApiDown | ConfigurationError | InvalidInput:
    status = response.status_code
    message = f"{where} answered {status}: {_detail(response)}"
    if status in _FORBIDDEN:
        return ConfigurationError(message, hint="set SKILL_API_TOKEN to a token that may do this")
    if 300 <= status < 400:
        target = response.headers.get("location", "elsewhere")
        return ConfigurationError(
            f"{where} redirects to {target}", hint="set SKILL_API_BASE_URL to the final address"
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


def _give_up(state: RetryCallState) -> bool:
    return stop_after_attempt(ATTEMPTS)(state) or (_asked_wait(state) or 0.0) > MAX_WAIT
