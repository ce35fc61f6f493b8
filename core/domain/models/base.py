"""The base of all models: frozen, and closed to unknown fields."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Annotated, Generic, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from core.domain.messages import Message


class Model(BaseModel):
    """A frozen value; unknown fields are an error, so that a typo never passes as data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def picked(self, *names: str) -> dict[str, object]:
        """Return some of the fields as they are, by name."""
        return {name: getattr(self, name) for name in names}


def absent(value: object) -> bool:
    """Whether a field says nothing, and is left out where that is wanted (`exclude_if`)."""
    return not value


class FileRef(Model):
    """A file of a stored bundle: its blob's SHA-256 (hex), its size in bytes, its mode."""

    sha256: str
    size: int
    executable: bool = False


class Scope(StrEnum):
    """For whom a memory is: one agent, all agents of the tenant, or one end user of the agent."""

    AGENT = "agent"
    TENANT = "tenant"
    USER = "user"


class Reach(Model):
    """How long and for whom a memory holds.

    `valid_until` is its last moment, None without an end; `user` is the end user's id, with the
    scope USER only.
    """

    valid_until: datetime | None = None
    scope: Scope = Scope.AGENT
    user: str | None = None


UNBOUNDED = Reach()


class Snapshot(Model):
    """The whole state of a target. `files` is set for skills and includes SKILL.md.

    `version` is the item's version, for items that have versions; `reach` is that of a memory.
    """

    content: str
    name: str
    files: Mapping[str, FileRef] | None = None
    version: int | None = None
    reach: Reach = UNBOUNDED


class Fence(Model):
    """The right to write for a candidate: lost once another worker raises the epoch."""

    candidate_id: str
    epoch: int


T = TypeVar("T")


class Page(Model, Generic[T]):
    """`items` in order, and the cursor of the next page (None on the last)."""

    items: tuple[T, ...]
    next: str | None = None


_SHOWN = Decimal("0.000001")
_CENT = Decimal("0.01")


def plain(amount: Decimal) -> str:
    """Return the exact amount in digits, without an exponent or trailing zeros."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def shown(amount: Decimal, currency: str = "") -> str:
    """Return an amount for display: two to six decimals, `<0.000001` for anything smaller."""
    if 0 < amount < _SHOWN:
        text = f"<{_SHOWN:f}"
    else:
        rounded = plain(amount.quantize(_SHOWN, ROUND_HALF_UP))
        exact = Decimal(rounded)
        text = f"{exact:.2f}" if exact == exact.quantize(_CENT, ROUND_HALF_UP) else rounded
    return f"{text} {currency}".rstrip()


Money = Annotated[
    Decimal,
    Field(ge=0, allow_inf_nan=False),
    PlainSerializer(plain, return_type=str, when_used="json"),
]


def _unchanged(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    return value if isinstance(value, Message) else handler(value)


# The type of model fields that may contain a message: a plain `str` would drop its code.
Text = Annotated[str, WrapValidator(_unchanged)]


class _Stored(BaseModel):
    code: str
    english: str
    parameters: dict[str, _Stored | str | int | float]


def read_message(data: object) -> Message:
    """Restore a message from `Message.to_json`. Raises ValueError."""
    return _restored(_Stored.model_validate(data))


def _restored(stored: _Stored) -> Message:
    parameters = {
        name: _restored(value) if isinstance(value, _Stored) else value
        for name, value in stored.parameters.items()
    }
    try:
        return Message.of(stored.code, stored.english, parameters)
    except (KeyError, IndexError) as error:
        raise ValueError(f"{stored.code}: no parameter {error}") from None
