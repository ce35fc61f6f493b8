"""Nothing that users wrote is ever executed, wherever it enters and wherever it is shown."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from pydantic import JsonValue

from tests.support.console import Console, Data, take_out

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.usefixtures("complaints")

SHORT = "\"'><img src=x onerror=window.pwned=1 class=theirs>{{7*7}}"
EVIL = (
    f"{SHORT}</textarea></script><script class=theirs>window.pwned=2</script>"
    "<svg class=theirs onload=window.pwned=3></svg>${window.pwned=4}`+(window.pwned=5)+`"
    '<a class=theirs href="javascript:window.pwned=6" v-on:click="window.pwned=7" :id="1">x</a>'
    "[link](javascript:window.pwned=8) ]]> --> &lt;b class=theirs&gt; \\u003cscript\\u003e"
)
FILE = "references/a'onclick=window.pwned=1 class=theirs {{7+7}} ${1}`.md"
SKILL = f"""---
name: refunds
description: {json.dumps(EVIL.replace("<", "(").replace(">", ")"))}
---

# Refunds {EVIL}

1. Find the order. See [the note](<{FILE}>).
"""
SEEN = """() => ({
  pwned: window.pwned ?? null,
  theirs: document.querySelectorAll(".theirs, [onerror], [onload], [onclick]").length,
  links: [...document.links].filter(link => !link.protocol.startsWith("http")).length,
})"""
HARMLESS = {"pwned": None, "theirs": 0, "links": 0}


async def _edit(console: Console, change: Data, **put: JsonValue) -> None:
    async with console.client() as http:
        body = {"seen": change["content_hash"], **put}
        answer = await http.post(f"/v1/changes/{change['id']}/edit", json=body)
        assert answer.is_success, answer.text


def _encoded(files: Mapping[str, str]) -> dict[str, JsonValue]:
    return {
        path: {"data": base64.b64encode(text.encode()).decode(), "executable": False}
        for path, text in files.items()
    }


def _table(target_id: str) -> str:
    """Return a decision table whose name and cells are malicious."""
    text, cell = html.escape(EVIL), html.escape(SHORT.replace('"', ""))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="{text}"
    namespace="urn:skill-worker:rules">
  <decision id="{target_id}" name="{html.escape(SHORT)}">
    <decisionTable id="t" hitPolicy="UNIQUE">
      <input><inputExpression typeRef="string"><text>배송 지역</text></inputExpression></input>
      <output name="처리" typeRef="string"/>
      <annotation name="{text}"/>
      <rule id="row-1">
        <inputEntry><text>"{cell}"</text></inputEntry>
        <outputEntry><text>"{cell}"</text></outputEntry>
        <annotationEntry><text>{text}</text></annotationEntry>
      </rule>
    </decisionTable>
  </decision>
</definitions>
"""


async def _evil_story(console: Console) -> tuple[str, list[Data]]:
    """Create a tenant in which every text is malicious; return it with its changes."""
    tenant = await console.tenant(("desk", SHORT))
    more: dict[str, JsonValue] = {"author": SHORT, "task": EVIL}
    await console.say(tenant, "desk", f"고객에게는 항상 존댓말로 답한다 {EVIL}", **more)
    await console.say(tenant, "desk", "배송 지역이 제주이면 배송비는 3000원을 받는다", **more)
    await console.say(tenant, "desk", "부분 환불 절차: 1. 주문을 찾는다 2. 환불한다", **more)
    changes = {str(change["kind"]): change for change in await console.changes(tenant)}
    await _edit(console, changes["MEMORY"], content=EVIL)
    rule = changes["DMN_RULE"]
    await _edit(console, rule, content=_table(str(rule["target_id"])))
    skill = SKILL.replace("name: refunds", f"name: {changes['SKILL']['target_name']}")
    await _edit(console, changes["SKILL"], files=_encoded({"SKILL.md": skill, FILE: EVIL}))
    return tenant, list(await console.changes(tenant))


