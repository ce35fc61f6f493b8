"""The embedded skill server: the skill API over a folder per tenant, as HTTP and as MCP tools.

Contracts, sections 5 and 6; `skills_mcp` has the tools.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.adapters.embedded import skill_server_http as http
from core.adapters.embedded.mcp_http import MCP_METHODS, MCP_PATH, LateMcp
from core.adapters.embedded.skill_server_folders import Change, SkillFolders, StoredSkill
from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Bundle, SkillFile
from core.skills.bundle import bundle_to_zip, zip_to_bundle
from core.skills.creator.shipped import skill_creator_bundle

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP

_SOURCE = "uploaded"


def create_app(root: Path) -> Starlette:
    """Build the app that serves the skills under `root`, which is created when needed."""
    folders = SkillFolders(root)
    server = _SkillServer(folders)
    file = "/skills/{name}/files/{path:path}"
    routes = [
        Route("/health", server.health),
        Route("/skills/upload", server.upload, methods=["POST"]),
        Route("/skills/check", server.check),
        Route("/skills/list", server.list_skills),
        Route("/skills/list-builtin", server.list_builtin),
        Route("/skills/download", server.download),
        Route("/skills/{name}/files", server.list_files),
        Route(file, server.read_file),
        Route(file, server.put_file, methods=["PUT"]),
        Route(file, server.delete_file, methods=["DELETE"]),
        Route("/skills/{name}", server.delete, methods=["DELETE"]),
    ]
    handlers = {
        HTTPException: http.http_error,
        InvalidInput: http.bad_request,
        OSError: http.disk_error,
    }
    tools = LateMcp(lambda: _tools(folders))
    route = Route(MCP_PATH, tools, methods=MCP_METHODS)
    return Starlette(routes=[*routes, route], exception_handlers=handlers, lifespan=tools.lifespan)


def _tools(folders: SkillFolders) -> FastMCP:
    from core.adapters.embedded.skills_mcp import make_skills_mcp

    return make_skills_mcp(folders)


class _SkillServer:
    """One method per route; all file access happens in threads."""

    def __init__(self, folders: SkillFolders) -> None:
        self._folders = folders

    async def health(self, request: Request) -> Response:
        count = await asyncio.to_thread(self._folders.count, http.bound_tenant(request))
        return JSONResponse({"status": "ok", "skills_loaded": count, "loading_complete": True})

    async def list_builtin(self, _: Request) -> Response:
        bundle = skill_creator_bundle()
        skill: http.Json = {
            "name": bundle.name,
            "description": http.description(bundle),
            "source": "builtin",
            "document_count": len(bundle.files),
        }
        return JSONResponse({"skills": [skill], "count": 1})

    async def list_skills(self, request: Request) -> Response:
        tenant_id = http.tenant_of(request)
        found = await asyncio.to_thread(self._folders.list, tenant_id)
        skills = [http.summary(skill, tenant_id) for skill in found]
        return JSONResponse({"skills": skills, "count": len(skills)})

    async def check(self, request: Request) -> Response:
        name = http.name_of(request)
        try:
            skill = await self._skill(request)
        except HTTPException as error:
            answer = {"name": name, "exists": False, "detail": error.detail}
            return JSONResponse(answer, error.status_code)
        exists: http.Json = {
            "name": name,
            "description": http.description(skill.bundle),
            "source": _SOURCE,
            "document_count": len(skill.bundle.files),
            "exists": True,
        }
        return http.tagged(exists, skill)

    async def download(self, request: Request) -> Response:
        skill = await self._skill(request)
        data = await asyncio.to_thread(bundle_to_zip, skill.bundle, root=True)
        headers = {"ETag": http.etag(skill)}
        return Response(data, headers=headers, media_type="application/zip")

    async def upload(self, request: Request) -> Response:
        async with http.bounded(request).form(max_files=1, max_fields=8) as form:
            file, tenant_id = form.get("file"), form.get("tenant_id", "")
            if not isinstance(file, UploadFile) or not isinstance(tenant_id, str):
                raise InvalidInput(Message("upload.form"))
            tenant_id = http.permitted(request, tenant_id)
            name, data = (file.filename or "").removesuffix(".zip"), await file.read()
        bundle = await asyncio.to_thread(zip_to_bundle, data, name)

        def replace(current: Bundle | None) -> Bundle:
            http.check_conditions(request.headers, current)
            return bundle

        skill = await asyncio.to_thread(self._folders.change, tenant_id, name, replace)
        total = await asyncio.to_thread(self._folders.count, tenant_id)
        answer: http.Json = {
            "status": "ok",
            "skills_added": [name],
            "total_skills": total,
            "message": f"skill {name!r} is stored",
        }
        return http.tagged(answer, _there(skill, name))

    async def delete(self, request: Request) -> Response:
        name = http.name_of(request)

        def remove(current: Bundle | None) -> None:
            http.check_conditions(request.headers, http.found(current, name))

        await self._change(request, remove)
        return JSONResponse({"skill_name": name, "message": f"skill {name!r} is deleted"})

    async def list_files(self, request: Request) -> Response:
        skill = await self._skill(request)
        files: list[JsonValue] = [
            {"path": path, **http.file_entry(skill, path)} for path in skill.bundle.files
        ]
        return http.tagged(
            {"skill_name": skill.bundle.name, "files": files, "count": len(files)}, skill
        )

    async def read_file(self, request: Request) -> Response:
        path, skill = http.path_of(request), await self._skill(request)
        data = _file(skill.bundle, path).data
        answer: http.Json = {
            "skill_name": skill.bundle.name,
            "file_path": path,
            "size": len(data),
            **http.content(path, data),
        }
        return http.tagged(answer, skill)

    async def put_file(self, request: Request) -> Response:
        path, name, body = (
            http.path_of(request),
            http.name_of(request),
            await http.file_body(request),
        )
        data = body.data()

        def put(current: Bundle | None) -> Bundle:
            skill = http.found(current, name)
            old = skill.files.get(path)
            executable = (
                bool(old and old.executable) if body.executable is None else body.executable
            )
            file = SkillFile(data=data, executable=executable)
            return http.edited({**skill.files, path: file}, skill, request.headers)

        skill = _there(await self._change(request, put), name)
        answer: http.Json = {
            "skill_name": name,
            "file_path": path,
            **http.file_entry(skill, path),
            "message": f"{path} is written",
        }
        return http.tagged(answer, skill)

    async def delete_file(self, request: Request) -> Response:
        path, name = http.path_of(request), http.name_of(request)
        if path.casefold() == SKILL_MD.casefold():
            raise InvalidInput(Message("skill.document_stays", file=SKILL_MD))

        def remove(current: Bundle | None) -> Bundle:
            skill = http.found(current, name)
            _file(skill, path)
            files = {other: file for other, file in skill.files.items() if other != path}
            return http.edited(files, skill, request.headers)

        skill = _there(await self._change(request, remove), name)
        answer: http.Json = {
            "skill_name": name,
            "file_path": path,
            "message": f"{path} is deleted",
        }
        return http.tagged(answer, skill)

    async def _change(self, request: Request, change: Change) -> StoredSkill | None:
        tenant_id, name = http.tenant_of(request), http.name_of(request)
        return await asyncio.to_thread(self._folders.change, tenant_id, name, change)

    async def _skill(self, request: Request) -> StoredSkill:
        tenant_id, name = http.tenant_of(request), http.name_of(request)
        return _there(await asyncio.to_thread(self._folders.read, tenant_id, name), name)


def _there(skill: StoredSkill | None, name: str) -> StoredSkill:
    if skill is None:
        raise HTTPException(404, f"there is no skill {name!r}")
    return skill


def _file(skill: Bundle, path: str) -> SkillFile:
    if path not in skill.files:
        raise HTTPException(404, f"skill {skill.name!r} has no file {path!r}")
    return skill.files[path]
