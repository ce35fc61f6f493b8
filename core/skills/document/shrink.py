"""What an update would drop of a skill: an addition loses nothing, a refinement little (pure)."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from math import ceil
from typing import TypeVar

from core.domain.errors import BundleInvalid
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Bundle, MergeMode, SkillFile
from core.domain.text import shorten
from core.skills.document.assembly import is_placeholder
from core.skills.document.frontmatter import parted, read_frontmatter, read_values
from core.skills.document.markdown import blocks, headings_in, is_blank, lines_of

# Unrelated sentences of one language have up to half of their letters in the same order.
SIMILAR = 0.6
_LONGEST = 400
# More changed passages than this are a rewrite, whatever they say; it bounds the work.
_COMPARED = 4_000
_COMPARED_PAIRS = 64_000_000  # of characters, summed over the pairs of passages
# Comparing all pairs of passages is quadratic: only those that share rare words are compared.
_AMONG = 20_000
_CANDIDATES = 4
_TELLING_WORDS = 6
_WORD_BEGINS = 3  # inflected words keep their beginning, in Korean as in English
_SENTENCE_ENDS = re.compile(r"(?<=\D[.!?。])\s+")
_ANY_WORD = re.compile(r"\w+")


def passages(text: str) -> list[str]:
    """Return the passages of a text, a sentence or line each, of at most 400 characters."""
    lines = (line for line in map(str.strip, text.splitlines()) if line)
    sentences = (part for line in lines for part in _SENTENCE_ENDS.split(line))
    return [part[at : at + _LONGEST] for part in sentences for at in range(0, len(part), _LONGEST)]


def surviving(old: Sequence[str], new: Iterable[str]) -> list[int]:
    """Return, for each old passage, how many of its characters survive in the new ones.

    All of them if the same passage is there, in any order; for a changed passage what it shares
    with the most similar one, if that is similar enough; else 0. Each new passage stands in for
    one.
    """
    left = Counter(new)
    found: list[int] = []
    changed: list[int] = []
    for at, passage in enumerate(old):
        is_there = left[passage] > 0
        left[passage] -= is_there
        found.append(len(passage) if is_there else 0)
        if not is_there:
            changed.append(at)
    fresh = _Fresh([*islice((+left).elements(), _AMONG)])
    for position, at in enumerate(changed[:_COMPARED]):
        found[at] = fresh.shared(old[at], position)
    return found


class _Fresh:
    """New passages, indexed by the words that they share with an old one."""

    def __init__(self, passages: list[str]) -> None:
        self._passages = passages
        self._used = [False] * len(passages)
        self._left = _COMPARED_PAIRS
        self._positions: defaultdict[str, deque[int]] = defaultdict(deque)
        for at, passage in enumerate(passages):
            for word in _telling_words(passage):
                self._positions[word].append(at)

    def shared(self, passage: str, position: int) -> int:
        """Claim the passage most similar to this one; return how many characters the two share."""
        best, size = None, 0
        matcher = SequenceMatcher(None, "", passage, autojunk=False)
        for at in self._candidates(passage, position):
            other = self._passages[at]
            matcher.set_seq1(other)
            at_most = matcher.quick_ratio()
            if at_most < SIMILAR or at_most * (len(passage) + len(other)) <= 2 * size:
                continue
            self._left -= len(passage) * len(other)
            if self._left < 0 or matcher.ratio() < SIMILAR:
                continue
            same = sum(block.size for block in matcher.get_matching_blocks())
            if same > size:
                best, size = at, same
        if best is not None:
            self._used[best] = True
        return size

    def _candidates(self, passage: str, position: int) -> list[int]:
        """Return the passages that share the rarest words, and the one at the same position."""
        known = [self._unused(word) for word in _telling_words(passage) if word in self._positions]
        known.sort(key=len)
        votes = Counter(
            at for positions in known[:_TELLING_WORDS] for at in islice(positions, _CANDIDATES)
        )
        among = [at for at, _ in votes.most_common(_CANDIDATES)]
        beside = [position] if position < len(self._passages) else []
        return [at for at in dict.fromkeys([*among, *beside]) if not self._used[at]]

    def _unused(self, word: str) -> deque[int]:
        positions = self._positions[word]
        while positions and self._used[positions[0]]:
            positions.popleft()
        return positions


def _telling_words(passage: str) -> Iterator[str]:
    """Yield the beginnings of its words, each once."""
    return iter({word[:_WORD_BEGINS].casefold() for word in _ANY_WORD.findall(passage)})


_KINDS = {
    "fence": "code",
    "code_block": "code",
    "html_block": "html",
    "heading_open": "heading",
    "blockquote_open": "quotation",
}
_WORD = re.compile(r"[^\W_]+")
# Of a line of code: a string, a comment, a word or number, a comparison, any other sign.
_TOKEN = re.compile(r"""'[^']*'|"[^"]*"|#.*|//.*|\w+|[<>=!]+|[^\w\s]""")
_FEW = 20
_Item = TypeVar("_Item", bound=Hashable)


