"""Messages as fields of models, and read back from what was stored."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ValidatorFunctionWrapHandler, WrapValidator

from core.domain.messages import Message


def _unchanged(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    return value if isinstance(value, Message) else handler(value)


# The type of a model's field that may hold a message: as a plain `str` it would lose its code.
Text = Annotated[str, WrapValidator(_unchanged)]


class _Stored(BaseModel):
    code: str
    english: str
    parameters: dict[str, _Stored | str | int | float]


def read_message(data: object) -> Message:
    """Read what `Message.to_json` wrote. Raises ValueError."""
    return _restored(_Stored.model_validate(data))


def _restored(stored: _Stored) -> Message:
    parameters = {
        name: _restored(value) if isinstance(value, _Stored) else value
        for name, value in stored.parameters.items()
    }
    try:
        return Message(stored.code, stored.english, **parameters)
    except (KeyError, IndexError) as error:
        raise ValueError(f"{stored.code}: no parameter {error}") from None
