"""The wording of spans in Korean and English (data), and of what only looks like one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.knowledge.how_long.days import ENGLISH_FEASTS, FEASTS, MONTHS, WEEKDAYS

_COUNT = r"(?P<count>\d{1,3}|한|두|세|석|네|넉|다섯|여섯|일곱|여덟|아홉|열)"
_UNIT = r"(?P<unit>일|주일|주|달|개월|분기|년)"
_LONG = rf"(?:{_COUNT}\s?{_UNIT}|(?P<days>하루|이틀|사흘|나흘|닷새|열흘|보름|일주일))"
_TIME = (
    r"(?:\s?(?:(?P<half>오전|오후|저녁|밤|아침|낮)\s?)?"
    r"(?:(?P<hour>\d{1,2})(?:시(?:\s?(?:(?P<minute>\d{1,2})분|(?P<half_hour>반)))?|:(?P<minute2>\d\d))"
    r"|(?P<noon>정오)|(?P<midnight>자정)))?"
)
_YEAR = r"(?:(?P<year>\d{4})년\s?|(?P<named_year>올해|금년|내년|내후년)\s?)?"
_WHICH = r"(?:(?P<which>이번|금|다다음|다음)\s?)"
_KOREAN_POINTS = (
    rf"{_YEAR}(?<!\d)(?P<month>\d{{1,2}})월\s?(?:(?P<day>\d{{1,2}})일|말일?)?",
    r"(?<!\d)(?P<year>\d{4})[-./]\s?(?P<month>\d{1,2})[-./]\s?(?P<day>\d{1,2})\.?",
    r"(?<![\d/.])(?!(?:1/[2-5]|2/[35]|3/[45])\s?까지)(?P<month>\d{1,2})/(?P<day>\d{1,2})",
    r"(?:(?P<which>이번|이|다음|내)\s?)(?P<period>달)\s?(?:(?P<day>\d{1,2})일|말일?|월말)?",
    r"(?:이번\s?|이번\s?달\s?)?(?P<period>월)말",
    rf"{_WHICH}(?P<period>주)\s?(?:말|주말)?",
    r"(?:(?P<which>이번|다음)\s?)?(?:이번\s?)?(?P<period>주)말",
    rf"(?:{_WHICH}주\s?)?(?P<weekday>[월화수목금토일])요일",
    rf"{_YEAR}(?:(?P<quarter>[1-4])\s?(?:/4\s?)?|(?P<which>이번|다음)\s?)(?P<is_quarter>분기)\s?말?",
    rf"{_YEAR}(?P<half_year>상반기|하반기)\s?말?",
    r"(?:(?P<year>\d{4})(?=년)|(?P<named_year>올해|금년|내년|내후년))(?P<period>년)?\s?(?:연말|말)?",
    r"(?P<period>연)말",
    r"(?P<near>오늘|금일|내일모레|내일|명일|모레|글피)(?:\s?(?:하루|중))?",
    rf"(?P<feast>{FEASTS})(?:\s?(?:당일|날))?",
)
_FROM_NOW = r"(?:(?:오늘|지금|이제|현재)부터\s?)?"
_KOREAN_SPANS = (
    *(rf"(?<![가-힣A-Za-z\d]){_FROM_NOW}{p}{_TIME}\s?까지" for p in _KOREAN_POINTS),
    rf"(?:앞으로|지금부터|이제부터|오늘부터|향후)\s?(?:의\s?)?{_LONG}\s?(?:간|동안)",
    rf"(?:^|(?<=[.!?,]\s)|(?<=[은는]\s)){_LONG}\s?(?:간|동안)(?=만)",
    r"(?P<which>이번)\s?(?P<period>주|달)\s?(?:동안|내내)",
    r"(?:(?P<which>이번)\s?(?P<is_quarter>분기)|(?P<named_year>올해)(?P<period>))\s?(?:동안|내내)",
)

_NUMBER = r"\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|a|couple of|another"
_OF = rf"(?P<count>{_NUMBER})\s+(?P<unit>day|week|month|quarter|year)s?"
_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b(?:\.(?=\s\d))?"
_CLOCK = (
    r"(?:(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s?(?P<half>am|pm|a\.m\.|p\.m\.)"
    r"|(?P<hour2>\d{1,2}):(?P<minute2>\d\d)|(?P<noon>noon)|(?P<midnight>midnight))"
)
_ENDS = r"(?:\s+(?:ends|is over|is out|closes)|'s end)"
_POINT_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"
_ENGLISH_POINTS = (
    r"(?P<year>\d{4})[-./](?P<month>\d{1,2})[-./](?P<day>\d{1,2})",
    r"(?P<one>\d{1,2})/(?P<two>\d{1,2})(?:/(?P<year>\d{4}))?(?![/\d])",
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}{_POINT_YEAR}",
    rf"{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d){_POINT_YEAR}",
    rf"(?:(?:the )?(?:end|last day) of\s+)?(?:(?P<named_year>next|this)\s+)?{_MONTH}{_POINT_YEAR}"
    r"(?!\s+\d)",
    r"(?:the )?end of (?:(?P<which>this|the|next) )?(?P<period>month|week|year)"
    r"(?!\s+(?:\d|one|two|three|four|five|six)\b)",
    r"(?P<which>this|next) (?P<period>month|week|year)" + f"{_ENDS}?",
    r"(?:the )?(?P<period>month|week|year)(?:[- ]end\b|" + f"{_ENDS})",
    r"(?:the )?(?:end of )?(?:(?P<which>this|the|next) )(?P<is_quarter>quarter)" + f"{_ENDS}?",
    r"(?:the )?(?:end of )?(?P<is_quarter>Q)(?P<quarter>[1-4])" + _POINT_YEAR + f"{_ENDS}?",
    rf"(?:(?P<which>this|next|coming)\s+)?(?P<weekday>{'|'.join(WEEKDAYS)})",
    r"(?:the end of )?(?P<near>today|tonight|tomorrow)",
    rf"(?P<feast>{ENGLISH_FEASTS})(?:{_ENDS})?",
    rf"{_OF} from (?:now|today)",
)
_AT = rf"(?:(?:,?\s+(?:at\s+)?|T){_CLOCK})?"
_UNTIL = (
    r"(?:\bfrom (?:now|today)(?: on)?,? )?\b(?:only |just )?(?<!not )(?<!n't )"
    r"(?:until|till|til|through|thru)\s+"
)
_REST = r"(?P<period>day|week|month|year)|(?P<is_quarter>quarter)"
_ENGLISH_SPANS = (
    *(rf"{_UNTIL}(?:the )?{p}{_AT}" for p in _ENGLISH_POINTS),
    rf"{_UNTIL}{_CLOCK}\s+(?:on\s+)?(?P<near>today|tonight|tomorrow)",
    rf"\b(?:for|over|during) the (?:next|coming) (?!day\b)(?:(?P<count>{_NUMBER})\s+)?"
    r"(?P<unit>day|week|month|quarter|year)s?\b",
    rf"\bfor {_OF},? from (?:now|today)(?: on)?\b",
    r"\bfor another (?:(?P<count>\d{1,3}|two|three|four|five|six)\s+)?"
    r"(?P<unit>day|week|month|quarter|year)s?\b",
    rf"\b(?:only for|for only|for just|just for) {_OF}\b",
    rf"\bfor {_OF} only\b",
    rf"\bfor (?:the )?(?:rest|remainder) of (?:the|this) (?:{_REST})\b",
    rf"\b(?:during|throughout) this (?:{_REST})(?: only)?\b",
    rf"\b(?:for )?this (?:{_REST}) only\b",
)


def _compiled(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


KOREAN, ENGLISH = _compiled(_KOREAN_SPANS), _compiled(_ENGLISH_SPANS)
# Before a span: a range, what recurs, a limit.
RANGE = re.compile(
    r"(?:부터|에서|매(?:달|월|년|주|일|해)|매년|해마다|마다|최대|최장|늦어도|평일|마감은?|기한은?)"
    r"\s?(?:\S+\s)?$|\b(?:from\s+(?!now)\S+(?:\s+\S+)?|every|each|open(?:s|ed)?|wait|hold)\s+$"
    rf"|(?:\d|\b(?:{'|'.join((*WEEKDAYS, *MONTHS))}))\s+$",
    re.IGNORECASE,
)
_STEM = (
    r"(?:제출|신청|납부|납입|완료|마감|회신|답변|답장|응답|도착|입금|송금|결제|발송|전달|등록|작성|검토|정리"
    r"|준비|공유|보고|납품|답|반납|예약|접수|업로드|마무리|해결|처리|보관|보존|저장|유지)"
)
# After a span: it is due by then, or kept until then.
DUE = re.compile(
    rf"(?:만|는|은)?,?\s*(?P<between>(?:\S+\s+){{0,3}}?)(?:{_STEM}(?:을|를)?\s?"
    r"(?:해|하|합|한|했|부탁|바랍|요망|필수|되어야|돼야|되면|마쳐|끝내|완료|드[리릴립려])"
    r"|알려\s?[주달]|연락\s?[주해]|확인해\s?주|고쳐\s?주|수정해\s?주|만들어\s?주"
    r"|보내(?!는)|보냅|끝내|끝나야|마치|마쳐|내야|내\s?주|갚|돌려\s?[주드]|올려\s?[주야]|넘겨)",
)
# What stands between a day and such a verb where it tells of all the time until then.
STANDING = re.compile(
    r"[가-힣]면\s|매일|매번|매주|항상|언제나|모든|모두|마다|계속|[은는]\s.*로\s$|(?:무료|유료|할인)\S*\s"
)
TOPIC = re.compile(r"[은는]\s")
_LIMIT = r"(?:주문|접수|신청|결제|예약|구매|입금|도착|가입|등록)"
# After a span: the words need it, since it limits what they say or is all that they say.
NEEDED = re.compile(
    rf"(?:만|는|은|도)?(?:로\s|입니다|이에요|예요|이며|이고|이다|이라|인|임|였|다\b|라)"
    rf"|(?:만|는|은)?,?\s*(?:{_LIMIT}(?:하|한|된|되|분|시|건)"
    r"|유효|휴무|휴업|휴가|쉬|쉽|쉰|쉴|연장|진행|운영|영업|계속|가능|부재|출장|남아|\S*기간)"
)
NEEDED_BEFORE = re.compile(
    r"\b(?:valid|closed?|away|out(?: of office)?|on leave|off|runs?|lasts?|extended|goes on"
    r"|continues?|booked)\s+$",
    re.IGNORECASE,
)
KEPT_BEFORE = re.compile(
    r"\b(?:keep|kept|stores?|stored|retain(?:ed)?|hold|held|valid|lasts?|stays?|waits?|available)\b"
    r"[^.,;]{0,30}$",
    re.IGNORECASE,
)
KEPT_AFTER = re.compile(r"(?:만)?\s*(?:보관|보존|저장|유지|유효|숙성|대기|기다)")
OPEN_ADVERB = re.compile(
    r"(?<![가-힣])(?:당분간(?:은|만)?|한동안(?:은|만)?|임시로|일시적으로|잠정적으로),?\s?"
    r"|,?\s?\b(?:for now|for the time being|for the moment|temporarily)\b,?\s?",
    re.IGNORECASE,
)
# Said as a span, with an end of which nobody knows the day.
OPEN_POINT = re.compile(
    r"(?:추후|별도|다음)\s?(?:공지|안내)|(?:공지|축제|행사|이벤트|명절|추석|설날|설|연휴|방학"
    r"|개학|시즌|철|공사|점검|프로젝트|캠페인|세일|출시|오픈|종료|중순|[월주달]\s?초)"
    r"(?:\s?(?:종료|끝|당일|시|때)|[가이]?\s?끝날\s?때)?\s?까지"
    r"|\buntil further notice\b|\b(?:until|till|through)\s+(?:\w+\s+){0,3}"
    r"(?:festival|event|holidays?|season|sale|launch|release|campaign|project|move|renovation|construction|summer|winter|spring"
    r"|autumn|fall|vacation|conference|fair|election|easter|thanksgiving|chuseok|seollal)\b"
    r"|(?:^|(?<=[.!?]\s))(?:until|till)\s+(?:the|our|we|further|mid)\b"
    r"|(?:^|(?<=[.!?]\s))by the end of (?:the|this|next) (?:week|month|quarter|year)\b"
    r"|(?:^|(?<=[.!?]\s))for \w+ (?:day|week|month)s?,\s"
    rf"|^{_LONG.replace('?P<count>', '?:').replace('?P<unit>', '?:').replace('?P<days>', '?:')}"
    r"\s?(?:간|동안)(?:은|는)?\s\S+[은는]\s",
    re.IGNORECASE,
)
# Of such words: a deadline, or what is waited for.
NO_SPAN = re.compile(
    r"\b(?:wait|keep|hold|stay|do not|don't|never|not)\b[^.]*\b(?:until|till)\b"
    r"|\bby the end\b.*\b(?:send|submit|finish|complete|deliver|pay|file|must|should|please|due)\b",
    re.IGNORECASE,
)
# After a span: what holds from then on, or a name of which it is part.
GOES_ON = re.compile(
    r"'s\b|.*(?:\bthen\b|[그이]\s?(?:후|뒤|다음)|부터는)", re.IGNORECASE | re.DOTALL
)
# After a day of the next month where that is counted from when it was said.
AFTER_EACH = re.compile(r"(?:만)?\s?(?:무료|할인|면제)")
