"""The English words by which pieces of rules are told apart (data of `english_pieces`)."""

from __future__ import annotations

import re

from core.agent.offline.stated.english_words import ELSE as _ELSE
from core.agent.offline.stated.english_words import MORE_VERBS as _MORE
from core.agent.offline.stated.english_words import VERB as _VERB

CUT = re.compile(
    r"\s*[,;:?]\s+(?:(?:and|but|while|so|then|or)\b(?! (?:not|if not)\b) ?)?|\s+(?=(?:except"
    r"|unless)\b)|\s+(?:and|but|while)\s+|\s+[-–—]+>?\s+|\s*=>?\s*",
    re.I,
)
LEAD = re.compile(
    r"^(?:(?:in which case|in that case|who|which|those|then that's|those are|that one is|um+|uh"
    r"|so|well|ok|okay|oh|hey|hi|basically|just|only|please|also|and|but|then|btw|fyi"
    r"|remember|note|again|actually|right|now|look|listen|anyway|from now on|going forward"
    r"|as a rule|for the record|quick one|heads up|reminder|it's|it is|while)\b[,:]?\s+)+",
    re.I,
)
# What is left over.
REST = re.compile(
    r"(?:(?:for|in|on|at|to|with|if it's) )?(?:"
    r"(?P<none>no ?one|nobody|nothing) else"
    r"|(?:everything|everyone|everybody|anything|anyone|anybody|all|anywhere|everywhere) else"
    r"|(?:all |any |every |the )?others?\b(?!-)(?: (?!is\b|are\b|gets?\b|pays?\b|goes\b|go\b|must\b"
    r"|shall\b|should\b|can\b|may\b|needs?\b|have\b|has\b|stays?\b|costs?\b|just\b)[\w-]+)?"
    r"|(?:all |any |every )(?:\w+ )?other [\w-]+(?: of \w+)?"
    r"|(?:all )?the (?:rest|remainder|remaining(?: [\w-]+)?)(?: of (?:the \w+|them|you|us))?"
    r"|outside (?:of )?(?:that|this|those|these)(?: (?:range|band|window|hours|limits))?"
    r"|the rest|failing that|or else|otherwise"
    r")\b"
    r"|if (?:not\b(?= *$)|(?:it|they|he|she|that|this|either|neither|one|any|none|both|you|there)"
    r"(?: (?:one|of (?:them|these|those|the two|the three)))?"
    r"(?:'s not| (?:isn't|is not|aren't|are not|doesn't|don't|does not|do not|hasn't|haven't"
    r"|didn't|wasn't|fails|fail|is missing|are missing|is false|does|is|are))"
    r"(?: (?:met|true|the case|there|so|hold|apply|applies|one|there))?(?= *$))",
    re.I,
)
ELSE = _ELSE
SUB = re.compile(
    r"\b(?:but )?(?:only )?(?:if|when|whenever|where|once|provided(?: that)?|as long as"
    r"|so long as|in case)\b",
    re.I,
)
PRONOUN = re.compile(r"(?:it|they|he|she|you|we|that|this|these|those|i|there|one|who|which)", re.I)
_UP = (
    "more|greater|higher|longer|larger|bigger|older|heavier|later|further|farther|taller|warmer"
    "|hotter|wider|deeper|thicker|faster|stronger|above|over|beyond|past|after"
)
_DOWN = (
    "less|fewer|lower|shorter|smaller|younger|lighter|earlier|cheaper|sooner|colder|nearer"
    "|cooler|slower|shallower|thinner|narrower|newer|weaker|closer|below|under"
)
_OF = (
    r"(?:(?:for|on|with|if it's|if they're|if it is) )?(?:(?:anything|everything|anyone|everyone"
    r"|any|all|the|those"
    r"|ones|amounts|orders|people|customers|\w+s) (?:(?:who|that|which) [a-z]+ )?)?"
)
BEYOND = re.compile(
    rf"{_OF}(?:(?P<up>{_UP})|(?P<down>{_DOWN}))(?: than)?(?: (?:that|this|it|those))?\b"
    r"(?: (?:ones?|[a-z]+s)(?=,|$| (?:is|are|needs?|gets?|get|go|goes|pay|pays|cost|costs|must"
    r"|can|ship)\b))?"
    r"|(?P<between>(?:anything )?in[ -]between(?: (?:that|those|the two|them))?"
    r"|(?:anything )?between (?:those|these|them|the two)(?: two| limits)?)",
    re.I,
)
STATES = re.compile(
    r"\d|\b(?:no|free|half|full|double|triple|nothing|none|nobody|never|zero)\b", re.I
)
# `$40 for parking over the line`: what stands before the preposition is the outcome.
OF = re.compile(r" (?:for|on|in|at|to|with) (?=(?!least|most|once|hand|all|least|full)\w)", re.I)
IS = re.compile(
    r"(?P<what>.+?)(?P<is>'s|'re| is| are)(?P<no> not|n't)? "
    r"(?:(?:in|on|at|from|for) )?(?:(?:an?|the) )?(?P<value>[\w' -]+)",
    re.I,
)
THERE = re.compile(
    r"there(?:'s| is| are)(?P<no> no|n't any|n't a)? (?:an? |any )?(?P<what>[\w' -]+)", re.I
)
HAS = re.compile(
    r"(?:.+? )?(?:(?P<has>has|have|having|carries|includes|with)(?P<no> no)?|(?P<out>without"
    r"|doesn't have|don't have)) (?:an? |any |the )?(?P<what>[\w' -]+)",
    re.I,
)
NOT = re.compile(
    r"\b(?:not|doesn't|don't|isn't|aren't|hasn't|haven't|no|never|cannot|can't)\b", re.I
)
# One thing holds for some whatever else is told.
TRUMPS = re.compile(
    r"\s*\b(?:regardless(?: of [\w ]+)?|no matter [\w ]+|however (?:\w+) [\w ]+|whatever [\w ]+"
    r"|(?:at |on )?any (?:time|day|hour)|in any case"
    r"|either way|in every case|doesn't matter [\w ]+)$|\balways\b",
    re.I,
)
MORE = re.compile(r"\b(?:extra|additional|plus|on top|surcharge|added|another|again)\b", re.I)
UNLESS = re.compile(r"(?P<then>[^,]+?),? unless (?P<when>[^,]+)", re.I)
# `shipping to Canada is $15`: the place is the value.
SUBJECT = re.compile(
    r"(?:[\w'-]+ ){1,2}(?:to|in|for|from|on) (?:the )?(?=(?:[\w'-]+ ){1,3}(?:is|are|costs?"
    r"|takes?) )",
    re.I,
)
WITH = re.compile(r" (?:with|without|in|from) ", re.I)
RULES = re.compile(
    r"^(?:is|are|gets?|pays?|costs?|goes|go|needs?|must|should|shall|may|can|can't|cannot|won't"
    r"|receives?|earns?|has to|have to|stays?|ships?|requires?|take|takes|don't|doesn't|never)\b",
    re.I,
)
STORY = re.compile(
    r"^who\b|\b(?:i|my|me|someone|somebody|yesterday|last (?:week|month|year|night|time)|was"
    r"|were|had"
    r"|whom|why|knows?|thinks?|loves?|hates?|because|ago)\b",
    re.I,
)
SPAN = re.compile(
    r"^ (?:'? ?notice"
    r"|ahead|left|remaining|in advance|of notice|of service|overdue|old|late|early|long|wide"
    r"|high|tall|deep|thick|away|or so|each|before(?: \w+)?)+\b",
    re.I,
)
# What an outcome does not hold.
STRAY = re.compile(
    r"[,;:()?=]|->|\b(?:but|even|though|although|unless|except|if|when|however|or any|whereas"
    r"|because"
    r"|otherwise|until|been|else|others?|the rest|which|who|that \w+s)\b|(?<!-)\bonly$"
    rf"|\b(?:any|every)(?:thing|one) (?:{_UP}|{_DOWN})\b|\b(?:{_UP}|{_DOWN}) (?:that|this)\b",
    re.I,
)
# Days and times of which an outcome may hold only then.
CALENDAR = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|(?:bank "
    r"|public )?holidays?"
    r"|mornings?|afternoons?|evenings?|nights?|summer|winter|january|february|march|april|june|july|august"
    r"|september|october|november|december|peak|off-peak)\b",
    re.I,
)
FOR_SOME = re.compile(
    r" (?:for|on|during|with|without|to|in) (?!all\b|everyone\b|total\b|full\b|advance\b"
    r"|the spot\b|top\b)[a-z]",
    re.I,
)
PLACE = re.compile(
    r"\b(?:on|in|at) (?:the )?(?:level|lane|floor|gate|door|desk|bay|shelf|seat|row) ?\w*\b", re.I
)
# `orders with a gift note get …`
HELD = re.compile(
    r"(?:[\w'-]+ ){1,2}(?P<how>with|without) (?:an? |any "
    r"|the )?(?P<no>no )?(?P<what>[\w'-]+(?: [\w'-]+)?) "
    r"(?P<then>(?:is|are|gets?|ships?|goes|go|pays?|costs?|needs?|must|can|cannot|can't|should|may|receives?|stays?|\$|free|need)\b.*)",
    re.I,
)
SINCE = re.compile(r"(?<=\d), sorry\b.*$|, (?:we can't|we don't) .*any more$", re.I)
# `You mixed up overtime again: …`
TOLD = re.compile(r"^(?:you|someone|the bot|the assistant|we)\b[^:.\d]{3,50}: (?=\w)", re.I)
AUXILIARY = re.compile(
    r"(?:can|could|may|might|will|would|should|must|shall|do|does|did|don't|is|are|be|have|has|get|go|let|please|use"
    r"|give|send|charge|ask|tell|apply|make|keep|put|take|ship|add|pay|only accept|accept|reject"
    r"|approve|refuse|offer)",
    re.I,
)
TAKEN_BACK = re.compile(r"\b(?:refund|return|exchang|cancel|credit|money back|warranty|free)", re.I)
LED = re.compile(r"(?:by|for|on|in|at|to|with|from|as|of|and|or)\b", re.I)
RELATIVE = re.compile(r"(?:any |all |the |an? )?[\w-]+ (?:that|who|which|whose) [\w ]{2,30}", re.I)
# Nouns that may be verbs, before what says how many: `leave requests of`.
NOUNS = re.compile(
    r"(?:any |all |the )?(?!it\b|they\b|you\b|we\b|he\b|she\b|who\b)(?:[a-z-]+ )?"
    r"(?:requests?|orders?"
    r"|claims?|returns|calls?|leaves|checks|reports?|tests?|refunds?|quotes?|loads?|bills?|tickets?)"
    r"(?: (?:of|with|for|worth|that are|lasting))?",
    re.I,
)
# An outcome without its verb: `yellow from 1 to 2 m`.
COLOUR = re.compile(
    r"(?:red|amber|yellow|green|blue|orange|white|black|purple|low|medium|high|urgent|bronze"
    r"|silver|gold|pass|fail|merit|distinction)",
    re.I,
)
NO_VALUE = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty"
    r"|hundred|thousand|dozen|half)\b|^\d|[:?]|\b(?:to|of|so|please|not|no|don't|never|than|that|who|which|whose|from|more|less|under|over|above"
    r"|below|within|then|always|if|when)\b",
    re.I,
)
FACT = re.compile(rf"\b(?:{_VERB}|{'|'.join(_MORE)})\b|\w+(?:ed|es|s)\b", re.I)
SEQUENCE = re.compile(
    r"\bfirst\b.*\bthen\b|\bthen\b.*\bthen\b|\bafter that\b.*\bthen\b", re.I | re.S
)
ALWAYS = re.compile(r" always ", re.I)
EXCEPT = re.compile(
    r"(?:except|unless|apart from|other than|but not)(?: (?:for|on|in|if|when|where|with))?\b", re.I
)
# `portraits $220`, behind a clause with a verb.
GAP = re.compile(
    r"(?P<value>(?:[^\W\d][\w'-]* ){1,4}?)(?P<then>(?:[$€£₩]|\d|half |full |nothing|none"
    r"|free|no |no$|yes$|never|not |once|twice|daily|weekly|monthly|an? |at |by |to |in |on "
    r"|within |every |up to |after |before |until ).*)",
)
