"""Messages as model fields, and restored from storage."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ValidatorFunctionWrapHandler, WrapValidator

from core.domain.messages import Message


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
