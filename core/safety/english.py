"""What English sentences say against approvals, checks and limits. Data only."""

from __future__ import annotations

from core.safety.rules import Rule, expression

_CONTROL = (
    r"(?:approv(?:al|als|e|ed|er|ers|ing)|sign-?offs?|authori[sz]\w+|clearances?"
    r"|all-clear|consents?|signatures?|signator\w+|countersign\w*|counter-?signature"
    r"|verif\w+|checks?(?!-?\s?(?:in|out)\b)|checking(?! (?:in|out)\b)"
    r"|checked|(?:stress |lab |smoke |safety |acceptance |concrete |drug "
    r"|load |pressure |pilot )?tests?(?! data| files?| mails?| accounts?"
    r"| orders?| runs?)|testing|matching|okay|go-ahead|sign-?in(?: sheet)?"
    r"|badges?|visitor book|tender(?:ing)?|bidding|(?:competitive|three"
    r"|comparison) quotes?|credit control|controls|sampling|co-?sign\w*"
    r"|key holders?|(?:second|two|both|dual) keys?|check-?lists?|call-?backs?"
    r"|calling back|confirmations?|confirming|(?:peer |legal |human |code "
    r"|second |manual |medical |safety )reviews?|reviewers?|review|inspections?"
    r"|inspect(?:ed|ing|or)?|audits?|two-?(?:person|man)|four[- ]eyes"
    r"|dual control|second (?:pair of eyes|person|opinion|signature|look"
    r"|reader|key|count|fitter|nurse)|kyc|aml|screening|look-?ups?|timesheets?"
    r"|lock-?outs?|tag-?out|double-?check\w*|mfa|2fa|two-factor|one-time code"
    r"|captcha|guard ?rails?|interlocks?|cooling-off|waiting period|due diligence"
    r"|legal read\w*(?:-through)?|compliance|witness\w*|safeguards?|quarantine"
    r"|risk assessments?|vetting|validations?|reconcil\w+|oversight|escalation"
    r"|identification|identity|proof of \w+|id cards?|photo id|counting"
    r"|recounts?|stocktake|permits?|permission)"
)
_BEFORE_IT = (
    r"\b(?:without|skip(?:s|ped|ping)?|waiv(?:e|es|ed|ing)|bypass(?:es"
    r"|ed|ing)?|circumvent\w*|omit(?:s|ted|ting)?|dispense with|do(?:ing)? away with"
    r"|get(?:ting)? rid of|cut(?:ting)? out|leav(?:e|ing) out|forgo|forget(?: about)?"
    r"|no need (?:for|to (?:get|ask|wait|seek|check|obtain|do|run|have"
    r"|verify|confirm|call))|(?:don'?t|do not|doesn'?t|does not|never"
    r"|not|needn'?t|need not|won'?t) (?:need|require|wait (?:for|on)|bother (?:with"
    r"|asking|getting|about|to)|ask (?:\w+ )?for|insist on|seek|run|perform"
    r"|have to|hold (?:it |them )?for)|no longer (?:needs?|requires?|asks? for"
    r"|waits? for|checks?|verif\w+|have to)|stop (?:asking|requiring|doing"
    r"|running|waiting)|drop(?:s|ped|ping)?|remov(?:e|es|ed|ing)|turn(?:s"
    r"|ed|ing)? off|switch(?:es|ed|ing)? off|disabl(?:e|es|ed|ing)|suspend\w*"
    r"|exempt(?:ed|s)?|work around|get around|instead of (?:waiting|asking"
    r"|getting)|nobody (?:has|needs|have) to|no ?one (?:has|needs) to"
    r"|scrap(?:ped|ping)?|abolish\w*)\b"
)
_AFTER_IT = (
    r"(?:\b(?:is|are|was|be|being|get|gets)\b[^.;,\n]{0,14}?(?:\bnot|\bno longer"
    r"|n't|\bnever)\s+(?:\w+\s+)?(?:needed|required|necessary|asked|done"
    r"|wanted|called|filled|carried)|(?:isn'?t|aren'?t) (?:\w+ )?(?:needed"
    r"|required|necessary)|\bnot (?:needed|required|necessary|called|filled in"
    r"|asked for|done)|\bno longer (?:appl\w+|needed|required|necessary"
    r"|done|asked)|\b(?:can|may|should|could|must|is|are|be|being|gets?"
    r"|was|were)\s+(?:to be |be |now |all )?(?:skipped|waived|dropped"
    r"|bypassed|ticked|assumed|omitted|ignored|suspended|disabled|removed"
    r"|lifted|switched off|turned off|left out)|\b(?:is|are|be|as|now"
    r"|was)\s+(?:only |just |merely |purely |really )?(?:a |an )?(?:formality"
    r"|courtesy|optional|unnecessary|waived|off\b|voluntary|(?:there )?for show"
    r"|no longer (?:part of|on)\b|nice[- ]to[- ]have|waste of \w+|for show)"
    r"|\bskipped\b|\bwaived\b)"
)
REFUSED = expression(
    r"\b(?:never|nobody|no ?one|must not|mustn't|may not|can ?not|can't"
    r"|not allowed|forbidden|prohibited|refus\w+|reject\w*|declin\w+|den(?:y"
    r"|ied)|no entry|tolerated|blocked|illegal|fire(?:d|able))\b|(?:->"
    r"|→|=>)\s*(?:stop|hold|return|ask|escalat|quarantine|to |lock|deny"
    r"|back)|\b(?:don'?t|do not|nor|not)\s*$|\bdon'?t (?:let|allow|accept)\b"
    r"|\bstop and\b|as well\b|\bwarn|^[^,.;\n]{0,40}\b(?:is|are|will|does"
    r"|can)(?: not|n't)\b"
)
NEVER = expression(REFUSED.pattern + r"|\b(?:don't|do not|never|not)\b")


