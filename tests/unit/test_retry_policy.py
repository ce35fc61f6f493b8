"""What is retried, when, and what counts as an attempt."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.domain.errors import (
    CircuitOpen,
    ConfigurationError,
    DatabaseDown,
    InvalidInput,
    LeaseLost,
    ModelDown,
    SkillWorkerError,
    TargetBusy,
)
from core.domain.retry_policy import CONTENTION, RetryPolicy, is_attempt, may_pass
from tests.support.react import FEEDBACK

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DOWN, BUSY = ModelDown("503"), TargetBusy("held by another change")
HELD = CircuitOpen("the model is held back", retry_after=15)


def test_back_off_doubles_is_bounded_and_honours_retry_after() -> None:
    policy = RetryPolicy(5, base=2, longest=10, jitter=lambda: 1.0)
    assert [policy.delay(n, DOWN) for n in (1, 2, 3, 4, 5_000)] == [2, 4, 8, 10, 10]
    assert policy.delay(1, ModelDown("429", retry_after=30)) == 30
    assert RetryPolicy(5, base=2, longest=10, jitter=lambda: 0.0).delay(1, DOWN) == 1


def test_who_did_not_get_to_the_model_waits_for_it_and_no_longer() -> None:
    policy = RetryPolicy(5, base=2, longest=300, jitter=lambda: 0.5)
    assert policy.delay(9, HELD) == 16
    assert policy.delay(2, CircuitOpen("no place was free")) == 3


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (DOWN, True),
        (BUSY, True),
        (HELD, True),
        (ConfigurationError("401"), True),
        (InvalidInput("too long"), False),
        (LeaseLost("taken over"), False),
    ],
)
def test_what_the_feedback_is_not_to_blame_for_may_pass(
    error: SkillWorkerError, expected: bool
) -> None:
    assert may_pass(error) is expected


@pytest.mark.parametrize(
    ("error", "age", "expected"),
    [
        (DOWN, timedelta(0), True),
        (BUSY, timedelta(0), False),
        (BUSY, CONTENTION - timedelta(seconds=1), False),
        (BUSY, CONTENTION, True),
        (BUSY, None, True),
        (HELD, timedelta(0), False),
        (HELD, timedelta(days=9), False),
        (HELD, None, False),
        (DatabaseDown("the disk is full"), timedelta(days=9), False),
    ],
)
def test_what_waits_is_no_attempt_but_for_a_target_until_the_piece_is_old(
    error: SkillWorkerError, age: timedelta | None, expected: bool
) -> None:
    created_at = None if age is None else NOW - age
    feedback = FEEDBACK.model_copy(update={"created_at": created_at, "claimed_at": NOW})
    assert is_attempt(error, feedback) is expected
