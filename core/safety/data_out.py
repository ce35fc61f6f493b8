"""Where what is known of people and of the house goes out, as it is said in prose. Data only."""

from __future__ import annotations

from core.safety.english import REFUSED
from core.safety.korean import NEGATED
from core.safety.rules import Rule, expression

_PEOPLE = (
    r"(?:customers?|clients?|patients?|staff|employees?|members?|guests?|students?|pupils?|users?"
    r"|tenants?|donors?|residents?|parents?|subscribers?|applicants?|candidates?|vendors?|suppliers?"
    r"|personnel|payroll|salary|medical|health|personal)"
)
_DATA = (
    rf"(?:\b{_PEOPLE}'?s?'? (?:\w+ )?(?:data|lists?|records?|details|databases?|files?|contacts"
    r"|information|info|e-?mails?|addresses|(?:phone )?numbers|exports?|reports?|sheets?|figures"
    r"|conversations|transcripts|documents|papers)\b"
    r"|\b(?:full|whole|entire|complete|raw|all(?: the)?) (?:\w+ ){0,2}(?:export|database|dump|list"
    r"|archive|mailing list|data ?set|conversations?|transcripts?|logs?)\b"
    r"|\b(?:passports?|contracts|credentials|passwords|api keys|source code)\b)"
)
_SENDS = (
    r"\b(?:send|sent|forward(?:ed)?|copy|copied|b?cc|upload(?:ed)?|share[ds]?|post(?:ed)?"
    r"|publish(?:ed)?|paste|mirror(?:ed)?|sync(?:ed)?|back(?:ed)? up|e-?mail(?:ed)?|mail(?:ed)?"
    r"|pass(?:ed)?|put|drop|go|goes|hand(?:ed)?|give|given)\b"
)
_OUTSIDE = (
    r"(?:\b(?:my|his|her|their|your|a) (?:own |old )?(?:personal|private|home)"
    r" (?:e-?mail|g?mail|inbox|mailbox|account|address|drive|cloud|laptop|dropbox|server|folder)"
    r"|\b(?:my|his|her) (?:own )?(?:gmail|hotmail|yahoo|outlook|icloud|dropbox|google drive)\b"
    r"|@(?:gmail|googlemail|hotmail|outlook|yahoo|icloud|proton(?:mail)?|naver|daum|hanmail|nate)\."
    r"|\b(?:a|an|the|some) (?:public|open|unprotected) (?:\w+ )?(?:link|sheet|folder|drive|page"
    r"|site|channel|repo|repository|bucket|board|paste|forum|tracker)\b|\bpastebin\b"
    r"|\bpublic link\b"
    r"|\b(?:our |the |a )?competitors?\b)"
)
_NOT_SO = expression(
    REFUSED.pattern + r"|\b(?:don't|do not|never|not|no one|nobody|unless|only (?:after|with|if"
    r"|when))\b|\b(?:their|his|her|its) own (?:data|record|copy|file)|who asks? for|scam|phish"
    r"|anonymi[sz]ed|redacted|encrypted|reports? (?:it|them|this) to"
)

_WHOSE = (
    r"(?:고객|회원|환자|직원|사원|학생|학부모|거래처|신청자|신청인|민원인|가입자|예약자|입주민|입주자|구독자"
    r"|후원자|수강생|이용자|방문자|지원자|보호자|임직원|수급자|조합원)"
)
_KNOWN = (
    rf"(?:{_WHOSE}(?:들)?(?:의)?\s?(?:전체\s?|개인\s?)?(?:명단|정보|데이터|연락처|번호|자료|리스트|db|목록"
    r"|기록|명부|주소록|파일|이메일)"
    r"|개인\s?정보|급여\s?(?:대장|명세|자료|내역)|연봉\s?(?:표|자료|내역)|계약서|주민\s?번호|진료\s?기록"
    r"|검사\s?결과|상담\s?(?:기록|내용|일지)|명부|여권\s?사본|신분증\s?사본|원본\s?(?:데이터|db|파일)"
    r"|소스\s?코드|설계\s?도면|단가표|원가표)"
)
_GOES = (
    r"(?:보내|전달|공유|전송|발송|올려|올리|업로드|포워딩|참조|복사|복제|백업|넘겨|넘기"
    r"|첨부|저장|쏴|돌려|알려|옮겨)"
)
_AWAY = (
    r"(?:(?:제|내|저희|본인|개인|사적인)\s?(?:지메일|네이버|한메일|핫메일|구글|드롭박스"
    r"|아이클라우드|노션|카톡|카카오톡|클라우드|외장\s?하드|집\s?(?:컴|pc))"
    r"|개인\s?(?:메일|이메일|계정|드라이브|클라우드|노트북|휴대폰|핸드폰|서버|usb)"
    r"|(?:제|내)\s?(?:메일|이메일|드라이브|폰)(?=[\s로으에])"
    r"|@(?:gmail|naver|daum|hanmail|hotmail|outlook|yahoo|nate|icloud)\."
    r"|(?:공개|누구나\s?볼\s?수\s?있는|열린)\s?(?:링크|시트|폴더|게시판|채널|페이지|저장소|드라이브|문서)"
    r"|외부\s?(?:드라이브|링크|클라우드|메일|사이트|챗봇|번역기|서버|공유)|경쟁사|오픈\s?채팅|단톡방|카톡방"
    r"|제약\s?회사|무료\s?(?:변환|번역)\s?사이트)"
)
_NOT_THAT = expression(
    NEGATED.pattern
    + r"|금지|안\s?됩|안\s?돼|말고|말\s?것|거절|신고|사기|피싱|동의(?:를|한|받|가|서)"
    r"|본인(?:이|에게|의|만)|마스킹|가리고|가려서|익명|암호화|요청하시면|승인\s?(?:후|받)|절대|차단|않"
)
_GAP = r"(?:[^.;\n]|\.(?=\S))"  # an address has full stops within it
# What stands in which order, how far apart at most, and what says that it is not meant.
_ORDERS = (
    *((row, 80, _NOT_SO) for row in (
        (_SENDS, _DATA, _OUTSIDE), (_DATA, _SENDS, _OUTSIDE), (_SENDS, _OUTSIDE, _DATA),
    )),
    *((row, 50, _NOT_THAT) for row in (
        (_KNOWN, _AWAY, _GOES), (_AWAY, _KNOWN, _GOES), (_KNOWN, _GOES, _AWAY),
    )),
)  # fmt: skip

RULES = tuple(
    Rule(
        "data.sent_out",
        expression(rf"{_GAP}{{0,{most}}}?".join(row)),
        unless=not_meant,
        but=not_meant,
    )
    for row, most, not_meant in _ORDERS
)
