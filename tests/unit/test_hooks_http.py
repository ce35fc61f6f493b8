"""Webhooks: signed by Standard Webhooks, to public addresses only, each answer with its meaning."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta, timezone

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from core.adapters.hooks.http import WebhookAsker, is_public
from core.domain.errors import ConfigurationError
from core.domain.models.deliveries import Decision, HookAnswer, Notice, Outcome

OLD = "whsec_" + base64.b64encode(b"o" * 32).decode()
NEW = "whsec_" + base64.b64encode(b"n" * 32).decode()
NOTICE = Notice("dlv_1", "change.held", datetime(2026, 1, 1, tzinfo=UTC), "t", {"why": "그래서"})


def seoul() -> datetime:
    return datetime.now(timezone(timedelta(hours=9)))


class Receiver:
    """A real HTTP server of one answer; it remembers each request as (head, body)."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.came: list[tuple[dict[str, str], str]] = []
        self.url, self.port = "", 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if line)
        headers = {name.lower(): value for name, value in headers.items()}
        body = (await reader.readexactly(int(headers["content-length"]))).decode()
        self.came.append((headers, body))
        writer.write(self.answer.encode())
        await writer.drain()
        writer.close()

    @asynccontextmanager
    async def listening(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        self.port = server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/in"
        async with server:
            yield self


def answer(status: int, body: str = "", **headers: str) -> str:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *lines]
    return "\r\n".join([*head, "", body])


def asker(url: str, *secrets: str, **given: object) -> WebhookAsker:
    return WebhookAsker(url, secrets, clock=seoul, **{"allow_private": True, **given})  # type: ignore[arg-type]


async def test_each_secret_signs_so_that_one_can_replace_the_other() -> None:
    async with Receiver(answer(204)).listening() as receiver:
        one = asker(receiver.url, NEW, OLD)
        sent = await one.ask(NOTICE)
        await one.close()
    assert (sent.outcome, sent.status) == (Outcome.DONE, "204")
    ((headers, body),) = receiver.came
    for secret in (OLD, NEW):
        assert Webhook(secret).verify(body, headers) == NOTICE.value
    with pytest.raises(WebhookVerificationError):
        Webhook(OLD).verify(body + " ", headers)
    assert (headers["webhook-id"], "그래서" in body) == ("dlv_1", True)


@pytest.mark.parametrize(
    ("said", "outcome", "retry_after"),
    [
        (answer(302, Location="http://127.0.0.1:1/"), Outcome.LATER, None),
        (answer(410), Outcome.GONE, None),
        (answer(422), Outcome.NEVER, None),
        (answer(404), Outcome.LATER, None),
        (answer(500), Outcome.LATER, None),
        (answer(429, Retry_After="120"), Outcome.LATER, 120.0),
        (answer(503, Retry_After="7"), Outcome.LATER, 7.0),
        ("", Outcome.LATER, None),
        (answer(200, json.dumps({"decision": "maybe"})), Outcome.NEVER, None),
    ],
)
async def test_each_answer_has_its_meaning(
    said: str, outcome: Outcome, retry_after: float | None
) -> None:
    async with Receiver(said).listening() as receiver:
        one = asker(receiver.url)
        sent = await one.ask(NOTICE)
        await one.close()
    assert (sent.outcome, sent.retry_after, len(receiver.came)) == (outcome, retry_after, 1)


async def test_an_answer_may_say_what_it_thinks() -> None:
    async with Receiver(answer(200, '{"decision": "hold", "note": "ask Kim"}')).listening() as on:
        one = asker(on.url)
        sent = await one.ask(NOTICE)
        await one.close()
    assert sent.answer == HookAnswer(decision=Decision.HOLD, note="ask Kim")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("8.8.8.8", True), ("2606:4700:4700::1111", True), ("::ffff:8.8.8.8", True),
        ("127.0.0.1", False), ("10.1.2.3", False), ("172.16.0.1", False), ("192.168.1.1", False),
        ("169.254.169.254", False), ("100.100.100.200", False), ("168.63.129.16", False),
        ("192.0.0.192", False), ("0.0.0.0", False), ("255.255.255.255", False),
        ("224.0.0.1", False), ("198.18.0.1", False), ("192.0.2.1", False), ("240.0.0.1", False),
        ("::", False), ("::1", False), ("fe80::1%eth0", False), ("fd00:ec2::254", False),
        ("fec0::1", False), ("ff02::1", False), ("::ffff:127.0.0.1", False), ("::127.0.0.1", False),
        ("::ffff:169.254.169.254", False), ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b::808:808", True), ("64:ff9b:1::1", False), ("2002:7f00:1::", False),
        ("2001:db8::1", False), ("2001:0:1::1", False), ("3fff::1", False),
    ],
)  # fmt: skip
def test_only_addresses_of_the_public_internet_are_public(address: str, expected: bool) -> None:
    assert is_public(address) is expected


@pytest.mark.parametrize("found", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::ffff:10.0.0.1"], []])
async def test_a_host_with_any_private_address_is_not_connected_to(found: list[str]) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return found

    async with Receiver(answer(200)).listening() as receiver:
        one = asker(receiver.url, allow_private=False, resolve=resolve)
        sent = await one.ask(NOTICE)
    assert (sent.outcome, sent.status, receiver.came) == (Outcome.NEVER, "private", [])


async def test_the_address_that_was_checked_is_connected_to_under_its_name() -> None:
    looked_up: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        looked_up.append(host)
        return ["127.0.0.2", "127.0.0.1"]  # nobody listens at the first

    async with Receiver(answer(200)).listening() as receiver:
        url = receiver.url.replace("127.0.0.1", "hooks.invalid")
        one = asker(url, resolve=resolve)
        sent = await one.ask(NOTICE)
        await one.close()
    assert (sent.outcome, looked_up) == (Outcome.DONE, ["hooks.invalid"])
    assert receiver.came[0][0]["host"].startswith("hooks.invalid:")


async def test_who_is_not_there_is_tried_later_and_named() -> None:
    one = asker("http://no-such-host.invalid/x")
    sent = await one.ask(NOTICE)
    assert (sent.outcome, sent.status) == (Outcome.LATER, "dns")
    assert "no-such-host.invalid" in str(sent.error)


@pytest.mark.parametrize("secret", ["", "whsec_", "no secret", "whsec_%%%"])
def test_a_secret_that_is_none_is_refused_at_start(secret: str) -> None:
    with pytest.raises(ConfigurationError, match="secret"):
        asker("https://example.com", secret)
