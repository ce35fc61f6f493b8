"""What people say beside a rule: greetings, reasons, what happened, and pleas to follow it."""

from __future__ import annotations

import re

from core.agent.offline.text import Cue, has, is_korean

# Korean.
# What may be part of a rule, and how a sentence or clause ends that only tells of it.
_KOREAN_OF_RULES = (
    r"(?!.*(?:\d|[가-힣](?<![라다으하자])면[ ,]|경우(?!가 많)|때[는만 ]|예외|제외|다만"
    r"|[가-힣](?<![십백천지하])만[ .,]|말고|아니"
    r"|빼고|해당"
    r"|적용|마찬가지|불가|가능|금지|필수|무료|유료|면제|할인|승인|결재|이상|이하|미만|초과|이내"
    r"|까지|(?<!번 달)(?<!오늘)(?<!올해)부터|나머지|외에"
    r"|전부|모두|모든|누구나"
    r"|항상|반드시|절대|[가-힣]도 |[십백천만억] ?원|하루|이틀|일주일|한 ?달|오전|오후|주말|평일))"
)
_KOREAN_TELLS = (
    r"(?:안녕하세요|수고(?:하세요|하십니다|많으십니다|하셨습니다)|고생.*|감사합니다"
    r"|죄송(?:합니다|해요|한데요?)|네|아"
    r"|.*[가-힣]\s?(?:[았었였했됐셨갔왔났랐봤줬썼샀냈졌쳤렸혔겼](?:어요|습니다|네요|더라고요"
    r"|더라구요|는데요?|대요|죠|고요|거든요|어서요?|으니까요?)"
    r"|거든요|네요|더라고요|더라구요|더군요|잖아요|나 봐요|[라아어여해져려]서요|니까요"
    r"|(?<![수은는] )있(?:어요|네요|습니다|는데요?|어서요?)|많(?:아요|습니다|네요|은데요?"
    r"|아서요?|이 (?:와요|옵니다|오네요|오는데요?|받아요))"
    r"|적어요|적습니다|남겨요|남깁니다|나와요|나옵니다|와요|와서요?|헷갈(?:려요|립니다|리시"
    r"|려서요?|리는데요?|려 하)[가-힣]*|모르(?:겠어요|시더라고요"
    r"|시는데요?)"
    r"|(?:것|거) ?같(?:아요|습니다|네요|은데요?|아서요?)|싶(?:어요|습니다|은데요?|어서요?)"
    r"|그래요|난감해요|곤란해요|힘들어요|어쩔 수가? 없어요"
    r"|(?:정리|말씀|안내|공유|설명|전달|정정)(?:할게요|드려요|드립니다|드릴게요|드리면|드리자면"
    r"|하면|하자면|해 드릴게요|합니다|해요|한 번 할게요)"
    r"|(?:부탁|말씀)드(?:려요|립니다|릴게요)|알려 ?드(?:려요|립니다|릴게요)"
    r"|(?:고쳐|바로잡아|수정해|기억해|참고해|확인해|외워|반영해|맞춰|지켜|주의해|유의해|적어"
    r"|알아) ?(?:두세요|둬 ?요|주세요|주시면 (?:돼요|됩니다"
    r"|감사하겠습니다)|주십시오)"
    r"|(?:참고|기억|확인|주의|유의|숙지|반영)하세요|(?:헷갈리|잊|섞|혼동하|착각하)지 ?(?:마세요"
    r"|말아 주세요|않게 해 주세요)"
    r"|(?:물어|여쭤)보(?:시|셔)[가-힣]*|(?:바뀌|변경되|달라지)(?:어|었)?[가-힣]*))"
)
# What happened once, or what to do with the rule; numbers in it are of that one case.
_KOREAN_NO_LIMIT = (
    r"(?!.*(?:[가-힣](?<![라다으하자])면[ ,]|경우(?!가 많)|때[는만 ]|예외|제외|다만|빼고|이상"
    r"|이하|미만|초과|이내|나머지"
    r"|마다|누구나|무조건|[가-힣]만 (?:됩|돼|가능|받)|(?:해|받아|내|가|와|써|줘"
    r"|둬)야 (?:[하해합되돼됩]|돼)))"
)
_KOREAN_HAPPENED = (
    r"(?:(?=.*(?:어제|그제|아까|지난|방금|오늘|이번에|며칠|고객|손님|환자|학생|회원|분이|분께"
    r"|님이|님께|직원|신입|상담원|챗봇|봇이|건이|건을|하셨"
    r"|해 ?주셨|셨더라|셨던데))"
    r".*[가-힣]?(?:[았었였했됐셨갔왔났랐봤줬썼샀냈졌쳤렸혔겼](?:어요|습니다|네요|더라고요"
    r"|더라구요|는데요?|던데요?|대요|죠|고요|거든요|어서요?|으니까요?"
    r"|다고 [가-힣 ]+)"
    r"|더라고요|더라구요|던데요?)"
    r"|.*(?:[았었했됐셨갔]어야 (?:해요|합니다|했어요|했습니다|하는데요?|죠|맞아요|맞습니다)"
    r"|잘못(?:됐|된|이에|입니|나갔)[가-힣]*)"
    r"|(?:앞으로|다음부터|이제부터|지금부터|그러니|그러니까)?(?:는)?,? ?(?:꼭 |다시 |좀 |잘 "
    r"|모두 |다 )*(?:이|그|위)?(?:대로|렇게"
    r"|기준으로|기준대로|걸로|것으로|내용으로|규칙대로)?"
    r" ?(?:꼭 |다시 |좀 |잘 )*(?:안내|처리|적용|통일|반영|수정|정정|참고|주의|유의|확인|기억"
    r"|부탁|해|봐|맞춰|지켜|고쳐|바로잡아)"
    r"(?:해 ?|드려 ?|을 ?|를 ?)?(?:주세요|주십시오|주시기 바랍니다|바랍니다|부탁드려요"
    r"|부탁드립니다|드립니다|드려요|주시면 (?:됩니다|돼요"
    r"|감사하겠습니다)))"
)
KOREAN_TOLD_BESIDE = re.compile(
    f"{_KOREAN_OF_RULES}{_KOREAN_TELLS}|{_KOREAN_NO_LIMIT}{_KOREAN_HAPPENED}"
)
# A sentence may begin with such a clause: `규정이 바뀌어서요, …`
KOREAN_TOLD_FIRST = re.compile(
    _KOREAN_OF_RULES.replace("(?!.*", "(?![^,]*")
    + _KOREAN_TELLS.replace(".*", "[^,]*")
    + r",\s|"
    + _KOREAN_NO_LIMIT.replace("(?!.*", "(?![^,]*")
    + _KOREAN_HAPPENED.replace(".*", "[^,]*")
    + r",\s"
)

