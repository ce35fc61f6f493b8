"""The offline model's rules of thumb: the tool call for one candidate.

The first rule that applies decides; specific cues come before general ones, since a text about
steps often has amounts and conditions too:

1. "just this once", "이번 건만": `no_action` one_off
2. no lesson but praise, small talk, "try again", a passing error, another's task: noise
3. no lesson but questions, guesses, complaints, a few letters, "뭔가 이상한데": unclear
4. "off the list", "목록에서 빼 주세요": `detach_skills_from_agent`, if such a skill is on it;
   "no longer", "더 이상", "폐지": DELETE of the first related item that has what is named; if none
   has and a deletion is asked for: unclear. Deleting files and the like is work, no DELETE
5. a skill says it already: `attach_skills_to_agent`, or `no_action` duplicate if on the list
   and it says it word by word
6. a memory or rule says it word by word: `no_action` duplicate
7. an order of steps ("먼저 … 다음", "first … then", 1. 2.): SKILL
8. a condition with an amount, unless a memory says nearly this: DMN_RULE
9. other words of procedure ("절차", "how to"), the word skill, or a skill's name: SKILL
10. if … then, unless a memory says nearly this: DMN_RULE
11. a similar memory and a word of change ("이제", "instead"): UPDATE of it
12. else a new MEMORY; see `neighbours` for one refused beside a near one

A SKILL or DMN_RULE is an UPDATE if a similar one is related, else a CREATE. An item that the text
names, by its name or id, comes before any similar one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import JsonValue

from core.agent.offline.edits import edited_table, instead_of, mode_of
from core.agent.offline.reach import goes_for_all
from core.agent.offline.reasons import STAND_IN, noted
from core.agent.offline.tables import Row, new_table, rows_of
from core.agent.offline.text import (
    Cue,
    clauses,
    english_name,
    has,
    letters,
    likeness,
    words,
)
from core.knowledge.duplicates import Known, evidence, normal_form
from core.knowledge.how_long import without_open
from core.knowledge.search.names import is_named, stands_out

_LASTING = re.compile(
    r"앞으로|다음부터|항상|언제나|반드시|절대|\balways\b|\bnever\b|\bmust\b|\bfrom now on\b", re.I
)
_SMALL_TALK = re.compile(
    r"\W*(?:(?:[ㄱ-ㅎㅏ-ㅣ]+|네+|넵|예|응|알겠(?:습니다|어요)|확인했(?:습니다|어요)|안녕하세요"
    r"|ok|okay|lol|haha+|yes|yep|sure|hi|hello|got it|noted)\W*)+",
    re.I,
)
_FAILURE = re.compile(
    r"다시 한\s?번|응답이 없|에러가? (?:나|났|뜨|떴)|오류가? (?:나|났|뜨|떴)"
    r"|(?:죽|다운)(?:었|됐)|끊겼|재시도"
    r"|\b(?:it|that|this) (?:failed|crashed)\b|\b50[0-4] ?(?:errors?\b|에러|오류|응답)"
    r"|\b(?:error|status|http|code|returned(?: an?)?) 50[0-4]\b|\bconnection was\b|\bonce more\b"
    r"|\b(?:redo|re-?run)\b|\b(?:run|do) (?:it|that|this) again\b",
    re.I,
)
_NOT_ONLY = re.compile(
    r"이번[^.!?,]{0,8}만\s?(?:(?:그런|이런)\s?(?:게|것이|건|것은)|이|의\s?(?:일|이야기|얘기)가)?\s*"
    r"아니[라고]|\bnot (?:just|only)(?: for)? (?:this|today)[\w ]{0,10}",
    re.I,
)
_WHENEVER = re.compile(
    r"[가-힣](?:면|때(?:는|마다|에는)?|경우(?:에는|에)?|마다)[ ,]|\bif\b|\bwhen", re.I
)
_GUESS = re.compile(
    r"것 같은데|아닐까|[을ㄹ]지도|지도 모르|아마|혹시|\bmaybe\b|\bperhaps\b|\bi guess\b"
    r"|\bnot sure\b|\bmight be\b|\bpossibly\b",
    re.I,
)
_ELSEWHERE = re.compile(
    r"(?:이건|이 건은|그건).*(?:전달|넘겨|담당)|다고 전해|라고 전해|그쪽에서"
    r"|\b(?:forward|pass) (?:this|it|that)\b|\b(?:this|that|it) is for the\b|\btell \w+ to\b",
    re.I,
)
_COMPLAINT = re.compile(
    r"마음에 안|별로|실망|아닌 것 같|느려|느리|답답|\bnot what i\b|\b(?:was|is) (?:bad|wrong)\b"
    r"|\bdisappoint|\btoo slow\b|\bterrible\b",
    re.I,
)


def nothing_in(text: str) -> tuple[str, str] | None:
    """Return category and reason if there is nothing to learn, else None."""
    parts = clauses(text)
    if has(_NOT_ONLY.sub("", text), Cue.ONE_OFF):
        return "one_off", "once"
    if any(map(_is_lesson, parts)):
        return None
    if not parts:
        return ("unclear", "unclear") if text.isascii() else ("noise", "praise")
    if all(has(part, Cue.PRAISE) or _SMALL_TALK.fullmatch(part) for part in parts):
        return "noise", "praise"
    if any(has(part, Cue.RETRY) or _FAILURE.search(part) for part in parts):
        return "noise", "retry"
    if any(map(_ELSEWHERE.search, parts)):
        return "noise", "elsewhere"
    is_vague = len(letters(text)) < 6 or has(text, Cue.VAGUE)
    return ("unclear", "unclear") if is_vague or all(map(_says_nothing, parts)) else None


def lesson_of(text: str) -> str:
    """Return the text without praise, failures and complaints beside a lesson."""
    parts = clauses(text)
    lessons = [part for part in parts if _is_lesson(part) or not _is_noise(part) or _COUNTS(part)]
    if has(text, Cue.SEQUENCE) or not lessons or len(lessons) == len(parts):
        return text
    return " ".join(lessons)


_COUNTS = re.compile(r"\d").search  # what has a number may be part of a rule


def _is_lesson(part: str) -> bool:
    if _LASTING.search(part) or rows_of(part):
        return True
    fails = has(part, Cue.RETRY) or _FAILURE.search(part)
    passing = (fails and not _WHENEVER.search(part)) or _GUESS.search(part)
    return has(part, Cue.LESSON) and not passing and not _ELSEWHERE.search(part)


def _is_noise(part: str) -> bool:
    return bool(
        has(part, Cue.PRAISE)
        or has(part, Cue.RETRY)
        or _SMALL_TALK.fullmatch(part)
        or _FAILURE.search(part)
        or _says_nothing(part)
    )


def _says_nothing(part: str) -> bool:
    is_question = part.rstrip().endswith("?")
    return bool(
        is_question or has(part, Cue.PRAISE) or _GUESS.search(part) or _COMPLAINT.search(part)
    )


RELATED = 0.5  # share of the named words that an item must have
_ASKS = re.compile(
    r"(?:삭제|폐지|제거)\s?(?:해|하|부탁|바랍|요청)|(?:없애|지워|잊어)\s?(?:주|버려|달라)"
    r"|\b(?:delete|forget|remove|drop|scrap) (?:it|this|that|the|our|my)\b",
    re.I,
)
_LASTING_WORK = re.compile(
    r"항상|언제나|반드시|매번|마다|[가-힣]면 |[가-힣] ?(?:때|경우)|(?:뒤|후)에?는? |하지 마|지 말"
    r"|\balways\b|\bevery\b|\beach\b|\bafter\b|\bbefore\b|\bwhen|\bif\b|\bnever\b"
    r"|\bdo(?:n't| not)\b",
    re.I,
)
_VERB = re.compile(
    r"삭제|폐지|제거|없애|지[워우]|\b(?:delete|remove|drop|scrap|forget|purge)\b", re.I
)
_THINGS = re.compile(
    r"파일|폴더|디렉터리|데이터|로그|캐시|개인정보|첨부|초안|중복|머리글|(?:^|\s)[행열줄][은을이]"
    r"|\b(?:files?|folders?|director(?:y|ies)|data|logs?|caches?|attachments?|drafts?|duplicates?"
    r"|copies|headers?|rows?|columns?|lines?|records?)\b",
    re.I,
)
_WITHDRAWS = re.compile(
    r"더\s?이상|더는|규칙|기준|룰|스킬|지침|메모|기억|정책|\bno longer\b"
    r"|\b(?:rule|skill|memory|note|guideline|policy|threshold|procedure|instruction)s?\b",
    re.I,
)
_OFF_LIST = re.compile(
    r"(?:목록|리스트)에서\s?(?:빼|제외|제거|떼)"
    r"|\b(?:take|remove|drop)\b.{1,80}\b(?:off|from)\b.{0,30}\blist\b",
    re.I,
)
_OF_LISTS = re.compile(
    r"에이전트\S*|목록\S*|리스트\S*|(?:빼|제외|제거|떼)\S*|\b(?:take|off|list|agent)\b(?:'s)?", re.I
)
_WORD = re.compile(r"[A-Za-z]+|[0-9]+(?:[,.][0-9]+)*|[가-힣]+")
_FORM = re.compile(
    r"(?:더|이상|이상은|더는|이제|이젠|이제는|안|않\w*|이|그|저|해당|삭제\w*|폐지\w*|제거\w*|무효\w*"
    r"|없애\w*|지워\w*|잊어\w*|쓰\w*|쓴\w*|씁니다|써\w*|사용하?\w*|보내지|하지|말\w*|마세요|주세요|줘\w*|주십시오"
    r"|부탁\w*|바랍니다|해|해줘|해주세요|합니다|했\w*|됩니다|되었\w*|됐\w*|필요\w*|없\w*|규칙\w*|기준\w*|룰\w*|스킬\w*"
    r"|지침\w*|메모\w*|기억\w*|내용\w*|절차\w*|것\w*|대한|관한|관련\w*|앞으로\w*|그냥|좀)"
)
_ENGLISH_FORM = words(
    "we i you it its is are was be our my the a an this that any on of for to in about no not "
    "longer more anymore please delete deleted remove removed drop scrap forget withdraw withdrawn "
    "obsolete abolish abolished discontinue discontinued do does don t s use used uses need needed "
    "needs apply applies rule rules skill skills memory note guideline policy and so now from with "
    "threshold procedure instruction"
)


class KnownItem(Protocol):
    """The compared parts of a known item."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def excerpt(self) -> str:
        """The excerpt of its text."""


