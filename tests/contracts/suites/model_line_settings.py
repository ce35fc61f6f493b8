"""Contract of circuit breakers for a wrong key or name; supply `open_breaker`, `pass_time`."""

from __future__ import annotations

import pytest

from core.domain.errors import CircuitOpen, ConfigurationError
from core.domain.ports import CircuitBreaker
from tests.contracts.suites.circuit_breaker import (
    DOWN,
    THREE,
    WRONG_KEY,
    Asked,
    OpenBreaker,
    PassTime,
    call,
    open_circuit,
)


async def _is_fatal(breaker: CircuitBreaker) -> bool:
    pause = await breaker.current_pause()
    assert pause is not None
    return pause.fatal


class ModelSettingsContract:
    """Tests for any breaker: the effect of a wrong setting."""

    async def test_it_holds_back_at_once_and_is_confirmed_at_once(
        self, open_breaker: OpenBreaker
    ) -> None:
        breaker = open_breaker()
        await call(breaker, ConfigurationError("401", hint="check LLM_MODEL"))
        assert not await _is_fatal(breaker)
        await breaker.probe(Asked(WRONG_KEY))
        pause = await breaker.current_pause()
        assert pause is not None
        assert pause.fatal
        assert pause.reason == WRONG_KEY.message

    async def test_the_reason_says_what_to_do(self, open_breaker: OpenBreaker) -> None:
        breaker = open_breaker()
        await call(breaker, ConfigurationError("401", hint="check LLM_MODEL"))
        pause = await breaker.current_pause()
        assert pause is not None
        assert pause.reason == "401 (check LLM_MODEL)"

    async def test_where_the_model_has_answered_before_it_may_lie_in_one_request(
        self, open_breaker: OpenBreaker
    ) -> None:
        breaker = open_breaker()
        await call(breaker)
        await call(breaker, WRONG_KEY)
        await call(breaker, WRONG_KEY)
        assert await breaker.current_pause() is None
        await call(breaker, WRONG_KEY)
        await breaker.probe(Asked())
        assert await breaker.current_pause() is None

    async def test_it_is_fatal_to_those_who_have_looked_themselves(
        self, open_breaker: OpenBreaker
    ) -> None:
        one, other, third = open_breaker(), open_breaker(), open_breaker()
        await call(one, WRONG_KEY)
        await one.probe(Asked(WRONG_KEY))
        assert not await _is_fatal(other)
        await other.probe(ask := Asked(WRONG_KEY))
        assert ask.times == 1
        assert await _is_fatal(other)
        await other.probe(ask)
        assert ask.times == 1
        await third.probe(Asked())
        assert await third.current_pause() is None

    async def test_who_is_refused_while_others_are_answered_takes_nothing_up(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        revoked, good = open_breaker(), open_breaker()
        for breaker in (revoked, good):
            await call(breaker)
        for _ in range(THREE.failures):
            await call(revoked, WRONG_KEY)
            await call(good)  # so that failures over all workers are never in a row
            await good.current_pause()
            await good.probe(Asked())
        await good.current_pause()
        assert await good.current_pause() is None
        assert await revoked.current_pause() is not None
        with pytest.raises(CircuitOpen, match=WRONG_KEY.message):
            async with revoked.call():
                pytest.fail("the model was asked")
        await revoked.probe(Asked(WRONG_KEY))
        assert await _is_fatal(revoked)
        await call(good)
        await revoked.probe(ask := Asked())
        assert ask.times == 0
        await pass_time(16)
        await revoked.probe(ask)
        assert await revoked.current_pause() is None
        await call(revoked)

    async def test_who_never_had_an_answer_is_held_back_though_others_close_it(
        self, open_breaker: OpenBreaker
    ) -> None:
        wrong, good = open_breaker(), open_breaker()
        await call(good)
        await call(wrong, WRONG_KEY)
        await good.probe(Asked())
        assert await good.current_pause() is None
        assert await wrong.current_pause() is not None

    async def test_a_model_that_is_down_is_not_fatal(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        breaker = open_breaker()
        await open_circuit(breaker, WRONG_KEY)
        await breaker.probe(Asked(WRONG_KEY))
        await pass_time(16)
        await breaker.probe(Asked(DOWN))
        assert not await _is_fatal(breaker)

    async def test_whoever_found_it_down_looks_again_before_it_believes_a_refusal(
        self, open_breaker: OpenBreaker, pass_time: PassTime
    ) -> None:
        one, other = open_breaker(), open_breaker()
        await open_circuit(one)
        await pass_time(16)
        await one.probe(Asked(DOWN))
        await pass_time(16)
        await other.probe(Asked(WRONG_KEY))
        assert not await _is_fatal(one)
        await one.probe(ask := Asked(WRONG_KEY))
        assert ask.times == 1
        assert await _is_fatal(one)
