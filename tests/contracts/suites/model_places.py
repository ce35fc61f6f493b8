"""Contract of circuit breakers for call limits; supply `open_breaker`, `pass_time`."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress

import pytest

from core.agent.circuit_breaker import BreakerOptions
from core.domain.errors import CircuitOpen, InvalidInput, ModelDown
from core.domain.ports import CircuitBreaker
from tests.contracts.suites.circuit_breaker import DOWN, OpenBreaker, PassTime, call, open_circuit

# Time passes only while calls wait: no slot is renewed meanwhile, hence the long `slot_ttl`.
TWO = BreakerOptions(max_concurrency=2, longest_wait=30, longest_call=100, slot_ttl=1_000)
RATED = BreakerOptions(requests_per_minute=6, longest_wait=5)


async def _refused(breaker: CircuitBreaker) -> CircuitOpen:
    with pytest.raises(CircuitOpen) as caught:
        async with breaker.call():
            pytest.fail("the model was asked")
    return caught.value


class ModelPlacesContract:
    """Tests for any breaker: limits on concurrency and rate, over all workers."""

    async def test_no_more_run_at_once_than_there_are_places(
        self, open_breaker: OpenBreaker
    ) -> None:
        breakers = [open_breaker(TWO), open_breaker(TWO), open_breaker(TWO)]
        running, most, done = 0, 0, 0
        two = asyncio.Event()

        async def one(breaker: CircuitBreaker) -> None:
            nonlocal running, most, done
            async with breaker.call():
                running += 1
                most = max(most, running)
                if running == 2:
                    two.set()
                await asyncio.wait_for(two.wait(), 10)
                await asyncio.sleep(0)
                running -= 1
                done += 1

        await asyncio.gather(*(one(breakers[n % 3]) for n in range(12)))
        assert (most, done) == (2, 12)

    async def test_who_finds_no_place_in_time_gives_up_and_blames_nobody(
        self, open_breaker: OpenBreaker
    ) -> None:
        breaker = open_breaker(TWO)
        async with AsyncExitStack() as places:
            for _ in range(2):
                await places.enter_async_context(breaker.call())
            assert "LLM_MAX_CONCURRENCY" in (await _refused(open_breaker(TWO))).hint
        await call(breaker)
        assert await breaker.current_pause() is None

    @pytest.mark.parametrize("end", [DOWN, InvalidInput("400"), asyncio.CancelledError()])
    async def test_a_place_is_free_again_however_a_call_ends(
        self, open_breaker: OpenBreaker, end: BaseException
    ) -> None:
        one = BreakerOptions(max_concurrency=1, longest_wait=0)
        for _ in range(3):
            with suppress(type(end)):
                async with open_breaker(one).call():
                    raise end
        async with open_breaker(one).call():
            pass

    async def test_a_call_that_ends_frees_its_own_place_alone(
        self, open_breaker: OpenBreaker
    ) -> None:
        two = BreakerOptions(max_concurrency=2, longest_wait=0)
        async with open_breaker(two).call():
            await call(open_breaker(two))
            async with open_breaker(two).call():
                await _refused(open_breaker(two))

    async def test_the_place_of_a_dead_worker_is_free_after_its_time(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        one = BreakerOptions(max_concurrency=1, longest_wait=10, longest_call=100)
        async with open_breaker(one).call():
            await _refused(open_breaker(one))
            await pass_time(one.slot_ttl)
            async with open_breaker(one).call():
                pass

    async def test_a_call_is_ended_before_its_place_is_taken_from_it(
        self, open_breaker: OpenBreaker
    ) -> None:
        breaker = open_breaker(BreakerOptions(max_concurrency=1, longest_call=0.05))
        with pytest.raises(ModelDown, match="did not end its answer"):
            async with breaker.call():
                await asyncio.Event().wait()
        await call(breaker)

    async def test_the_begins_of_all_workers_are_spread_over_the_minute(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        one, other = open_breaker(RATED), open_breaker(RATED)
        for breaker in (one, other, one):
            await call(breaker)
            refused = await _refused(open_breaker(RATED))
            assert refused.retry_after == pytest.approx(5, abs=1)
            assert "LLM_REQUESTS_PER_MINUTE" in refused.hint
            await pass_time(6)  # the next call waits for the four that are left
        await pass_time(100)
        await call(one)
        assert "10 s" in (await _refused(other)).message
        assert await one.current_pause() is None

    async def test_who_waited_does_not_ask_a_model_that_is_held_back_meanwhile(
        self, open_breaker: OpenBreaker
    ) -> None:
        one = BreakerOptions(max_concurrency=1, longest_wait=30)
        breaker = open_breaker(one)

        async def held_back() -> None:
            with pytest.raises(CircuitOpen, match="held back"):
                async with breaker.call():
                    pytest.fail("the model was asked")

        async with breaker.call():
            waiting = asyncio.create_task(held_back())
            await asyncio.sleep(0)
            await open_circuit(open_breaker())
            await breaker.current_pause()
        await asyncio.wait_for(waiting, 10)
