"""Another tenant's data does not exist: each route with an id is called with a foreign one.

The routes are read from the OpenAPI document, so that a new one fails here until a call for it is
added.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

import httpx
import pytest
from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.adapters.postgres.runs import PostgresJournal
from core.app.program import App, open_app
from core.delivery.hooks import Hook, Hooks
from core.domain.models import (
    Agent,
    ChangeFilter,
    HistoryFilter,
    MemoryRequest,
    NewFeedback,
    Operation,
    RunEvent,
    SubmitContext,
)
from core.domain.models.access import Limits, Role
from core.domain.models.deliveries import DeliveryFilter
from core.entrypoints.api.app import create_api
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.serving import Serving
from core.entrypoints.auth import Access, Grant
from tests.support.api import settings_of
from tests.support.cases import a_case
from tests.support.effect import proposed
from tests.support.foreign import FOREIGN, NAMES, NOBODY_S, Route
from tests.support.learning import Teacher

HERE = "http://127.0.0.1"
MARK, T, A = "xylophone", "tulip", "anemone"  # in all that one tenant has, and nowhere else
SECRET = "금액은 원화로"
PATIENCE = 5.0
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+Z")


class World(NamedTuple):
    """What is served, the program behind it, and the ids of tenant T's data."""

    client: httpx.AsyncClient
    app: App
    of_t: Mapping[str, str]

    async def secret(self, *roles: Role, life: timedelta | None = None, **given: str) -> str:
        """Create a token and return its secret; with all roles by default."""
        access = Access(self.app.stores.tokens, self.app.new_id)
        grant = Grant(name=self.app.new_id(), roles=roles or tuple(Role), **given)
        return (await access.add(grant, life)).secret.get_secret_value()

    async def call(self, route: str, way: Route, ids: Mapping[str, str], secret: str) -> _Answer:
        """Call a route in one way, with these ids."""
        method, path = _filled(route + way.path, ids).split(" ", 1)
        body = None if way.body is None else _filled(json.dumps(way.body), ids)
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        answer = await self.client.request(
            method, path, content=body, headers=headers if secret else {}
        )
        told = {name: value for name, value in answer.headers.items() if name != "content-length"}
        return _Answer(answer.status_code, told, answer.text)


class _Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    text: str

    def without(self, ids: Mapping[str, str]) -> _Answer:
        """Return the answer with each time and each id replaced, the longest first."""
        text = _MOMENT.sub("…", self.text)
        for value in sorted({*ids.values()}, key=len, reverse=True):
            text = text.replace(value, "…")
        return self._replace(text=text)


@pytest.fixture
async def world(database: str, tmp_path: Path) -> AsyncIterator[World]:
    settings = settings_of(database, tmp_path, review_policy="risky")
    limits = Limits(wrong_tokens_per_minute=100_000)  # no answer to one is delayed
    serving = Serving(host="127.0.0.1", hosts=(), home=tmp_path, mount=None, limits=limits)
    async with open_app(settings) as app, serving.opened_to(app):
        await app.stores.agents.save(Agent(id=A, tenant_id=T, name=MARK))
        await app.stores.agents.save(Agent(id="c", tenant_id="u", name="C"))
        ids = await _taught(app)
        transport = httpx.ASGITransport(_hung_up_on(serving.around(Starlette())))
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
            yield World(client, app, ids)


def _hung_up_on(app: ASGIApp) -> ASGIApp:
    """Let callers leave when they hear nothing more: a stream of one's own events has no end."""

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        has_left = False

        async def hear() -> Message:
            nonlocal has_left
            try:
                return await asyncio.wait_for(receive(), PATIENCE)
            except TimeoutError:
                has_left = True
                return {"type": "http.disconnect"}

        await app(scope, hear, send)
        if has_left:
            await send({"type": "http.response.body", "body": b""})

    return called


def _routes() -> Mapping[str, frozenset[str]]:
    """Return the routes of the document, each with the names of its parameters."""
    paths = create_api(Opened()).openapi()["paths"]
    return {
        f"{method.upper()} {path}": frozenset(p["name"] for p in operation.get("parameters", ()))
        for path, methods in paths.items()
        for method, operation in methods.items()
    }


