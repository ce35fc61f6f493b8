"""The reviewers' side: each views a change, thinks, decides, and takes the next one."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import defaultdict

import httpx

THINK = 1.0


class Reviewer:
    """One person with a browser; `told` collects seconds by what was waited for."""

    def __init__(self, url: str, token: str, seed: int, told: dict[str, list[float | str]]) -> None:
        self._told = told
        self._random = random.Random(seed)
        self._http = httpx.AsyncClient(
            base_url=f"{url}/v1/changes",
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )

    async def work(self) -> None:
        await asyncio.sleep(self._random.random() * THINK)
        async with self._http:
            wanted = await self._first()
            while wanted is not None:
                following = await self._review(wanted)
                wanted = following or await self._first()

    async def _first(self) -> str | None:
        found: str | None = (await self._get("/next", "next"))["id"]
        return found

    async def _review(self, change_id: str) -> str | None:
        review_view = await self._get(f"/{change_id}/review", "sheet")
        following: str | None = review_view["neighbours"]["next"]
        await asyncio.sleep(THINK)
        if review_view["change"]["status"] != "held":
            return following
        await self._decide(change_id, review_view["change"]["content_hash"])
        await asyncio.sleep(THINK)
        return following

    async def _decide(self, change_id: str, seen: str) -> None:
        body = {"seen": seen}
        act = "approve"
        if self._random.random() < 0.2:
            act, body = "reject", body | {"reason": "사실이 아니다"}
        begun = time.perf_counter()
        answer = await self._http.post(f"/{change_id}/{act}", json=body)
        took = time.perf_counter() - begun
        assert answer.status_code in {200, 409}, answer.text
        self._told["decision"].append(took)
        self._told["decided" if answer.status_code == 200 else "refused"].append(change_id)

    async def _get(self, path: str, what: str) -> dict:  # type: ignore[type-arg]
        begun = time.perf_counter()
        answer = await self._http.get(path)
        self._told[what].append(time.perf_counter() - begun)
        assert answer.status_code == 200, answer.text
        found: dict = answer.json()  # type: ignore[type-arg]
        return found


async def main(url: str, tokens: list[str]) -> None:
    told: dict[str, list[float | str]] = defaultdict(list, {"decided": [], "refused": []})
    reviewers = [Reviewer(url, token, seed, told) for seed, token in enumerate(tokens)]
    await asyncio.gather(*(reviewer.work() for reviewer in reviewers))
    print(json.dumps(told))


asyncio.run(main(sys.argv[1], json.load(sys.stdin)))
