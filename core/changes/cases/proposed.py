"""The cases that come with a change: what its request gives, and what code derives (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from core.changes.cases.words import asked_words
from core.domain.errors import Refused
from core.domain.hashing import new_item_id, text_hash
from core.domain.messages import Message
from core.domain.models import Change, ChangeRequest, Kind, RestoreRequest
from core.domain.models.cases import Case, CaseBody, CaseOrigin, CaseRole, CaseStatus, Check
from core.domain.patterns import wrong_with
from core.domain.text import compact, normal_form, shorten
from core.knowledge.search.tokens import term_counts

MOST = 10
MOST_CHARS = 2_000
JUDGED = "judge:"  # begins an assertion that a model judges
_SHOWN = 160
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
