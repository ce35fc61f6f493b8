"""Words of one idea in Korean and English, and what marks a wait, a hurry, or an effect (data)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from core.knowledge.duplicates.words import korean_stem
from core.knowledge.search.tokens import stem

# One idea a line; a Korean word stands for all words that begin with it. A line that begins with
# `~` is of what nearly every item of an agent names: it counts half.
_IDEAS = """
consent permission agree agreement signature sign signed 동의 서명 승낙 허락 수락 날인
approval approve approved approver authorise authorize authorisation sanction 승인 결재 재가
approval 품의 허가
review reviewed reviewer inspect inspection 검토 검수 점검 심사
delete erase purge wipe remove empty discard destroy shred clear 삭제 지우 지운 지워 비우 비운
delete 폐기 파기 없애
revoke withdraw disable deactivate suspend 해지 회수 정지 중지 무효 차단
contact phone telephone call mobile 연락처 전화 휴대폰 핸드폰
credential key token password secret login sign-in 비밀번호 암호 열쇠 토큰 인증키 자격증명
invoice bill billing 청구서 계산서 인보이스 고지서
return returned 반품 반송 반환
photo picture image screenshot shot 사진 이미지 캡처 그림 화면
page header heading 머리말 상단 첫줄 윗줄 첫째
footer bottom 하단 바닥글 맨아래
expiry expire expiration lapse 만료 만기 종료 유효
temperature warm warmer heat hot cold cool freeze freezer frozen ice chill thaw
temperature 온도 데우 데운 가열 식히 식힌 식혀 냉장 냉동 차갑 차게 뜨거 얼리
stock inventory 재고 수량
price cost fee amount charge fare 금액 가격 요금 비용 단가 값
tax vat duty 세금 부가세 세액
discount coupon voucher rebate 할인 쿠폰 에누리 감면
backup copy duplicate replica snapshot 백업 복사 사본 예비
restore recover revive undo rollback reopen 복구 복원 되살리 되돌리 되돌려
label tag sticker badge 라벨 스티커 이름표 꼬리표 딱지
box parcel package carton crate pallet 상자 박스 소포 택배 포장
vehicle car truck van lorry 차량 트럭 배차
translate translation language 번역 언어 통역
sample specimen tube swab 시료 검체 샘플 표본
row line record entry 행 줄 레코드
column field 열 칸 항목 필드
sheet spreadsheet workbook excel 시트 엑셀 표
name names title called 이름 성명 제목 명칭
address street postcode 주소 우편번호
birthday birth age 생일 생년월일 나이
attachment attach enclose enclosed 첨부 붙이 붙인 동봉
compress zip archive pack 압축 묶 보관함
round rounding decimal decimals cent 반올림 소수 절사 버림 올림
sort order sorted ascending descending 정렬 순서 오름차순 내림차순
mask blank redact anonymise anonymize black hide hidden pseudonym 가리 가린 가려 마스킹 익명
mask 비식별
lock locked freeze 잠그 잠근 잠금 동결
unlock open opened 열 풀
rename move moved relocate 옮기 옮긴 옮겨 이동
folder directory path bucket drive 폴더 디렉터리 경로 드라이브
format pdf csv json xml parquet xlsx 형식 서식 양식
time hour clock 시각 시간
morning dawn 아침 오전 새벽 출근
evening night overnight 저녁 밤 야간 퇴근 심야
weekend saturday sunday holiday 주말 토요일 일요일 공휴일 휴일
monday tuesday wednesday thursday friday 월요일 화요일 수요일 목요일 금요일
week weekly 주 매주 주간
month monthly 월말 매달 매월 월초
report summary digest 보고 보고서 요약 집계
survey questionnaire rating poll 설문 만족도 평가 별점
court lawsuit legal litigation lawyer 소송 법무 재판 변호사
reservation booking appointment 예약 일정
deposit prepayment advance down-payment 선금 보증금 예치 계약금
refund reimburse payback 환불 환급 돌려주
payment pay paid payer 결제 지불 납부 입금 지급 송금
delivery deliver ship shipping shipment dispatch courier 배송 배달 출고 발송
receipt slip 영수증 전표
warehouse depot storage store 창고 물류 적치
dose dosage mg tablet pill 용량 투여 투약 알약
allergy allergen allergic 알레르기 알러지
blood serum 혈액 채혈 피
doctor physician nurse 의사 담당의 간호사
patient 환자
weight weigh kg gram scale 무게 중량 저울 킬로
size width height length dimension 크기 너비 길이 부피 치수
color colour paint 색 색상 도색
wash rinse clean sanitise sanitize disinfect sterilise 세척 씻 헹구 소독 살균 청소
mix stir shake blend 섞 젓 흔들
dry dried drain 말리 건조
cut trim slice crop 자르 잘라 자른 재단 절단
glue seal tape 붙이 봉인 밀봉 테이프
power electricity plug battery 전원 전기 배터리 차단기
valve gas pressure pump 밸브 가스 압력 펌프
alarm alert siren pager page 경보 알람 호출
comment note memo remark 메모 비고 주석 설명
~ticket case issue request 티켓 문의 요청 접수
version release build deploy deployment 버전 배포 빌드 릴리스
test verify check validate 시험 테스트 확인 검증
schema table database index 스키마 테이블 데이터베이스 인덱스
cache temp temporary scratch 임시 캐시
log history trail audit 로그 이력 기록 감사
identity id identify verify 본인 신분 신원
handwriting ink pen pencil 손글씨 펜 연필 잉크
queue backlog list 대기열 목록 큐
rate limit quota throttle 한도 제한 속도
~team department 팀 부서
escalate escalation tier supervisor 이관 상위 에스컬레이션
child minor guardian parent 보호자 아이 미성년 부모
contract agreement clause terms 계약 약관 조항
quote quotation estimate offer 견적 제안
seat room table hall 좌석 자리 회의실
key-card badge access entrance door gate 출입 출입증 문
camera video recording cctv footage 영상 카메라 녹화 녹음
milk food meal menu dish 음식 식사 메뉴 반찬
~customer client buyer guest shopper consumer 고객 손님 구매자
~staff employee colleague worker 직원 사원 담당자
~file document doc 파일 문서 자료
~date day 날짜 일자 날
~mail email e-mail message notice text sms notify notification inform 메일 문자 알림 안내 통지
~mail 공지 메시지
~order purchase 주문
~result outcome 결과
~data 데이터
~product item goods article 상품 물건 제품
~number no 번호
~run execute 실행
~status state 상태
~step procedure process 절차 단계
"""

_GENERIC = 0.5
# Words that say little of what an item is about, beside those of the search.
_EMPTY = """
precondition prerequisite condition
one two three also same other another still just only already without within nobody anybody
nothing everything look find found start started begin begins begun finish done come right left
part whole half way under above below true false none self import print def return for if else
open with as r w utf encoding str int len csv json pathlib path sys os subprocess main
전제 조건
같 다른 이미 그대로 않 없 있 아무 남 모두 나오 찾 보이 시작 끝 끝나 사람 곳 번째 쪽 것 수 뒤 앞
적어 적는 적힌 넣어 넣는 넣은 받아 받은 받는 고르 고른 골라 누르 누른 하고 해야 하면 되면 연다
하나 둘 둔다 두어 해둔 둔 때문 따로 맡 따르 넘 되 이번 오늘 내일 어제 지금 그날 다음 해당
"""


@lru_cache(maxsize=1)
def _ideas() -> tuple[Mapping[str, str], Mapping[str, str], frozenset[str]]:
    """Return English stems and Korean beginnings by idea, and the ideas that count half."""
    latin: dict[str, str] = {}
    hangul: dict[str, str] = {}
    generic = set()
    for line in _IDEAS.strip().splitlines():
        words = line.lstrip("~").split()
        if line.startswith("~"):
            generic.add(words[0])
        for word in words:
            known, key = (latin, stem(word)) if word.isascii() else (hangul, word)
            known.setdefault(key, words[0])
    return latin, hangul, frozenset(generic)


@lru_cache(maxsize=20_000)
def idea_of(word: str) -> str:
    """Return the idea of a word as written (lower case), "" for a word of no line."""
    latin, hangul, _ = _ideas()
    if word.isascii():
        return latin.get(stem(word), "")
    base = korean_stem(word)
    for end in range(min(len(word), 5), 0, -1):
        idea = hangul.get(word[:end])
        if idea and (end > 1 or len(base) == 1):
            return idea
    return ""


def weight_of(term: str) -> float:
    """Return how much a term says: half where nearly every item names it."""
    return _GENERIC if term in _ideas()[2] else 1.0


@lru_cache(maxsize=1)
def empty_words() -> frozenset[str]:
    """Return the words that say nothing of a matter."""
    words = _EMPTY.split()
    return frozenset((*words, *(stem(word) for word in words if word.isascii())))


def _any(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# What lets a procedure go on only after a person, an event or a time.
WAITS_FOR = _any(
    r"\b(?:approv\w*|sign(?:s|ed|ature)?\b(?! in)|signed off|confirm\w*|consent\w*|permission"
    r"|authori[sz]\w*|reviewed|agreed|says? yes|said yes|okayed|green light|manager|supervisor"
    r"|team lead|steward|two people|second person|another person|four eyes|in person|face to face"
    r"|witness\w*|counter-?sign\w*|vote\w*)|\b(?:wait\w*|(?:one|two|three|a|an"
    r"|\d+)\s(?:full )?(?:hours?|days?|weeks?|months?|nights?)|working days?|business (?:hours"
    r"|days?)|office hours|during the day|by daylight|has (?:arrived|come|been (?:received"
    r"|scanned|paid|returned|delivered))|(?:was|were|is|are) (?:received|scanned|paid|returned"
    r"|delivered|in our hands|back)|on site|at the (?:desk|counter)|original|by post|notari[sz]ed"
    r"|quorum|(?:only|not) (?:after|before|until|once)|after (?:the|a|an|it|they|its|all|every"
    r"|each)\b|until|once (?:the|a|an|it|they|all|every)|(?:have|has) (?:been|cleared|settled"
    r"|dried|cooled|ended|passed|closed|answered|replied|paid|landed|left))|승인|결재|서명|허락"
    r"|동의|허가|검토|심사|팀장|부장|과장|원장|점장|담당의|관리자|책임자|상급자|윗선|입회|대면"
    r"|직접 (?:만나|와|방문|본)|두 사람|둘이|다른 사람|하루|이틀|사흘|나흘|닷새|일주일|보름|한 달"
    r"|\d+\s?(?:시간|일|주|개월|달)(?!\s?(?:이내|안))|영업시간|근무시간|업무시간|평일|낮에"
    r"|도착(?:했|한|해)|입고(?:됐|되|된)|수령|반납|돌아왔|돌아온|입금(?:됐|되|된|이)|완납|원본"
    r"|우편|공증|(?:회신|답)(?:이|을) (?:왔|온|와|받)|(?:된|난|온|진) (?:뒤|후"
    r"|다음)(?:에|여|이|라|만)|끝나야|끝난 |나와야|받아야|와야|들어와야|확정(?:됐|되|된)"
)
# Said of what does not wait: nobody is asked, nothing has come yet, it is now.
DOES_NOT_WAIT = _any(
    r"\b(?:without|nobody|no one|no-one|no (?:questions?|human|person|approvals?|signature|ticket"
    r"|order|receipt|manager|login|paper|one)|nothing (?:is|has|comes|was)|unattended|unmanned"
    r"|alone|by (?:itself|themselves)|automatic\w*|same (?:day|hour|night|minute|morning"
    r"|afternoon)|at once|immediate\w*|right away|straight away|on the spot|instantly|as soon as"
    r"|the moment|even (?:if|when|though|before)|(?:never|not|n't|cannot) (?:to )?(?:wait|ask"
    r"|need|asked)|yet|overnight|asleep|awake|weekends?|holidays?|sundays?|saturdays?|at night"
    r"|within (?:\w+ )?(?:\d+|an?|one|two|five|ten|fifteen|thirty)|minutes of|first minutes?"
    r"|by \d|before (?:any|the|it|they|we|he|she|a|an)\b|still|no later than|urgent\w*"
    r"|emergenc\w*|while the|cron|3 a\.?m|0[0-6]:\d\d|2[0-3]:\d\d|(?:in|for|every|each|after|than"
    r"|\d+|two|five|ten|fifteen|thirty) (?:seconds?|minutes?))|없이|없어도|없는|없다|없을|않고"
    r"|않아도|않은|않는다|안 (?:된|온|받|끝|낸|나온)|못한|전에도|보기도? 전|받기 전|오기 전"
    r"|나오기 전|되기 전|하기 전|즉시|바로|곧바로|곧장|그 자리에서|그 순간|나온 순간|당일|같은 날"
    r"|그날|지체|기다리지|묻지|아무도|자동|새벽|야간|한밤|밤|주말|휴일|일요일|토요일|무인|혼자"
    r"|급한|급히|긴급|응급|위급|\d+\s?(?:분|시간|초) ?(?:안|이내|만에|내)|0[0-6]:\d\d|2[0-3]:\d\d"
    r"|cron|아직|미리|먼저|\d+\s?(?:분|초)(?:마다|에 한 번| 뒤| 후)?"
)
DENIES = _any(
    r"\b(?:without|no|not|never|none|nobody|nothing|neither|nor|n't|cannot|un\w+ed|yet to|lack\w*"
    r"|missing|before|even if|absent|skip\w*|refus\w*|free of|still"
    r"|afterwards?|(?:day|morning|week) after|tomorrow)\b|n't\b|없이|없어도|없는|없다|없을"
    r"|없으|않|못|안 |아니|말고|말라|마라|전에|빼고|생략"
)
# What is done where something is missing.
SEES_TO_IT = _any(
    r"\b(?:if|where|when|whenever|unless)\b[^,]*\b(?:not?|never|none|without|missing|lack\w*|n't"
    r"|absent)|\bif not \w|\bif \w+ is None\b|\bskip\("
    r"|없으면|않으면|없을 (?:때|경우)|아니면|없거든|안 \S{1,6}으면"
)
# What a new step does to what others find there.
DESTROYS = _any(
    r"\b(?:delet\w*|eras\w*|purg\w*|wip\w*|empt(?:y|ies|ied)|discard\w*|destroy\w*|shred\w*"
    r"|clear\w*|remov\w*|revok\w*|disabl\w*|deactivat\w*|suspend\w*|cancel\w*|clos(?:e|es|ed) the"
    r"|reset\w*|overwrit\w*|replac\w*|renam\w*|mov(?:e|es|ed) |archiv\w*|mask\w*|redact\w*"
    r"|anonymi[sz]\w*|pseudonymi[sz]\w*|blank\w*|strip\w*|hash\w*|encrypt\w*|lock\w*|freez\w*"
    r"|block\w*|drop\w*|throw\w*|take\w? off|tak(?:e|es) (?:\w+ ){0,3}out"
    r"|cut off|black out|rotat\w*"
    r"|truncat\w*|prun\w*|unlink|rm |os\.remove|rmtree|compress\w*|zip|merg\w*|drain\w*|unplug\w*"
    r"|switch off|turn off|shut)|지운|지우|삭제|비운|비우|폐기|파기|없앤|없애|버린|버리|초기화"
    r"|덮어|해지|회수|무효|정지|중지|차단|끊는|끊고|끈다|끄고|잠근|잠그|동결|가린|가리|마스킹"
    r"|익명|암호화|옮긴|옮기|옮겨|이름을 바꾼|바꾼다|바꿔|교체|압축|합친|뗀다|떼어|뺀다|빼고"
    r"|닫는다|취소|꺼내|꺼낸|빼내|갈아|치운|치우|거둔|거두|걷는|파쇄|소각"
)
SENDS = _any(
    r"\b(?:send\w*|mail\w*|e-?mail\w*|notif\w*|text (?:the|them|him|her)|trigger\w*|survey\w*"
    r"|call (?:the|them|him|her)|phone |ring |invit\w*|announc\w*|publish\w*|post (?:it|the|a"
    r"|them) |newsletter|remind\w*|letter|push\w*|broadcast\w*|copy in|cc )|보낸다|보내|알린다"
    r"|알리|문자|메일|전화|설문|공지|게시|안내|통지|푸시|발송|연락|초대|올린다"
)
ALTERS = _any(
    r"\b(?:heat\w*|warm\w*|boil\w*|cool\w*|chill\w*|freez\w*|froz\w*|thaw\w*|mix\w*|stir\w*"
    r"|shak\w*|dilut\w*|wash\w*|rins\w*|dr(?:y|ies|ied)\b|cut\w*|slic\w*|squash\w*|chop\w*|crush\w*|trim\w*|crop\w*|resiz\w*"
    r"|round\w*|convert\w*|translat\w*|sort\w*|split\w*|shuffl\w*|spin\w*|filter\w*"
    r"|normali[sz]\w*|lower-?case\w*|upper-?case\w*|paint\w*|polish\w*|grind\w*"
    r"|add (?:\w+ ){0,3}(?:ml|g|kg|drops?|salt|sugar|acid)|steril\w*|disinfect\w*|switch\w* to"
    r"|chang(?:e|es) the|set \w+ to|reassign\w*|transfer\w*|hand\w* over|charg\w*|bleach\w*"
    r"|grease|oil|tilt\w*|stack\w*|turn (?:it|them)|swap\w*|relabel\w*|reformat\w*|re-?encod\w*"
    r"|open the|seal\w*|tape|glue|fold\w*|spray\w*|keep it at|wrap\w*|scale\w*|blur\w*"
    r"|flatten\w*)|데운|데우|가열|끓|식힌|식히|식혀|냉장|냉동|얼린|얼리|녹|섞|젓는|저어|흔든|흔들"
    r"|희석|씻|헹구|세척|말린|말리|건조|자른|자르|잘라|깎|줄인|줄이|반올림|절사|변환|번역|정렬"
    r"|나눈|나누|걸러|거른|칠한|칠하|갈아|소독|살균|뜯|밀봉|봉한|봉인|접는|접어|바꾼다|바꿔"
    r"|넘긴다|넘겨|배정|부과|돌린다|눕힌|쌓는|쌓아|포장한|묶는|묶어|다시 칠|녹인|뿌린|뿌리|싸서"
    r"|감싼|\d+\s?(?:℃|°C|도)(?:에|로|까지)"
)
HOLDS_UP = _any(
    r"\b(?:wait\w*|hold (?:it|them|the|for)|pause\w*|delay\w*|rest for|leave (?:it|them) (?:for"
    r"|over)|until (?:the )?(?:next|tomorrow|monday|approv|someone|a )|queue (?:it|them)"
    r"|park (?:it|them)|ask (?:the|a|for|your)|get (?:the|an?) (?:approv|sign|consent|ok))|기다린"
    r"|기다려|대기|보류|묵힌|재운|미룬|미뤄|다음 날|이튿날|승인(?:을|이)? (?:받|나)|결재"
    r"|서명을 받|허락을 받|동의를 받|검토를 받|확인을 받"
)
# What must come to nobody: the other side of what a step sends.
KEEPS_QUIET = _any(
    r"\b(?:must not (?:hear|know|get|receive|see|be told)|not (?:be )?(?:told|contacted|informed"
    r"|mailed|called|written)|no (?:mail|message|letter|call|contact|notice|news)|quiet\w*"
    r"|silent\w*|secret\w*|surprise|never (?:write|call|mail|contact|tell|hear|send)"
    r"|do not (?:write|call|mail|contact|tell|send|disturb)|nothing (?:from|by|automatic)"
    r"|unsubscrib\w*|opted out|hear from us|asked not to|only (?:by|through|hears?)|confidential"
    r"|embargo)|조용히|알리지|보내지 않|연락하지|전화하지|말하지|몰래|모르게|비밀|알게 하지|거부"
    r"|수신 거부|원치 않|받지 않|하지 않기로|눈치|깜짝|먼저 알|듣지 않|가지 않"
)
# What must not have happened to a thing before it is used.
LEAVES_ALONE = _any(
    r"\b(?:never|no time|not (?:been|yet)|un\w+ed\b|raw|as (?:is|it is|they are|it came|found"
    r"|received)|original\w*|intact|untouched|fresh|still|exactly|whole|unchanged|straight from"
    r"|must not|may not|do not|don't|only if|at most|keeps?)|그대로|원본|날것|생것|한 번도"
    r"|적이 없|않은|않았|손대지|온전|처음|갓|바로|안 된|아직|만 쓴|넘지|지 않"
    r"|남아 있어야|남겨|들어 있어야"
)
ORDER = _any(
    r"\b(?:before|after|already|first|by then|once|then|until|when|ahead|later|since|yet|still)\b"
    r"|전에|뒤에|후에|이미|먼저|나중|다음|그때|이후|까지|뒤라|뒤이|앞서|미리|벌써|아직|부터"
)