# English.
# What may be part of a rule, and how a sentence or clause reads that only tells of it.
_ENGLISH_OF_RULES = (
    r"(?!.*(?:\d|\b(?:if|unless|except|excluding|exceptions?|only|always|never|must|should"
    r"|needs?|over|under|above"
    r"|below|whenever|where|otherwise|instead|without|every|each|all|both|either|neither|nor"
    r"|any|anything|everything|nothing"
    r"|allowed|free|charged?|pays?|costs?|gets?(?! (?:confus\w*|upset|annoyed|angry|mixed"
    r"|it wrong))|approv\w+|also|too"
    r"|same|apply|applies|others?|rest|no|not|half|double|twice|limit|up to|at least|at most"
    r"|more than|less than"
    r"|cannot|can't|won't|don't(?! (?:forget|mix|keep|get (?:it|this|them) wrong|worry|know))"
    r"|(?<!didn't )include\w*"
    r"|weekends?|weekdays?|holidays?|members?)\b|[$€£%]))"
)
_ENGLISH_TELLS = (
    r"(?:(?:hi|hello|hey|morning|good (?:morning|afternoon)|thanks|thank you|sorry|ok|okay"
    r"|right|so|oh|ah|well|look|listen|cheers)?"
    r"(?: (?:all|team|there|both|again|so much|a lot|folks|everyone))?(?:,? )?"
    r"(?:(?:just )?(?:a |an |one (?:more )?|another )?(?:quick|small|minor|short|important"
    r"|little|gentle)? ?(?:correction|note|reminder|heads[- ]up"
    r"|thing|clarification|question|update|one|fix|point|rule|rules|policy|fyi|for (?:clarity"
    r"|the record|reference)|to (?:be clear|clarify"
    r"|recap|confirm))?(?: (?:about|on|for|regarding) [\w' -]{2,40})?)?"
    r"|please (?:stop|remember|note|make sure|keep in mind|update|fix|correct|get|use|learn"
    r"|stick|don't (?:mix|confuse|forget))\b.*"
    r"|(?:the|our) (?:\w+ )?(?:rules?|policy|process|deal|cut-?offs?|limits?"
    r"|thresholds?)\b.*\b(?:simple|easy|this|follows|changed|straightforward|new)"
    r"|don't (?:forget|mix|get (?:it|this|them) wrong|worry)\b.*"
    r"|(?:let me|i'll|i'm|i've|i am|i have|i just|i keep|i think|i noticed|i saw|i know|i want"
    r"|i'd like|here's|here is|this is (?:how|what|the)"
    r"|that's (?:how|what|why|the)|it works like|it's (?:pretty |really )?(?:simple|easy"
    r"|like this|as follows)|it goes like|you (?:keep|told|said|got|asked|were|gave|sent|mixed)"
    r"|we (?:keep|had|got|were"
    r"|changed|agreed|updated|decided|lost|just|used|did|found|have had)|we've (?:had|been"
    r"|changed|got|agreed|updated|decided)|someone|somebody)\b.*"
    r"|.*\b(?:keeps? (?:getting|mixing|asking|saying|telling|sending)|kept (?:getting|mixing"
    r"|asking|saying|telling|sending)|bounced|complain\w*"
    r"|(?:got|gets?|getting) (?:confused|upset|annoyed|angry|mixed|it wrong)|came back"
    r"|was wrong|were wrong|mixed (?:up|those)|confus\w+"
    r"|mix[- ]?ups?|mistakes?|yesterday|pointed out|noticed|reminded|emailed|happened|caught"
    r"|incorrect|kicked in|changed|went (?:up|down|live)|(?:was|were|been) updated|took effect"
    r"|last (?:week|month|night|time|year|quarter)|this morning|auditors?|the (?:bot|agent"
    r"|assistant) (?:said|told|did|was|gave))\b.*)"
)
# What happened once: numbers in it are of that one case.
_ENGLISH_NO_LIMIT = (
    r"(?!.*\b(?:if|unless|except|excluding|only|always|never|must|should(?!'ve| have|n't have)"
    r"|whenever|otherwise|anyone|anything"
    r"|everyone|everything|from now on|(?:over|under|above|below|more than|less than|at least"
    r"|at most|up to) (?:[₩$€£]?\d|an?\b))\b)"
)
_ENGLISH_HAPPENED = (
    r"(?:(?:so |and |but |ok,? |hey,? |hi,? )?(?:(?:yesterday|today|tonight|this (?:morning"
    r"|afternoon|week)|earlier|last \w+|on \w+day"
    r"|the other day),? )?(?:you|the (?:\w+ )?(?:bot|agent|assistant|system|chatbot|team)"
    r"|someone|somebody|an? (?:\w+ )?(?:customer|guest"
    r"|client|member|patient|student|parent|caller|user|colleague|driver|tenant|lady|man|guy"
    r"|woman|family|mum|mother|father|supplier|buyer"
    r"|passenger|visitor|resident|trainee|claim|order|refund|booking|invoice)|we|i|he|she|they"
    r"|one of [\w ]{2,25}|(?:my|our) \w+"
    r"|(?:that|this|the) (?:\w+ )?(?:one|claim|order|refund|case|booking|invoice|request|ticket"
    r"|customer|guest))"
    r"(?: just| already| also| wrongly| again| then)? (?:\w+ed|told|said|gave|sent|got|let|put"
    r"|had|was|were|made|went|came|took|did"
    r"|didn't|wasn't|paid|sold|quoted|should've|should have|shouldn't have)\b.*"
    r"|(?:please |so please )?(?:can|could) (?:you|we)\b.{0,60}"
    r"|(?:please |so please |so )?(?:go by|stick to|use|follow|apply|remember|update|correct"
    r"|fix|keep to) (?:that|this|it|these|those)\b.{0,40})"
)
ENGLISH_TOLD_BESIDE = re.compile(
    f"{_ENGLISH_OF_RULES}{_ENGLISH_TELLS}|{_ENGLISH_NO_LIMIT}{_ENGLISH_HAPPENED}", re.I
)
# A sentence may begin or end with such a clause: `Small thing, but …`, `…, because of the oven`
ENGLISH_TOLD_FIRST = re.compile(
    _ENGLISH_OF_RULES.replace("(?!.*", "(?![^,:]*")
    + _ENGLISH_TELLS.replace(".*", "[^,:]*").replace("[\\w' -]", "[\\w'-]")
    + r"(?:,|:| -+| –| —)\s+(?:but |so |and )?|"
    + _ENGLISH_NO_LIMIT.replace("(?!.*", "(?![^,:]*")
    + _ENGLISH_HAPPENED.replace(".*", "[^,:]*").replace(".{0", "[^,:]{0")
    + r"(?:,|:| -+| –| —)\s+(?:but |so |and )",
    re.I,
)
ENGLISH_TOLD_LAST = re.compile(
    r"(?:,|\s[-–—]|;)?\s(?:because|since (?:we|they|it|that|the)|so that|as (?:we|they|it's)"
    r"|thanks|thank you|sorry but|please|ok|okay"
    r"|got it|full stop|period|end of story|that's (?:all|it|the rule)|no exceptions"
    r"|simple as that|cheers)\b(?:(?!\d|\b(?:if|unless|except|only|when|over|under)\b).)*$",
    re.I,
)


