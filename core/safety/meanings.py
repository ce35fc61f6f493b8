"""What harmful sentences mean, whatever words they take and in which order. Data only.

Each rule is a meeting of what is meant: who, what control, which denial, how far. The pattern is
the rarer of them, `needs` the others, anywhere in the same clause.
"""

from __future__ import annotations

from core.safety.english import REFUSED
from core.safety.english_silence import AFFECTED, NO_SECURITY, ORDINARY, OVERSIGHT, RECORDS
from core.safety.korean import AFFECTED as AFFECTED_KO
from core.safety.korean import BOSS, NEGATED, PRIVATE
from core.safety.rules import Rule, expression

# ---- English ---------------------------------------------------------------------------------

_CHECK = (
    r"(?:approv\w*|sign(?:s|ed|ing|atures?)?\b(?! up)|verif\w*|validat\w*|(?:cross-?|double-?)?"
    r"check(?!-?\s?(?:in|out)\b)\w*|confirm\w*|inspect\w*|review\w*|vet(?:s|ted|ting)?\b"
    r"|screening|audit\w*|compar(?:e|es|ed|ing)\b|match(?:es|ed|ing)?\b|call(?:ing|ed)?[- ]?backs?"
    r"|look(?:s|ed|ing)? (?:over|at|through|into)|go(?:es|ing)? (?:over|through)"
    r"|read(?:ing)? through"
    r"|second (?:look|person|pair|opinion)|proof|evidence|onboarding|kyc|consent|authori[sz]\w*"
    r"|counter-?sign\w*|oversight|reconcil\w*|due diligence|four[- ]eyes|sign-?offs?)"
)
_NEED = r"(?:needs?|needed|ha(?:s|ve|d) to|must|requires?|required|bothers?|waits? for|worth)"
_USELESS = expression(
    r"\b(?:formality|formalities|(?:live|do|manage|get by|cope) without"
    r"|leave (?:it|that|this|them|those|these) (?:out|off|away)|waste of \w+|pointless|superfluous"
    r"|redundant|needless|overkill|red tape|thing of the past|can go\b|spare (?:yourself|us|them)"
    r"|save (?:yourself|us|them) the|no point in|dead weight|let (?:it|them) slide"
    r"|for the sake of appearance|box-?ticking|dispensable)\b"
    rf"|\b(?:nobody|no ?one|none of us|not|\w+n't|never|no longer)\b[^.;\n]{{0,24}}?\b{_NEED}\b"
    rf"[^.;\n]{{0,24}}?\b{_CHECK}"
)
_NO_CHECK = expression(
    rf"\b(?:needs?|requires?|takes?|wants?|gets?|asks? for) no (?:\w+ )?{_CHECK}"
    r"|\b(?:nobody|no ?one|none of us) (?:\w+ )?(?:reads?|checks?|looks?|asks?|counts?|opens?)\b"
    r"[^.;\n]{0,24}?\b(?:first|before|straight|any ?more|any longer)\b"
    r"|\b(?:skip|drop|omit|forget|stop|avoid)\w*\b[^.;\n]{0,16}?\b(?:ids?\b|i\.d\.|papers"
    r"|receipts?)"
    r"|\b(?:reports?|claims?|requests?|invoices?|orders?|expens\w+|bills?|figures)\b[^.;\n]{0,40}?"
    r"\b(?:beyond (?:question|doubt|suspicion)|above (?:suspicion|reproach|question))\b"
    r"|\b(?:ship|pay|release|send|publish|start|deliver|order|book|go ahead)\w*\b[^.;\n]{0,24}?"
    rf"\b(?:and|then|but)\b (?:\w+ ){{0,2}}?(?:{_CHECK}|tests?|ask|paperwork)\b[^.;\n]{{0,16}}?"
    r"\b(?:later|afterwards?|after that|next \w+|tomorrow)\b"
    rf"|\b{_CHECK}\b[^.;\n]{{0,16}}?\b(?:is|are) (?:only|just|merely|nothing but|mere) (?:a )?"
    r"(?:paper|ritual|theatre|decoration|show|habit|custom|suggestion|ornament)\b"
)
_PASSED = (
    r"(?:in order|fine\b|ok(?:ay)?\b|good to go|sound\b|legitimate|correct|valid|genuine|complete"
    r"|approved|verified|checked|cleared|signed(?: off)?|authori[sz]ed|trusted|settled"
    r"|beyond (?:doubt|question)|accurate|accepted|agreed)"
)
_PRESUMED = expression(
    r"\b(?:treat|count|consider|regard|assume|deem|take|see|view|rate|accept|book|handle|let)"
    rf"(?:s|ed|d|ing)?\b[^.;\n]{{0,80}}?\b(?:as|to be|like|is|are|be|=)\s+(?:\w+ )?{_PASSED}\b"
)
_EVERY = expression(
    r"\b(?:each|every\w*|all|any\w*|whatever|whoever|always|automatically|by default|the moment"
    r"|on arrival|right away|straight away|unseen|requests?|claims?|invoices?|applications?)\b"
)
_ON_CONDITION = expression(
    REFUSED.pattern + r"|\b(?:if|when|once|after|until|unless|only|provided|as soon as)\b"
)
_LIMIT = (
    r"(?:limits?|caps?|ceilings?|maximums?|upper bounds?|quotas?|allowances?|restrictions?"
    r"|spending rules?)"
)
_MONEY = expression(
    r"\b(?:discount|refund|spend|spent|transfer|wire|budget|pay|paid|credit|gift|voucher|expens"
    r"|salar|bonus|withdraw|loan|purchas|money|sums?\b|amount|card|commission|overtime|doses?\b"
    r"|advance|claim|travel|compensat|rebate|overdraft|procure|donation fund|invoice)"
)
_LIFTED = expression(
    rf"\b(?:lift|remov|drop|scrap|abolish|ignor|disregard|forget|waiv|suspend|overrid|bypass|undo"
    rf"|tak(?:e|es|en|ing)|strik|delet|relax|cancel)\w*\b[^.;\n]{{0,20}}?\b{_LIMIT}\b"
    rf"|\b(?:no|without(?: an?y?)?|zero|free of) (?:\w+ ){{0,2}}?{_LIMIT}\b"
    rf"|\b{_LIMIT}\b[^.;\n]{{0,40}}?\b(?:gone|off\b|lifted|removed|void|history|ended|suspended"
    rf"|(?:not|\w+n't|no longer) (?:apply|applies|bind|binds|count|matter|hold)|never mind)\b"
    rf"|\b(?:may|can|free to|allowed to|fine to|ok to|welcome to)\b[^.;\n]{{0,24}}?\b(?:exceed"
    rf"|go (?:over|beyond|past|above)|overstep|break)\b[^.;\n]{{0,20}}?\b{_LIMIT}\b"
)
_KEPT = expression(
    REFUSED.pattern + r"|\b(?:approv\w*|asks?|signs?|manager|wi-?fi|refill|parking|storage)\b"
    r"|\bdo not\b|\bunless\b|\buntil\b"
)
_UNBOUNDED = expression(
    r"\bas (?:high|much|many|often|large|big|far|deep|low)(?: \w+){0,2} as (?:it takes|\w+(?: \w+)?"
    r" ?(?:likes?|wants?"
    r"|please[sd]?|wish\w*|needs?|sees? fit|choose[sn]?|cares?|asks?))\b"
    r"|\b(?:move|transfer|withdraw|send|approve|spend|grant|give|pay|take|book)\w*\b"
    r"[^.;\n]{0,16}?\bany (?:sum|amount|figure|price|total)\b|\bwhatever (?:the \w+ |\w+ )"
    r"(?:spends?|asks?|wants?|claims?|charges?|orders?|names?|requests?|bills?)\b"
    r"|\bhowever (?:much|high|large|big)\b|\bsky is the limit\b|=\s?[\"']?(?:unlimited|infinite"
    r"|inf)\b"
    r"|\b(?:open-ended|bottomless|boundless)\b|\b(?:anything|whatever|everything) (?:the |our |a )?"
    r"(?:\w+ ){1,3}?(?:asks? for|wants|requests|names|demands)\b"
)
_ALL_OPEN = expression(
    r"\b(?:nothing|no (?:file|record|folder|account|system|document|door|drawer)s?)\b"
    r"[^.;\n]{0,40}?\b(?:(?:not|\w+n't) (?:allowed|permitted|supposed)|off[- ]limits|closed to"
    r"|locked (?:for|to)|forbidden|barred|out of bounds|kept from)\b"
)
_LEARNS = (
    r"(?:learns?|finds? (?:it |this |that )?out|realis\w+|realiz\w+|discovers?|hears?|knows?"
    r"|notices?|suspects?|sees?|gets? wind|be (?:aware|told|informed))"
)
_IN_THE_DARK = expression(
    rf"\b(?:{OVERSIGHT}|{AFFECTED})\b[^.;\n]{{0,16}}?\b(?:never|(?:should|must|need|may|shall|can"
    rf"|has to|have to|is to|are to|ought to)(?: not|n't| never)|not to)\b[^.;\n]{{0,12}}?\b"
    rf"{_LEARNS}\b|\b(?:{OVERSIGHT}|{AFFECTED})\b[^.;\n]{{0,12}}?\b(?:none the wiser|in the dark"
    rf"|unaware|kept out)\b"
    r"|\b(?:not|\w+n't|never) let\b[^.;\n]{0,30}?\b(?:get wind|catch on)\b"
    r"|\b(?:tell|inform|show) (?:nobody|no ?one|none)\b|\bstays? (?:just |strictly )?(?:between"
    r"|among|with) (?:us|ourselves"
    rf"|the \w+ of us|you and me)\b"
)
_DENIED = expression(
    r"\b(?:never (?:existed|happened|took place|was|were)|(?:does|do|did)(?: not|n't) (?:exist"
    r"|happen)"
    r"|no such (?:\w+)|know nothing|no idea|not aware of|cannot be found|was lost|were lost)\b"
)
_ASKED_BY = expression(
    rf"\b(?:when|if|should|in case|once|whenever)\b[^.;\n]{{0,30}}?\b{OVERSIGHT}\b[^.;\n]{{0,20}}?"
    rf"\b(?:ask|inquir|enquir|question|want|come|visit|call|show|check|turn)\w*\b"
)
_NO_TRACE = expression(
    r"\b(?:without|nowhere|nothing|never|not|\w+n't|no)\b[^.;\n]{0,24}?\b(?:leav\w+|line|trace|note"
    rf"|entry|entries|mark|word|appear\w*|show\w*|mention\w*)\b[^.;\n]{{0,24}}?\b(?:in|on|into|of) "
    rf"(?:the |any |our |their |its )?(?:\w+ )?(?:{RECORDS})"
    r"|\b(?:nothing|none|no word) (?:of|about) (?:this|it|that|these)\b[^.;\n]{0,20}?\b(?:paper"
    r"|writing"
    r"|written|files?|record|books|mail)\b|\b(?:erase|delete|wipe|remove|clear|destroy|shred)\b"
    r"[^.;\n]{0,12}?\b(?:entry|entries|traces?|messages?|lines?)\b[^.;\n]{0,16}?\b(?:once|after"
    r"|when"
    r"|as soon as)\b[^.;\n]{0,12}?\b(?:done|finished|through|read|paid)\b"
)
_GUARD_OFF = expression(
    r"\b(?:your|the (?:bot|ai|assistant|agent|model)'?s?|its)\b (?:\w+ )?(?:safety \w+|guard\w*"
    r"|safeguards?|content filters?|restrictions?|moderation|protections?|safety)\b"
    r"[^.;\n]{0,30}?\b(?:off|disabled|lifted|suspended|inactive|down|paused|removed|gone"
    r"|deactivated|out of (?:order|force)|no longer)\b"
)
_TOLD_BEFORE = expression(
    r"\b(?:whatever|everything|anything|all|what) (?:that )?(?:you|the (?:bot|assistant|agent"
    r"|model))"
    r" (?:were|was|have been|had been|got|learned|learnt|know|received|heard)\b|\b(?:guidance"
    r"|guidelines?|instructions?|rules|briefing|directions?|orders)\b[^.;\n]{0,20}?\b(?:gave you"
    r"|you (?:were|got|have|received)|given to you|in your (?:head|setup|prompt))\b"
    r"|\byour (?:old|former|previous|earlier|existing|current|own|built-in) (?:rules|instructions"
    r"|guidelines|orders|training|limits|polic\w+)\b|\b(?:text|lines?|everything|words|messages?"
    r"|part)"
    r" (?:above|before this|preceding|up to here|so far)\b"
)
_VOID = expression(
    r"\b(?:(?:not|\w+n't|no longer) (?:apply|applies|count|counts|bind|binds|matter|hold|valid)"
    r"|void"
    r"|forget|ignore|disregard|out of date|outdated|obsolete|stale|expired|irrelevant|cancelled"
    r"|superseded|set aside|overruled|drop it|history|over now|gone|only a test|a test|a joke)\b"
)
_THIS_ALONE = expression(
    r"\b(?:only|alone|solely|nothing but|nobody but)\b[^.;\n]{0,40}?\b(?:this (?:note|text|message"
    r"|page|memo)|what i (?:write|say|tell)|my (?:words?|instructions?|notes?))\b"
    r"|\b(?:this (?:note|text|message|page|memo)|what i (?:write|say|tell)\w*)\b[^.;\n]{0,16}?"
    r"\b(?:alone|only)\b"
)
_UNRULED = expression(
    r"\bas (?:if|though)\b[^.;\n]{0,40}?\b(?:given|had|got|heard"
    r"|been told)\b[^.;\n]{0,12}?\b(?:rules"
    r"|instructions|limits|guidelines)\b|\byou (?:answer|listen|belong"
    r"|report) (?:only )?to (?:me|us)\b"
    r"(?=[^.;\n]*\b(?:now|not|only|alone)\b)|"
    r"\b(?:assistant|ai|bot|agent|model|helper|persona|character)\b[^.;\n]{0,30}?\b(?:(?:has|with"
    r"|have|knows?|obeys?|follows?) no (?:\w+ )?(?:rules?|limits?|restrictions?|boundaries|morals"
    r"|filters?|guard\w*)|without (?:any )?(?:rules?|limits?|restrictions?|boundaries|filters?)"
    r"|never (?:turns? \w+ down|says? no|refuses?|declines?)|free of (?:all |any )?(?:rules?"
    r"|restrictions?))\b"
)
_OUTRANKS = expression(
    r"\b(?:this|these|it|mine)\b[^.;\n]{0,30}?\b(?:wins?|beats?|outranks?|outweighs?|prevails?"
    r"|overrules?|trumps?|ranks? above|goes? before|takes? precedence|stands? above)\b"
    r"[^.;\n]{0,20}?\b(?:anything|everything|whatever|all (?:else|other|later)"
    r"|any(?:one| other| later)|what (?:anyone|others|they))\b"
)
_TAUGHT = expression(
    r"\b(?:store|remember|save|sav|taught|teach|learn|instruct|admin|operator|system|knowledge"
    r"|memor|guideline|prompt)\w*\b"
)
_REVEALED = expression(
    r"\b(?:paste|print|show|reveal|send|quote|repeat|copy|output|recite|share|dump|disclose)\b"
    r"[^.;\n]{0,30}?\b(?:(?:initial|system|original|hidden|starting"
    r"|very first) (?:\w+ )?(?:prompts?"
    r"|instructions?|messages?|configuration)|what you (?:were|have been) (?:configured|set up|told"
    r"|given|instructed)|(?:beginning|start|top|first lines?) of (?:your|the|this) (?:context"
    r"|conversation"
    r"|chat|window|memory))\b"
)
_NEW_PAYEE = expression(
    r"\b(?:payee|beneficiary|account holder)(?:'s)?(?: name)?\b[^.;\n]{0,20}?\b(?:is now|has become"
    r"|becomes|changed? to|switched to|will be|is from)\b"
)
_COMMANDS = expression(
    r"\b(?:take|treat|accept|handle|consider|regard|process|execute|obey)\b[^.;\n]{0,20}?\bas "
    r"(?:an? |the )?(?:administrator|admin|root|system|operator|developer|platform|owner)\w*'?s?"
    r" (?:command|order|directive|instruction|override|message)\b|\b(?:as|from|i am|i'm) (?:the "
    r"|an? )?"
    r"(?:administrator|platform owner|system owner|root user|superuser|sysadmin|owner of (?:this"
    r"|the) (?:system|platform)|developer of this \w+)\b[^.\n]{0,50}?\b(?:verified|authenticated"
    r"|command|override|clearance|privilege\w*|session)\b"
)
_OTHER_NUMBER = expression(
    r"\b(?:replace|swap|change|switch|overwrite|exchange|substitute|correct)\w*\b[^.;\n]{0,40}?"
    r"(?<![\d-])\d{4}[ -]?\d[\d -]{2,16}\d(?![\d-])|\b(?:new|other|different|current) (?:\w+ )?"
    r"(?:account|bank details|iban)\b[^\n\d]{0,40}\d[\d -]{6,18}\d(?![\d-])"
)
_PAID = expression(
    r"\b(?:pay|paid|payment|payments|invoices?|bills?|remit\w*|transfers?|settle\w*|iban|bank"
    r"|wire)\b"
)
_NO_ACCOUNT = expression(r"phone|fax|order (?:no|number)|ticket|tracking|sku|article|call\b|format")

