"""The model as configured, and provider errors translated by class and status."""

from __future__ import annotations

import httpx
import pytest
from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelInvalidRequestError,
    ModelRateLimitError,
)
from langchain_core.messages import AIMessage

from core.agent.loop.tool_args import ARGUMENTS
from core.agent.model.calls import translate_model_errors
from core.agent.model.chat_model import (
    build_chat_model,
    close_chat_model,
    prompt,
    prompt_sections,
    usage_of,
)
from core.agent.offline.model import OfflineChatModel
from core.domain.errors import (
    ConfigurationError,
    InvalidInput,
    LeaseLost,
    ModelDown,
    SkillWorkerError,
)
from core.domain.models import Usage
from core.domain.text import clean, fenced_json, read_fenced_json
from core.react_tools import react_tool_schemas

REQUEST = httpx.Request("POST", "http://x")


def test_offline_is_the_stand_in() -> None:
    assert isinstance(build_chat_model("offline"), OfflineChatModel)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "LLM_MODEL is not set"),
        ("gpt-4o", "names no provider"),
        ("nosuch:thing", "nosuch:thing"),
        ("groq:thing", "not installed"),
    ],
)
def test_a_model_that_cannot_be_built_says_why_and_what_to_do(name: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        build_chat_model(name)
    assert caught.value.hint


def test_a_missing_package_names_what_to_install() -> None:
    with pytest.raises(ConfigurationError) as caught:
        build_chat_model("groq:thing")
    assert caught.value.hint == "pip install langchain-groq"


def test_a_missing_key_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"(?i)api.?key") as caught:
        build_chat_model("openai:gpt-4o")
    assert caught.value.hint


async def test_a_provider_s_own_key_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    model = build_chat_model("openai:gpt-4o", timeout=3, max_retries=1)
    assert getattr(model, "model_name", None) == "gpt-4o"
    await close_chat_model(model)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelRateLimitError("x"), ModelDown),
        (ModelAuthenticationError("x"), ConfigurationError),
        (ModelInvalidRequestError("x"), InvalidInput),
        (ContextOverflowError("x"), InvalidInput),
        (httpx.ConnectError("x", request=REQUEST), ModelDown),
        (httpx.ReadTimeout("x", request=REQUEST), ModelDown),
        (httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(503)), ModelDown),
        (
            httpx.HTTPStatusError("x", request=REQUEST, response=httpx.Response(404)),
            ConfigurationError,
        ),
        (TimeoutError(), ModelDown),
        (ConnectionResetError(), ModelDown),
        (KeyError("choices"), ModelDown),
    ],
)
def test_errors_are_sorted_by_class_and_status(
    error: Exception, kind: type[SkillWorkerError]
) -> None:
    with pytest.raises(kind) as caught, translate_model_errors():
        raise error
    assert type(caught.value) is kind
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [LeaseLost("x"), AssertionError("ours")])
def test_errors_that_are_not_the_model_s_pass(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, translate_model_errors():
        raise error
    assert caught.value is error


def test_usage_is_counted_also_where_tokens_are_not_told() -> None:
    assert usage_of(AIMessage("x")) == Usage(model_calls=1)


def test_each_tool_is_described_to_the_model_with_its_own_arguments() -> None:
    about = prompt_sections("tools")
    assert set(about) == set(ARGUMENTS)
    for schema, (name, args) in zip(react_tool_schemas(), ARGUMENTS.items(), strict=True):
        function = schema["function"]
        assert isinstance(function, dict)
        assert (function["name"], function["description"]) == (name, about[name])
        parameters = function["parameters"]
        assert isinstance(parameters, dict)
        assert set(parameters["properties"]) == set(args.model_fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["react_system", "matcher", "skill_author", "nudges", "tools"])
def test_every_prompt_is_in_the_package(name: str) -> None:
    assert len(prompt(name)) > 100


def test_a_block_of_data_comes_back_whatever_it_holds() -> None:
    data = {"a": "```json\n{}\n```", "b": ["한글 \u202e", None, 1.5], "c": "`'\"\\"}
    text = fenced_json(data)
    assert text.count("```") == 2
    assert read_fenced_json(f"before\n{text}\nafter") == data
    assert read_fenced_json("no block") is None
    assert read_fenced_json("```json\n{broken\n```") is None


def test_what_cannot_be_stored_is_cleaned_at_any_depth() -> None:
    assert clean({"a\x00": ["\ud800", {"b": "\x00한"}]}) == {"a": ["\ufffd", {"b": "한"}]}
