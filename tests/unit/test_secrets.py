"""No key and no password is logged or told, whoever quotes it."""

from __future__ import annotations

import logging

import pytest
import structlog
from langchain_core.messages import HumanMessage

from core.adapters.sources.postgrest import open_platform
from core.agent.model.chat_model import ask_structured, build_chat_model, close_chat_model
from core.app.observability import LogFormat, configure_logging
from core.app.settings import load_settings
from core.domain.errors import ConfigurationError, SourceDown
from core.domain.messages import Message
from core.domain.models import SkillArtifact
from core.domain.text import masked
from tests.support.openai_server import error, openai_server

OWN = "a-key-of-no-known-shape-9137"
PASSWORD = "tres-secret-4711"


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", OWN)
    load_settings({"database_url": f"postgresql://me:{PASSWORD}@db/x"}, env_file=None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"you sent {OWN}!", "you sent ***!"),
        (f"the password {PASSWORD} is wrong", "the password *** is wrong"),
        ("GET https://me:pw@host/x failed", "GET https://me:***@host/x failed"),
        ("GET https://me:p@w:x@host/x failed", "GET https://me:***@host/x failed"),
        ("GET https://token-of-sixteen@host/x", "GET https://***@host/x"),
        ("GET /console/signed-in?code=abc&state=d", "GET /console/signed-in?code=***&state=d"),
        ("Incorrect API key provided: short.", "Incorrect API key provided: ***"),
        ("no access with sk-proj-0123456789abcdef, sorry", "no access with ***, sorry"),
        ("{'authorization': 'Bearer abc.def-123'}", "{'authorization': 'Bearer ***'}"),
        ('{"api_key": "x1"}', '{"api_key": "***"}'),
        ("POST https://g/v1?key=AIz9&alt=json", "POST https://g/v1?key=***&alt=json"),
        ("password authentication failed for user me", None),
        ("input_tokens=12, key: c1:1:1:0, LLM_PROXY_API_KEY: not set", None),
    ],
)
def test_keys_and_passwords_are_masked(text: str, told: str | None) -> None:
    assert masked(text) == (told or text)


def test_a_message_that_is_masked_stays_one() -> None:
    found = masked(Message("call.failed", where="GET https://a:b@c", why=OWN))
    assert isinstance(found, Message)
    assert (found.code, str(found)) == ("call.failed", "GET https://a:***@c failed: ***")


@pytest.mark.parametrize("log_format", ["json", "console", "talk"])
def test_no_line_of_any_level_has_a_key(
    log_format: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging("debug", log_format)
    log = structlog.get_logger("core.test")
    log.debug("a.happened", url=f"http://me:{PASSWORD}@x", parts=[OWN])
    logging.getLogger("httpx").info("HTTP Request: POST https://x?key=%s", OWN)
    try:
        raise TypeError(OWN)  # noqa: TRY301
    except TypeError:
        log.exception("a.broke")
    told = "".join(capsys.readouterr())
    assert told.count("***") >= 4
    assert OWN not in told
    assert PASSWORD not in told


async def test_what_a_provider_quotes_of_a_key_is_not_passed_on() -> None:
    turn = error(401, f"Incorrect API key provided: {OWN}. See https://me:{PASSWORD}@docs")
    async with openai_server([turn]) as server:
        model = build_chat_model("m", proxy_url=server.url, proxy_api_key=OWN, max_retries=0)
        with pytest.raises(ConfigurationError, match="Incorrect API key provided") as caught:
            await ask_structured(model, [HumanMessage("x")], SkillArtifact)
        await close_chat_model(model)
    assert OWN not in str(caught.value.reason)
    assert PASSWORD not in str(caught.value.reason)


async def test_a_source_that_is_away_is_named_without_its_password() -> None:
    async with open_platform("http://me:pw-in-the-url@127.0.0.1:1", "k") as platform:
        with pytest.raises(SourceDown, match=r"http://me:\*\*\*@127.0.0.1:1"):
            await platform.ping()
