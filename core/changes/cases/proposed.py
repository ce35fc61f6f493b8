"""The cases that come with a change, and the words by which it finds those it may break (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from pydantic import JsonValue, ValidationError

from core.changes.cases.running import plain, says
from core.decision_table import read_xml, search_text
from core.decision_table.learning.cases import cases_of
from core.domain.errors import BundleInvalid, Refused, RuleInvalid
from core.domain.hashing import new_item_id, text_hash
from core.domain.messages import Message
from core.domain.models import Change, ChangeRequest, Kind, RestoreRequest, Snapshot
from core.domain.models.cases import (
    Case,
    CaseBody,
    CaseOrigin,
    CaseResult,
    CaseRole,
    CaseStatus,
    Check,
)
from core.domain.patterns import wrong_with
from core.domain.text import compact, normal_form, shorten
from core.knowledge.duplicates.contrasts import Pair, differences
from core.knowledge.duplicates.words import words_of
from core.knowledge.search.documents import skill_search_text, text_counts
from core.knowledge.search.tokens import (
    LITTLE_MARK,
    is_counted,
    is_little,
    runs,
    stem,
    suffix_start,
    term_counts,
)
from core.skills.document.frontmatter import parted, read_frontmatter
from core.skills.document.markdown import blocks, headings_in, lines_of, lists_in

MOST = 10
MOST_CHARS = 2_000
JUDGED = "judge:"  # begins an assertion that a model judges
_SHOWN = 160
EVALS = "evals/evals.json"
_MOST_EVALS = 5
# A question that shares more of its words with what it is to find proves nothing.
MOST_SHARED = 0.5
_OF_TEXT = frozenset({Check.RECALL, Check.SILENCE, Check.UNSAID, Check.BEHAVIOUR})
_OF_KIND = {
    Kind.DMN_RULE: frozenset({Check.RECALL, Check.SILENCE, Check.DECISION, Check.BEHAVIOUR}),
    Kind.SKILL: frozenset(
        {Check.CHOSEN, Check.NOT_CHOSEN, Check.STANDS, Check.WITHDRAWN, Check.SCRIPT}
        | {Check.BEHAVIOUR}
    ),
}
# Checks that ask the same of an item, and expect the opposite.
_FAMILY = {
    Check.SILENCE: Check.RECALL,
    Check.NOT_CHOSEN: Check.CHOSEN,
    Check.WITHDRAWN: Check.STANDS,
}
MOST_STEPS = 5
MOST_UNSAID = 3
MOST_ROWS = 20
_MOST_WORDS = 6  # of a derived question
_READ_CHARS = 20_000
_LEAST, _LONGEST = 6, 200  # characters of a statement
_ITEM = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_NUMBERED = re.compile(r"\s*\d{1,9}[.)]\s")
_CONDITIONS = re.compile(
    r"pre-?condition|prerequisite|requirement|before (?:you|it)|when (?:not )?to use"
    r"|전제|선행|사전|조건|준비|시작 ?전",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?:다|요|까|죠|음|함|됨|것)$")  # how a Korean sentence ends: no word to ask by
_VALUES = frozenset(("number", "name"))


def checks_of(kind: Kind) -> frozenset[Check]:
    """Return the checks that an item of a kind can have."""
    return _OF_KIND.get(kind, _OF_TEXT)


def problem_in(body: CaseBody, kind: Kind) -> Message | None:
    """Return what is wrong with a case of an item of a kind, None if it can be run."""
    if body.check not in checks_of(kind):
        fit = ", ".join(sorted(checks_of(kind)))
        return Message("case.unfit", check=body.check.value, kind=kind, fit=fit)
    if body.check is Check.DECISION:
        return None if body.inputs else Message("case.no_inputs")
    if not body.text.strip():
        return Message("case.no_text", check=body.check.value)
    if body.of and (kind is not Kind.SKILL or body.check not in {Check.STANDS, Check.WITHDRAWN}):
        return Message("case.unfit_of", check=body.check.value)
    if len(body.text) > MOST_CHARS:
        return Message("case.too_long", n=len(body.text), most=MOST_CHARS)
    return _problem_in_assertions(body) if body.check is Check.BEHAVIOUR else None


def pattern_in(asserted: str) -> str | None:
    """Return the regular expression of an assertion, None if it is a text."""
    is_pattern = len(asserted) > 2 and asserted.startswith("/") and asserted.endswith("/")
    return asserted[1:-1] if is_pattern else None


def _problem_in_assertions(body: CaseBody) -> Message | None:
    asserted = (*body.must, *body.must_not)
    if not any(map(str.strip, asserted)):
        return Message("case.no_assertion")
    for text in asserted:
        if len(text) > MOST_CHARS:
            return Message("case.too_long", n=len(text), most=MOST_CHARS)
        pattern = pattern_in(text)
        if pattern is not None and (why := wrong_with(pattern)):
            shown = shorten(pattern, _SHOWN)
            return Message("case.pattern_wrong", pattern=shown, why=why)
    return None


def refuse_unfit(request: ChangeRequest) -> None:
    """Raise Refused for a request with a case that cannot be run."""
    if not request.cases or isinstance(request, RestoreRequest):
        return
    kind = getattr(request, "target_kind", request.kind)
    if len(request.cases) > MOST:
        raise Refused(Message("case.too_many", n=len(request.cases), most=MOST))
    for number, body in enumerate(request.cases, 1):
        if why := problem_in(body, Kind(kind)):
            raise Refused(Message("case.wrong", n=number, why=why), hint=Message("case.hint_wrong"))


def asks(body: CaseBody) -> str:
    """Return a digest of what a case asks of its item: two with the same one cannot both hold,
    unless they expect the same.
    """
    family = _FAMILY.get(body.check, body.check)
    # What is read back from the database has its keys in another order.
    inputs = compact({**body.inputs}, sort_keys=True)
    asked = inputs if body.check is Check.DECISION else normal_form(body.text)
    return text_hash("\0".join((family, asked, normal_form(body.section), body.of, body.input)))[
        :16
    ]


def expects(body: CaseBody) -> str:
    """Return a digest of what a case expects."""
    outputs = compact(body.outputs, sort_keys=True)
    return text_hash("\0".join((body.check, outputs, body.output)))


def own_cases(change: Change, derived: Sequence[CaseBody]) -> tuple[Case, ...]:
    """Return the cases that come with a change: those of its request, then what code derives."""
    given = change.request.cases if change.request is not None else ()
    origin = CaseOrigin.PERSON if change.feedback_id is None else CaseOrigin.MODEL
    bodies = [*((body, origin) for body in given)]
    taken = {asks(body) for body in given}
    bodies += [(body, CaseOrigin.DERIVED) for body in derived if asks(body) not in taken]
    return tuple(
        new_case(change, f"{change.id}#{number}", *one) for number, one in enumerate(bodies, 1)
    )


def new_case(change: Change, seed: str, body: CaseBody, origin: CaseOrigin) -> Case:
    """Return a case of a change's item that has not been run; the same seed gives the same id."""
    return Case(
        id=new_item_id("case", seed),
        tenant_id=change.tenant_id,
        agent_id=change.agent_id,
        kind=change.kind,
        item_id=change.target_id,
        item_name=change.target_name,
        body=body,
        role=CaseRole.REGRESSION,
        origin=origin,
        status=CaseStatus.UNPROVED,
        change_id=change.id,
        feedback_id=change.feedback_id,
    )


