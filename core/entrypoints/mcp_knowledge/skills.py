"""Skills as resources, and the extension `io.modelcontextprotocol/skills` (SEP-2640, final)."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from urllib.parse import quote, unquote

from mcp import types
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl, JsonValue

from core.domain.errors import NotFound
from core.domain.messages import Message
from core.domain.models import SKILL_MD
from core.domain.text import to_json
from core.entrypoints.mcp_knowledge.caller import Caller
from core.entrypoints.service.agent_items import LoadedFile, SkillDetail

EXTENSION = "io.modelcontextprotocol/skills"
LIST, GET = "skills/list", "skills/get"
INDEX = "knowledge://index"
PAGE = 50  # skills
_SCHEME = "skill://"
_MARKDOWN, _JSON = "text/markdown", "application/json"
# The index of the extension's own revision; older clients pass over these members.
_FRESH: Mapping[str, JsonValue] = {
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
}


def skill_uri(name: str, path: str = SKILL_MD) -> str:
    """Return the address of a file of a skill."""
    return f"{_SCHEME}{quote(name, safe='')}/{quote(path)}"


def skill_of(uri: str) -> tuple[str, str] | None:
    """Return the skill and the path that an address names; None if it names none."""
    name, _, path = uri.removeprefix(_SCHEME).partition("/")
    if not (uri.startswith(_SCHEME) and name and path):
        return None
    return unquote(name), unquote(path)


async def list_resources(caller: Caller, cursor: str | None) -> types.ListResourcesResult:
    """Return the index first, then the files of the agent's skills."""
    with caller.knowledge() as known:
        page = await known.skills(caller.agent_id, after=cursor or "", limit=PAGE)
    index = types.Resource(
        uri=AnyUrl(INDEX),
        name="index",
        description="Decision tables with their inputs, and skills, that this agent has.",
        mimeType=_JSON,
    )
    files = [_resource(skill, path) for skill in page.items for path in _paths(skill)]
    return types.ListResourcesResult(
        resources=files if cursor else [index, *files], nextCursor=page.next
    )


async def read_resource(caller: Caller, uri: str) -> types.ReadResourceResult:
    """Return a file of a skill on the agent's list, or the index. Raises McpError."""
    if uri.rstrip("/") == INDEX:
        return types.ReadResourceResult(contents=[_text(uri, _JSON, await _index(caller))])
    loaded = await _loaded(caller, uri)
    kind = _kind_of(loaded.path)
    if loaded.text is not None:
        return types.ReadResourceResult(contents=[_text(uri, kind, loaded.text)])
    blob = types.BlobResourceContents(uri=AnyUrl(uri), mimeType=kind, blob=loaded.base64 or "")
    return types.ReadResourceResult(contents=[blob])


async def answer(caller: Caller, method: str, params: Mapping[str, object]) -> dict[str, JsonValue]:
    """Return the result of a method of the extension. Raises McpError, SkillWorkerError."""
    if method == GET:
        uri = params.get("uri")
        named = skill_of(uri) if isinstance(uri, str) else None
        if named is None or named[1] != SKILL_MD:
            raise no_resource(str(uri)[:_LONGEST])
        try:
            with caller.knowledge() as known:
                skill = await known.skill(caller.agent_id, named[0])
        except NotFound:
            raise no_resource(str(uri)[:_LONGEST]) from None
        return {**_FRESH, "skill": _entry(skill)}
    cursor = params.get("cursor")
    with caller.knowledge() as known:
        after = cursor if isinstance(cursor, str) else ""
        page = await known.skills(caller.agent_id, after=after, limit=PAGE)
    entries = [_entry(skill) for skill in page.items]
    following: dict[str, JsonValue] = {"nextCursor": page.next} if page.next else {}
    return {**_FRESH, "skills": [*entries], **following}


_LONGEST = 200


def no_resource(uri: str) -> McpError:
    """Return the error for an address under which nothing is served."""
    message = Message("use.no_resource", uri=uri)
    return McpError(types.ErrorData(code=types.INVALID_PARAMS, message=message))


async def _index(caller: Caller) -> str:
    with caller.knowledge() as known:
        agent = await known.agent(caller.agent_id)
        tables = await known.tables(caller.agent_id)
        skills = (await known.skills(caller.agent_id)).items
    listed: list[JsonValue] = [
        {"name": skill.name, "description": skill.description, "uri": skill_uri(skill.name)}
        for skill in skills
    ]
    shown: list[JsonValue] = [table.model_dump(mode="json") for table in tables]
    return to_json({"agent": agent.id, "tables": shown, "skills": listed})


async def _loaded(caller: Caller, uri: str) -> LoadedFile:
    named = skill_of(uri)
    if named is None:
        raise no_resource(uri[:_LONGEST])
    try:
        with caller.knowledge() as known:
            return await known.load_skill(caller.agent_id, *named)
    except NotFound:
        raise no_resource(uri[:_LONGEST]) from None


def _entry(skill: SkillDetail) -> JsonValue:
    """Return a skill as the extension has it: its head verbatim, and each file with its digest."""
    files: list[JsonValue] = [
        {
            "uri": skill_uri(skill.name, file.path),
            "digest": f"sha256:{file.sha256}",
            "size": file.size,
        }
        for file in skill.files
    ]
    return {
        "uri": skill_uri(skill.name),
        "frontmatter": dict(skill.frontmatter),
        "resources": files,
    }


def _paths(skill: SkillDetail) -> list[str]:
    """Return the paths of a skill's files, SKILL.md first."""
    return sorted((file.path for file in skill.files), key=lambda path: (path != SKILL_MD, path))


def _resource(skill: SkillDetail, path: str) -> types.Resource:
    is_document = path == SKILL_MD
    size = next(file.size for file in skill.files if file.path == path)
    return types.Resource(
        uri=AnyUrl(skill_uri(skill.name, path)),
        name=skill.name if is_document else f"{skill.name}/{path}",
        description=skill.description if is_document else None,
        mimeType=_kind_of(path),
        size=size,
    )


def _kind_of(path: str) -> str:
    if path.endswith(".md"):
        return _MARKDOWN
    return mimetypes.guess_type(path, strict=False)[0] or "text/plain"


def _text(uri: str, kind: str, text: str) -> types.TextResourceContents:
    return types.TextResourceContents(uri=AnyUrl(uri), mimeType=kind, text=text)
