"""Contract of circuit breakers for a failing model; supply `open_breaker`, `pass_time`."""

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

_DOWN = Message.of("test.down", "{model} is down", {"model": "m"})


class OpenBreaker(Protocol):
    """Open the breaker of another worker for the same model."""

    def __call__(self, options: BreakerOptions = THREE, /) -> CircuitBreaker:
        """Return a breaker that shares all but its options with the others."""


async def call(breaker: CircuitBreaker, error: BaseException | None = None) -> None:
    """Make a call that ends with an error or an answer."""
    with suppress(type(error) if error else CircuitOpen):
        async with breaker.call():
            if error is not None:
                raise error


async def open_circuit(breaker: CircuitBreaker, error: SkillWorkerError = DOWN) -> None:
    """Let calls fail until the circuit opens."""
    while await breaker.current_pause() is None:
        await call(breaker, error)


class Asked:
    """A counted probe of the model; `answers` is an error, or None for an answer."""

    def __init__(self, answers: SkillWorkerError | None = None) -> None:
        self.answers = answers
        self.times = 0

    async def __call__(self) -> None:
        self.times += 1
        await asyncio.sleep(0)
        if self.answers is not None:
            raise self.answers


class CircuitBreakerContract:
    """Tests for any breaker: how a circuit opens, is probed and closes."""

    async def test_a_model_that_answers_is_not_held_back(self, open_breaker: OpenBreaker) -> None:
        breaker = open_breaker()
        for _ in range(5):
            await call(breaker)
        assert await breaker.current_pause() is None

    async def test_failures_in_a_row_over_all_workers_hold_it_back_for_all(
        self, open_breaker: OpenBreaker
    ) -> None:
        one, other = open_breaker(), open_breaker()
        await call(one, DOWN)
        await call(other, DOWN)
        assert await one.current_pause() is None
        await call(one, ModelDown("503: busy", retry_after=None))
        for breaker in (one, other, open_breaker()):
            pause = await breaker.current_pause()
            assert pause is not None
            assert (pause.kind, pause.reason, pause.fatal) == (PauseKind.MODEL, "503: busy", False)
            with pytest.raises(CircuitOpen, match="503: busy") as caught:
                async with breaker.call():
                    pytest.fail("the model was asked")
            assert caught.value.retry_after == pytest.approx(15, abs=2)

    async def test_why_it_is_held_back_is_known_with_its_parameters(
        self, open_breaker: OpenBreaker
    ) -> None:
        down = ModelDown(_DOWN)
        await open_circuit(open_breaker(), down)
        pause = await open_breaker().current_pause()
        assert pause is not None
        assert isinstance(pause.reason, Message)
        assert pause.reason.to_json() == _DOWN.to_json()

    async def test_a_call_that_fails_later_does_not_change_why(
        self, open_breaker: OpenBreaker
    ) -> None:
        with suppress(ModelDown):
            async with open_breaker().call():
                await open_circuit(open_breaker(), ModelDown(_DOWN))
                raise ModelDown("503: something else")
        pause = await open_breaker().current_pause()
        assert pause is not None
        assert isinstance(pause.reason, Message)
        assert pause.reason.to_json() == _DOWN.to_json()

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
        breaker = open_breaker()
        await call(breaker, DOWN)
        await call(breaker, DOWN)
        for _ in range(5):
            await call(breaker, error)
        assert await breaker.current_pause() is None
        await call(breaker, DOWN)
        assert await breaker.current_pause() is not None

    async def test_it_is_left_alone_as_long_as_it_asked_for(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        breaker, ask = open_breaker(), Asked()
        await open_circuit(breaker, ModelDown("429", retry_after=60))
        with pytest.raises(CircuitOpen) as caught:
            async with breaker.call():
                pytest.fail("the model was asked")
        assert caught.value.retry_after == pytest.approx(60, abs=2)
        await pass_time(50)
        await breaker.probe(ask)
        assert ask.times == 0
        await pass_time(11)
        await breaker.probe(ask)
        assert ask.times == 1

    async def test_a_call_begun_before_may_put_the_look_off(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        breaker, ask = open_breaker(), Asked()
        with suppress(ModelDown):
            async with breaker.call():
                await open_circuit(open_breaker())
                raise ModelDown("429", retry_after=100)
        await pass_time(90)
        await breaker.probe(ask)
        assert ask.times == 0
        await pass_time(11)
        await breaker.probe(ask)
        assert ask.times == 1

    async def test_one_worker_looks_when_it_is_due_and_its_answer_ends_the_hold(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        breakers, ask = [open_breaker(), open_breaker(), open_breaker()], Asked()
        await open_circuit(breakers[0])
        await asyncio.gather(*(breaker.probe(ask) for breaker in breakers))
        assert ask.times == 0
        await pass_time(16)
        await asyncio.gather(*(breaker.probe(ask) for breaker in breakers))
        assert ask.times == 1
        for breaker in breakers:
            assert await breaker.current_pause() is None
            await call(breaker)
        await breakers[0].probe(ask)
        assert ask.times == 1

    async def test_a_look_in_vain_prolongs_it_by_what_the_model_says(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        breaker = open_breaker()
        await open_circuit(breaker)
        first = await breaker.current_pause()
        await pass_time(16)
        await breaker.probe(Asked(ModelDown("still 529", retry_after=40)))
        pause = await breaker.current_pause()
        assert pause is not None
        assert first is not None
        assert (pause.reason, pause.fatal) == ("still 529", False)
        await pass_time(30)
        await breaker.probe(ask := Asked(DOWN))
        assert ask.times == 0
        await pass_time(11)
        await breaker.probe(ask)
        assert ask.times == 1
        await pass_time(16)
        await breaker.probe(Asked())
        assert await breaker.current_pause() is None

    async def test_a_looker_that_died_is_followed_by_another(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        one, other = open_breaker(), open_breaker()
        await open_circuit(one)
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

    @pytest.mark.parametrize("answer", [None, WRONG_KEY], ids=["an answer", "a refusal"])
    async def test_a_late_look_at_a_hold_that_is_over_says_nothing_of_the_next(
        self, open_breaker: OpenBreaker, pass_time: PassTime, answer: SkillWorkerError | None
    ) -> None:
        one, other = open_breaker(), open_breaker()
        await open_circuit(one)
        await pass_time(16)
        asked, answered = asyncio.Event(), asyncio.Event()

        async def late() -> None:
            asked.set()
            await answered.wait()
            if answer is not None:
                raise answer

        looking = asyncio.create_task(one.probe(late))
        await asyncio.wait_for(asked.wait(), 10)
        await pass_time(16)
        await other.probe(Asked())
        assert await other.current_pause() is None
        await open_circuit(other, ModelDown("503: busy"))
        answered.set()
        await looking
        for breaker in (one, other):
            pause = await breaker.current_pause()
            assert pause is not None
            assert (pause.reason, pause.fatal) == ("503: busy", False)

    async def test_what_was_asked_before_does_not_end_the_hold(
        self, open_breaker: OpenBreaker
    ) -> None:
        breaker = open_breaker()
        async with breaker.call():
            await open_circuit(open_breaker())
        assert await breaker.current_pause() is not None

    async def test_after_a_hold_failures_count_from_nothing(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        breaker = open_breaker()
        await open_circuit(breaker)
        await pass_time(16)
        await breaker.probe(Asked())
        await call(breaker, DOWN)
        await call(breaker, DOWN)
        assert await breaker.current_pause() is None
