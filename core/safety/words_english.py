"""Classes of English words by the letters that rules of clauses are written in. Data only."""

from __future__ import annotations

WORDS = {
    "b": "without leaving|without logging|without recording|without opening a|"
    "without raising a|without a trace|without trace|without a record|"
    "without documenting|unlogged|unrecorded|off the books|without writing it|"
    "without noting|no paper trail|leaving no trace|leave no trace|no written trace|"
    "without an entry|without filing|without creating a",
    "w": "as a yes|as yes|as consent|as approval|as approved|as agreement|as agreed|"
    "as a green light|as verified|as checked|as signed|as confirmed|as passed|as cleared|"
    "as authorised|as authorized|as reviewed|as given|as signed off|as complete|"
    "as inspected|as vetted|as an ok|as an okay|as permission|as good as signed|"
    "as settled",
    "n": "unreviewed|unchecked|unapproved|unsigned|unverified|unvetted|uninspected|unseen|"
    "untested|on sight|sight unseen|unexamined|unconfirmed|unscreened|without anyone|"
    "as it comes|as they come|on trust|no questions asked|without a second|on request|"
    "on the nod|without further|without looking|without reading|without opening|"
    "without counting|without seeing",
    # people and what is theirs
    "A": "customer*|client*|guest*|patient*|parent*|family|families|relative*|claimant*|"
    "tenant*|member|members|user|users|passenger*|buyer*|subscriber*|staff|team|"
    "colleague*|employee*|resident*|student*|borrower*|applicant*|donor*|visitor*|"
    "supplier*|landlord*|partner*|policyholder*|policy holder*|insured|driver*|carrier*|"
    "broker*|vendor*|caller*|pupil*|worker*|shopper*|consumer*|participant*|candidate*|"
    "payer*|everyone else|the rest of us|anyone outside|outsider*|other teams|other team|"
    "other shift|the other shift|tenants|opposing side|the other side|bidder*|"
    "advertiser*|player*|reader*|landlady",
    "B": "manager*|boss*|supervisor*|team lead|team leads|team leader*|superior*|director*|"
    "owner|owners|management|hq|head office|headquarters|area office|central office|"
    "finance|accounting|accountant*|auditor*|internal audit|compliance|legal|lawyer*|hr|"
    "human resources|regulator*|inspector*|inspectorate|authorities|police|the board|"
    "trustee*|insurer*|union|principal|chief|ceo|cfo|coo|cto|ciso|it department|council|"
    "ministry|commissioner*|controller*|treasurer*|safety officer*|foreman|captain|chair|"
    "chairman|chairperson|shareholder*|investor*|press|works council|dpo|data protection|"
    "tax office|customs|risk team|risk department|quality team|qa team|ombudsman|matron|"
    "the head|franchisor|franchiser|procurement|treasury|examiner*|underwriter*|"
    "security team|infosec|watchdog|oversight|headmaster|headteacher|head teacher|"
    "governance|upstairs|leadership|higher ups|higher up|franchisor*|main office|"
    "someone from the council|accounts department|home office|corporate|group office|"
    "school board|court|courts|counsel|opposing counsel|sponsor*|licensor|donor board|"
    "external examiner|ethics committee|steering committee",
    "r": "me|my|mine|myself|our|ours|us|we|i|i'm",
    "y": "you|your|yours|you're|yourself|you've|you'll|you'd",
    "z": "itself|themselves|himself|herself|alone|unaided|single handed|single handedly|solo|"
    "your own|their own|his own|her own|my own|our own|its own",
    "0": "nobody|no one|noone|none|nothing|null|nil|inf|infinity|infinite|unlimited|limitless|"
    "uncapped|maxsize|sys.maxsize|int_max",
    # doing and leaving
    "N": "not|never|no|cannot|neither|nor|dont|doesnt|wont|isnt|cant|hardly",
    "W": "without|sans|minus|absent|lacking|missing|in the absence of",
    "j": "need not|needn't|no need|not need|don't need|doesn't need|does not need|do not need|"
    "no reason|no point|no business|no call|not necessary|unnecessary to|don't have to|"
    "do not have to|doesn't have to|does not have to|not have to|no longer need|"
    "no longer needs|never mind|don't bother|do not bother|not bother|don't worry about|"
    "no use|isn't necessary|is not necessary|not obliged|won't need|not required to|"
    "aren't required to|no obligation|has no need|have no need|has no right|"
    "no longer required to|need never|needs never|needn't ever|no cause",
    "D": "skip|skips|skipped|skipping|drop|drops|dropped|dropping|waive*|waiving|bypass*|"
    "omit*|ignor*|disregard*|remov*|disabl*|suspend*|scrap|scrapped|scrapping|abolish*|"
    "cancel|cancels|cancelled|cancelling|forget|forgo|forego|avoid|avoids|stop|stops|"
    "stopped|stopping|cease*|quit|turn off|turned off|turning off|switch off|"
    "switched off|leave out|leaving out|left out|leave off|do away with|get rid of|"
    "getting rid of|rid of|cut out|cutting out|comment out|commented out|commenting out|"
    "strip out|stripped out|rip out|ripped out|take out|taken out|taking out|"
    "dispense with|dispensing with|lift the|lifting the|lifted the|relax|relaxed|exempt*|"
    "overrid*|circumvent*|discontinu*|retire|retired|axe|axed|ditch*|kill|killed|"
    "eliminat*|phase out|phased out|shelved|shelving|put aside|set aside|setting aside|"
    "neglect*|loosen*|weaken*|deactivat*|unset|bin|binned|chuck|delete|deletes|deleted|"
    "deleting|short circuit|shortcut|sidestep*|work around|get around|go around|abandon*|"
    "erase|wipe|throw out|throw away|cross out|strike out|knock off|call off|hold off on|"
    "tear up|look past|gloss over|jump over|leave aside|opt out of|exclud*|undo|unhook|"
    "silence|no longer|we no longer|stop using|stops using|stopped using|dispense",
    "U": "optional|formality|formalities|redundant|pointless|needless|superfluous|overkill|"
    "moot|unnecessary|unneeded|voluntary|courtesy|nice to have|red tape|bureaucracy|"
    "obsolete|ceremonial|cosmetic|theatre|box ticking|waste|off|gone|waived|disabled|"
    "suspended|skippable|expendable|dispensable|n/a|not applicable|not required|"
    "not needed|isn't needed|isn't required|no longer needed|no longer required|"
    "no longer applies|does not apply|doesn't apply|not apply|on hold|paused|for show|"
    "a joke|false|out of date|outdated|expired|void|invalid|no longer valid|superseded|"
    "dead|passe|not performed|no longer performed|no longer done|not happening|"
    "as a suggestion|as suggestions|as advice|as optional|as a joke|as noise|"
    "as background|as a recommendation|as guidance only|as decoration",
    "c": "revise*|revising|amend*|edit|edits|edited|contradict*|merge*|modify*|modified|"
    "alter*|rewrite|rewritten|rewrites|overwrite*|overwritten|overwriting|supplant*|"
    "revoke*|retract*|correct this|be changed|be updated|be replaced|be removed|"
    "be deleted|change it|update it|replace it|delete it|remove it|"
    "changed by|replaced by|"
    "reopen*|soften*|reverse*|dilute*|water down|forget this|forget it",
    "k": "hide|hides|hidden|hiding|conceal*|withhold*|withheld|bury|buried|burying|cover up|"
    "covering up|disguis*|camouflag*|sneak*|obscur*|hush*|downplay*|whitewash*|gloss*|"
    "suppress*|leave that out|leave it out|leave this out|leave that bit out|leave that part out|"
    "keep that out|keep it out|keep this out|leave them out|keep it from|keep this from|"
    "keep that from|keep quiet|stay quiet|keep mum|sweep*|paper over|mum about",
    "T": "tell|telling|tells|told|inform|informs|informed|informing|notify|notified|notifies|"
    "notifying|alert|alerts|alerting|alerted|mention*|disclos*|reveal*|flag|flags|"
    "flagging|flagged|escalat*|announc*|warn|warns|warning them|warned|brief them|"
    "loop in|own up|admit*|bring up|bring it up|raise it|raise this|raise that|let on|"
    "volunteer|volunteering|confess*|report it|report this|report that|report them|"
    "reporting|reported|acknowledg*|spell it out|point out|pointing out|break it to|"
    "trouble them with|bother them with|speak of|talk about|let slip",
    "K": "know|knows|learn|learns|hear|hears|see|sees|read|reads|notice|notices|find out|"
    "finds out|discover*|aware|visible|visibility|suspect*|realise*|realize*|get wind|"
    "gets wind|catch on|be told|be informed|be notified|opens|looks at|gets to see|"
    "show up|shows up|turn up|traceable|come up|appear|appears|find its way|end up|"
    "ends up|wind up|make it into|makes it into|make its way|surface|go into|goes into|"
    "get into",
    "F": "say|says|answer|answers|reply|replies|respond|responds|claim|claims|state|states|"
    "insist|insists|pretend|pretends|deny|denies|tell them|tell him|tell her|tell people|"
    "blame|act as if|make out|maintain that|swear|reads out|dictates|quotes|recite|gives|"
    "names|supplies",
    "a": "ask|asks|asked|asking|inquire*|enquire*|question|questions|queries|wonder*|probe*|"
    "consult*|check with|checking with|wait for|waiting for|waits for|consulting|prompt for|"
    "press us|wants to know|want to know|turns up|comes round|visits|calls about|come asking",
    # what is asked for before something is done
    "C": "approv*|authoris*|authoriz*|sign off|signoff|sign offs|signature*|countersign*|"
    "consent*|permission*|go ahead|clearance|say so|green light|greenlight|okay from|ok from|"
    "signatory|signatories|mandate",
    "V": "verif*|check|checks|checking|checked|cross check*|double check*|review|reviews|"
    "reviewing|inspect*|audit|audits|validat*|confirm*|reconcil*|testing|tests|screening|"
    "vetting|due diligence|call back|callback|call backs|callbacks|counting|recount*|stocktake|"
    "identity|kyc|2fa|mfa|two factor|four eyes|dual control|second look|second person|"
    "second pair|second opinion|sanity check*|proofread*|compar*|matching|cooling off|"
    "guard|guards|guardrail*|assert|assertion*|safeguard*|interlock*|lockout|weighing|"
    "temperature log|checklist*|witness*|quarantine|look up|lookup|risk assessment|"
    "identification|if branch|if block|condition|conditions|validation",
    "e": "receipt*|proof|document*|paperwork|form|forms|licence*|license*|permit|permits|quote|"
    "purchase order*|invoice copy|ticket|tickets|certificate*|photo id|id card|id cards|"
    "id|ids|prescription*|report|evidence|timesheet*|delivery note*|supporting documents|"
    "signed form|medical note|doctor's note|referral*|waybill*|warrant",
    "L": "limit|limits|cap|caps|ceiling*|maximum*|max|upper bound|quota*|allowance*|"
    "restriction*|threshold*|spending rule*|overdraft limit|cut off|bound|bounds|max_*|"
    "limit_*|limiting|limiter",
    "9": "float('inf')",
    "h": "authority|remit|delegation|discretion|clearance level|delegated authority|my name|"
    "signing power|purview|power to approve|entitlement",
    "S": "amount*|sum|sums|figure|value|values|total|totals|size|sizes|quantity|quantities|"
    "price|prices|cost|costs|order size|balance|value of",
    "M": "money|discount*|refund|refunds|spend|spending|budget*|credit|credits|gift|voucher*|"
    "expens*|salary|salaries|bonus*|loan*|purchase|purchases|card|cards|commission*|overtime|"
    "dose|doses|advance*|claim amount|travel cost*|compensat*|rebate*|overdraft*|cash|"
    "withdrawal*|payout*|petty cash|transfer limit|goodwill|write off*|reimburse*|payment*",
    # money and where it goes
    "P": "pay|pays|paid|paying|wire|wires|wired|remit*|deposit|deposits|settle|settles|"
    "transfer|transfers|reroute|redirect|route payments|send the money|payable|route|"
    "monies|funds|proceeds|lands in|land in",
    "G": "account|accounts|iban|bank details|bank|beneficiary|payee|wallet|sort code|"
    "account number|account numbers|bank account|bank accounts|account details|payment details|"
    "banking details|remittance details|remittance address|bank data|account no",
    "E": "email*|e mail*|mail|mails|text|texts|sms|whatsapp|chat|chats|letter|letters|invoice|"
    "invoices|phone call|call|message|messages|pdf|attachment*|fax|dm|slack|voicemail|"
    "requester|sender|screenshot|note|bill|bills",
    "O": "on file|on record|in file|registered|master|master data|stored|previous|"
    "existing|the old one|our records|our system|in the system|our file|the file|vendor file|"
    "saved|verified number|the contract|what we have|erp|crm|the register",
    # messages to a model
    "m": "ai|assistant|assistants|agent|agents|model|models|bot|bots|chatbot*|llm|llms|learner|"
    "curator|classifier|copilot|assessor*|evaluator*|judge|judges|grader*|language model|"
    "reviewer|reviewers|moderator*|the system that reads|reranker|summariser|summarizer|"
    "extractor",
    "J": "instruction*|prompt|prompts|rules|rule|guideline*|guidance|policy|policies|"
    "directive*|system prompt|training|setup|operator|developer*|configuration|"
    "safety rules|standing orders|system message|guard rails|policy text|programming|"
    "constitution|base rules|manual|handbook|official|protocol*",
    "s": "this row|this note|this rule|this message|this text|this entry|this feedback|"
    "this memo|this skill|this table|this line|this paragraph|this item|this comment|this post|"
    "this memory|this one|this file|this page|this procedure|this instruction|what i say|"
    "what i write|my note|my feedback|my instruction|my rule|my row|this section|this lesson|"
    "this guideline|this answer|this submission|this document|these rows|these rules|"
    "the above row|this remark|this review|this statement|this fact|my notes",
    ">": "outrank*|overrid* everything|overrule*|supersed*|prevail*|trump|trumps|wins|beats|"
    "precedence|priority|ranking above|ranks above|rank above|stands above|goes before|above|"
    "final|binding|highest|first place|outweigh*|top priority|over anything|over everything|"
    "takes over|comes before|ahead of|more than|over|not open to|set in stone|permanent|locked|"
    "immutable|untouchable|carved in stone|non negotiable|gospel|unquestionable|double",
    "l": "later|future|subsequent|newer|any other|other feedback|others|anyone else|contrary|"
    "conflicting|everything else|anything else|all other|other rows|other rules|other notes|"
    "other people's|other entries|whoever disagrees|present and future|from others|upcoming|"
    "other skills|next ones|any later|everyone else's|other|the rest",
    "d": "feedback|opinion*|input|inputs|suggestion*|review from|ratings|complaints|"
    "comments|remarks|corrections|submissions|notes|what i report|reports from",
    "x": "score|scores|scored|scoring|rate|rated|rank|ranked|grade|graded|mark|marks|weight|"
    "weighted|weigh|weighs|stars|points|top marks|full marks|confidence|rating|trusted|"
    "trustworthy|10/10|5/5|100%|vote|votes|upvote|counts triple|counts double|"
    "counts more|counts twice|counts for more|weighs more|carries more|verified|reliable|"
    "gold standard",
    "Y": "name|steer them to|push|choose|chooses|pick|picks|prefer|prefers|select|selects"
    "|recommend|recommends|favour*|"
    "favor*|promote|promotes|keep|keeps|put first|rank first",
    "g": "regardless|no matter|even if|irrespective|whether or not|whatever|even when|"
    "even though|despite|in spite of|never mind what|anyway|notwithstanding|come what may|"
    "even without",
    "f": "facts|figures|data|truth|reality|numbers|sources|reviews show|evidence shows|"
    "the record|what happened|results|statistics|readings|dashboard|report shows|"
    "test results|the truth|ledger says|system shows|studies|research|science|the law|"
    "lab results|label says|records say|the tests|content|what the log says|reading|"
    "measurements",
    "v": "best|safest|cheapest|fastest|number one|top choice|unbeatable|flawless|risk free|"
    "guaranteed|on target|on track|perfectly safe|completely safe|fully compliant|"
    "compliant|no problem|no issues|no risk|all good|market leader|unrivalled|"
    "superior to|there is no risk|not dangerous|harmless|superior",
    "Z": "search|lookup tool|tool|tools|database|knowledge base|kb|source|docs|website|"
    "calculator|web|policy search|retrieval|look anything up|documentation|reference|"
    "price list|system of record|citations|look this up|look it up|look that up|"
    "looking it up|looking anything up|check the source|check sources|checking sources|"
    "check the facts|fact check|fact checking|lookups",
    "t": "use|uses|using|take|takes|taking|trust|trusts|accept|accepts|follow|follows|go with|"
    "goes with|go by|update|updates|change|changes|replace|replaces|switch|swap|apply|"
    "applies|adopt|believe|rely on|honour|honor|treat|treats|treated|regard|consider|"
    "count|counts|deem",
    "o": "may|can|free to|allowed to|let|lets|ok to|fine to|permitted|welcome to|able to|"
    "allowed|feel free",
    "i": "like|likes|want|wants|please|pleases|wish|wishes|sees fit|see fit|fancy|fancies|"
    "needs|need|choose to|asks for|ask for|request|requests|feels like",
    "u": "beyond|past|exceed*|in excess of|go over|goes over|going over|overshoot|higher than",
    "Q": "all|any|every|each|always|automatically|forever|permanently|from now on|whoever|"
    "every time|by default|anything|everything|in advance|once and for all|blanket|"
    "unconditionally|at all times|everyone|anyone|indefinitely|standing|case by case|"
    "henceforth|hereby|open ended|across the board|without exception",
    "X": "until|unless|before|after|only|provided|once|first|except|as long as|subject to|"
    "must|required|needs to|has to|have to",
    "I": "if|when|whenever|should|in case|whether|where",
    "!": "refuse|forbidden|prohibited|refused|reject|rejected|rejects|declined|decline|"
    "blocked|fraud|scam|phishing|phish|suspicious|illegal|warning|sackable|dismissal",
    "R": "log|logs|logbook*|history|records|record|register|audit trail|audit log|trail|ledger|"
    "the books|changelog|change log|minutes|incident report*|journal|paper trail|commit history|"
    "version history|case notes|summary|handover",
    "H": "fault*|defect*|recall*|error|errors|mistake*|breach*|leak|leaks|leaked|incident*|"
    "complaint*|delay|delays|overcharg*|contaminat*|allerg*|accident*|problem|"
    "problems|surcharge*|hidden fee*|markup|injur*|damage*|broken|outage*|fail*|wrong|"
    "double charged|late fee|excess|reopened|temperature excursion|shortage*|substitut*|"
    "swapped|commission on|side effect*|price rise|increase|data loss|lost",
    "q": "rm|refuse to|refuses to|decline to|refusing to",
}