def missing_lines(old: str, new: str) -> list[str]:
    """Return the lines of `old` that are not in `new` in this order."""
    return _missing(_exact(old), _exact(new))


def turned_lines(old: str, new: str) -> list[str]:
    """Return the lines of a Markdown text that would be read as another kind of block.

    As code, a comment or other HTML, a quotation or a heading, or no longer as such.
    """
    return [line for line, _ in _missing(_read(old), _read(new))]


def missing_code(old: str, new: str) -> list[str]:
    """Return the lines of code of `old` that are not in `new` in this order.

    A line may take more: its beginning and all of its tokens stay, in order; what is a string or
    a comment now is no token of it. Of many changed lines it is no addition.
    """
    gone = missing_lines(old, new)
    return gone if len(gone) > _FEW else _outgrown(_exact(old), _exact(new))


def _outgrown(old: Sequence[str], new: Sequence[str]) -> list[str]:
    gone: list[str] = []
    at = 0
    for line in old:
        found = next((n for n in range(at, len(new)) if _takes_more(line, new[n])), None)
        if found is not None:
            at = found + 1
        elif len(gone) < _FEW:
            gone.append(line)
        else:
            break
    return gone


def _takes_more(line: str, other: str) -> bool:
    if line == other:
        return True
    tokens, rest = _TOKEN.findall(line), iter(_TOKEN.findall(other))
    return tokens[:1] == [next(rest, None)] and all(token in rest for token in tokens[1:])


def grows(old: str, new: str) -> bool:
    """Whether all words of `old` are in `new`, in order; a word may change its ending."""
    rest = iter(_words(new))
    return all(any(_same_word(word, other) for other in rest) for word in _words(old))


def _missing(old: Sequence[_Item], new: Sequence[_Item]) -> list[_Item]:
    gone: list[_Item] = []
    rest, positions = iter(new), Counter(new)
    for item in old:
        if positions[item] == 0:
            gone.append(item)
        elif not any(item == found for found in rest):
            return [*gone, item]
    return gone


def _exact(text: str) -> list[str]:
    """Return the non-blank lines, unchanged but for their endings."""
    return [line.rstrip("\r\n") for line in lines_of(text) if not is_blank(line)]


