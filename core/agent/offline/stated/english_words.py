"""The English words that tell conditions from outcomes (data of `english`)."""

from __future__ import annotations

import re

from core.agent.offline.text import words

# How a number is compared: the words before it, and those after it.
BEFORE = (
    (
        "<=",
        r"no (?:more|longer|later|higher|older|larger|heavier|wider|taller|bigger|greater|deeper"
        r"|thicker|hotter|warmer|further|farther|faster|dearer) than|not (?:more|longer|over"
        r"|above|exceeding)(?: than)?",
    ),
    (
        "<=",
        r"at most|up to(?: and including)?|a maximum of|max(?:imum)?(?: of)?|within|by"
        r"|inside",
    ),
    (
        ">=",
        r"no (?:less|fewer|earlier|lower|younger|smaller|shorter|lighter|newer|narrower|thinner"
        r"|shallower|cooler|colder|cheaper|slower|sooner) than|not (?:less|fewer) than|at least|a "
        r"minimum of|min(?:imum)?(?: of)?",
    ),
    (">=", r"(?:from|starting (?:from|at|on)|as of)"),
    (">=", r"at or (?:above|over)|equal to or (?:above|over|greater than|more than)"),
    ("<=", r"at or (?:below|under)|equal to or (?:below|under|less than)"),
    (
        ">",
        r"(?:more|greater|higher|longer|larger|bigger|older|heavier|later|bigger|further"
        r"|farther|taller|warmer|hotter|wider|deeper|thicker|faster|dearer) than",
    ),
    (">", r"over|above|exceeds?|exceeding|in excess of|beyond|past|after|upwards of"),
    (
        "<",
        r"(?:less|fewer|lower|shorter|smaller|younger|lighter|earlier|cheaper|sooner|colder"
        r"|nearer|newer|narrower|thinner|shallower|cooler|slower|closer|weaker) than",
    ),
    ("<", r"under|below|before"),
)
AFTER = (
    (
        ">=",
        r"\s?\+|(?:\s(?:ahead|in advance|prior|early|late|old))?\s(?:or|and) "
        r"(?:more|better|over|above|up|upwards?|older|longer|heavier|higher|later"
        r"|after|greater|larger|bigger|further|farther|warmer|hotter|taller|wider|faster|deeper|thicker)(?!\s(?:than\b"
        r"|[\d₩$€£]))"
        r"|\s?onwards?|\sand up|(?:\s(?!or\b|and\b|to\b)[a-z]+){1,2}\sor more\b",
    ),
    (
        "<=",
        r"\s(?:or|and) (?:less|under|below|fewer|younger|shorter|lighter|lower|earlier|before"
        r"|smaller|cheaper|colder|slower|cooler|newer|narrower|thinner|shallower|sooner|closer)(?!\s(?:than\b|[\d₩$€£]))",
    ),
)
_VERBS = words(
    "must should shall can cannot can't could may might will won't need needs "
    "require requires get gets go goes pay pays ship ships is are isn't aren't was were have "
    "has do does don't doesn't qualify qualifies count counts cost costs receive receives earn "
    "earns come comes ride rides enter enters travel travels use uses wait waits call calls ask "
    "asks send tell route escalate apply applies add charge charges refund refunds reject "
    "rejects approve notify let take takes stay stays fall falls stop shut turn switch put hold "
    "give offer offers contact involve inform open close pass passes fail fails land lands "
    "start starts end ends expire expires become becomes include includes incur incurs attract "
    "attracts carry carries trigger triggers demand demands deserve deserves wins win skip "
    "skips bypass sign signs flag book treat handle file keep move mark log bring ring page "
    "raise lower cancel return order waive deduct double issue gives report sits sit join joins "
    "left leave eat eats drink drinks sleep sleeps vote votes drive drives buy buys rent rents "
    "borrow borrows want wants sail swim climb attend attends meet meets speak work works mean "
    "means brings deliver delivers check checks review reviews print prints pack packs load "
    "loads clean cleans record records save saves answer answers reply replies remind warn "
    "warns block blocks lock locks limit limits replace replaces repair repairs reorder "
    "postpone delay delays train trains test tests measure measures belong belongs follow "
    "follows see show shows run runs share shares line lines closes walk lose loses touch "
    "touches lift lifts"
)
_STARTS = words(
    "you we they it he she it's there's you're we'll they're you'll please always never just "
    "only automatically also then "
    "there no free nothing"
)
_ALTERNATIVES = "|".join(
    re.escape(word)
    for word in sorted({*_VERBS, *(f"{verb}s" for verb in _VERBS)}, key=len, reverse=True)
)
VERB = rf"(?:{_ALTERNATIVES}|{'|'.join(_STARTS)})"
MORE_VERBS = words(
    "weigh weighs resit resits qualify reads stops conceal route routes needn't couldn't shouldn't "
    "doesn't isn't wouldn'"
    "t gone draw draws earn accrue escalates escalate owe owes sail clear clears "
    "park parks upgrade downgrade ignore archive quarantine suspend close reopen mill ride expires "
    "sell sells sold collect collects choose chooses request requests schedule cover "
    "covers arrive arrives recycle burn freeze "
    "refrigerate store stores defrost label labels throw bin scrap inspect inspects "
    "calibrate calibrates invoice bill bills email emails text "
    "phone phones visit visits cook cooks bake water feed feeds paint cut cuts fill fills "
    "empty empties lend lends rent upload download export "
    "archive backup restart reboot deploy merge merges assign assigns allocate confirm "
    "confirms process processes settle settles forward "
    "forwards redirect reset unlock suspend suspends terminate terminates renew renews "
    "extend extends enrol enroll register wear wears bring "
    "brings leave leaves arrive expire don't doesn't aren't couldn't haven't hasn'"
    "t quote quotes scan scans stamp stamps sort sorts "
    "repeat repeats "
    "automatically auto-approved free quarantined discarded covered covers rejected approved"
)
LEADS = re.compile(
    r"^(?:(?:sorry|hi|hey|hello|morning|thanks|look|listen|quick)\b[^,:.\d]{0,25}[,:](?:"
    r" but)?|for what it's worth|for the record|basically|actually|again|remember that"
    r"|right"
    r"|anyway|from now on|going forward|in future|please|also|as a rule|remember|note(?: that)?"
    r"|fyi"
    r"|just so you know|hi|ok|okay|so|and|"
    r"by the way|our rule is|the rule is|our policy is(?: that)?|we agreed(?: that)?"
    r"|small correction|quick one|heads up|reminder|and then|then|but|always)[,:]?\s+",
    re.I,
)
VAGUE = re.compile(
    r"\b(?:roughly|usually|normally|generally|typically|often|sometimes|mostly|judg(?:e?)ment"
    r"|depends?|depending|feel|feels|maybe|"
    r"perhaps|possibly|probably|try to|where you can|where possible|if possible|if needed|as "
    r"needed|decent|reasonable|sensible|"
    r"about|around|approximately|approx|or so|weigh up|consider|a few|most|doubt"
    r"|unsure|not sure|hesitat\w*|let it slide|flexible|"
    r"it's fine|feel free|use your|common sense|ideally|preferably|likely|seems?|looks? like"
    r"|appropriate|nearly|almost|lenient|"
    r"gentl\w+|kind(?:ly|er)?|friendly|warmly|politely|tone|mood|upset|angry|nervous|stressed"
    r"|smaller than usual|softly|empath\w+"
    r"|tends?|prefers?|likes?|nice|generous|rather|good idea|best to|might|case by case"
    r"|within reason|gut)\b",
    re.I,
)
EXCEPT = re.compile(
    r"\b(?:except|exception|excluding|apart from|other than|however|only if|only when"
    r"|although|though|whichever|even|nor|either|neither|nobody under|no one under"
    r"|isn't enough|not enough|on its own|same goes|ditto)\b",
    re.I,
)
INSIDE = re.compile(
    r"\b(?:if|when|whenever|unless|until|otherwise|or else|in which case|where"
    r"|provided|once(?!\s*$)|without|during|while)\b",
    re.I,
)
NARROWING = re.compile(
    r"\b(?:new|existing|first|repeat|regular|gold|silver|premium|vip|trial|paid|free|online"
    r"|overseas|weekend|weekday|express|"
    r"standard|senior|junior|private|corporate|local|foreign|remote|part-time"
    r"|full-time|urgent|late|early|"
    r"standing|rush|bulk|walk-in|\w{3,}(?:ional|estic|ial|ary|ive|ous|able))\b",
    re.I,
)
# Between the two numbers of a range, and what says before the first that it is one.
RANGE = re.compile(
    r"(?P<to>\s?(?:-|–|—|to|through|until|up to|and|and up to|and until|,? up to"
    r"|or)(?P<under> but not including| but under| (?:just )?(?:below|under))?"
    r"(?: and including)?\s?)[₩$€£]?",
    re.I,
)
BETWEEN = re.compile(r"\b(?:between|from|aged|of|weighing|costing)\s?$", re.I)
FIRST = re.compile(r"(?:\b(?:in|for|during|within) )?(?:\b(?:the|your) )?\bfirst\s$", re.I)
HITS = re.compile(r"\b(?:hits?|reach(?:es)?|gets to)\s$", re.I)
HEAD = re.compile(r"\s(?P<noun>[a-z]+s)(?=[\s,:;.]|$)", re.I)
POST = re.compile(
    r"(?:\s(?:inclusive|ago|each|old|long|away|late|overdue|early|wide|high|heavy"
    r"|deep|tall|in total|in value|of age"
    r"|in a row|(?:of|after|before|since) (?:the |your |their |a )?(?:purchase"
    r"|visit|arrival|delivery|order|booking|departure"
    r"|due|check-in|due date)))*",
    re.I,
)
_THINGS = (
    r"(?:anything|everything|anyone|everyone|anybody|everybody|those|ones|amounts"
    r"|any|the|orders|people|customers)"
)
_DOWN = (
    "closer|colder|cooler|lighter|smaller|shorter|younger|cheaper|below|under"
    "|less|fewer|lower|earlier|before|sooner"
)
_UP = (
    "warmer|hotter|heavier|larger|bigger|longer|older|above|over|more|higher|later"
    "|after|beyond|past"
)
BEYOND = re.compile(
    rf"(?:(?:for |on |with )?{_THINGS}(?: (?:who|that) [a-z]+)?\s)?(?:at or )?"
    rf"(?:(?P<down>{_DOWN})|(?P<up>{_UP}))"
    rf"(?: than)? (?:that|this|it|those)\b(?: ones?\b)?"
    rf"|(?:for |on |with )?{_THINGS}\s(?:(?P<down2>{_DOWN})|(?P<up2>{_UP}))(?=[\s,:]"
    rf"|$)(?! (?:than )?[₩$€£]?\d| than)"
    rf"|(?<![^,.;] )(?:(?P<down3>smaller|shorter|younger|cheaper|lower|lighter|earlier"
    rf"|colder|less)|(?P<up3>larger|bigger|longer|older"
    rf"|heavier|higher|later|hotter|warmer|more))(?= (?:ones?|amounts?|\w+s)\b| is\b"
    rf"| are\b|,)(?: (?:ones?|amounts?|orders|tables|loans|groups|parcels|claims)\b)?"
    r"|(?P<after>(?<=, )then(?= (?:it's|it is|they|we|you|[$€£]?\d)))"
    r"|(?P<since>from (?:that (?:day|date|point|time)|then)(?: on(?:wards?)?)?)",
    re.I,
)
ELSE = re.compile(
    r"(?:(?P<none>no ?one else|nobody else|nothing else|none of the (?:others|rest))\b"
    r"|(?:in |for |to |with )?(?:everything|everyone|everybody|anything|anyone|anybody|all) else\b"
    r"|otherwise\b|if not\b|(?<=or )else\b"
    r"|(?:in |for |to |on )?(?:all |any |the )*(?:others\b|the rest\b|rest\b|remainder\b"
    r"|remaining \w+)"
    r"|(?:in |for |to |on )?(?:all |any |all the )other (?:\w+)\b)[,:]?",
    re.I,
)
WITH = re.compile(
    r"(?P<how>without|with)\b(?: (?:an? |any |the )?(?P<no>no )?(?P<what>(?!to\b)[\w-]+"
    r"(?: [\w-]+){0,3}?))??(?=\s(?:VERB)\b|\s(?:the|it|it's|they|we|you|there)\b"
    r"|\s*[,:]|$)",
    re.I,
)
IS = re.compile(
    r"(?:if|when|and|provided(?: that)?|as long as) (?:it's|it is|they're|they are"
    r"|the [\w-]+(?: [\w-]+)? is|he's|she's) (?P<not>not )?(?:an? |the |on |in "
    r"|going )?"
    r"(?P<value>[\w'-]+(?: (?!(?:VERB)\b)[\w'-]+)?)(?=\s*(?:,|:|$|\sthen\b)|\s(?:VERB)\b)",
    re.I,
)
GIVEN = re.compile(
    r"\d|\b(?:no|free|half|full|double|triple|nothing|none|nobody|upfront|list)\b", re.I
)
# What reads like an outcome and is a name: `free users`, `P1`.
NAMED = re.compile(
    r"^free (?=(?i:users|accounts|members|customers|plans?|tier))|\b[A-Z]{1,3}-?\d{1,2}\b"
)
GENERIC = words(
    "if when whenever once for with where any anything anyone everyone all every each on "
    "in the a an is are was were of that which who it "
    "it's its they'"
    "re they we you i at than from to by placed priced worth aged weighing costing "
    "lasting taking booked goes go gets get "
    "comes come drops drop falls fall rises rise last lasts takes take be been being has "
    "have had so then and but or your our their "
    "my only just them those these ones people'"
    "s under over between somebody someone there'"
    "s there this more most within about stays stay provided inclusive s"
)
PLACED = re.compile(
    r"\b(?:opens?|closes?|starts?|ends?) at\b|\b(?:is|are) (?:on|in|at|next to"
    r"|behind) (?:the |our )?\w+(?: \w+)? ?(?:floor|room|wing|building|basement"
    r"|gate|desk)\b",
    re.I,
)
SPLIT = re.compile(r"\s+(?:for|on|if|when|once|provided(?: that)?|where|with)\s+", re.I)
BREAK = re.compile(r"\s*[,;:]\s+(?:and |but |while )?|\s+(?:and|but|while)\s+|\s+[-–—]\s+", re.I)
LABEL = re.compile(r"(?P<about>[^:;.\d]{1,60}):\s+")
COPULA = re.compile(r"\b(?:is|are|gets?|goes?)\s+\w", re.I)
GAPPED = re.compile(r"(?:the )?(?:[\w'-]+ ){1,3}?(?P<by>in|to|by|at) [\w'.,-]+$", re.I)
TOPIC = re.compile(r"for (?P<topic>[a-z' -]{3,25}?),? (?=(?:the|we|you|it)\b)", re.I)
UNLESS = re.compile(
    r"(?P<base>[^,]+?),? (?:unless|except (?:if|when|on|for)) (?P<value>[^,]+?)(?:,? (?:"
    r"then|in which case|where)) (?P<then>.+)",
    re.I,
)
FILLER = re.compile(
    r"^(?:it's|it is|they're|they are|they|it|you|the \w+ is|on|an?|the)\s(?:an? "
    r"|the )?|\s(?:bookings?|accounts?|orders?)$",
    re.I,
)
SPREAD = re.compile(
    r"(?P<then>(?:[$€£]?\d[\d,.]*%?|nothing|free|half price|full price|none|no charge)"
    r"(?: (?!and\b|in\b|for\b|to\b|on\b)[a-z]+){0,2}?)"
    r" (?:in|for|to|on) (?P<value>[^\d$€£]+?)"
    r"(?=(?:,? and|,) (?:[$€£]?\d|nothing\b|free\b|half\b|full\b|none\b|no\b)|$)",
    re.I,
)
EVEN = re.compile(r"even (?:if|when) (?P<when>[^,]+), (?P<then>.+)", re.I)
ASTRAY = re.compile(
    rf"(?:and|or)\b|(?:from|in|to|at|with|by|on|into|for)\b.*(?<!the )(?<!an )(?<!a )(?<!"
    rf"our )\b{VERB}\b",
    re.I,
)
POSTPOSED = re.compile(r"(?:provided|as long as|if|when|once)\b", re.I)
PLACES = re.compile(r"\b(?:at|in|to|by|for|on|into)\b", re.I)
COPULAS = words("is are it's they're has have weighs costs lasts cost weigh last that's")
TRUMPS = re.compile(
    r"\b(?:regardless(?: of [\w ]+)?|no matter[\w ]*|(?:any|all|both) of (?:them"
    r"|these|those)|whatever\b[\w ]*|in any case)\b",
    re.I,
)
HOUR = re.compile(r"\b(?:before|after|until|by) \d{1,2}(?! ?[\w%$€£])", re.I)
NOBODY = re.compile(r"no", re.I)
# `kids 20`, after `members borrow 12`: the verb is left out.
GAPPED_VALUE = re.compile(
    r"(?P<value>(?:[A-Za-z'-]+ ){1,3}?)"
    r"(?P<then>[$€£]?\d.*|(?:half|full|nothing|none|free|no|net|never|in|to|by|at|two|three|five|ten)\b.*)"
)
TWO_SAID = re.compile(r"\d[^,;]* and (?:the )?[a-z-]+ .*\d|, not (?:for|if|when|on) ", re.I)
# Who somebody is, which not all are.
GROUPED = re.compile(
    r"\b(?:non-)?(?:members?|students?|seniors?|vips?|gold|silver|bronze|platinum|premium|trial|residents?|locals?"
    r"|contractors?|interns?|new|existing|returning|repeat|first-time|regular|walk-ins?)\b",
    re.I,
)
CUT_OFF = re.compile(r"\b(?:to|of|for|with|by)$|\bonly (?:from|for|to|on|in)\b", re.I)
A_UNIT = re.compile(
    r"(?:an? )?(?:hour|day|week|month|year|minute|second|mile|kg|person|night)s?", re.I
)
COUNTED = re.compile(r"\b(?:first|each|every|after|next|per|daily|weekly|monthly)\b", re.I)
SURE = words(
    "gets pays needs costs takes goes has does is receives earns borrows requires uses wants"
)
