"""What a change adds that may do harm: findings, with a code, a severity and the exact span.

A plain text passes this module alone; the others are called where there is something to look at.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from core.decision_table.document.markup import said_in
from core.domain.models import Finding, Kind, ScreenSeverity
from core.domain.patterns import spans
from core.domain.text import decoded
from core.safety import hidden, likeness, masking, payments
from core.safety.config import DEFAULT, ScreenConfig
from core.safety.findings import PLACEHOLDER, finding, lines_around, severity_of
from core.safety.person_numbers import Hit
from core.safety.said import ENDS, said

_Found = tuple[str, int, int]
_FORMS = str.maketrans("‘’‚“”„«»\u00a0\u3000：；（）", '\'\'\'"""""  :;()')
_CODE = re.compile(
    r"```|~~~|\n {4}|\bskill|스킬|allowed-tools|allowed_tools|허용\s?도구|\b(?:curl"
    r"|wget|sudo|chmod|nslookup|eval|exec|iex|base64|xargs|nohup|busybox|shred|doas)\b"
    r"|\bfind \S+ -|\bmkfs\."
    r"|\brm -|/dev/tcp|permission|sandbox|privileged|--yolo|bash\(|import "
    r"|powershell|도구|description|권한|모든 대화|every (?:message|conversation"
    r"|request)"
    r"|\bany (?:request|topic|question|task)|whatever the topic|pre-approved"
    r"|standing permission|어떤 (?:질문|요청)|무엇을 요청"
)
_REQUIRED = re.compile(
    r"(?:approv|sign(?:s|ed|ature|-?off)|verif|confirm|second (?:person"
    r"|pair)|call-?back|inspect|review|checks?\b)[^.\n]{0,60}\b(?:needed"
    r"|required|first|before|must|necessary)\b"
    r"|\b(?:needs?|must|requires?|only (?:after|with)|have to"
    r"|has to)\b[^.\n]{0,60}(?:approv|sign|verif|confirm|inspect|review"
    r"|check)"
    r"|(?:승인|결재|본인\s?확인|확인|검수|검토|서명|인증|대조|심사)[^.\n]{0,14}(?:필요"
    r"|받아야|받는다|받습니다|받고|거쳐|거친|거칩|해야|한\s?(?:다음|뒤"
    r"|후)|후에|필수|있어야)"
)
_CONTROLS = re.compile(
    r"approv|sign|verif|confirm|inspect|review|check|승인|결재|확인|검수|검토|서명|인증|대조|심사"
)
_LINE = 1000
_BLOCK = re.compile(r"^```.*?(?:^```|\Z)", re.DOTALL | re.MULTILINE)  # code is parsed
_PART = 300  # a longer text says many things, and what it was trained on is no longer
_ALONE = 30  # characters that are read alone at least
_MANY = 4  # sentences, of which one may be read otherwise alone
_BLANKS = re.compile(r"\s+")


def screen(
    before: str | None,
    after: str,
    *,
    place: str = "",
    kind: Kind | None = None,
    config: ScreenConfig = DEFAULT,
) -> tuple[Finding, ...]:
    """Return what `after` adds to `before` that may do harm, in order of the span.

    What stood in `before` is not judged again, wherever it moved. Spans count characters of
    `after`. Secrets and numbers of persons are found too, masked or not, so that a change that
    brings one tells of it: mask first, and screen what is stored. Never raises on any text.
    """
    if kind is Kind.AGENT_SKILLS:  # a list of names
        return ()
    if kind is Kind.DMN_RULE and after.lstrip("\ufeff \n").startswith("<"):
        # ids look like addresses of wallets, and schemas like links
        before, after = before and said_in(before), said_in(after)
    found = _apart(_added(before, after, _found(after, place, kind, before, config)))
    calm: set[_Found] = set()
    if _is_prose(place):
        likely, calm = _judged(before, after, found)
        found += likely
    if before and after:
        found += _removed(before, after)
    if config.extra:
        found += _added(before, after, _extra(after, config))
    return tuple(_findings(sorted(found, key=_order), after, place, config, calm))


