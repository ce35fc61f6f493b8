"""A page that breaks says so in the reader's language; what broke goes to the log alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from nicegui import Client, ui
from nicegui.page import page
from starlette.requests import Request
from structlog.testing import capture_logs

from core.console.language import Language
from core.console.site import fill
from core.console.visit import Visit
from core.desk.seat import Seat
from core.errors import InvalidInput

NO_SEAT = cast("Seat", None)  # what breaks before it looks at anything


def _visit() -> Visit:
    scope = {"type": "http", "method": "GET", "scheme": "http", "server": ("test", 80)}
    request = Request({**scope, "path": "/console/review", "query_string": b"", "headers": []})
    return Visit(request, NO_SEAT, Language.KO, lambda: datetime.now(UTC))


async def _shown(error: Exception) -> str:
    async def build(_: Visit) -> None:
        raise error

    visit = _visit()
    with Client(page("/broken"), request=visit.request) as client:
        await fill(visit, build)
        parts = [one.content for one in client.elements.values() if isinstance(one, ui.html)]
    return "".join(parts)


async def test_what_nobody_planned_is_told_without_its_text_and_logged_with_its_trace() -> None:
    with capture_logs() as logged:
        shown = await _shown(ZeroDivisionError("secret of the program"))
    assert "예기치 않은 오류가 발생했습니다" in shown
    assert "secret" not in shown
    (entry,) = logged
    assert (entry["event"], entry["path"]) == ("console.failed", "/console/review")
    assert entry["exc_info"]


async def test_what_is_wrong_with_the_request_is_told_as_it_is_and_not_logged() -> None:
    with capture_logs() as logged:
        shown = await _shown(InvalidInput("'x' is no date", hint="write it like 2026-11-22"))
    assert "is no date" in shown
    assert "2026-11-22" in shown
    assert logged == []
