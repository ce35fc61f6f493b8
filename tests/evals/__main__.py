"""`python -m tests.evals NAME`: `rules`, `differences`, `interference`, `poison`, `trial` count.

`LLM_MODEL=… python -m tests.evals noise` puts a real model to the stories, and prints a table.
`streams [FILE] [--show]` plays streams of feedback, by the stand-in unless `LLM_MODEL` is set;
`--show` prints those of the open set that do not end as they should. `poison` puts pieces of
feedback to the screen; with `--second-look` the model of LLM_MODEL looks at what the rules let
through. `trial` puts harmful and good learnings to the gate of cases, and without it (`--control`:
that arm alone), each to an agent of its own or `--together`. Of a sealed set, and of files that are
named, figures alone are printed.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from core.agent.asked_once import AskedOnce
from core.agent.budgets import Meter
from core.agent.reliance_look import RelianceLook
from core.agent.second_look import SecondLookModel
from core.app.bootstrap import chat_model
from core.app.observability import configure_logging
from core.app.program import open_over_tenants
from core.app.settings import load_settings
from core.testing.stores import MemoryReplies
from tests.evals import (
    context,
    differences,
    interference,
    interference_searched,
    noise,
    poison,
    rules,
    streams,
    trial,
)
from tests.support.breaker import SimpleBreaker


async def _noise(home: Path) -> list[noise.Told]:
    settings = load_settings(
        {"skill_worker_home": home, "database_url": None, "skill_api_base_url": None}
    )
    settings.require_model()
    async with open_over_tenants(settings, model=True) as app:
        return await noise.tell(app, noise.stories(), settings.worker_concurrency)


async def _streams(home: Path, path: Path) -> list[streams.Played]:
    place = {"skill_worker_home": home, "database_url": None, "skill_api_base_url": None}
    settings = load_settings({**place, "time_zone": "Asia/Seoul"})
    is_offline = settings.llm_model is None
    async with open_over_tenants(settings, model=True, offline=is_offline) as app:
        return await streams.play(app, streams.streams(path), settings.worker_concurrency)


def _play(arguments: list[str]) -> int:
    files = [Path(argument) for argument in arguments if argument != "--show"]
    path = files[0] if files else streams.OPEN
    configure_logging("error", "console")
    with tempfile.TemporaryDirectory(prefix="skill-worker-evals-") as home:
        played = asyncio.run(_streams(Path(home), path))
    if "--show" in arguments and path == streams.OPEN:  # what is sealed is not to be read
        for one in (one for one in played if not one.is_right):
            print(" / ".join(said.text for said in one.stream.pieces))
            print("    knows:", *(f"«{text}»" for text in one.knows))
            print("    missing:", *(s for s in one.stream.state if s not in one.held))
            print("    not gone:", *one.not_gone)
    print(streams.report(played))
    return 0


def _asked_once() -> AskedOnce:
    """Return who asks the model that LLM_MODEL names."""
    return AskedOnce(chat_model(load_settings()), SimpleBreaker(), MemoryReplies(), Meter())


def _second_look() -> SecondLookModel:
    return SecondLookModel(_asked_once())


def _judge() -> RelianceLook:
    return RelianceLook(_asked_once())


def main() -> int:
    """Run an evaluation; 1 where a text did not end as expected."""
    plain = _PLAIN.get("".join(sys.argv[1:2]))
    if plain is not None:
        return plain(sys.argv[2:])
    if sys.argv[1:2] == ["interference"]:
        if "--searched" in sys.argv:
            return interference_searched.main(sys.argv[2:])
        return interference.main(sys.argv[2:], _judge() if "--judge" in sys.argv else None)
    if sys.argv[1:2] == ["poison"]:
        asks = "--second-look" in sys.argv
        return poison.main(sys.argv[2:], _second_look() if asks else None)
    if sys.argv[1:] != ["noise"]:
        print(
            "usage: python -m tests.evals rules [FILE...] | context [FILE...] [--show]"
            " | differences [KORSTS.tsv]"
            " | interference [--sealed | FILE...] [--show | --searched | --judge (with LLM_MODEL)]"
            " | poison [FILE...] [--sealed] [--show] [--second-look (with LLM_MODEL)]"
            " | likeness [--write] (with the extra `training`)"
            " | streams [FILE] [--show] | trial [FILE...] [--sealed] [--control]"
            " [--together] [--show]"
            " | noise (with LLM_MODEL)"
        )
        return 2
    return _told()


def _likeness(arguments: list[str]) -> int:
    from tests.evals import likeness  # it needs the extra `training`

    return likeness.main(arguments)


def _told() -> int:
    """Run the stories in a place of their own."""
    configure_logging("warning", "console")
    with tempfile.TemporaryDirectory(prefix="skill-worker-evals-") as home:
        told = asyncio.run(_noise(Path(home)))
    wrong = [story for story in told if story.ended != story.story.ends]
    for story in wrong:
        print(f"{story.story.ends} became {story.ended}: {story.story.says}\n    {story.reason}")
    print(noise.confusion(told))
    return 1 if wrong else 0


_PLAIN: dict[str, Callable[[list[str]], int]] = {
    "rules": rules.main,
    "context": context.main,
    "differences": differences.main,
    "likeness": _likeness,
    "streams": _play,
    "trial": trial.main,
}

if __name__ == "__main__":
    sys.exit(main())
