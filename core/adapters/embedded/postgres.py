"""An embedded PostgreSQL, so that newcomers need no database service."""

from __future__ import annotations

import fcntl
import os
import pwd
import shlex
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil  # type: ignore[import-untyped]
import structlog

from core.adapters.embedded.home import OTHERS, private_home
from core.adapters.embedded.postgres_wheel import MAJOR_VERSION, ensure_user, programs
from core.domain.errors import ConfigurationError, DatabaseDown
from core.domain.messages import Message

PORT = 5432
START_SECONDS = 60
STOP_SECONDS = 30
_SOON = 0.005
ORPHAN_SECONDS = 10.0
LOG_TAIL_CHARACTERS = 1_500
PID_LINE, SOCKET_LINE, STATUS_LINE = 0, 4, 7  # postmaster.pid, from 0: see utils/pidfile.h
SOCKET_PATH_BYTES = 100  # sun_path has 104 bytes on macOS, 108 on Linux
SERVER_HINT = Message("embedded.hint")
OWNER, WORKER = "postgres", "skill_worker"
_MAP = "skill_worker"  # of users of the system to roles


class Cluster:
    """One data directory. Methods are not safe against each other: callers serialise them."""

    def __init__(self, data: Path, user: ServerUser | None) -> None:
        self._data = data
        self._user = user
        self._log = data / "server.log"
        self._programs = programs()

    def ensure_running(self) -> str:
        """Create the data directory and start its server if needed; return the URI.

        Raises ConfigurationError if another PostgreSQL version wrote the data, DatabaseDown if the
        server does not start, or hangs while starting or stopping.
        """
        self._refuse_other_version()
        if not self._comes_to_be_ready():
            self._clear_remains()
            if not (self._data / "PG_VERSION").exists():
                self._make()
            self._start()
        return self._uri()

    def stop(self) -> None:
        """Stop the server if it runs; connections are ended, transactions rolled back."""
        sockets = self._sockets()
        for mode in ("fast", "immediate"):
            if self._postmaster() is not None:
                with suppress(subprocess.CalledProcessError):
                    self._run("pg_ctl", "-D", ".", "-W", "-m", mode, "stop")
                    self._comes_to_be_gone()
        if sockets != self._data:
            with suppress(OSError):
                sockets.rmdir()

    def _comes_to_be_gone(self) -> None:
        """Wait for the end of a server that stops; pg_ctl would look ten times a second."""
        deadline = time.monotonic() + STOP_SECONDS
        while self._postmaster() is not None and time.monotonic() < deadline:
            time.sleep(_SOON)

    def _comes_to_be_ready(self) -> bool:
        """Wait until the server is either up or gone; return whether it is up.

        Its starter may have been killed midway, or another process may be stopping it: its status
        is then "starting" or "stopping", and it refuses connections.
        """
        deadline = time.monotonic() + START_SECONDS
        while self._postmaster() is not None:
            status = self._status()
            if status == "ready":
                return True
            if time.monotonic() > deadline:
                raise DatabaseDown(
                    Message(
                        "embedded.not_ready",
                        folder=self._data,
                        status=status,
                        seconds=START_SECONDS,
                        log=self._log_tail(),
                    ),
                    hint=SERVER_HINT,
                )
            time.sleep(0.05)
        return False

    def _refuse_other_version(self) -> None:
        try:
            found = (self._data / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            return
        if found != str(MAJOR_VERSION):
            raise ConfigurationError(
                Message("embedded.version", folder=self._data, found=found, version=MAJOR_VERSION),
                hint=Message("embedded.hint_dump"),
            )

    def _make(self) -> None:
        self._data.mkdir(mode=0o700, exist_ok=True)
        if self._user:
            os.chown(self._data, self._user.uid, self._user.gid)
        try:
            # The builtin provider sorts and folds Korean the same way on every machine.
            self._run(
                "initdb", "--auth=reject", f"--username={OWNER}", "--encoding=UTF8",
                "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8",
                "-D", str(self._data),
            )  # fmt: skip
        except subprocess.CalledProcessError as error:
            raise DatabaseDown(
                Message("embedded.not_made", folder=self._data, log=self._said(error)),
                hint=SERVER_HINT,
            ) from error

    def _start(self) -> None:
        sockets = self._new_sockets()
        self._admit_only_us()
        options = {
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": str(sockets),
            "unix_socket_permissions": "0700",
            "timezone": "UTC",
            # The default is a minute: until then, a plan made while a table was small scans all of
            # it.
            "autovacuum_naptime": "10s",
        }
        flags = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in options.items())
        try:
            # pg_ctl passes its paths to a shell in double quotes: relative ones need no escaping.
            self._run(
                "pg_ctl", "-D", ".", "-w", "-t", str(START_SECONDS),
                "-l", self._log.name, "-o", flags, "start",
            )  # fmt: skip
        except subprocess.CalledProcessError as error:
            raise DatabaseDown(
                Message("embedded.not_started", folder=self._data, log=self._said(error)),
                hint=SERVER_HINT,
            ) from error

    def _admit_only_us(self) -> None:
        """Let nobody in but this user of the system, whom the kernel vouches for: no password.

        Written at each start, since earlier releases let in whoever could reach the socket.
        """
        us = pwd.getpwuid(os.geteuid()).pw_name.replace('"', '""')
        files = {
            "pg_hba.conf": f"local all all peer map={_MAP}\n",
            "pg_ident.conf": f'{_MAP} "{us}" all\n',
        }
        for name, text in files.items():
            path = self._data / name
            path.unlink(missing_ok=True)
            path.touch(mode=0o600, exist_ok=False)
            path.write_text(text)
            if self._user:
                os.chown(path, self._user.uid, self._user.gid)

    def _said(self, error: subprocess.CalledProcessError) -> str:
        return "\n".join(filter(None, (str(error.stderr).strip(), self._log_tail())))

    def _log_tail(self) -> str:
        try:
            return self._log.read_text(errors="replace")[-LOG_TAIL_CHARACTERS:].strip()
        except OSError:
            return ""

    def _uri(self) -> str:
        # Read from the server: its starter may have had another temporary directory.
        directory = quote(self._pid_line(SOCKET_LINE), safe="")
        return f"postgresql://{OWNER}@/postgres?host={directory}&port={PORT}"

    def _new_sockets(self) -> Path:
        """Return a directory for the server's sockets: the data's, unless their path is invalid.

        Any other gets a name of its own each time, which nobody can have taken before.
        """
        if _is_for_sockets(self._data):
            return self._data
        made = Path(tempfile.mkdtemp(prefix="skill-worker-"))
        if self._user:
            os.chown(made, self._user.uid, self._user.gid)
        return made

    def _sockets(self) -> Path:
        """Return where the sockets are of the server that runs, or that was killed."""
        if _is_for_sockets(self._data):
            return self._data
        try:
            return Path(self._pid_line(SOCKET_LINE))
        except (OSError, IndexError):
            return self._data

    def _postmaster(self) -> int | None:
        """Return the process id of our running server; None for a reused id or a zombie.

        The pid file alone proves nothing: after a crash or a reboot another process may have that
        id. So its name and working directory are compared too.
        """
        try:
            process = psutil.Process(int(self._pid_line(PID_LINE)))
            is_ours = process.status() != psutil.STATUS_ZOMBIE and self._works_here(process)
            return int(process.pid) if is_ours else None
        except (OSError, IndexError, ValueError, psutil.Error):
            return None

    def _status(self) -> str:
        """Return the status the server last wrote, as pg_ctl reads it; "" before the first."""
        try:
            return self._pid_line(STATUS_LINE).strip()
        except (OSError, IndexError):
            return ""

    def _pid_line(self, number: int) -> str:
        return self._pid_file().read_text().splitlines()[number]

    def _pid_file(self) -> Path:
        return self._data / "postmaster.pid"

    def _works_here(self, process: psutil.Process) -> bool:
        return "postgres" in process.name() and process.cwd() == str(self._data)

    def _clear_remains(self) -> None:
        """Remove what a killed server left behind, once its last child process is gone.

        PostgreSQL does so itself, except when the old process id is in use again.
        """
        sockets = self._sockets()
        socket = sockets / f".s.PGSQL.{PORT}"
        remains = [self._pid_file(), socket, socket.with_name(f"{socket.name}.lock")]
        deadline = time.monotonic() + ORPHAN_SECONDS
        while any(map(Path.exists, remains)) and self._has_orphans():
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        for path in remains:
            path.unlink(missing_ok=True)
        if sockets != self._data:
            with suppress(OSError):
                sockets.rmdir()

    def _has_orphans(self) -> bool:
        for process in psutil.process_iter():
            try:
                if self._works_here(process):
                    return True
            except psutil.Error:
                continue
        return False

    def _run(self, program: str, *arguments: str) -> None:
        """Run a program with its output in a file: the server would keep a pipe open."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            done = subprocess.run(  # noqa: S603 - our own programs and paths, without a shell
                [str(self._programs / program), *arguments],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl+C in a terminal signals the whole process group
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._data,
                env={**os.environ, "LC_ALL": "C"},
                user=self._user.uid if self._user else None,
                group=self._user.gid if self._user else None,
                extra_groups=[] if self._user else None,
                check=False,
            )
            if done.returncode:
                output.seek(0)
                raise subprocess.CalledProcessError(
                    done.returncode, program, stderr=output.read()[-LOG_TAIL_CHARACTERS:]
                )


def _is_for_sockets(folder: Path) -> bool:
    """Whether the path of a socket in a folder is valid."""
    name = str(folder)
    fits = len(os.fsencode(f"{name}/.s.PGSQL.{PORT}")) <= SOCKET_PATH_BYTES
    return fits and not set(name) & set(",\"'\\")


def worker_uri(uri: str) -> str:
    """Return the URI of the embedded server for workers, which own nothing there."""
    return uri.replace(f"//{OWNER}@", f"//{WORKER}@", 1)


HOME_HINT = Message("embedded.hint_home")


@contextmanager
def embedded_postgres(
    home: Path, on_alone: Callable[[str], None] = lambda _uri: None
) -> Iterator[str]:
    """Yield the owner's URI of the PostgreSQL with files under `home`, starting it if necessary.

    All processes inside share one server; the last to leave stops it, even if others were killed.
    The kernel does the counting: each user holds a shared lock on a file, so whoever gets it
    exclusively is alone. A second lock serialises starting and stopping. `on_alone` is called with
    the URI if nobody else is inside, before anybody else can enter.

    Raises ConfigurationError if `home` cannot be used, DatabaseDown if the server does not start.
    """
    home = _writable(home)
    cluster = Cluster(home / "postgres", server_user(home))
    with _open_lock(home / ".postgres-users") as users:
        try:
            with _startup_lock(home):
                is_alone = _is_alone(users)
                fcntl.flock(users, fcntl.LOCK_SH)
                uri = cluster.ensure_running()
                if is_alone:
                    on_alone(uri)
            yield uri
        finally:
            with _startup_lock(home):
                if _is_alone(users):
                    cluster.stop()
                fcntl.flock(users, fcntl.LOCK_UN)


def _writable(home: Path) -> Path:
    """Create `home`, private to its owner, and check that it is writable."""
    home = home.expanduser().absolute()
    try:
        private_home(home)
        home = home.resolve(strict=True)
        with _open_lock(home / ".postgres-turn"):
            return home
    except OSError as error:
        raise ConfigurationError(
            Message("embedded.home", home=home, why=error),
            hint=HOME_HINT,
        ) from error


@contextmanager
def _open_lock(path: Path) -> Iterator[int]:
    """Open a lock file. Each opening counts as a user, also within one process."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _startup_lock(home: Path) -> Iterator[None]:
    """Wait for the exclusive right to start or stop the server."""
    with _open_lock(home / ".postgres-turn") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _is_alone(users: int) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


