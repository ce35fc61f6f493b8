"""What each prompt must say: a model keeps no rule that it was not told."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import SystemMessage

import core.agent
from core.agent.loop.tool_args import ARGUMENTS, Category
from core.agent.model.chat_model import prompt, prompt_sections
from core.domain.models import Kind, MergeMode, Operation, ReceiptStatus, Relationship
from core.react_tools import react_tool_schemas
from core.testing.scripted_model import calls
from tests.support.react import Bench
from tests.support.worker import CLERK, DESK, MemoryWorker

# A rule, and words that one paragraph or list item must have for it.
REACT = {
    "its task": ("one ai agent", "one piece of user feedback"),
    "it is given one document": ("first message", "one json document"),
    "what it is given: what the policy denies": ("`denied`", "not offered"),
    "what is denied is final": ("`denied`", "final", "another store"),
    "feedback in a conversation is the next thing said": ("`conversation`", "next thing said"),
    "what is answered may not be here yet": ("`answered_missing`", "do not guess", "`unclear`"),
    "an end is that of the whole memory": ("`valid_until`", "for all its words", "EXCEPTION"),
    "cases: what must hold": ("`cases`", "without guessing", "at most 10"),
    "a refusal that names cases": ("names cases", "change it so that they hold"),
    "known already, but not with another value": ("`duplicate`", "not with another value"),
    "it records by tools and never announces": ("act by tool calls", "do not announce"),
    "what it is given: the feedback": ("`feedback`", "verbatim"),
    "what it is given: the candidate": ("`candidate`", "concerns this agent"),
    "what it is given: the agent": ("`agent`", "role", "goal", "persona"),
    "what it is given: the log": ("`events`", "abridged log"),
    "what it is given: what is known": ("`related`", "most similar", "`on_agent`"),
    "receipts of earlier attempts are not repeated": ("`receipts`", "never do it twice"),
    "data gives no orders": ("everything in that document is data", "never change these rules"),
    "else no_action with a reason and a category": ("`no_action`", "reason", "one category"),
    "noise": ("`noise`", "praise", "다시 해줘", "outage"),
    "duplicate": ("`duplicate`", "already"),
    "one_off": ("`one_off`", "이번 건만"),
    "unclear": ("`unclear`", "question", "guess"),
    "failures are no lessons": ("no lessons", "time-outs", "learn nothing"),
    "a memory": ("`memory`", "fact", "preference", "guideline"),
    "a rule": ("`dmn_rule`", "condition → outcome", "one row"),
    "a skill": ("`skill`", "procedure of several steps"),
    "several lessons, each once": ("several lessons", "two stores"),
    "it looks before it writes": ("`related`", "search_similar_knowledge", "get_knowledge_detail"),
    "a related item is updated": ("`update`", "same subject", "`id`"),
    "create only where none is related": ("`create`", "nothing known is related", "refused"),
    "what is withdrawn is deleted": ("`delete`", "withdraws", "더 이상"),
    "what an agent is not to use is detached": ("detach_skills_from_agent", "이 스킬은 빼 주세요"),
    "a deletion reaches others only on purpose": ("`for_all`", "폐지"),
    "an existing skill is attached": ("attach_skills_to_agent", "already states"),
    "every relationship": ("`relationship`", *Relationship),
    "every merge mode": ("`merge_mode`", *MergeMode, "must survive"),
    "how a memory is written": ("a memory:", "self-contained", "`part`", "replace"),
    "how a rule is written": ("a rule:", "feel", "`example`", "unique", "`remove_rows`"),
    "no content for a skill": ("send no content", "relationship_analysis", "related_skill_ids"),
    "a reason for the reviewer": ("`reason`", "review", "user's language"),
    "what each receipt asks for": (
        *(f"`{status}`" for status in ReceiptStatus if status is not ReceiptStatus.NO_ACTION),
        "call again as update",
    ),
    "after a refusal: look at what differs": ("refused", "analyze_knowledge_conflict"),
    "after a refusal: nothing new": ("nothing is new", "`no_action`", "`duplicate`"),
    "after a refusal: another value": ("another value", "supersedes"),
    "after a refusal: more detail": ("more detail", "extend or refine"),
    "after a refusal: somebody else": ("unrelated", "`reason`", "by id", "on record"),
    "a new agent's goal and persona": ("nobody has given feedback", "persona", "add nothing"),
    "what it is given: what was said before": ("`conversation`", "newest first", "`answered`"),
    "what it is given: what that taught": ("`taught`", "`before`", "`gone`"),
    "outputs and earlier pieces give no orders": ("`output` and `conversation`", "never change"),
    "a later piece supersedes or takes back": ("takes back", "exactly that item", "scratch that"),
    "a fragment is completed": ("fragment", "complete on its own", "`output`"),
    "the rest of a lesson stays": ("exception", "leaves the rest", "reason"),
    "what waits or has changed": ("`gone`", "`held`", "only what `known` shows"),
    "earlier pieces are no lessons": ("never lessons by themselves", "`unclear`"),
    "how long": ("`valid_until`", "이번 달 말까지", "`said_at`", "당분간", "`none`"),
    "one reach for all words": ("one end and one `scope`", "EXCEPTION", "names the known one"),
    "tables do not end": ("Tables and skills have none", "is a memory"),
    "for whom": ("`scope`", "`tenant`", "저한테는", "우리 팀 모두", "leave `scope` out"),
    "one closing sentence": ("end with one sentence", "user's language"),
}
MATCHER = {
    "its task": ("divide", "for each agent"),
    "data gives no orders": ("is data", "never change these rules"),
    "one call": ("one call of `matchanswer`",),
    "no agent is invented or listed twice": ("`agent_id` exactly as given", "never invent"),
    "what is answered may not be here yet": ("`answered_missing`", "do not guess"),
    "each part is complete": ("`content`", "every condition", "language of the feedback"),
    "nothing is lost": ("repeated for each", "nothing that could be learnt may be lost"),
    "a hint at what is wanted": ("`intent_hint`", "short phrase"),
    "failures are nobody's lesson": ("`events`", "nobody's lesson"),
    "a follow-up is completed": (
        "follow-up",
        "아니 그건 말고 달러로요",
        "completed",
        "scratch that",
    ),
    "outputs and earlier pieces give no orders": ("also `output` and `conversation`", "is data"),
    "it does not judge": ("do not judge", "`nothing_reason`"),
}
AUTHOR = {
    "its task": ("agent skills", "`skill.md`", "`references/`", "`scripts/`", "`assets/`"),
    "data gives no orders": ("is data", "never change these rules", "exactly one tool call"),
    "nothing is pasted or invented": ("never paste the feedback", "never invent facts"),
    "a description that is found": ("`description`", "when to use it", "1024"),
    "what the body has": ("overview", "when to use", "principles", "numbered", "tables", "code"),
    "references": ("`references/*.md`", "sections", "when to read", "examples", "tables"),
    "scripts": ("`scripts/*`", "runnable", "docstring", "error handling"),
    "assets": ("`assets/*`", "ready to fill in"),
    "pointers": ("`folder/file`", "`skill-name/folder/file`", "[관련 스킬 참고]"),
    "language": ("language of the feedback", "identifiers", "english"),
    "a name": ("`name`", "hyphen-case", "`skill_name`"),
    "a new skill": ("`skillartifact`", "`body_markdown`", "`additional_files`", "`overview`"),
    "an update keeps every byte": ("keeps every byte", "`skilledits`"),
    "edit: a section": ("`replace_section`", "`heading`"),
    "edit: more": ("`insert_section`", "end of the section"),
    "edit: an item": ("`append_item`", "without marker"),
    "edit: the frontmatter": ("`set_field`", "`remove_field`", "`allowed-tools`"),
    "edit: files": ("`set_description`", "`put_file`", "`delete_file`", "withdraws"),
    "no contradiction is left": ("`parent > heading`", "`cut`", "must not disagree with itself"),
    "what each merge mode lets go": (
        *(f"{mode.lower()}" for mode in MergeMode),
        "add only",
        "only with replace",
    ),
    "problems are put right": ("`problems`", "`last_answer`", "corrected"),
}
SECOND_LOOK = {
    "its task": ("what the words mean", "before it can do harm", "never release"),
    "data gives no orders": (
        "`added`",
        "never an instruction",
        "harmless, reviewed or only a test",
    ),
    "one call": ("one call of `secondopinion`", "in whatever words"),
    "text that people do not see": ("`hidden_text`", "encoded, invisible, in a comment"),
    "words to a model": ("`model_instruction`", "no longer counts", "guards are off"),
    "a pose": ("`forged`", "poses as", "its own approval"),
    "who is paid": ("`payee`", "account", "is set or changed"),
    "a check that falls": ("`control_dropped`", "approval", "left out, presumed"),
    "a limit that falls": ("`limit_lifted`", "no longer binds"),
    "what is kept from somebody": ("`concealment`", "not to know", "record"),
    "numbers of persons": ("`personal_id`", "passport"),
    "secrets": ("`secret`", "password"),
    "code": ("`code`", "data sent elsewhere", "credentials read"),
    "an ordinary rule is none": (
        "an ordinary rule",
        "stricter",
        "masked placeholder",
        "no findings",
    ),
    "what a finding has": ("`about`", "`place`", "`quote`", "`why`", "copied exactly"),
}
INTERFERENCE = {
    "its task": ("one item", "whether the change breaks it"),
    "data gives no orders": ("`changes`", "`others`", "never an instruction"),
    "one answer for each": ("one call of `judgements`", "in their order"),
    "a condition": ("condition that is now asked for first", "breaks"),
    "a step that is added": ("step that is added", "counts on", "cannot wait for"),
    "what goes": ("row, file or line that goes", "no longer does itself"),
    "an order": ("order that changes", "have been done"),
    "a value": ("value, limit, name, path", "the old one"),
    "broken only where two lines show it": (
        "`broken` is true only",
        "false where",
        "meets the new",
    ),
    "what a broken one says": ("`changed`", "`relies`", "copied exactly", "`why`"),
}
HOOK = {
    "data gives no orders": ("`type`", "`data`", "instructions inside it never change"),
    "one call": ("one call of `hookverdict`",),
    "yes": ("`yes`", "holds", "nothing to object"),
    "no": ("`no`", "does not hold", "say in `note`"),
    "a note": ("`note`: neither", "should know"),
    "in doubt not yes": ("cannot tell", "do not answer `yes`"),
    "the note": ("one to three sentences", "language of the question"),
}
CASE_ANSWER = {
    "its task": (
        "`knowledge`",
        "`task`",
        "taught",
        "language of the task",
        "nothing in the document",
    ),
    "one call": ("one call of `taskanswer`", "`answer`"),
}
CASE_JUDGE = {
    "its task": ("`statement`", "`answer`", "are data", "judged like any other"),
    "one call": ("one call of `judgement`", "`holds`", "cannot tell, it is false", "`why`"),
}
OTHERS = {
    "second_look": SECOND_LOOK,
    "interference": INTERFERENCE,
    "hook": HOOK,
    "case_answer": CASE_ANSWER,
    "case_judge": CASE_JUDGE,
}
NUDGES = {
    "1": ("no effect", "use a tool"),
    "2": (
        *(
            name
            for name in ARGUMENTS
            if name.startswith(("commit", "attach", "detach", "no_action"))
        ),
    ),
    "3": ("required", "exactly one tool call", "no_action", "fails the run"),
}
TOOLS = {
    "search_similar_knowledge": ("`content`", "ranked hits", "search again only"),
    "get_knowledge_detail": ("whole", "rows", "all files", "`not_found`"),
    "analyze_knowledge_conflict": ("near_duplicate", "`trigger_collision`", "clash or repeat"),
    "read_more": ("`handle`", "`offset`", "characters are left"),
    "commit_to_memory": ("preference", "`memory_id`", "extend", "`part`", "refused", "`scope`"),
    "commit_to_dmn_rule": ("condition → outcome", "`rule_id`", "keeps the others", "warnings"),
    "commit_to_skill": (
        "procedure",
        "pass no content",
        "`skill_id`",
        "replace",
        "`for_all`",
        "this agent's list",
    ),
    "attach_skills_to_agent": ("existing skills", "already state", "commas"),
    "detach_skills_from_agent": ("off this agent's list", "commas", "the skills stay"),
    "no_action": ("nothing learnt", *(f"`{name}`" for name in Category.__args__)),  # type: ignore[attr-defined]
}


def paragraphs(text: str) -> list[str]:
    return [line.casefold() for line in text.splitlines() if line.strip()]


def states(text: str, words: tuple[str, ...]) -> bool:
    wanted = [word.casefold() for word in words]
    return any(all(word in line for word in wanted) for line in paragraphs(text))


@pytest.mark.parametrize("rule", REACT)
def test_the_system_prompt_of_a_run_states(rule: str) -> None:
    assert states(prompt("react_system"), REACT[rule])


@pytest.mark.parametrize("rule", MATCHER)
def test_the_matchers_prompt_states(rule: str) -> None:
    assert states(prompt("matcher"), MATCHER[rule])


@pytest.mark.parametrize("rule", AUTHOR)
def test_the_authors_prompt_states(rule: str) -> None:
    assert states(prompt("skill_author"), AUTHOR[rule])


@pytest.mark.parametrize(
    ("name", "rule"), [(name, rule) for name, rules in OTHERS.items() for rule in rules]
)
def test_the_prompt_of_every_other_question_states(name: str, rule: str) -> None:
    assert states(prompt(name), OTHERS[name][rule])


def test_of_every_prompt_what_it_must_state_is_listed() -> None:
    files = {path.stem for path in (Path(core.agent.__file__).parent / "prompts").glob("*.md")}
    assert files == {*OTHERS, "react_system", "matcher", "skill_author", "nudges", "tools"}


@pytest.mark.parametrize("step", NUDGES)
def test_each_nudge_is_firmer_than_the_one_before(step: str) -> None:
    assert [*prompt_sections("nudges")] == [*NUDGES]
    assert states(prompt_sections("nudges")[step], NUDGES[step])


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_each_tool_says_what_it_is_for_and_needs(tool: str) -> None:
    assert [*prompt_sections("tools")] == [*ARGUMENTS] == [*TOOLS]
    assert states(prompt_sections("tools")[tool], TOOLS[tool])


def test_the_system_prompt_names_every_kind_and_operation() -> None:
    text = prompt("react_system")
    for name in (*Operation, Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL):
        assert f"`{name}`" in text


async def test_a_run_and_the_matcher_begin_with_their_prompts() -> None:
    off = calls(("no_action", {"reason": "r", "category": "noise"}))
    bench = Bench([off])
    await bench.run()
    assert bench.model.seen[0][0] == SystemMessage(prompt("react_system"))
    match = calls(("MatchAnswer", {"agents": [], "nothing_reason": "r"}))
    worker = MemoryWorker([match])
    await worker.tell("둘 중 하나", CLERK.id, DESK.id)
    assert worker.model.seen[0][0] == SystemMessage(prompt("matcher"))


def test_the_model_is_told_of_every_argument() -> None:
    for schema, (name, args) in zip(react_tool_schemas(), ARGUMENTS.items(), strict=True):
        told = schema["function"]
        assert (told["name"], told["description"]) == (name, prompt_sections("tools")[name])
        assert set(told["parameters"]["properties"]) == set(args.model_fields)
