"""What the examples need around them: a worker of their own, and a model that needs no key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from skill_worker_client import SkillWorker

AGENT, TENANT = "a1", "acme"


class StandIn(BaseChatModel):
    """Answers with the memories it is shown, so that one sees what an agent would know."""

    @property
    def _llm_type(self) -> str:
        return "stand-in"

    def bind_tools(self, tools: Any, **kwargs: Any) -> StandIn:
        """Take tools, and use none."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        shown = messages[0].text if isinstance(messages[0], SystemMessage) else ""
        known = [line for line in shown.splitlines() if line.startswith("- [")]
        text = "\n".join(known) or "(nothing was learnt about this)"
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def chat_model() -> BaseChatModel:
    """Return the model that MODEL names, or the stand-in."""
    return init_chat_model(os.environ["MODEL"]) if "MODEL" in os.environ else StandIn()


@contextmanager
def opened_worker() -> Iterator[SkillWorker]:
    """Yield a client of the worker that SKILL_WORKER_URL names, or of one started for a while."""
    if "SKILL_WORKER_URL" in os.environ:
        with SkillWorker.from_env() as worker:
            yield worker
        return
    with tempfile.TemporaryDirectory(prefix="skill-worker-example-") as home:
        environment = {**os.environ, "SKILL_WORKER_HOME": home}
        token = _prepared(environment)
        log = Path(home) / "worker.log"
        command = [sys.executable, "-m", "core", "run", "--api", "--offline", "--port", "0"]
        with log.open("wb") as told:
            running = subprocess.Popen(command, env=environment, stderr=told)
        try:
            with SkillWorker(_url(running, log), token, agent=AGENT) as worker:
                yield worker
        finally:
            running.terminate()
            running.wait()


def _prepared(environment: dict[str, str]) -> str:
    """Make an agent, and return a token of its own."""
    agents = Path(environment["SKILL_WORKER_HOME"]) / "agents.yaml"
    agents.write_text(f"- {{id: {AGENT}, tenant_id: {TENANT}, name: Quotes}}\n", "utf-8")
    _ask(environment, "agents", "import", str(agents))
    roles = ("--role", "read", "--role", "submit")
    added = _ask(
        environment,
        "tokens",
        "add",
        "--name",
        "example",
        "--tenant",
        TENANT,
        "--agent",
        AGENT,
        *roles,
    )
    return str(added["secret"])


def _ask(environment: dict[str, str], *arguments: str) -> dict[str, object]:
    command = [sys.executable, "-m", "core", *arguments, "--json"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def _url(running: subprocess.Popen[bytes], log: Path) -> str:
    """Return the address of a worker once it is open. Raises RuntimeError if it ends before."""
    while running.poll() is None:
        for line in log.read_text("utf-8").splitlines():
            if "server.started" in line:
                return str(json.loads(line)["url"])
        time.sleep(0.1)
    raise RuntimeError(f"the worker did not start:\n{log.read_text('utf-8')}")