async def _see_harmless(page: Page, place: str) -> None:
    """Check that a page shows the text as text, and executes nothing."""
    await page.goto(place)
    await page.locator("#content h1").first.wait_for()
    for summary in await page.locator("#content summary").all():
        await summary.click()
    assert await page.evaluate(SEEN) == HARMLESS, place
    text = await page.inner_text("#content")
    assert "{{7*7}}" in text, place


async def test_what_users_wrote_is_text_on_every_page(console: Console, page: Page) -> None:
    tenant, changes = await _evil_story(console)
    base = f"{console.base}/console"
    await console.enter(page, tenant, name=SHORT)
    for change in changes:
        await _see_harmless(page, f"{base}/review?id={change['id']}")
    await page.keyboard.press("e")
    await page.locator("textarea").first.wait_for()
    assert await page.evaluate(SEEN) == HARMLESS
    for change in changes:
        assert (await console.approve(change)).is_success
    known = [
        f"{base}/knowledge/item?kind={c['kind']}&tenant={tenant}&id={c['target_id']}"
        for c in changes
    ]
    for place in known:
        await _see_harmless(page, place)
    for path in ("feedback", "changes", "knowledge", "knowledge?q=window.pwned", "graph"):
        await _see_harmless(page, f"{base}/{path}")
    await _see_harmless(page, f"{base}/feedback/run?id={changes[0]['feedback_id']}")


async def test_reasons_tenants_and_names_are_text_too(
    console: Console, page: Page, complaints: list[str]
) -> None:
    tenant = await console.tenant(("desk", SHORT))
    async with console.client() as http:
        body = {"tenant_id": f"{tenant} {SHORT}", "name": SHORT}
        agent = quote(f"{tenant}-{SHORT}", safe="")
        assert (await http.put(f"/v1/agents/{agent}", json=body)).is_success
        await console.say(tenant, "desk", "고객에게는 항상 존댓말로 답한다")
        (change,) = await console.changes(tenant)
        reject = {"seen": change["content_hash"], "reason": EVIL}
        assert (await http.post(f"/v1/changes/{change['id']}/reject", json=reject)).is_success
    base = f"{console.base}/console"
    await console.enter(page, None, name=SHORT)
    await _see_harmless(page, f"{base}/review?id={change['id']}")
    await _see_harmless(page, f"{base}/")
    await _see_harmless(page, f"{base}/graph?tenant={quote(f'{tenant} {SHORT}')}")
    for path in (
        "feedback?text=",
        "feedback?since=",
        "knowledge?q=",
        "review?id=",
        "changes?status=",
    ):
        await page.goto(f"{base}/{path}{quote(EVIL)}")
        await page.locator("#content h1").first.wait_for()
        assert await page.evaluate(SEEN) == HARMLESS
    take_out(complaints, 404, 422)


async def test_what_users_wrote_is_never_handed_to_a_browser_as_a_page(console: Console) -> None:
    tenant, changes = await _evil_story(console)
    skill = next(change for change in changes if change["kind"] == "SKILL")
    async with console.client() as http:
        one, run = f"/v1/changes/{skill['id']}", f"/v1/feedback/{skill['feedback_id']}/run"
        for path in (one, f"{one}/review", run, "/v1/changes", f"/v1/graph?tenant_id={tenant}"):
            answer = await http.get(path)
            assert answer.headers["content-type"].startswith("application/json"), path
            assert answer.headers["x-content-type-options"] == "nosniff"
        file = await http.get(f"{one}/files", params={"path": FILE})
        assert file.text == EVIL
        assert file.headers["content-type"] == "text/plain; charset=utf-8"
        assert file.headers["content-disposition"].startswith("attachment;")
        assert file.headers["x-content-type-options"] == "nosniff"
        refused = await http.get(f"{one}/files", params={"path": EVIL})
        assert refused.headers["content-type"] == "application/problem+json"
