"""The English words that tell conditions from outcomes (data of `english`)."""

from __future__ import annotations

import re

from core.agent.offline.text import words

# How a number is compared: the words before it, and those after it.
BEFORE = (
    (
        "<=",
        r"no (?:more|longer|later|higher|older|larger|heavier) than|not (?:more|longer|over"
        r"|above|exceeding)(?: than)?",
    ),
    (
        "<=",
        r"at most|up to(?: and including)?|a maximum of|max(?:imum)?(?: of)?|within|by"
        r"|inside",
    ),
    (
        ">=",
        r"no (?:less|fewer|earlier|lower|younger) than|not (?:less|fewer) than|at least|a "
        r"minimum of|min(?:imum)?(?: of)?",
    ),
    (">=", r"(?:from|starting (?:from|at|on)|as of)"),
    (">=", r"at or (?:above|over)|equal to or (?:above|over|greater than|more than)"),
    ("<=", r"at or (?:below|under)|equal to or (?:below|under|less than)"),
    (
        ">",
        r"(?:more|greater|higher|longer|larger|bigger|older|heavier|later|bigger|further"
        r"|farther|taller|warmer|hotter|wider) than",
    ),
    (">", r"over|above|exceeds?|exceeding|in excess of|beyond|past|after|upwards of"),
    (
        "<",
        r"(?:less|fewer|lower|shorter|smaller|younger|lighter|earlier|cheaper|sooner|colder"
        r"|nearer) than",
    ),
    ("<", r"under|below|before"),
)
AFTER = (
    (
        ">=",
        r"\s?\+|\s(?:or|and) (?:more|over|above|up|upwards?|older|longer|heavier|higher|later"
        r"|after|greater|larger|further|warmer|hotter|taller|wider|faster)(?!\s(?:than\b"
        r"|[\d₩$€£]))"
        r"|\s?onwards?|\sand up",
    ),
    (
        "<=",
        r"\s(?:or|and) (?:less|under|below|fewer|younger|shorter|lighter|lower|earlier|before"
        r"|smaller|cheaper|colder|slower|cooler)(?!\s(?:than\b|[\d₩$€£]))",
    ),
)
RANGE = re.compile(r"\s?(?:to|and|-|–|—|through|until|up to)\s?(?:and including\s)?", re.I)
RANGES = re.compile(
    r"(?:\b(?P<between>between)|\b(?P<from>from)|\b(?:aged|of|in|weighing|costing))?\s*$", re.I
)
IF = re.compile(
    r"(?P<unless>(?:unless|except (?:if|when|where))\s)?(?P<even>even (?:if|when|where"
    r"|for)\s)?(?P<if>(?:if|when|whenever"
    r"|where|in case|once|for|with|should|as soon as|any time|anytime)\s)?",
    re.I,
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
# What may stand between an amount and the outcome: `days after purchase`, `in total`, `old`.
POST = re.compile(
    r"(?:\s(?:inclusive|ago|each|old|long|away|late|overdue|early|wide|high|heavy|deep|tall|in "
    r"total|in value|of age|in a row|or so|"
    r"this (?:year|month|week|quarter)|a day|a night|an hour|a week|a month|a year|a night"
    r"|an hour|a head|apiece|per \w+"
    r"|(?:after|before) \w+ing (?:it|them|(?:the|an?|your|their) [\w-]+)"
    r"|(?:after|before|since|from|of|in|on|at|to|past|into) (?:the |a |an |their |our |his |her "
    r"|its )?"
    rf"(?!{VERB}\b)[\w-]+(?: (?!{VERB}\b)[\w-]+)?))*",
    re.I,
)
# `above 14.5% moisture goes …`: what is measured.
OF_WHAT = re.compile(
    rf"(?<=[%a-z])\s(?!(?:{VERB}|and|or|for|to|in|on|of|at|by|the|a|an|if|when|each|one|both"
    rf"|old|per|after|before|since|ago|from|past|into)\b)"
    rf"[a-z-]+(?=\s(?:{_ALTERNATIVES})\b)"
)
AND_HAS = re.compile(
    r"(?:has|have)(?P<no> no)? (?:(?:an?|the|any) )?(?P<value>(?!been\b"
    r"|to\b)[a-z-]+(?: [a-z-]+)?)"
    rf"(?=\s(?:{_ALTERNATIVES})\b|,)",
    re.I,
)
_ITEM = (
    rf"(?!(?:and|or|if|when|the|{_ALTERNATIVES})\b)[A-Za-z][\w-]*(?: (?!(?:and|or"
    rf"|{_ALTERNATIVES})\b)[\w-]+)?"
)
SEVERAL = re.compile(rf"(?P<who>{_ITEM}(?:, {_ITEM})*,? and {_ITEM})(?=\s(?:{_ALTERNATIVES})\b)")
SPLIT = re.compile(
    rf"(?P<what>(?:[\w'-]+ ){{0,5}}[\w'-]+?) (?:is|are|costs?|gets?"
    rf"|pays?) (?P<one>[^,]{{1,30}}?) (?:in|for|on|to)"
    rf" (?:the )?(?P<some>{_ITEM}(?:, {_ITEM})*(?:,? and {_ITEM})?),? (?:and"
    rf"|but) (?P<two>[^,]{{1,30}}?)"
    rf" (?:in|for|on|to) (?:(?P<other>(?:all |the |any )*(?:other (?:\w+ )?\w+|rest)"
    rf"|everyone else)|(?P<more>{_ITEM}"
    rf"(?:, {_ITEM})*(?:,? and {_ITEM})?))",
    re.I,
)
_SAYS = (
    r"(?:are|is|get|gets|need|needs|must|should|can|can't|cannot|may|go|goes|pay|pays|don't"
    r"|have|has"
    r"|receive|receives|will|won't)\b"
)
RELATIVE = re.compile(
    r"(?:(?:all|any|every|each)\s)?(?P<who>[A-Za-z][\w-]*(?: [\w-]+)?) (?:that|who|which) "
    r"(?P<value>(?!are\b|is\b)(?:don't |do not "
    r"|doesn't )?[a-z]+(?: [\w-]+){0,4}?)(?<! to)(?<! a)(?<! the)(?<! not)"
    rf"(?=\s{_SAYS})",
    re.I,
)
EXCEPT_FOR = re.compile(
    r"except (?:for|on|in|at|with) (?P<value>[\w-]+) (?P<who>[\w-]+)(?=,|\s(?:where|when|who"
    r"|which)\b)",
    re.I,
)
ELSE = re.compile(
    r"(?:(?P<none>no ?one else|nobody else|nothing else|none of the (?:others|rest))\b"
    r"|(?:for |to |with )?(?:everything|everyone|everybody|anything|anyone|anybody|all) else\b"
    r"|otherwise\b|if not\b|else\b"
    r"|(?:for |to )?(?:all |any |the )?(?:others\b|the rest\b|rest\b|remainder\b|remaining \w+"
    r"|other \w+(?: \w+)?(?= (?:you|we|they|it|must|should|can|can't|may|will|need|needs|get"
    r"|gets|go|goes|pay|"
    r"pays|are|is|don't|do|have|ship|stay|take|cost|costs)\b)))[,:]?",
    re.I,
)
LEADS = re.compile(
    r"^(?:for what it's worth|for the record|basically|actually|again|remember that|right"
    r"|anyway|from now on|going forward|in future|please|also|as a rule|remember|note(?: that)?"
    r"|fyi"
    r"|just so you know|hi|ok|okay|so|and|"
    r"by the way|our rule is|the rule is|our policy is(?: that)?|we agreed(?: that)?"
    r"|always)[,:]?\s+",
    re.I,
)
VAGUE = re.compile(
    r"\b(?:roughly|usually|normally|generally|typically|often|sometimes|mostly|judg(?:e?)ment"
    r"|depends?|depending|feel|feels|maybe|"
    r"perhaps|possibly|probably|try to|where you can|where possible|if possible|if needed|as "
    r"needed|decent|reasonable|sensible|"
    r"about|around|approximately|approx|or so|weigh up|consider|a few|several|many|most|doubt"
    r"|unsure|not sure|hesitat\w*|let it slide|flexible|"
    r"it's fine|feel free|use your|common sense|ideally|preferably|likely|seems?|looks? like"
    r"|appropriate|nearly|almost|lenient|"
    r"gentl\w+|kind(?:ly|er)?|friendly|warmly|politely|tone|mood|upset|angry|nervous|stressed"
    r"|softly|empath\w+"
    r"|tends?|prefer|rather|good idea|best to|might|case by case|within reason|gut)\b",
    re.I,
)
EXCEPT = re.compile(
    r"\b(?:except|exception|excluding|apart from|other than|however|only if|only when|provided"
    r"|as long as|although|though|"
    r"whichever|whatever|unless|but|even|until|nor|either|instead of)\b",
    re.I,
)
INSIDE = re.compile(r"\b(?:if|when|whenever|otherwise|or else|in which case)\b", re.I)
ARTICLES = words(
    "a an the any all every each our your their its his her my this that these those some"
)
LINKS = words(
    "is are was were be been of that which who with by for has have had in at it it's "
    "they they're he she you we i placed made aged worth costing weighing taking totalling "
    "totaling lasting booked received sent submitted costs cost weighs weigh takes take lasts "
    "last goes go gets get comes come to from on than do does value valued priced there a an "
    "the only arriving arrives arrive filed logged bought ordered requested running runs "
    "measuring travelling traveling carrying spends spend spending stays stay staying reaches "
    "reach hits hit rises rise climbs drops drop falls fall scores score scoring contain "
    "contains containing needs need someone somebody anyone anybody something anything you're "
    "we're"
)
MEASURES = (
    (re.compile(r"\b(?:weigh\w*|heavier|lighter|heavy)\b", re.I), "weight"),
    (re.compile(r"\b(?:aged|older|younger|years old|of age|year olds?)\b", re.I), "age"),
    (re.compile(r"\b(?:last\w*|longer|tak(?:es?|ing))\b", re.I), "duration"),
    (re.compile(r"\b(?:scor\w+)\b", re.I), "score"),
    (re.compile(r"\b(?:cost\w*|priced|worth|cheaper)\b", re.I), "amount"),
)
DEFAULTS = {
    "kg": "weight", "g": "weight", "ton": "weight", "lb": "weight", "km": "distance",
    "mile": "distance",
    "m": "length", "cm": "length", "%": "rate", "degree": "temperature", "year": "duration",
    "month": "duration", "week": "duration", "day": "days", "working day": "working days",
    "business day": "business days", "night": "nights", "hour": "duration", "minute": "duration",
    "second": "duration", "person": "people", "item": "items", "point": "points", "page": "pages",
    "GB": "size", "MB": "size", "time": "times",
}  # fmt: skip
SHOWN = words("kg g ton lb km mile m cm % degree year month week day hour minute second GB MB") | {
    "working day",
    "business day",
}
IS = re.compile(
    r"(?P<who>(?:(?!\b(?:if|when|then)\b)[\w'-]+ ){0,4}?(?:it|they|he|she|we|you|[\w-]+))(?:'s"
    r"|'re| is| are)(?P<not>n't| not)? "
    r"(?:an? |the )?(?P<value>[\w-]+(?: [\w-]+)?)(?=\s*(?:,|:|$|\s(?:then|and|or)\b))",
    re.I,
)
DOES = re.compile(
    r"(?P<who>(?:it|they|he|she|you|we|(?:the |an? )?[\w-]+))(?P<not> don't| doesn't| do not| "
    r"does not)? "
    r"(?P<value>(?:book|pay|order|come|arrive|apply|travel|collect|go|call|sign|register"
    r"|deliver|ship|buy|live|fly|sit|work|park|fall|land)(?:e?s)? "
    r"(?:by|via|through|in|on|online|from|to|at|with|for)(?: (?:the |an? )?[\w-]+"
    r"(?: (?!or\b|and\b|then\b)[\w-]+)?(?: or (?:the "
    r"|an? )?[\w-]+)?)?)(?=\s*(?:,|:|$|\s(?:then|and|or)\b))",
    re.I,
)
_MODALS = (
    r"(?:must|should|can|can't|cannot|may|will|won't|needs?|gets?|go|goes|pays?|are|is"
    r"|have|has|do|don't|doesn't)\b"
)
CATEGORY = re.compile(
    r"(?P<who>(?:(?:all|any|every|each|for)\s)?(?!(?:if|when|unless|where|once|with|even|no"
    r"|only|but|or|and|for|each|nothing|one|two|three|four|five|nothing|the|our|my|we|it|they"
    r"|there|this|that|please|you|i|he|she)\b)[A-Za-z][\w-]*(?: [\w-]+){0,2}?)"
    r"(?:(?<=s)|(?<=people)|(?<=staff)|(?<=men)|(?<=children)|(?<=one)|(?<=body)|(?<=crew))"
    r"(?:\s(?:(?:marked|labelled|labeled|tagged|flagged|classed|rated|classified|that are|who "
    r"are|which are)(?: as)?"
    rf"|(?P<how>not (?:from|in|on)|from|with|without|in|under|for|to|by))\s(?:an? |the |any "
    rf")?(?P<value>(?!{_MODALS})[\w-]+(?: (?!{_MODALS})[\w-]+){{0,2}}"
    rf"(?:(?:, (?!{_MODALS})[\w-]+)+,? (?:or|and) (?!{_MODALS})[\w-]+)?))?"
    rf"(?=\s(?:{_ALTERNATIVES})\b)",
    re.I,
)
HAS = re.compile(
    r"(?P<who>(?:the |an? )?(?:[\w-]+ ){0,2}?[\w-]+) (?:(?:has|have|includes?|contains?|carries"
    r"|comes with)(?P<no> no| not got)?|(?P<lacks>lacks?|is missing|are missing|does not have"
    r"|doesn't have|don't have))"
    r" (?:(?:an?|the|any) )?(?P<value>[\w-]+(?: [\w-]+){0,2}?)(?=\s*(?:,|:|$|\s(?:then|and"
    r"|or)\b))",
    re.I,
)
_DOWN = (
    "up to(?= (?:that|it|this))|newer|closer|colder|cooler|lighter|smaller|shorter|younger"
    "|cheaper|below|under|less|fewer|lower|earlier"
    "|before|sooner"
)
_UP = "warmer|hotter|heavier|larger|bigger|longer|older|above|over|more|higher|later|after|beyond"
SAME = re.compile(
    rf"(?:(?P<since>from (?:that (?:day|date|point|time)|then)(?: on(?:wards?)?)?)|"
    rf"(?:for |with )?(?:at or )?(?:(?:anything|everything|anyone|everyone|those|ones|orders"
    rf"|amounts|all"
    rf"|any) )?(?:(?P<down>{_DOWN})|(?P<up>{_UP}))"
    rf"(?: (?:than )?(?:that|this|it)| ones?| (?:amounts?|orders?|items?|claims?|loans?"
    rf"|parcels?|groups?|bookings?"
    rf"|purchases?"
    rf"|(?!(?:{_ALTERNATIVES})\b)\w+s))?)(?!\sthan\b)(?=$"
    rf"|[,:]?\s(?:(?!\d)[^\d\s$£€₩]))[,:]?(?!(?<!er)\s(?:than"
    rf"|the|a|an"
    rf"|\d)\b)",
    re.I,
)
BARE = words("those ones them anything anyone everything everyone amounts ages age that numbers")
PERSONS = re.compile(
    r"\b(?:child(?:ren)?|kids?|anyone|people|person|customers?|guests?|drivers?|students?"
    r"|passengers?|applicants?|visitors?|minors?|"
    r"members?|players?|adults?|seniors?|employees?|patients?|users?|riders?|travell?ers?"
    r"|everyone)\b",
    re.I,
)
LIMITS = re.compile(
    r"\b(?:over|above|under|below|(?:more|less|fewer|longer|higher|older) than|exceeding) "
    r"(?:the )?[₩$€£]?\d"
    r"|\b(?:after|before|above|below|over|under|beyond|past|than|until) (?:that|this|it|then)\b"
    r"|\d[\w%,.]*(?: \w+)? (?:or|and) (?:more|over|above|up|less|under|below|fewer|\w+er)\b"
    r"|\bafter \d",
    re.I,
)
TURNED = re.compile(
    r"\s(?:if|when|for|on)\s|,?\s(?:provided(?: that)?|as long as|so long as)\s|(?:(?<=applies)"
    r"|(?<=apply)|(?<=added)|(?<=offered)"
    r"|(?<=given)|(?=\sto (?:anyone|anybody|people|customers|guests|children|minors)\b))\sto\s"
    r"|\s(?=(?:after|over|above|under|below|beyond|past)\s)",
    re.I,
)
GIVEN = re.compile(r"(?:no|free|half|full|double|triple|extra|\d+%)\b", re.I)
COUNTED = re.compile(
    r"\s(?:people|persons|guests|items|pieces|units|copies|passengers|seats|tickets|days|hours"
    r"|pages|words|users|students)\b",
    re.I,
)
NO_GROUP = re.compile(
    r"\b(?:big|small|large|old|good|bad|important|late|early|slow|fast|long|short|high|low|most"
    r"|some|many|few|other|such)\b",
    re.I,
)
UP_TO = re.compile(
    r"\b(?:up to|at most|at least|no more than|less than|more than"
    r"|within)\b",
    re.I,
)
# What may follow a comma inside an outcome; anything else may be another case.
GOES_ON = re.compile(
    rf"[;–—]|\band (?!(?:{_ALTERNATIVES}|then|also|to|a|an|the \w+$)\b)[\w'-]+(?: "
    rf"[\w'-]+){{0,2}} (?:{_ALTERNATIVES})\b|"
    r",\s*+(?!(?:then|not|no matter|please)\b)"
    r"|\bneither\b|\bones\b|\bothers\b",
    re.I,
)
# Adjectives that narrow what a number is of: conditions of their own.
NARROWING = re.compile(
    r"\b(?:new|existing|first|repeat|regular|gold|silver|premium|vip|trial|paid|free|online"
    r"|overseas|weekend|weekday|express|"
    r"standard|senior|junior|private|corporate|local|foreign|remote|part-time"
    r"|full-time|urgent|late|early|"
    r"standing|rush|bulk|walk-in|\w{3,}(?:ional|estic|ial|ary|ive|ous|able))\b",
    re.I,
)
FOR_SOME = re.compile(
    r"\b(?:on|at|during|over) (?:the )?(?:weekends?|weekdays|holidays|bank holidays|mondays"
    r"|fridays|saturdays|sundays)\b"
    r"|\b(?:during|while|at night|in (?:winter|summer|spring|autumn|high season|low season))\b"
    r"|\b(?:with|without) (?:an? |the |their |proof|valid |original )*(?:receipts?|tickets?"
    r"|cards?|coupons?|codes?|id|proof|"
    r"invoices?|prescriptions?|pass|passport|membership|note|licen[cs]e)\b"
    r"|\bfor (?:members|students|seniors|children|adults|staff|guests|vips?|visitors|new "
    r"customers)\b",
    re.I,
)
# Where or whence something is: a condition of its own beside a number.
PLACED = re.compile(
    r"\w+ (?:from|to|in|at|on|into|without|under|via|outside|inside) (?!total\b|value\b|a row\b"
    r"|their\b|its\b|length\b)\w+",
    re.I,
)
PLACE = re.compile(r"\s(?:from|to|in|at|on|into|past) (?!total\b|value\b|a row\b|length\b)", re.I)
# What may follow a later condition at once: an outcome whose verb was said before.
LATER = re.compile(
    r"\s(?:to|by|a|an|the|at|to|half|full|free|no|none|once|twice|double|three|two"
    r"|one|[$€£]?\d)\b",
    re.I,
)
OTHERWISE = re.compile(r"\s*[,;:–-]\s*(?:otherwise|else|if not),?\s+(?P<then>.+)", re.I)
# `Racking: up to 400 kg …`, `Late pick-up... over 10 minutes …`
LABEL = re.compile(
    r"(?!(?:if|when|otherwise|unless|for|any"
    r"|all)\b)(?P<label>[A-Za-z][A-Za-z' -]{2,50}?(?:, [a-z' ]{2,30})?)"
    r"(?::|\.\.\.|…)\s(?=.*\d)",
    re.I,
)
PLAINER = (
    (re.compile(r"\b(under|over)[- ](?=\d+s\b)(\d+)s\b", re.I), r"people \1 \2"),
    (re.compile(r"\b(if|when|unless) (?:both|either)\s", re.I), r"\1 "),
    (re.compile(r"\bhalf an hour\b", re.I), "30 minutes"),
    (re.compile(r"\bup to but not including\b", re.I), "up to just under"),
)
LOWER = re.compile(
    r"(?:\b(?P<with>from|at least|starting (?:at|from))|\b(?:over|above|more than|after|beyond"
    r"|past"
    r"|(?:longer|older|heavier|higher|larger|bigger|greater|warmer|colder) than))\s*$",
    re.I,
)
UPPER = re.compile(
    r"\s?,?(?:\s?(?:and|but|through))?\s(?:(?P<without>(?:up to just )?under|below|(?:less|fewer"
    r"|lower|lighter|shorter|younger) than)|up to(?: and including)?|at most|until|no more than"
    r"|not (?:over|above|more than))\s",
    re.I,
)
AND_UP_TO = re.compile(r",?\s(?:and |but )?(?:up )?to (?:and including )?[₩$€£]?(?=\d)", re.I)
# Words that only say how a sentence is built. Any other must be in a row.
NO_MORE = re.compile(
    r"\bno ?one else|\bnothing else|\bnobody else|\bnone of the (?:others|rest)|\bif not\b"
    r"|\b(?:no|not) (?:more|less|fewer|later|longer|older|younger|earlier|higher|lower|larger"
    r"|heavier) than"
    r"|\bnot (?:over|above|exceeding)"
)
SPOKEN = re.compile(r"(?<![\w-])[a-z][a-z'-]*")
FORM = (
    LINKS
    | ARTICLES
    | BARE
    | words(
        "if when whenever where once unless except provided case which so as long soon any time "
        "case "
        "and or but while whereas than more less fewer greater higher longer larger bigger older "
        "heavier later warmer hotter taller wider faster further farther lower shorter smaller "
        "younger lighter earlier cheaper sooner colder cooler closer newer nearer slower over "
        "above "
        "under below beyond past after before within by up down upwards upward onwards onward "
        "between through until till exceeding exceeds exceed excess least most maximum minimum max "
        "min inclusive including otherwise else other others rest remainder remaining everyone "
        "everything everybody anyone anything anybody someone one ones two three four five six "
        "seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty ninety hundred "
        "thousand million billion dozen half k m am pm noon percent per cent won dollars dollar "
        "euros euro pounds pound krw usd eur gbp january february march april may june july august "
        "september october november december jan feb mar apr jun jul aug sep oct nov dec then "
        "there "
        "it's that's he's she's they've who's you've just also simply people who whoever whose "
        "with "
        "day date point time days hours minutes being had this these must should can you we they "
        "even marked labelled labeled tagged flagged classed rated classified "
        "orders amounts items starting st nd rd th inside ago"
    )
)
SINCE = re.compile(r"(?:before|after|since|past) \w")
MEASURED = re.compile(
    r"(?!(?:old|long|away|late|overdue|early|wide|high|heavy|deep|tall|apiece|ago|inclusive"
    r"|each)$)[a-z-]+"
)
COMPARATIVE = re.compile(
    r"\b(?:less|more|fewer|over|under|above|below|least|most|than|that|those|this|these|it"
    r"|worth|\w+[^aeiou]ier)\b",
    re.I,
)
PERIOD = re.compile(r"(?:this|in the (?:last|past)|in an?|per|an?) [\w ]+")
PROVIDED = re.compile(
    r",?\s(?:provided(?: that)?|as long as|so long as|(?:but )?only (?:if|when)|if|when)\s", re.I
)
SEPARATE = re.compile(r"\s*[,;–—]\s+(?:and |but )?")
PREDICATE = re.compile(
    rf"^(?:[\w'-]+ ){{1,4}}?(?:{_ALTERNATIVES})\b|^(?:no|free|half"
    rf"|full)\b",
    re.I,
)
STATE = re.compile(r"\b(?:is|are) (?!due\b)[a-z]+$", re.I)
# `Returns are free within 14 days` says its outcome before the limit.
SAYS_ALL = re.compile(
    r"\b(?:is|are|was|were)\s+(?!\w+(?:ed|ing)\b|made|sent|bought|worth|between|from|in\b|a\b"
    r"|an\b)[a-z]+|\bfree\b|\bno\b",
    re.I,
)
WHICH = re.compile(r"\s(?:that|who|which)(?:'s|'re| is| are| was| were| has been)?\s", re.I)
BARE_LIMIT = re.compile(
    r"(?:(?:anything|everything|anyone|everyone|those|amounts?|orders?"
    r"|ones)\s)?(?:at or )?(?:up to|over|above"
    r"|under|below|(?:more|less|fewer|longer|older|younger|heavier|lighter|higher|lower|larger"
    r"|smaller"
    r"|cheaper|earlier|later) than|at (?:least|most)|from|between|within|after|before|beyond"
    r"|past|until)\b",
    re.I,
)
SHORT = re.compile(
    r"^(?:[₩$€£]?\d[\d,.]*\S*(?: [a-z-]+){0,3}|free|half price|full price"
    r"|nothing|none)$",
    re.I,
)
ITEMS = re.compile(r",?\s(?:and|or)\s|,\s")
LIMITED = re.compile(r"\s(?:(?:for|on|if|when|with)\s)?", re.I)
# Words after which another clause begins: what stands before them is no subject.
WITHIN = re.compile(r"\w+ (?:if|when|because|while|where|so|needed|required)\b", re.I)
THINGS = re.compile(rf"\s(?:(?!(?:{_ALTERNATIVES})\b)[a-z]+s(?=[\s,:])|[a-z]+s$)", re.I)
DENIED = re.compile(r"\b(?:nobody|none|not|never|no|without)\b|n't\b", re.I)
SOME = re.compile(
    rf"(?:gold|silver|new|existing|regular|premium|vip|paid|trial|full-time|part-time|student"
    rf"|senior)? ?"
    rf"(?:members?|students?|staff|employees?|contractors?|interns?|managers?|seniors"
    rf"|subscribers|clients|customers|guests|users|"
    rf"tenants|residents|visitors|drivers|patients|children|kids|adults) (?:{_ALTERNATIVES})\b",
    re.I,
)
SEPARATOR = re.compile(
    r"(?:\s*[;–—]\s*|,\s+|\.\s+|\s+(?=(?:and|but|while|whereas|unless|except)\s))"
    r"(?:(?:and|but|while|whereas)\s+)?"
)
AND = re.compile(r"\s*,?\s+and\s+(?:also\s+)?", re.I)
OR = re.compile(r"\s*,?\s+or\s+", re.I)
