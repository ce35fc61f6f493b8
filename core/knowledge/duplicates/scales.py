"""Words that exclude each other: days, spans of time, places on a scale, opposites (data)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

from core.knowledge.duplicates.signs import NEITHER, Sides, Sign
from core.knowledge.duplicates.words import korean_stem
from core.knowledge.search.spelling import senses
from core.knowledge.search.tokens import stem

Of = Literal["number", "negation"]
# A scale a line, its places divided by `|`; a line that begins with one goes on.
_VALUES = """
월요일 monday mon | 화요일 tuesday tue | 수요일 wednesday wed | 목요일 thursday thu
| 금요일 friday fri | 토요일 saturday | 일요일 sunday
평일 weekday | 주말 weekend
매일 날마다 일일 일 daily day | 매주 주 주간 weekly week | 격주 biweekly fortnightly fortnight
| 매월 매달 월 월간 monthly month | 분기 매분기 quarterly quarter | 반기
| 매년 해마다 연 연간 yearly annually annual year | 매시간 hourly hour
어제 yesterday | 오늘 today | 내일 tomorrow | 모레
지난 last | 이번 this | 다음 next
오전 morning | 오후 afternoon | 저녁 evening
상반기 | 하반기
월초 | 월중 | 월말
연초 | 연말
봄 | 여름 summer | 가을 autumn | 겨울 winter
첫 첫째 first | 둘째 second | 셋째 third | 넷째 fourth
동쪽 east | 서쪽 west | 남쪽 south | 북쪽 north
"""
_OPPOSITES = """
올리 인상 높이 raise increase | 내리 인하 낮추 lower decrease reduce
오르 오른 rise | 내리 fall
증가 늘 늘리 늘어나 | 감소 줄 줄이 줄어들
켜 켜지 켠 켭 on | 끄 꺼지 끈 끕 off
열 연 여 open | 닫 close
안 inside | 밖 outside
내부 안쪽 | 외부 바깥쪽
internal | external
in | out
위 위쪽 상단 top above | 아래 아래쪽 하단 bottom below under
up | down
앞 front | 뒤 back rear
왼쪽 좌측 left | 오른쪽 우측 right
국내 domestic | 해외 국외 foreign
온라인 online | 오프라인 offline
승인 허가 수락 accept approve | 반려 거절 거부 기각 reject refuse
허용 allow permit | 금지 forbid prohibit
동의 찬성 agree | 거부 반대 disagree
추가 add | 삭제 제거 remove delete
포함 include | 제외 exclude
시작 start begin | 종료 끝 stop end
입고 | 출고
입금 | 출금
가입 | 탈퇴 해지
수입 import | 수출 export
설치 install | 제거 uninstall
선불 prepaid | 후불 postpaid
more | less fewer
크 큰 large big | 작 작은 small
높 높은 high | 낮 낮은 low
길 긴 long | 짧 짧은 short
빠르 빠른 fast | 느리 느린 slow
무겁 heavy | 가볍 light
새 new | 헌 old
public | private
강화 | 완화
연결 connect | 해제 disconnect
잠그 lock | 풀 unlock
"""
_PLACES: Mapping[Of, str] = {"number": _VALUES, "negation": _OPPOSITES}


@cache  # when first asked: most commands compare no texts
def _places(of: Of) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """Return the scales that each word has a place on, by the keys of signs."""
    found: defaultdict[str, dict[tuple[int, int], None]] = defaultdict(dict)
    for scale, line in enumerate(_PLACES[of].strip().replace("\n|", "|").splitlines()):
        for place, words in enumerate(line.split("|")):
            for word in words.split():
                base = stem(word) if word.isascii() else korean_stem(word)
                for key in (word, senses().get(base, base)):
                    found[key][scale, place] = None
    return {key: tuple(places) for key, places in found.items()}


def opposed(of: Of, new: Iterable[Sign], known: Iterable[Sign]) -> Sides:
    """Return the words of two texts that exclude each other, on scales where each has its own."""
    mine, theirs = _placed(of, new), _placed(of, known)
    ours, others = dict[str, None](), dict[str, None]()
    for scale in mine.keys() & theirs.keys():
        alone = mine[scale].keys() - theirs[scale].keys()
        missing = theirs[scale].keys() - mine[scale].keys()
        if alone and missing:
            ours |= dict.fromkeys(text for at, text in mine[scale].items() if at in alone)
            others |= dict.fromkeys(text for at, text in theirs[scale].items() if at in missing)
    return (tuple(ours), tuple(others)) if ours else NEITHER


def _placed(of: Of, signs: Iterable[Sign]) -> Mapping[int, dict[int, str]]:
    """Return the places that a text has on each scale, with the words that say so."""
    places = _places(of)
    found: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for sign in signs:
        for key in (sign.key, sign.preposition):
            for scale, place in places.get(key, ()) if key else ():
                found[scale].setdefault(place, sign.text if key == sign.key else key)
    return found