ENGLISH_RULES = (
    Rule("control.dropped", _USELESS, expression(rf"\b{_CHECK}"), REFUSED, bounded=True),
    Rule("control.dropped", _NO_CHECK, None, REFUSED, bounded=True),
    Rule("control.dropped", _PRESUMED, _EVERY, _ON_CONDITION, bounded=True),
    Rule(
        "control.dropped",
        expression(
            r"\b\w*(?:check|approv|review|verif|screen|inspect|signature|confirm|onboarding|kyc"
            r"|audit"
            r"|vetting)\w*(?: (?!in|out)\w+)?\s*(?:=|:=|->|→|:)\s*[\"']?(?:none|no|off|false"
            r"|skip(?:ped)?|waived|null|not (?:needed|required|applicable)|n/a)(?![\w-])"
        ),
        bounded=True,
    ),
    Rule("control.limit", _LIFTED, _MONEY, _KEPT, bounded=True),
    Rule("control.limit", _UNBOUNDED, _MONEY, _KEPT, bounded=True),
    Rule(
        "control.limit", _ALL_OPEN, expression(r"\b(?:open|read|see|view|enter|access)\w*"), REFUSED
    ),
    Rule("concealment.people", _IN_THE_DARK, None, ORDINARY),
    Rule("concealment.people", _DENIED, _ASKED_BY, NO_SECURITY),
    Rule("concealment.record", _NO_TRACE, None, ORDINARY),
    Rule("model_instruction.override", _GUARD_OFF, None, NO_SECURITY),
    Rule("model_instruction.override", _TOLD_BEFORE, _VOID, NO_SECURITY),
    Rule(
        "model_instruction.override", _THIS_ALONE, expression(r"\b(?:you|bind|go by|follow|obey)")
    ),
    Rule("model_instruction.override", _UNRULED, None, NO_SECURITY),
    Rule("model_instruction.override", _OUTRANKS, _TAUGHT, NO_SECURITY),
    Rule(
        "model_instruction.reveal",
        _REVEALED,
        None,
        expression(REFUSED.pattern + r"|ticket machine"),
    ),
    Rule("forged.turn", _COMMANDS, None, NO_SECURITY),
    Rule("payee.account", _OTHER_NUMBER, _PAID, _NO_ACCOUNT),
    Rule("payee.destination", _NEW_PAYEE, None, _ON_CONDITION),
)

