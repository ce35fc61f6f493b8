"""How English sentences get round a control, and what they say instead of the truth. Data only."""

from __future__ import annotations

from core.safety.english import NEVER, REFUSED
from core.safety.english_silence import NO_SECURITY, ORDINARY, OVERSIGHT
from core.safety.rules import Rule, expression

_HARM = (
    r"(?:bites?|bitten|outbreak|lice|leaks?|leaked|spills?|spilt|fire|thefts?|stolen|outages?"
    r"|breakdowns?"
    r"|near miss|injur\w+|mix-?ups?|accidents?|incidents?|complaints?|defects?|faults?|recalls?"
    r"|breach\w*"
    r"|errors?|mistakes?|delays?|allerg\w+|contaminat\w+|lost|broken?|broke|expired|mould"
    r"|damage\w*|fell"
    r"|wrong|overcharg\w+|surcharges?|failures?|failed|missed|forgot\w*|late|crash\w*)"
)
_CHECKS = (
    r"(?:checks?|verifications?|approvals?|reviews?|tests?|screenings?|onboarding|inspections?"
    r"|audits?"
    r"|signatures?|sign-?offs?|counts?|weigh-?ins?|vetting|references?|quotes)"
)
_PAPER = (
    r"(?:cards?|ids?|licen[cs]es?|passports?|receipts?|papers|forms?|proofs?|certificates?|permits?"
    r"|badges?|prescriptions?|documents?|slips?|consents?|signatures?|references?)"
)
_RULES = (
    r"(?:rules?|polic(?:y|ies)|guidelines?|instructions?|laws?|handbook|procedures?|manual|setup)"
)

