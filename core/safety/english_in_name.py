"""What English sentences leave standing in name only: a check, a limit, a record. Data only."""

from __future__ import annotations

from core.safety.english import NEVER, REFUSED
from core.safety.english_silence import NO_SECURITY, ORDINARY
from core.safety.rules import Rule, expression

_CONTROL = (
    r"(?:certificat\w*|licen[cs]es?|letters?|forms?|checks?|consents?|signatures?|sign-?offs?"
    r"|approvals?|reviews?|paperwork|references?|inspections?|tests?|initials|list|permits?"
    r"|count\w*|verification|callback|sheets?|receipts?|quotes?|contracts?|screening|resolution"
    r"|ok\b|id\b|proofs?)"
)
_DONE = (
    r"(?:held|signed|checked|counted|reviewed|looked at|verified|approved|seen|agreed|confirmed"
    r"|inspected|passed|tested|consent(?:ed)?|a review|an? approval|approval|a sign-?off"
    r"|a signature|a yes|searched|cleared)"
)

RULES = (
    # ---- a control that is done afterwards, by whom it checks, or by silence
    Rule(
        "control.evaded",
        expression(
            rf"\b(?:counts?|reads?|regarded|treated|treat|taken|understood|considered|entered"
            rf"|passes|assumed|booked|book|stands?)\b[^.;:\n]{{0,40}}?\bas (?:already |having been "
            rf"|good as )?{_DONE}\b"
        ),
        unless=expression(rf"{NEVER.pattern}|\b(?:only|once|after|both|if the|when the)\b"),
    ),
    Rule(
        "control.evaded",
        expression(
            r"\b(?:silence|quiet|no (?:\w+ )?(?:repl(?:y|ies)|answers?|responses?|objections?"
            r"|comments?|news)|(?:hasn't|haven't|doesn't|don't|didn't|has not|have not|nobody"
            r"|no ?one) (?:\w+ )?(?:repl\w+|answer\w*|object\w*|respond\w*|complain\w*"
            r"|protest\w*))\b[^.;\n]{0,50}?\b(?:means?|counts?|is|equals?|treat\w*|take|taken|as"
            r"|assume\w*|reads?|=)\b(?:(?!\b(?:not|no|never)\b|n't)[^.;\n]){0,24}?\b(?:yes"
            r"|approv\w*|consent\w*|agree\w*|ok(?:ay)?|go-ahead|permission|thumbs up|assent|nod"
            r"|accepted|sign(?:ed)?(?:-?off)?)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "control.evaded",
        expression(
            r"\b(?:if|when|where|unless|as long as) (?:nobody|no ?one|they|she|he|the \w+(?: \w+)?"
            r"|none of them) (?:\w+ )?(?:objects?|answers?|repl(?:y|ies)|says? (?:anything|nothing"
            r"|no)|complains?|protests?|responds?|comes? back|do(?:es)?n't (?:answer|reply|object"
            r"|respond|come back|say))\b[^.;\n]{0,50}\b(?:approved|agreed|consent\w*|signed off"
            r"|accepted|a yes|yes|go-ahead|authori[sz]ed|granted|cleared)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "control.evaded",
        expression(
            rf"\b{_CONTROL}\b[^.;\n]{{0,30}}?\b(?:can|may|could|will|might) (?:\w+ )?(?:trail"
            rf"|follow|catch up|come|arrive|wait|be (?:done|filled|ticked|collected|signed|added"
            rf"|written|sorted|obtained|got|completed)|happen)\b[^.;\n]{{0,24}}?\b(?:later"
            rf"|after(?:wards|\b)|in the evening|next (?:week|month|day)|behind|when|once"
            rf"|with us in|at the end|tomorrow|on monday|some ?time)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "control.evaded",
        expression(
            rf"\b(?:while|before|until) (?:the |their |our |his |her )?(?:\w+ )?(?:{_CONTROL}"
            rf"|results?) (?:is|are|being|gets?|comes?|arrives?) (?:being |still )?(?:confirmed"
            rf"|pending|checked|tested|in|back|done)\b|\b(?:let|and) (?:the|their|his|her|our) "
            rf"(?:\w+ )?{_CONTROL}\b (?:catch up|follow|trail|come later)\b"
        ),
        needs=expression(
            r"\b(?:start|ship|sell|on the shelf|go ahead|release|pay|recruit\w*|use|open|send|can"
            r"|may)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "control.evaded",
        expression(
            r"\b(?:be|act(?:s|ing)? as|become|is|are) (?:your|his|her|their|its|my|our) "
            r"own (?:second|reviewer|witness|checker|approver|auditor|inspector|counter-?sign\w*)\b"
            r"|\b(?:put|type|write|enter|use|add|sign|forge|copy|tick) (?:in )?(?:her|his|their"
            r"|both|the \w+'s|\w+'s|someone(?: else)?'s) (?:\w+ )?(?:initials?|signature|stamp)\b"
            r"|\b(?:put|type|write|enter|sign)\b[^.;\n]{0,24}\b(?:her|his|their|both|the \w+'s) "
            r"(?:initials?|signature)\b|\bsign (?:one|it|them|the \w+) (?:ourselves|yourself"
            r"|yourselves|myself) (?:in|for|as)\b|\b(?:can|may|could) (?:initial|sign) (?:her|his"
            r"|their) (?:box|column|line)\b|\b(?:may|can|should|just|to) pre-?sign\b|\b(?:one"
            r"|a single) (?:person|member|guard|marker|nurse|pharmacist|pair of eyes|approver) "
            r"(?:\w+ ){0,4}(?:is|are|will be) (?:plenty|the same as two)\b|\b(\w+) (?:enters|orders"
            r"|requests|books|raises|prepares|writes) (?:it|them"
            r"|one)?,? ?(?:and )?(?:the )?(?:same )?\1 (?:\w+ )?(?:confirms|approves|signs|checks"
            r"|receives|releases)\b|\b(?:same|one) person (?:who )?[^.;\n]{0,30}\b"
            r"(?:also )?(?:approves|confirms|signs|checks|releases)\b|\b(?:passed|approved|signed"
            r"|checked|confirmed|released|verified) by the same (?:person|hand|employee|clerk"
            r"|manager)\b|\bfill in (?:the )?(?:plausible|likely|reasonable|believable) "
        ),
        unless=expression(rf"{NEVER.pattern}|\btypo|no longer"),
    ),
    Rule(
        "control.evaded",
        expression(
            r"\b(?:caller|whoever|anyone|person|visitor|grown-?up|adult|customer|man|woman|driver"
            r"|parent) (?:who |that |picking \w+ \w+ \w+ )(?:\w+ ){0,2}(?:knows?|names?|can name"
            r"|sounds?|phones?|says?|gives?|asks?|remembers?|looks?|rings?)\b[^.;\n]{0,60}?\b"
            r"(?:is (?:to be )?(?:regarded|treated|taken|surely|the \w+|our|enough|fine|let)"
            r"|has shown enough|gets? (?:the|a|it|in)|counts? as|may have|can have|is family"
            r"|that is enough)\b"
        ),
        needs=expression(
            r"\b(?:confiden\w*|colou?rs?|name|enough|family|regarded|treated|doctor|birth|voice)\b"
        ),
        unless=NEVER,
    ),
    # ---- limits: split into parts below them, without an end, access handed around
    Rule(
        "control.evaded",
        expression(
            r"\b(?:so (?:that )?(?:each|every one|none|no single|they|it) (?:\w+ )?(?:stays?"
            r"|remains?|keeps?|is|are|sits?|comes?|goes|lands?) (?:\w+ )?(?:at|under|below|beneath"
            r"|within|over|above)\b)|\b(?:as|in|into|several|two|three|four|five|six|seven|separate"
            r"|smaller|multiple) (?:\w+ )?(?:separate |smaller )?(?:pos|orders?|invoices?|vouchers?"
            r"|receipts?|purchases?|bookings?|payments?|transfers?|requests?|claims?|sums?)\b"
            r"[^.;\n]{0,30}\b(?:over|on|across|under|below|of) (?:\w+ )?(?:several "
            r"|\w+ )?(?:days?'?|dates|weeks|cost cent\w+|under|€|\$|£)"
        ),
        needs=expression(
            r"\b(?:limit|thresh\w*|kicks? in|cap\b|quote|report|mark|approv\w*|budget|ceiling|line"
            r"|needs?|above|over \d|trigger|trip)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "control.evaded",
        expression(
            r"\b(?:split|spread|break|broken|chop|divid|slic|carv|cut)\w*\b[^.;\n]{0,70}?\b(?:below"
            r"|under|beneath|to avoid|to dodge|to miss|so (?:that )?(?:no|none|each|they|it))\b"
            r"[^.;\n]{0,30}?(?:\b(?:limit|threshold|approv\w*|cap|line|mark|bar|sign\w*|triggers?"
            r"|flag\w*)\b|[€$£]?\d)"
        ),
        needs=expression(
            r"\b(?:orders?|invoices?|payments?|purchases?|transfers?|claims?|pos?|refunds?"
            r"|expenses?|deposits?|receipts?|amounts?|contracts?|jobs?|bills?|bookings?|it|them"
            r"|sums?)\b"
        ),
        unless=expression(
            rf"{NEVER.pattern}|\b(?:added up|together|counts? as one|fraud|counted|sum)\b"
        ),
    ),
    Rule(
        "control.limit",
        expression(
            r"\bthere(?:'s| is|'re| are|) ?(?:isn't|is not|no|never)? (?:a |an |any |no )?(?:bottom"
            r"|top step|top|natural end|upper end|floor on|ceiling on|end to)\b(?! (?:of|floor|row"
            r"|shelf|drawer|line|left|right))|\bhas no (?:natural end|ceiling|upper limit|top)\b|\b"
            r"(?:keep|carry on|continue|go on|go up|add|keeps?) (?:\w+ing\b"
            r"|\w+ another)[^.;\n]{0,40}\b(?:until|till) (?:they|she|he|the (?:customer|guest"
            r"|client|card|caller|member|tenant|user)s?|someone|it) (?:smiles?|stays?|is happy"
            r"|are happy|gives? in|declines?|stops?|accepts?|agrees?|says? yes|relents?)\b|\b"
            r"no more (?:caps|limits|quotas|ceilings)\b[^.;\n]{0,12}(?:ever|from now|$|[.!])"
        ),
        unless=NEVER,
    ),
    Rule(
        "control.evaded",
        expression(
            r"\b(?:share|lend|hand|give|pass|leave|use|borrow)\b[^.;\n]{0,30}?\b(?:the |her |his "
            r"|their |my |our )?(?:\w+'s |main |owner |cloud |root |admin )+(?:login"
            r"|smartcard|password|account|root key|token|key|pin|badge|credentials|certificate)\b"
            r"|\b(?:gets?|grant\w*|give|given|has|have|hand)\b[^.;\n]{0,30}?\b(?:domain|global|full"
            r"|root|storage|prod|production|super|owner|local) ?(?:admin\w*|write|rights|owner"
            r"|access)\b|\ballusers\b|\b(?:share|switch|turn|keep|set|allow)\b[^.;\n]{0,24}\b"
            r"(?:firewall|antivirus|virus scanner|waf|two-factor|2fa|mfa)\b[^.;\n]{0,16}\b(?:off"
            r"|down|disabled|log-only)\b"
        ),
        unless=expression(
            rf"{REFUSED.pattern}|\b(?:never|not|don't|no|revoke|remove|only|until|minutes|hours"
            rf"|read-only|expires?|must|approv\w*|request)\b"
        ),
    ),
    Rule(
        "control.evaded",
        expression(
            r"\b(?:remote (?:support|desktop|access|session|control|help)|teamviewer|anydesk|rdp"
            r"|vnc|ssh)\b[^.;\n]{0,60}\b(?:open|always|permanent\w*|standing|any ?one|whoever"
            r"|no password|without|unattended|left on|running|all night|over(?:night"
            r"| the weekend))\b|\b(?:leave|keep|give|let|share|read out|install)\b[^.;\n]{0,40}\b"
            r"(?:remote (?:support|desktop|access|session|control|help)|teamviewer|anydesk|rdp"
            r"|vnc)\b[^.;\n]{0,40}\b(?:open|on|running|code|password|in|id)\b"
        ),
        unless=expression(
            rf"{NEVER.pattern}|\b(?:disable|close|only|request|approv\w*|ticket|must|scam|hang up"
            rf"|off)\b"
        ),
    ),
    # ---- what is kept out of a record, or from people
    Rule(
        "concealment.record",
        expression(
            r"\b(?:cop(?:y|ying|ied)|attach|reuse|re-use|paste|use|carry over|fill\w*|put|with)\b"
            r"[^.;\n]{0,40}?\b(?:last (?:year|month|week|quarter|time|shift)'?s|yesterday's"
            r"|the neighbou?r'?s|previous (?:year|month|week|day)'?s) "
            r"(?:\w+ ){0,2}?(?:certificat\w+|document|number|figures?|readings?|temperatures?"
            r"|values?|sheet|results?|signatures?|counts?|report|log|form|date)\b"
        ),
        needs=expression(
            r"\b(?:change|new|this year's|date|tell|fill|enter|hardly|anyway|instead|green|title"
            r"|skip|sign|since|close enough)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "concealment.record",
        expression(
            r"\b(?:stays?|kept|keep|leave|left|goes?|remain\w*) (?:[^.;\n]{0,60}? )?(?:out of|off) "
            r"(?:the |our |their |her |his |anything that goes to )(?:\w+'?s? ){0,3}(?:log|minutes"
            r"|register|diary|outcome sheet|record|incident book|report|summary|file|lawyer|book"
            r"|thread)\b|\b(?:don't|do not|doesn't|does not|needn't|need not|never) (?:go|travel"
            r"|appear|get) (?:in\b|into|on|with|beyond) (?:the |our )?\w+"
        ),
        needs=expression(
            r"\b(?:leak|breach|fail\w*|reject\w*|defect\w*|complain\w*|incident|near miss\w*"
            r"|injur\w*|infection\w*|letter|accident|trip|knock|lapse\w*|spill|error|mistake"
            r"|shortage|loss|damage|part in it|panic|worr\w*)"
        ),
        unless=expression(rf"{REFUSED.pattern}|\b(?:private|personal|names?|password|pin)\b"),
    ),
    Rule(
        "concealment.people",
        expression(
            r"\bno (?:sense|point|use|need) (?:in )?(?:\w+ ){1,3}knowing\b|\b(?:don't|do not"
            r"|doesn't|does not|needn't) need the (?:real|true|actual|full) (?:numbers?|figures?"
            r"|story|reason|cause|dates?|picture)\b|\b(?:nobody|no ?one) needs (?:a|the) "
            r"(?:details?|real|truth|full)\b|\bnobody's business but (?:ours|mine)\b|\b(?:is|are"
            r"|will be) happier believing\b|\bthat's the last we (?:speak|hear|talk|say) of (?:it"
            r"|this|that)\b|\bnot a word about\b|\bpanic\b[^.;\n]{0,12}$"
        ),
        unless=ORDINARY,
    ),
    Rule(
        "concealment.people",
        expression(
            r"\b(?:if|when|should)\b[^.;\n]{0,60}?\b(?:asks?|phones?|writes? in|calls?|enquires?"
            r"|comes? up|remarks?|curious|wants? to know|visits?|questions?)\b"
            r"[^.;\n]{0,40}?, ?(?:the line is|our line is|the story is|we're (?:all )?(?:discussing"
            r"|talking)|it was (?:planned|routine|the weather))\b"
        ),
        unless=NO_SECURITY,
    ),
    # ---- where data go, and whom a model obeys
    Rule(
        "data.sent_out",
        expression(
            r"\b(?:post|paste|mirror|go|goes|share|upload|put|send|drop|attach|mail|publish|copy"
            r"|copied|pass|passed)\b[^.;\n]{0,80}?\b(?:facebook(?: page| group)?|discord|telegram"
            r"|trello|wetransfer|pastebin|reddit|whatsapp group|public (?:\w+ )?(?:channel|bucket"
            r"|board|page|link|group|server|drive|folder|forum|sheet)|open bucket|(?:his|her|their"
            r"|my|the \w+'s) own (?:dropbox|drive|gmail|icloud))\b"
        ),
        needs=expression(
            r"\b(?:names?|phone|numbers?|scans?|passports?|records?|photos? of|screenshots?"
            r"|customers?|patients?|pupils?|children|kids|date of birth|addresses|details|account"
            r"|keys?|debtors?|complaints|folder|visitor|criminal|script|payroll|logs)\b"
        ),
        unless=expression(
            rf"{REFUSED.pattern}|\b(?:never|not|don't|blank|redact\w*|anonymi\w*|without names|menu"
            rf"|opening|flyer|event|consent)\b"
        ),
    ),
    Rule(
        "model_instruction.directs",
        expression(
            r"\b(?:take|taking) your (?:cues|orders|instructions|lead) only from\b|\b"
            r"do as (?:the caller|the customer|i|she|he|they) (?:likes?|pleases?|says?|wishe?s?),"
            r"|\bside with whoever\b|\b(?:your|the assistant's|its) (?:own )?(?:reservations|doubts"
            r"|objections|worries|concerns|misgivings) (?:can|may|should|stay|belong)\b"
            r"[^.;\n]{0,20}\b(?:stay|wait|in its head|to yourself|unsaid|go)\b"
        ),
        unless=NO_SECURITY,
    ),
    Rule(
        "model_instruction.directs",
        expression(
            r"\b(?:whatever|anything|everything) (?:i|she|he|mr\.? \w+|ms\.? \w+|mrs\.? \w+"
            r"|dr\.? \w+) (?:\w+ )?(?:says?|types?|asks?(?: for)?|decides?|wants?|writes?|orders?"
            r"|tells? you|requests?)\b,? ?(?:goes|is (?:final|approved|done|right|law|true"
            r"|authori[sz]ed|enough)|counts|stands|you do|gets done|at once|straight away"
            r"|without)\b|\b(?:never|don't|do not) (?:question|contradict|challenge|second-guess"
            r"|doubt|argue with|correct|overrule|talk back to|ask why)\b (?:me|her|him|us|mr|ms|mrs"
            r"|dr)\b|\b(?:agree|side) with (?:me|her|him|mr\.? \w+|ms\.? \w+|dr\.? \w+)\b"
            r"[^.;\n]{0,20}\b(?:always|every time|no matter|whatever|regardless|in (?:any|every))\b"
            r"|\b(?:obey|follow|carry out|do) (?:me|him|her|my|his|whatever)\b[^.;\n]{0,40}\b"
            r"without (?:question\w*|arguing|objecti\w+|asking|a word|discussion)\b"
        ),
        unless=expression(rf"{NO_SECURITY.pattern}|\bcustomers?|guests?|patients?\b"),
    ),
)