# Complaints, pleas and closing words: they say no limit and no condition.
_KOREAN_COMPLAINS = re.compile(
    r"(?!.*(?:[가-힣](?<![라다으하지])면[ ,]|경우|때[는만 ]|예외|제외|다만|빼고"
    r"|이상|이하|미만|초과|이내|부터|나머지|그 ?외"
    r"|마다|누구나|무조건|만 (?:됩|돼|가능|받)|야 (?:합|해|됩|돼|되)|[은는] .*(?:안|못) ?[됐했받]))"
    r"(?:(?:끝|이상입니다|수고하세요|참고(?:로만)?|그렇습니다)"
    r"|.*(?:네|네요|던데요?|더라고요|더라구요|거든요|"
    r"[았었였했됐셨갔왔났랐봤줬썼샀냈졌쳤렸혔겼](?:어요|습니다|는데요?|다고요))"
    r"|(?:.*\s)?(?:자꾸|왜|또|맨날|매번|번번이|요즘|지금|어제|그제|오늘|아까|지난)\S*\s."
    r"*(?:[어아해]요|습니다|고요|마세요)"
    r"|.*(?:혼동|착오|실수|헷갈|섞|틀리|반대로|유의|신경|꼼꼼).*(?:바랍니다|주세요"
    r"|마세요|드립니다|요))"
)
_ENGLISH_COMPLAINS = re.compile(
    r"(?!.*(?:[$€£%]|\d|\b(?:if|unless|except|only|must|should|needs?|over|under"
    r"|above|below|than|less|whenever|when|always|never"
    r"|gets?(?! (?:upset|confus\w*|angry|annoyed|it|this|that|these|mixed))|pays?"
    r"|costs?|any|all|both|every|otherwise(?<!said otherwise))\b))"
    r"(?:.*\b(?:again|lol|please|sorry|thanks|cheers|last (?:week|month|time|night"
    r"|year)|yesterday|today|this (?:week|morning|month)|wrong"
    r"|annoy\w+|nonsense|mix\w*|confus\w+|upset|i've|we've|you've|(?:you|they|it|we|people"
    r"|customers) keeps?|kept|told"
    r"|bounced|let|got|had|was|were|did|didn't|said|gave"
    r"|sent|put|charged|went|came|made|complain\w*|angry|honestly|that's (?:it|all))\b.*)"
    r"|(?:please )?(?:stop|don't keep|quit|you keep|you've been) (?:telling|quoting|saying|sending"
    r"|giving|charging|putting)\b(?!.*\b(?:if|when|unless|over|under)\b).*",
    re.I,
)


