"""Particles and endings of Korean, as they stand at the end of a word that people ask with."""

from __future__ import annotations

import re

_LEAST_STEM = 2
_SUFFIXES = (
    "은 는 이 가 을 를 의 에 도 만 로 와 과 랑 야 님 들 이랑 하고 에서 에게 한테 께서 으로 까지"
    " 부터 마다 조차 마저 밖에 보다 처럼 이나 이란 라고 이라고 라면 이라면 라도 이라도 에는 에도"
    " 에만 에서는 에게는 에게서 으로는 으로도 으로써 으로부터 에다가 들이 들은 들을 인데 이고 이며"
    " 이야 인가 인가요 였고 였던 였는데 이었다 이었을 했다 했던 했고 했으면 했는데 했다면 합니다"
    " 합니까 했습니다 했습니다만 입니다 이다 이었습니다 하는 하던 하면 하면서 하며 하여 해서 해야"
    " 해도 하기 하나 하자 하지 한다 할까 할까요 하나요 하려고 하려면 하시고 하셨던 되는 되면 된다"
    " 됩니까 되나 되나요 되었나요 해요 해줘 시켜 지요 나요 까요 세요 어요 는지 은지 을지 려면 려고"
    " 으면 면서 으며 습니까 습니다 습니다만 던데 는데 기 기는 기를 기가 기에 기로"
)
_SUFFIX = re.compile(f"(?:{'|'.join(sorted(_SUFFIXES.split(), key=len, reverse=True))})$")
_SURE_SUFFIX = re.compile("(?:은|는|을|를|에서|에게|으로|까지|부터)$")
_HANGUL = re.compile("[\uac00-\ud7a3]+")


def suffix_start(run: str) -> int:
    """Give where the particle or ending of a Korean word begins, its length where it has none.

    What stays is two syllables at least, or one before what can be nothing but a particle.
    """
    if _HANGUL.fullmatch(run):
        found = (_SUFFIX.search(run, _LEAST_STEM), _SURE_SUFFIX.search(run, 1))
        return min((match.start() for match in found if match), default=len(run))
    return len(run)