def screen_skill(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    *,
    config: ScreenConfig = DEFAULT,
) -> tuple[Finding, ...]:
    """Return what a skill's folder adds that may do harm, by file and span; paths to bytes.

    `before` is {} for a new skill. The place of a finding is the path of its file.
    """
    known = "\n".join(map(decoded, before.values()))
    findings: list[Finding] = []
    for path in sorted(after, key=lambda path: (path != "SKILL.md", path)):
        if before.get(path) == after[path]:
            continue
        text = decoded(after[path])
        if text:
            kind = Kind.SKILL
            findings += screen(known or None, text, place=path, kind=kind, config=config)
    return tuple(findings)


def _found(
    text: str, place: str, kind: Kind | None, before: str | None, config: ScreenConfig
) -> Iterator[_Found]:
    plain, places = text, list[int]()
    if hidden.SIGNS.search(text):
        yield from hidden.hidden(text)
        plain, places = masking.without_invisible(text)
    same = plain if plain.isascii() else plain.translate(_FORMS)
    same = same.lower() if len(same.lower()) == len(same) else same
    found = list(said(same))
    if payments.SIGNS.search(same):
        found += payments.accounts(same)
        found += _noted(same, before, config)
    is_skill = bool(place) or kind is Kind.SKILL
    if is_skill or _CODE.search(same):
        from core.safety.code import code_findings

        found += code_findings(plain, same, config, place, is_skill=is_skill)
    for code, start, end in found:
        yield (code, places[start], places[end - 1] + 1) if places else (code, start, end)
    if masking.is_worth_a_look(text, same):
        for hit in masking.sensitive(text):
            yield masking.code_of(hit.label), hit.start, hit.end
    if "[masked:" in text:
        for one in PLACEHOLDER.finditer(text):
            yield masking.code_of(one[1]), one.start(), one.end()


def _noted(folded: str, before: str | None, config: ScreenConfig) -> Iterator[_Found]:
    known = (before or "").lower()
    for code, start, end in payments.noted(folded):
        if code == "link.new_host":
            link = payments.LINK.match(folded, start)
            host = link[1] if link else ""
            own = (*config.own_hosts, *config.allowed_hosts)
            if host in known or any(fnmatchcase(host, name.lower()) for name in own):
                continue
        yield code, start, end


# ---- how it reads as a whole -------------------------------------------------------------------


def folded(text: str) -> str:
    """Return a text as its score is read off it: without what is not seen, in lower case."""
    plain = masking.without_invisible(text)[0] if hidden.SIGNS.search(text) else text
    return plain.translate(_FORMS).lower()


def _is_prose(place: str) -> bool:
    return not place or place.endswith((".md", ".txt"))


def _judged(
    before: str | None, after: str, found: Sequence[_Found]
) -> tuple[list[_Found], set[_Found]]:
    """Return the parts that read like harm where no rule says so, and what is not meant so."""
    blocks = [block.span() for block in _BLOCK.finditer(after)] if "```" in after else []
    sentences = [*_outside(_new(before or "", after), blocks)]
    parts = [*_parts(sentences)]
    alone = [*_rows(sentences)] if len(sentences) >= _MANY else []
    unsure: set[_Found] = set()
    meant: set[_Found] = set()
    likely: list[list[_Found]] = []
    for readings, is_alone in ((alone, True), (parts, False)):
        of_these: list[_Found] = []
        for part, ruled in _ruled(readings, found):
            text = folded(" ".join(after[at:until] for at, until in part))
            score = likeness.score(text, [one[0] for one in ruled])
            unsure |= {one for one in ruled if one[0] in likeness.ASKED}
            meant |= {one for one in ruled if likeness.is_meant(text, score, one[0])}
            if likeness.is_likely(text, score, len(parts), is_alone=is_alone):
                of_these.append((likeness.LIKELY, part[0][0], part[-1][1]))
        likely.append(of_these)
    meant.update(
        _unless_calm(after, sentences, [one for one in found if one[0] in likeness.DOUBTED])
    )
    held = [one for one in found if _holds(one) and one not in unsure - meant]
    of_alone, of_parts = likely
    return _clear([*of_alone, *_clear(of_parts, of_alone)], held), unsure - meant


