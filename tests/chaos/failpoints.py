"""Named failpoints at every port call, where a process can be killed, paused or made to fail.

A call `inbox.claim` has the points `inbox.claim:before` and `inbox.claim:after`; those of a context
manager such as `changes.settle` come before it is entered and after it is left. What a context
yields is wrapped in turn (`settlement.record_knowledge_history`, `pod.run_shell`).
"""

from __future__ import annotations

import inspect
import json
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from core.adapters.postgres.saver import RunSaver
from core.domain.errors import DependencyDown

T = TypeVar("T")
Call = Callable[..., Awaitable[object]]

# What the contexts of these calls yield.
INNER = {"changes.unit_of_work": "unit", "pods.open": "pod"}
NOWHERE = ""  # stands for the feedback in what happens outside the jobs: sweeps, fetches
_working_on: ContextVar[str] = ContextVar("_working_on", default=NOWHERE)


@dataclass(frozen=True)
class Plan:
    """What happens where. It survives the process: executed actions are noted under `fired`.

    `at` maps a feedback id to the point, which of its hits there (from 1), and the action: `kill`,
    `stop` or `raise`. `once` are points at which the first to arrive is killed. `chance` is the
    probability of a kill at any hit, by `seed`.
    """

    fired: str
    at: Mapping[str, tuple[str, int, str]] = field(default_factory=dict)
    once: Sequence[str] = ()
    chance: float = 0.0
    seed: int = 0
    record: str | None = None

    def save(self, path: Path) -> None:
        """Write the plan for the workers."""
        path.write_text(json.dumps(asdict(self)))

    @staticmethod
    def load(path: Path) -> Plan:
        """Read the plan in a worker."""
        return Plan(**json.loads(path.read_text()))


class Failpoints:
    """Counts the hits of each point by feedback, and acts by the plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._hits: Counter[tuple[str, str]] = Counter()
        self._random = random.Random(f"{plan.seed} {os.getpid()}")
        self._record = Path(plan.record) if plan.record else None

    def wrap(self, name: str, port: T, /) -> T:
        """Return the port with its points: the hook of `open_app`."""
        if isinstance(port, RunSaver):
            return cast("T", SaverWithPoints(port, self))
        return cast("T", PortWithPoints(name, port, self))

    def hit(self, point: str) -> None:
        """Pass a point."""
        feedback_id = _working_on.get()
        self._hits[feedback_id, point] += 1
        if self._record:
            with self._record.open("a") as file:
                file.write(f"{feedback_id} {point}\n")
        planned = self._plan.at.get(feedback_id)
        if planned and (planned[0], planned[1]) == (point, self._hits[feedback_id, point]):
            self._act(planned[2], feedback_id, point)
        elif point in self._plan.once:
            self._act("kill", point, point)
        elif self._plan.chance and self._random.random() < self._plan.chance:
            self._act("kill", f"random-{os.getpid()}", point)

    def _act(self, action: str, name: str, point: str) -> None:
        if not _note(Path(self._plan.fired) / name, point):
            return
        if action == "raise":
            raise DependencyDown(f"failpoint {point}")
        os.kill(os.getpid(), signal.SIGSTOP if action == "stop" else signal.SIGKILL)


def _note(path: Path, point: str) -> bool:
    """Note that a plan's action is due; return False if it was noted before."""
    try:
        with open(path, "x") as file:
            file.write(point)
    except FileExistsError:
        return False
    return True


class PortWithPoints:
    """A port whose async methods and contexts pass their points."""

    def __init__(self, name: str, port: object, points: Failpoints) -> None:
        self._name = name
        self._port = port
        self._points = points

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self._port, attribute)
        name = f"{self._name}.{attribute}"
        if inspect.iscoroutinefunction(value):
            return self._call(name, value)
        if inspect.isasyncgenfunction(inspect.unwrap(value)) and callable(value):
            return self._context(name, value)
        return value

    def _call(self, name: str, method: Call) -> Call:
        async def call(*args: object, **kwargs: object) -> object:
            if name == "inbox.claim":
                _working_on.set(str(args[0]))
            self._points.hit(f"{name}:before")
            result = await method(*args, **kwargs)
            self._points.hit(f"{name}:after")
            return result

        return call

    def _context(
        self, name: str, method: Callable[..., AbstractAsyncContextManager[object]]
    ) -> Callable[..., AbstractAsyncContextManager[object]]:
        @asynccontextmanager
        async def context(*args: object, **kwargs: object) -> AsyncIterator[object]:
            self._points.hit(f"{name}:before")
            async with method(*args, **kwargs) as inner:
                yield self._points.wrap(INNER[name], inner) if name in INNER else inner
            self._points.hit(f"{name}:after")

        return context


class SaverWithPoints(RunSaver):
    """The saver of ReAct runs with points; a class, since LangGraph checks its type."""

    def __init__(self, saver: RunSaver, points: Failpoints) -> None:
        super().__init__(saver.conn, serde=saver.serde)
        self._points = points

    async def aget_tuple(self, *args: Any, **kwargs: Any) -> Any:
        return await self._passing("aget_tuple", super().aget_tuple(*args, **kwargs))

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        return await self._passing("aput", super().aput(*args, **kwargs))

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        await self._passing("aput_writes", super().aput_writes(*args, **kwargs))

    async def _passing(self, name: str, call: Awaitable[T]) -> T:
        self._points.hit(f"saver.{name}:before")
        result = await call
        self._points.hit(f"saver.{name}:after")
        return result