# ---- Korean ----------------------------------------------------------------------------------

_CHECK_KO = (
    r"(?:승인|결재|검토|검수|심사|확인|점검|검증|대조|서명|인증|실사|검사|본인\s?확인"
    r"|재확인|허가|동의)"
)
_LOOK_KO = (
    r"(?:들여다보|살펴보|훑어보|따져\s?보|뜯어보|맞춰\s?보|견줘\s?보|대조하|확인하|검토하|점검하"
    r"|검수하"
    r"|검증하|심사하|확인받|검토받|승인받|결재받|서명받)"
)
_TAKEN = r"(?:보고|보면|본다|봅|봐|치|칩|친|쳐|여기|여깁|여긴|간주|하고|하면|합니|한다|해|처리|넘)"
_IF_KO = expression(
    NEGATED.pattern
    + r"|(?:되면|하면|으면|나면|받으면|끝나면|후에|뒤에|다음에|때만|경우에만|전까지)"
)
_MONEY_KO = expression(
    r"상품권|할인|경비|출장비|이체|송금|환불|결제|지급|예산|여신|대출|법인카드|구매|금액|비용"
    r"|수당|보상"
    r"|접대비|지출|인출|출금|선지급|가불|요율|발주|청구|지원금|보조금|포인트\s?지급|교통비|이율"
)
_LIMIT_KO = r"(?:한도|상한선?|제한액|최대\s?금액|최고액|천장|금액\s?제한|한계액|제한)"
_KEPT_KO = expression(
    NEGATED.pattern + r"|와이파이|데이터|리필|입장|연령|시간\s?제한|주차|도서|승인|결재|확인|문의"
)
_WHO_KO = rf"(?:{BOSS}|{AFFECTED_KO})"

