"""Translate provider errors, by class and status code, into transient and permanent ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
)

from core.domain.errors import ConfigurationError, InvalidInput, ModelDown, SkillWorkerError
from core.domain.http_retry import passes, retry_after
from core.domain.messages import Message

_OURS_TO_FIX = frozenset({401, 403, 404})
_HINT = Message("model.hint_address")
# HTTP clients whose errors some providers let through untranslated.
_TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "grpc", "openai"})
# Raised by provider clients on a body that is no completion: HTML, nothing at all.
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, IndexError)


@contextmanager
def translate_model_errors() -> Iterator[None]:
    """Raise ModelDown for transient errors, else ConfigurationError or InvalidInput.

    Transient: 408, 409, 425, 429, 5xx, time-outs, network errors and unreadable answers.
    """
    try:
        yield
    except SkillWorkerError:
        raise
    except Exception as error:
        translated = _translated(error)
        if translated is None:
            raise
        raise translated from error


def _translated(error: Exception) -> SkillWorkerError | None:
    if isinstance(error, ContextOverflowError):
        return InvalidInput(_says(error), hint=Message("model.too_long"))
    status = _status(error)
    if status >= 400:
        return _by_status(status, error)
    if isinstance(error, ModelError) and not error.is_retryable:
        return _by_class(error)
    if _is_transport(error):
        return ModelDown(
            Message("model.unreachable", address=_address(error), text=_says(error)),
            hint=_HINT,
        )
    if isinstance(error, _UNREADABLE) or status:
        return ModelDown(Message("model.unreadable", text=_says(error)))
    return None


def _by_status(status: int, error: Exception) -> SkillWorkerError:
    message = Message("model.answered", status=status, text=_says(error))
    if passes(status):
        return ModelDown(message, retry_after=retry_after(_headers(error)))
    if status in _OURS_TO_FIX:
        return ConfigurationError(message, hint=Message("model.check_with_proxy"))
    return InvalidInput(message)


def _by_class(error: ModelError) -> SkillWorkerError:
    if isinstance(
        error, ModelAuthenticationError | ModelPermissionDeniedError | ModelNotFoundError
    ):
        return ConfigurationError(_says(error), hint=Message("model.check"))
    return InvalidInput(Message("model.refused", text=_says(error)))


def _is_transport(error: Exception) -> bool:
    library = type(error).__module__.partition(".")[0]
    return isinstance(error, ModelError | OSError) or library in _TRANSPORTS


def _address(error: Exception) -> str:
    """Return ` at http://host:port` of the failed request, or an empty text."""
    try:
        url = urlsplit(str(getattr(error, "request").url))  # noqa: B009 - most have none
    except (AttributeError, RuntimeError, ValueError):
        return ""
    if not url.netloc:
        return ""
    address = f"{url.scheme}://{url.netloc.rpartition('@')[2]}"
    return Message("model.at_address", address=address)


def _status(error: Exception) -> int:
    """Return the HTTP status of an error, or 0."""
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return 0


def _headers(error: Exception) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _says(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 500 else f"{text[:499]}…"
