"""What else the words of a query may mean: other words of one sense, and corrections of slips."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from core.knowledge.search.tokens import WRITTEN, Question, Run, stem, suffix_start, written

# Each line is one sense. Korean words are stems as `words.korean_stem` in duplicates returns them.
_SAME = """
begin began begun start commence 시작 개시
end ended finish complete conclude over 끝 끝나 종료 완료 마치 마감
close shut 닫 마감
send sent dispatch transmit 보내 발송 송부 전송 전달
pay paid payment settle 결제 지급 지불 납부
buy bought purchase procure 구매 구입
sell sold sale 판매 매출
show shown display present 표시 표기
write wrote written compose draft 작성 기재 적 적히
phone telephone call ring 전화 통화
email mail 메일 이메일
customer client 고객 손님
refund reimburse 환불
return 반품 반송 돌려보내
delivery deliver shipping shipment ship parcel 배송 배달 택배
meeting meet 회의 미팅
report 보고 보고서 리포트
contract agreement 계약 계약서
sign signature signing 서명 사인 날인
review check inspect 검토 리뷰
approve approval 승인 결재
allow permit permission 허용 허락
forbid forbidden prohibit ban 금지
limit cap quota maximum 한도 제한 최대
language 언어
photo photograph picture 사진
restart reboot 재시작 재부팅
manager 매니저 관리자
employee staff personnel hire 직원 사원
holiday vacation 휴가
laptop notebook 노트북
won krw 원 원화
dollar usd 달러
euro eur 유로
yen jpy 엔 엔화
percent 퍼센트
decimal 소수 소수점
amount figure sum 금액 액수
price cost fee charge 가격 요금 비용
slide deck presentation 슬라이드 발표
color colour 색 색상 색깔
bill invoice 청구서 인보이스
vendor supplier 거래처 공급업체 공급사 협력사
document doc 문서
store keep kept save archive 보관 저장
delete remove erase 삭제 제거
error bug fault 오류 에러 버그
answer reply respond response 답 답변 회신 응답 답장
question inquiry enquiry 문의 질문
short brief concise 짧 간단 간략
detailed detail 자세 상세
fast quick prompt immediate 빠르 신속 즉시
change modify alter 변경 수정 바꾸 바뀌
expire lapse 만료
open 열 개점
cancel 취소
warehouse depot 창고
discount rebate 할인
tax vat 세금 부가세
damage broken 파손 손상 부서지 망가지
product goods item article 상품 제품 물건 물품
night evening 밤 저녁
morning 아침 오전 새벽
deadline due 마감 기한
capital uppercase 대문자
password 비밀번호 암호 패스워드
server 서버
colleague coworker teammate 동료
school 학교
travel trip 출장 여행
monday mon 월요일
tuesday tue 화요일
wednesday wed 수요일
thursday thu 목요일
friday fri 금요일
saturday sat 토요일
sunday sun 일요일
daily 매일 날마다
weekly 매주 주간
monthly 매월 매달 월간
yearly annual 매년 연간
quarterly 분기 분기별
man male 남자 남성
woman lady female 여자 여성
child kid infant 아이 어린이 어린아이 아동
car vehicle automobile 자동차 차량
lorry truck 트럭 화물차
arrive arrival 도착
discard dispose scrap 버리 폐기
salary wage payroll 급여 월급 임금
drink beverage 마시 음료
office 사무실 사무소
headquarters 본사 본점
branch 지점 지사
department 부서
company firm corporation 회사 기업 업체
factory plant 공장
equipment 장비 설비
free gratis complimentary 무료 공짜
mandatory compulsory obligatory 필수 의무
permanent 영구 상시
temporary interim 임시 한시
identical 동일 같
different 다르 상이
decrease reduce lower drop fall decline 감소 줄 줄이 인하 하락 떨어지 낮추
increase grow 증가 늘 늘어나 인상
depart departure 출발 떠나
shop outlet 매장 점포 가게
recruit 채용
lesson course 수업 강의 강좌
exam examination 시험
meal 식사 취식
rest 쉬 휴식
copy duplicate 사본 복사 복사본
original 원본
attach attachment 첨부
summary summarise summarize 요약
explain explanation 설명
notify notification inform 알리 통지 통보 안내 공지
visit visitor 방문 방문객
reserve reservation book booking 예약
register registration enrol enroll 등록
resign 퇴사 퇴직
budget 예산
stock inventory 재고
patient 환자
doctor physician 의사
medicine medication drug 약 의약품
student pupil 학생
teacher tutor 교사 강사
address 주소
name 이름 성명 명칭
date 날짜 일자
receipt 영수증
"""

_ROWS = (
    ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    ("ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ", "ㅁㄴㅇㄹㅎㅗㅓㅏㅣ", "ㅋㅌㅊㅍㅠㅜㅡ"),
)
# Letters that share a key, and letters that sound alike.
_ON_ONE_KEY = "ㅂㅃ ㅈㅉ ㄷㄸ ㄱㄲ ㅅㅆ ㅐㅒ ㅔㅖ"
_ALIKE = "ㅐㅔ ㅚㅙ ㅚㅞ ㅙㅞ ㅢㅣ ㅗㅚ ㅜㅟ ㅓㅝ ㅏㅘ ㄴㄶ ㄹㅀ ㅂㅄ ㄱㄳ ㄹㄺ"
_ONSETS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_MEDIALS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_CODAS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
_FIRST, _LAST = 0xAC00, 0xD7A3


def letters(syllable: str) -> tuple[str, str, str]:
    """Return the three letters of a Hangul syllable, a blank in place of a missing final."""
    rest, coda = divmod(ord(syllable) - _FIRST, len(_CODAS))
    onset, vowel = divmod(rest, len(_MEDIALS))
    return _ONSETS[onset], _MEDIALS[vowel], _CODAS[coda]


def is_syllable(char: str) -> bool:
    """Whether a character is a composed Hangul syllable."""
    return _FIRST <= ord(char) <= _LAST


@cache
def slips(syllable: str) -> tuple[tuple[str, bool], ...]:
    """Return the syllables that differ in one letter, and whether that is a likely slip."""
    onset, vowel, coda = letters(syllable)
    found = [(_syllable(other, vowel, coda), near(onset, other)) for other in _ONSETS]
    found += [(_syllable(onset, other, coda), near(vowel, other)) for other in _MEDIALS]
    found += [
        (_syllable(onset, vowel, other), near(coda, other) or " " in {coda, other})
        for other in _CODAS
    ]
    return tuple((other, is_near) for other, is_near in found if other != syllable)


def near(one: str, other: str) -> bool:
    """Whether two letters are adjacent on the keyboard, share a key, or sound alike."""
    return other in _neighbours().get(one, "")


@cache
def _neighbours() -> dict[str, str]:
    found: dict[str, str] = {}
    for rows in _ROWS:
        for y, row in enumerate(rows):
            for x, letter in enumerate(row):
                places = [(y, x - 1), (y, x + 1), (y - 1, x), (y - 1, x + 1), (y + 1, x - 1)]
                beside = [*places, (y + 1, x)]
                found[letter] = "".join(
                    rows[b][a] for b, a in beside if 0 <= b < len(rows) and 0 <= a < len(rows[b])
                )
    for pair in f"{_ON_ONE_KEY} {_ALIKE}".split():
        one, other = pair[0], pair[1]
        found[one] = found.get(one, "") + other
        found[other] = found.get(other, "") + one
    return found


def _syllable(onset: str, vowel: str, coda: str) -> str:
    index = _ONSETS.index(onset) * len(_MEDIALS) + _MEDIALS.index(vowel)
    return chr(_FIRST + index * len(_CODAS) + _CODAS.index(coda))


MAX_WORDS = 2  # a word of ten letters has 349 variants to look up, a Korean pair 130
MAX_MEANT = 4

# What a corrected word counts, as a part of one typed right: likely slips, others, blanks.
_NEAR, _FAR = 0.6, 0.4
_SPLIT = 0.9
_JOIN = 0.7
_LEAST_WORD, _LONGEST_WORD = 4, 20
_LEAST_PART = 3
_VOWELS = "aeiou"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Guess(NamedTuple):
    """Words that must all occur for the guess to apply, and its confidence."""

    words: tuple[str, ...]
    factor: float


class Meant(NamedTuple):
    """Corrections of a word: `slips` (key -> confidence), or different `blanks`.

    A marked key is a written word, an unmarked one a stem; a word of `blanks` may be either.
    """

    slips: Mapping[str, float]
    blanks: tuple[Guess, ...] = ()


Guesses = Mapping[str, Meant]


def guesses(question: Question, known: Callable[[str], bool]) -> Guesses:
    """Return corrections for the words of a query that occur nowhere: term -> corrections.

    For a Korean word only the first two syllables are corrected: its meaning is at the beginning,
    while endings are often unknown even if spelt right. A Latin word may be wrong as written or
    in its stem. The key of a join of two words is no term of the query.
    """
    found: dict[str, Meant] = {}
    for run, term in _unknown(question.runs, known):
        if len(found) >= MAX_WORDS:
            break
        if term not in found:
            found[term] = _meant_by(run)
    return found | dict(_joined(question.runs))


def keys(found: Guesses) -> list[str]:
    """Return all keys to look up in the index."""
    asked: dict[str, object] = {}
    for meant in found.values():
        asked.update(meant.slips)
        words = [word for guess in meant.blanks for word in guess.words]
        asked |= dict.fromkeys(words) | {written(word): None for word in words if word.isascii()}
    return [*asked]


def likely(found: Guesses, known: Container[str]) -> dict[str, float]:
    """Return the corrected terms whose keys occur: term -> confidence."""
    terms: dict[str, float] = {}
    for meant in found.values():
        for guess in _sure(meant, known)[:MAX_MEANT]:
            for word in guess.words:
                key = _key(word, known)
                term = stem(key.removeprefix(WRITTEN)) if key.startswith(WRITTEN) else key
                terms[term] = max(guess.factor, terms.get(term, 0.0))
    return terms


def _sure(meant: Meant, known: Container[str]) -> list[Guess]:
    """Return the guesses that occur, the most confident first, then alphabetically."""
    slips = [
        Guess((key,), factor)
        for key, factor in meant.slips.items()
        if key in known or (key[0] != WRITTEN and written(key) in known)
    ]
    if slips and slips[0].words[0].isascii():
        slips.sort()
    blanks = [guess for guess in meant.blanks if all(_key(word, known) for word in guess.words)]
    return sorted([*blanks, *slips], key=lambda guess: -guess.factor)


def _key(word: str, known: Container[str]) -> str:
    """Return the known key of a word, its written form before its stem; empty if neither is."""
    keys = (word,) if word.startswith(WRITTEN) else (written(word), word)
    return next((key for key in keys if key in known), "")


def _unknown(typed: Iterable[Run], known: Callable[[str], bool]) -> Iterator[tuple[Run, str]]:
    """Yield the words to correct, each with its unknown term."""
    for run in typed:
        if run.kind == "unspaced" and len(run.text) > 1 and not known(run.text[:2]):
            yield run, run.text[:2]
        elif run.kind == "word" and _can_be_guessed(run.text) and not known(stem(run.text)):
            yield run, stem(run.text)


def _can_be_guessed(word: str) -> bool:
    return word.isascii() and _LEAST_WORD <= len(word) <= _LONGEST_WORD


def _joined(typed: Iterable[Run]) -> Iterator[tuple[str, Meant]]:
    """Yield joins of two words that a blank may have separated.

    Korean words of two or more syllables are found by their own pairs already.
    """
    for one, two in pairwise(typed):
        if two.joins and one.kind == two.kind:
            if one.kind == "unspaced" and 1 in {len(one.text), len(two.text)}:
                pair = one.text[-1] + two.text[0]
                yield pair, Meant({}, (Guess((pair,), _JOIN),))
            elif one.kind == "word" and (one.text + two.text).isascii():
                joined = one.text + two.text
                yield f"{one.text} {two.text}", Meant({}, (Guess((joined,), _JOIN),))


def _meant_by(run: Run) -> Meant:
    return _meant_by_word(run.text) if run.kind == "word" else Meant(_meant_by_pair(run.text))


def _meant_by_word(word: str) -> Meant:
    cuts = range(_LEAST_PART, len(word) - _LEAST_PART + 1)
    blanks = tuple(Guess((word[:at], word[at:]), _SPLIT) for at in cuts)
    slips = _slips_of_word(word, WRITTEN)
    if len(stem(word)) >= _LEAST_WORD:
        slips |= _slips_of_word(stem(word))
    return Meant(slips, blanks)


def _slips_of_word(word: str, mark: str = "") -> dict[str, float]:
    """Return the words at one deletion, transposition, insertion or substitution (Damerau 1964).

    A substitute is a letter adjacent on the keyboard, or a vowel for a vowel.
    """
    parts = [(mark + word[:at], word[at:]) for at in range(len(word) + 1)]
    slips = dict.fromkeys([a + c + b for a, b in parts for c in _LETTERS], _FAR)
    slips |= dict.fromkeys([a + c + b[1:] for a, b in parts if b for c in _instead_of(b[0])], _NEAR)
    slips |= dict.fromkeys([a + b[1:] for a, b in parts if b], _NEAR)
    slips |= dict.fromkeys([a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1], _NEAR)
    slips.pop(mark + word, None)
    return slips


@cache
def _instead_of(letter: str) -> frozenset[str]:
    beside = frozenset(other for other in _LETTERS if near(letter, other))
    return beside | frozenset(_VOWELS) if letter in _VOWELS else beside


def _meant_by_pair(run: str) -> dict[str, float]:
    """Return the variants of the first Hangul pair with one letter changed."""
    one, two = run[0], run[1]
    meant: dict[str, float] = {}
    if is_syllable(one):
        meant |= {other + two: _NEAR if is_near else _FAR for other, is_near in slips(one)}
    if is_syllable(two):
        meant |= {one + other: _NEAR if is_near else _FAR for other, is_near in slips(two)}
    return meant


MAX_SENSES = 8  # words of a query whose synonyms are looked up: each has up to six
_ALIKE_FACTOR = 0.4  # of the weight of the word itself
_LEAST_HANGUL = 2


@lru_cache(maxsize=1)
def senses() -> Mapping[str, str]:
    """Return the sense of each stem: the first word of its line."""
    found: dict[str, str] = {}
    for line in _SAME.strip().splitlines():
        words = [stem(word) for word in line.split()]
        found |= {word: words[0] for word in words if word not in found}
    return found


@lru_cache(maxsize=1)
def _terms_of_senses() -> Mapping[str, tuple[str, ...]]:
    """Return the terms that stand for each sense: stems, and the first pair of Korean words.

    A Korean word of one syllable stands for too much.
    """
    terms: dict[str, dict[str, None]] = {}
    for word, sense in senses().items():
        if word.isascii() or len(word) >= _LEAST_HANGUL:
            term = word if word.isascii() else word[:_LEAST_HANGUL]
            terms.setdefault(sense, {})[term] = None
    return {sense: tuple(found) for sense, found in terms.items()}


def synonyms(question: Question) -> dict[str, tuple[str, float]]:
    """Return other words for those of a query: term -> the term it stands for, and its factor."""
    found: dict[str, tuple[str, float]] = {}
    words = 0
    for run in question.runs:
        own, sense = _sense(run)
        if sense and words < MAX_SENSES:
            words += 1
            for term in _terms_of_senses().get(sense, ()):
                if term not in question.counts:
                    found.setdefault(term, (own, _ALIKE_FACTOR))
    return found


def _sense(run: Run) -> tuple[str, str]:
    """Return the term and the sense of a word, of a Korean compound those of its beginning."""
    if run.kind == "word":
        own = stem(run.text)
        return own, senses().get(own, "")
    if run.kind != "unspaced":
        return "", ""
    for end in range(suffix_start(run.text), _LEAST_HANGUL - 1, -1):
        if sense := senses().get(run.text[:end]):
            return run.text[:_LEAST_HANGUL], sense
    return "", ""
