"""Korean words without their particles and endings, well enough to compare them (pure)."""

from __future__ import annotations

import re
from functools import lru_cache

_FIRST, _SYLLABLES, _FINALS = 0xAC00, 11_172, 28
_CUT_FINALS = {4, 8, 17, 20}  # ㄴ ㄹ ㅂ ㅆ: what an ending adds to the last syllable of a verb

# Longest first. What is one syllable long needs two before it: `보고`, `회의` are whole words.
_COPULA = re.compile(
    r"(?<=.)(?:입니다|입니까|이었습니다|였습니다|이에요|예요|에요|이예요|이다|인데|이므로|이라서)$"
)
_ENDINGS = re.compile(
    r"(?<=.)(?:(?:으?시|으?십|으?셔)?(?:습니다|습니까|니다|니까|세요|셔요|어요|아요|여요|네요|군요|지요|려요|해요|돼요"
    r"|아야|어야|아서|어서|으면|면서|려고|도록|지만|는데|은데|는지|거나|든지|더라도|어도|아도|기로|기를|기가"
    r"|기는|기에|았다|었다|였다|는다|자마자|면은|지는|지도))$"
    r"|(?<=..)(?:요|다|면|며|고|지|기|게|자|는|은|을|던|야|서|도|음)$"
)
_PARTICLES = re.compile(
    r"(?<=.)(?:께서는|께서|에게서|에게는|에게|한테는|한테|께는|께|에서는|에서|에는|에도|에만|까지는|까지|부터는"
    r"|부터|으로는|으로만|으로|로는|로만|이라는|라는|이라고|라고|보다|처럼|만큼|마다|조차|밖에|이며|이고|만이|만을"
    r"|만은|들은|들이|들을|들에게|을|를|은|는)$"
    r"|(?<=..)(?:이|가|의|에|로|와|과|도|만|랑|들|나)$"
)
_LIGHT = re.compile(
    r"(?<=..)(?:하였|했|하시|하|해|한|할|합|되었|됐|되시|되|돼|된|될|됩|시키|당하)$"
)
_HONORIFIC = re.compile(r"(?<=..)님$")
_OPENED = "려리 여이 와오 워우 봐보 줘주 겨기 켜키 쳐치 꿔꾸 져지 써쓰 둬두"
_OPEN = {pair[0]: pair[1] for pair in _OPENED.split()}


@lru_cache(maxsize=10_000)
def korean_stem(word: str) -> str:
    """Give a Hangul word (NFC) without particles, endings, light verbs and honorific.

    A rough cut by rules: `환불을`, `환불해야`, `환불됩니다` all give `환불`.
    """
    base = _COPULA.sub("", word)
    base = _cut_particles(base)
    if base == word:
        ended = _ENDINGS.sub("", word)
        base = _close(ended) if ended != word else word
    base = _HONORIFIC.sub("", base)
    base = _LIGHT.sub("", base)
    return base[:-1] + _OPEN.get(base[-1], base[-1])


def _cut_particles(word: str) -> str:
    base = _PARTICLES.sub("", word)
    return _PARTICLES.sub("", base) if len(base) > 2 else base


def _close(base: str) -> str:
    """Undo what an ending does to the syllable before it: `보냅`니다, `시작된`다."""
    last = ord(base[-1]) - _FIRST
    cut = _CUT_FINALS if len(base) > 1 else {17}
    if 0 <= last < _SYLLABLES and last % _FINALS in cut:
        return base[:-1] + chr(_FIRST + last - last % _FINALS)
    return base
