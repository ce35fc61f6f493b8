"""The embedded skill server over raw HTTP, and its disk after a kill."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx
import pytest

from core.adapters.embedded.http_server import run_server
from core.adapters.embedded.skill_server import create_app
from core.adapters.embedded.skill_server_http import MAX_BODY_BYTES
from core.domain.models import Bundle, SkillFile
from core.skills.bundle import bundle_hash, bundle_to_zip, zip_to_bundle
from core.testing.contracts.skill_store import DOCUMENT, refund_skill

TENANT = {"tenant_id": "acme"}
NAMED = {"name": "refund", **TENANT}
FILES = "/skills/refund/files"
TAG = f'"{bundle_hash(refund_skill())}"'
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*\+00:00"


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        run_server(create_app(tmp_path)) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, params=TENANT) as client,
    ):
        yield client


async def upload(
    http: httpx.AsyncClient, bundle: Bundle, headers: Mapping[str, str] | None = None
) -> httpx.Response:
    file = (f"{bundle.name}.zip", bundle_to_zip(bundle, root=True), "application/zip")
    form = {"tenant_id": "acme", "agent_id": "a"}
    return await http.post("/skills/upload", files={"file": file}, data=form, headers=headers)


@pytest.fixture
async def stored(http: httpx.AsyncClient) -> httpx.AsyncClient:
    assert (await upload(http, refund_skill())).status_code == 200
    return http


async def test_upload_answers_what_was_added(http: httpx.AsyncClient) -> None:
    answer = await upload(http, refund_skill())
    assert answer.status_code == 200
    assert answer.headers["ETag"] == TAG
    body = answer.json()
    assert isinstance(body.pop("message"), str)
    assert body == {"status": "ok", "skills_added": ["refund"], "total_skills": 1}


async def test_upload_replaces_unless_a_condition_says_no(stored: httpx.AsyncClient) -> None:
    other = Bundle(name="refund", files={"SKILL.md": SkillFile(data=DOCUMENT.encode())})
    refused = await upload(stored, other, {"If-None-Match": "*"})
    assert (refused.status_code, list(refused.json())) == (412, ["detail"])
    assert (await stored.get("/skills/download", params=NAMED)).headers["ETag"] == TAG
    assert (await upload(stored, other)).status_code == 200
    assert (await stored.get(FILES)).json()["count"] == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("refund.zip", b"no zip"),
        ("refund.zip", b""),
        ("other.zip", bundle_to_zip(refund_skill(), root=False)),
        ("..zip", bundle_to_zip(refund_skill(), root=True)),
        ("a/b.zip", bundle_to_zip(refund_skill(), root=True)),
        (".hidden.zip", bundle_to_zip(refund_skill(), root=True)),
    ],
)
async def test_a_bad_upload_is_refused(
    http: httpx.AsyncClient, tmp_path: Path, name: str, content: bytes
) -> None:
    answer = await http.post("/skills/upload", files={"file": (name, content)}, data=TENANT)
    assert (answer.status_code, list(answer.json())) == (400, ["detail"])
    assert (await http.get("/skills/list")).json() == {"skills": [], "count": 0}


async def test_an_upload_needs_a_file_and_an_end(http: httpx.AsyncClient) -> None:
    assert (await http.post("/skills/upload", data=TENANT)).status_code == 400
    assert (await http.put(f"{FILES}/a", content=bytes(MAX_BODY_BYTES + 1))).status_code == 413


async def test_an_upload_under_one_folder_is_read_too(http: httpx.AsyncClient) -> None:
    files = {"file": ("refund.zip", bundle_to_zip(refund_skill(), root=False))}
    answer = await http.post("/skills/upload", files=files, data=TENANT)
    assert answer.headers["ETag"] == TAG


async def test_check_tells_presence_from_absence(stored: httpx.AsyncClient) -> None:
    there = await stored.get("/skills/check", params=NAMED)
    assert (there.status_code, there.headers["ETag"]) == (200, TAG)
    assert there.json() == {
        "name": "refund",
        "description": "부분 환불을 맞춥니다",
        "source": "uploaded",
        "document_count": 4,
        "exists": True,
    }
    absent = await stored.get("/skills/check", params={"name": "no", **TENANT})
    assert absent.status_code == 404
    assert absent.json() == {"name": "no", "exists": False, "detail": "there is no skill 'no'"}
    assert (await stored.get("/skills/check", params={**NAMED, "tenant_id": ""})).status_code == 404
    assert (await stored.get("/skills/check")).status_code == 400


async def test_lists_and_health(stored: httpx.AsyncClient) -> None:
    entry = {
        "name": "refund",
        "description": "부분 환불을 맞춥니다",
        "directory": "refund",
        "file_count": 4,
        "path": "refund",
        "tenant_id": "acme",
    }
    assert (await stored.get("/skills/list")).json() == {"skills": [entry], "count": 1}
    health = (await stored.get("/health")).json()
    assert health == {"status": "ok", "skills_loaded": 1, "loading_complete": True}


async def test_a_download_is_a_zip_with_the_document_at_its_root(
    stored: httpx.AsyncClient,
) -> None:
    answer = await stored.get("/skills/download", params=NAMED)
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["ETag"] == TAG
    assert zip_to_bundle(answer.content, "refund") == refund_skill()
    missing = await stored.get("/skills/download", params={"name": "no", **TENANT})
    assert (missing.status_code, list(missing.json())) == (404, ["detail"])


async def test_files_are_listed_with_size_and_time(stored: httpx.AsyncClient) -> None:
    answer = await stored.get(FILES)
    body = answer.json()
    assert (answer.headers["ETag"], body["skill_name"], body["count"]) == (TAG, "refund", 4)
    sizes = {path: len(file.data) for path, file in refund_skill().files.items()}
    assert {entry["path"]: entry["size"] for entry in body["files"]} == sizes
    assert all(re.fullmatch(TIME, entry["modified"]) for entry in body["files"])
    assert (await stored.get("/skills/no/files")).status_code == 404


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("SKILL.md", "text"),
        ("references/환불 규정.md", "text"),
        ("assets/logo.png", "image"),
        ("data.bin", "binary"),
        ("app.js", "text"),
    ],
)
async def test_a_file_is_given_as_text_image_or_binary(
    stored: httpx.AsyncClient, path: str, kind: str
) -> None:
    more = {"data.bin": SkillFile(data=b"\x00\xff"), "app.js": SkillFile(data=b"let a;\n")}
    files = {**refund_skill().files, **more}
    await upload(stored, Bundle(name="refund", files=files))
    body = (await stored.get(f"{FILES}/{path}")).json()
    data = files[path].data
    content = (
        {"content": data.decode()}
        if kind == "text"
        else {"content_base64": base64.b64encode(data).decode()}
    )
    assert body == {
        "skill_name": "refund",
        "file_path": path,
        "type": kind,
        "size": len(data),
        **content,
    }


async def test_put_writes_text_and_base64_and_keeps_the_mode(stored: httpx.AsyncClient) -> None:
    answer = await stored.put(f"{FILES}/scripts/sum.py", json={"content": "가\r\n"})
    body = answer.json()
    assert answer.status_code == 200
    assert re.fullmatch(TIME, body.pop("modified"))
    assert isinstance(body.pop("message"), str)
    assert body == {"skill_name": "refund", "file_path": "scripts/sum.py", "size": 5}
    await stored.put(f"{FILES}/b", json={"content_base64": "/wA=", "executable": True})
    after = zip_to_bundle((await stored.get("/skills/download", params=NAMED)).content, "refund")
    assert after.files["scripts/sum.py"] == SkillFile(data="가\r\n".encode(), executable=True)
    assert after.files["b"] == SkillFile(data=b"\xff\x00", executable=True)


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"{}",
        b"[]",
        b'{"content": 1}',
        b'{"content": "a", "content_base64": "YQ=="}',
        b'{"content_base64": "%%%"}',
        b'{"content": "\\ud800"}',
        b"\xff",
    ],
)
async def test_a_bad_body_is_refused(stored: httpx.AsyncClient, body: bytes) -> None:
    answer = await stored.put(f"{FILES}/a", content=body)
    assert (answer.status_code, list(answer.json())) == (400, ["detail"])


@pytest.mark.parametrize(
    "path",
    [
        "%2e%2e/%2e%2e/x",
        "..%2f..%2fx",
        "a/%2e%2e/%2e%2e/x",
        "%2fetc/x",
        "a%5cb",
        "a%00b",
        "%252e%252e/x",
    ],
)
async def test_traversal_is_refused_in_every_spelling(
    stored: httpx.AsyncClient, tmp_path: Path, path: str
) -> None:
    for answer in (
        await stored.get(f"{FILES}/{path}"),
        await stored.put(f"{FILES}/{path}", json={"content": "x"}),
        await stored.delete(f"{FILES}/{path}"),
    ):
        assert (answer.status_code, list(answer.json())) == (400, ["detail"])
    assert (await stored.delete("/skills/%2e%2e")).status_code == 400
    assert not list(tmp_path.rglob("x"))


async def test_a_file_is_deleted_but_never_the_document(stored: httpx.AsyncClient) -> None:
    answer = await stored.delete(f"{FILES}/assets/logo.png")
    body = answer.json()
    assert answer.status_code == 200
    assert isinstance(body.pop("message"), str)
    assert body == {"skill_name": "refund", "file_path": "assets/logo.png"}
    assert (await stored.delete(f"{FILES}/assets/logo.png")).status_code == 404
    assert (await stored.delete(f"{FILES}/SKILL.md")).status_code == 400
    assert (await stored.delete("/skills/no/files/a")).status_code == 404


async def test_a_skill_is_deleted(stored: httpx.AsyncClient) -> None:
    body = (await stored.delete("/skills/refund")).json()
    assert isinstance(body.pop("message"), str)
    assert body == {"skill_name": "refund"}
    assert (await stored.delete("/skills/refund")).status_code == 404


async def test_writes_on_another_hash_are_refused(stored: httpx.AsyncClient) -> None:
    wrong, right = {"If-Match": '"0"'}, {"If-Match": TAG.strip('"')}
    put = {"json": {"content": "x"}}
    assert (await stored.put(f"{FILES}/a", headers=wrong, **put)).status_code == 412
    assert (await stored.delete(f"{FILES}/assets/logo.png", headers=wrong)).status_code == 412
    assert (await stored.delete("/skills/refund", headers=wrong)).status_code == 412
    assert (await stored.put(f"{FILES}/a", headers=right, **put)).status_code == 200
    assert (await stored.delete("/skills/refund", headers=right)).status_code == 412


async def test_other_routes_answer_in_the_same_shape(http: httpx.AsyncClient) -> None:
    assert (await http.get("/nothing")).json() == {"detail": "Not Found"}
    assert (await http.post("/skills/list")).status_code == 405
