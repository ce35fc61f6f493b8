"""The three health pages of a worker: their answers, and how often they query."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

import httpx
import pytest

from core.adapters.embedded.http_guard import HttpGuard
from core.app.health.app import create_app
from core.app.health.health import Health, Watched
from core.domain.errors import DatabaseDown
from core.domain.models import FeedbackStatus, PauseKind, Undecided, Waiting
from core.domain.models.deliveries import DeliveryStatus
from tests.support.metrics import samples
from tests.support.waiting import SOON


class Figures:
    """A backlog that says what it is told."""

    def __init__(self) -> None:
        self.queue = Waiting()

    async def waiting(self) -> Waiting:
        return self.queue

    async def ended(self) -> Mapping[FeedbackStatus, int]:
        return {}

    async def undecided(self) -> Undecided:
        return Undecided()

    async def going_out(self) -> Mapping[tuple[str, DeliveryStatus], int]:
        return {}


class Dependency:
    """Answers, fails or hangs as configured, and counts the calls."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.asked = 0
        self.goes_on = asyncio.Event()
        self.goes_on.set()

    async def ask(self) -> None:
        self.asked += 1
        await self.goes_on.wait()
        if self.error is not None:
            raise self.error


class Place:
    """A worker's health with one dependency, a queue in memory, and a stopped clock."""

    def __init__(self) -> None:
        self.now = 100.0
        self.stopping = False
        self.paused: set[PauseKind] = set()
        self.dependency = Dependency()
        self.backlog = Figures()
        self.health = Health(stopping=lambda: self.stopping, clock=lambda: self.now)
        self.app = create_app(self.health)

    @property
    def watched(self) -> Watched:
        return Watched(
            probes={"database": self.dependency.ask},
            backlog=self.backlog,
            pauses=self.pauses,
            running=lambda: 3,
        )

    async def pauses(self) -> Collection[PauseKind]:
        if self.dependency.error is not None:
            raise self.dependency.error
        return self.paused

    async def get(self, path: str, method: str = "GET") -> httpx.Response:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path)

    async def metrics(self) -> dict[str, float]:
        return samples((await self.get("/metrics")).content)


@pytest.fixture
def place() -> Place:
    return Place()


async def test_a_loop_that_turns_is_alive_and_one_that_does_not_is_stuck(place: Place) -> None:
    assert (await place.get("/healthz")).status_code == 200
    place.now += 9
    assert (await place.get("/healthz")).status_code == 200
    place.now += 2
    answer = await place.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "stuck")


async def test_a_pulse_ticks_while_it_beats(place: Place) -> None:
    place.now += 60
    async with place.health.pulse.beating():
        await asyncio.sleep(0)
        assert place.health.pulse.age() == 0
    place.now += 60
    assert not place.health.pulse.is_alive()


async def test_a_worker_is_ready_from_when_it_works_until_it_is_told_to_stop(place: Place) -> None:
    answer = await place.get("/readyz")
    assert (answer.status_code, answer.json()["state"]) == (503, "starting")
    async with place.health.watching(place.watched):
        answer = await place.get("/readyz")
        assert answer.status_code == 200
        assert answer.json() == {"ready": True, "state": "working", "checks": {"database": "ok"}}
        place.stopping = True
        answer = await place.get("/readyz")
        assert (answer.status_code, answer.json()["state"]) == (503, "stopping")
        assert (await place.get("/healthz")).status_code == 200
    place.stopping = False
    assert (await place.get("/readyz")).json()["state"] == "starting"


async def test_a_dependency_that_fails_is_named_without_what_it_said(place: Place) -> None:
    place.dependency.error = DatabaseDown("password authentication failed for user kim")
    async with place.health.watching(place.watched):
        answer = await place.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["checks"] == {"database": "database"}
        assert "kim" not in answer.text
        found = await place.metrics()
    assert found['dependency_up{dependency="database"}'] == 0
    assert not [key for key in found if key.startswith("held")]
    assert found['feedback{status="queued"}'] == 0


