"""The application: routes under /v1, problems for failures, and the OpenAPI document."""

from __future__ import annotations

from fastapi import APIRouter, Depends, FastAPI

from core import __version__
from core.api import problems
from core.api.opened import Opened
from core.api.routes import changes, feedback, runs
from core.api.seats import bearer

ROUTERS = (feedback.router, changes.router, runs.router)


def create_api(opened: Opened) -> FastAPI:
    """Make the API. Whoever serves it puts the guard around it: here nobody is let in by token."""
    app = FastAPI(
        title="skill-worker",
        version=__version__,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        responses={
            "default": {"model": problems.Problem, "description": "A problem (RFC 9457)."},
        },
    )
    app.state.opened = opened
    problems.install(app)
    v1 = APIRouter(prefix="/v1", dependencies=[Depends(bearer)])
    for router in ROUTERS:
        v1.include_router(router)
    app.include_router(v1)
    return app