async def _taught(app: App) -> Mapping[str, str]:
    """Teach tenant T one thing of each kind; a deletion waits, another was approved."""
    teacher = Teacher(app, T, A)
    kept = await teacher.memory(f"{MARK}: {SECRET}", said=MARK)
    gone = await teacher.memory("인사는 짧게", said=f"{MARK} 2")
    await teacher.rule(("> 100", MARK), ("<= 100", "kim"), said=MARK)
    await teacher.skill(f"{MARK}s", f"# {MARK}\n", said=MARK)
    for target, approved in ((gone.target_id, True), (kept.target_id, False)):
        held = await _delete(app, str(target))
        if approved:
            await app.gate.decisions.approve(held, by="kim")
    ((feedback_id, _),) = await app.stores.inbox.add(
        "test", [NewFeedback(tenant_id=T, agent_ids=(A,), content=MARK)]
    )
    access = Access(app.stores.tokens, app.new_id)
    session = await access.admit(Grant(name=MARK, tenant_id=T, subject=MARK))
    (record, *_), _ = await app.stores.reader.history(HistoryFilter(), limit=9, cursor=None)
    (change, *_), _ = await app.stores.reader.changes(ChangeFilter(), limit=9, cursor=None)
    return {
        "agent": A,
        "agent_id": A,
        "feedback_id": feedback_id,
        "change_id": change.id,
        "case_id": await a_case(app, str(kept.target_id), tenant_id=T),
        "record_id": record.id,
        "session_id": session.token.id,
        "delivery_id": await _delivery(app, feedback_id),
        "proposal_id": await proposed(
            app, str(kept.target_id), datetime.now(UTC), tenant_id=T, agent_id=A
        ),
        "item": str(kept.target_id),
        "gone": str(gone.target_id),
        "skill": f"{MARK}s",
        "tenant": T,
        "mark": MARK,
    }


async def _delivery(app: App, feedback_id: str) -> str:
    hook = Hook.model_validate({"name": "us", "event": ["feedback.claimed"], "python": "a:b"})
    journal = PostgresJournal(app.stores.pool, routes=Hooks([hook]).routes)
    data: dict[str, JsonValue] = {"attempt": 1, MARK: MARK}
    await journal.emit(
        RunEvent(name="feedback.claimed", tenant_id=T, feedback_id=feedback_id, data=data)
    )
    (made,), _ = await app.stores.delivery_log.page(DeliveryFilter(), limit=9, cursor=None)
    return made.id


async def _delete(app: App, target_id: str) -> str:
    request = MemoryRequest(operation=Operation.DELETE, target_id=target_id, reason=MARK)
    context = SubmitContext(key=target_id, tenant_id=T, agent_id=A)
    return str((await app.gate.submit(request, context)).change_id)


def _filled(text: str, ids: Mapping[str, str]) -> str:
    for name, value in ids.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _calls() -> Iterator[tuple[str, Route]]:
    return ((route, way) for route, ways in FOREIGN.items() for way in ways)


def test_every_route_and_each_name_of_something_is_told_here() -> None:
    routes = _routes()
    assert set(routes) == set(FOREIGN)
    for route, ways in FOREIGN.items():
        asked = " ".join(way.path for way in ways)
        for name in routes[route] & NAMES:
            assert f"{name}=" in asked or f"{{{name}}}" in route, f"{route} {name}"


async def test_what_is_anothers_is_answered_as_what_nobody_has(world: World) -> None:
    secret = await world.secret(tenant_id="u")
    before = await _standing(world.app)
    for route, way in _calls():
        foreign = await world.call(route, way, world.of_t, secret)
        missing = await world.call(route, way, NOBODY_S, secret)
        assert foreign.status == way.found, (route, way, foreign)
        assert foreign.without(world.of_t) == missing.without(NOBODY_S), (route, way)
        assert MARK not in foreign.without(world.of_t).text, (route, way)
    assert await _standing(world.app) == before


