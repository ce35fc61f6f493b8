"""The skill API's client against servers that are busy, broken or strict."""

from __future__ import annotations

import httpx
import pytest

from core.adapters.skill_api import MAX_RETRIES
from core.domain.errors import (
    BundleInvalid,
    ConfigurationError,
    InvalidInput,
    NotFound,
    SkillApiDown,
    SkillWorkerError,
    Stale,
)
from core.domain.models import SKILL_MD, SkillFile
from core.skill_api_client import SkillApiClient, open_skill_api
from core.skills.bundle import bundle_hash, bundle_to_zip
from core.testing.contracts.skill_store import refund_skill

URL = "http://skills.test/api"
EXISTS = {"name": "refund", "exists": True}
ABSENT = {"name": "refund", "exists": False, "detail": "none"}
BASE = bundle_hash(refund_skill())
FILE = SkillFile(data=b"x")
Step = httpx.Response | Exception


class Script:
    """A server with prepared answers in order; the last one repeats."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if isinstance(step, Exception):
            raise step
        return httpx.Response(step.status_code, headers=step.headers, content=step.content)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def client(self, url: str = URL, token: str | None = None) -> SkillApiClient:
        http = httpx.AsyncClient(transport=httpx.MockTransport(self))
        return SkillApiClient(url, token, http, sleep=self.sleep)

    @property
    def calls(self) -> list[str]:
        return [f"{request.method} {request.url.path}" for request in self.requests]


def json(status: int, body: object, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json=body, headers=named)


def detail(status: int, text: str = "no", **headers: str) -> httpx.Response:
    return json(status, {"detail": text}, **headers)


def download(tag: str | None = f'"{BASE}"') -> httpx.Response:
    data = bundle_to_zip(refund_skill(), root=True)
    return httpx.Response(200, content=data, headers={"ETag": tag} if tag else {})


@pytest.mark.parametrize(
    "trouble",
    [
        detail(409, "busy indexing"),
        detail(503),
        detail(429),
        detail(500),
        httpx.Response(502, html="<h1>Bad Gateway</h1>"),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("cut"),
    ],
    ids=repr,
)
async def test_a_passing_trouble_is_waited_out(trouble: Step) -> None:
    script = Script(trouble, trouble, json(200, EXISTS))
    assert await script.client().check_skill_exists("refund", "acme")
    assert len(script.waits) == 2
    assert 0 < script.waits[0] < script.waits[1] + 1 < 7


async def test_a_lasting_trouble_is_an_error_that_may_be_retried_later() -> None:
    script = Script(detail(503, "still loading"))
    with pytest.raises(SkillApiDown, match=r"GET .*/skills/check answered 503: still loading"):
        await script.client().check_skill_exists("refund", "acme")
    assert len(script.requests) == MAX_RETRIES + 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry_After": "3"},
        {"Retry_After": "Fri, 20 Nov 2026 10:00:03 GMT", "Date": "Fri, 20 Nov 2026 10:00:00 GMT"},
    ],
)
async def test_the_server_says_how_long_to_wait(headers: dict[str, str]) -> None:
    script = Script(detail(503, **headers), json(200, EXISTS))
    await script.client().check_skill_exists("refund", "acme")
    assert script.waits == [3.0]


async def test_a_long_wait_is_left_to_the_job_engine() -> None:
    script = Script(detail(503, Retry_After="3600"))
    with pytest.raises(SkillApiDown) as caught:
        await script.client().check_skill_exists("refund", "acme")
    assert caught.value.retry_after == 3600
    assert script.waits == []


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (detail(401), ConfigurationError, "answered 401"),
        (detail(403, "not yours"), ConfigurationError, "not yours"),
        (httpx.Response(302, headers={"Location": "https://x/"}), ConfigurationError, "redirects"),
        (detail(400, "bad\nzip"), InvalidInput, r"GET .*/skills/check answered 400: bad zip"),
        (json(422, {"detail": [{"loc": ["이름"]}]}), InvalidInput, "이름"),
        (httpx.Response(404, html="<h1>Not Found</h1>"), SkillApiDown, "text/html.*Not Found"),
        (detail(404, "Not Found"), SkillApiDown, "not the skill API's"),
        (httpx.Response(200, html="<h1>Welcome</h1>"), SkillApiDown, "Welcome"),
        (httpx.Response(200, text="Skill 'x' not found"), SkillApiDown, "not the skill API's"),
        (json(200, {"exists": False}), SkillApiDown, "not the skill API's"),
        (json(404, EXISTS), SkillApiDown, "not the skill API's"),
    ],
)
async def test_other_answers_are_told_apart_and_not_repeated(
    answer: httpx.Response, error: type[SkillWorkerError], message: str
) -> None:
    script = Script(answer)
    with pytest.raises(error, match=message):
        await script.client().check_skill_exists("refund", "acme")
    assert len(script.requests) == 1


async def test_absence_is_neither_an_error_nor_taken_from_prose() -> None:
    assert not await Script(json(404, ABSENT)).client().check_skill_exists("refund", "acme")
    script = Script(detail(404, "none"), json(404, ABSENT))
    assert await script.client().read("refund", "acme") is None
    with pytest.raises(NotFound, match="none"):
        await Script(detail(404, "none")).client().get_skill_files("refund", "acme")


async def test_each_call_carries_tenant_and_token_but_no_error_shows_them() -> None:
    script = Script(json(200, {"skills": [], "count": 0}))
    client = script.client("http://user:secret@skills.test/", "token-1")
    await client.list("에이크미")
    request = script.requests[0]
    assert request.url.params["tenant_id"] == "에이크미"
    assert request.headers["Authorization"] == "Bearer token-1"
    script.steps = [detail(400)]
    with pytest.raises(InvalidInput) as caught:
        await client.list("acme")
    assert "secret" not in caught.value.message
    assert "token-1" not in caught.value.message


@pytest.mark.parametrize("name", ["../up", "a/b", "", "a\0b", ".."])
async def test_an_unsafe_name_never_leaves_the_client(name: str) -> None:
    script = Script(json(200, EXISTS))
    for call in (
        lambda: script.client().read(name, "acme"),
        lambda: script.client().delete(name, "acme", base_hash=BASE),
        lambda: script.client().put_file(name, "a", FILE, "acme", base_hash=BASE),
    ):
        with pytest.raises(InvalidInput):
            await call()
    assert script.requests == []


async def test_a_download_that_is_not_what_its_etag_says_is_an_error() -> None:
    with pytest.raises(SkillApiDown, match="ETag"):
        await Script(download('"' + "0" * 64 + '"')).client().read("refund", "acme")
    with pytest.raises(SkillApiDown, match="text/html"):
        await Script(httpx.Response(200, html="<p>login</p>")).client().read("refund", "acme")
    with pytest.raises(BundleInvalid):
        await Script(httpx.Response(200, content=b"PK broken")).client().read("refund", "acme")


async def test_where_nothing_can_be_downloaded_files_are_read_one_by_one() -> None:
    script = Script(
        detail(404),
        json(200, EXISTS),
        json(200, {"files": [{"path": "SKILL.md"}, {"path": "a.js"}, {"path": "b.png"}]}),
        json(200, {"type": "text", "content": "글"}),
        json(200, {"type": "binary", "content_base64": "YQ=="}),
        json(200, {"type": "image", "content_base64": "/wA="}),
    )
    bundle = await script.client().read("refund", "acme")
    assert bundle is not None
    assert {path: file.data for path, file in bundle.files.items()} == {
        "SKILL.md": "글".encode(),
        "a.js": b"a",
        "b.png": b"\xff\x00",
    }


async def test_a_write_whose_answer_was_lost_is_not_taken_for_a_conflict() -> None:
    lost, refused = httpx.ReadError("cut"), detail(412)
    put = refund_skill().files[SKILL_MD]
    script = Script(json(200, {"files": []}, ETag='"x"'), lost, refused, download())
    assert await script.client().put_file("refund", SKILL_MD, put, "acme", base_hash="0") == BASE
    script = Script(json(404, ABSENT), lost, refused, download())
    await script.client().upload(refund_skill(), "acme")
    script = Script(json(200, {"files": []}, ETag='"x"'), lost, detail(404))
    await script.client().delete("refund", "acme", base_hash=BASE)


async def test_a_conflict_is_stale_even_where_an_answer_was_lost_before() -> None:
    tagged = json(200, {"files": []}, ETag='"x"')
    script = Script(tagged, httpx.ReadError("cut"), detail(412), download())
    with pytest.raises(Stale):
        await script.client().put_file("refund", "a", FILE, "acme", base_hash="0")
    script = Script(tagged, detail(412), download())
    put = refund_skill().files[SKILL_MD]
    with pytest.raises(Stale):
        await script.client().put_file("refund", SKILL_MD, put, "acme", base_hash="0")


@pytest.mark.parametrize("url", ["", "skills.test", "ftp://x", "http://", "http://x:y"])
async def test_a_wrong_url_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigurationError):
        async with open_skill_api(url, None):
            pass


async def test_a_server_that_is_not_there_is_down() -> None:
    script = Script()
    async with httpx.AsyncClient(trust_env=False) as http:
        client = SkillApiClient("http://127.0.0.1:1", None, http, sleep=script.sleep)
        with pytest.raises(SkillApiDown, match=r"127\.0\.0\.1:1"):
            await client.list("acme")
