"""How commands end: by themselves, by one signal, by two."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
import typer

from core.cli.session import run_async, run_until_stopped


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

    with pytest.raises(KeyboardInterrupt):
        run_async(work())
    assert closed.is_set()


def test_signals_are_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)

    async def work() -> int:
        return 7

    assert run_async(work()) == 7
    assert signal.getsignal(signal.SIGTERM) == before
