"""The existing platform in the chaos suite: its tables over PostgREST, in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.chaos.tasks import Task
from tests.support.postgrest_server import PostgrestServer, Row


def rows_of(tasks: Sequence[Task]) -> dict[str, list[Row]]:
    """Return tasks as rows of the platform: two per row if they have one tenant."""
    rows: dict[str, Row] = {}
    users: dict[str, Row] = {}
    for minute, task in enumerate(tasks):
        for agent_id in task.agent_ids:
            users[agent_id] = {"id": agent_id, "username": agent_id, "tenant_id": task.tenant}
        row = rows.setdefault(
            task.tenant,
            {
                "id": f"row-{task.tenant}",
                "user_id": ",".join(task.agent_ids),
                "feedback": [],
                "description": "chaos",
                "tenant_id": task.tenant,
                "feedback_status": "REQUESTED",
                "updated_at": f"2026-01-01T09:{minute // 60:02}:{minute % 60:02}",
            },
        )
        said = {"time": row["updated_at"], "content": task.feedback().content, "user_id": "kim"}
        items = row["feedback"]
        assert isinstance(items, list)
        items.append(said)
    return {"todolist": list(rows.values()), "users": list(users.values())}


def create_platform_app() -> Starlette:
    """Return the app; rows are added, and read, at `/chaos`."""
    server = PostgrestServer()

    async def control(request: Request) -> Response:
        if request.method == "POST":
            for table, rows in (await request.json()).items():
                server.tables[table].extend(rows)
        statuses = {str(row["id"]): row["feedback_status"] for row in server.tables["todolist"]}
        return JSONResponse({"rows": statuses})

    methods = ["GET", "PATCH", "POST"]
    return Starlette(
        routes=[
            Route("/chaos", control, methods=["GET", "POST"]),
            Route("/rest/v1/{path:path}", server.handle, methods=methods),
        ]
    )