SYSTEM_USER = "pgserver"
ACCOUNTS = Path("/etc/.pwd.lock")  # also taken, as another kind of lock, by useradd; root's alone


@dataclass(frozen=True)
class ServerUser:
    """The numeric user and group the server runs as."""

    uid: int
    gid: int


def server_user(
    home: Path, create: Callable[[str], None] = ensure_user, installed: Path | None = None
) -> ServerUser | None:
    """Return the system user to run as, or None if we are an ordinary user already.

    `create` makes the user. It gets search permission on the directories above its files and above
    the `installed` programs. Raises ConfigurationError.
    """
    if os.geteuid() != 0:
        return None
    try:
        with _lock():
            create(SYSTEM_USER)
            entry = pwd.getpwnam(SYSTEM_USER)
    except (OSError, KeyError, subprocess.CalledProcessError) as error:
        raise ConfigurationError(
            Message("embedded.no_user", user=SYSTEM_USER),
            hint=Message("embedded.hint_user"),
        ) from error
    if not home.stat().st_mode & OTHERS & ~stat.S_IXGRP:  # else it has other uses, and stays so
        os.chown(home, -1, entry.pw_gid)
        home.chmod(0o710)
    folders = () if home.stat().st_gid == entry.pw_gid else (home,)
    binaries = installed or programs()
    for path in (*folders, *home.parents, binaries, *binaries.parents):
        _let_through(path)
    return ServerUser(entry.pw_uid, entry.pw_gid)


@contextmanager
def _lock() -> Iterator[None]:
    """Wait for the exclusive right to create the user: two `useradd` at once give it two ids."""
    with _open_lock(ACCOUNTS) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _let_through(path: Path) -> None:
    """Make a directory searchable, and log that once, since it persists."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & stat.S_IXOTH:
        structlog.get_logger().warning(
            "directory.opened", path=str(path), why=f"user {SYSTEM_USER} has to pass through it"
        )
        path.chmod(mode | stat.S_IXOTH)
