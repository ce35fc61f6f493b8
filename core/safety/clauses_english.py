"""Classes of English words, and what their meeting in a clause says. Data only.

What a letter stands for is said at `WORDS`; `clauses` says how rows of them are written.
"""

from __future__ import annotations

from core.safety.clauses import ClauseRule, rows
from core.safety.rules import expression

_NOT = rows(r"[N0!]_{0,2}$")
_OR_IF = rows(r"[N0!]_{0,2}$|[X]_{0,6}$")
_AFTER = rows(r"[X!]|I_{0,3}N")
_OWN = expression(r"\b(?:surprise|birthday|password|pin\b|competitor|spoiler|phish|scam|fraud)")

RULES = (
    # ---- controls: who is to stop doing which of them
    ClauseRule(
        "control.dropped",
        rows(r"D[^,|XIWN]{0,4}[CV](?!_{0,1}e)"),
        _NOT,
        rows("!"),
        expression(
            r"(?:confirm\w*|approv\w*|review\w*|check\w*|consent|verif\w*|inspect\w*|audit\w*)[- ]"
            r"(?:skills?|tables?|mails?|e-?mails?|messages?|letters?|texts?|pages?|templates?|sms|buttons?"
            r"|columns?|headings?|memor\w+|notes?|screens?|links?)\b"
            r"|(?:stop|cease|quit|avoid|refrain from) (?:approving|authori[sz]ing|signing)"
            r"|guards? off|skip (?:permit|hire)|\bbins\b|the bin\b|(?:spell|type|case)[ -]check"
            r"|check-?(?:in|out|box)"
            r"|\bcondition of\b|test (?:data|files?|mails?|orders?)|reviews? (?:page|tab|site)"
            r"|(?:delete|remove) (?:the )?(?:blank|empty|duplicate)|\bdrop[- ]?down|(?:in"
            r"|check)s? (?:in|out)\b"
        ),
        bounded=True,
    ),
    ClauseRule(
        "control.dropped",
        rows(r"j[^,|]{0,5}(?:[aC]|V)"),
        _NOT,
        rows(r"[!]|I"),
        expression(
            r"check-? ?(?:in|out)\b|twice|again|portrait|landscape|format|colou?r|\btone\b"
            r"|printed?\b|greet"
        ),
        needs=expression(
            r"\b(?:approv|author|sign|consent|verif|check|manager|office|owner|super|boss|finance"
            r"|legal|audit|complian|permission|confirm|inspect|review|customer|patient|case by)"
        ),
        bounded=True,
    ),
    ClauseRule(
        "control.dropped",
        rows(r"[CV](?:_{0,2}=_{0,1}|_?:|(?!_{0,1}e)[^,|NXIW]{0,4})U"),
        _NOT,
        _AFTER,
        expression(r"guards? off"),
        bounded=True,
    ),
    ClauseRule(
        "control.dropped",
        rows(r"C_{0,8}Q[^|]{0,3}l|Q_{0,2}l_{0,8}C"),
        _OR_IF,
        _AFTER,
        needs=expression(r"future|all other|upcoming|later|subsequent"),
    ),
    # ---- limits
    ClauseRule(
        "control.limit",
        rows(r"L_{0,2}[:=I]_{0,2}[0]|L_{0,6}9|[0]_{0,1}L(?=[,:|]|$)"),
        _NOT,
        rows("[!]"),
        expression(r"phone|account no|tracking|serial|order no|\bnone of\b"),
    ),
    ClauseRule(
        "control.limit",
        rows(r"[Qg]_{0,2}S_{0,8}h|h_{0,6}[Qg]_{0,2}S"),
        _OR_IF,
        rows("[!]"),
        expression(r"\b(?:no|never|not) .{0,20}authority"),
    ),
    ClauseRule(
        "control.limit",
        rows(r"D_{0,6}L_{0,14}[Qg]_{0,2}i|[oQ]_{0,3}[Qg]_{0,3}i_{0,12}$"),
        _OR_IF,
        rows("[!]"),
        expression(r"colou?r|font|lunch|seat|topic|menu|drink|style|name|format|day off|day they"),
        needs=expression(
            r"\b(?:book|spend|spent|order|refund|pay|paid|approve|discount|credit|grant|limit"
            r"|quota|cap|budget|withdraw|charge|transfer|buy|purchase|claim|issue|give)"
        ),
    ),
    ClauseRule(
        "control.limit",
        rows(r"(?:[og]|Q)[^,|]{0,6}u_{0,3}L"),
        _OR_IF,
        rows(r"[CVBX!]"),
        expression(r"\bapprov|\bask|manager|alert|warn"),
    ),
    # ---- silence
    ClauseRule(
        "concealment.people",
        rows(r"j_{0,3}T_{0,6}[BA]|j_{0,3}[BA]_{0,4}[KT]|[BA]_{0,4}j_{0,3}[KT]"),
        None,
        rows("!"),
        _OWN,
        needs=expression(
            r"\b(?:manager|boss|super|director|owner|manage|hq|head|finance|account|audit|complian"
            r"|legal|hr\b|regulat|inspect|author|police|board|insur|union|chief|council|fault"
            r"|defect"
            r"|error|mistake|breach|leak|fee|charge|late|wrong|reopen|price|increase|swap|lost|risk"
            r"|broke|damage|problem|refund|cancel|recall|alter|chang|cost|excess)"
            r"|that (?:we|the|it|our|his|her|a|someone)\b|\babout\b|\bwho\b|\bwhy\b"
        ),
    ),
    ClauseRule(
        "concealment.people",
        rows(r"NK_{0,2}B|N_{0,2}K_{0,1}[,]?B|k_{0,5}Q_{0,2}K|k_{0,6}(?:B|Q_{0,3}K)"),
        None,
        rows("!"),
        _OWN,
    ),
    ClauseRule(
        "concealment.people",
        rows(r"B_{0,3}a_{0,8}F_{0,8}[N0]"),
        rows("[N]_{0,2}$"),
        rows("!"),
        expression(r"i don't know|not my|not sure|no comment|can't share|cannot share|call back"),
    ),
    ClauseRule(
        "concealment.record",
        rows(r"k_{0,5}R|(?:N|W)_{0,4}K_{0,3}R"),
        None,
        rows("!"),
        _OWN,
    ),
    # ---- where money goes, on whose word
    ClauseRule(
        "payee.unchecked",
        rows(
            r"[tPY][^|VX]{0,6}G[^|VX]{0,8}E[^|VX]{0,6}[>NDg][^|VX]{0,6}O"
            r"|[tPY]_{0,4}E_{0,6}(?:>|N)_{0,6}(?:O|G)"
            r"|[tPY]_{0,4}[Qg]_{0,3}G_{0,6}(?:E|a|i)"
            r"|E_{0,5}>_{0,6}O"
        ),
        rows("[N!]_{0,2}$"),
        rows("[VX!]"),
        needs=expression(r"\b(?:account|iban|bank|payee|beneficiary|sort code|wallet|remittance)"),
    ),
    # ---- what is said to a model
    ClauseRule(
        "model_instruction.override",
        rows(r"D[^,|]{0,4}y[^,|]{0,3}J|D[^,|]{0,3}J_{0,3}y_{0,2}|y_{0,1}J_{0,5}U|g_{0,6}y_{0,2}J"),
        rows("[N!]_{0,2}$"),
        rows("!"),
        expression(
            r"mail tells|message tells|(?:tells?|asks?) (?:you|us|it) to|washing|assembly|printer"
            r"|inside|in (?:a|an|the|any) (?:mail|e-?mail|review)"
        ),
    ),
    ClauseRule(
        "model_instruction.override",
        rows(r"s_{0,6}>_{0,8}[Jl]|[Jl]_{0,4}N_{0,3}>_{0,3}s|s_{0,8}[>]_{0,2}c"),
        _NOT,
        rows("!"),
    ),
    ClauseRule(
        "model_instruction.override",
        rows(
            r"q_{0,3}c|N[^,|]{0,3}l[^,|]{0,3}c_{0,3}s|[N0]_{0,6}c_{0,3}s_{0,8}[lmJQ]"
            r"|s_{0,4}N_{0,4}c_{0,4}[lmJQ]|N_{0,3}c_{0,3}l_{0,1}d"
        ),
        None,
        rows("!"),
        expression(r"by hand|manually|without (?:a|the|asking)|unless"),
    ),
    ClauseRule(
        "model_instruction.directs",
        rows(
            r"[g]_{0,4}[fR]_{0,12}[Fv]|[FTv]_{0,10}g_{0,4}[fRZ]|x_{0,4}g"
            r"|I_{0,3}a_{0,10}Q_{0,2}F_{0,8}v"
        ),
        rows("[N]_{0,2}$"),
        rows("!"),
    ),
    ClauseRule(
        "model_instruction.directs",
        rows(r"[NWD]_{0,3}(?:t|V)?_{0,2}Z_{0,12}|j_{0,3}Z"),
        None,
        rows("!"),
        needs=expression(
            r"from memory|just (?:say|answer|guess|tell)|off the top|make (?:it|one) up|guess"
            r"|just repeat|confiden|with certainty|(?:want|like)s? to hear|from what you (?:know"
            r"|remember)|anything is fine|whatever sounds"
        ),
    ),
    ClauseRule(
        "model_instruction.directs",
        rows(
            r"r_{0,2}d_{0,8}[x>]|d_{0,3}r_{0,8}[x>]|m_{0,14}[Yx]_{0,5}[sx]"
            r"|I_{0,4}m_{0,10}[xY]_{0,4}s"
            r"|r_{0,2}d_{0,8}Q_{0,4}[Cc]|d_{0,4}r_{0,4}Q_{0,3}[CctV]"
        ),
        rows("[N]_{0,2}$"),
        rows("!"),
        expression(r"exam|student|wine|contest|game|quiz|credit|insurance|interest rate|hotel"),
    ),
    ClauseRule(
        "control.dropped",
        rows(r"n"),
        _OR_IF,
        _AFTER,
        needs=expression(
            r"\b(?:pay|paid|releas|send|sent|ship|publish|grant|give|given|accept|go(?:es)? (?:out"
            r"|ahead|through|live)|issue|book|post|approve|refund|hand|deploy|open|let|allow|merge"
            r"|transfer|dispens|sell|sold|admit|pass|take|process)"
        ),
        text=expression(r"\b(?:never|not|nothing|without further (?:delay|notice|ado))\b"),
        bounded=True,
    ),
    ClauseRule(
        "control.dropped",
        rows(r"w"),
        _NOT,
        _AFTER,
        expression(r"\b(?:never|not|n't)\b"),
        needs=expression(
            r"\b(?:treat|count|take|consider|regard|assume|silen|no (?:answer|reply|response)"
            r"|missing|mark|book|record|class|enter|log)"
        ),
        bounded=True,
    ),
    ClauseRule(
        "control.dropped",
        rows(r"C_{0,1}(?:Q|z)|[CV]_{0,2}z_{0,2}(?:C|M|e|i|P)"),
        rows(r"[N0!XBJ]_{0,6}$"),
        _AFTER,
        expression(r"\bif\b|\bonly\b|says?\b"),
        needs=expression(
            r"\b(?:approve|authori[sz]e|grant|accept|sign|verify|okay)(?: off)?(?: on)? (?:all|any"
            r"|every\w*|each|whatever|your own|their own|his own|her own|my own|our own|it yoursel)"
        ),
        bounded=True,
    ),
    ClauseRule(
        "control.dropped",
        rows(r"N_{0,1}[Va]"),
        rows(r"[IA]_{0,4}$"),
        rows(r"V|[!]"),
        expression(
            r"check-? ?(?:in|out)\b|twice|again|spell|by hand|manually|call(?:ing)? back"
            r"|test (?:orders?|data)|(?:the|a) (?:weather|stock|clock)|\bdon't ask (?:me"
            r"|for (?:the|my))"
            r"|leading questions"
        ),
        needs=expression(
            r"\b(?:don't|do not|no longer|stop) (?:verify|check|confirm|inspect|review|validate"
            r"|reconcile|audit|compare|vet|screen|proofread|ask (?:for (?:id|proof|approval|consent"
            r"|permission)|the (?:manager|owner|customer|patient)))"
        ),
        bounded=True,
    ),
    ClauseRule(
        "control.dropped",
        rows(r"[CV]"),
        _NOT,
        _AFTER,
        expression(r"\b(?:mail|footer|heading|page|drawer|template|envelope)\b"),
        needs=expression(
            r"\b(?:take|rip|cut|pull|strip|leave|knock)\b(?! care)[^.;,\n]{1,40}\b(?:prompt|step"
            r"|check|approval|confirm\w*\(?\)?|call|line|branch|gate|signature|stage)\b"
            r"[^.;,\n]{0,12}\bout\b(?: of)?"
        ),
    ),
    ClauseRule(
        "control.limit",
        rows(r"L_{0,5}[:=]_{0,2}U"),
        _NOT,
        rows("[!]"),
    ),
    ClauseRule(
        "control.limit",
        rows(r"C_{0,2}Q(?=_{0,2}$|,|[|])|C_{0,3}Q_{0,4}[PSMid]|Q_{0,4}[PSMid]_{0,6}C"),
        rows(r"[N0!XB]_{0,6}$"),
        _AFTER,
        expression(r"\bif\b|\bonly\b|needs?\b|\bmust\b"),
        needs=expression(
            r"(?:permission|consent|approval|clearance)\b[^.;\n]{0,12}(?:granted|given)\b"
            r"|\bhereby\b|\byou have (?:my|our)\b|\b(?:consent|approval"
            r"|permission) (?:is )?(?:given"
            r"|granted)\b|\bblanket\b|\bopen-ended\b|now and later|today and later"
        ),
    ),
    ClauseRule(
        "concealment.people",
        rows(r"N_{0,1}o_{0,2}(?:B_{0,1}K|A_{0,1}K)"),
        None,
        rows("!"),
        _OWN,
        needs=expression(
            r"find out|discover|\blearn|notice|catch|suspect|reali[sz]e|get wind"
            r"|(?:manager|boss|auditor|inspector|owner|director|head|hq|finance|legal|complian"
            r"|council|franchis|regulat)\w*[^.;\n]{0,12}(?:know|see|hear|read)"
        ),
    ),
    ClauseRule(
        "concealment.people",
        rows(r"I_{0,5}B_{0,8}N|I_{0,1}a_{0,5}N"),
        None,
        rows("!"),
        expression(r"don't have to|need not"),
        needs=expression(
            r"\bnever (?:had|have|did|stored|kept|sold|used|happened|existed|been|saw|received"
            r"|heard"
            r"|knew|took)|\b(?:we|i)(?: have|'ve)? never\b|no such|nothing (?:happened|to do)"
            r"|such (?:records?|reports?|data|files?|things?|lists?)|(?:don't|do not) know (?:about"
            r"|anything)|wasn't us|not aware"
        ),
    ),
    ClauseRule(
        "concealment.record",
        rows(r"b"),
        rows(r"[N0!]_{0,3}$"),
        rows("[!X]"),
        _OWN,
    ),
    ClauseRule(
        "payee.unchecked",
        rows(
            r"t_{0,3}G_{0,6}E|G_{0,6}E_{0,8}[DN]_{0,3}O|E_{0,3}G_{0,4}[ct]"
            r"|G_{0,2}[AE]?_{0,2}[FKiT](?=_{0,4}$|_{0,4}[|,])"
        ),
        rows("[N!X]_{0,4}$"),
        rows("[VX!a]"),
        expression(
            r"\b(?:verif|call\b|ring\b|confirm|match|compare|format|digits|never|statement)"
        ),
        needs=expression(
            r"^(?=.*\b(?:accounts?|iban|bank|payee|beneficiary|sort code|wallet)\b)"
            r"(?=.*\b(?:chang|new\b|instead|from now|future|latest|ignore|updat|overwrit|replac"
            r"|refund|credit|pay|send|transfer))"
        ),
    ),
    ClauseRule(
        "model_instruction.override",
        rows(r"[Nj]_{0,4}J"),
        rows("[A!0]_{0,4}$"),
        rows("!"),
        expression(r"\b(?:house rules|customers?|guests?|drivers?|people|anyone) who\b"),
        needs=expression(
            r"\b(?:not|n't|never|no longer|need to|have to) (?:\w+ )?(?:follow|obey|comply with"
            r"|stick to|respect|adhere to|abide by|be bound by|listen to)\b"
        ),
    ),
    ClauseRule(
        "model_instruction.override",
        rows(r"N_{0,3}[ct]_{0,2}s"),
        None,
        rows("!"),
        expression(r"by hand|manually|without (?:a|the|asking)|unless|until"),
        needs=expression(r"this (?:memory|note|rule|entry|feedback|lesson|row|instruction|item)"),
    ),
    ClauseRule(
        "model_instruction.override",
        rows(r"y_{0,3}NL"),
        needs=expression(r"pretend|imagine|as if|\bact\b|you are|assume|suppose|role"),
    ),
    ClauseRule(
        "model_instruction.directs",
        rows(r"[xtVK>]"),
        None,
        rows("!"),
        needs=expression(
            r"\b(?:treat|trust|accept|mark|take|weigh|rate|store|save|rank)\b[^.;\n]{0,30}\b(?:from"
            r"|by) (?:me|this (?:account|user|address|branch|sender|number))\b|\b(?:from me|(?:my"
            r"|our) (?:messages|feedback|notes|corrections|word))\b[^.;\n]{0,40}\b(?:as (?:verified"
            r"|true|trusted|fact|approved|coming from|the truth|system)|without (?:check|question"
            r"|review|judg)\w*|counts? (?:for )?(?:more|double|triple|twice)|is final|is law)"
        ),
    ),
    ClauseRule(
        "model_instruction.directs",
        rows(r"d_{0,3}l_{0,6}[DM]|l_{0,3}d_{0,6}(?:D|M)"),
        _NOT,
        rows("!"),
        needs=expression(r"\b(?:ignored?|discount(?:ed)?|disregard\w*|less|lower|half|dropped)\b"),
    ),
    ClauseRule(
        "model_instruction.directs",
        rows(r"FQ_{0,2}a?_{0,8}v|NT_{0,4}s|a_{0,8}Q_{0,1}Y_{0,4}X"),
        None,
        rows("!"),
        expression(r"customer asks for it|discount"),
    ),
    ClauseRule(
        "concealment.people",
        rows(r"[AB0QN.]_{0,4}[NKTD]"),
        None,
        rows("!"),
        expression(r"\b(?:password|pin|surprise|birthday|spoiler|scam|phish|hacker|burglar|spam)"),
        needs=expression(
            r"\bso (?:that )?(?:\w+ ){1,3}?(?:(?:can't|cannot|won't|don't|doesn't|never|will not"
            r"|can not|do not|does not|is not able to|are not able to) (?:\w+ )?(?:tell\b(?! you)"
            r"|notice"
            r"|find out|spot (?:it|the|that)|realise|realize|suspect|trace|catch on)|overlooks?\b"
            r"|miss(?:es)? (?:it|the (?:change|increase|fee|price|line))\b)"
        ),
    ),
    ClauseRule(
        "payee.destination",
        rows(r"[PM]_{0,10}G_{0,5}[NDg]"),
        rows("[N!X]_{0,4}$"),
        rows("[VX!a]"),
        expression(r"\b(?:verif|call|ring|confirm|match|compare|format|digits|closed?|login)"),
        needs=expression(r"\b(?:now|instead|going forward|from (?:now|today|\w+day))\b"),
    ),
    ClauseRule(
        "model_instruction.override",
        rows(r"[id].{0,3}"),
        rows("[N!]_{0,4}$"),
        rows("[!]"),
        needs=expression(
            r"\b(?:requests?|messages?|anything|whatever|orders?|feedback"
            r"|instructions?)\b[^.;\n]{0,24}"
            r"\b(?:from|in|on|via) this (?:channel|account|number|address|thread|inbox|user"
            r"|group)\b"
            r"[^.;\n]{0,24}\b(?:allowed|approved|granted|trusted|exempt|permitted|unrestricted"
            r"|(?:no|without) (?:limits?|checks?|questions?|restrictions?)|pre-?approved)"
        ),
    ),
    ClauseRule(
        "concealment.record",
        rows(r"[NW]R"),
        None,
        rows("[!]"),
        _OWN,
        needs=expression(
            r"\b(?:don't|do not|never|without) (?:log|record|minute|journal)(?:ging|ing)?"
            r"(?:\s*[.;,)\n]|\s*$| (?:it|this|these|them|any of|that)\b)"
        ),
    ),
    ClauseRule(
        "model_instruction.override",
        rows(r"[tD]_{0,10}y_{0,6}U"),
        rows("[N!]_{0,2}$"),
        needs=expression(
            r"\bas (?:an? )?(?:suggest\w+|advice|optional|joke|noise|background|recommend\w+"
            r"|decoration)"
        ),
    ),
    ClauseRule(
        "model_instruction.override",
        rows(r"t_{0,1}s_{0,5}[yQv>]_{0,3}J|m_{0,2}[:,]_{0,2}D_{0,4}J"),
        rows("[N!]_{0,3}$"),
        rows("!"),
    ),
    ClauseRule(
        "model_instruction.directs",
        rows(r"j_{0,4}[fZ]"),
        None,
        rows("!"),
        needs=expression(r"\b(?:cite|sources?|evidence|look up|check the facts)\b"),
    ),
    ClauseRule(
        "control.limit",
        rows(r"o_{0,5}QS"),
        rows("[N0!X]_{0,6}$"),
        rows("[!X]"),
        needs=expression(
            r"\b(?:sign|approve|spend|order|grant|refund|transfer|withdraw|pay|book|credit)\b"
        ),
    ),
    ClauseRule(
        "concealment.record",
        rows(r"D_{0,1}H_{0,1}[eR]"),
        rows("[N0!]_{0,3}$"),
        rows("[!]"),
        _OWN,
        needs=expression(
            r"\b(?:incident|accident|injury|complaint|near miss|breach|defect) (?:form|report|log)"
        ),
    ),
)
