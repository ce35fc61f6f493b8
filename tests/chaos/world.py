"""The surroundings of a scenario: a PostgreSQL, a model, a skill server and pods to be killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

import httpx
import psycopg

from core.adapters.embedded.postgres import Cluster, server_user
from tests.chaos.children import LOOPBACK, serve_model, serve_platform, serve_pods, serve_skills
from tests.support import databases
from tests.support.waiting import wait_until

FORK = multiprocessing.get_context("forkserver")
FORK.set_forkserver_preload(["tests.chaos.warm"])


def start(target: Callable[..., None], *args: object) -> BaseProcess:
    """Start a process from the one that has all imports."""
    process: BaseProcess = FORK.Process(target=target, args=args, daemon=True)  # type: ignore[attr-defined]
    process.start()
    return process


@dataclass
class Server:
    """An HTTP server in a process of its own, always on the same port."""

    target: Callable[..., None]
    arguments: tuple[str, ...] = ()
    port: int = 0
    process: BaseProcess | None = None

    def __post_init__(self) -> None:
        with socket.create_server((LOOPBACK, 0)) as listener:
            self.port = listener.getsockname()[1]

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.process = start(self.target, *self.arguments, self.port)
        wait_until(self._answers)

    def kill(self) -> None:
        """Kill it, whatever it is doing."""
        if self.process is not None:
            self.process.kill()
            self.process.join()

    def control(self, **wanted: object) -> None:
        """Set what goes wrong from now on."""
        httpx.post(f"{self.url}/chaos", json=wanted, trust_env=False).raise_for_status()

    def told(self) -> Mapping[str, Mapping[str, int]]:
        """Return what it has counted."""
        told: Mapping[str, Mapping[str, int]]
        told = httpx.get(f"{self.url}/chaos", trust_env=False).json()
        return told

    def _answers(self) -> bool:
        try:
            socket.create_connection((LOOPBACK, self.port), timeout=1).close()
        except OSError:
            return False
        return True


class Postgres:
    """A server of the suite's own. Its disk may lie, but a commit has left the process."""

    def __init__(self, home: Path) -> None:
        self._data = home / "postgres"
        self._cluster = Cluster(self._data, server_user(home))
        self.uri = ""

    def start(self) -> None:
        """Start it unless it runs."""
        self.uri = self._cluster.ensure_running()

    def configure(self) -> None:
        """Spare the disk: only a crash of the machine would lose what fsync secures."""
        with psycopg.connect(self.uri, autocommit=True) as conn:
            conn.execute("ALTER SYSTEM SET fsync = off")
            conn.execute("ALTER SYSTEM SET full_page_writes = off")
            conn.execute("SELECT pg_reload_conf()")

    def stop(self, how: signal.Signals) -> None:
        """Stop it: SIGINT is fast, SIGQUIT immediate, SIGKILL cannot be handled."""
        pid = int((self._data / "postmaster.pid").read_text().split("\n", 1)[0])
        os.kill(pid, how)
        wait_until(lambda: not _runs(pid))

    def end(self) -> None:
        """Stop it for good."""
        self._cluster.stop()


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@dataclass
class World:
    """Everything but the workers."""

    root: Path
    postgres: Postgres
    model: Server
    skills: Server
    pods: Server
    platform: Server
    template: str = ""
    rows: list[tuple[str, ...]] = field(default_factory=list)  # of the table at the end

    @property
    def skills_root(self) -> Path:
        """The folder of the skill server's skills."""
        return self.root / "skills"

    def calm(self) -> None:
        """End all faults, and start everything that is down."""
        self.postgres.start()
        for server in (self.model, self.skills):
            if server.process is None or not server.process.is_alive():
                server.start()
            server.control(kinds=[], rate=0.0)


@contextmanager
def opened_world(root: Path) -> Iterator[World]:
    """Start everything but the pods, and stop it at the end."""
    postgres = Postgres(root)
    skills = Server(serve_skills, (str(root / "skills"),))
    others = (Server(serve_pods), Server(serve_platform))
    world = World(root, postgres, Server(serve_model), skills, *others)
    try:
        world.calm()
        postgres.configure()
        world.template = databases.template(postgres.uri)
        yield world
    finally:
        for server in (world.model, world.skills, *others):
            server.kill()
        postgres.end()
