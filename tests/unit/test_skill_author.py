"""The author: what it is shown, what it answers, and how its replies are stored."""

from __future__ import annotations

import pytest
from langchain_core.language_models import BaseChatModel

from core.agent.offline.model import OfflineChatModel
from core.agent.skill_author import SkillAuthorModel
from core.domain.errors import ArtifactInvalid, LeaseLost, ModelDown
from core.domain.models import (
    AuthorRequest,
    Bundle,
    Fence,
    Operation,
    RelatedSkill,
    SkillArtifact,
    SkillEdits,
    SkillFile,
    SkillRequest,
    SubmitContext,
)
from core.domain.text import read_fenced_json
from core.learning_committers.skill_folders import SkillLimits
from core.learning_committers.skill_writing import SkillWriter
from core.skills.document.assembly import assemble
from core.skills.document.edits import apply_edits
from core.testing.scripted_model import ScriptedChatModel, calls, says
from core.testing.skill_store import MemorySkillStore
from core.testing.stores import MemoryReplies, MemoryRuns
from tests.support.breaker import SimpleBreaker
from tests.support.react import CANDIDATE

ARTIFACT = {"name": "refund", "description": "환불 처리", "body_markdown": "# 환불\n\n절차"}
EDITS = {"edits": [{"op": "insert_section", "heading": "절차", "text": "- 영수증 확인"}]}
KEY = "c1:1:1:0:author:abc"
DOCUMENT = "---\nname: refund\ndescription: d\n---\n# 환불\n\n## 절차\n\n- 주문 확인\n"
EXISTING = Bundle(
    name="refund",
    files={
        "SKILL.md": SkillFile(data=DOCUMENT.encode()),
        "assets/logo.png": SkillFile(data=b"\x89PNG\xff"),
    },
)
CREATE = AuthorRequest(
    tenant_id="t",
    operation=Operation.CREATE,
    skill_name=None,
    feedback_content="먼저 확인하고 다음에 계산",
)
UPDATE = CREATE.model_copy(
    update={"operation": Operation.UPDATE, "skill_name": "refund", "existing": EXISTING}
)


def author_of(
    model: BaseChatModel, replies: MemoryReplies, runs: MemoryRuns | None = None
) -> SkillAuthorModel:
    return SkillAuthorModel(model, SimpleBreaker(), replies, runs or MemoryRuns())


async def test_a_new_skill_is_an_artifact_and_only_that_is_offered() -> None:
    model, replies = ScriptedChatModel([calls(("SkillArtifact", ARTIFACT))]), MemoryReplies()
    answer = await author_of(model, replies).write(CREATE, key=KEY, ordinal=0, problems=[])
    assert answer == SkillArtifact.model_validate(ARTIFACT)
    assert model.tools == ["SkillArtifact"]
    assert (KEY, 0) in replies.stored


async def test_an_existing_skill_is_shown_whole_and_may_be_edited() -> None:
    model = ScriptedChatModel([calls(("SkillEdits", EDITS))])
    answer = await author_of(model, MemoryReplies()).write(UPDATE, key=KEY, ordinal=0, problems=[])
    assert answer == SkillEdits.model_validate(EDITS)
    assert model.tools == ["SkillEdits", "SkillArtifact"]
    data = read_fenced_json(model.seen[0][1].text)
    assert isinstance(data, dict)
    assert data["existing"] == {
        "SKILL.md": DOCUMENT,
        "assets/logo.png": {"binary": True, "bytes": 5},
    }


async def test_an_existing_skill_may_be_written_anew() -> None:
    author = author_of(ScriptedChatModel([calls(("SkillArtifact", ARTIFACT))]), MemoryReplies())
    assert isinstance(await author.write(UPDATE, key=KEY, ordinal=0, problems=[]), SkillArtifact)


async def test_related_skills_stand_under_their_heading() -> None:
    related = RelatedSkill(name="tax", description="세금", paths=("references/vat.md",), head="# T")
    model = ScriptedChatModel([calls(("SkillArtifact", ARTIFACT))])
    request = CREATE.model_copy(update={"related": (related,)})
    await author_of(model, MemoryReplies()).write(request, key=KEY, ordinal=0, problems=[])
    asked = model.seen[0][1].text
    assert "[관련 스킬 참고]" in asked
    assert asked.index("[관련 스킬 참고]") < asked.index("references/vat.md")


async def test_problems_come_with_the_answer_they_are_about() -> None:
    replies = MemoryReplies()
    model = ScriptedChatModel(
        [
            calls(("SkillArtifact", ARTIFACT | {"name": "Bad Name"})),
            calls(("SkillArtifact", ARTIFACT)),
        ]
    )
    author = author_of(model, replies)
    await author.write(CREATE, key=KEY, ordinal=0, problems=[])
    await author.write(CREATE, key=KEY, ordinal=1, problems=["name: must be hyphen-case"])
    data = read_fenced_json(model.seen[1][1].text)
    assert isinstance(data, dict)
    assert data["problems"] == ["name: must be hyphen-case"]
    assert data["last_answer"]["calls"][0]["args"]["name"] == "Bad Name"


