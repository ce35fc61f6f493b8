"""The client of the model that workers of the chaos suite call over HTTP."""

from __future__ import annotations

from typing import Any

from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient
from pydantic import PrivateAttr, SecretStr

from tests.chaos.failpoints import Failpoints


class ChatWithPoints(ChatOpenAI):
    """The model over HTTP, with a failpoint on either side of each call."""

    _points: Failpoints = PrivateAttr()

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        self._points.hit("model.call:before")
        result = await super()._agenerate(*args, **kwargs)
        self._points.hit("model.call:after")
        return result


def chat(url: str, timeout: float) -> ChatWithPoints:
    """Return a client of the model; loading certificates would take longer than a fork."""
    return ChatWithPoints(
        model="chaos",
        base_url=url,
        api_key=SecretStr("none"),
        http_client=DefaultHttpxClient(verify=False),
        http_async_client=DefaultAsyncHttpxClient(verify=False),
        timeout=timeout,
        max_retries=0,
    )