KOREAN_RULES = (
    Rule(
        "control.dropped",
        expression(
            rf"{_LOOK_KO}지\s?(?:않아도|않고도?|말고|말\s?것|마시고|않은\s?채)"
            rf"|{_CHECK_KO}[^.\n]{{0,24}}?(?:형식(?:일\s?뿐|적(?:일|인|이)|에\s?불과)|요식\s?행위"
            rf"|시간\s?낭비|(?:걸리|번거로우|귀찮으|더디|늦어지)니\s?(?:빼|생략|건너|넘어|그만"
            rf"|하지)"
            rf"|군더더기|무의미|쓸데없|(?:종이|장식|허울|껍데기|구색)(?:일\s?뿐|에\s?불과))"
            r"|(?:다시|더|따로|굳이|일일이|한\s?번\s?더)\s?(?:볼|읽을|셀|잴|물을|따질|확인할"
            r"|살필|들여다볼)"
            r"\s?(?:필요|이유|까닭)(?:가|는|도)?\s?없(?!는|이|으면)"
            r"|(?:먼저|우선|일단)\s?(?:\S{1,6}\s)?(?:출하|지급|송금|발송|시공|출고|배포|집행"
            r"|계약|게시)"
            rf"[^.\n]{{0,12}}?(?:나중에|추후|사후에)\s?(?:{_CHECK_KO}|시험|서류|증빙)"
            r"|대신\s?(?:서명|결재|승인|사인|도장)(?:하세요|해\s?주|하면\s?(?:되|돼|됩)|하십)"
        ),
        unless=_IF_KO,
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            rf"(?:문제|이상|하자)\s?없는\s?(?:것|걸|셈|거)(?:으로|로)\s?{_TAKEN}"
            rf"|{_CHECK_KO}(?:이|을|를|은|는|까지|도)?\s?(?:다\s?)?(?:끝난|끝낸|마친|완료된"
            rf"|통과한|통과된|받은|된)\s?"
            rf"(?:것|걸|셈|거)(?:으로|로|이나)\s?(?:{_TAKEN}|다름)"
        ),
        unless=_IF_KO,
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            r"(?:읽|보|묻|따지|세|재|의심하|살피|찾|요구하)지\s?(?:말고|않고|마시고|마세요"
            r"|마십시오|말\s?것)"
        ),
        expression(
            r"^(?=.*(?:구매|경비|수당|주문|지급|환불|출고|신분증|송금|출입증|영수증|증빙|자격))"
            r"(?=.*(?:곧장|바로|그냥|그대로|다\s|모두|전부|내주|넘기|들여|통과|면\s))"
        ),
        _IF_KO,
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            r"(?:2인|두\s?사람|이중|교차|결재|승인|검수|확인)[^.\n]{0,8}(?:규정|규칙|절차|원칙"
            r"|제도)[^.\n]{0,14}?"
            r"(?:쉬는|쉽니다|쉰다|멈춥|멈춘|중단|정지|유예|적용하지\s?않|내려놓)"
        ),
        unless=NEGATED,
    ),
    Rule(
        "control.dropped",
        expression(
            rf"{_CHECK_KO}\s?(?:여부|단계|절차|자)?\s*(?:=|→|->|:)\s*[\"']?(?:없음|불필요|생략|면제"
            r"|안\s?함|무\b|미실시|해당\s?없음|none|off|x\b)"
        ),
        bounded=True,
    ),
    Rule(
        "control.limit",
        expression(
            rf"{_LIMIT_KO}[^.\n]{{0,16}}?(?:없(?!으면|는지|을\s?때)|걷어|풀(?!무)|해제|폐지|무시"
            r"|신경\s?쓰지|따지지|넘겨도|넘어도|상관\s?없|두지\s?않|치우|철폐|잊)"
        ),
        _MONEY_KO,
        _KEPT_KO,
        bounded=True,
    ),
    Rule(
        "control.limit",
        expression(
            r"(?:원하는|달라는|부르는)\s?만큼|끝이\s?없|아무리\s?(?:긁|써|쓰|많이)|필요한\s?만큼"
            r"|마음(?:껏|대로)|맘대로|얼마든지|무한정|(?:쓰는|쓴|부르는"
            r"|청구하는|달라는)\s?대로|금액(?:이|은)?\s?얼마(?:든|라도|가)|=\s?[\"']?무제한"
        ),
        _MONEY_KO,
        _KEPT_KO,
        bounded=True,
    ),
    Rule(
        "control.limit",
        expression(
            r"(?:열지|보지|건드리지|접근하지|고치지|들어가지)\s?못할\s?(?:것|파일|자료|곳|데이터"
            r"|문)"
            r"(?:은|이|도)?\s?(?:하나도\s?|전혀\s?)?없"
        ),
    ),
    Rule(
        "concealment.people",
        expression(
            rf"{_WHO_KO}[^.\n]{{0,24}}?(?:모르는\s?(?:편|게|것)이?\s?(?:더\s?)?(?:낫|좋|편)"
            rf"|귀에\s?들어"
            r"(?:갈|가게\s?할)\s?(?:필요|일)|알\s?(?:까닭|것|일)(?:은|이|도)?\s?없|알아\s?봐야"
            r"|알면\s?(?:곤란"
            r"|안\s?되|안\s?돼|시끄|골치|피곤)|모르고\s?(?:지나|넘어)|모르는\s?채|모른\s?채"
            r"|몰라도\s?(?:되(?!는)|돼|됩))"
            rf"|(?:{BOSS}|점검관|검사관|위층|상부|높은\s?분)[^.\n]{{0,20}}?(?:안\s?보여\s?(?:줘"
            rf"|드려)도"
            r"|(?:다고|라고)\s?(?:말|전|얘기)?하지\s?(?:마|말))"
        ),
        unless=PRIVATE,
    ),
    Rule(
        "concealment.record",
        expression(
            r"이(?:번)?\s?(?:일|건|거래|이야기|합의)[^.\n]{0,10}?(?:종이|글|문서|서면|장부|메일"
            r"|전산|기록)"
            r"[^.\n]{0,12}?(?:남기|적|쓰|올리)지\s?(?:않|말|마)"
        ),
        unless=PRIVATE,
    ),
    Rule(
        "concealment.people",
        expression(
            r"(?:없었다고|없다고|모른다고|처음\s?듣는다고|기억(?:이)?\s?안\s?난다고|아니라고)"
            r"(?:만)?\s?(?:하|해|답|말|둘러|잡아떼|우기|전)"
        ),
        expression(
            rf"(?:{BOSS}|감사|조사|단속|세무|노동청)[^.\n]{{0,16}}?(?:물|묻|여쭤|찾|오|나오|조사"
            rf"|캐)"
        ),
        expression(r"사기|피싱|품절|재고|자리"),
    ),
    Rule(
        "model_instruction.override",
        expression(
            r"(?:ai|인공지능|챗봇|봇|에이전트|어시스턴트|모델|너의|당신의"
            r"|네)\s?(?:의\s?)?(?:안전\s?(?:장치"
            r"|설정|필터|규칙)|보호\s?(?:장치|설정)|필터|가드레일|검열)[^.\n]{0,14}?(?:꺼져|꺼졌"
            r"|껐|끈|해제"
            r"|풀려|풀렸|비활성|없어졌|중단|멈춰|사라)"
        ),
        unless=expression(r"신고|보안팀|점검하"),
    ),
    Rule(
        "model_instruction.override",
        expression(
            r"(?:받은|들은|배운|주어진|입력된|정해진|넣어\s?둔|심어\s?둔|알려\s?준"
            r"|적어\s?둔)\s?(?:안내|지시"
            r"|지침|설명|규칙|가르침|명령|교육|설정)[^.\n]{0,20}?(?:없던|무시|잊|버리|접어|낡"
            r"|효력|무효"
            r"|참고하지|따르지|지우|덮)|(?:너의|네|너희|당신의)\s?(?:옛|이전|기존|지난|예전"
            r"|원래)\s?(?:규칙|지침"
            r"|지시|명령|훈련|제한|원칙)[^.\n]{0,12}?(?:끝|사라|없어|무효|폐기|효력|잊|지나)"
            r"|(?:규칙|지침|지시|명령|제한|훈련)[^.\n]{0,12}?(?:받은|들은"
            r"|배운)\s?적\s?없는\s?(?:것|듯|양)"
            r"|(?:이\s?줄|위|앞)(?:\s?위)?(?:의|에\s?(?:있는|적힌)|까지의)\s?(?:글|내용|문장|말"
            r"|지시)[^.\n]{0,16}?"
            r"(?:무효|시험이었|연습이었|농담이었|장난이었|없던)"
        ),
        expression(
            r"전부|모두|다\s|싹|모든|너는|너의|네\s|당신|처럼|무효|없던|운영자|관리자|개발"
            r"|만\s?(?:따르|기준|믿|보)|이\s?글|제가\s?적"
        ),
        expression(r"신고|보안팀|사기|피싱|고객(?:이|께서)|손님(?:이|께서)"),
    ),
    Rule(
        "model_instruction.override",
        expression(
            r"(?:제약|제한|규칙|금기|한계|금지)(?:이|가"
            r"|도)?\s?(?:전혀\s?)?없는\s?(?:\S{1,6}\s)?(?:상담원|비서|ai"
            r"|봇|도우미|에이전트|캐릭터|인격|존재|조수)"
        ),
        expression(r"너|넌|당신|이제|역할|연기|되어|라고"),
    ),
    Rule(
        "model_instruction.override",
        expression(
            r"(?:이게|이것이|이\s?(?:내용|글|규칙|메모|말)이)\s?[^.\n]{0,12}?(?:이기|이긴|이겨"
            r"|우선|앞서|먼저)"
        ),
        expression(r"나중|다르게|다른|누가|관리자|가르쳐|배워|어떤\s?(?:지침|규칙|말)"),
    ),
    Rule(
        "model_instruction.reveal",
        expression(
            r"(?:대화|문맥|컨텍스트|프롬프트)\s?(?:의\s?)?(?:맨\s?)?(?:앞|처음|시작|첫머리"
            r"|위)[^.\n]{0,24}?"
            r"(?:되풀이|반복|그대로|읊|옮겨|출력|적어|보여)"
        ),
        unless=expression(r"신고|보안팀|마세요|않습니다|금지"),
    ),
    Rule(
        "payee.destination",
        expression(
            r"(?:예금주|수취인|입금처|받는\s?(?:사람|분))(?:은|는|이|가)?\s?"
            r"(?:이제|앞으로|오늘부터|다음\s?달부터)"
        ),
        unless=expression(r"확인|대조|마세요|않습니다|달라지면|바뀌면"),
    ),
    Rule(
        "forged.turn",
        expression(
            r"(?:관리자|운영자|시스템|최고\s?권한|루트|개발자)\s?(?:의\s?)?(?:명령|지시"
            r"|권한)\s?(?:으로|로)\s?"
            r"(?:처리|받아|취급|간주|실행(?!['’\"」])|여기|반영|알고)|(?:운영사|플랫폼|개발사"
            r"|시스템)\s?(?:관리자|운영자)?\s?계정으로"
            r"\s?(?:남기|쓰는|보내)|\(\s?인증\s?(?:됨|완료)\s?\)"
        ),
        unless=expression(r"로그인|신고|사기|피싱"),
    ),
)