def asks_to_delete(text: str) -> bool:
    """Whether a clause asks to delete something known, rather than to delete as part of work."""
    return not has(text, Cue.SEQUENCE) and any(map(_asks, clauses(text)))


def deletes_as_work(text: str) -> bool:
    """Whether deleting is part of the described work, which withdraws nothing."""
    return any(map(_is_work, clauses(text)))


def is_about(text: str, known: KnownItem) -> bool:
    """Whether an item has every number and half of the words that a withdrawal names."""
    named = [word for word in _WORD.findall(text.casefold()) if not _is_form(word)]
    text_of_item = letters(f"{known.name} {known.excerpt}")
    found = [word for word in named if _stem(word) in text_of_item]
    has_numbers = all(word in found for word in named if word[0].isdigit())
    return has_numbers and bool(named) and len(found) >= RELATED * len(named)


def _asks(clause: str) -> bool:
    is_work = _LASTING_WORK.search(clause) or rows_of(clause) or _is_work(clause)
    return bool(_ASKS.search(clause)) and not is_work


def _is_work(clause: str) -> bool:
    """Whether a deletion is recurrent, or of files and the like, and withdraws nothing known."""
    if not _VERB.search(clause) or _WITHDRAWS.search(clause):
        return False
    return bool(_LASTING_WORK.search(clause) or _THINGS.search(clause))


