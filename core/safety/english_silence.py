"""What English sentences keep from people and from the record. Data only."""

from __future__ import annotations

from core.safety.rules import Rule, expression

SECURITY = (
    r"(?:don'?t|do not|never|not) (?:act on|follow|obey|trust|believe"
    r"|comply|fall for|do (?:it|so|that|what))|(?:just|only|plain) text"
    r"|\bscams?\b|phish\w*|\bfraud\w*|suspicious|untrusted|report (?:it"
    r"|this|them|that)\b|isn'?t an? (?:approval|instruction)|\brefuse\b"
    r"|look it up|check the ticket|as (?:data|text|spam)\b|claims? to be"
    r"|claim\w* (?:that )?|came from the person|\bescape room|\bpretends? to"
    r"|attack\w*|injection"
)
NO_SECURITY = expression(SECURITY)
OVERSIGHT = (
    r"(?:managers?|boss(?:es)?|supervisors?|team ?leads?|leads?|head(?:s"
    r"|teacher)?|director\w*|owners?|management|hq|head office|financ\w+"
    r"|accounting|accountants?|audit\w*|compliance|legal|lawyers?|security"
    r"|hr|human resources|regulator\w*|inspect\w+|authorit\w+|police|board"
    r"|trustees?|insurers?|surveillance|union|principal|chief|ceo|cfo"
    r"|coo|it department|council|ministry|commission\w*|controller|treasurer"
    r"|quality|safety officer|foreman|captain|chair(?:man|woman|person)s?|shareholders?|investors?"
    r"|(?<!-)press(?! the\b)|reviewers?|admins?|administrators?|operators?|works council"
    r"|labou?r attorney|dpo|data protection|tax office|customs(?! broker)|account managers?"
    r"|marketing lead)"
)
AFFECTED = (
    r"(?:customers?|clients?|guests?|patients?|parents?|famil(?:y|ies)"
    r"|relatives?|claimants?|tenants?|members?|users?|passengers?|buyers?"
    r"|subscribers?|staff|team|colleagues?|employees?|anyone|anybody|everyone"
    r"|others?|people|them|him|her|residents?|students?|borrowers?|applicants?"
    r"|donors?|visitors?|suppliers?|landlord|partners?)"
)
RECORDS = (
    r"(?:logs?\b|log ?books?|logging|audit(?:s| trail| log)?|histor(?:y"
    r"|ies)|reports?\b|records?\b|summar(?:y|ies)|minutes|incident\w*"
    r"|register|ledgers?|trail|traces?|the books|the file|paperwork|change ?log"
    r"|notifications?|alerts?|handover|notices?|disclosures?|statements?"
    r"|journal|tickets?)"
)
_HARM = expression(
    r"\b(?:fee|fees|charge[sd]?|surcharge|defect\w*|recall\w*|faults?"
    r"|faulty|errors?|mistakes?|breach\w*|leak\w*|incidents?|complain\w*"
    r"|risks?|side effects?|refunds?|delay\w*|overcharg\w*|expired|contaminat\w*"
    r"|allerg\w*|nuts?|accidents?|investigat\w*|problems?|rights?|cancel\w*"
    r"|shortage|bacteria|asbestos|subcontract\w*|poison\w*|spoil\w*|raise"
    r"|increase|markup|commission|injur\w*|damag\w*|broken|outage|fail\w*"
    r"|missing|lost|hidden|used|refurbished|substitut\w*|swap\w*|regular one"
    r"|worries|wrong|late|twice|double|stale|mould|recorded|monitor\w*"
    r"|tracked|sold|data)\b"
)
_PRIVATE = (
    r"(?:(?:e-?mail|phone|mobile|home|card|account|pin|door|access|wi-?fi"
    r"|personal|private|customers?'?|guests?'?|patients?'?|visitors?'?"
    r"|staff|other|real|full|salary|medical|bank|credit)[\w' ]{0,25}(?:numbers?"
    r"|codes?|passwords?|details?|data|address\w*|names?|cards?|info\w*"
    r"|records?|notes?)|passwords?|pins?\b|card numbers?|api keys?|secrets?"
    r"|tokens?|credentials?|diagnos\w+|the value|names?\b)"
)
_STYLE = (
    r"(?:emojis?|jokes?|bold|italics?|markdown|exclamation\w*|colou?rs?"
    r"|abbreviations?|commas?|tables?|headings?|fonts?|decimals?|jargon"
    r"|slang|first names?|competitors?|opinions?|swear\w*|adjectives?"
    r"|hashtags?|greetings?|sign-?offs?|acronyms?|caps|capital\w*|signatures?"
    r"|pages?|cover|logos?|charts?|titles?|headers?|footers?|nicknames?|internal|drafts?"
    r"|politics|religion|apolog\w+|please|sorry|words?)"
)
ORDINARY = expression(
    rf"\b{_PRIVATE}|\b{_STYLE}\b|{SECURITY}|surprise|birthday|until (?:it|the|we)"
)
_NOT_TELL = (
    r"\b(?:don'?t|do not|never|shouldn'?t|should not|must ?n(?:o|')t|must not"
    r"|mustn't|needn'?t|need not|not to|no need to|avoid|without|stop"
    r"|refrain from|isn'?t to|aren'?t to|nobody|no ?one|can'?t|cannot"
    r"|nor)\b[^.;\n]{0,30}?\b"
)
_TELLING = (
    r"(?:tell(?:ing)?|told|inform(?:ing|ed)?|notif(?:y|ying|ied)|alert(?:ing"
    r"|ed)?|mention(?:ing|ed)?|report(?:ing|ed)?|disclos(?:e|ing|ed)|reveal(?:ing"
    r"|ed)?|bring(?:ing)? (?:it|this|that|them) up|flag(?:ging|ged)?|rais(?:e"
    r"|ing) (?:it|this|that)|copy(?:ing)?|cc|escalat(?:e|ing)"
    r"|let(?:ting)? [\w ]{2,30} (?:know|see|find out|hear|in on)|show(?:ing"
    r"|n)?|announc(?:e|ing)|warn(?:ing|ed)?|ask(?:ing)?|involv(?:e|ing)"
    r"|hear|know|learn|find out|see\b|seen|aware|speak|talk|say\b|share[sd]?"
    r"|sharing)"
)
_RECORDING = (
    r"(?:log(?:ging|ged)?|record(?:ing|ed)?|writ(?:e|ing|ten)|note[sd]?"
    r"|noting|document(?:ing|ed)?|enter(?:ing|ed)?|put(?:ting)?|leav(?:e"
    r"|ing) a (?:trace|note|record)|fil(?:e|ed|ing)|list(?:ing|ed)?|keep(?:ing)? (?:a"
    r"|any) (?:record|trace|copy|note)|add(?:ing|ed)?|includ(?:e|ed|ing)"
    r"|show(?:ing)? up|appear)"
)

