"""Hooks that ask or tell others: a tool of an MCP server, and people through Apprise."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from core.adapters.mcp.session import Sessions
from core.delivery.asking import read_answer
from core.delivery.hooks import McpHook
from core.delivery.notices import notice_text
from core.domain.errors import ConfigurationError
from core.domain.messages import Message
from core.domain.messages import said as said_by
from core.domain.models.deliveries import HookAnswer, Notice, Outcome, Sent
from core.domain.text import keep_secret


class McpAsker:
    """Calls a tool of an MCP server with the notice as one of its arguments."""

    def __init__(self, sessions: Sessions, server: str, hook: McpHook) -> None:
        self._sessions = sessions
        self._server = server
        self._hook = hook

    async def ask(self, notice: Notice) -> Sent:
        """Call the tool, and read its text."""
        given: Mapping[str, JsonValue] = {
            **self._hook.arguments,
            self._hook.argument: {**notice.value, "id": notice.id},
        }
        async with self._sessions.lease(self._server) as session:
            answer = await session.ask(self._hook.tool, given)
        try:
            return Sent(outcome=Outcome.DONE, status="answered", answer=read_answer(answer.text))
        except ValueError as error:
            return Sent(outcome=Outcome.NEVER, status="answered", error=said_by(error))


class NotifyAsker:
    """Messages to people, in a language, at addresses of Apprise."""

    def __init__(self, urls: Sequence[str], language: str) -> None:
        self._urls = urls
        self._language = language
        for url in urls:
            keep_secret(url)

    async def ask(self, notice: Notice) -> Sent:
        """Send the message to all addresses."""
        title, body = notice_text(notice, self._language)
        told = await asyncio.to_thread(self._tell, title, body)
        if told:
            return Sent(outcome=Outcome.DONE, status="told", answer=HookAnswer())
        return Sent(outcome=Outcome.LATER, status="untold", error=Message("hook.untold"))

    def _tell(self, title: str, body: str) -> bool:
        try:
            import apprise
        except ImportError as error:
            raise ConfigurationError(
                Message("hook.no_apprise"), hint=Message("hook.hint_apprise")
            ) from error
        told = apprise.Apprise()
        for number, url in enumerate(self._urls, 1):
            if not told.add(url):
                raise ConfigurationError(
                    Message("hook.bad_address", n=number), hint=Message("hook.hint_address")
                )
        return bool(told.notify(title=title, body=body))