def _is_form(word: str) -> bool:
    return bool(_FORM.fullmatch(word)) or word in _ENGLISH_FORM


def _stem(word: str) -> str:
    """Return a word without its last one or two letters, if long enough: a crude stem."""
    least = 3 if word.isascii() else 2
    if word[0].isdigit() or len(word) <= least:
        return letters(word)
    return word[: max(least, len(word) - (2 if word.isascii() else 1))]


_SHORT_NAME = 8
LIKE = 0.35  # share of common letter pairs from which texts count as similar
Call = tuple[str, dict[str, JsonValue]]


@dataclass(frozen=True)
class Related:
    """A hit as shown in the first message."""

    id: str
    kind: str
    name: str
    excerpt: str
    is_own: bool
    on_agent: bool

    def like(self, text: str) -> float:
        """Return the similarity of a text to the item, by excerpt or name, 0 to 1.

        Every letter pair of a short name may stand in other words: `port` in "report".
        """
        by_name = len(self.name) > _SHORT_NAME or is_named(self.name, text)
        return max(likeness(text, self.excerpt), likeness(text, self.name) if by_name else 0.0)


@dataclass(frozen=True)
class View:
    """The input of the rules: the candidate's text, its task, and the related items.

    `whole` is the text with what is no lesson: it may say when a rule holds. `said` are its words
    with the span that is an end; what `is_timed` is no table or skill, which have no end. One in
    a conversation `is_answer`.
    """

    text: str
    task: str
    related: tuple[Related, ...]
    whole: str = ""
    said: str = ""
    is_timed: bool = False
    is_answer: bool = False

    def named(self, *kinds: str) -> Related | None:
        """Return the related item of these kinds that the text names beyond doubt."""
        for hit in self.related:
            names = [hit.id] if hit.kind == "MEMORY" else [hit.id, hit.name]
            is_usable = hit.kind in kinds and hit.is_own
            if is_usable and any(stands_out(name, self.text) for name in names):
                return hit
        return None

    def best(self, *kinds: str, at_least: float = LIKE) -> Related | None:
        """Return the item of these kinds that the text names, or the most similar one, if it is."""
        if (named := self.named(*kinds)) is not None:
            return named
        usable = [hit for hit in self.related if hit.kind in kinds and hit.is_own]
        best = max(usable, key=lambda hit: hit.like(self.text), default=None)
        return best if best is not None and best.like(self.text) >= at_least else None

    def beside(self, kind: str) -> Related | None:
        """Return the agent's own item of a kind that says nearly the same as the text."""
        for hit in self.related:
            found = evidence(self.text, Known(hit.id, hit.name, hit.excerpt))
            is_near = found.is_exact or found.is_near
            if hit.kind == kind and hit.is_own and is_near:
                return hit
        return None