async def test_nobody_is_let_in_without_a_token_that_is_valid(world: World) -> None:
    revoked = await world.secret()
    access = Access(world.app.stores.tokens, world.app.new_id)
    await access.revoke([token.id for token in await access.tokens.list()][-1])
    link = await access.link(Grant(name="kim"))
    session = await access.open_session(await world.secret())
    assert session is not None
    wrong = {
        "none": "",
        "wrong": f"swk_{'x' * 43}",
        "expired": await world.secret(life=timedelta(0)),
        "revoked": revoked,
        "a link": link.secret.get_secret_value(),
        "a session": session.secret.get_secret_value(),
    }
    before = await _standing(world.app)
    others = itertools.cycle([name for name in wrong if name != "none"])
    for route, way in _calls():
        for name in ("none", next(others)):  # the guard knows no route
            secret = wrong[name]
            answer = await world.call(route, way, world.of_t, secret)
            assert answer.status == 401, (route, name, answer)
            assert answer.headers["content-type"] == "application/problem+json"
            assert MARK not in answer.text
    assert await _standing(world.app) == before


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.nightly)])
async def test_a_role_that_is_missing_hides_whether_something_is_there(
    world: World, every: int
) -> None:
    """With one insufficient role, a foreign id and one's own are refused alike.

    Each call is tried with every second role; with all of them at night.
    """
    before = await _standing(world.app)
    for turn, role in enumerate(Role):
        of_u = await world.secret(role, tenant_id="u")
        of_t = await world.secret(role, tenant_id=T)
        for at, (route, way) in enumerate(_calls()):
            if (at + turn) % every:
                continue
            foreign = await world.call(route, way, world.of_t, of_u)
            if foreign.status == 403:
                own = await world.call(route, way, world.of_t, of_t)
                assert (own.status, own.headers) == (403, foreign.headers), (route, role)
            else:
                assert foreign.status == way.found, (route, role, foreign)
    assert await _standing(world.app) == before


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(300, id="ci"),
        pytest.param(20_000, marks=[pytest.mark.nightly, pytest.mark.timeout(3600)]),
    ],
)
async def test_no_call_made_up_of_anything_brings_what_is_anothers(
    world: World, number: int
) -> None:
    """Ids of the other tenant, of nobody and of no form, mixed, also where no id is expected."""
    secret, before = await world.secret(tenant_id="u"), await _standing(world.app)
    chosen, calls = random.Random(number), [*_calls()]
    odd = ["", "%", "*", "'", "..", T.upper(), f" {T}", MARK[:-1] + "_", "0", "null", "a" * 300]
    for _ in range(number):
        route, way = chosen.choice(calls)
        ids = {
            name: chosen.choice([value, value, NOBODY_S[name], quote(chosen.choice(odd), "")])
            for name, value in world.of_t.items()
        }
        asked = {name: ids[name] for name in chosen.sample([*ids], chosen.randrange(3))}
        more = {"tenant_id": chosen.choice([T, *odd]), "q": MARK[1:], **asked}
        more = {name: more[name] for name in chosen.sample([*more], chosen.randrange(3))}
        joint = "&" if "?" in way.path else "?"
        path = f"{way.path}{joint}{urlencode(more)}" if more else way.path
        answer = await world.call(route, way._replace(path=path), ids, secret)
        assert answer.status < 500, (route, path, ids, answer)
        said = _filled(f"{route}{path}{json.dumps(way.body)}", ids)
        of_t = (SECRET,) if MARK in said else (SECRET, MARK)  # what was sent may come back
        assert not [word for word in of_t if word in answer.text], (route, path, ids, answer)
    assert await _standing(world.app) == before


async def _standing(app: App) -> object:
    """Return everything that a call could have changed."""
    changes, _ = await app.stores.reader.changes(ChangeFilter(), limit=100, cursor=None)
    history, _ = await app.stores.reader.history(HistoryFilter(), limit=100, cursor=None)
    return (
        changes,
        history,
        await app.stores.reader.counts(),
        await app.stores.agents.list(),
        await app.stores.intake.paused(),
        [one.id for one in await app.stores.tokens.sessions() if one.name == MARK],
        [await app.stores.reader.events(str(change.feedback_id)) for change in changes],
    )
