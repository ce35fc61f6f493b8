"""Installed skills beside what else happens to them: what is learnt meanwhile, secrets, lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

import pytest
from starlette.requests import Request

from core.app.program import App, open_app
from core.changes.installing.installer import Chosen
from core.domain.errors import InvalidInput, NotFound, Refused
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Agent,
    FileRef,
    Kind,
    MergeMode,
    Operation,
    Origin,
    ReceiptStatus,
    SkillFile,
    SkillRequest,
    SubmitContext,
)
from core.domain.models.installed import InstalledSkill
from core.domain.ports import ChangeLog
from core.domain.tasks import in_name_of
from core.entrypoints.console.language import Language
from core.entrypoints.console.pages.knowledge.versions import because
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.session import Session
from core.skills.published.places import UrlPlace, read_place
from tests.support.api import settings_of
from tests.support.publisher import skill_text

T = TypeVar("T")
KO = Visit(cast("Request", None), cast("Session", None), Language.KO, lambda: datetime.now(UTC))


def publish(folder: Path, *steps: str, more: str = "") -> Path:
    (folder / "pay").mkdir(exist_ok=True)
    (folder / "pay" / SKILL_MD).write_text(skill_text("pay", *steps) + more)
    return folder / "pay"


async def install(app: App, folder: Path) -> InstalledSkill:
    await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
    done = await app.installer("t").install(read_place(str(folder), folder), agent="a")
    assert done.outcome == "created"
    (one,) = await app.stores.installed.list("t")
    return one


async def learn(app: App, *steps: str) -> None:
    request = SkillRequest(
        operation=Operation.UPDATE,
        target_id="pay",
        folder={SKILL_MD: SkillFile(data=skill_text("pay", *steps).encode())},
        merge_mode=MergeMode.REPLACE,
        is_import=True,
    )
    context = SubmitContext(key="learnt", tenant_id="t", agent_id="a", origin=Origin.PERSON)
    receipt = await app.gate.submit(request, context)
    assert receipt.status is ReceiptStatus.APPLIED


async def text_of(app: App) -> str:
    bundle = await app.stores.skills.read("pay", "t")
    assert bundle is not None
    return bundle.document


class Meanwhile:
    """A change log; while an upgrade reads its base, something else is learnt."""

    def __init__(self, log: ChangeLog, app: App) -> None:
        self._log, self._app, self._is_done = log, app, False

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)

    async def blobs(self, refs: Sequence[FileRef]) -> Mapping[str, bytes]:
        if not self._is_done:
            self._is_done = True
            await learn(self._app, "look", "pay", "tell Ms. Kim")
        return await self._log.blobs(refs)


async def test_what_is_learnt_while_an_upgrade_is_under_way_stays(
    database: str, tmp_path: Path
) -> None:
    settings = settings_of(database, tmp_path / "home")
    folder = publish(tmp_path, "look", "pay")
    async with open_app(settings) as other:
        one = await install(other, folder)

        def wrap(name: str, port: T) -> T:
            return cast("T", Meanwhile(port, other)) if name == "changes" else port  # type: ignore[arg-type]

        publish(tmp_path, "look twice", "pay")
        async with open_app(settings, wrap=wrap) as app:
            done = await app.installer("t").upgrade(one, Chosen(tmp_path))
            assert done.outcome == "updated"
            assert await text_of(app) == skill_text("pay", "look twice", "pay", "tell Ms. Kim")


async def test_a_secret_that_is_published_is_stored_nowhere(database: str, tmp_path: Path) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    folder = publish(tmp_path, "look", "pay", more=f"The key is {secret}.\n")
    async with open_app(settings_of(database, tmp_path / "home")) as app:
        one = await install(app, folder)
        stored = await app.stores.changes.blobs([*one.published.files.values()])
        assert secret.encode() not in b"".join(stored.values())
        await learn_a_line(app)
        publish(tmp_path, "look twice", "pay", more=f"The key is {secret}.\n")
        done = await app.installer("t").upgrade(one, Chosen(tmp_path))
        assert done.outcome == "updated"
        text = await text_of(app)
    assert secret not in text
    assert "look twice" in text
    assert text.endswith("learnt\n")


async def learn_a_line(app: App) -> None:
    bundle = await app.stores.skills.read("pay", "t")
    assert bundle is not None
    folder = {SKILL_MD: SkillFile(data=bundle.files[SKILL_MD].data + b"learnt\n")}
    request = SkillRequest(
        operation=Operation.UPDATE, target_id="pay", folder=folder, is_import=True
    )
    context = SubmitContext(key="line", tenant_id="t", agent_id="a", origin=Origin.PERSON)
    assert (await app.gate.submit(request, context)).status is ReceiptStatus.APPLIED


async def test_a_source_with_a_secret_is_refused_before_it_is_asked(
    database: str, tmp_path: Path
) -> None:
    place = UrlPlace("https://h/x.skill?token=ghp_0123456789abcdefghijABCDEFGHIJ012345")
    async with open_app(settings_of(database, tmp_path / "home")) as app:
        with pytest.raises(InvalidInput) as error:
            await app.installer("t").install(place)
    assert isinstance(error.value.message, Message)
    assert error.value.message.code == "place.secret"


async def test_another_tenant_sees_nothing_of_it(database: str, tmp_path: Path) -> None:
    async with open_app(settings_of(database, tmp_path / "home")) as app:
        await install(app, publish(tmp_path, "look"))
        with in_name_of("other"):
            assert await app.stores.installed.list("t") == []
        with in_name_of("t"):
            assert [one.name for one in await app.stores.installed.list("t")] == ["pay"]
        assert await app.stores.installed.list("other") == []


async def test_the_console_says_in_korean_where_a_version_came_from(
    database: str, tmp_path: Path
) -> None:
    folder = publish(tmp_path, "look")
    async with open_app(settings_of(database, tmp_path / "home")) as app:
        one = await install(app, folder)
        (made,) = await app.stores.lineage.made(Kind.SKILL, "t", "pay", limit=9, max_bytes=0)
    shown = str(because(KO, made.by))
    assert f"{folder}에서 설치했습니다. 내용 sha256:{one.published.digest}" in shown


async def test_an_upgrade_that_waits_is_not_asked_for_twice(database: str, tmp_path: Path) -> None:
    folder = publish(tmp_path, "look", "pay")
    async with open_app(settings_of(database, tmp_path / "home")) as app:
        one = await install(app, folder)
        known = await app.installer("t").upgrade(one, Chosen(tmp_path))
        assert (known.outcome, known.said.code) == ("known", "installed.newest")  # type: ignore[attr-defined]
    publish(tmp_path, "look twice", "pay")
    settings = settings_of(database, tmp_path / "home", review_policy="all")
    async with open_app(settings) as app:
        first = await app.installer("t").upgrade(one, Chosen(tmp_path))
        assert first.outcome == "held"
        again = await app.installer("t").upgrade(one, Chosen(tmp_path))
        assert (again.name, again.outcome) == ("pay", "held")
        assert again.said.code == "installed.waits"  # type: ignore[attr-defined]
        waiting = [held for held in await app.stores.installed.list("t") if held.is_held]
        assert [held.change_id in again.said for held in waiting] == [True]
        publish(tmp_path, "look three times", "pay")
        newer = await app.installer("t").upgrade(one, Chosen(tmp_path))
        assert (newer.outcome, newer.said == again.said) == ("held", False)


async def test_a_skill_that_is_installed_goes_on_another_list_and_off_it(
    database: str, tmp_path: Path
) -> None:
    folder = publish(tmp_path, "look", "pay")
    async with open_app(settings_of(database, tmp_path / "home")) as app:
        await install(app, folder)
        installer, place = app.installer("t"), read_place(str(folder), folder)
        await app.stores.agents.save(Agent(id="b", tenant_id="t", name="B"))
        again = await installer.install(place, agent="a")
        assert (again.outcome, again.said.code) == ("known", "installed.already")  # type: ignore[attr-defined]
        bare = await installer.install(place)
        assert (bare.outcome, bare.is_in) == ("known", False)
        listed = await installer.install(place, agent="b")
        assert (listed.name, listed.outcome, listed.is_in) == ("pay", "updated", True)
        assert (await app.stores.agents.get("t", "b")).skills == ("pay",)
        publish(tmp_path, "look twice", "pay")
        with pytest.raises(Refused, match="another 'pay' is installed"):
            await installer.install(place, agent="b")
        with pytest.raises(Refused) as several:
            await installer.remove("pay", agent=None)
        assert "a, b" in several.value.message
        with pytest.raises(NotFound):
            await installer.remove("ship", agent="a")
        assert (await installer.remove("pay", agent="b")).status.is_outcome
        assert (await app.stores.agents.get("t", "b")).skills == ()
        assert await app.stores.skills.read("pay", "t") is not None
        gone = await installer.remove("pay", agent=None)
        assert gone.status is ReceiptStatus.APPLIED
        assert await app.stores.skills.read("pay", "t") is None


async def test_what_came_in_otherwise_is_adopted_where_it_is_the_same(
    database: str, tmp_path: Path
) -> None:
    folder = publish(tmp_path, "look", "pay")
    async with open_app(settings_of(database, tmp_path / "home")) as app:
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        request = SkillRequest(
            operation=Operation.CREATE,
            folder={SKILL_MD: SkillFile(data=skill_text("pay", "look", "pay").encode())},
            is_import=True,
        )
        context = SubmitContext(key="own", tenant_id="t", agent_id="a", origin=Origin.PERSON)
        assert (await app.gate.submit(request, context)).status is ReceiptStatus.APPLIED
        assert await app.stores.installed.list("t") == []
        place = read_place(str(folder), folder)
        done = await app.installer("t").install(place, agent="a")
        assert (done.outcome, done.said.code) == ("updated", "installed.adopted")  # type: ignore[attr-defined]
        (one,) = await app.stores.installed.list("t")
        assert one.name == "pay"
        other = await app.installer("t").install(place, name="pay-later", agent="a")
        assert (other.name, other.outcome) == ("pay-later", "created")
        publish(tmp_path, "look elsewhere", "pay")
        await learn(app, "look", "pay", "tell")
        taken = SkillRequest(
            operation=Operation.CREATE,
            folder={SKILL_MD: SkillFile(data=skill_text("mine", "look").encode())},
            is_import=True,
        )
        await app.gate.submit(taken, context.model_copy(update={"key": "mine"}))
        with pytest.raises(Refused) as refused:
            await app.installer("t").install(place, name="mine", agent="a")
        assert refused.value.message.code == "installed.taken"  # type: ignore[union-attr]
