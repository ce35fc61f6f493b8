"""The application: routes under /v1, problem details for failures, and the OpenAPI document."""

from __future__ import annotations

from copy import deepcopy
from typing import ClassVar

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute

from core import __version__
from core.entrypoints.api import problems
from core.entrypoints.api.bodies import Bodies
from core.entrypoints.api.checks import plain_request
from core.entrypoints.api.document import describe, query_names
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.routes import (
    agents,
    cases,
    changes,
    context,
    costs,
    deliveries,
    effect,
    events,
    feedback,
    graph,
    history,
    intake,
    knowledge,
    me,
    overview,
    runs,
    search,
    skills,
    use,
)
from core.entrypoints.api.sessions import bearer

ROUTERS = (
    events.router,
    feedback.router,
    history.router,
    agents.router,
    intake.router,
    me.router,
    overview.router,
    changes.router,
    runs.router,
    knowledge.router,
    search.router,
    skills.router,
    use.router,
    context.router,
    graph.router,
    costs.router,
    deliveries.router,
    effect.router,
    cases.router,
)


def create_api(opened: Opened) -> FastAPI:
    """Return the API without its guard: the caller wraps it, nothing here checks a token."""
    app = _Api(
        title="skill-worker",
        version=__version__,
        docs_url=None,  # its pages load scripts from a CDN
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
    )
    app.state.opened = opened
    app.add_middleware(Bodies)
    problems.install(app)
    for router in ROUTERS:
        app.include_router(
            router, prefix="/v1", dependencies=[Depends(bearer), Depends(plain_request)]
        )
    app.state.query_names = query_names(app.openapi())
    return app


class _Api(FastAPI):
    # It takes half a second to make, and all have the same routes.
    _described: ClassVar[dict[str, object]] = {}

    def openapi(self) -> dict[str, object]:
        """Return the OpenAPI document."""
        if self.openapi_schema is None:
            if not _Api._described:
                _Api._described = describe(self)
            self.openapi_schema = deepcopy(_Api._described)
        return self.openapi_schema


def _operation_id(route: APIRoute) -> str:
    """Name an operation after its function; clients generated from the document show the name."""
    return route.name
