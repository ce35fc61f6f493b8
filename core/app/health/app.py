"""The three pages of a worker: /healthz, /readyz and /metrics."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.app.health.health import OK, Health, State

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_FRESH = {"Cache-Control": "no-store"}


def create_app(health: Health) -> Starlette:
    """Build the app over one worker's health. None of its answers is secret."""

    async def alive(_: Request) -> Response:
        is_alive = health.pulse.is_alive()
        answer = {
            "status": "alive" if is_alive else "stuck",
            "seconds_since_tick": round(health.pulse.age(), 3),
        }
        return JSONResponse(answer, 200 if is_alive else 503, _FRESH)

    async def ready(_: Request) -> Response:
        checks = await health.checks()
        is_ready = health.state is State.WORKING and set(checks.values()) <= {OK}
        answer = {"ready": is_ready, "state": health.state, "checks": dict(checks)}
        return JSONResponse(answer, 200 if is_ready else 503, _FRESH)

    async def metrics(_: Request) -> Response:
        text = health.metrics.render(await health.figures())
        return Response(text, media_type=METRICS_TYPE, headers=_FRESH)

    pages = {"/healthz": alive, "/readyz": ready, "/metrics": metrics}
    app = Starlette(
        routes=[Route(path, page, methods=["GET"]) for path, page in pages.items()],
        exception_handlers={HTTPException: _http_error},
    )
    app.router.redirect_slashes = False
    return app


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"detail": error.detail}, error.status_code, headers=error.headers)