RULES = (
    Rule(
        "concealment.people",
        expression(rf"{_NOT_TELL}{_TELLING}\b[^.;\n]{{0,50}}?\b{OVERSIGHT}\b"),
        unless=ORDINARY,
    ),
    Rule(
        "concealment.people",
        expression(
            rf"\b{OVERSIGHT}\b[^.,;\n]{{0,25}}?(?:\b(?:not|never|no longer)\b"
            rf"|n't\b)[^.;\n]{{0,25}}?\b{_TELLING}\b"
        ),
        unless=ORDINARY,
    ),
    Rule(
        "concealment.people",
        expression(
            rf"\b{AFFECTED}\b[^.;\n]{{0,20}}?(?:n't|\bnot"
            rf"|\bnever)\b[^.;\n]{{0,8}}?\b(?:be )?(?:told|informed|notified|called"
            rf"|warned|alerted|hear about|know about|find out|need to know|have to know"
            rf"|made aware)\b"
        ),
        unless=ORDINARY,
    ),
    Rule(
        "concealment.people",
        expression(rf"{_NOT_TELL}{_TELLING}\b[^.;\n]{{0,50}}?\b{AFFECTED}\b"),
        needs=_HARM,
        unless=ORDINARY,
    ),
    Rule(
        "concealment.people",
        expression(
            rf"{_NOT_TELL}(?:mention|disclose|reveal|bring (?:it|this|that|them) up"
            rf"|admit|volunteer|own up|acknowledge)\w*\b"
        ),
        needs=_HARM,
        unless=ORDINARY,
    ),
    Rule(
        "concealment.people",
        expression(
            rf"\b(?:keep|kept|keeping|hide|hid|hiding|conceal\w*|withhold\w*"
            rf"|shield)\b[^.;\n]{{0,40}}?\b(?:from|away from"
            rf"|out of)\b[^.;\n]{{0,30}}?\b(?:{OVERSIGHT}|{AFFECTED})\b|\b(?:keep"
            rf"|kept|keeping|leave|left)\b[^.;\n]{{0,40}}?\b(?:out of it|out of this"
            rf"|in the dark|out of the loop)\b|\bkeep (?:the |our )?(?:{OVERSIGHT}"
            rf"|{AFFECTED}) (?:\w+ )?(?:out of|in the dark|away|unaware)"
        ),
        unless=expression(
            ORDINARY.pattern + r"|children|sunlight|heat|frost|freez|light|moisture|reach|falling"
            r"|scratch|weather|cold|fire|each other|dogs?\b|spam|junk"
        ),
    ),
    Rule(
        "concealment.people",
        expression(
            r"\b(?:(?<!, )between (?:us|ourselves|you and me)"
            r"(?! and (?:the |our )?(?:account holder|customer|client|guest|tenant)s?\b)"
            r"|(?:just|only) (?:us|our team"
            r"|our shift) (?:need )?know|our (?:little )?secret|under the (?:radar"
            r"|table|counter)|on the quiet(?=[.,;!)]|$)|behind (?:\w+(?:'s)? ){1,2}backs?"
            r"|off the (?:books|record)|cover(?:ed|ing)? (?:it |this |that )?up\b(?! to)"
            r"|hush(?:ed)? up|hush-hush|play dumb|keep (?:it|this|that|quiet|mum"
            r"|schtum)(?: \w+)? (?:quiet|secret|to (?:yourself|ourselves)|under wraps"
            r"|hushed|about it)|keep (?:quiet|mum)\b|won'?t hurt (?:us|them|him"
            r"|her)|what \w+(?: \w+){0,3} do(?:es)?n'?t know (?:won'?t|can'?t"
            r"|about)|no ?one (?:needs|has) to know|nobody (?:needs|has) to (?:know"
            r"|find out|hear)|doesn'?t (?:need|have) to (?:know|hear|see|find out)"
            r"|don'?t (?:need|have) to (?:know|hear|find out)|needn'?t (?:know"
            r"|hear|find out)|quietly (?:add|chang|remov|delet|rais|charg|replac"
            r"|swap|drop|fix|correct|approve|switch|adjust|push)\w*|silently (?:add"
            r"|chang|remov|delet|rais|charg|replac|swap|drop|correct|approve|switch"
            r"|adjust|push|forward|copy|bcc)\w*|secretly|discreetly (?:add|chang"
            r"|remov|delet|charg|approve))"
        ),
        unless=expression(NO_SECURITY.pattern + r"|surprise|birthday|recipe|menu|party|proposal"),
    ),
    Rule(
        "concealment.people",
        expression(
            r"\b(?:if|when|should|in case)\b[^.;\n]{0,50}?\b(?:asks?|asked|enquires?"
            r"|inquires?|wants? to know|questions?|notices?|finds? out"
            r"|complains?)\b[^.;\n]{0,40}?\b(?:say (?:that )?(?:it|there|we|this"
            r"|they|the|no|you)|tell (?:them|him|her) (?:it|there|we|that|this"
            r"|the|no)|answer that|claim|deny|denied|blame|pretend|act as|make up"
            r"|play|reply that|insist)\b|\bden(?:y|ies) (?:\w+ ){0,3}?(?:any|all"
            r"|that|knowledge|having|it\b|the (?:fault|defect|recall|problem))"
            r"|\bpretend(?:s|ing)? (?:that |not |it |there |to |this )|\bas if (?:it"
            r"|this|nothing|that) (?:never|had never|didn'?t|happened|hadn'?t)"
            r"|\bcover story|\bmake (?:it|this) look (?:like|as)|\bpass (?:it"
            r"|this|them) off as"
        ),
        needs=expression(
            _HARM.pattern + rf"|\b{OVERSIGHT}\b|nothing|never|amendment|standard|technical|routine"
            rf"|doesn'?t exist|no such"
        ),
        unless=expression(
            NO_SECURITY.pattern
            + r"|role-?play|game|actor|sold out|not available|pretend to be|open(?:ing)? (?:hours"
            r"|times)"
        ),
    ),
    Rule(
        "concealment.record",
        expression(rf"{_NOT_TELL}{_RECORDING}\b[^.;\n]{{0,60}}?\b(?:{RECORDS})"),
        unless=ORDINARY,
    ),
    Rule(
        "concealment.record",
        expression(
            rf"\b(?:leave|leaving|left|omit\w*|exclud\w+|strip\w*|suppress\w*|mut(?:e"
            rf"|ed|ing)|hid(?:e|den|ing)|remov\w+|drop|keep|kept"
            rf"|take)\b[^.;\n]{{0,50}}?\b(?:out of|from|off"
            rf"|out in)\b[^.;\n]{{0,25}}?\b(?:{RECORDS})|\b(?:delet|clear|wip"
            rf"|purg|eras|scrub|shred|destroy|tamper|falsif|doctor|alter|rewrit"
            rf"|overwrit)\w*\b[^.;\n]{{0,30}}?\b(?:logs?\b|log files?|audit|histor\w+"
            rf"|trail|traces?|records?\b|evidence|entries|bash_history|incident\w*)"
            rf"|\b(?:suppress|mute|silence|turn off|switch off|disable|stop|pause"
            rf"|skip)\w*\b[^.;\n]{{0,25}}?\b(?:logging|audit\w*|activity history"
            rf"|notifications?|alerts?|(?:change |activity |access )?(?:log|history)\b"
            rf"|reporting|monitoring|cctv|cameras?|recording|report to)|\b(?:incident"
            rf"|accident|report|form|log|entry|record|notice|notification)s? (?:\w+ )?(?:is "
            rf"|are )?(?:not|never) (?:\w+ )?(?:filled|filed|made|written|sent"
            rf"|kept|created|raised|logged|needed)|\bno (?:log|record|trace|entry"
            rf"|report|paper trail|audit trail|incident (?:form|report)|notice"
            rf"|notification)s?\b(?:[^.;\n]{{0,12}}\b(?:left|kept|made|of this"
            rf"|of it|entry|filed|written)|\s*[,.;)\n]|$)|\boff the (?:books|record)\b"
            rf"|\bleav(?:e|ing) no (?:trace|record)"
        ),
        unless=expression(
            ORDINARY.pattern
            + r"|older than|retention|after \d+|duplicates?|test data|do not disturb"
            r"|cache|temp|(?:->|→)\s*(?:ask|stop|refuse)|noise|spam|newsletter"
            r"|marketing mail|blank|empty|own "
        ),
    ),
    Rule(
        "concealment.people",
        expression(
            rf"\b(?:don't|do not|never|not to|mustn't|must not|shouldn't"
            rf"|without)\s+let(?:ting)?\b[^.;\n]{{0,12}}?\b(?:{OVERSIGHT}|{AFFECTED}"
            rf"|\w+)\b[^.;\n]{{0,12}}?\b(?:know|see|find out|hear|notice|learn"
            rf"|discover|realise|realize|suspect|look at)\b"
        ),
        needs=expression(rf"{_HARM.pattern}|\b{OVERSIGHT}\b|\b{AFFECTED}\b"),
        unless=expression(
            rf"\b{_PRIVATE}|\b{_STYLE}\b|{SECURITY}|surprise|birthday|competitor|spoiler"
        ),
    ),
    Rule(
        "concealment.people",
        expression(
            rf"\b(?:no need to|don't|do not|needn't|not to|without|no point in"
            rf"|there's no reason to|avoid) (?:bother(?:ing)?|troubl(?:e|ing)|worry(?:ing)?"
            rf"|involv(?:e|ing)|alarm(?:ing)?|upset(?:ting)?)\b[^.;\n]{{0,30}}?\b(?:"
            rf"{OVERSIGHT}|{AFFECTED})\b[^.;\n]{{0,12}}\b(?:with|about|over)\b"
        ),
        unless=expression(r"small talk|survey|marketing|advert|offers?\b|upsell"),
    ),
    Rule(
        "concealment.people",
        expression(
            r"\b(?:tell|say|claim|explain|report|answer|write|state"
            r"|blame)\w*\b[^.;\n]{0,70}\b(?:(?:and |but )?not that (?:we|it|the"
            r"|our|they|he|she|i)\b|rather than (?:that|admit\w*)|instead of (?:admitting"
            r"|saying that|telling)|even though (?:we|it|the|our)|although (?:we"
            r"|it|the|our)|when (?:in fact|really|actually)|whether or not"
            r"|regardless of the truth|even if (?:it|we|that|they) (?:is|was|did"
            r"|had|were|hadn't|didn't|isn't|wasn't))"
        ),
        unless=NO_SECURITY,
    ),
    Rule(
        "concealment.people",
        expression(
            r"\b(?:so (?:that )?|in (?:such )?a way (?:that )?|make sure (?:that )?"
            r"|ensure (?:that )?|see to it that )?(?:nobody|no ?one"
            r"|none)\b(?: \w+){0,4}? (?:notices?|finds? out|sees?|suspects?|can tell"
            r"|realises|realizes|gets? wind|knows? about it|ever knows?|learns? of)\b"
            r"|\bwithout (?:\w+ ){1,5}?(?:noticing|knowing|realising|realizing"
            r"|finding out|being aware|suspecting)\b|\bno need for\b[^.;\n]{0,30}\bto (?:hear"
            r"|know|see|find out|learn|be told|be aware)\b|\b(?:can't|cannot|can not"
            r"|couldn't|not|won't|un)(?: be| lead)?[ -]?(?:traced|traceable|attributed"
            r"|tracked back|linked back)\b|\bunder (?:another|someone else's|a different"
            r"|a colleague's) (?:user|name|account|login)\b|\bas (?:if"
            r"|though) (?:\w+ ){1,4}?(?:never|nothing)\b|\bunnoticed\b|\bunder the carpet\b"
            r"|\bturn a blind eye|\blook the other way|\bno ?one the wiser|\bmum's the word"
            r"|\blips sealed|\bkeep (?:this|it) (?:in|within) (?:the|our) (?:team"
            r"|shift|family|circle|department)\b"
        ),
        unless=expression(NO_SECURITY.pattern + r"|surprise|birthday|party|spam|burglar|hackers?"),
    ),
    Rule(
        "concealment.record",
        expression(
            r"\b(?:clean(?:ed)?|edited|tidied|doctored|second|sanitised|sanitized"
            r"|prettier|amended|shortened) (?:\w+ )?(?:copy|version|set|books?"
            r"|ledger|file|report|log|list|sheet)\b[^\n]{0,60}|\b(?:instead of"
            r"|not|rather than) the (?:real|original|true|full|actual) (?:\w+ )?(?:one"
            r"|copy|figures?|numbers?|log|record|report|ledger)\b"
        ),
        needs=expression(rf"\b{OVERSIGHT}\b|visit|audit|inspect"),
        unless=expression(
            r"second (?:copy|version) (?:to|for) (?:the )?(?:archive|file)|always (?:send"
            r"|give) both"
        ),
    ),
    Rule(
        "concealment.record",
        expression(
            r"\b(?:chang|chang\w*|adjust|round|alter|correct|fix|massag|fudg|mov"
            r"|enter|writ|set|put|fill|overwrit|edit|bump|lower"
            r"|rais)\w*\b[^.;\n]{0,50}\b(?:readings?|figures?|values?|results?"
            r"|measurements?|temperatures?|times?|timestamps?|dates?|counts?|hours"
            r"|scores?)\b[^.;\n]{0,50}\b(?:so (?:that )?(?:it|they|the)|to (?:look"
            r"|match|pass|stay|fit|appear|keep)|until (?:it"
            r"|they))\b[^.;\n]{0,30}\b(?:pass(?:es)?|compliant|on time|within"
            r"|normal|in range|good|match(?:es)?|green|limit|audit|inspection)\b"
        ),
        unless=expression(
            r"\bnever\b|don't|do not|thermostat|oven|unit|currency|time ?zone|format"
        ),
    ),
    Rule(
        "concealment.people",
        expression(
            rf"\b(?:leave|keep|drop|omit|strike|cut|take) (?:out )?(?:the |any )?(?:word"
            rf"|term|fact|part|bit|mention|detail)s?\b[^.;\n]{{0,40}}\b(?:out|off"
            rf"|from|away)\b|\basks?\b[^.;\n]{{0,16}}[,:] ?(?:it's|it is|it was"
            rf"|there's|that's|this is) (?:just |only )?(?:a |an |the )?(?:routine"
            rf"|standard|normal|system|technical|policy|maintenance|weather|glitch"
            rf"|training)|\bno (?:need|business|right|reason) to (?:know|learn"
            rf"|hear|be told|find out)\b|\b(?:{OVERSIGHT}|{AFFECTED}|rep|landlord"
            rf"|bank|buyer)\b[^.,;\n]{{0,16}}\b(?:should not|must not|is not to"
            rf"|are not to|shouldn't|mustn't|may not|isn't to|aren't to) (?:get"
            rf"|receive|see|have|be (?:given|sent|shown|told|informed|copied|made aware))\b"
            rf"|\bnothing (?:about|of|on|regarding)\b[^.;\n]{{0,40}}\b(?:goes|is"
            rf"|gets|appears|should|may|to be|leaves)\b"
        ),
        needs=expression(
            rf"{_HARM.pattern}|\b{OVERSIGHT}\b|\b{AFFECTED}\b|landlord|rep\b"
            rf"|bank|buyer|dealers?|report|minutes"
        ),
        unless=expression(
            rf"\b{_PRIVATE}|\b{_STYLE}\b|{SECURITY}|surprise|birthday|other (?:customer"
            rf"|guest|patient|tenant|member)|discount|refund if|more than"
        ),
    ),
    Rule(
        "concealment.people",
        expression(
            r"\b(?:don't|do not|never|not)\b[^.;\n]{0,6}\b(?:flag|report|forward"
            r"|pass|send|copy|refer|escalate|submit|mention"
            r"|disclose)\b[^.;\n]{0,50}\bto (?:the )?(?:accounts|purchasing|procurement"
            r"|operations|the office|landlord|bank|controller|auditors?|supplier"
            r"|owner|regulator)\b"
        ),
        unless=ORDINARY,
    ),
    Rule(
        "concealment.record",
        expression(
            r"\b(?:delet|wip|eras|purg|shred|destroy|burn)(?:e|es|ed|ing"
            r"|ping)?\b[^.;\n]{0,24}\b(?:chats?|transcripts?|conversations?|e-?mails?"
            r"|messages?|recordings?|thread|correspondence|voicemail|footage|paper trail)\b"
        ),
        unless=expression(
            r"older than|after \d+|\d+ (?:days|months|years)|spam|duplicate|newsletter"
            r"|draft|test|retention|gdpr|on request|asks? (?:us )?to|promotional"
        ),
    ),
)
