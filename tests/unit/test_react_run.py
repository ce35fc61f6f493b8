"""A ReAct run from its first message to its verdict."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from core.agent.loop.tool_args import ARGUMENTS
from core.domain.errors import DependencyDown, LeaseLost, ModelDown
from core.domain.models import Hit, Kind, Operation, Receipt, ReceiptStatus, Usage, VerdictStatus
from core.domain.text import read_fenced_json
from core.testing.gate import FakeGate
from core.testing.scripted_model import calls, says
from tests.support.react import CANDIDATE, FEEDBACK, MEMORY, Bench, FixedSearch, item_change

COMMIT = calls(("commit_to_memory", MEMORY))
DONE = says("원 단위 선호를 기억했습니다.")


async def test_a_commit_and_a_closing_sentence_complete_the_run() -> None:
    bench = Bench([COMMIT, DONE])
    verdict = await bench.run()
    assert verdict.status is VerdictStatus.COMPLETED
    assert verdict.reason == "원 단위 선호를 기억했습니다."
    assert [receipt.status for receipt in verdict.receipts] == [ReceiptStatus.APPLIED]
    assert verdict.usage == Usage(model_calls=2, input_tokens=200, output_tokens=20)
    request, context = bench.gate.submitted[0]
    assert (request.kind, request.operation) == (Kind.MEMORY, Operation.CREATE)
    assert context.feedback_content == FEEDBACK.content
    assert context.fence is not None
    assert context.fence.epoch == CANDIDATE.epoch


async def test_the_model_is_bound_to_exactly_the_nine_tools() -> None:
    bench = Bench([COMMIT, DONE])
    await bench.run()
    assert bench.model.tools == list(ARGUMENTS)
    assert len(ARGUMENTS) == 10


async def test_the_first_message_is_one_block_that_feedback_cannot_leave() -> None:
    hit = Hit(id="month-end", kind=Kind.SKILL, name="month-end", excerpt="```\nend", score=0.51234)
    bench = Bench([COMMIT, DONE], search=FixedSearch([hit]))
    await bench.run()
    first = bench.model.seen[0][1]
    assert isinstance(first, HumanMessage)
    assert first.text.count("```") == 2
    data = read_fenced_json(first.text)
    assert isinstance(data, dict)
    assert data["feedback"] == {"text": FEEDBACK.content, "task": FEEDBACK.task, "author": "kim"}
    assert data["agent"]["skills"] == ["month-end"]
    assert data["related"][0] == {
        "id": "month-end",
        "kind": "SKILL",
        "name": "month-end",
        "excerpt": "```\nend",
        "score": 0.512,
        "on_agent": True,
    }


async def test_a_retried_generation_is_told_its_earlier_receipts() -> None:
    bench = Bench([COMMIT, DONE])
    bench.candidate = bench.candidate.model_copy(update={"generation": 2})
    change = item_change(Kind.MEMORY, "m1", "원 단위", "원 단위")
    bench.log.changes[change.id] = change
    await bench.run()
    data = read_fenced_json(bench.model.seen[0][1].text)
    assert isinstance(data, dict)
    assert [receipt["change_id"] for receipt in data["receipts"]] == ["made-m1"]
    assert bench.keys == ["c1:2:1:0"]


async def test_no_action_ends_the_run_without_another_model_call() -> None:
    bench = Bench([calls(("no_action", {"reason": "칭찬", "category": "noise"}))])
    verdict = await bench.run()
    assert verdict.status is VerdictStatus.NO_ACTION
    assert verdict.reason == "칭찬"
    assert verdict.receipts[0].category == "noise"
    assert verdict.usage.model_calls == 1


async def test_no_action_with_wrong_arguments_does_not_end_the_run() -> None:
    wrong = calls(("no_action", {"reason": "x", "category": "bored"}))
    bench = Bench([wrong, COMMIT, DONE])
    verdict = await bench.run()
    assert verdict.status is VerdictStatus.COMPLETED


@pytest.mark.parametrize(
    ("receipt", "status"),
    [
        (ReceiptStatus.HELD, VerdictStatus.HELD),
        (ReceiptStatus.KNOWN, VerdictStatus.COMPLETED),
        (ReceiptStatus.PREPARED, VerdictStatus.COMPLETED),
        (ReceiptStatus.ATTACHED, VerdictStatus.COMPLETED),
    ],
)
async def test_each_outcome_has_its_verdict(receipt: ReceiptStatus, status: VerdictStatus) -> None:
    gate = FakeGate([Receipt(status=receipt, message="m")])
    assert (await Bench([COMMIT, DONE], gate=gate).run()).status is status


@pytest.mark.parametrize("order", [1, -1])
async def test_a_run_of_which_anything_waits_is_held(order: int) -> None:
    statuses = (ReceiptStatus.HELD, ReceiptStatus.APPLIED, ReceiptStatus.KNOWN)[::order]
    gate = FakeGate([Receipt(status=status, message="m") for status in statuses])
    verdict = await Bench([COMMIT, COMMIT, COMMIT, DONE], gate=gate).run()
    assert [receipt.status for receipt in verdict.receipts] == [*statuses]
    assert verdict.status is VerdictStatus.HELD


async def test_a_run_that_learnt_before_it_called_off_has_learnt() -> None:
    off = calls(("no_action", {"reason": "그 밖에는 없다", "category": "noise"}))
    verdict = await Bench([COMMIT, off]).run()
    assert verdict.status is VerdictStatus.COMPLETED


async def test_a_refused_receipt_is_no_outcome_and_the_model_may_ask_again() -> None:
    refused = Receipt(status=ReceiptStatus.REFUSED, message="exists", target_id="m9")
    again = calls(("commit_to_memory", MEMORY | {"operation": "UPDATE", "memory_id": "m9"}))
    bench = Bench([COMMIT, again, DONE], gate=FakeGate([refused]))
    verdict = await bench.run()
    answer = bench.model.seen[1][-1]
    assert isinstance(answer, ToolMessage)
    assert answer.status == "error"
    assert json.loads(answer.text)["target_id"] == "m9"
    assert verdict.status is VerdictStatus.COMPLETED
    assert bench.keys == ["c1:1:1:0", "c1:1:2:0"]


async def test_a_finished_thread_gives_its_verdict_again_without_a_model_call() -> None:
    bench = Bench([COMMIT, DONE])
    first = await bench.run()
    assert await bench.run() == first
    assert len(bench.model.seen) == 2


async def test_a_run_cut_off_after_the_effect_goes_on_under_the_same_key() -> None:
    gate = FakeGate([DependencyDown("killed before it was noted")])
    bench = Bench([COMMIT, DONE], gate=gate)
    with pytest.raises(DependencyDown):
        await bench.run()
    verdict = await bench.run()
    assert verdict.status is VerdictStatus.COMPLETED
    assert len(bench.gate.submitted) == 1
    assert len(bench.model.seen) == 2
    assert [e.data["resumed"] for e in bench.journal.events if e.name == "run.started"] == [
        False,
        True,
    ]


async def test_a_model_that_was_down_is_asked_again_and_nothing_is_paid_twice() -> None:
    bench = Bench([COMMIT, ModelDown("503"), DONE])
    with pytest.raises(ModelDown):
        await bench.run()
    verdict = await bench.run()
    assert verdict.usage.model_calls == 2
    assert len(bench.gate.submitted) == 1


async def test_a_lost_lease_stops_before_the_model_is_called() -> None:
    bench = Bench([COMMIT, DONE])
    await bench.runs.start(bench.candidate, 1)
    with pytest.raises(LeaseLost):
        await bench.run()
    assert bench.model.seen == []


async def test_the_author_s_calls_count_as_the_run_s() -> None:
    skill = {"operation": "CREATE", "reason": "asked for"}
    bench = Bench([calls(("commit_to_skill", skill)), DONE])
    spent = Usage(model_calls=2, input_tokens=7, output_tokens=3)
    await bench.replies.put("c1:1:1:0:author:x", 0, {}, spent, tenant_id="t")
    await bench.replies.put("c1:10:1:0:author:x", 0, {}, spent, tenant_id="t")
    assert (await bench.run()).usage == Usage(model_calls=4, input_tokens=207, output_tokens=23)


async def test_events_tell_what_happened() -> None:
    bench = Bench([COMMIT, DONE])
    await bench.run()
    assert [event.name for event in bench.journal.events] == [
        "run.started",
        "model.called",
        "tool.called",
        "model.called",
        "run.finished",
    ]
    assert bench.journal.events[2].data == {
        "tool": "commit_to_memory",
        "key": "c1:1:1:0",
        "status": "success",
    }
    assert bench.journal.events[-1].data["model_calls"] == 2
    assert all(event.candidate_id == "c1" for event in bench.journal.events)


async def test_calls_of_one_turn_take_effect_in_their_order() -> None:
    many = calls(*[("commit_to_memory", MEMORY | {"content": f"m{i}"}) for i in range(8)])
    bench = Bench([many, DONE])
    await bench.run()
    assert bench.keys == [f"c1:1:1:{i}" for i in range(8)]
    assert [request.content for request, _ in bench.gate.submitted] == [f"m{i}" for i in range(8)]


async def test_a_call_that_failed_within_a_turn_repeats_only_what_is_left() -> None:
    many = calls(*[("commit_to_memory", MEMORY | {"content": f"m{i}"}) for i in range(3)])
    gate = FakeGate()
    bench = Bench([many, DONE], gate=gate)
    gate.fail_next(DependencyDown("gone"), after=1)
    with pytest.raises(DependencyDown):
        await bench.run()
    verdict = await bench.run()
    assert [request.content for request, _ in gate.submitted] == ["m0", "m1", "m2"]
    assert [receipt.change_id for receipt in verdict.receipts] == [
        "change-1",
        "change-2",
        "change-3",
    ]


async def test_content_in_several_parts_is_all_read() -> None:
    parts = AIMessage([{"type": "text", "text": "첫째. "}, {"type": "text", "text": "둘째."}])
    assert (await Bench([COMMIT, parts]).run()).reason == "첫째. 둘째."


async def test_a_run_killed_between_a_step_s_writes_and_its_checkpoint_goes_on() -> None:
    for last_checkpoints in (1, 2, 3):
        bench = Bench([calls(("commit_to_memory", MEMORY)), says("done"), says("done again")])
        await bench.run()
        kept = bench.saver.storage[CANDIDATE.thread][""]
        for checkpoint_id in sorted(kept)[-last_checkpoints:]:
            del kept[checkpoint_id]
        verdict = await bench.run()
        assert verdict.status is VerdictStatus.COMPLETED, last_checkpoints
        assert len(bench.gate.submitted) == 1


async def test_a_retried_generation_first_finishes_what_the_old_one_left_open() -> None:
    bench = Bench(
        [calls(("no_action", {"reason": "known", "category": "duplicate"}))],
        candidate=CANDIDATE.model_copy(update={"generation": 2}),
    )
    await bench.run()
    assert [fence.candidate_id for fence in bench.gate.resumed] == [CANDIDATE.id]