@pytest.mark.parametrize(
    ("turn", "problem"),
    [
        (says("저는 할 수 없습니다"), "not in prose"),
        (calls(("SkillArtifact", {"name": "x"})), "description"),
        (calls(("SkillArtifact", ARTIFACT), ("SkillArtifact", ARTIFACT)), "exactly one"),
        (calls(("SkillEdits", EDITS)), "there is no tool 'SkillEdits'"),
    ],
)
async def test_an_answer_that_does_not_parse_lists_its_problem(turn: object, problem: str) -> None:
    author = author_of(ScriptedChatModel([turn]), MemoryReplies())  # type: ignore[list-item]
    with pytest.raises(ArtifactInvalid, match=problem):
        await author.write(CREATE, key=KEY, ordinal=0, problems=[])


async def test_a_field_too_many_of_an_edit_is_named_and_nothing_else() -> None:
    wrong = {"op": "append_item", "heading": "Steps", "text": "x", "colour": "red"}
    turn = calls(("SkillEdits", {"edits": [wrong]}))
    author = author_of(ScriptedChatModel([turn]), MemoryReplies())
    with pytest.raises(ArtifactInvalid) as caught:
        await author.write(UPDATE, key=KEY, ordinal=0, problems=[])
    assert caught.value.problems == ["edits.0.colour is no known field"]


async def test_a_stored_reply_is_used_again_without_a_model_call() -> None:
    replies = MemoryReplies()
    first = author_of(ScriptedChatModel([calls(("SkillArtifact", ARTIFACT))]), replies)
    again = author_of(ScriptedChatModel([]), replies)
    written = await first.write(CREATE, key=KEY, ordinal=0, problems=[])
    assert await again.write(CREATE, key=KEY, ordinal=0, problems=[]) == written


async def test_a_model_that_is_down_leaves_no_reply_behind() -> None:
    replies = MemoryReplies()
    with pytest.raises(ModelDown):
        await author_of(ScriptedChatModel([ModelDown("503")]), replies).write(
            CREATE, key=KEY, ordinal=0, problems=[]
        )
    assert replies.stored == {}


async def test_a_worker_that_was_taken_over_asks_the_model_nothing() -> None:
    runs, model = MemoryRuns(), ScriptedChatModel([calls(("SkillArtifact", ARTIFACT))])
    runs.stored[CANDIDATE.id] = CANDIDATE
    request = CREATE.model_copy(update={"fence": Fence(candidate_id=CANDIDATE.id, epoch=1)})
    await runs.start(CANDIDATE, 1)
    with pytest.raises(LeaseLost):
        await author_of(model, MemoryReplies(), runs).write(
            request, key=KEY, ordinal=0, problems=[]
        )
    assert model.seen == []


async def test_a_run_that_was_taken_over_has_no_skill_written() -> None:
    runs, model = MemoryRuns(), ScriptedChatModel([calls(("SkillArtifact", ARTIFACT))])
    runs.stored[CANDIDATE.id] = CANDIDATE
    taken_over = Fence(candidate_id=CANDIDATE.id, epoch=CANDIDATE.epoch)
    await runs.start(CANDIDATE, 1)
    writer = SkillWriter(author_of(model, MemoryReplies(), runs), MemorySkillStore(), SkillLimits())
    context = SubmitContext(key=KEY, tenant_id="t", agent_id="a", fence=taken_over)
    with pytest.raises(LeaseLost):
        await writer.written(SkillRequest(operation=Operation.CREATE), context, None)
    assert model.seen == []


@pytest.mark.parametrize(
    "text",
    [
        "부분 환불은 먼저 주문을 확인하고, 다음에 금액을 계산하고, 마지막으로 알립니다",
        "Partial refund: first check the order. Then compute the fee. Finally notify <sales>.",
    ],
)
async def test_what_the_offline_model_writes_and_edits_is_a_sound_skill(text: str) -> None:
    author = author_of(OfflineChatModel(), MemoryReplies())
    request = CREATE.model_copy(update={"feedback_content": text})
    artifact = await author.write(request, key=KEY, ordinal=0, problems=[])
    assert isinstance(artifact, SkillArtifact)
    bundle = assemble(artifact, name=None, base=None)
    assert "references/checklist.md" in bundle.files
    update = request.model_copy(update={"existing": bundle, "operation": Operation.UPDATE})
    edits = await author.write(update, key=f"{KEY}:2", ordinal=0, problems=[])
    assert isinstance(edits, SkillEdits)
    after = apply_edits(bundle, edits)
    assert after.document.startswith(bundle.document[:200])
    assert after.files["references/checklist.md"] == bundle.files["references/checklist.md"]
    assert after.document != bundle.document