def can_prove(case: Case, change: Change) -> bool:
    """Whether a case may be a proof: a question is none that mostly repeats what it is to find."""
    if case.body.check is not Check.RECALL or change.after is None:
        return True
    words = asked_words(case.body)
    said = term_counts(change.after.content)
    return sum(word in said for word in words) <= MOST_SHARED * len(words)


def cases_of_evals(after: Snapshot, blobs: Mapping[str, bytes]) -> Sequence[CaseBody]:
    """Return the cases of a skill's `evals/evals.json`, as skill-creator writes it.

    `{"evals": [{"prompt", "expected_output", "expectations": [...]}]}`: a model judges what is
    expected, but for a `/regular expression/`; `runs` and `at_least` may stand beside. What cannot
    be read or run is none.
    """
    ref = (after.files or {}).get(EVALS)
    if ref is None or ref.sha256 not in blobs:
        return ()
    try:
        given = json.loads(blobs[ref.sha256])
    except (ValueError, RecursionError):
        return ()
    listed = given.get("evals") if isinstance(given, dict) else None
    return [*islice(_cases_in(listed), _MOST_EVALS)] if isinstance(listed, list) else ()


def _cases_in(listed: Sequence[JsonValue]) -> Iterator[CaseBody]:
    for one in listed:
        if not isinstance(one, dict):
            continue
        expected = one.get("expectations") or [one.get("expected_output")]
        texts = expected if isinstance(expected, list) else [expected]
        must = [_asserted(text) for text in texts if isinstance(text, str) and text.strip()]
        asked = {key: one[key] for key in ("runs", "at_least") if key in one}
        try:
            body = CaseBody.model_validate(
                {"check": Check.BEHAVIOUR, "text": one.get("prompt"), "must": must} | asked
            )
        except ValidationError:
            continue
        if problem_in(body, Kind.SKILL) is None:
            yield body


