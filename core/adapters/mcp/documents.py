"""Documents of skills, distinguished from sentences that say there is none."""

from __future__ import annotations

import re

from core.adapters.mcp.errors import excerpt
from core.adapters.mcp.session import Sessions
from core.domain.errors import McpDown, PodCallFailed

# Header, rule and empty line; empty lines there are the server's, not the document's.
_DOCUMENT = re.compile(r"\ADocument: ([^\r\n]+)\r?\n(?:\r?\n)?={8,}(?:\r?\n(?:\r?\n)?|\Z)")
_QUOTE = "['\"‘’“”]?"


class McpSkillDocuments:
    """The port `SkillDocuments` on the tool `read_skill_document`."""

    def __init__(self, client: Sessions, server_name: str) -> None:
        """`server_name` is the claude-skills connection of `client`."""
        self._client = client
        self._server = server_name

    async def read(self, skill_name: str, document_path: str) -> str | None:
        async with self._client.lease(self._server) as session:
            try:
                answer = await session.ask(
                    "read_skill_document",
                    {"skill_name": skill_name, "document_path": document_path},
                )
            except PodCallFailed as error:
                raise McpDown(error.message, hint=error.hint) from error
        return read_document(answer.text, skill_name, document_path)


def read_document(text: str, skill_name: str, document_path: str) -> str | None:
    """Return the document in an answer, None for a "not found" sentence about this request.

    Only the answer's first words count, since a document may contain such a sentence itself. Raises
    McpDown for any other answer.
    """
    header = _DOCUMENT.match(text)
    if header is not None and _is_same(header[1].strip(), document_path):
        return text[header.end() :]
    if _is_absence(text, skill_name, document_path):
        return None
    raise McpDown(
        f"read_skill_document({skill_name!r}, {document_path!r}) gave neither the document"
        f" nor that there is none: {excerpt(text)}"
    )


def _is_same(shown: str, asked: str) -> bool:
    return shown == asked or shown.endswith("/" + asked)


def _is_absence(text: str, skill_name: str, document_path: str) -> bool:
    skill = rf"Skill {_QUOTE}{re.escape(skill_name)}{_QUOTE} not found\b"
    document = rf"No documents matching {_QUOTE}{re.escape(document_path)}{_QUOTE}(?:\W|$)"
    return re.match(rf"\s*(?:{skill}|{document})", text) is not None