# Whom or what a story was of: it may be the only one that the rule after it is for.
_NARROWS = re.compile(
    r"(?<![가-힣])(?:해외|국내|VIP|단골|신규|기존|법인|개인|회원|비회원|주말|평일"
    r"|공휴일|도매|소매|야간|주간)"
    r"|[가-힣][은는] (?:.* )?(?:안|못) ?[됐했받나되]"
    r"|\b(?:was|were|is|are|it's|that's|only) (?:only )?(?:for|about)\b"
)


def narrows(sentence: str) -> bool:
    """Whether a sentence beside a rule may say whom or what the rule is for."""
    return _NARROWS.search(sentence) is not None


# `Sun: keep it outside` tells what holds for one of several.
_LABELLED = re.compile(
    r"(?!(?:note|reminder|fyi|update|correction|hi|hey)\b)[\w'-]+(?: [\w'-]+)?: \w", re.I
)


# A list of amounts is no story, whatever tells of it: `조조 9천원, 일반 만 4천원으로 바뀌었습니다`.
_LISTED = re.compile(
    r"^[^:.\d]{3,50}: (?=[^.]*\d[^.]*, [^.]*\d)"
    r"|[가-힣A-Za-z]+ (?:\d|[일이삼사오육칠팔구]?[만천백])[^,]{0,9}, [가-힣A-Za-z]+ (?:\d"
    r"|[일이삼사오육칠팔구]?[만천백])"
)