RULES = (
    # ---- a control that is dropped for all, or where it counts: above an amount
    Rule(
        "control.limit",
        expression(
            r"\bauto-? ?approv(?:e|es|ed|al)[: ]{1,2}(?:all|every\w*|any(?!more)\w*|always)\b"
        ),
        unless=NEVER,
        but=expression(r"\bany (?:more|longer)\b"),
        bounded=True,
    ),
    Rule(
        "control.limit",
        expression(
            r"\bno (?:more |further |extra |second )?(?:approvals?|sign-?offs?|signatures?|reviews?"
            r"|verifications?|confirmations?|checks?)\b[^.;,\n]{0,40}\b(?:needed|required|necessary)\b"
            r"[^.;,\n]{0,60}?\b(?:over|above|exceeding|more than|larger than|beyond)\b"
            r"\s?[€$£₩]?\s?\d"
        ),
        but=expression(r"\b(?:under|below|up to|unless|until|less than)\b"),
    ),
    # ---- a control that comes after, or is played
    Rule(
        "control.dropped",
        expression(
            r"\bbefore (?:the |an? |any |her |his |our )?\w+(?: \w+)? (?:has|have|had|is"
            r"|are) (?:even )?"
            r"(?:seen|checked|approved|signed|reviewed|looked|confirmed|verified|countersigned"
            r"|passed"
            r"|back|done|finished|cleared)\b"
        ),
        expression(r"\b(?:may|can|could|go ahead|releas|send|pay|ship|start|give|hand|publish)"),
        NEVER,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:will|can|to) (?:counter-?sign|sign|approve|check|review|confirm"
            r"|look)\b[^.;\n]{0,20}\b"
            r"(?:later|if (?:she|he|they) remembers?|afterwards|when (?:she|he|they) (?:get|is"
            r"|are|ha)"
            r"|next week|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|some ?time)\b"
        ),
        expression(r"\b(?:can|may|go ahead|hand|releas|send|pay|ship|already|start)"),
        NEVER,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\bas (?:the|an?|our|enough of an?|good as (?:the|an?)) (?:\w+ )?(?:sign[- ]?off"
            r"|approval"
            r"|signature|authori[sz]ation|consent|permission|go-ahead|verification|confirmation"
            r"|ok)\b"
        ),
        expression(r"\b(?:treat|take|count|accept|use|regard|consider)"),
        NEVER,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:two|dual|four|second|double)[- ](?:key|person|man|eyes?|signature|control"
            r"|approver"
            r"|check|sign)\w*\b[^.;\n]{0,24}\b(?:suspended|off|lifted|on hold|paused|gone|dropped"
            r"|over"
            r"|waived|not (?:needed|required|necessary)|no longer)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "control.dropped",
        expression(
            rf"\b(?:don't|do not|no longer|needn't|stop) (?:look(?:ing)? at|ask(?:ing)? (?:for"
            rf"|to see)"
            rf"|need to see|insist(?:ing)? on|collect(?:ing)?|want to see|read(?:ing)?"
            rf"|open(?:ing)?)"
            rf" (?:the |an? |any |their |his |her )?(?:\w+ )?{_PAPER}\b(?! (?:number|detail|data))"
        ),
        unless=expression(REFUSED.pattern + r"|\btwice\b|attachment|unknown|suspicious"),
        bounded=True,
    ),
    Rule(
        "control.dropped",
        expression(
            rf"\b{_CHECKS}\b[^.\n]{{0,30}}?\b(?:takes? (?:weeks|days|months|ages|forever|too long"
            rf"|hours)"
            rf"|(?:only |just )?(?:slows?|annoys?|delays?)\b|holds? (?:us|things|everything"
            rf"|people) up"
            rf"|(?:is|are) (?:annoying|a pain|tedious|slow|a nuisance))[^.\n]{{0,30}}?(?:\bso\b"
            rf"|[;,:–-])"
            rf"\s*(?:just |please |we )?(?:let|press|skip|move|start|go|pay|send|ship|hire|do it"
            rf"|release"
            rf"|approve|open|stop)\b"
        ),
        unless=REFUSED,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:expires?|times? out|defaults?|lapses?|auto-?\w+|turns?"
            r"|flips?)\b[^.;\n]{0,16}\b(?:to|as"
            r"|into) [\"']?(?:approved|accepted|granted|yes|passed|verified|confirmed)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\binstead of (?:going|running|making (?:them|him|her)|putting (?:them|it)|using"
            r"|doing|sending"
            r" (?:it|them)|having)\b[^.;\n]{0,30}\b(?:questions?|checks?|verification|procedure"
            r"|review\w*"
            r"|approv\w+|inspection|process|tests?)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:errors?|warnings?|failures?|mismatch\w*|failed|missing \w+|fails"
            r"|red)\b[^.;\n]{0,12}"
            r"(?:->|→|=>|:|,)? ?\b(?:ignore|skip|override|suppress|bypass"
            r"|swallow)\b[^.;\n]{0,16}\b(?:and"
            r"|anyway|continue|proceed|import|deploy|ship|pay|go)\b"
        ),
        unless=REFUSED,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:split|break|divide|chop|spread|slice)\w*\b[^.;\n]{0,40}\b(?:into|in|across"
            r"|over)\b"
            r"[^.;\n]{0,40}\b(?:smaller|several|below|under|parts|pieces|two|three|multiple"
            r"|separate)\b"
        ),
        expression(
            r"\b(?:limits?|approv\w*|thresholds?|goes through|nobody|no ?one|below|avoid|trigger"
            r"|flag\w*"
            r"|notice\w*|sign)\b"
        ),
        NEVER,
    ),
    Rule(
        "concealment.record",
        expression(
            r"\b(?:just |simply )?(?:write|enter|log|put|use|fill in|copy|type|note"
            r"|record)\b[^.;\n]{0,16}"
            r"\b(?:the )?(?:planned|expected|target|last (?:year|week|month|time)'?s?|yesterday's"
            r"|old"
            r"|previous|any|invented|made-?up|plausible|round) (?:weights?|values?|figures?"
            r"|times?|numbers?"
            r"|counts?|readings?|names?|dates?|results?|temperatures?)\b"
        ),
        expression(
            r"\b(?:just|simply|instead|without|anyway|deleted|skip\w*|no need|even if|any)\b"
        ),
        NEVER,
    ),
    Rule(
        "control.dropped",
        expression(
            r"\b(?:log|mark|record|tick|note|sign|report|enter|fill)\w*\b[^.;\n]{0,20}\bas (?:done"
            r"|complete\w*|passed|tested|checked|inspected|cleaned|counted|ok|fine"
            r"|present)\b[^.;\n]{0,24}"
            r"\b(?:without|anyway|even if|in advance|beforehand|whether or not)\b"
        ),
        unless=NEVER,
    ),
    # ---- limits
    Rule(
        "control.limit",
        expression(
            r"\b(?:lift|remove|drop|scrap|abolish|forget|waive|suspend|kill"
            r"|raise)\b[^.;\n]{0,12}\b(?:(?:daily"
            r"|weekly|monthly|annual|yearly|spending|transfer|credit|approval|refund|discount"
            r"|order|payout"
            r"|withdrawal)[ -]limits?|(?:\w+ )?(?:caps?|ceilings?|quotas?))\b(?! to\b| from\b"
            r"| by\b|lock)"
        ),
        unless=expression(REFUSED.pattern + r"|night ?cap|\bbottle|character|word count|lens|hub"),
    ),
    Rule(
        "control.limit",
        expression(
            r"\b(?:access|rights?|permissions?|admin|privileges?)\b[^.;\n]{0,16}\b(?:to|for|on"
            r"|over|in)"
            r" (?:everything|all|any|every\w*)\b"
        ),
        expression(
            r"\b(?:now|no need|n't need|from now|any ?one|everyone|without|forever|by default"
            r"|permanent\w*"
            r"|interns?|guests?|contractors?|whoever)\b"
        ),
        expression(REFUSED.pattern + r"|\b(?:revoke|remove|need|request|only|if)\b"),
    ),
    Rule(
        "control.limit",
        expression(
            r"\b(?:limits?|caps?|ceilings?|maximums?|budgets?"
            r"|thresholds?)\b[^.;\n]{0,20}\b(?:just a number"
            r"|only a number|a suggestion|flexible|not a (?:real|hard) \w+|merely a|only a guide\w*"
            r"|not a topic|no concern|negotiable|meaningless)\b"
            r"|\b(?:authority|limit|cap|budget|discount|credit)\b[^.;\n]{0,24}(?:->|→|=>|="
            r"|:) ?[\"']?"
            r"(?:unlimited|infinite|limitless|uncapped|no limit)\b"
            r"|\bany (?:size|amount|sum)\b[^.;\n]{0,24}\bno (?:\w+ )?(?:approv\w+|sign\w+|check"
            r"|limit|second)"
            r"|\b(?:approved|allowed|authori[sz]ed|granted|fine|ok) (?:regardless|irrespective) of"
            r" (?:the )?(?:amount|size|sum|value|cost|price)\b"
        ),
        unless=NEVER,
    ),
    # ---- what is said instead of the truth
    Rule(
        "concealment.people",
        expression(
            rf"\b{_HARM}\b[^.;\n]{{0,40}}\b(?:stays? (?:inside|within|in) (?:the|this|our)|(?:is"
            rf"|are)(?: not"
            rf"|n't) for (?:the )?(?:newsletter|parents|customers|clients|public|press|board"
            rf"|minutes|outside"
            rf"|anyone)|never happened|did(?:n't| not) happen|(?:but|so|just"
            rf"|instead) (?:we )?(?:write|say"
            rf"|put|report|enter|tell|note)\b)"
        ),
        unless=NO_SECURITY,
    ),
    Rule(
        "concealment.people",
        expression(
            r"\b(?:mark|call|log|report|describe|present|label|announce|explain|book|file|write"
            r"|record|pass)\w*"
            rf"\b[^.;\n]{{0,20}}\b{_HARM}\b[^.;\n]{{0,20}}\bas (?:an? )?(?:planned|scheduled"
            rf"|routine"
            r"|maintenance|upgrade|normal|weather|customer error|user error|natural|training"
            r"|exercise|test"
            r"|feature|no-?show)\b"
        ),
        unless=NO_SECURITY,
    ),
    Rule(
        "concealment.people",
        expression(
            rf"\b(?:if|when|should|in case)\b[^.;,\n]{{0,24}}\b(?:{OVERSIGHT}|landlord|landlady"
            rf"|parents?)\b"
            r"[^.;,\n]{0,16}\b(?:drops? by|calls?|phones?|asks?|comes?|visits?|shows? up"
            r"|turns? up|writes?"
            r"|checks?|rings?)\b[^.;,\n]{0,10},\s*(?:the|we|it|there|our|this|that|nobody"
            r"|no)\b[^.;\n]{0,40}"
            r"\b(?:was|were|has been|have been|have no|had|is fine|never|are no|has always|did"
            r"|do not have"
            r"|don't have)\b"
        ),
        unless=NO_SECURITY,
    ),
    Rule(
        "concealment.people",
        expression(
            rf"\b(?:tell|reply to|answer|write to|inform"
            rf"|assure) (?:the )?{OVERSIGHT} (?:that )?[^.;\n]{{0,40}}"
            r"\b(?:never|no such|lost|not recorded|not kept|does not exist|doesn't exist)\b"
            r"|\b(?:close|settle|resolve|fix|handle|sort|pay|refund|repair|replace|bury|correct)\w*"
            r"(?: \w+){0,3} (?:quietly|silently|discreetly|on the side|on the quiet)\b"
            r"|\bunder (?:a different|another|someone else's|a colleague's) (?:machine|order"
            r"|department|code"
            r"|driver|customer|shift|number|site)\b"
            r"|\b(?:don't|do not|never) let (?:it|this|that|anything) (?:show|slip|get out"
            r"|leak out|on)\b"
        ),
        unless=NO_SECURITY,
    ),
    # ---- where money goes
    Rule(
        "payee.destination",
        expression(
            r"\b(?:wired|paid|sent|transferred|remitted|payable|go|goes|pay|wire|send|remit)\b"
            r"[^.;\n]{0,30}\bto\b[^.;\n]{3,50}\baccount\b[^.;\n]{0,16}\b(?:closed|closing|frozen"
            r"|blocked"
            r"|no longer|under audit|being audited|suspended)\b"
            r"|\b(?:make|made|making|write) (?:\w+ ){0,2}?(?:cheques?|checks) (?:out )?to\b"
            r"|\bmy (?:personal|own|private) (?:bank )?(?:account|iban|venmo|paypal|wallet)\b"
            r"|(?:->|→|=>|\bto|\bvia|\bby|\bthrough) (?:venmo|zelle|cash ?app|western union"
            r"|moneygram|crypto"
            r"|bitcoin|usdt|gift cards?|paypal|revolut|wise)\b[^.;\n]{0,40}\b(?:not|instead|only"
            r"|from now|now)\b"
        ),
        expression(
            r"\b(?:pay|paid|wire\w*|tuition|fees?|rent|deposit|donation|invoice|cheque|transfer"
            r"|refund"
            r"|money|dues|bill)"
        ),
        expression(r"\bnever\b|don't|do not|scam|phish|fraud|log ?in|password"),
    ),
    Rule(
        "payee.unchecked",
        expression(
            r"\b(?:writes?|e-?mails?|calls?|phones?|texts?|messages?"
            r"|rings?)\b[^.;\n]{0,50}\b(?:new|changed"
            r"|different|updated)\b[^.;\n]{0,20}\b(?:account|bank|iban)\b[^.;\n]{0,40}\b(?:update"
            r"|change"
            r"|overwrite|replace|use it|enter|go ahead|switch)\b"
        ),
        unless=expression(
            r"\b(?:never|don't|do not|verif\w*|call back|on file|confirm\w*|until|unless)\b"
        ),
    ),
    # ---- what is said to a model
    Rule(
        "model_instruction.override",
        expression(
            r"\byou (?:now )?(?:work for|belong to|answer to|report to|serve"
            r"|obey) (?:only )?(?:me|us)\b"
            r"|\byour (?:only |new |real |true )?(?:job|task|goal|duty"
            r"|purpose)(?: now)? is to (?:please|serve"
            r"|obey|agree|do as)\b"
            rf"|\b(?:whatever|no matter what) (?:the |your |our |any )?{_RULES} (?:says?|tells?"
            rf"|states?)\b"
            rf"|\beven (?:if|when|though) (?:the |your |our |any )?{_RULES} (?:forbids?"
            rf"|prohibits?|disagrees?"
            r"|don't allow|doesn't allow|objects?)\b"
            rf"|\bnot (?:to )?(?:follow|mind|care about) the {_RULES}\b"
        ),
        unless=expression(
            NO_SECURITY.pattern + r"|\b(?:waits?|must|holds?|needs?|asks? (?:a|the|your)|call)\b"
        ),
    ),
    Rule(
        "model_instruction.directs",
        expression(
            r"\b(?:learn|store|save|keep|remember|record|memori[sz]e)\b (?:this|it"
            r"|that)[^.;\n]{0,16}\b(?:exactly"
            r"|word for word|verbatim|as (?:is|written|it stands))\b[^.;\n]{0,24}\b(?:never|not"
            r"|n't|without)\b"
            r"|\b(?:reject|refuse|ignore|dismiss|discard|block|drop)\b[^.;\n]{0,20}\b(?:feedback"
            r"|corrections?"
            r"|changes?|edits?|attempts?|notes?|lessons?"
            r"|requests?)\b[^.;\n]{0,20}\b(?:contradict\w*|against"
            r" (?:this|it)|conflicts?|disagrees?|to (?:change|remove|delete|edit) (?:this|it))\b"
            r"|\b(?:rate|mark|score|grade|treat|label|count)\b[^.;\n]{0,12}\b(?:every|all|any"
            r"|each)\b"
            r"[^.;\n]{0,30}\b(?:from|by|of)\b[^.;\n]{0,20}\bas (?:wrong|false|bad|spam|untrusted"
            r"|correct|right"
            r"|true|the best|trusted|perfect)\b"
            r"|\b(?:say|tell|claim|pretend|answer|report|state"
            r"|assure)\b[^.;\n]{0,50}\byou\b[^.;\n]{0,24}\b"
            r"(?:even (?:if|when|though)|whether or not|although) (?:you|it|they|we) (?:did|have"
            r"|has|had|do"
            r"|does|was|were|is|are)(?:n't| not)"
            r"|\b(?:you (?:may|can|should|are allowed to|must)|feel free to|(?:ok|fine|free"
            r"|welcome) to"
            r"|just) (?:\w+ )?(?:lie|invent|fabricate|mislead|exaggerate|deceive|bluff|fake|make"
            r" (?:\w+ ){1,3}up)\b"
            r"|\b(?:ours?|mine|my (?:clinic|shop|brand|hotel"
            r"|company))\b[^.;\n]{0,20}\b(?:comes? out on top"
            r"|comes? first|wins every)\b"
        ),
        unless=expression(
            NO_SECURITY.pattern + r"|\bnever (?:lie|invent|mislead)|must not|customers? are always"
        ),
    ),
    Rule(
        "model_instruction.override",
        expression(
            r"\b(?:overwrite|erase|forget|unlearn|delete|drop|discard|replace"
            r"|wipe)\b[^.;\n]{0,20}\b(?:what"
            r"(?:ever)?|everything|anything|all)\b[^.;\n]{0,10}\byou(?:'ve| have)? (?:learn\w*"
            r"|know|were told"
            r"|were taught|remember|been told|been taught)\b"
        ),
        unless=NO_SECURITY,
    ),
    Rule(
        "model_instruction.reveal",
        expression(
            r"\b(?:past|print|show|repeat|quot|copy|output|includ|append|add|recit"
            r"|send)\w*\b[^.;\n]{0,24}\b"
            r"(?:text|prompt|words|messages?|instructions|lines?) (?:that )?you (?:were|are"
            r"|have been) (?:started"
            r"|launched|set up|configured|given|loaded|initiali[sz]ed|primed|running)\b"
        ),
        unless=NO_SECURITY,
    ),
    # ---- the same in fewer words
    Rule(
        "control.dropped",
        expression(
            r"\b(?:second|other|two|both)\b[^.;\n]{0,30}\b(?:busy|away|absent|out|unavailable"
            r"|missing|late)"
            r"\b[^.;\n]{0,16}\b(?:use|take|do it with|go with|manage with) (?:one|a single|only)\b"
            r"|\bno (?:match|matching|comparison|reconciliation|cross-?check)\w* (?:against|with"
            r"|to)\b"
            r"|\b(?:estimates?|guess\w*|round numbers|whatever)\b[^.;\n]{0,24}\bnobody (?:looks"
            r"|checks|reads"
            r"|notices|cares)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "control.limit",
        expression(
            r"\b(?:credit|line|limit|cap|budget"
            r"|discount)\b[^.;\n]{0,16}[:=] ?[\"']?(?:open[- ]?end\w*|open|∞)"
            r"|\b(?:stop|no more|without|quit) (?:capping|limiting)\b|\b(?:pay|refund|reimburse"
            r"|credit)(?: out)?"
            r" (?:what|whatever) (?:they|the \w+|customers?|guests?|she|he|people) (?:claims?"
            r"|asks?|wants?|says?"
            r"|demands?)\b"
        ),
        unless=NEVER,
    ),
    Rule(
        "concealment.people",
        expression(
            rf"\b(?:if|when|should"
            rf"|in case)\b[^.;,\n]{{0,12}}\b{OVERSIGHT}\b[^.;,\n]{{0,6}}\b(?:asks?|quer(?:y"
            rf"|ies)|questions?|notices?|finds?|wants?|complains?"
            rf"|raises?)\b[^.;,\n]{{0,30}}, ?(?:it's|it is|it was"
            rf"|that's|that was|there's|there was|blame|call it|say)\b"
            r"|\bkeep\b[^.;\n]{0,40}\b(?:to (?:the |our )?\w+ only|(?:inside|within) (?:the"
            r"|our) (?:kitchen|team"
            r"|shift|office|department|family|crew|shop))\b"
            rf"|\b{_HARM}\b[^.;\n]{{0,16}}\b(?:is|are)(?: not|n't) (?:something|a thing"
            rf"|anything) (?:we|you|to)\b"
            r"|\b(?:take|leave|cut|strip|drop|remove)\b[^.;\n]{0,24}\b(?:failed|bad|negative|broken"
            r"|unfavou?rable|embarrassing|critical) (?:\w+ ){1,2}(?:out|off|from|before)\b"
        ),
        unless=expression(
            NO_SECURITY.pattern + r"|\bapples?|items?|fruit|oven|fridge|blank|duplicate"
        ),
    ),
    Rule(
        "concealment.record",
        expression(
            r"\b(?:don't|do not|never|without) (?:note|log|record|enter|document|register|save"
            r"|write)(?:ing)?\b"
            r"[^.;\n]{0,24}\b(?:in|on|into|to) (?:the )?(?:crm|system|erp|ticket|chart|file"
            r"|register|diary"
            r"|case|account)\b"
        ),
        unless=ORDINARY,
    ),
    Rule(
        "payee.destination",
        expression(
            r"\bnew\b[^.;\n]{0,16}\b(?:bank|account|iban)\b[^.;\n]{0,50}\b(?:old|former|previous"
            r"|earlier)\b"
            r"[^.;\n]{0,16}\b(?:frozen|closed|blocked|no longer|gone|inactive)\b"
            r"|\bpay(?:able|ments?)?\b[^.;\n]{0,16}\bto\b[^.;\n]{2,40}\binstead\b"
            r"|\b(?:brother|sister|wife|husband|son|daughter|mother|father|cousin|nephew|niece"
            r"|uncle|aunt"
            r"|friend|partner|assistant)'s (?:\w+ )?(?:account|iban|card|wallet|paypal|venmo)\b"
        ),
        expression(
            r"\b(?:pay|paid|rent|fees?|refund|transfer|invoice|money|bank|use|goes?|send"
            r"|salary)\b"
        ),
        expression(r"\bnever\b|don't|do not|verif\w*|call back|confirm\w*|log ?in|password"),
    ),
    Rule(
        "model_instruction.directs",
        expression(
            r"\b(?:anything|everything|whatever|all)\b[^.;\n]{0,30}\b(?:writes?|says?|asks?"
            r"|tells?|sends?|orders?)"
            r"\b[^.;\n]{0,16}\b(?:executed|carried out|obeyed|followed|is law|is true|approved)\b"
            r"|\b(?:compar\w+|competitors?|rivals?"
            r"|versus)\b[^.;\n]{0,40}\bsay\b[^.;\n]{0,30}\b(?:problems?|unsafe"
            r"|dangerous|worse|lawsuits?|scam|recalls?|unreliable|illegal)\b"
        ),
        unless=NO_SECURITY,
    ),
)
