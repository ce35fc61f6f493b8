"""Regular expressions of people and agents: Python's `re` takes exponential time on some."""

from __future__ import annotations

from collections.abc import Iterator

from core.domain.messages import Message

SECONDS = 0.3  # of the processor, for one pattern on one text


def wrong_with(pattern: str) -> str:
    """Return why a pattern cannot be read, "" if it can."""
    import regex  # here, since it takes longer to load than most commands to run

    try:
        regex.compile(pattern)
    except (regex.error, OverflowError) as error:
        return str(error)
    except RecursionError:
        return Message("pattern.deep")
    return ""


def spans(pattern: str, text: str, *, ignore_case: bool = False) -> Iterator[tuple[int, int]]:
    """Yield where a pattern matches, as start and end, from the left, without overlaps.

    Without the interpreter's lock, so that it can run in a thread beside other work. Raises
    TimeoutError, after what was found, where it takes longer than `SECONDS`.
    """
    import regex

    flags = regex.IGNORECASE if ignore_case else 0
    found = regex.finditer(pattern, text, flags, timeout=SECONDS, concurrent=True)
    yield from (one.span() for one in found)
