"""English rules read piece by piece: each a condition, an outcome, or both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.agent.offline.stated import english_piece_words as w
from core.agent.offline.stated import english_words as w_
from core.agent.offline.stated.english import named_by, split, verb_in
from core.agent.offline.stated.english import outcome_of as clean
from core.agent.offline.stated.english_conditions import VERB, compared, value_of
from core.agent.offline.stated.found import Found
from core.agent.offline.stated.pieces import Piece, Reading, tried
from core.agent.offline.stated.statement import BEYOND, ELSE, Condition, NotARule

_THING = re.compile(r"(?:the|an?) [\w -]+", re.I)
_NOUNS = 5  # words that name what a number is of, or some of several


def cut(sentence: str) -> list[Piece]:
    """Return the pieces between the joints of a sentence; numbers compared stay whole."""
    text = sentence.rstrip(" .!?~;:")
    begin = lead.end() if (lead := w.LEAD.match(text)) else 0
    whole = [(one.start, one.end) for one in compared(text)]
    pieces, joint = [], ""
    for match in w.CUT.finditer(text, begin):
        if any(start < match.end() and match.start() < end - 1 for start, end in whole):
            continue
        if match.start() > begin:
            pieces.append(Piece(begin, match.start(), joint))
        begin, joint = match.end(), match[0]
    return [*pieces, Piece(begin, len(text), joint)] if begin < len(text) else pieces


def read(text: str) -> list[Reading]:
    """Return what a stretch of text may state."""
    plain = w.LEAD.sub("", w.SINCE.sub("", text)).strip(" .,;:!?")
    plain = re.sub(r"\bunder-(\d+)s?\b", r"those under \1", plain)
    if not re.search(r"\w", plain):
        return []
    for reader in (_unless, _exception, _rest, _subordinate):
        if found := tried(reader, plain):
            return found
    return [one for reader in _READERS for one in tried(reader, plain)]


def _unless(text: str) -> Iterator[Reading]:
    """Yield an outcome that holds unless something does: `approve it unless it's over $500`."""
    found = w.UNLESS.fullmatch(text)
    if found is None:
        return
    (when,) = _conditions(found["when"])
    is_of_some = not when[0].is_ordered and tried(_some, found["then"])
    if len(when) == 1 and not is_of_some:
        yield Reading(((when[0].negated,),), _outcome(found["then"]), shape="unless")


def _exception(text: str) -> Iterator[Reading]:
    """Yield the condition of an exception to what stands before it."""
    found = w.EXCEPT.match(text)
    if found is None:
        return
    told = text[found.end() :].strip(" ,")
    if not [*compared(told)] and not w.IS.fullmatch(told) and not w.THERE.fullmatch(told):
        one = value_of("exception", _plain(told)) if _is_value(told) else None
        if one is None:
            raise NotARule("an exception that is not read")
        yield Reading(((one,),), shape="except")
        return
    (when,) = _conditions(told)
    if len(when) != 1:
        raise NotARule("an exception of several conditions")
    named = replace(when[0], column=when[0].column or ("" if when[0].is_ordered else "exception"))
    yield Reading(((named,),), shape="except")


def _rest(text: str) -> Iterator[Reading]:
    """Yield what holds for all that is left."""
    one = ((Condition("", "-", ELSE),),)
    if not (found := w.REST.search(text)):
        return
    before, after = text[: found.start()].strip(" ,:"), text[found.end() :].strip(" ,:")
    if found[0].lower() == "otherwise" and before and after:
        before, after = "", f"{before} {after}"
    if before and after:
        return
    then = before or after
    if found["none"]:
        then = f"no {then}"
    if then and (w.SUB.search(then) or (list(compared(then)) and not w.STATES.search(then))):
        return
    yield Reading(one, _outcome(then) if then else "", shape="rest")


def _outcome(text: str) -> str:
    """Return a text as an outcome that has no clause beside it."""
    plain = re.sub(r",? (?:either|too|as well|instead|then)$", "", text.strip(" .,;:"))
    if w.STRAY.search(plain) or len(plain.split()) > 14:
        raise NotARule("an outcome with another clause")
    if re.search(r"\d.* and .*\d", plain):
        raise NotARule("an outcome with another clause")
    if (
        w.CALENDAR.search(plain)
        or w.PLACE.search(plain)
        or (re.match(r"[$€£₩\d]", plain) and w.FOR_SOME.search(plain))
    ):
        raise NotARule("an outcome that may hold for some alone")
    return clean(plain)


def _subordinate(text: str) -> Iterator[Reading]:
    """Yield a condition that `if` or the like begins, and an outcome before or behind it."""
    found = w.SUB.search(text)
    if found is None:
        return
    before, after = text[: found.start()].strip(" ,"), text[found.end() :].strip(" ,")
    if w.SUB.search(after):
        return
    if before:
        yield Reading(_conditions(after), _outcome(before))
        return
    atoms = [*compared(after)]
    tail = after[atoms[-1].end :].strip(" ,") if atoms else ""
    if tail and (VERB.search(tail) or w.STATES.search(tail)) and not w.SPAN.match(f" {tail}"):
        yield Reading(_conditions(after[: atoms[-1].end]), _outcome(tail))
        return
    yield Reading(_conditions(after))


def _conditions(text: str) -> tuple[tuple[Condition, ...], ...]:
    """Return the alternatives that a clause of conditions states, each a conjunction."""
    atoms = [*compared(text)]
    either = w.IS.fullmatch(text)
    if either and " or " in either["value"] and not VERB.search(either["value"]) and not atoms:
        value = re.sub(r"\b(?:an?|the) ", "", either["value"])
        column = "" if w.PRONOUN.fullmatch(either["what"]) else _plain(either["what"])
        return ((value_of(column, value, no=bool(either["no"])),),)
    begin, joints, told = 0, set(), []
    for match in re.finditer(r",? (?P<how>and|or) ", text):
        if any(one.start < match.end() and match.start() < one.end - 1 for one in atoms):
            continue
        told.append(text[begin : match.start()])
        joints.add(match["how"].lower())
        begin = match.end()
    told.append(text[begin:])
    if len(joints) > 1:
        raise NotARule("conditions of which nobody can tell how they go together")
    literals = [_literal(one.strip(" ,")) for one in told]
    return tuple((one,) for one in literals) if joints == {"or"} else (tuple(literals),)


def _literal(text: str) -> Condition:
    """Return one condition of several."""
    atoms = [*compared(text)]
    if len(atoms) == 1:
        one = atoms[0]
        tail = text[one.end :].strip()
        if tail and (VERB.search(tail) or len(tail.split()) > 3):
            raise NotARule("words behind a number")
        return _number(one, f"{text[: one.start]} {tail}")
    if atoms or re.search(r"\d", text):
        raise NotARule("numbers in one condition")
    if found := w.THERE.fullmatch(text):
        return Condition(found["what"], '"no"' if found["no"] else '"yes"', "string")
    if (found := w.IS.fullmatch(text)) and len(found["what"].split()) <= _NOUNS:
        if w.NO_VALUE.search(found["value"]):
            raise NotARule("a condition that is not read")
        column = "" if w.PRONOUN.fullmatch(found["what"]) else _plain(found["what"])
        return value_of(column, found["value"], no=bool(found["no"]))
    if found := w.HAS.fullmatch(text):
        no = found["no"] or found["out"]
        return Condition(found["what"], '"no"' if no else '"yes"', "string")
    if not 2 <= len(text.split()) <= 8 or w.LED.match(text) or not w.FACT.search(text):
        raise NotARule("a condition that is not read")
    fact = re.sub(rf"^{w.PRONOUN.pattern} ", "", w.NOT.sub("", text).strip(), flags=re.I)
    if len(fact.split()) < 2:
        raise NotARule("a condition that is not read")
    return Condition(" ".join(fact.split()), '"no"' if w.NOT.search(text) else '"yes"', "string")


def _plain(text: str) -> str:
    return re.sub(r"^(?:an?|the|their|your|our|its) ", "", text.strip(), flags=re.I)


def _lean(then: str) -> int:
    """Return what it costs that an outcome may be a condition."""
    return 3 if [*compared(then)] else 0


def _number(one: Found, lead: str) -> Condition:
    """Return a compared number with the name of what it is of."""
    if w.NOT.search(lead) or re.search(
        r"\b(?:on|in|for|at|with) .*\b(?:it's|it is|they're)$", lead.strip(), re.I
    ):
        raise NotARule("a number that is not so compared")
    plain = " ".join(one for one in lead.split() if not w.SPAN.fullmatch(f" {one}"))
    head = " ".join(each for each in one.head.split() if not w.SPAN.fullmatch(f" {each}"))
    return named_by(replace(one, head=head), plain.replace("'s ", " ").replace("'re ", " "))


def _measured(text: str) -> Iterator[Reading]:
    """Yield a number that is compared, with the outcome before or behind it."""
    atoms = [*compared(text)]
    if not atoms or len(atoms) > 2:
        return
    first, last = atoms[0], atoms[-1]
    gap = text[first.end : last.start].strip(" ,").lower() if first is not last else ""
    if gap not in {"and", "but", "but not", "", "or"}:
        return
    lead, tail = text[: first.start].strip(" ,:"), text[last.end :].strip(" ,:")
    if span := w.SPAN.match(f" {tail}"):
        tail = tail[max(0, span.end() - 1) :].strip()
    ends = [_number(one, "") for one in atoms[1:]]
    if gap == "or":
        if not tail and _names(lead):
            name = _number(first, lead)
            others = [replace(one, column=one.column or name.column) for one in ends]
            yield Reading(((name,), *((one,) for one in others)))
    elif tail:
        yield from _before(first, lead, tail, ends)
    else:
        yield from _behind(first, lead, text[first.start :], ends)


def _behind(first: Found, lead: str, told: str, ends: list[Condition]) -> Iterator[Reading]:
    """Yield a number behind what it is of, or behind its outcome."""
    is_name = _names(lead)
    if is_name or (len(lead.split()) <= 3 and not w.STATES.search(lead)):
        yield Reading(((_number(first, lead), *ends),), cost=0 if is_name else 2)
    if is_name and w.COLOUR.fullmatch(lead):
        yield Reading(((_number(first, ""), *ends),), lead)
        return
    if not lead or (is_name and len(lead.split()) == 1 and not VERB.match(lead)):
        return
    if re.match(r"(?:with)?in\b|inside\b", told, re.I) and not w.TAKEN_BACK.search(lead):
        return  # `reply within a day` says by when
    subject, then, _ = split(lead)
    then = re.sub(r" (?:for|on|to|of|if|at|with)$", "", then)
    cost = 0 if w.STATES.search(then) or VERB.search(then) else 2
    yield Reading(((_number(first, subject), *ends),), _outcome(then), cost)


def _before(first: Found, lead: str, tail: str, ends: list[Condition]) -> Iterator[Reading]:
    """Yield a number before its outcome, or before a noun that it is of."""
    if not _names(lead):
        return
    when = ((_number(first, lead), *ends),)
    if VERB.match(tail) or w.STATES.match(tail):
        trumps = w.TRUMPS.search(tail) is not None
        yield Reading(when, _outcome(w.TRUMPS.sub("", tail)), trumps=trumps)
    elif not VERB.search(tail) and len(tail.split()) <= 2:
        yield Reading(((_number(first, f"{lead} {tail}"), *ends),), cost=1)
        if not w.OF.match(f" {tail}"):
            yield Reading(when, _outcome(tail), 2)
    elif not w.OF.match(f" {tail}"):
        yield Reading(when, _outcome(tail), 2)


def _names(lead: str) -> bool:
    """Whether words only name what a number is of."""
    if w.NOUNS.fullmatch(lead):
        return True
    plain = len(lead.split()) <= _NOUNS and not w.STATES.search(lead) and not _states(lead)
    return plain or w.RELATIVE.fullmatch(lead) is not None


def _states(words: str) -> bool:
    """Whether words hold a verb behind a noun."""
    _, _, rest = _plain(words).partition(" ")
    return VERB.search(rest) is not None


def _is_beyond(value: str) -> Condition | None:
    """Return the condition of a value that only says on which side it lies."""
    found = w.BEYOND.fullmatch(value)
    if found is None or found["between"]:
        return None
    return Condition("", "up" if found["up"] else "down", BEYOND)


def _beyond(text: str) -> Iterator[Reading]:
    """Yield what lies beyond, or between, what was told."""
    found = w.BEYOND.match(text)
    if found is None or [*compared(text)]:
        return
    if re.match(r" ?(?:than )?[₩$€£]?\d| than", text[found.end() :]):
        return
    way = "between" if found["between"] else "up" if found["up"] else "down"
    tail = text[found.end() :].strip(" ,:")
    when = ((Condition("", way, BEYOND),),)
    if not tail:
        yield Reading(when)
    elif [*compared(tail)]:
        return
    else:
        yield Reading(when, _outcome(tail), 0 if VERB.match(tail) or w.STATES.match(tail) else 2)


def _of(text: str) -> Iterator[Reading]:
    """Yield an outcome and for whom or what it is: `$75 for blocking a hydrant`."""
    if w.SUB.search(text):
        return
    for match in reversed([*w.OF.finditer(text)]):
        then, value = text[: match.start()], text[match.end() :]
        if re.search(r"\d", value) or w.STATES.search(value) or len(value.split()) > _NOUNS + 1:
            return
        states = bool(w.STATES.search(then))
        if not states and len(then.split()) > 4:
            continue
        if not _is_value(value):
            continue
        if w_.GROUPED.search(then):
            return
        if beyond := _is_beyond(value):
            yield Reading(((beyond,),), _outcome(then), 0 if states else 3)
            return
        when = value_of("", _plain(value))
        cost = 0 if states else 1 if _THING.match(then) else 3
        yield Reading(((when,),), _outcome(then), cost, shape=match[0].strip())


def _some(text: str) -> Iterator[Reading]:
    """Yield what holds for some of several: `Pro gets 50`, `portraits $220`."""
    plain = re.sub(r"^(?:for |the |any |all |each |every |an? )+", "", text, flags=re.I)
    if held := w.HELD.match(plain):
        no = held["how"].lower() == "without" or bool(held["no"])
        one = Condition(held["what"], '"no"' if no else '"yes"', "string")
        yield Reading(((one,),), _outcome(held["then"]))
        return
    if of := w.SUBJECT.match(plain):
        plain = plain[of.end() :]
    always = w.ALWAYS.search(plain)
    plain = w.ALWAYS.sub(" ", plain)
    verb = verb_in(plain)
    if verb and verb.start():
        value, then = plain[: verb.start()].strip(), plain[verb.start() :]
        if _is_value(value):
            trumps = bool(always or w.TRUMPS.search(then))
            cut = w.TRUMPS.sub("", then).strip(" ,")
            shape = "rule" if w.RULES.match(cut) else "verb"
            yield Reading(((value_of("", value),),), _outcome(cut), _lean(cut), trumps, shape)
        return
    if (found := w.GAP.match(plain)) and _is_value(found["value"].strip()):
        cost = 1 + _lean(found["then"])
        when = value_of("", found["value"].strip())
        yield Reading(((when,),), _outcome(found["then"]), cost, shape="gap")
    if len(plain.split()) <= 4 and _is_value(plain):
        yield Reading(((value_of("", plain),),), cost=2, shape="label")


def _is_value(value: str) -> bool:
    words = value.split()
    return (
        0 < len(words) <= 4 + 2 * bool(w.WITH.search(value))
        and not w.PRONOUN.fullmatch(words[0])
        and not w.AUXILIARY.fullmatch(words[0])
        and not w.NO_VALUE.search(value)
        and not w.OF.search(w.WITH.sub(" ", f" {value} "))
        and not w.SUB.search(value)
    )


def _bare(text: str) -> Iterator[Reading]:
    """Yield an outcome alone."""
    if len(text.split()) <= 14:
        yield Reading(then=_outcome(text), cost=_lean(text), shape="bare")


_READERS = (_measured, _beyond, _of, _some, _bare)


_LINKS = {"for", "on", "in", "at", "to", "with"}
_HOW_OFTEN = {"once", "twice", "daily", "weekly", "monthly", "never", "not", "no", "yes"}


def fits(found: Sequence[tuple[Reading, str]]) -> bool:
    """Whether what holds for some of several is said of all of them in one manner."""
    values = [one for one, _ in found if _of_values(one)]
    if not values or len(values) < len([one for one, _ in found if one.shape != "rest"]):
        return True
    signs = {tuple(sorted(c.one.test[:2] for c in compared(one.then))) for one in values}
    if len(signs) > 1 or any(len(sign) > 1 for sign in signs):
        return False
    if all(w.STATES.search(one.then) for one in values) and any(
        re.search(r"\d", one.then) for one in values
    ):
        return True
    shapes = {one.shape for one in values}
    if any(one.shape == "rest" for one, _ in found) and (
        len(shapes) == 1 or shapes == {"verb", "rule"}
    ):
        return True
    if shapes == {"gap"} and len(values) > 2:
        return all(one.then.split()[0] in {*_HOW_OFTEN, "every"} for one in values)
    if shapes == {"rule", "gap"}:
        first = next(one.then for one in values if one.shape == "rule")
        gaps = [one.then.split()[0] for one in values if one.shape == "gap"]
        return all(f" {word} " in first or word in _HOW_OFTEN for word in gaps)
    if len(shapes) == 1 and shapes <= _LINKS and VERB.match(values[0].then):
        return True
    return shapes in ({"rule"}, {"label"})


def _of_values(one: Reading) -> bool:
    return all(c.kind == "string" and c.column == "" for when in one.any_of for c in when)


def limits(then: str) -> list[str]:
    """Return the units of what an outcome compares."""
    return [one.one.unit for one in compared(then)]


def topical(sentences: Sequence[str]) -> list[str]:
    """Return sentences without what the first says that all are about."""
    first, *others = sentences
    first = w.TOLD.sub("", first)
    sentences = [first, *others]
    found = re.match(r"(?P<about>[^:;.,\d]{1,60}):\s+(?P<rest>.+)$", first, re.S)
    if found is None or any(": " in one for one in others) or ": " in found["rest"]:
        return list(sentences)
    if len(cut(found["rest"])) + len(others) < 2 or [*compared(found["about"])]:
        return list(sentences)
    return [found["rest"], *others]
