"""The hooks of the configuration, with what asks them: built only where there are any."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from core.app.bootstrap.health import USUAL_PORT
from core.app.bootstrap.model import GuardedModel
from core.app.bootstrap.plugins import HOOKS, opened
from core.app.bootstrap.pods import mcp_servers
from core.app.bootstrap.stores import LOOPBACK, Parts, Stores, new_id, utc_now
from core.app.config_file import load_config
from core.app.mcp_servers import expanded_text
from core.app.settings import Settings
from core.delivery.asking import AskedBefore, HookTarget
from core.delivery.hooks import Hook, Hooks, McpHook
from core.domain.errors import ConfigurationError, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import Change, Kind
from core.domain.models.deliveries import Decision, HookAnswer, Notice, Outcome, Sent
from core.domain.ports import Asker, BeforeApplied
from core.domain.ports.deliveries import BEFORE

if TYPE_CHECKING:
    from core.agent.hook_questions import ModelQuestions, Reads
    from core.agent.loop.tool_args import DetailArgs, SearchArgs
    from core.mcp_client import McpServer

_CALL_SECONDS = 600.0


@dataclass(frozen=True)
class HooksInUse:
    """The hooks, as targets of deliveries, and what asks those before a change, if any."""

    hooks: Hooks
    targets: Mapping[str, HookTarget]
    before_applied: BeforeApplied | None
    made: Mapping[str, Callable[[], Awaitable[Asker]]]

    async def check(self) -> None:
        """Raise ConfigurationError if a hook cannot be asked as it is configured."""
        for make in self.made.values():
            await make()

    async def unready(self) -> Mapping[str, str]:
        """Return why hooks cannot be asked as they are configured, by their names."""
        found = {}
        for name, make in self.made.items():
            try:
                await make()
            except SkillWorkerError as error:
                found[name] = error.advice
        return found


def with_hooks(parts: Parts) -> Parts:
    """Return the parts with the file of settings, and where events go out to by its hooks."""
    config = load_config(parts.settings)
    if not config.hooks or parts.dry_run:
        return replace(parts, config=config)
    return replace(parts, config=config, routes=Hooks(config.hooks).routes)


@asynccontextmanager
async def open_hooks(
    stores: Stores, model: GuardedModel | None, skills_url: str
) -> AsyncIterator[HooksInUse | None]:
    """Yield the hooks with what asks them; None without hooks. Raises ConfigurationError."""
    config = stores.parts.config
    hooks = Hooks(config.hooks if config else ())
    if not hooks.all or stores.parts.dry_run:
        yield None
        return
    async with AsyncExitStack() as stack:
        builder = _Builder(stores, model, skills_url, stack)
        askers = [_Lazy(builder, hook) for hook in hooks.all]
        targets = {one.hook.name: builder.target(one.hook, one) for one in askers}
        before = [target for target in targets.values() if BEFORE in target.hook.events]
        asked = AskedBefore(before, stores.outbox, utc_now, new_id) if before else None
        yield HooksInUse(hooks, targets, asked, {one.hook.name: one.made for one in askers})


def console_of(settings: Settings, console_url: str | None) -> str:
    """Return the address of the console: the configured one, or where a worker here serves it."""
    if console_url:
        return console_url.rstrip("/")
    host = f"[{settings.health_host}]" if ":" in settings.health_host else settings.health_host
    return f"http://{host}:{settings.health_port or USUAL_PORT}/console"


class _Builder:
    """Makes what asks each kind of hook, with the variables of the environment filled in."""

    def __init__(
        self, stores: Stores, model: GuardedModel | None, skills_url: str, stack: AsyncExitStack
    ) -> None:
        self._stores = stores
        self._settings = stores.parts.settings
        self._model = model
        self._skills_url = skills_url
        self._stack = stack
        config = stores.parts.config
        self._console = console_of(self._settings, config.console_url if config else None)
        self._makers: Mapping[str, Callable[[Hook], Awaitable[Asker]]] = {
            "http": self._http,
            "command": self._command,
            "python": self._python,
            "mcp": self._mcp,
            "prompt": self._question,
            "agent": self._question,
            "notify": self._notify,
            "plugin": self._plugin,
        }

    def target(self, hook: Hook, asker: Asker) -> HookTarget:
        """Return a hook as a target."""
        return HookTarget(hook, asker, self._change, self._console)

    async def asker(self, hook: Hook) -> Asker:
        """Return what asks a hook. Raises ConfigurationError."""
        return await self._makers[hook.kind](hook)

    async def _change(self, change_id: str) -> Change:
        opened = await self._stores.review_queue.open(change_id, tenant_id=None, but=())
        return opened.change

    def _filled(self, hook: Hook, text: str) -> str:
        try:
            return expanded_text(text, self._settings.variables)
        except KeyError as error:
            variable = str(error.args[0])
            raise ConfigurationError(
                Message("hooks.variable", name=hook.name, variable=variable),
                hint=Message("hooks.hint_variable", variable=variable),
            ) from None

    def _all_filled(self, hook: Hook, texts: Mapping[str, str]) -> dict[str, str]:
        return {name: self._filled(hook, text) for name, text in texts.items()}

    async def _http(self, hook: Hook) -> Asker:
        from core.adapters.hooks.http import WebhookAsker

        given = hook.http
        assert given is not None
        asker = WebhookAsker(
            self._filled(hook, given.url),
            [self._filled(hook, secret) for secret in given.secrets or ()],
            self._all_filled(hook, given.headers),
            allow_private=given.allow_private,
            clock=utc_now,
        )
        self._stack.push_async_callback(asker.close)
        return asker

    async def _command(self, hook: Hook) -> Asker:
        from core.adapters.hooks.local import CommandAsker

        given = hook.command
        assert given is not None
        return CommandAsker(given.run, self._all_filled(hook, given.env), given.folder)

    async def _python(self, hook: Hook) -> Asker:
        from core.adapters.hooks.local import PythonAsker

        return PythonAsker(hook.python or "")

    async def _notify(self, hook: Hook) -> Asker:
        from core.adapters.hooks.remote import NotifyAsker

        urls = hook.notify.urls if hook.notify else ()
        return NotifyAsker([self._filled(hook, url) for url in urls], hook.lang)

    async def _plugin(self, hook: Hook) -> Asker:
        ((name, options),) = (hook.plugin or {}).items()
        opening = opened(self._settings, HOOKS, name, options)
        return await self._stack.enter_async_context(opening)

    async def _mcp(self, hook: Hook) -> Asker:
        from core.adapters.hooks.remote import McpAsker
        from core.mcp_client import McpServer, open_mcp

        given = hook.mcp
        assert given is not None
        if given.url is not None:
            headers = self._all_filled(hook, given.headers)
            server = McpServer(hook.name, self._filled(hook, given.url), more_headers=headers)
        else:
            server = self._named(hook, given)
        client = await self._stack.enter_async_context(
            open_mcp([server], call_seconds=_CALL_SECONDS)
        )
        return McpAsker(client, server.name, given)

    def _named(self, hook: Hook, given: McpHook) -> McpServer:
        skills_url = self._skills_url or f"http://{LOOPBACK}"  # without a worker there is none
        known = {server.name: server for server in mcp_servers(self._settings, skills_url)}
        name = given.server or ""
        if name not in known:
            names = ", ".join(sorted(known)) or Message("list.none")
            raise ConfigurationError(
                Message("hooks.no_server", name=hook.name, server=name, known=names),
                hint=Message("hooks.hint_server"),
            )
        return known[name]

    async def _question(self, hook: Hook) -> Asker:
        questions = None
        if self._model is not None:
            from core.agent.hook_questions import ModelQuestions

            model = self._model
            questions = ModelQuestions(
                model.chat, model.breaker, model.meter, self._stores.spending, new_id
            )
        reads = _StoreReads(self._stores) if hook.kind == "agent" else None
        return _ModelAsker(hook, questions, reads)


class _Lazy:
    """Makes what asks a hook when it is first asked: most commands ask none."""

    def __init__(self, builder: _Builder, hook: Hook) -> None:
        self.hook = hook
        self._builder = builder
        self._asker: Asker | None = None

    async def made(self) -> Asker:
        """Return what asks. Raises ConfigurationError."""
        if self._asker is None:
            self._asker = await self._builder.asker(self.hook)
        return self._asker

    async def ask(self, notice: Notice) -> Sent:
        """Ask it. Raises ConfigurationError."""
        return await (await self.made()).ask(notice)


@dataclass(frozen=True)
class _ModelAsker:
    """Asks the model; what it answers with no counts as the hook says."""

    hook: Hook
    questions: ModelQuestions | None
    reads: Reads | None

    async def ask(self, notice: Notice) -> Sent:
        if self.questions is None:
            return Sent(outcome=Outcome.LATER, status="model", error=Message("hook.no_model"))
        question = self.hook.prompt or self.hook.agent or ""
        told = await self.questions.ask(question, notice.value, notice.tenant_id, self.reads)
        decision = Decision(self.hook.on_no) if told.answer == "no" else Decision.ALLOW
        answer = HookAnswer(decision=decision, note=told.note.strip())
        return Sent(outcome=Outcome.DONE, status=told.answer, answer=answer)


@dataclass(frozen=True)
class _StoreReads:
    """What the read tools give, of the stores."""

    stores: Stores

    async def search(self, asked: SearchArgs, tenant_id: str, agent_id: str) -> JsonValue:
        from core.agent.loop.prompt import QUERY_CHARS, hit_data
        from core.domain.text import shorten

        hits = await self.stores.search.search(
            shorten(asked.content, QUERY_CHARS),
            tenant_id=tenant_id,
            agent_id=agent_id or None,
            kind=None if asked.knowledge_type == "ALL" else Kind(asked.knowledge_type),
            limit=asked.limit,
        )
        return {"hits": [hit_data(hit) for hit in hits]}

    async def detail(self, asked: DetailArgs, tenant_id: str) -> JsonValue:
        from core.react_tools import read_detail

        kind = Kind(asked.knowledge_type)
        return await read_detail(kind, asked.knowledge_id, tenant_id, deps=self.stores)
