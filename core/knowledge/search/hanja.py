"""Hanja read as Hangul: Korean texts write one word either way, 會議 or 회의."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

# KS X 1001, the standard that Korean keyboards type from, sorts its 4,888 Hanja by their reading:
# these are the readings in that order, each with how many Hanja it has (one if none is said).
_READINGS = (
    "가29각11간24갈10감20갑6강24개20객2갱4갹거17건12걸4검7겁3게3격7견11결6겸6경45계24고39곡7곤10골3공17과13곽3관17괄4광13괘3괴9굉4교25"
    "구54국6군6굴4궁6권10궐5궤7귀5규15균7귤극7근16금14급7긍4기64긴길5끽나15낙8난9날2남9납5낭7내6냉녀년3념5녕노18녹6논농7뇌6뇨누8눈눌뉴2늑2늠능6니2"
    "닉2다2단20달5담17답5당11대17덕2도40독10돈10돌2동17두11둔6득등9라9락10란8랄2람10랍3랑8래4랭략2량13려18력7련12렬6렴5렵령18례5로18록7론롱7"
    "뢰8료12룡루13류14륙3륜6률4륭륵2름릉6리26린9림5립4마8막6만19말7망12매14맥5맹6멱2면11멸2명15몌모24목7몰2몽3묘12무22묵2문12물3미19민13밀3"
    "박19반25발11방28배20백8번10벌4범9법2벽12변6별4병17보16복17본볼봉17부42북분19불5붕6비43빈14빙4사60삭4산12살5삼8삽4상31새5색3생5서30"
    "석15선32설13섬8섭4성18세9소37속9손6솔송8쇄5쇠2수61숙12순27술4숭3슬3습5승10시28식15신24실4심10십3쌍씨아18악14안10알4암8압4앙7애11액7앵4"
    "야11약9양31어10억5언6얼2엄6업2엔여24역13연43열10염15엽4영40예24오30옥5온6올옹9와8완18왈왕5왜4외5요38욕6용24우32욱9운13울3웅2원27월3"
    "위25유56육7윤13율5융5은7을음6읍3응4의19이38익8인24일9임11입5잉4자26작13잔5잠6잡장37재17쟁4저28적25전41절8점9접3정55제23조46족4존2졸3"
    "종17좌5죄주40죽2준19줄중4즉즐즙3증11지34직5진35질15짐3집6징3차15착7찬15찰5참10창22채12책4처4척15천19철10첨10첩10청9체9초27촉6촌4총10촬"
    "최3추23축12춘3출3충6췌4취14측5층치24칙3친칠3침9칩칭2쾌타14탁16탄10탈2탐4탑3탕5태14택3탱터토4통7퇴6투6특2틈파16판9팔3패11팽4퍅편10폄평5폐10"
    "포28폭6표14품2풍5피7필10핍2하14학5한14할2함12합7항17해18핵2행5향9허4헌4헐험2혁4현21혈4혐협12형20혜9호41혹3혼6홀3홍10화14확6환17활5황24"
    "회20획2횡3효13후13훈10훙훤4훼3휘8휴5휼3흉5흑흔4흘4흠3흡4흥희20힐"
)
_READING = re.compile(r"([가-힣])(\d*)")
_ROWS, _COLUMNS = range(0xCA, 0xFE), range(0xA1, 0xFF)
# Hanja of several readings that stand there under a rarer one.
_USUAL = "串관 廓곽 金금 寧녕 坍단 宅택 不불 嗇색 樂락 泌비 率률"
_KANA, _HAN = "\u3040-\u30ff", "\u4e00-\u9fff"
_RUN = re.compile(f"(?<![{_KANA}{_HAN}])[{_HAN}]++(?![{_KANA}])")
_FIRST, _VOWEL, _ONSET = 0xAC00, 28, 588
_NIEUN, _DIGEUT, _RIEUL, _IEUNG, _JIEUT = 2, 3, 5, 11, 12
_IOTISED = {2, 3, 6, 7, 12, 17, 20}  # ㅑ ㅒ ㅕ ㅖ ㅛ ㅠ ㅣ


def as_hangul(text: str) -> str:
    """Return a text (NFC) with its Hanja as Hangul, one syllable in place of each.

    A run beside kana stays as it is, and one with a character that KS X 1001 lacks: they are
    Japanese or Chinese.
    """
    return _RUN.sub(_read, text)


def _read(run: re.Match[str]) -> str:
    table = _table()
    readings = [table[char] for char in run[0] if char in table]
    if len(readings) < len(run[0]):
        return run[0]
    read = [run.string[run.start() - 1] if run.start() else ""]
    for char, syllable, after in zip(run[0], readings, [*readings[1:], ""], strict=True):
        read.append(_in_word(char, syllable, read[-1], after))
    return "".join(read[1:])


def _in_word(char: str, syllable: str, before: str, after: str) -> str:
    """Return a reading as its place in the word changes it: 女子 여자, 男女 남녀, 比率 비율."""
    if char == "不" and after and _onset(after) in {_DIGEUT, _JIEUT}:
        return "부"
    if before.isdigit():  # 2026年 2026년
        return syllable
    if not "가" <= before <= "힣":
        return _initial(syllable)
    is_open = (ord(before) - _FIRST) % _VOWEL in {0, 4}  # no final, or ㄴ
    return _initial(syllable) if is_open and syllable in "렬률" else syllable


def _initial(syllable: str) -> str:
    """Return a syllable as it begins a word: no ㄹ, and no ㄴ before ㅣ and iotised vowels."""
    onset, rest = divmod(ord(syllable) - _FIRST, _ONSET)
    is_iotised = rest // _VOWEL in _IOTISED
    if onset == _RIEUL:
        onset = _IEUNG if is_iotised else _NIEUN
    elif onset == _NIEUN and is_iotised:
        onset = _IEUNG
    return chr(_FIRST + onset * _ONSET + rest)


def _onset(syllable: str) -> int:
    return (ord(syllable) - _FIRST) // _ONSET


@lru_cache(maxsize=1)
def _table() -> Mapping[str, str]:
    """Return the reading of each Hanja of KS X 1001."""
    codes = (bytes((row, column)) for row in _ROWS for column in _COLUMNS)
    readings = (
        syllable for syllable, count in _READING.findall(_READINGS) for _ in range(int(count or 1))
    )
    table: dict[str, str] = {}
    for code, syllable in zip(codes, readings, strict=True):
        char = code.decode("euc_kr")
        if _RUN.match(char):  # others stand for a second reading of one that is there too
            table[char] = syllable
    return table | {pair[0]: pair[1] for pair in _USUAL.split()}