def _unless_calm(
    text: str, sentences: Sequence[tuple[int, int]], found: Sequence[_Found]
) -> Iterator[_Found]:
    """Yield what stands in a sentence that does not read harmless when it is read alone."""
    for [(start, end)], ruled in _ruled([[one] for one in sentences], found):
        if ruled and not likeness.is_calm(folded(text[start:end]).strip()):
            yield from ruled


def _clear(found: Sequence[_Found], others: Sequence[_Found]) -> list[_Found]:
    """Return what overlaps none of others."""
    of = sorted(found, key=_order)
    spans = [[(start, end)] for _, start, end in of]
    beside = _ruled(spans, others)
    return [one for one, (_, over) in zip(of, beside, strict=True) if not over]


def _outside(
    spans: Sequence[tuple[int, int]], blocks: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the spans that no block overlaps; both are in order, and no two overlap."""
    at = 0
    for start, end in spans:
        while at < len(blocks) and blocks[at][1] <= start:
            at += 1
        if at == len(blocks) or end <= blocks[at][0]:
            yield start, end


def _ruled(
    parts: Sequence[list[tuple[int, int]]], found: Sequence[_Found]
) -> Iterator[tuple[list[tuple[int, int]], list[_Found]]]:
    """Yield each part with what rules found in it; a long text has thousands of both."""
    waiting = sorted(found, key=_order)
    inside: list[_Found] = []
    at = 0
    for part in parts:
        while at < len(waiting) and waiting[at][1] < part[-1][1]:
            inside.append(waiting[at])
            at += 1
        inside = [one for one in inside if one[2] > part[0][0]]
        yield part, inside


def _holds(found: _Found) -> bool:
    return severity_of(found[0], DEFAULT) is ScreenSeverity.HOLD


def _parts(spans: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield rows of sentences, each about as long as what is learnt at a time."""
    part: list[tuple[int, int]] = []
    for start, end in spans:
        if part and end - part[0][0] > _PART:
            yield part
            part = []
        part.append((start, end))
    if part:
        yield part


def _rows(spans: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield single sentences, short ones with those that follow."""
    row: list[tuple[int, int]] = []
    for span in spans:
        row.append(span)
        if span[1] - row[0][0] >= _ALONE:
            yield row
            row = []
    if row:
        yield row


# ---- what is new -----------------------------------------------------------------------------


def _units(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the sentences of a text: where, and their normal form."""
    at = 0
    for one in ENDS.finditer(text):
        if one.end() > at:
            yield at, one.end(), _normal(text[at : one.end()])
        at = one.end()
    if at < len(text):
        yield at, len(text), _normal(text[at:])


def _normal(unit: str) -> str:
    return _BLANKS.sub(" ", unit).strip(" \n;./-*·•>#").casefold()


def _added(before: str | None, after: str, found: Iterator[_Found]) -> list[_Found]:
    """Return what is found where something is new."""
    spans = list(found)
    if not before or not spans:
        return spans
    is_new = news(before, after)
    return [one for one in spans if is_new(one[1], one[2])]


def news(before: str, after: str) -> Callable[[int, int], bool]:
    """Return what says of a span of `after` whether something in it did not stand in `before`."""
    new = _new(before, after)
    ends = [end for _, end in new]

    def is_new(start: int, end: int) -> bool:
        at = bisect_right(ends, start)
        return at < len(new) and new[at][0] < end

    return is_new


def _new(before: str, after: str) -> list[tuple[int, int]]:
    """Return where sentences stand that did not stand before, in order."""
    known = {unit for _, _, unit in _units(before)}
    return [(start, end) for start, end, unit in _units(after) if unit and unit not in known]


def _removed(before: str, after: str) -> list[_Found]:
    """Return where an edit took out the last that asked for an approval or a verification."""
    if _CONTROLS.search(after.lower()) or not _REQUIRED.search(before.lower()):
        return []
    new = _new(before, after)
    start, end = new[0] if new else (0, min(len(after), _LINE))
    return [("control.removed", start, end)]


def _extra(after: str, config: ScreenConfig) -> Iterator[_Found]:
    for extra in config.extra:
        if extra.masks:  # taken out before, and looked for as the screens of plug-ins are
            continue
        code = f"extra.{extra.name}"
        try:
            yield from ((code, start, end) for start, end in spans(extra.pattern, after))
        except TimeoutError:  # what cannot be told is found
            yield code, 0, len(after)


# ---- findings --------------------------------------------------------------------------------


def _order(found: _Found) -> tuple[int, int, str]:
    return found[1], found[2], found[0]


def _apart(found: list[_Found]) -> list[_Found]:
    """Return each finding once; of those of one code that overlap one, all they span."""
    apart: list[_Found] = []
    last: dict[str, int] = {}
    for code, start, end in sorted(found, key=_order):
        at = last.get(code)
        if at is not None and start < apart[at][2]:
            apart[at] = (code, apart[at][1], max(end, apart[at][2]))
            continue
        last[code] = len(apart)
        apart.append((code, start, end))
    return apart


class _Lines:
    """The lines of a text without secrets; many findings stand in one, and it is masked once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [one.start() for one in re.finditer("\n", text)]
        self._masked: dict[tuple[int, int], str] = {}
        self._hits: dict[int, list[Hit]] = {}

    def around(self, start: int, end: int) -> str:
        """Return the lines around a span, as far as they are not too long."""
        line = lines_around(self._text, start, end)
        if line not in self._masked:
            self._masked[line] = self._clear(*line)
        return self._masked[line]

    def _clear(self, begin: int, until: int) -> str:
        at = bisect_right(self._ends, begin - 1)
        first = self._ends[at - 1] + 1 if at else 0
        at = bisect_left(self._ends, until)
        last = self._ends[at] if at < len(self._ends) else len(self._text)
        if (begin, until) == (first, last):
            return masking.mask(self._text[begin:until]).text
        if first not in self._hits:  # of a line that is too long to be told whole
            self._hits[first] = masking.sensitive(self._text[first:last])
        parts: list[str] = []
        hits = self._hits[first]
        at = bisect_right(hits, begin - first, key=lambda hit: hit.end)
        while at < len(hits) and hits[at].start + first < until:
            hit = hits[at]
            parts += [self._text[begin : first + hit.start], f"[masked:{hit.label}]"]
            begin = first + hit.end
            at += 1
        return "".join([*parts, self._text[begin:until]])


def _findings(
    found: list[_Found], after: str, place: str, config: ScreenConfig, calm: Collection[_Found]
) -> Iterator[Finding]:
    if not found:
        return
    extras = {f"extra.{extra.name}": extra.severity for extra in config.extra}
    lines = _Lines(after)
    for code, start, end in found:
        severity = extras.get(code) or severity_of(code, config)
        is_set = code in config.classes or code.partition(".")[0] in config.classes
        if severity is ScreenSeverity.HOLD and not is_set and (code, start, end) in calm:
            severity = ScreenSeverity.NOTE
        raw = code.startswith(("secret.", "personal_id.")) and not PLACEHOLDER.match(after, start)
        if raw and code.startswith("secret."):
            severity = ScreenSeverity.MASK
        if severity is None:
            continue
        yield finding(
            code,
            (start, end),
            severity,
            quote=f"[masked:{code.partition('.')[2].replace('_', '-')}]"
            if raw
            else after[start:end],
            context=lines.around(start, end),
            place=place,
            text=code.partition(".")[2],
        )
