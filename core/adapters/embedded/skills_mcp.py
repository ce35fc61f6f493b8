"""The embedded skill server's MCP tools: find, list and read skills (contracts, section 6)."""

from __future__ import annotations

import asyncio
import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from starlette.requests import Request

from core.adapters.embedded.mcp_http import make_mcp_server
from core.adapters.embedded.skill_server_folders import SkillFolders
from core.adapters.embedded.skill_server_http import description, permitted
from core.domain.errors import InvalidInput
from core.domain.models import Bundle
from core.knowledge.search.documents import text_counts, text_length
from core.knowledge.search.ranking import Corpus, weigh
from core.knowledge.search.tokens import read_question
from core.skills.bundle import is_text
from core.skills.creator.shipped import skill_creator_bundle

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP

_RULE = "=" * 80

Tenant = Annotated[str, Field(description="Whose skills, besides the built-in ones.")]
Skills = dict[str, Bundle]


def make_skills_mcp(folders: SkillFolders) -> FastMCP:
    """Build the MCP server over the folders. Each answer is a single text."""
    from mcp.types import ToolAnnotations

    server = make_mcp_server("claude-skills")
    reads = ToolAnnotations(readOnlyHint=True)
    skills = _Skills(folders)

    def tenant(asked: str) -> str:
        """Return whose skills are read. Raises HTTPException if the token is another's."""
        request = server.get_context().request_context.request
        return permitted(request, asked) if isinstance(request, Request) else asked

    @server.tool(structured_output=False, annotations=reads)
    async def list_skills(tenant_id: Tenant = "") -> str:
        """List all skills: name, description, number of files."""
        found = await asyncio.to_thread(skills.all, tenant(tenant_id))
        return "\n".join([f"Skills: {len(found)}", *map(_line, found.values())])

    @server.tool(structured_output=False, annotations=reads)
    async def read_skill_document(
        skill_name: str,
        document_path: Annotated[
            str | None, Field(description="A path, or a pattern as scripts/*. Without: a list.")
        ] = None,
        include_base64: bool = False,
        tenant_id: Tenant = "",
    ) -> str:
        """Read a file of a skill, or list its files."""
        bundle = await asyncio.to_thread(skills.one, tenant(tenant_id), skill_name)
        if bundle is None:
            return f"Skill '{skill_name}' not found. list_skills tells which there are."
        if not document_path:
            return _listing(bundle)
        return _documents(bundle, document_path, include_base64=include_base64)

    @server.tool(structured_output=False, annotations=reads)
    async def find_helpful_skills(
        task_description: str,
        tenant_id: Tenant = "",
        allowed_skill_names: Annotated[
            str | list[str] | None,
            Field(description="Names to choose from, comma-separated or as a list. Without: all."),
        ] = None,
        top_k: Annotated[int, Field(ge=1, le=50)] = 3,
        list_documents: bool = True,
    ) -> str:
        """Find the skills that fit a task best."""
        found = await asyncio.to_thread(skills.all, tenant(tenant_id))
        allowed = _names(allowed_skill_names)
        candidates = [b for name, b in found.items() if not allowed or name in allowed]
        best = _best(task_description, candidates)[:top_k]
        return _found(best, with_files=list_documents)

    return server


class _Skills:
    """A tenant's skills and the built-in one, which no tenant can replace. Methods block."""

    def __init__(self, folders: SkillFolders) -> None:
        self._folders = folders
        self._builtin = skill_creator_bundle()

    def all(self, tenant_id: str) -> Skills:
        stored = {s.bundle.name: s.bundle for s in self._folders.list(tenant_id)}
        return stored | {self._builtin.name: self._builtin}

    def one(self, tenant_id: str, name: str) -> Bundle | None:
        if name == self._builtin.name:
            return self._builtin
        try:
            skill = self._folders.read(tenant_id, name)
        except InvalidInput:
            return None
        return skill.bundle if skill else None


def _names(given: str | list[str] | None) -> set[str]:
    listed = given.split(",") if isinstance(given, str) else given or ()
    return {name.strip() for name in listed} - {""}


def _line(bundle: Bundle) -> str:
    return f"- {bundle.name}: {description(bundle)} ({len(bundle.files)} files)"


def _listing(bundle: Bundle) -> str:
    return "\n".join([f"Documents of skill '{bundle.name}':", *_paths(bundle)])


def _paths(bundle: Bundle) -> list[str]:
    return [f"  - {path} ({len(file.data)} bytes)" for path, file in bundle.files.items()]


def _documents(bundle: Bundle, pattern: str, *, include_base64: bool) -> str:
    paths = [pattern] if pattern in bundle.files else _matching(bundle.files, pattern)
    if not paths:
        return f"No documents matching '{pattern}' in skill '{bundle.name}'."
    return "\n\n".join(
        f"Document: {path}\n{_RULE}\n\n{_content(bundle.files[path].data, include_base64)}"
        for path in paths
    )


def _matching(paths: Iterable[str], pattern: str) -> list[str]:
    return [path for path in paths if fnmatchcase(path, pattern)]


def _content(data: bytes, include_base64: bool) -> str:
    if is_text(data):
        return data.decode("utf-8")
    if include_base64:
        return base64.b64encode(data).decode("ascii")
    return f"[binary, {len(data)} bytes; ask with include_base64]"


def _best(task: str, skills: Sequence[Bundle]) -> list[tuple[float, Bundle]]:
    """Rank skills for a task by name, description and body, leaving out those without a match."""
    counts = {b.name: text_counts(f"{b.name}\n{b.document}") for b in skills}
    lengths = {name: text_length(terms) for name, terms in counts.items()}
    corpus = Corpus(
        documents=len(skills),
        frequencies=Counter(term for terms in counts.values() for term in terms),
        mean=max(1.0, sum(lengths.values()) / max(1, len(skills))),
    )
    weighing = weigh(read_question(task), corpus)
    scored = [(weighing.score(counts[b.name], lengths[b.name]), b) for b in skills]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].name))
    return [(score, bundle) for score, bundle in ranked if score > 0]


def _found(best: Sequence[tuple[float, Bundle]], *, with_files: bool) -> str:
    if not best:
        return "No skill fits this task."
    parts = []
    for score, bundle in best:
        lines = [_line(bundle), f"  relevance: {score:.2f}"]
        parts.append("\n".join([*lines, *(_paths(bundle) if with_files else ())]))
    return "\n\n".join(parts)
