"""Request parsing and answer shapes of the skill server (contracts, section 5)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath

from pydantic import BaseModel, JsonValue, ValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message as AsgiMessage

from core.adapters.embedded.http_guard import TENANT
from core.adapters.embedded.skill_server_folders import StoredSkill
from core.domain.errors import BundleInvalid, InvalidInput
from core.domain.messages import Message, joined
from core.domain.models import Bundle, SkillFile
from core.skills.bundle import MAX_BUNDLE_BYTES, bundle_hash, check_bundle, check_path, is_text
from core.skills.document.frontmatter import read_frontmatter

MAX_BODY_BYTES = 2 * MAX_BUNDLE_BYTES
_IMAGES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico"})

Json = dict[str, JsonValue]


class FileBody(BaseModel):
    """The JSON body of a PUT: either `content` or `content_base64`."""

    content: str | None = None
    content_base64: str | None = None
    executable: bool | None = None

    def data(self) -> bytes:
        """The file's bytes. Raises InvalidInput unless exactly one of the two is given."""
        if self.content is not None and self.content_base64 is None:
            return self.content.encode("utf-8")
        if self.content_base64 is None or self.content is not None:
            raise InvalidInput(Message("upload.content"))
        try:
            return base64.b64decode(self.content_base64, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidInput(Message("upload.base64", why=error)) from error


async def file_body(request: Request) -> FileBody:
    """Parse the body of a PUT. Raises InvalidInput."""
    try:
        return FileBody.model_validate_json(await bounded(request).body())
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        raise InvalidInput(Message("upload.body", why=problem["msg"])) from error


def bounded(request: Request) -> Request:
    """Return the request with a body that leads to 413 once it is too large."""
    total = 0

    async def receive() -> AsgiMessage:
        nonlocal total
        message = await request.receive()
        total += len(message.get("body", b""))
        if total > MAX_BODY_BYTES:
            raise HTTPException(413, f"the body is over {MAX_BODY_BYTES} bytes")
        return message

    return Request(request.scope, receive)


def tenant_of(request: Request) -> str:
    """Return the tenant in the query, or that of the token; empty if there is none."""
    return permitted(request, request.query_params.get("tenant_id", ""))


def bound_tenant(request: Request) -> str | None:
    """Return the tenant that the token of a call is bound to, None if to none."""
    bound: str | None = request.scope.get("state", {}).get(TENANT)
    return bound


def permitted(request: Request, tenant_id: str) -> str:
    """Return the tenant that a call may touch where it names this one.

    Answers 403 if its token is bound to another; one that names none means its token's.
    """
    bound = bound_tenant(request)
    if bound is None:
        return tenant_id
    if tenant_id not in {"", bound}:
        raise HTTPException(403, "the token is another tenant's")
    return bound


def name_of(request: Request) -> str:
    """Return the skill's name, from the path or the query."""
    name = request.path_params.get("name") or request.query_params.get("name", "")
    if not name:
        raise InvalidInput(Message("upload.no_name"))
    return str(name)


def path_of(request: Request) -> str:
    """Return the file's path, which stays inside the skill. Raises BundleInvalid."""
    path = str(request.path_params["path"])
    check_path(path)
    return path


def found(current: Bundle | None, name: str) -> Bundle:
    """Return the skill, or answer 404."""
    if current is None:
        raise HTTPException(404, f"there is no skill {name!r}")
    return current


def check_conditions(headers: Headers, current: Bundle | None) -> None:
    """Answer 412 unless If-Match and If-None-Match fit the skill's present state."""
    wanted, unwanted = _tags(headers, "if-match"), _tags(headers, "if-none-match")
    tags = {"*", bundle_hash(current)} if current else set()
    if (wanted and tags.isdisjoint(wanted)) or not tags.isdisjoint(unwanted):
        raise HTTPException(412, "the skill is not as the condition says")


def edited(files: Mapping[str, SkillFile], before: Bundle, headers: Headers) -> Bundle:
    """Return the skill with other files, unless it then breaks a new rule or a condition."""
    after = Bundle(name=before.name, files=files)
    known = check_bundle(before)
    if problems := [problem for problem in check_bundle(after) if problem not in known]:
        raise BundleInvalid(joined(problems))
    check_conditions(headers, before)
    return after


def tagged(answer: Json, skill: StoredSkill) -> Response:
    """Return a JSON answer with the whole skill's hash as its ETag."""
    return JSONResponse(answer, headers={"ETag": etag(skill)})


def etag(skill: StoredSkill) -> str:
    """Return the skill's hash as an entity tag."""
    return f'"{skill.hash}"'


def summary(skill: StoredSkill, tenant_id: str) -> Json:
    """Return a skill as listed."""
    name = skill.bundle.name
    return {
        "name": name,
        "description": description(skill.bundle),
        "directory": name,
        "file_count": len(skill.bundle.files),
        "path": name,
        "tenant_id": tenant_id or None,
    }


def description(bundle: Bundle) -> str:
    """Return the skill's description; empty if its frontmatter cannot be parsed."""
    try:
        return read_frontmatter(bundle.document).description
    except (BundleInvalid, KeyError, UnicodeDecodeError):
        return ""


def file_entry(skill: StoredSkill, path: str) -> Json:
    """Return a file's size in bytes and modification time (ISO 8601)."""
    modified = datetime.fromtimestamp(skill.modified[path], UTC).isoformat()
    return {"size": len(skill.bundle.files[path].data), "modified": modified}


def content(path: str, data: bytes) -> Json:
    """Return a file's content, as text if it is UTF-8 and no image."""
    image = PurePosixPath(path).suffix.lower() in _IMAGES
    if is_text(data) and not image:
        return {"type": "text", "content": data.decode("utf-8")}
    encoded = base64.b64encode(data).decode("ascii")
    return {"type": "image" if image else "binary", "content_base64": encoded}


async def http_error(_: Request, error: Exception) -> Response:
    """Answer an HTTPException in the API's shape."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"detail": error.detail}, error.status_code, headers=error.headers)


async def bad_request(_: Request, error: Exception) -> Response:
    """Answer 400 if the input breaks a rule."""
    return JSONResponse({"detail": str(error)}, 400)


async def disk_error(_: Request, error: Exception) -> Response:
    """Answer 503 if the disk fails."""
    return JSONResponse({"detail": f"the skills cannot be read or stored: {error}"}, 503)


def _tags(headers: Headers, name: str) -> set[str]:
    values = headers.get(name, "").split(",")
    return {value.strip().removeprefix("W/").strip('"') for value in values} - {""}
