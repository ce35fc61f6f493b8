"""Synonyms and low-information words of office English and Korean (data)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from core.knowledge.search.tokens import stem

# Each line is one sense. Korean words are stems as `words.korean_stem` returns them.
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
"""
# Words that nearly any memory may contain: they say little about its subject.
_LITTLE = """
쓸 쓴 할 될 있다 없다 있는 없는 있고 한
" use using used want wish prefer like love need require must should shall may might can could
will would always ever please make made making put give given get got take taken go goes going
come keep kept show write wrote written send sent ask say tell let have has had do done does new
own all every each any some only also just instead rather than because since when while before
after until till within up later by around about between during per once again one ones other
such very much many more most now then here there first day time thing way case set mean allow
possible expect follow receive hand out see seen handle ensure remember note work 하 되 있 없 주
원하 싶 필요 사용 이용 쓰 써 적 작성 보내 남기 올리 보 받 드리 넣 빼 만들 처리 진행 경우 때 것
수 등 및 또는 그리고 그 이 저 우리 모든 모두 항상 늘 언제나 반드시 꼭 앞으로 이제 이후 이전 전
후 뒤 안 밖 이내 이상 이하 이미 바로 다시 더 덜 매우 아주 좀 조금 정도 쯤 약 위 아래 중 까지
부터 동안 마다 마세 말 않 아니 못 위하 대하 따르 관하 의하 통하 맞추 두 두세 가능 선호 좋아하
바라 바랍 부탁 요청 요구 내 오 가 나 나가 안에 밖에 전에 후에 뒤에 때에 중에 사장 부사장 대표
회장 이사 상무 전무 본부장 실장 팀장 부장 차장 과장 대리 주임 선생 교수 박사 기본 주로 대신 가지
기다리
"""
_FUNCTION_WORDS = """
a an the and or but if so as at by for from in into of off on onto out over than that these
those this to up with without am is are was were be been being it its i me my we us our you your
he him his she her they them their there who whom whose which what how why not no nor never mr
mrs ms dr prof don't doesn't isn't aren't won't can't cannot 은 는 이 가 을 를 의 에 와 과 도 로
으로 께 에게
"""
# Titles that follow a person's name.
_TITLES = """
사장 부사장 대표 회장 이사 상무 전무 본부장 실장 팀장 부장 차장 과장 대리 주임 사원 매니저 선생
교수 박사 씨
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
TITLES = tuple(_TITLES.split())


@lru_cache(maxsize=1)
def senses() -> Mapping[str, str]:
    """Return the sense of each stem: the first word of its line."""
    found: dict[str, str] = {}
    for line in _SAME.strip().splitlines():
        words = [stem(word) for word in line.split()]
        found |= {word: words[0] for word in words if word not in found}
    return found


@lru_cache(maxsize=1)
def tells_little() -> frozenset[str]:
    """Return the stems that say little about the subject of a text."""
    return frozenset(stem(word) for word in _LITTLE.split())
