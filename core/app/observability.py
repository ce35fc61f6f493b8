"""Logging setup: structured lines on stderr, readable on a terminal, else JSON."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger

from core.domain.errors import SkillWorkerError
from core.domain.messages import Message, without_content
from core.domain.text import escape_json, masked, printable

LogFormat = Literal["auto", "console", "json", "talk"]
_OURS = "core"
# These set handlers or levels of their own; all others follow the root's level.
_LIBRARIES = (
    "alembic",
    "asyncio",
    "httpcore",
    "httpx",
    "langchain",
    "langgraph",
    "mcp",
    "openai",
    "procrastinate",
    "psycopg",
    "sqlalchemy",
    "uvicorn",
)


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to the current stderr: a progress bar may replace it for a while."""

    def __init__(self) -> None:
        # StreamHandler would assign `stream`, which is a property here.
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr


def configure_logging(level: str, log_format: LogFormat) -> None:
    """Send all logs at `level` or above to stderr; those of libraries from warning on.

    May be called again; the last call counts. `talk` is plain lines for a person who runs one
    command; `auto` is `console` on a terminal and `json` elsewhere. With level `debug`, libraries
    log from info on.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    if log_format == "auto":
        log_format = "console" if sys.stderr.isatty() else "json"
    structlog.configure(
        processors=[*_shared(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = _StderrHandler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_rendering(log_format),
            ],
            foreign_pre_chain=_shared(),
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    of_libraries = logging.INFO if number <= logging.DEBUG else max(number, logging.WARNING)
    root.setLevel(of_libraries)
    logging.getLogger(_OURS).setLevel(number)
    _quieten(of_libraries)


@contextmanager
def worker_named(name: str | None) -> Iterator[None]:
    """Add the worker's name to every log line meanwhile: the given one, or host and process.

    Names need not be unique: they are only for people.
    """
    given = name or f"{socket.gethostname()}:{os.getpid()}"
    with structlog.contextvars.bound_contextvars(worker=given):
        yield


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(_trace),
        _leave_content_out,
    ]


def _leave_content_out(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Leave out what messages quote: a log is read by others than those of the tenant."""
    if event.get("logger") == "asyncio":  # its further lines are tasks with their exceptions
        event["event"] = str(event["event"]).partition("\n")[0]
    if str(event.get("logger")).startswith("httpx"):  # names and searches are parts of addresses
        event["event"] = _PATH.sub(r"\1/…", str(event["event"]))
    return {
        key: without_content(value) if isinstance(value, Message) else value
        for key, value in event.items()
    }


_PATH = re.compile(r"(https?://[^/\s]+)/\S*")
# Their words are those of Python or of this program, never of what it worked on.
_OWN_WORDS = (AttributeError, ImportError, NameError, NotImplementedError, TimeoutError, TypeError)


def _trace(exc_info: ExcInfo) -> str:
    """Return a traceback in which an exception's words are left out unless they are code's own.

    Those of others quote values: of a column, of a field, of a key.
    """
    return "\n".join(_traced(exc_info[1], set())).rstrip()


def _traced(error: BaseException | None, seen: set[int]) -> Iterator[str]:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    yield from _traced(before, seen)
    yield "Traceback (most recent call last):"
    yield "".join(traceback.format_tb(error.__traceback__)).rstrip("\n")
    yield ": ".join(filter(None, (type(error).__qualname__, _words(error))))
    for inner in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        yield from _traced(inner, seen)


def _words(error: BaseException) -> str:
    if isinstance(error, SkillWorkerError):
        return without_content(error.message)
    if isinstance(error, OSError):
        return error.strerror or ""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    if isinstance(error, _OWN_WORDS):
        return str(error)
    sqlstate = getattr(error, "sqlstate", None)  # of psycopg: its words have the values of rows
    return f"SQLSTATE {sqlstate}" if isinstance(sqlstate, str) else ""


def _rendering(log_format: LogFormat) -> Sequence[Processor]:
    if log_format == "talk":
        return _make_printable, _in_plain_words, _mask
    if log_format == "json":
        return (
            structlog.processors.JSONRenderer(serializer=_serialize),
            _mask,
        )
    return (
        _make_printable,
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        ),
        _mask,
    )


def _mask(_logger: WrappedLogger, _name: str, line: EventDict | str) -> str:
    """Mask keys and passwords in a finished line, whoever logged it."""
    return masked(str(line))


def _serialize(event: EventDict, **_options: object) -> str:
    return escape_json(json.dumps(event, ensure_ascii=False, default=str))


def _make_printable(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    return {
        key: printable(value) if isinstance(value, str) else value for key, value in event.items()
    }


def _in_plain_words(_logger: WrappedLogger, _name: str, event: EventDict) -> str:
    """Render `warning: directory opened: path=/srv, why=…`, followed by a traceback."""
    words = str(event.pop("event")).replace(".", " ").replace("_", " ")
    trace = event.pop("exception", None)
    level = event.pop("level", "info")
    data = ", ".join(
        f"{key}={value}" for key, value in event.items() if key not in {"logger", "timestamp"}
    )
    line = ": ".join(filter(None, (level, words, data)))
    return f"{line}\n{trace}" if trace else line


def _quieten(level: int) -> None:
    for name in _LIBRARIES:
        library = logging.getLogger(name)
        library.handlers = []
        library.propagate = True
        library.setLevel(level)
