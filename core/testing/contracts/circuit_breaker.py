"""What every line to a model must do when the model fails; supply `open_line`, `pass_time`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

import pytest

from core.agent.circuit_breaker import BreakerOptions
from core.domain.errors import (
    CircuitOpen,
    ConfigurationError,
    InvalidInput,
    LeaseLost,
    ModelDown,
    SkillWorkerError,
)
from core.domain.messages import Message
from core.domain.models import PauseKind
from core.domain.ports import CircuitBreaker

PassTime = Callable[[float], Awaitable[None]]
DOWN, WRONG_KEY = ModelDown("the model answered 500"), ConfigurationError("the model answered 401")
THREE = BreakerOptions(failures=3, probe_every=15)


class OpenBreaker(Protocol):
    """Opens the line of one more worker to the same model."""

    def __call__(self, options: BreakerOptions = THREE, /) -> CircuitBreaker:
        """Give a line that shares all but its options with the others."""


async def call(line: CircuitBreaker, error: BaseException | None = None) -> None:
    """Make a call that ends so."""
    with suppress(type(error) if error else CircuitOpen):
        async with line.call():
            if error is not None:
                raise error


async def hold_back(line: CircuitBreaker, error: SkillWorkerError = DOWN) -> None:
    """Let calls fail until the model is held back."""
    while await line.current_pause() is None:
        await call(line, error)


class Asked:
    """A question to the model, counted; `answers` is an error, or None for an answer."""

    def __init__(self, answers: SkillWorkerError | None = None) -> None:
        self.answers = answers
        self.times = 0

    async def __call__(self) -> None:
        self.times += 1
        await asyncio.sleep(0)
        if self.answers is not None:
            raise self.answers


class CircuitBreakerContract:
    """Tests for any line: how a model is held back, looked at and released."""

    async def test_a_model_that_answers_is_not_held_back(self, open_breaker: OpenBreaker) -> None:
        line = open_breaker()
        for _ in range(5):
            await call(line)
        assert await line.current_pause() is None

    async def test_failures_in_a_row_over_all_workers_hold_it_back_for_all(
        self, open_breaker: OpenBreaker
    ) -> None:
        one, other = open_breaker(), open_breaker()
        await call(one, DOWN)
        await call(other, DOWN)
        assert await one.current_pause() is None
        await call(one, ModelDown("503: busy", retry_after=None))
        for line in (one, other, open_breaker()):
            pause = await line.current_pause()
            assert pause is not None
            assert (pause.kind, pause.reason, pause.fatal) == (PauseKind.MODEL, "503: busy", False)
            with pytest.raises(CircuitOpen, match="503: busy") as caught:
                async with line.call():
                    pytest.fail("the model was asked")
            assert caught.value.retry_after == pytest.approx(15, abs=2)

    async def test_why_it_is_held_back_is_known_with_its_parameters(
        self, open_breaker: OpenBreaker
    ) -> None:
        down = ModelDown(Message("test.down", "{model} is down", model="m"))
        await hold_back(open_breaker(), down)
        pause = await open_breaker().current_pause()
        assert pause is not None
        assert isinstance(pause.reason, Message)
        assert (
            pause.reason.to_json() == Message("test.down", "{model} is down", model="m").to_json()
        )

    async def test_an_answer_to_anyone_ends_the_row(self, open_breaker: OpenBreaker) -> None:
        one, other = open_breaker(), open_breaker()
        for _ in range(3):
            await call(one, DOWN)
            await call(one, DOWN)
            assert await other.current_pause() is None
            await call(other)
        await call(one, DOWN)
        assert await one.current_pause() is None

    @pytest.mark.parametrize(
        "error",
        [InvalidInput("400"), LeaseLost("x"), CircuitOpen("full"), asyncio.CancelledError()],
    )
    async def test_what_the_model_is_not_to_blame_for_counts_neither_way(
        self, open_breaker: OpenBreaker, error: BaseException
    ) -> None:
        line = open_breaker()
        await call(line, DOWN)
        await call(line, DOWN)
        for _ in range(5):
            await call(line, error)
        assert await line.current_pause() is None
        await call(line, DOWN)
        assert await line.current_pause() is not None

    async def test_it_is_left_alone_as_long_as_it_asked_for(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        line, ask = open_breaker(), Asked()
        await hold_back(line, ModelDown("429", retry_after=60))
        with pytest.raises(CircuitOpen) as caught:
            async with line.call():
                pytest.fail("the model was asked")
        assert caught.value.retry_after == pytest.approx(60, abs=2)
        await pass_time(50)
        await line.probe(ask)
        assert ask.times == 0
        await pass_time(11)
        await line.probe(ask)
        assert ask.times == 1

    async def test_a_call_begun_before_may_put_the_look_off(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        line, ask = open_breaker(), Asked()
        with suppress(ModelDown):
            async with line.call():
                await hold_back(open_breaker())
                raise ModelDown("429", retry_after=100)
        await pass_time(90)
        await line.probe(ask)
        assert ask.times == 0
        await pass_time(11)
        await line.probe(ask)
        assert ask.times == 1

    async def test_one_worker_looks_when_it_is_due_and_its_answer_ends_the_hold(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        lines, ask = [open_breaker(), open_breaker(), open_breaker()], Asked()
        await hold_back(lines[0])
        await asyncio.gather(*(line.probe(ask) for line in lines))
        assert ask.times == 0
        await pass_time(16)
        await asyncio.gather(*(line.probe(ask) for line in lines))
        assert ask.times == 1
        for line in lines:
            assert await line.current_pause() is None
            await call(line)
        await lines[0].probe(ask)
        assert ask.times == 1

    async def test_a_look_in_vain_prolongs_it_by_what_the_model_says(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        line = open_breaker()
        await hold_back(line)
        first = await line.current_pause()
        await pass_time(16)
        await line.probe(Asked(ModelDown("still 529", retry_after=40)))
        pause = await line.current_pause()
        assert pause is not None
        assert first is not None
        assert (pause.reason, pause.fatal) == ("still 529", False)
        await pass_time(30)
        await line.probe(ask := Asked(DOWN))
        assert ask.times == 0
        await pass_time(11)
        await line.probe(ask)
        assert ask.times == 1
        await pass_time(16)
        await line.probe(Asked())
        assert await line.current_pause() is None

    async def test_a_looker_that_died_is_followed_by_another(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        one, other = open_breaker(), open_breaker()
        await hold_back(one)
        await pass_time(16)
        asked = asyncio.Event()

        async def never() -> None:
            asked.set()
            await asyncio.Event().wait()

        dying = asyncio.create_task(one.probe(never))
        await asyncio.wait_for(asked.wait(), 10)
        dying.cancel()
        await pass_time(16)
        await other.probe(Asked())
        assert await one.current_pause() is None

    async def test_what_was_asked_before_does_not_end_the_hold(
        self, open_breaker: OpenBreaker
    ) -> None:
        line = open_breaker()
        async with line.call():
            await hold_back(open_breaker())
        assert await line.current_pause() is not None

    async def test_after_a_hold_failures_count_from_nothing(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        line = open_breaker()
        await hold_back(line)
        await pass_time(16)
        await line.probe(Asked())
        await call(line, DOWN)
        await call(line, DOWN)
        assert await line.current_pause() is None
