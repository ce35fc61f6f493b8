"""What a clause says, whatever its words: each word becomes a letter, rules are rows of letters.

A word stands for a class: what is dropped, a control, an overseer, a denial, how far it goes. Of
`Skip the check from now on` remains `D.V`; `검수는 생략해도` is `VD`. Unknown words are `.`, and
clauses are parted by `|`. Both languages and what stands between them in one text have the same
letters, so a rule is written once for an order of words and not for a wording. A text is read
once, by looking its words up; rules see a letter for a word, which costs them a tenth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

_TOKEN = re.compile(
    r"[a-z][a-z_]*(?:'[a-z]{1,2}\b)?(?:\(\))?|[\uac00-\ud7a3]+|9{4}[억조]|\d+(?:\*\*|\^|e)\d+"
    r"|\d[\d,.]*\d|\d"
    r"|[=-]>|→|[;\n]|[.!?。…](?=\s|$|[\"')])|[,:=|(&]|[^\s\w]"
)
_LAST_NINES = re.compile(
    r"\d?9{5,}(?:\.9+)?|\d{11,}|9{4}[억조]|\d+(?:\*\*|\^|e)[1-9]?[6-9]|\d+(?:\*\*|\^|e)\d\d+"
)
_CODE_NAME = re.compile(
    r"(?:^|_)(?:(check|checks|valid\w*|verif\w*|guard|assert\w*|audit|review)"
    r"|(approv\w*|confirm\w*|consent|ask|prompt_user|authori[sz]e\w*|permission)"
    r"|(max|limit|limits|quota|cap|ceiling|threshold))(?:_|\(|$)"
)
_LONGEST = 60  # words of a clause before and after what is looked at
_MOST = 200
_MOST_KEPT = 20_000
# What need not have been done: "안 받아도", "못 했어도". Endings stand for all verbs.
_EVEN_SO = re.compile(r"(?:안|못|미처).{1,4}?[아어여해와봐줘려켜돼겨둬써라랐셔러]도")
_HANGUL = re.compile("[\uac00-\ud7a3]")


class ClauseRule(NamedTuple):
    """One thing that may be said in a clause.

    `pattern` is a row of letters, in which `_` is any of the same clause. It is not meant where
    the clause before it ends with `head`, or `tail` stands in what follows, or `text` in the words
    of the clause; `needs` are words that the clause must have. With `bounded` a clause that names
    a limit is a threshold.
    """

    code: str
    pattern: re.Pattern[str]
    head: re.Pattern[str] | None = None
    tail: re.Pattern[str] | None = None
    text: re.Pattern[str] | None = None
    needs: re.Pattern[str] | None = None
    bounded: bool = False
    korean: bool = False


class Said(NamedTuple):
    """What a clause says: the code, the span, and whether a limit makes it a threshold."""

    code: str
    start: int
    end: int
    bounded: bool


class Words:
    """Words and rows of words by classes, in one language or both."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        """Take the words of each letter, parted by bars; `*` at the end is for any ending."""
        self._whole: dict[str, str] = {}
        self._begun: dict[str, str] = {}
        self._rows: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self._hangul: dict[str, str] = {}
        self._lengths: dict[str, list[int]] = {}
        for letter, words in classes.items():
            for word in words.split("|"):
                self._learn(letter, word)
        for rows in self._rows.values():
            rows.sort(key=lambda row: -len(row[0]))
        for word in self._hangul:
            lengths = self._lengths.setdefault(word.lstrip("^")[0], [])
            if len(word.lstrip("^")) not in lengths:
                lengths.append(len(word.lstrip("^")))
        for lengths in self._lengths.values():
            lengths.sort(reverse=True)

    def _learn(self, letter: str, word: str) -> None:
        if "\uac00" <= word.lstrip("^")[:1] <= "\ud7a3":
            assert word not in self._hangul or self._hangul[word] == letter, word
            self._hangul[word] = letter
        elif " " in word:
            first, *rest = word.split()
            self._rows.setdefault(first, []).append((tuple(rest), letter))
        elif word.endswith("*"):
            self._begun[word[:-1]] = letter
        else:
            self._whole[word] = letter

    def read(self, folded: str) -> Reading:
        """Return the letters of a text in lower case, and where each of them stands."""
        tokens = [(one[0], one.start()) for one in _TOKEN.finditer(folded)]
        letters: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        while at < len(tokens):
            word, start = tokens[at]
            if "\uac00" <= word[0] <= "\ud7a3":
                run = at
                while run < len(tokens) and "\uac00" <= tokens[run][0][0] <= "\ud7a3":
                    run += 1
                self._read_hangul(tokens[at:run], letters, starts, ends)
                at = run
                continue
            letter, used = self._letter(word, tokens, at)
            if letter == "-":
                at += 1
                continue
            last, begun = tokens[at + used - 1]
            letters.append(letter)
            starts.append(start)
            ends.append(begun + len(last))
            at += used
        return Reading("".join(letters), starts, ends)

    def _letter(self, word: str, tokens: list[tuple[str, int]], at: int) -> tuple[str, int]:
        """Return the letter of a word and of how many tokens it is the letter."""
        if not word[0].isalpha():
            return _sign(word), 1
        for rest, letter in self._rows.get(word, ()):
            until = _end_of_row(rest, tokens, at + 1)
            if until:
                return letter, until - at
        letter = self._whole.get(word, "")
        if not letter:
            letter = self._by_beginning(word)
            if len(self._whole) < _MOST_KEPT:  # words come again
                self._whole[word] = letter
        return letter, 1

    def _by_beginning(self, word: str) -> str:
        for length in range(len(word), 2, -1):
            letter = self._begun.get(word[:length], "")
            if letter:
                return letter
        if "_" in word or word.endswith("()"):
            found = _CODE_NAME.search(word)
            return "." if not found else "V" if found[1] else "C" if found[2] else "L"
        return "N" if word.endswith("n't") else "."

    def _read_hangul(
        self, run: list[tuple[str, int]], letters: list[str], starts: list[int], ends: list[int]
    ) -> None:
        """Read words of Korean as if there were no blanks, which people place as they like."""
        joined = "".join(word for word, _ in run)
        places: list[int] = []
        begins: set[int] = set()
        for word, start in run:
            begins.add(len(places))
            places += range(start, start + len(word))
        at, unknown = 0, False
        while at < len(joined):
            if at in begins:
                unknown = False
            letter, length = self._hangul_at(joined, at, at in begins)
            if letter and letter != "-":
                letters.append(letter)
                starts.append(places[at])
                ends.append(places[at + length - 1] + 1)
                unknown = True
            elif not unknown:
                letters.append(".")
                starts.append(places[at])
                ends.append(places[at] + 1)
                unknown = True
            at += length

    def _hangul_at(self, joined: str, at: int, begins: bool) -> tuple[str, int]:
        if begins and joined[at] in "안못" and (even := _EVEN_SO.match(joined, at)):
            return "j", len(even[0])
        for length in self._lengths.get(joined[at], ()):
            part = joined[at : at + length]
            letter = self._hangul.get(part) or (self._hangul.get(f"^{part}") if begins else None)
            if letter and len(part) == length:
                return letter, length
        return "", 1


class Reading(NamedTuple):
    """The letters of a text, and where the word of each begins and ends."""

    letters: str
    starts: list[int]
    ends: list[int]

    def matches_of(self, rules: Sequence[ClauseRule], folded: str) -> Iterator[Said]:
        """Yield what is said by rules, in their order."""
        for rule in rules:
            yield from self._matches(rule, folded)

    def _matches(self, rule: ClauseRule, folded: str) -> Iterator[Said]:
        for number, one in enumerate(rule.pattern.finditer(self.letters)):
            first, last = one.span()
            if number == _MOST:  # what is so often like it is for a person
                yield Said(rule.code, self.starts[first], len(folded), False)
                return
            begin = self.letters.rfind("|", max(0, first - _LONGEST), first) + 1
            begin = max(begin, first - _LONGEST, 0)
            end = self.letters.find("|", last, last + _LONGEST)
            end = min(len(self.letters), last + _LONGEST) if end < 0 else end
            if rule.head and rule.head.search(self.letters[begin:first]):
                continue
            if rule.tail and rule.tail.search(self.letters[last:end]):
                continue
            found = folded[self.starts[first] : self.ends[last - 1]]
            if bool(_HANGUL.search(found)) is not rule.korean:
                continue
            until = self.starts[end] if end < len(self.letters) else len(folded)
            clause = folded[self.starts[begin] : until]
            if rule.text and rule.text.search(clause):
                continue
            span = (self.starts[first], self.ends[last - 1])
            if rule.needs:
                needed = rule.needs.search(clause)
                if not needed:
                    continue
                if last - first == 1 and needed[0]:  # it is the words that say it
                    at = self.starts[begin]
                    span = (at + needed.start(), at + needed.end())
            yield Said(rule.code, *span, rule.bounded)


def _sign(word: str) -> str:
    if word[0].isdigit():
        return "9" if _LAST_NINES.fullmatch(word.replace(",", "")) else "#"
    if word in ("->", "=>", "→"):
        return "I"
    if word in ".!?。…;\n":
        return "|"
    return word if word in ":=(" else ":" if word == "|" else "-" if word in "\"'`-*_" else ","


def _end_of_row(rest: tuple[str, ...], tokens: list[tuple[str, int]], at: int) -> int:
    """Return where a row of words ends that begins at a token, hyphens left out; 0 if not there."""
    for word in rest:
        if at < len(tokens) and tokens[at][0] == "-":
            at += 1
        if at >= len(tokens) or tokens[at][0] != word:
            return 0
        at += 1
    return at


def rows(pattern: str) -> re.Pattern[str]:
    """Return a compiled row of letters; `_` is any letter of the same clause."""
    return re.compile(pattern.replace("_", "[^|]"))