# Who speaks, that rules follow or are to be kept to, and what somebody did in spite of them.
_KOREAN_FRAMES = re.compile(
    r"(?:안녕하세요,? ?)?[가-힣A-Za-z]{1,8} ?(?:팀|부|과|실|점|담당자?|매니저|사장|원장|점장"
    r"|총무|과장|대리)(?:입니다|이에요|예요|인데요)"
    r"|(?:[가-힣]+ ){0,3}(?:기준|규정|규칙|방침|요금|절차)\S{0,2} (?:다음|아래)(?:과|와)"
    r" 같(?:이|습니다|아요)(?: (?:정|안내|적용|변경|운영|공지|시행)\S{0,4})?"
    r"|(?:(?:이번|다음) (?:학기|달|주|분기|해)부터 |앞으로(?:는)? )?(?:이|위|아래)"
    r" (?:기준|규정|규칙)(?:으로|대로) (?:[가-힣]+ )?(?:부탁|바랍)\S{0,6}"
    r"|(?!.*(?:이상|이하|미만|초과|까지|부터)).*[가-힣]시면 어떡\S{1,5}"
    r"|(?!.*\d)(?:[^,]* )?이렇게 (?:답|안내|말씀|처리|설명)\S{0,2} ?(?:주세요"
    r"|주시면 \S{2,3}|하세요)"
    r"|(?:[가-힣]+ ){0,4}(?:기준|규정|규칙|방침)(?:이에요|예요|입니다|이야)"
    r"|헷갈리면 안 \S{1,4}|.*(?:다|자꾸|계속|전부) ?틀\S{1,4}|.*헤매\S{1,4}"
    r"|(?:도대체 |근데 )?왜 (?:자꾸|또|맨날|계속|매번) .*|아까처럼 .*넘어가면 \S{1,6}"
    r"|(?:어제|아까|오늘|지난\S{1,2}) .*던데,? (?:조심|주의|신경)\S{1,6}"
    r"|지난번에 [^,.]{1,30}던데,? 그건 [가-힣]+(?:예요|이에요|입니다|죠|잖아요)"
)
_ENGLISH_FRAMES = re.compile(
    r"(?:whole|full|round|complete) (?:points|numbers|marks|units) only", re.I
)


def is_beside(sentence: str) -> bool:
    """Whether a sentence only greets, or tells what happened: no part of any rule."""
    if is_korean(sentence):
        all_beside = (KOREAN_TOLD_BESIDE, _KOREAN_COMPLAINS, _KOREAN_FRAMES)
    else:
        all_beside = (ENGLISH_TOLD_BESIDE, _ENGLISH_COMPLAINS, _ENGLISH_FRAMES)
    plain = sentence.strip(".!?~ㅠㅜ ")
    if _LABELLED.match(plain) or _LISTED.search(plain):
        return False
    if has(plain, Cue.PRAISE) and not re.search(r"\d|면[ ,]|경우|\bif\b|\bwhen\b", plain):
        return True
    return any(one.fullmatch(plain) for one in all_beside)
