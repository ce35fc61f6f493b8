"""How commands end: on their own, on one signal, on two."""

from __future__ import annotations

import asyncio
import logging
import os
import signal

import pytest
import typer

from core.entrypoints.cli.session import run_async, run_until_stopped


def _signal(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_a_service_to_finish(number: signal.Signals) -> None:
    told: list[str] = []

    async def service(stop: asyncio.Event) -> str:
        _signal(number)
        await stop.wait()
        return "finished"

    assert run_until_stopped(service, lambda: told.append("once")) == "finished"
    assert told == ["once"]


def test_the_second_signal_ends_it_at_once_and_what_it_opened_is_closed() -> None:
    closed = asyncio.Event()

    async def service(stop: asyncio.Event) -> None:
        try:
            _signal(signal.SIGINT)
            await stop.wait()
            _signal(signal.SIGTERM)
            await asyncio.Event().wait()
        finally:
            closed.set()

    with pytest.raises(typer.Exit) as caught:
        run_until_stopped(service, lambda: None)
    assert caught.value.exit_code == 143
    assert closed.is_set()


def test_a_signal_to_a_short_command_closes_what_it_opened() -> None:
    closed = asyncio.Event()

    async def work() -> None:
        try:
            _signal(signal.SIGTERM)
            await asyncio.Event().wait()
        finally:
            closed.set()

    with pytest.raises(typer.Exit) as caught:
        run_async(work())
    assert caught.value.exit_code == 143
    assert closed.is_set()


def test_an_interrupt_of_a_short_command_closes_what_it_opened() -> None:
    closed = asyncio.Event()

    async def work() -> None:
        try:
            _signal(signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            closed.set()

    with pytest.raises(typer.Exit) as caught:
        run_async(work())
    assert caught.value.exit_code == 130
    assert closed.is_set()


def test_a_closed_terminal_ends_a_service_as_a_termination_does() -> None:
    async def service(stop: asyncio.Event) -> str:
        _signal(signal.SIGHUP)
        await stop.wait()
        return "finished"

    assert run_until_stopped(service, lambda: None) == "finished"


def test_a_service_under_nohup_outlives_the_terminal() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:

        async def service(stop: asyncio.Event) -> bool:
            _signal(signal.SIGHUP)
            await asyncio.sleep(0)
            return stop.is_set()

        assert run_until_stopped(service, lambda: None) is False
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_worth_nothing_in_part_counts_as_stopped(
    number: signal.Signals, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    async def service(stop: asyncio.Event) -> str:
        _signal(number)
        await stop.wait()
        return "a part"

    with pytest.raises(typer.Exit) as caught:
        run_until_stopped(service, lambda: None, whole=True)
    assert caught.value.exit_code == code
    assert capsys.readouterr().err == "stopped\n"


def test_after_the_second_signal_one_sentence_is_all_that_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def leave_a_mess() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("the pool is closed")

    async def service(stop: asyncio.Event) -> None:
        mess = asyncio.ensure_future(leave_a_mess())
        _signal(signal.SIGINT)
        await stop.wait()
        _signal(signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            logging.getLogger("core").error("the pool is closed")
            never_begun = leave_a_mess()
            del never_begun
            raise ValueError(mess)

    with pytest.raises(typer.Exit) as caught:
        run_until_stopped(service, lambda: None)
    assert caught.value.exit_code == 130
    assert capsys.readouterr().err.splitlines() == [
        "Stopping at once; what is unfinished is taken up again later."
    ]


def test_signals_are_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)

    async def work() -> int:
        return 7

    assert run_async(work()) == 7
    assert signal.getsignal(signal.SIGTERM) == before