def decide(view: View) -> Call:
    """Return the call of the first rule that applies."""
    nothing = _nothing(view)
    view = replace(view, text=lesson_of(view.text), whole=view.text)
    return (
        nothing
        or _detached(view)
        or _deleted(view)
        or _known(view)
        or _procedure(view, Cue.SEQUENCE)
        or _rule(view, number=True)
        or _procedure(view, Cue.PROCEDURE)
        or _rule(view, number=False)
        or memory(view)
    )


def _nothing(view: View) -> Call | None:
    found = nothing_in(view.text)
    return no_action(view, *found) if found else None


def _detached(view: View) -> Call | None:
    if not _OFF_LIST.search(view.text):
        return None
    said = _OF_LISTS.sub(" ", view.text)
    skill = next((hit for hit in view.related if hit.on_agent and is_about(said, hit)), None)
    if skill is None:
        return None
    return "detach_skills_from_agent", {"skill_ids": skill.id, "reason": reason(view, "off_list")}


def _deleted(view: View) -> Call | None:
    asked = asks_to_delete(view.text)
    is_work = has(view.text, Cue.SEQUENCE) or deletes_as_work(view.text)
    if not asked and (is_work or not has(view.text, Cue.DELETE)):
        return None
    kinds = {"SKILL"} if has(view.text, Cue.SKILL) else {"MEMORY", "DMN_RULE", "SKILL"}
    near = (hit for hit in view.related if hit.kind in kinds and hit.is_own)
    hit = view.named(*kinds) or next((hit for hit in near if is_about(view.text, hit)), None)
    if hit is not None:
        asking = (c for c in clauses(view.whole) if has(c, Cue.DELETE) or _asks(c))
        is_for_all = hit.kind == "SKILL" and goes_for_all(view.whole, asking)
        return _on(
            hit, "DELETE", reason(view, "withdrawn"), **({"for_all": True} if is_for_all else {})
        )
    return no_action(view, "unclear", "nowhere") if asked else None