def _asserted(text: str) -> str:
    return text if pattern_in(text) is not None else f"{JUDGED} {text}"


def derive(change: Change, blobs: Mapping[str, bytes] | None = None) -> Sequence[CaseBody]:
    """Return what a change lets code ask: those that do not hold after it prove nothing.

    A memory: a question of half its words, and values that must no longer be said. A skill: a
    request for it, steps and preconditions that it adds, statements that it drops, what its
    `evals/evals.json` asks. A table: the cases that its rows were learnt from.
    """
    if change.after is None:
        return ()
    if change.kind is Kind.DMN_RULE:
        return _rows(change.after, change.before)
    if change.kind is Kind.SKILL:
        evals = cases_of_evals(change.after, blobs or {})
        return [*_skill(change.after, change.before), *evals]
    return [*_question(Check.RECALL, change.after.content), *_superseded(change)]


def question_of(text: str) -> str:
    """Return the half of a text's words that tell most of it apart, in their order; "" of too few.

    Long words are rare ones (Zipf); a Korean word is asked for without its particle.
    """
    words = list(dict.fromkeys(_words(text[:_READ_CHARS])))
    most = min(len(words) // 2, _MOST_WORDS)
    ranked = sorted(range(len(words)), key=lambda at: (-_telling(words[at]), at))[:most]
    return " ".join(words[at] for at in sorted(ranked))


def _question(check: Check, text: str) -> Iterator[CaseBody]:
    if asked := question_of(text):
        yield CaseBody(check=check, text=asked)


def _words(text: str) -> Iterator[str]:
    for kind, piece, _ in runs(text):
        word = piece[0]
        if kind == "unspaced":
            stem = word[: suffix_start(word)]
            if len(stem) > 1 and not _ENDS.search(word):
                yield stem
        elif kind == "number" or not is_little(word):
            yield word


def _telling(word: str) -> float:
    """Return how much a word tells: a syllable of Hangul as much as two letters."""
    if word[0].isdecimal():
        return 2.0 + len(word) / 2
    return float(len(word) if word.isascii() else 2 * len(word))


def _superseded(change: Change) -> Iterator[CaseBody]:
    """Yield the values and names of the old text that the new one does not have."""
    if change.before is None or change.after is None:
        return
    old, new = change.before.content[:_READ_CHARS], change.after.content[:_READ_CHARS]
    told = [
        text
        for one in differences(Pair(words_of(new), words_of(old)))
        if one.what in _VALUES
        for text in one.known
    ]
    told = [text for text in dict.fromkeys(told) if len(text) > 1]  # one syllable is in any word
    gone = [text for text in told if says(old, text) and not says(new, text)]
    yield from (CaseBody(check=Check.UNSAID, text=text) for text in gone[:MOST_UNSAID])


def _rows(after: Snapshot, before: Snapshot | None) -> Sequence[CaseBody]:
    """Return the cases that rows were learnt from, of those that the change brings."""
    try:
        had = cases_of(before.content) if before else {}
        has = cases_of(after.content)
    except RuleInvalid:
        return ()
    known = [(row, case.inputs, case.outcome) for row, own in had.items() for case in own]
    new = (
        CaseBody(check=Check.DECISION, inputs=case.inputs, outputs=case.outcome)
        for row, own in has.items()
        for case in own
        # Without an outcome it asks the clock: what it comes to does not last.
        if case.outcome is not None and (row, case.inputs, case.outcome) not in known
    )
    return [*islice(new, MOST_ROWS)]


def _skill(after: Snapshot, before: Snapshot | None) -> Sequence[CaseBody]:
    new, old = after.content, before.content if before else ""
    described, was = _description(new), _description(old)
    found = [*_question(Check.CHOSEN, described)] if described != was else []
    had = plain(old)
    steps = (
        CaseBody(check=Check.STANDS, text=text) for text in _steps(new) if plain(text) not in had
    )
    has = plain(new)
    gone = (
        CaseBody(check=Check.WITHDRAWN, text=text) for text in _steps(old) if plain(text) not in has
    )
    return [*found, *islice(steps, MOST_STEPS), *islice(gone, MOST_STEPS)]


def _description(document: str) -> str:
    try:
        return read_frontmatter(document).description if document else ""
    except BundleInvalid:
        return ""


def _steps(document: str) -> Iterator[str]:
    """Yield the numbered steps and the preconditions of a skill, wherever they stand in it."""
    _, body = parted(document)
    try:
        found = blocks(body)
    except BundleInvalid:  # too long to be read
        return
    heads, lines = headings_in(found), lines_of(body)
    for one in lists_in(found):
        above = [head.text for head in heads if head.first < one.items[0]]
        is_wanted = bool(above) and _CONDITIONS.search(above[-1]) is not None
        for first in one.items:
            if is_wanted or _NUMBERED.match(lines[first]):
                text = " ".join(_ITEM.sub("", lines[first], count=1).split())
                if len(plain(text)) >= _LEAST:
                    yield _beginning(text)


def _beginning(text: str) -> str:
    """Return the first sentence of a step, or as many words of it as fit."""
    sentence = re.split(r"(?<=[.!?。])\s", text, maxsplit=1)[0]
    if len(sentence) <= _LONGEST:
        return sentence
    return shorten(sentence, _LONGEST).rpartition(" ")[0] or sentence[:_LONGEST]


_ASKING = {
    *(Check.RECALL, Check.SILENCE, Check.CHOSEN, Check.NOT_CHOSEN, Check.UNSAID, Check.BEHAVIOUR),
}
_MOST = 400
# Of a question of three words any item of the same subject may have all.
_FEWEST, _NEARLY = 4, 0.75
BRINGING = frozenset((Check.RECALL, Check.CHOSEN))


def asked_words(body: CaseBody) -> tuple[str, ...]:
    """Return the terms that a case asks with, or that must not be said, none of others."""
    if body.check not in _ASKING:
        return ()
    return tuple(sorted(filter(is_counted, term_counts(body.text))))


def brought_words(change: Change) -> tuple[str, ...]:
    """Return the terms that a change brings, by which it may be found before others."""
    had = said_words(change.kind, change.before)
    return tuple(word for word in said_words(change.kind, change.after) if word not in had)[:_MOST]


def name_word(change: Change) -> str | None:
    """Return the term of a skill's name as others mention it, None for other kinds."""
    if change.kind is not Kind.SKILL or change.before is None:
        return None
    return stem(change.target_id.replace("-", ""))


def said_words(kind: Kind, state: Snapshot | None) -> Mapping[str, int]:
    """Return the terms by which an item is found, and how often each is there."""
    if state is None:
        return {}
    counts = term_counts(state.name) | text_counts(_text(kind, state))
    return {word: number for word, number in counts.items() if _is_brought(word)}


def _is_brought(word: str) -> bool:
    return is_counted(word) and not word.startswith(LITTLE_MARK)


def _text(kind: Kind, state: Snapshot) -> str:
    if kind is Kind.SKILL:
        return skill_search_text(state.content)
    if kind is not Kind.DMN_RULE:
        return state.content
    try:
        return search_text(read_xml(state.content))
    except RuleInvalid:
        return state.content


def takes_over(change: Change, result: CaseResult) -> bool:
    """Whether a question that never found its item now finds that of a change, by its own words."""
    return _is_stated(change, result.case) and _says(change, result.case, _NEARLY)


def claimed(change: Change, passed: Sequence[CaseResult]) -> Sequence[CaseResult]:
    """Return the questions that bring up the item of a change first, since it says all their words.

    Only proofs: a proof has at most half of its words in common with its own item.
    """
    return [
        one.model_copy(update={"passed": False, "why": _why(one.case)})
        for one in passed
        if one.passed and one.found[:1] == (change.target_id,)
        if one.case.body.check is Check.RECALL and one.case.role is CaseRole.PROOF
        if _is_stated(change, one.case) and _says(change, one.case, 1)
    ]


def _why(case: Case) -> Message:
    return Message("case.claimed", question=shorten(" ".join(case.body.text.split()), _SHOWN))


def _is_stated(change: Change, case: Case) -> bool:
    is_own = (case.kind, case.item_id) == (change.kind, change.target_id)
    return case.body.check in BRINGING and not is_own and case.origin is not CaseOrigin.DERIVED


def _says(change: Change, case: Case, share: float) -> bool:
    """Whether a change brings its item to say that share of the words of a question."""
    if sum(not is_little(piece[0]) for _, piece, _ in runs(case.body.text)) < _FEWEST:
        return False
    asked = asked_words(case.body)
    had, has = (said_words(change.kind, state) for state in (change.before, change.after))
    said = sum(word in has for word in asked)
    return said >= share * len(asked) and said > sum(word in had for word in asked)
