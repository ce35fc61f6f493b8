"""Sessions over a few stores in place of the opened program: for services that ask only these."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import cast

from core.app.program import App
from core.domain.models.access import Principal, Role
from core.entrypoints.service.session import Session


def principal(tenant_id: str | None = "t", *roles: Role, **given: object) -> Principal:
    """Return who asks: of a tenant, with these roles or all."""
    known = {"token_id": "1", "name": "lee", "roles": frozenset(roles or tuple(Role))}
    return Principal.model_validate({**known, "tenant_id": tenant_id, **given})


def app_of(stores: dict[str, object], **parts: object) -> App:
    """Return what a service takes for the opened program, with these stores and parts."""
    return cast("App", SimpleNamespace(stores=SimpleNamespace(**stores), **parts))


def session_of(
    who: Principal | None = None, *, parts: dict[str, object] | None = None, **stores: object
) -> Session:
    """Return the session of a principal over these stores."""
    return Session(app_of(stores, **(parts or {})), who or principal())


class Asked:
    """A store that gives set answers by the name of a method; `calls` is what it was asked."""

    def __init__(self, **answers: object) -> None:
        self.answers = answers
        self.calls: list[tuple[str, tuple[object, ...], dict[str, object]]] = []

    def __getattr__(self, name: str) -> Callable[..., Awaitable[object]]:
        if name.startswith("__"):
            raise AttributeError(name)

        async def answer(*args: object, **given: object) -> object:
            self.calls.append((name, args, given))
            found = self.answers.get(name)
            if isinstance(found, Exception):
                raise found
            return found

        return answer