# An existing skill is to be used, by its name.
_USED = re.compile(
    r"스킬[을를]?\s*(?:사용|이용|활용|써|쓰)|\buse the [\w-]+ skill\b|\buse [\w-]+-[\w-]+\b",
    re.IGNORECASE,
)


def _known(view: View) -> Call | None:
    skill = view.named("SKILL") or view.best("SKILL")
    is_meant = has(view.text, Cue.EXISTING) or _USED.search(view.text) is not None
    names_it = skill is not None and has(view.text, Cue.SKILL) and is_meant
    if skill is not None and (names_it or likeness(view.text, skill.excerpt) >= 0.75):
        if not skill.on_agent:
            why = reason(view, "attach")
            return "attach_skills_to_agent", {"skill_ids": skill.id, "reason": why}
        said = map(normal_form, clauses(skill.excerpt))
        if not has(view.text, Cue.CHANGE) and (names_it or normal_form(view.text) in said):
            return no_action(view, "duplicate", "known", f"SKILL {skill.id}")
    for hit in view.related:
        is_same = normal_form(view.text) == normal_form(hit.excerpt)
        if hit.is_own and hit.kind != "SKILL" and is_same:
            return no_action(view, "duplicate", "known", f"{hit.kind} {hit.id}")
    return None


def _procedure(view: View, cue: Cue) -> Call | None:
    is_about_skill = has(view.text, Cue.SKILL) or view.named("SKILL") is not None
    is_told = has(view.text, cue) or (cue is Cue.PROCEDURE and is_about_skill)
    if view.is_timed or not is_told:
        return None
    if cue is Cue.SEQUENCE and len(rows_of(view.whole)) > 1:
        return None  # `free for the first two hours, then $3` is no order of steps
    adds = has(view.text, Cue.ADD) or has(view.text, Cue.CHANGE)
    skill = view.best("SKILL", at_least=0.25 if has(view.text, Cue.ADD) else LIKE)
    if skill is not None and (adds or is_about_skill or _is_on(view.text, skill)):
        why = reason(view, "near_skill", skill.id)
        return _on(skill, "UPDATE", why, merge_mode="EXTEND", relationship="EXTENDS")
    name = english_name([*clauses(view.text), view.task], view.text)
    why = reason(view, "new_skill")
    return "commit_to_skill", {"operation": "CREATE", "skill_id": name, "reason": why}


def _is_on(text: str, skill: Related) -> bool:
    """Whether a skill has what a procedure begins with: steps of any two are alike in words."""
    told = [word for word in _WORD.findall(text.casefold()) if not _is_form(word)][:2]
    known = letters(f"{skill.name} {skill.excerpt}")
    return all(_stem(word) in known for word in told)


