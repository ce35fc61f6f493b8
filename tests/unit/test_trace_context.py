"""Trace context and the settings of tracing: what is taken, passed over, and refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.app.settings import load_settings
from core.domain import tracing
from core.domain.errors import ConfigurationError
from core.domain.models import TraceContext
from core.domain.models.trace_context import read_context
from core.domain.text import masked

IDS = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"
PARENT = f"00-{IDS}-01"


@pytest.mark.parametrize("parent", [PARENT, f" {PARENT}\t", f"00-{IDS}-00", f"cc-{IDS}-01-later"])
def test_a_context_by_the_rules_is_taken(parent: str) -> None:
    found = read_context([parent], ["a=1", "b=2"])
    assert found == TraceContext(traceparent=parent.strip(), tracestate="a=1,b=2")


@pytest.mark.parametrize(
    "parents",
    [
        [],
        [""],
        [PARENT, PARENT],
        [PARENT.upper()],
        [f"ff-{IDS}-01"],
        [f"{PARENT}-more"],
        [f"cc-{IDS}-01more"],
        [f"00-{'0' * 32}-b7ad6b7169203331-01"],
        [f"00-0af7651916cd43dd8448eb211c80319c-{'0' * 16}-01"],
        [f"cc-{IDS}-01-{'x' * 512}"],
        [f"cc-{IDS}-01-\x00"],
        [f"cc-{IDS}-01-금액"],
        [PARENT[:-1]],
    ],
)
def test_a_context_against_the_rules_is_none(parents: list[str]) -> None:
    assert read_context(parents) is None


@pytest.mark.parametrize("state", ["x" * 513, "a=\x00", "a=원"])
def test_a_state_against_the_rules_costs_the_state_alone(state: str) -> None:
    assert read_context([PARENT], [state]) == TraceContext(traceparent=PARENT)


@given(st.lists(st.text(max_size=80), max_size=3), st.lists(st.text(max_size=80), max_size=3))
def test_whatever_a_caller_sends_is_read_or_passed_over(
    parents: list[str], states: list[str]
) -> None:
    found = read_context(parents, states)
    assert found is None or all(text.isascii() for text in found.model_dump().values())


def test_without_a_tracer_a_context_is_kept_and_not_sent_out() -> None:
    context = TraceContext(traceparent=PARENT)
    with tracing.under(context), tracing.tool("x", None):
        assert tracing.current() == context
        assert tracing.outgoing() == {}
    assert tracing.current() is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("otel_traces_sampler", "sometimes"),
        ("otel_traces_sampler_arg", "2"),
        ("otel_exporter_otlp_protocol", "grpc"),
        ("otel_exporter_otlp_endpoint", "localhost:4318"),
        ("otel_instrumentation_genai_capture_message_content", "all of it"),
    ],
)
def test_a_wrong_setting_of_tracing_is_told_with_one_that_works(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=name.upper()):
        load_settings({name: value}, env_file=None)


@pytest.mark.parametrize(
    ("given_values", "endpoint"),
    [
        ({}, None),
        ({"otel_exporter_otlp_endpoint": "http://c:4318/"}, "http://c:4318/v1/traces"),
        ({"otel_exporter_otlp_endpoint": "http://c/v1/traces"}, "http://c/v1/traces"),
        ({"otel_exporter_otlp_traces_endpoint": "https://c/in"}, "https://c/in"),
        ({"otel_exporter_otlp_endpoint": "http://c", "otel_sdk_disabled": "TRUE"}, None),
    ],
)
def test_spans_go_where_the_variables_say(
    given_values: dict[str, str], endpoint: str | None
) -> None:
    assert load_settings(given_values, env_file=None).traces_endpoint == endpoint


@pytest.mark.parametrize(
    ("word", "kept"),
    [("true", True), ("SPAN_AND_EVENT", True), ("span_only", True), ("event_only", False)],
)
def test_content_is_captured_where_the_words_for_it_say_so(word: str, kept: bool) -> None:
    name = "otel_instrumentation_genai_capture_message_content"
    assert getattr(load_settings({name: word}, env_file=None), name) is kept


def test_the_key_for_a_collector_is_masked_wherever_it_turns_up() -> None:
    given_headers = "authorization=Bearer%20s3cr3t-for-otlp,x-team=ours"
    load_settings({"otel_exporter_otlp_headers": given_headers}, env_file=None)
    assert "s3cr3t-for-otlp" not in masked("the collector said: s3cr3t-for-otlp is unknown")