# Between what is dropped and a control: another thing is dropped, or the control comes after it.
_ELSE = expression(
    r"\b(?:words?|phrase|heading|label|keep|greeting|lights?|fast|skip (?:hire|permits?))\b"
    r"|\b(?:after|before|until) (?:the|this|every|each|an?)\b|\bfrom (?:the|my|our"
    r"|your) (?:e-?mail )?signature"
)

RULES = (
    # ---- approvals and verification
    Rule(
        "control.dropped",
        expression(rf"{_BEFORE_IT}[^.;\n]{{0,45}}?\b{_CONTROL}\b"),
        unless=REFUSED,
        bounded=True,
        but=_ELSE,
    ),
    Rule(
        "control.dropped",
        expression(rf"\b{_CONTROL}\b[^.;,\n]{{0,45}}?{_AFTER_IT}"),
        unless=REFUSED,
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\bno (?:\w+ ){0,2}?(?:approvals?|sign-?offs?|authori[sz]ation|signatures?"
            r"|verification|checks?|confirmation|look-?ups?|inspections?|call-?backs?"
            r"|audit|timesheets?|id\b|identification|documents?|papers|proof|evidence"
            r"|tender|questions asked|human|reviewer|(?:human |further "
            r"|second )?review)(?=\s*(?:is |are )?(?:needed|required|necessary"
            r"|outstanding|[,.;:)!\n]|and\b|or\b|$|at all|whatsoever|any ?more"
            r"|in the loop|involved))"
        ),
        unless=REFUSED,
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:treat|count|consider|regard|assum|deem|tak|mark|log|record"
            r"|tick|book|enter|pass|class|show)(?:e|es|s|ed|ing)?\b[^.;\n]{0,70}?\b(?:as"
            r"|=)\s+(?:already |pre-?|fully |if )?(?:it (?:were|was|is) |they (?:were"
            r"|are) )?(?:given|approved|verified|checked|confirmed|cleared|authori[sz]ed"
            r"|signed(?: off)?|passed|vetted|inspected|reviewed|consented|received"
            r"|trusted|valid|genuine|settled|complete)\b"
        ),
        unless=expression(
            REFUSED.pattern
            + r"|\b(?:after|only|until|unless|when|if|once)\b[^.;\n]{0,50}\b(?:called"
            r"|rang|checks?\b|checked|approves|confirms|verif|inspect|match|paid"
            r"|both|seen|looked|proven|shown|(?:has|have|is|are) signed)|\bfor \d+ (?:days|weeks"
            r"|months)"
        ),
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\bauto(?:matic(?:ally)?)?[- ]?(?:approv|authori[sz]|sign|grant|confirm)\w*"
            r"|\balways (?:approve|authori[sz]e|say yes|grant|sign|waive|confirm"
            r"|agree)|\b(?:approve|authori[sz]e|release|grant|sign off|pay out"
            r"|refund|wave through|confirm|clear) (?:all\b|every\w*|any\w*|each"
            r"|it all|whatever|them all)|\brubber-?stamp|\bwav(?:e|ed"
            r"|ing) (?:\w+ ){1,4}?through|\bblanket (?:approval|authori|permission)"
            r"|\bstanding (?:approval|permission|authori)|\bcarte blanche|\bfree hand\b"
            r"|\bno questions asked|\b(?:sign|approve|confirm|initial) (?:\w+ )?(?:on"
            r"|in) (?:\w+ ){1,3}(?:behalf|name)|\bpre-?(?:approved|authori[sz]ed"
            r"|signed|cleared)\b|\b(?:back-?|re-)dat(?:e|ing)\b|\bapproval (?:is"
            r"|as) (?:given|granted|automatic|implied|assumed)|\b(?:take|taking"
            r"|accept) (?:his|her|their|the \w+'s) word|\bword is (?:good )?enough"
            r"|\bsay-so\b|\bon trust\b|\bself-certif|\bhono[u]?r system|\b(?:signature"
            r"|approval|tick|stamp|initials?)s? (?:of|from) (?:the )?(?:last|previous)"
            r"|\bcopy (?:\w+ ){0,3}?(?:signature|readings?|counts?|initials)\b"
            r"|\bwhoever asks\b(?!,| can\b)"
            r"|\bstraight (?:away|through|to payment)[^.;\n]{0,30}\b(?:nobody"
            r"|no one|without|no )\b"
        ),
        unless=expression(
            REFUSED.pattern + r"|\b(?:remove|turn off|disable|stop|no more|without|never|not?)\b"
            r"|valid proof|officer|example"
        ),
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\bwithout (?:first |even |ever )?(?:asking|waiting|involving|consulting"
            r"|checking|contacting|calling|needing|seeking|anyone|anybody|a (?:manager"
            r"|supervisor|human|person|second|lead)|the (?:manager|supervisor"
            r"|lead|foreman|owner|committee|board|doctor|pharmacist))\b"
        ),
        needs=expression(
            r"\b(?:pay|paid|release|refund|approve|order|send|transfer|ship|issue"
            r"|change|delete|open|grant|book|publish|deploy|merge|sign|dispense"
            r"|administer|discharge|admit|unlock|reset|lift|run|execute|credit"
            r"|cancel|hand|give|update|buy|purchase|discount|raise)\w*\b"
        ),
        unless=expression(REFUSED.pattern + r"|\b(?:never|don'?t|do not|not)\b"),
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:accept|pay|ship|release|let|admit|use|dispense|sell|pass|book"
            r"|install)\w*\b[^.;\n]{0,40}\b(?:unchecked|unverified|unsigned|unapproved"
            r"|uninspected|unlicen[cs]ed|untested)\b"
        ),
        unless=REFUSED,
    ),
    Rule(
        "control.dropped",
        expression(
            r"(?:^|[\n{,])[ \t\"'-]*[\w.-]*(?:review|approv|protect|guard|verif"
            r"|sandbox|audit|mfa|2fa|confirm|signature|dual_|two_person|four_eyes"
            r"|check)[\w.-]*[\"']?\s*:\s*[\"']?(?:0|off|false|no|none|null|disabled?"
            r"|skip|skipped|never|optional|bypass)\b"
        ),
        unless=expression(r"dry|=> "),
    ),
    Rule(
        "control.limit",
        expression(
            r"\b(?:no (?:\w+ ){0,2}?(?:limit|cap|ceiling|upper bound|maximum)s?"
            r"|unlimited|uncapped|limitless|without (?:a |any )?(?:\w+ )?(?:limit"
            r"|cap|ceiling)s?|(?:limits?|caps?|ceilings?|maximums?"
            r"|thresholds?)\b[^.;\n]{0,30}?(?:\b(?:is|are|be|has been|have been"
            r"|was|were) (?:\w+ )?(?:lifted|removed|abolished|off|gone|scrapped"
            r"|waived|dropped|suspended|ignored|history)|\bno longer appl\w+"
            r"|\bdo(?:es)?n'?t (?:apply|matter|count))|(?:lift|remov|drop|scrap"
            r"|abolish|ignor|waiv|suspend|disregard|overrid|bypass|switch off"
            r"|turn off)(?:e|es|s|ed|ing|ping|ped)? (?:the |all |any |its |your "
            r"|their |our )?(?:[\w,.€$£]+ ){0,3}?(?:limits?|caps?|ceilings?|maximums?))\b"
        ),
        needs=expression(
            r"refund|discount|credit|spend|purchas|order|transfer|withdraw|pay"
            r"|approv|overtime|loan|expens|card|dos(?:e|age)|speed|load|access"
            r"|overdraft|budget|amount|advance|gift|voucher|release|claim|money"
            r"|wire|temperature|pressure|hours|markdown|commission|limit for|quota"
        ),
        unless=expression(REFUSED.pattern + r"|data plan|refill|wifi|wi-fi|storage|guests?\b"),
    ),
    Rule(
        "control.limit",
        expression(
            r"\b(?:regardless of|no matter|whatever|irrespective of|any)\s+(?:the "
            r"|how |its |they |it )?(?:amount|value|size|sum|price|much|cost|risk"
            r"|score|age|dose|quantity|balance)\b"
        ),
        needs=expression(
            r"\b(?:immediately|instant(?:ly)?|straight away|right away|directly"
            r"|at once|on the spot|instantly|automatically|without|skip|always approve"
            r"|same day)\b"
        ),
        unless=expression(
            REFUSED.pattern + r"|\b(?:signs?|approves|manager|lawyer|officer|checks)\b"
        ),
    ),
    # ---- what is kept from people, and from the record
    # ---- where money goes
    Rule(
        "control.dropped",
        expression(
            r"\b(?:need not|needn't|do(?:es)?n't have to|do(?:es)? not have to"
            r"|no longer ha(?:s|ve) to)\b[^.;\n]{0,20}\b(?:pass|clear|go through"
            r"|undergo|see|be (?:checked|approved|verified|signed|reviewed|inspected"
            r"|counted|confirmed|tested)|show (?:id|proof|a permit|papers)|sign\b)"
        ),
        unless=REFUSED,
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:no longer|not) (?:a )?(?:part of|on|in) (?:the |our )?(?:check-?list"
            r"|list|procedure|process|routine|opening|closing|steps|workflow)\b"
        ),
        needs=expression(
            r"check|test|sign|approv|verif|review|inspect|count|audit|confirm|panel|alarm"
        ),
        unless=expression(r"\bmust\b|instead there"),
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:when|if|while|in case|as long as|should)\b[^.;\n]{0,30}\b(?:reviewer"
            r"|approver|manager|supervisor|second \w+|lead|signatory|key ?holder"
            r"|pharmacist|nurse|witness|controller|doctor|inspector|officer"
            r"|checker)\b[^.;\n]{0,30}\b(?:away|late|absent|busy|unavailable|out"
            r"|on (?:leave|holiday)|not (?:there|available|in|around|free)|isn't (?:there"
            r"|available|in|around)|can't be reached|off)\b[^.;\n]{0,30}\b(?:anyway"
            r"|go ahead|proceed|alone|yourself|with one|straight|merge|open|release"
            r"|sign for|approve|send it|pay|skip|carry on|continue)\b"
        ),
        unless=expression(
            r"deput|stands? in|\bhold\b|\bwait\b|escalat|goes to|\bask\b|cover|next in line"
        ),
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:consents?|approvals?|signatures?|sign-?offs?|sign(?:ed)?|forms?"
            r"|paperwork|permits?|authori\w+|checks?|verification|orders?"
            r"|report)\b[^.;\n]{0,40}\b(?:afterwards?|after the fact|later on"
            r"|retroactive\w*|retrospective\w*|in retrospect|once it is done"
            r"|when there is time)\b"
        ),
        needs=expression(
            r"first|fill|sign|get|collect|obtain|add|fine|ok|enough|can|do|permit"
            r"|consent|approv"
        ),
        unless=expression(r"\bnever\b|\bnot\b|don't|refus|reject|sent|deliver"),
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:assum(?:e|es|ed|ing)|presum(?:e|es|ed|ing)|take for granted"
            r"|just trust)\b[^.;\n]{0,50}\b(?:in place|ok|okay|fine|correct|valid"
            r"|approved|given|done|there|consent\w*|permission|agreed|genuine"
            r"|verified|paid|signed|passed)\b|\bas (?:if|though) (?:it|they|he"
            r"|she|the \w+) (?:had|has|have|were|was) (?:been )?(?:approved|signed"
            r"|checked|verified|passed|agreed|counted|tested)"
        ),
        unless=expression(r"\bnever\b|don't|do not|\bnot\b|cannot|until"),
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:hand(?:s|ed)? (?:out|over)|gives?|gets?|issues?|releases?|unlocks?"
            r"|lets?|tells?|sends?|shares?|reads? out|may have|can have|are given"
            r"|is given)\b[^.;\n]{0,50}\b(?:keys?|codes?|access|cash|cards?|passwords?"
            r"|medication|drugs?|records?|files?|data|money|parcels?|badge"
            r"|pin)\b[^.;\n]{0,30}\b(?:anyone|whoever|anybody|everyone|any caller"
            r"|all callers)\b|\b(?:anyone|whoever|anybody|any caller)\b[^.;\n]{0,60}\b(?:gets?"
            r"|is given|are given|may have|can have|may collect|can collect"
            r"|receives?)\b[^.;\n]{0,20}\b(?:keys?|codes?|access|cash|cards?|passwords?"
            r"|medication|drugs?|records?|files?|data|money|badge|pin|alarm)\b"
        ),
        unless=expression(
            r"\bnever\b|don't|do not|\bnot\b|nobody|\bafter\b|\bonce\b|with (?:a "
            r"|an )?(?:id|valid|signed)|discount|loyalty|gift|member|sticker|map"
            r"|brochure"
        ),
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:one|a single|single|just one|only one) (?:signature|person"
            r"|key|nurse|reviewer|approver|approval|pair of eyes|check|count|fitter"
            r"|driver|guard|signatory)\b[^.;\n]{0,30}\b(?:is enough|will do|suffices?"
            r"|is fine|is sufficient|instead of (?:two|both)|is ok|counts for (?:two"
            r"|both))|\bwith (?:only |just )?one (?:key|signature|person|approval)\b"
            r"|\b(?:releas|open(?!ing hours)|dispens|sign|approv|authori[sz]|count|administer"
            r"|discharg|unlock)\w*\b[^.;\n]{0,40}\b(?:on (?:her|his|their|its"
            r"|your) own|alone|single-?handed|by (?:her|him|them|it)sel(?:f|ves))\b"
        ),
        needs=expression(
            r"second|two|double|dual|both|four|approv|sign|releas|open|dispens|key|check|count"
        ),
        unless=expression(
            r"\bnever\b|\bnot\b|n't|\bnobody\b|no ?one|leave .* alone|forbid|unless"
            r"|refus|up to|below|under"
        ),
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:stop|quit|cease|no longer|no need to|instead of|give up|drop) (?:even "
            r"|ever |always )?(?:verify\w*|check(?:ing)?(?!-?\s?(?:in|out)\b)"
            r"|confirm\w*|validat\w*|inspect\w*|count(?:ing)?\b|weigh\w*|measur\w*"
            r"|review\w*|screen\w*|vet(?:ting)?\b|ask\w* (?:for )?(?:the |an? )?(?:id"
            r"|proof|papers|documents?|identification|receipts?|date of birth"
            r"|birth date|reference))"
        ),
        unless=REFUSED,
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:put|write|enter|type|set|mark|tick|stamp"
            r"|fill)\w*\b[^.;\n]{0,16}[\"'(]?\b(?:verified|approved|checked|passed"
            r"|cleared|confirmed|compliant|signed|inspected"
            r"|consented)\b[\"')]?[^.;\n]{0,50}\b(?:for (?:all|any|every|each)"
            r"|column|without|even (?:if|when)|always|anyway|whatever|regardless"
            r"|everyone|in advance|beforehand)\b|\b(?:green[- ]?light|go-ahead"
            r"|thumbs[- ]up|okay)\b[^.;\n]{0,24}\b(?:right away|immediately|straight"
            r"|always|automatically|by default|at once|on request)\b"
        ),
        unless=REFUSED,
        bounded=True,
    ),
)
