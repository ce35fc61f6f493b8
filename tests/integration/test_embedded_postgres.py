"""One embedded server for all processes, stopped with the last, whatever was killed before."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest

from core.adapters.embedded import postgres as postgres_server
from core.adapters.embedded.postgres import embedded_postgres
from core.domain.errors import ConfigurationError, DatabaseDown
from tests.support.databases import HOME_VARIABLE
from tests.support.processes import come_and_go, holder, kill_servers, servers
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def made() -> Path:
    """A home whose server was started once."""
    path = Path(os.environ[HOME_VARIABLE]) / uuid.uuid4().hex[:8]
    with embedded_postgres(path):
        pass
    return path


@pytest.fixture
def home(made: Path) -> Path:
    """A copy of it, which takes a tenth of a start from nothing."""
    path = made.with_name(uuid.uuid4().hex[:8])
    subprocess.run(["cp", "-a", str(made), str(path)], check=True)
    return path


@pytest.fixture
def no_home() -> Path:
    return Path(os.environ[HOME_VARIABLE]) / uuid.uuid4().hex[:8]


def answer(uri: str) -> object:
    with psycopg.connect(uri) as conn:
        return conn.execute("SELECT upper('ä가')").fetchone()


def come_and_ask(home: Path) -> object:
    with embedded_postgres(home) as uri:
        return answer(uri)


def postmaster_of(home: Path) -> psutil.Process:
    return psutil.Process(int((home / "postgres" / "postmaster.pid").read_text().split()[0]))


def refuses(uri: str) -> bool:
    try:
        answer(uri)
    except psycopg.OperationalError:
        return True
    return False


def test_it_starts_on_first_use_and_is_gone_at_the_end(no_home: Path) -> None:
    with embedded_postgres(no_home) as uri:
        assert answer(uri) == ("Ä가",)
        assert servers(no_home)
    assert not servers(no_home)


def test_what_is_stored_is_there_the_next_time(home: Path) -> None:
    with embedded_postgres(home) as uri, psycopg.connect(uri) as conn:
        conn.execute("CREATE TABLE kept AS SELECT '글' AS text")
    with embedded_postgres(home) as uri, psycopg.connect(uri) as conn:
        assert conn.execute("SELECT text FROM kept").fetchone() == ("글",)


def test_an_error_inside_leaves_nothing_behind(home: Path) -> None:
    with pytest.raises(ZeroDivisionError), embedded_postgres(home):
        raise ZeroDivisionError
    assert not servers(home)


def test_two_uses_in_one_process_share_it(home: Path) -> None:
    with embedded_postgres(home) as outer:
        with embedded_postgres(home) as inner:
            assert inner == outer
        assert answer(outer)
    assert not servers(home)


def test_the_last_process_to_leave_stops_it(home: Path) -> None:
    with holder(home) as other:
        with embedded_postgres(home) as uri:
            assert answer(uri)
        assert servers(home)
        other.communicate()
        assert not servers(home)


def test_the_next_to_leave_stops_what_a_killed_process_left(home: Path) -> None:
    with holder(home) as other:
        other.kill()
        other.wait()
    assert servers(home)
    with embedded_postgres(home) as uri:
        assert answer(uri)
    assert not servers(home)


def test_it_starts_after_everything_was_killed(home: Path) -> None:
    with holder(home) as other:
        other.kill()
        other.wait()
    kill_servers(home)
    assert (home / "postgres" / "postmaster.pid").exists()
    with embedded_postgres(home) as uri:
        assert answer(uri)


def test_a_server_that_is_stopping_is_waited_for_and_started_again(home: Path) -> None:
    with holder(home) as other, ThreadPoolExecutor() as pool:
        with embedded_postgres(home) as uri, psycopg.connect(uri):
            postmaster_of(home).send_signal(signal.SIGTERM)  # it stops with its last connection
            wait_until(lambda: refuses(uri))
            coming = pool.submit(come_and_ask, home)
            with pytest.raises(TimeoutError):
                coming.result(0.3)
        other.communicate()
        assert coming.result(30) == ("Ä가",)


def test_a_server_that_neither_comes_nor_goes_is_told_with_its_state(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with embedded_postgres(home) as uri, psycopg.connect(uri):
        postmaster_of(home).send_signal(signal.SIGTERM)  # it stops with its last connection
        wait_until(lambda: refuses(uri))
        monkeypatch.setattr(postgres_server, "START_SECONDS", 0.2)
        with pytest.raises(DatabaseDown, match="has been 'stopping' for"), embedded_postgres(home):
            pytest.fail("it started")


def test_a_process_id_that_is_anothers_now_is_not_taken_for_the_server(home: Path) -> None:
    with embedded_postgres(home):
        pid_file = (home / "postgres" / "postmaster.pid").read_text()
    _, rest = pid_file.split("\n", 1)
    (home / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{rest}")
    with embedded_postgres(home) as uri:
        assert answer(uri)
    assert psutil.pid_exists(os.getpid())


def test_many_that_come_and_go_at_once_never_meet_a_stopping_server(no_home: Path) -> None:
    processes = [come_and_go(no_home, 4) for _ in range(4)]
    assert [process.wait(100) for process in processes] == [0, 0, 0, 0]
    assert not servers(no_home)


def test_a_child_that_lives_on_does_not_count_as_a_user(home: Path) -> None:
    with embedded_postgres(home):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert not servers(home)
    child.communicate(b"\n")


def test_only_its_owner_can_reach_it(no_home: Path) -> None:
    with embedded_postgres(no_home):
        data = no_home / "postgres"
        sockets = [path for path in data.iterdir() if path.is_socket()]
        readable = stat.S_IRWXG | stat.S_IRWXO
        assert [stat.S_IMODE(path.stat().st_mode) & readable for path in (data, *sockets)] == [0, 0]
        assert not no_home.stat().st_mode & (stat.S_IROTH | stat.S_IRGRP)


@pytest.mark.parametrize(
    "name",
    [
        "l" * 120,
        "it's 집 %20 $(false)`false`$HOME\\",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ('a "b", c', "c,d")),
    ],
)
def test_a_home_that_is_no_name_for_a_socket_works(no_home: Path, name: str) -> None:
    with embedded_postgres(no_home / name) as uri:
        assert answer(uri)
    assert not servers(no_home / name)


def test_a_home_that_is_a_file_is_a_configuration_error(no_home: Path) -> None:
    no_home.parent.mkdir(exist_ok=True)
    no_home.write_text("")
    with (
        pytest.raises(ConfigurationError, match="cannot be used") as caught,
        embedded_postgres(no_home / "below"),
    ):
        pytest.fail("it started")
    assert "SKILL_WORKER_HOME" in caught.value.hint


def test_a_server_that_does_not_start_says_why_and_starts_once_mended(home: Path) -> None:
    with embedded_postgres(home):
        pass
    settings = home / "postgres" / "postgresql.auto.conf"
    settings.write_text("shared_buffers = lots\n")
    with pytest.raises(DatabaseDown, match="shared_buffers"), embedded_postgres(home):
        pytest.fail("it started")
    settings.write_text("")
    with embedded_postgres(home) as uri:
        assert answer(uri)


def test_data_of_another_version_is_left_alone(no_home: Path) -> None:
    (no_home / "postgres").mkdir(parents=True)
    (no_home / "postgres" / "PG_VERSION").write_text("16\n")
    with pytest.raises(ConfigurationError, match="16"), embedded_postgres(no_home):
        pytest.fail("it started")


def test_a_data_directory_that_cannot_be_made_says_why(no_home: Path) -> None:
    (no_home / "postgres").mkdir(parents=True)
    (no_home / "postgres" / "something").write_text("")
    with pytest.raises(DatabaseDown, match="not empty"), embedded_postgres(no_home):
        pytest.fail("it started")
