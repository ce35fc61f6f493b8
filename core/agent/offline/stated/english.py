"""English sentences as parts of a rule: a condition before its outcome, or after it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.agent.offline.stated import english_words as w
from core.agent.offline.stated.beside import ENGLISH_TOLD_FIRST, ENGLISH_TOLD_LAST
from core.agent.offline.stated.english_conditions import (
    FEW,
    VERB,
    compared,
    conditions_of,
    value_of,
)
from core.agent.offline.stated.found import Found
from core.agent.offline.stated.statement import BEYOND, ELSE, Condition, NotARule, Part

_PREPOSED = re.compile(
    r"^(?:if|when|whenever|once|for|any|all|every|each|on|in|with|where|should)\b", re.I
)

_TOO_MANY = 6  # words of a subject


@dataclass(frozen=True)
class _Clause:
    start: int
    end: int
    text: str
    found: tuple[Found, ...]
    joint: str = ""

    @property
    def lead(self) -> str:
        """What stands before its first condition."""
        return self.text[self.start : self.found[0].start].strip(" ,;:")

    @property
    def tail(self) -> str:
        """What stands after its last condition."""
        return self.text[self.found[-1].end : self.end].strip(" ,;:.")

    @property
    def words(self) -> str:
        """Its words."""
        return self.text[self.start : self.end].strip(" ,;:.")


def parts_of(sentence: str, before: Sequence[Part]) -> tuple[list[Part], str]:
    """Return the parts that a sentence states, and what it says it is about."""
    text = sentence.strip(" .!~;")
    for pattern in (w.LEADS, ENGLISH_TOLD_FIRST, w.LEADS):
        if found := pattern.match(text):
            text = text[found.end() :]
    text = ENGLISH_TOLD_LAST.sub("", text)
    if exception := w.UNLESS.fullmatch(text):
        return _excepted(exception, sentence, before), ""
    if even := w.EVEN.fullmatch(text):
        return _overriding(even, sentence), ""
    if (
        w.VAGUE.search(text)
        or w.EXCEPT.search(text)
        or re.search(r"[()?]", text)
        or w.PLACED.search(text)
    ):
        raise NotARule("a judgement or an exception")
    about = ""
    if topic := w.TOPIC.match(text):
        about, text = topic["topic"], text[topic.end() :]
    if (label := w.LABEL.match(text)) and not list(compared(text[: label.end()])):
        about, text = label["about"], text[label.end() :]
    if (
        not before
        and not VERB.search(text)
        and not re.search(r"\d", text)
        and len(text.split()) <= _TOO_MANY
    ):
        return [], text
    limits = [one.one for one in compared(text) if one.one.is_ordered]
    if (
        limits
        and not any(one.unit or one.kind != "number" for one in limits)
        and w.HOUR.search(text)
    ):
        raise NotARule("a number that may be an hour")
    asks = bool(re.match(r"(?:who|what|which|how|where)\b", about, re.I))
    parts = _spread(text, sentence) or _Sentence(text, sentence, asks=asks).parts()
    return [replace(part, topic=about if topic else "") for part in parts], about


def _overriding(found: re.Match[str], sentence: str) -> list[Part]:
    """Return the part of `Even if the bill is over $1000, gold members pay nothing`."""
    conditions = [*compared(found["when"])]
    if len(conditions) != 1 or w.VAGUE.search(sentence) or w.EXCEPT.search(found["then"]):
        raise NotARule("an exception of several conditions")
    (part,) = _Sentence(found["then"], sentence).parts()
    if len(part.when) != 1 or part.when[0].kind != "string":
        raise NotARule("an exception for nobody told")
    group = replace(
        part.when[0],
        test=re.sub(r" (?:members|accounts|orders|customers)\"", '"', part.when[0].test),
    )
    one = named_by(conditions[0], found["when"][: conditions[0].start])
    return [replace(part, when=(one, group), overrides=True)]


def _spread(text: str, sentence: str) -> list[Part]:
    """Return the parts of `The cap is $250 in London and $150 in all other cities`."""
    found = [*w.SPREAD.finditer(text)]
    if (
        len(found) < 2
        or found[-1].end() < len(text)
        or [*compared(text)]
        or re.search(r"\d", text[: found[0].start()])
        or w.GROUPED.search(text[: found[0].start()])
    ):
        return []
    parts = []
    for one, after in pairwise([*found, None]):
        if one is None or (
            after and text[one.end() : after.start()].strip(" ,") not in {"", "and"}
        ):
            raise NotARule("a clause that states no rule")
        value = one["value"].strip(" ,")
        rest = w.ELSE.fullmatch(f"in {value}") or w.ELSE.fullmatch(value)
        when = Condition("", "-", ELSE) if rest else value_of("", value)
        parts.append(Part((when,), outcome_of(one["then"]), sentence))
    return parts


def verb_in(words: str) -> re.Match[str] | None:
    """Return the verb after the first word, past nouns that may be verbs: `lab reports get`."""
    for verb in VERB.finditer(words, len(words.partition(" ")[0])):
        after = words[verb.end() :].strip()
        is_noun = verb[0].endswith("s") and (VERB.match(after) or after[:1].isdigit())
        if verb[0].lower() in w.SURE or not is_noun:
            return verb
    return None


def _excepted(found: re.Match[str], sentence: str, before: Sequence[Part]) -> list[Part]:
    """Return the parts of what holds in general, and of the exception with its own outcome."""
    if before or w.VAGUE.search(sentence):
        raise NotARule("an exception to several cases")
    parts = _Sentence(found["base"], sentence).parts()
    value = w.FILLER.sub("", found["value"])
    if len(parts) != 1 or re.search(r"\d|,|\b(?:or|and|if)\b", value):
        raise NotARule("an exception to several cases, or of several conditions")
    one = value_of("exception", value)
    general = replace(parts[0], when=(*parts[0].when, one.negated))
    return [general, replace(parts[0], when=(*parts[0].when, one), then=outcome_of(found["then"]))]


class _Sentence:
    def __init__(self, text: str, sentence: str, *, asks: bool = False) -> None:
        self._text = text
        self._sentence = sentence
        self._asks = asks

    def parts(self) -> list[Part]:
        """Return the parts of the sentence."""
        parts: list[Part] = []
        for clause in _clauses(self._text, asks=self._asks):
            if parts and len(clause.found) == 1 and not clause.lead and not clause.tail:
                parts[-1] = replace(parts[-1], when=(*parts[-1].when, clause.found[0].one))
            elif clause.found:
                parts += self._conditional(clause)
            elif named := self._category(clause.words, bool(parts)):
                part = self._part((_valued(named[0]),), named[1], clause)
                parts.append(replace(part, trumps=w.TRUMPS.search(named[1]) is not None))
            elif parts and not re.search(r"\d", clause.words) and not VERB.search(clause.words):
                more = outcome_of(f"{parts[-1].then}, {clause.words}")
                same = parts[-1].then
                parts = [replace(part, then=more) if part.then == same else part for part in parts]
            else:
                raise NotARule("a clause that states no rule")
        return parts

    def _part(
        self, when: Sequence[Condition], then: str, clause: _Clause, *, weak: bool = False
    ) -> Part:
        joins = "but" if re.search(r"\bbut\b", clause.joint) else ""
        return Part(tuple(when), outcome_of(then), self._sentence, joins=joins, is_weak=weak)

    def _conditional(self, clause: _Clause) -> list[Part]:
        if w.TRUMPS.search(clause.words):
            raise NotARule("a limit whatever else holds")
        lead, tail = clause.lead, clause.tail
        weak = False
        if tail:
            subject, then = lead, tail
            if (not _PREPOSED.match(lead) and _states(lead)) or w.ASTRAY.match(tail):
                raise NotARule("an outcome on both sides")
        else:
            subject, then, weak = split(lead)
            is_left = clause.found[0].one.kind == ELSE
            if weak and not self._asks and not is_left and not (_states(then) or VERB.match(then)):
                raise NotARule("a noun and a number")
        when = [named_by(clause.found[0], subject)]
        for one, other in pairwise(clause.found):
            gap = self._text[one.end : other.start]
            if {verb.lower() for verb in VERB.findall(gap)} - w.COPULAS:
                raise NotARule("an outcome between conditions")
            when.append(named_by(other, gap))
        if when[0].kind == ELSE and w.NOBODY.match(self._text, clause.found[0].start):
            then = f"no {then}"
        either = [bool(re.match(r",? or\b", gap)) for gap in _gaps(clause)]
        if any(either) and not all(either):
            raise NotARule("conditions of which nobody can tell how they go together")
        if any(either):
            return [self._part((one,), then, clause) for one in when]
        return [self._part(when, then, clause, weak=weak)]

    def _category(self, words: str, follows: bool) -> tuple[str, str] | None:
        """Return the value and the outcome of a clause that names some of several."""
        plain = re.sub(r"^(?:for|the|any|all|an?)\s+", "", words, flags=re.I)
        plain = re.sub(r"^(?:the|any|all)\s+", "", plain, flags=re.I)
        if re.match(r"(?:not|no|please|nor)\b", words, re.I):
            return None
        verb = verb_in(plain)
        if verb and len(plain[: verb.start()].split()) <= 4:
            value = plain[: verb.start()].strip()
            last = value.rpartition(" ")[2].lower()
            if (
                " " in value
                and last.endswith("s")
                and VERB.fullmatch(last)
                and verb[0].lower() not in w.SURE
            ):
                raise NotARule("two verbs, or a noun like one")
            if re.match(rf"only (?:{VERB.pattern})", words, re.I):
                return None
            if w.INSIDE.search(value) or w.PLACES.search(value):
                raise NotARule("a condition in what is named")
            if not re.search(
                r"\d|^(?:it|you|we|they|he|she|this|that|there|i|so|then|but|or|nor|also|just|please)$"
                r"|^(?:that|this|these|those) "
                r"|\b(?:to|of)$",
                value,
                re.I,
            ):
                return value, plain[verb.start() :]
        gapped = w.GAPPED_VALUE.match(plain)
        if gapped and re.match(r"(?:that|this|these|those|it) ", gapped["value"], re.I):
            return None
        if gapped and re.match(r"an? .* in ", words, re.I):
            return None
        if gapped and follows and not w.PLACES.search(gapped["value"]):
            return gapped["value"].strip(), gapped["then"]
        return None


def split(lead: str) -> tuple[str, str, bool]:
    """Return what a condition is of, the outcome before it, and whether nothing parts them."""
    for cut in reversed([*w.SPLIT.finditer(f"{lead} ")]):
        subject = lead[cut.end() :]
        if cut.start() and len(subject.split()) <= FEW and not _states(subject):
            return subject, lead[: cut.start()], False
    if not lead.strip():
        raise NotARule("a condition without an outcome")
    return "", lead, True


def _gaps(clause: _Clause) -> list[str]:
    return [clause.text[one.end : other.start] for one, other in pairwise(clause.found)]


def _states(words: str) -> bool:
    """Whether words before a condition hold an outcome."""
    if re.match(r"(?:so |then )?(?:if|when|whenever|once|should)\b", words, re.I):
        return w.GIVEN.search(words) is not None
    _, _, rest = re.sub(r"^(?:an?|the|any|our) ", "", words, flags=re.I).partition(" ")
    if w.GIVEN.search(words) or (not _PREPOSED.match(words) and w.COPULA.search(rest)):
        return True
    return bool(
        VERB.search(" ".join(word for word in rest.split() if word.lower() not in w.GENERIC))
    )


def _valued(value: str) -> Condition:
    if outside := re.fullmatch(r"(?P<what>[\w ]+?) not (?:from|in|on) (?P<where>[\w ]+)", value):
        return value_of(outside["what"], outside["where"], no=True)
    return value_of("", value)


def named_by(found: Found, lead: str) -> Condition:
    """Return a condition with the column that the words before and after it name."""
    one = found.one
    plain = [word for word in re.findall(r"[\w'-]+", lead) if word.lower() not in w.GENERIC]
    said = " ".join([*plain, *(word for word in found.head.split() if word not in w.GENERIC)])
    if one.kind in {ELSE, BEYOND}:
        if plain:
            raise NotARule("words before what is left")
        return one
    if len(said.split()) > _TOO_MANY or re.search(r"\d", said):
        raise NotARule("a story before a condition")
    if one.is_ordered and w.NARROWING.search(said):
        raise NotARule("what it is of is a condition too")
    if not one.is_ordered:
        return replace(one, column="?" if one.column == "?" else f"{said} {one.column}".strip())
    return replace(one, column=said)


def _clauses(text: str, *, asks: bool) -> list[_Clause]:
    """Return the clauses of a sentence; one that ends in a condition goes on in the next."""
    found = _told(text, sorted(conditions_of(text), key=lambda one: one.start))
    clauses: list[_Clause] = []
    start, joint = 0, ""
    breaks = [*w.BREAK.finditer(text)]
    for match in breaks:
        if any(one.start < match.end() and match.start() < one.end - 1 for one in found):
            continue
        clause = _clause(text, start, match.start(), found, joint)
        if not (asks and clause.found and clause.lead) and not _ends(
            clause, text[match.end() :], match[0], found, match.end()
        ):
            continue
        clauses.append(clause)
        start, joint = match.end(), match[0]
    clauses.append(_clause(text, start, len(text), found, joint))
    return [clause for clause in clauses if clause.words]


def _told(text: str, found: list[Found]) -> list[Found]:
    """Leave out limits that are outcomes: `everything else within 24` says what the others are."""
    for one, other in pairwise(found):
        if (
            one.one.kind == ELSE
            and other.one.is_ordered
            and not text[one.end : other.start].strip()
            and not text[other.end :].strip(" .,")
        ):
            return [each for each in found if not each.one.is_ordered]
    return found


def _clause(text: str, start: int, end: int, found: Sequence[Found], joint: str) -> _Clause:
    return _Clause(start, end, text, tuple(one for one in found if start <= one.start < end), joint)


def _ends(clause: _Clause, rest: str, joint: str, found: Sequence[Found], at: int) -> bool:
    """Whether a clause ends at a break, rather than go on behind it."""
    if ":" in joint:
        return False
    if clause.found:
        is_whole = bool(clause.tail) or _states(clause.lead)
    else:
        is_whole = bool(
            VERB.search(clause.words)
            or w.GIVEN.search(clause.words)
            or w.GAPPED.match(clause.words)
        )
    if not is_whole:
        return False
    following = next((one for one in found if one.start >= at), None)
    ahead = re.split(r"[,;]", rest)[0]
    if following and following.start < at + len(ahead):
        if (
            w.POSTPOSED.match(ahead)
            and not clause.found
            and not ahead[following.end - at :].strip()
        ):
            return False
        return not (
            re.search(r"\band\b", joint, re.I)
            and clause.found
            and not clause.tail
            and following.one.kind not in {ELSE, BEYOND}
            and not _states(f"x {ahead[: following.start - at]}")
            and not ahead[following.end - at :].strip()
        )
    if (alike := w.GAPPED.match(ahead)) and f" {alike['by']} " in clause.words:
        return True
    if re.search(r"\band\b", joint) and not VERB.search(ahead) and not w.GIVEN.search(ahead):
        return False
    first = ahead.split(" ", 1)[0]
    return not VERB.fullmatch(first) and len(ahead.split()) > 1


def outcome_of(text: str) -> str:
    """Return a text as an outcome. Raises NotARule if it has a condition of its own."""
    plain = re.sub(r"^(?:then|and|it's|is|that's)?[\s,:]+", "", f" {text.strip(' .,;:')}")
    if w.TWO_SAID.search(plain) or w.CUT_OFF.search(plain):
        raise NotARule("an outcome with another clause")
    _, *others = re.split(r", | and (?=[a-z]+ \w+ )", plain)
    if re.search(r", and (?!then\b)", plain) or any(
        w.GIVEN.search(other) and VERB.search(other) for other in others
    ):
        raise NotARule("an outcome with another clause")
    if not re.search(r"\w", plain) or w.INSIDE.search(plain) or w.PLACED.search(plain):
        raise NotARule("no outcome, or one with a condition of its own")
    return plain