async def test_a_defect_of_a_probe_is_an_answer_too(place: Place) -> None:
    place.dependency.error = ZeroDivisionError()
    async with place.health.watching(place.watched):
        answer = await place.get("/readyz")
    assert (answer.status_code, answer.json()["checks"]) == (503, {"database": "error"})


async def test_losing_and_finding_a_dependency_is_logged_once(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    async with place.health.watching(place.watched):
        for error in (None, DatabaseDown("gone"), DatabaseDown("gone"), None, None):
            place.dependency.error = error
            place.now += 5
            await place.get("/readyz")
    told = [str(record.msg["event"]) for record in caplog.records]  # type: ignore[index]
    assert told == ["dependency.lost", "dependency.found"]


async def test_one_that_hangs_is_waited_for_in_bounds_and_asked_once(place: Place) -> None:
    place.dependency.goes_on.clear()
    async with place.health.watching(place.watched), asyncio.timeout(SOON):
        first, second = await asyncio.gather(place.get("/readyz"), place.get("/metrics"))
        assert first.json()["checks"] == {"database": "timeout"}
        found = samples(second.content)
        assert found['dependency_up{dependency="database"}'] == 0
        assert found['feedback{status="queued"}'] == 0
        place.dependency.goes_on.set()
        assert (await place.get("/readyz")).status_code == 200
    assert place.dependency.asked == 1


async def test_many_who_ask_at_once_ask_a_dependency_once(place: Place) -> None:
    async with place.health.watching(place.watched):
        answers = await asyncio.gather(*(place.get("/readyz") for _ in range(50)))
        assert {answer.status_code for answer in answers} == {200}
        assert place.dependency.asked == 1
        place.now += 1.9
        await place.get("/readyz")
        assert place.dependency.asked == 1
        place.now += 0.2
        await place.get("/readyz")
        assert place.dependency.asked == 2


async def test_the_queue_the_holds_and_what_runs_are_told(place: Place) -> None:
    place.backlog.queue = Waiting(queued=2, oldest_seconds=7.5)
    place.paused = {PauseKind.MODEL}
    async with place.health.watching(place.watched):
        found = await place.metrics()
    assert found["running"] == 3
    assert found['feedback{status="queued"}'] == 2
    assert found["feedback_oldest_seconds"] == 7.5
    assert (found['held{kind="model"}'], found['held{kind="paused"}']) == (1, 0)


async def test_what_is_slow_to_read_is_read_seldom(place: Place) -> None:
    class Slow(Figures):
        reads = 0

        async def ended(self) -> dict[FeedbackStatus, int]:
            self.reads += 1
            place.now += 0.5
            return {}

    slow = Slow()
    watched = Watched(probes={}, backlog=slow, pauses=place.pauses, running=lambda: 0)
    async with place.health.watching(watched):
        await place.metrics()
        place.now += 49
        await place.metrics()
        assert slow.reads == 1
        place.now += 2
        await place.metrics()
        assert slow.reads == 2


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/healthz/", 404),
        ("GET", "/metrics/../secrets", 404),
        ("POST", "/readyz", 405),
        ("DELETE", "/metrics", 405),
        ("HEAD", "/healthz", 200),
    ],
)
async def test_what_is_not_there_is_told_in_json(
    place: Place, method: str, path: str, status: int
) -> None:
    answer = await place.get(path, method)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    if status != 200:
        assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("served_on", "host", "status"),
    [
        ("127.0.0.1", "127.0.0.1:8720", 200),
        ("127.0.0.1", "localhost:8720", 200),
        ("127.0.0.1", "evil.example", 403),
        ("0.0.0.0", "10.1.2.3:8720", 200),
        ("::", "[fd00::7]:8720", 200),
        ("10.1.2.3", "worker.internal", 200),
    ],
)
async def test_beyond_loopback_probes_come_by_whatever_name_the_pod_has(
    place: Place, served_on: str, host: str, status: int
) -> None:
    guarded = HttpGuard(place.app, host=served_on, token=None, setting=None)
    transport = httpx.ASGITransport(guarded)
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        answer = await client.get("/healthz", headers={"host": host})
        foreign = await client.get("/healthz", headers={"origin": "https://evil.example"})
    assert answer.status_code == status
    assert foreign.status_code == 403