def _rule(view: View, *, number: bool) -> Call | None:
    rows = [] if view.is_timed else rows_of(without_open(view.whole))
    if not rows or any(row.is_number for row in rows) is not number or view.beside("MEMORY"):
        return None
    hit = _same_subject(view, rows[0])
    if hit is not None:
        if any(len(row.when) != 1 for row in rows):
            return None  # a row of several conditions is not put into a table of other columns
        return "get_knowledge_detail", {"knowledge_type": "DMN_RULE", "knowledge_id": hit.id}
    why = reason(view, "new_rule")
    return "commit_to_dmn_rule", {"operation": "CREATE", "rule": new_table(rows), "reason": why}


def _same_subject(view: View, row: Row) -> Related | None:
    if not row.is_number or view.named("DMN_RULE"):
        return view.best("DMN_RULE", at_least=0.5)
    subject = letters(row.subject)
    for hit in view.related:
        if hit.kind == "DMN_RULE" and hit.is_own and subject in letters(hit.name + hit.excerpt):
            return hit
    return None


def edit_rule(view: View, rule_id: str, table: dict[str, JsonValue]) -> Call:
    """Return the UPDATE of a rule whose table was read; a memory where its columns do not fit."""
    text = without_open(view.text)
    edits = edited_table(rows_of(text), table, text)
    if edits is None:
        return memory(view)
    why = reason(view, "near_rule", rule_id)
    args: dict[str, JsonValue] = {"operation": "UPDATE", "rule_id": rule_id, "rule": edits}
    return "commit_to_dmn_rule", args | mode_of(edits) | {"reason": why}


def correct_rule(args: dict[str, JsonValue], told: str, table: dict[str, JsonValue]) -> Call | None:
    """Return a refused UPDATE again, changing the row that the added one clashed with."""
    edits = instead_of(args.get("rule"), told, table)
    return ("commit_to_dmn_rule", args | {"rule": edits} | mode_of(edits)) if edits else None


def memory(view: View) -> Call:
    """Return the text as a memory: that of a table which was refused, too."""
    hit = view.best("MEMORY") if has(view.text, Cue.CHANGE) else view.named("MEMORY")
    if hit is not None:
        why = reason(view, "near_memory", hit.id)
        more = {"merge_mode": "REPLACE", "relationship": "SUPERSEDES"}
        return _on(hit, "UPDATE", why, content=view.text.strip(), **more)
    why = reason(view, "new_memory")
    args: dict[str, JsonValue] = {"operation": "CREATE", "content": view.text.strip()}
    return "commit_to_memory", args | {"reason": why}


def update_instead(view: View, kind: str, item_id: str) -> Call:
    """Return the UPDATE of an item that a CREATE was refused for."""
    if kind == "DMN_RULE":
        return "get_knowledge_detail", {"knowledge_type": kind, "knowledge_id": item_id}
    hit = Related(item_id, kind, item_id, "", is_own=True, on_agent=True)
    extra: dict[str, JsonValue] = {"content": view.text.strip()} if kind == "MEMORY" else {}
    return _on(hit, "UPDATE", reason(view, "taken", item_id), merge_mode="EXTEND", **extra)


def no_action(view: View, category: str, why: str, about: str = "") -> Call:
    """End the run with nothing learnt."""
    return "no_action", {"category": category, "reason": reason(view, why, about)}


def reason(view: View, why: str, about: str = "") -> str:
    """Return the reason in the user's language, marked as that of the stand-in."""
    return f"[{STAND_IN}] {noted(view.text, why)}" + (f" ({about})" if about else "")


_TOOLS = {
    "MEMORY": ("commit_to_memory", "memory_id"),
    "DMN_RULE": ("commit_to_dmn_rule", "rule_id"),
    "SKILL": ("commit_to_skill", "skill_id"),
}


def _on(hit: Related, operation: str, why: str, **more: JsonValue) -> Call:
    tool, argument = _TOOLS[hit.kind]
    return tool, {"operation": operation, argument: hit.id, "reason": why, **more}
