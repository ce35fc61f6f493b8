"""What is wrong with the names that settings are given under: misspelt, or in a broken line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

_ALIKE = 0.8
# The environment is full of others' names; what begins so is most likely meant for us.
_OURS = ("SKILL_WORKER_", "LLM_", "MCP_", "FEEDBACK_")


def name_warnings(
    names: Iterable[str], environment: Mapping[str, str], env_file: Path | None
) -> tuple[str, ...]:
    """Say what in the file and the environment looks like a setting and is none.

    `names` are the settings' upper-case names. Raises UnicodeDecodeError.
    """
    known = list(names)
    return (*_in_file(known, env_file), *_in_environment(known, environment))


def _in_file(known: list[str], env_file: Path | None) -> Iterator[str]:
    from dotenv.parser import parse_stream

    if env_file is None or not env_file.is_file():
        return
    with env_file.open(encoding="utf-8-sig") as stream:
        for binding in parse_stream(stream):
            place = f"{env_file}, line {binding.original.line}"
            if binding.error:
                yield f"{place}: it is no NAME=VALUE and is left out"
            elif binding.key and (meant := _meant(binding.key, known)):
                yield f"{place}: there is no setting {binding.key}; is {meant} meant?"


def _in_environment(known: list[str], environment: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(environment):
        if name.upper().startswith(_OURS) and (meant := _meant(name, known)):
            yield f"the environment: there is no setting {name}; is {meant} meant?"


def _meant(name: str, known: list[str]) -> str | None:
    """Give the setting whose name is most like this one; None where it is one, or like none."""
    if name.upper() in known:
        return None
    return next(iter(get_close_matches(name.upper(), known, n=1, cutoff=_ALIKE)), None)