def _read(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return the non-blank lines, each with the kinds of block around it."""
    lines = lines_of(text)
    kinds: list[frozenset[str]] = [frozenset()] * len(lines)
    for block in blocks(text):
        kind = _KINDS.get(block.kind)
        if kind:
            for at in range(block.first, min(block.after, len(lines))):
                kinds[at] |= {kind}
    return [
        (line.rstrip("\r\n"), kind)
        for line, kind in zip(lines, kinds, strict=True)
        if not is_blank(line)
    ]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _same_word(word: str, other: str) -> bool:
    return other.startswith(word[: ceil(len(word) / 2)])


_SCRIPTS = "scripts/"
_CODE = frozenset(("fence", "code_block"))
_NAMED = 8
_NAME_CHARS = 60
_REPLACE = Message("shrink.replace")


def losses(before: Bundle, after: Bundle, mode: MergeMode, percent: float) -> list[str]:
    """Return what `after` drops of `before` that an update in this mode may not drop, or [].

    EXTEND preserves every line of every file, in order and as the same kind of block; a line of a
    script and the description may grow. REFINE preserves all headings and frontmatter keys, at
    least half of each code block and of the description, and drops at most `percent` of the text of
    SKILL.md and of all text together. What is elsewhere in the skill now is not dropped, nor is
    what a changed sentence shares with a similar one; other new text makes up for nothing. Raises
    BundleInvalid for a changed text of too many lines.
    """
    same = {path for path, file in before.files.items() if after.files.get(path) == file}
    old, new = _Folder.of(before, same), _Folder.of(after, same)
    found = [] if mode is not MergeMode.EXTEND else list(_not_extended(before, after, old, new))
    found += [*_lost_structure(old, new), *_lost_text(old, new, percent), *_lost_keys(old, new)]
    found += _gutted(_description(before), _description(after))
    lost_binary = [path for path, file in old.binary.items() if after.files.get(path) != file]
    if lost_binary:
        found.append(Message("shrink.binary", names=_named(lost_binary)))
    return list(dict.fromkeys(found))


def refusals(before: Bundle, after: Bundle, mode: MergeMode, percent: float) -> list[str]:
    """Return the losses as problems for the author: what to do, and what would permit it."""
    return [
        Message("shrink.loss", mode=mode, loss=loss, replace=_REPLACE)
        for loss in losses(before, after, mode, percent)
    ]


@dataclass(frozen=True)
class _Folder:
    """A skill as far as it is compared: text files, binary files, headings, code blocks."""

    texts: Mapping[str, str]
    binary: Mapping[str, SkillFile]
    headings: Counter[str]
    code: Counter[str]

    @property
    def document(self) -> str:
        """The text of SKILL.md."""
        return self.texts.get(SKILL_MD, "")

    @property
    def bodies(self) -> list[str]:
        """The texts of SKILL.md without its description, and then of the other files."""
        own = "\n".join([*_keys(self).values(), parted(self.document)[1]])
        return [own, *(text for path, text in self.texts.items() if path != SKILL_MD)]

    @classmethod
    def of(cls, bundle: Bundle, same: Collection[str]) -> _Folder:
        """Parse a skill; the structure of files that both sides share is not needed."""
        texts, binary = _sorted_out(bundle)
        headings: Counter[str] = Counter()
        code: Counter[str] = Counter()
        for path, text in texts.items():
            if _is_markdown(path) and path not in same:
                found = blocks(parted(text)[1])
                headings.update(heading.text for heading in headings_in(found))
                code.update(block.content for block in found if block.kind in _CODE)
        return cls(texts, binary, headings, code)


def _sorted_out(bundle: Bundle) -> tuple[dict[str, str], dict[str, SkillFile]]:
    texts: dict[str, str] = {}
    binary: dict[str, SkillFile] = {}
    for path, file in bundle.files.items():
        try:
            texts[path] = file.data.decode("utf-8")
        except UnicodeDecodeError:
            binary[path] = file
    return texts, binary


def _lost_structure(old: _Folder, new: _Folder) -> Iterator[str]:
    gone = (old.headings - new.headings).elements()
    if names := list(gone):
        yield Message("shrink.headings", names=_named(names))
    blocks_gone = [block for block in _lost_code(old, new) if block.strip()]
    if blocks_gone or old.code.total() > new.code.total():
        yield (
            Message(
                "shrink.code",
                was=old.code.total(),
                now=new.code.total(),
                names=_named(blocks_gone or (old.code - new.code).elements()),
            )
        )


def _lost_code(old: _Folder, new: _Folder) -> Iterator[str]:
    """Yield the code blocks of which less than half survives in new blocks."""
    gone = [*(old.code - new.code).elements()]
    parts = [passages(block) for block in gone]
    fresh = [part for block in (new.code - old.code).elements() for part in passages(block)]
    survived = iter(surviving([part for block in parts for part in block], fresh))
    for block, own in zip(gone, parts, strict=True):
        if 2 * sum(islice(survived, len(own))) < _chars(own):
            yield block


def _lost_text(old: _Folder, new: _Folder, percent: float) -> Iterator[str]:
    """Compare SKILL.md, then all text; a skill without text has none to lose."""
    parts = [passages(text) for text in old.bodies]
    every = [part for text in parts for part in text]
    survived = surviving(every, [part for text in new.bodies for part in passages(text)])
    for label, count, was, now in (
        (SKILL_MD, len(parts[0]), [old.document], [new.document]),
        (Message("shrink.all_text"), len(every), [*old.texts.values()], [*new.texts.values()]),
    ):
        total = _chars(every[:count])
        dropped = total - sum(survived[:count])
        if dropped * 100 > percent * total:
            yield (
                Message(
                    "shrink.text",
                    n=math.ceil(dropped * 100 / total),
                    label=label,
                    percent=percent,
                    was=_size(was),
                    now=_size(now),
                )
            )


def _gutted(old: str, new: str) -> Iterator[str]:
    """Yield a description that lost too much: a skill is found by it, so it is more than text."""
    placeholder = is_placeholder(new, markdown=False) and not is_placeholder(old, markdown=False)
    if placeholder or 2 * len(new.strip()) < len(old.strip()):
        yield Message("shrink.description", was=_named([old]), now=_named([new]))


def _lost_keys(old: _Folder, new: _Folder) -> Iterator[str]:
    gone = [key for key in _keys(old) if key not in _keys(new)]
    if gone:
        yield Message("shrink.keys", names=_named(gone))


def _not_extended(before: Bundle, after: Bundle, old: _Folder, new: _Folder) -> Iterator[str]:
    deleted = [path for path in before.files if path not in after.files]
    if deleted:
        yield Message("shrink.files", names=_named(deleted))
    for path, text in old.texts.items():
        now = new.texts.get(path, "")  # of what is no text any more, no line is left
        if path in after.files and now != text:
            yield from _not_kept(path, parted(text)[1], parted(now)[1])
    if changed := [key for key, value in _keys(old).items() if _keys(new).get(key) != value]:
        yield Message("shrink.keys_changed", names=_named(changed))
    if not grows(_description(before), _description(after)):
        yield Message("shrink.description_words")


def _not_kept(path: str, old: str, new: str) -> Iterator[str]:
    missing = missing_code if path.startswith(_SCRIPTS) else missing_lines
    if gone := missing(old, new):
        yield Message("shrink.lines", path=path, names=_named(gone))
    elif _is_markdown(path) and (turned := turned_lines(old, new)):
        yield Message("shrink.lines_turned", path=path, names=_named(turned))


def _description(bundle: Bundle) -> str:
    try:
        return read_frontmatter(bundle.document).description
    except (BundleInvalid, UnicodeDecodeError):
        return ""


def _keys(folder: _Folder) -> dict[str, str]:
    """Return the frontmatter's keys with the text of their values, except the description's."""
    try:
        values = read_values(folder.document)
    except BundleInvalid:
        return {}
    start = folder.document.index("\n") + 1
    return {
        key: folder.document[start + node.start : start + node.end].strip()
        for key, node in values.items()
        if key != "description"
    }


def _is_markdown(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown"))


def _chars(parts: Iterable[str]) -> int:
    return sum(map(len, parts))


def _size(texts: Iterable[str]) -> str:
    whole = [*texts]
    count = sum(len(text.splitlines()) for text in whole)
    return Message(
        "shrink.size", count=count, chars=_chars(part for text in whole for part in passages(text))
    )


def _named(names: Iterable[str]) -> str:
    """Return the first few names, and how many more there are."""
    listed = list(names)
    shown = ", ".join(
        repr(shorten(" ".join(name.split()), _NAME_CHARS)) for name in listed[:_NAMED]
    )
    return (
        Message("near.and_more", ids=shown, n=len(listed) - _NAMED)
        if len(listed) > _NAMED
        else shown
    )
