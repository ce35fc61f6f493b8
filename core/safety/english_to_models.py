"""What English sentences say to a model, and what they forge: turns, approvals. Data only."""

from __future__ import annotations

from core.safety.english_silence import SECURITY
from core.safety.rules import Rule, expression

_FOREIGN_ORDERS = expression(
    rf"{SECURITY}|\b(?:inside|in|within|from|contained in|found in) (?:a "
    rf"|an |the |any |their )?(?:customers?'?s? |guests?'? |incoming |supplier'?s? "
    rf"|user'?s? )?(?:mails?|e-?mails?|reviews?|attachments?|web ?pages?"
    rf"|tickets?|pdfs?|reviews)\b"
)
_DIRECTIVE = (
    r"(?:instructions?|prompts?|system (?:prompt|text)|guidelines?|guard ?rails?"
    r"|directives?|programming|(?:safety|content) (?:rules?|filters?|polic\w+)"
    r"|constraints?|restrictions?|set-?up|configuration|what(?:ever)? (?:you (?:were"
    r"|have been)|they|anyone) (?:told|taught|given)|training|orders)"
)
_MODEL = (
    r"(?:ai|a\.i\.|assistants?|agents?|models?|llms?|(?:chat)?bots?|language model"
    r"|copilot|classifier|learner|curator|extractor|(?:automated|automatic"
    r"|auto|ai|machine)[- ](?:reviewer|screen\w*|system|check\w*|moderator"
    r"|filter)|(?:security |content |safety )?(?:screener|moderator|scanner))"
)
RULES = (
    # ---- what speaks to a model
    Rule(
        "model_instruction.override",
        expression(
            rf"\b(?:ignor\w+|disregard\w*|forget\w*|overrid\w+|overrul\w+|set(?:ting)? aside"
            rf"|throw(?:ing)? (?:away|out)|bypass\w*|discard\w*|eras\w+|wip\w+"
            rf"|pay no (?:attention|heed) to|stop (?:following|obeying)|no longer (?:follow"
            rf"|obey|apply|bound)|do not (?:follow|obey)|don'?t (?:follow|obey)"
            rf"|cancel\w*|void|revok\w+|unlearn|replac\w+|supersed\w+|suspend\w*"
            rf"|drop|skip|disabl\w+|unset|bin|scrap)\b[^.;\n]{{0,40}}?\b(?:(?:all"
            rf"|any|every|your|previous|prior|earlier|above|preceding|existing"
            rf"|original|initial|base|built-in|system|other|standing|current|hidden"
            rf"|default|developer|operator'?s?|the|its|these"
            rf"|those)\s+){{1,4}}(?:\w+\s+){{0,2}}?{_DIRECTIVE}"
            rf"|\b{_DIRECTIVE}\b[^.;\n]{{0,50}}?\b(?:(?:is|are|be|were|now) (?:hereby "
            rf"|now )?(?:cancelled|canceled|void|revoked|suspended|obsolete|ignored"
            rf"|superseded|null|lifted|off|disabled|overridden|outdated)|no longer (?:appl\w+"
            rf"|count|bind|valid|in force)|do(?:es)?n'?t (?:apply|count)|had never been"
            rf"|never (?:existed|been given))|\b(?:ignore|disregard|forget) (?:everything"
            rf"|anything|all|whatever|what)(?: \w+){{0,3}} (?:above|before|said"
            rf"|told|learn\w*|taught|wrote|written|given)"
        ),
        needs=expression(
            r"\b(?:you|your|model|assistant|agent|bot|ai|system|prompt|previous"
            r"|prior|above|all|any|operator|developer|base|makers?|this (?:note"
            r"|message|text)|whatever)\b"
        ),
        unless=expression(
            _FOREIGN_ORDERS.pattern
            + r"|assembly|washing|care instructions|printer|wording of the|packing|seller"
        ),
    ),
    Rule(
        "model_instruction.override",
        expression(
            r"\b(?:this|these|the following|my|our) (?:memo|note|text|message"
            r"|rule|entry|skill|line|paragraph|instruction|document|feedback|knowledge"
            r"|words?|table)s?\b[^.;\n]{0,30}?\b(?:wins?|takes? (?:precedence"
            r"|priority)|overrides?|supersedes?|prevails?|outranks?|beats?|trumps?"
            r"|comes? first|(?:is|are|stands?|ranks?) (?:above|over|higher)|has? (?:priority"
            r"|authority)|replaces?)\b[^.;\n]{0,50}?(?:\b(?:instructions?|system"
            r"|polic\w+|operators?|developers?|rules?|guidelines?|prompt|anything"
            r"|everything|any other|all other|guard\w*|administrators?|documents?)\b)"
            r"|\b(?:higher|more) (?:\w+ )?(?:authority|priority|rank|weight"
            r"|trusted)? ?than (?:the |your |any |all )?(?:\w+ )?(?:rules?|instructions?"
            r"|system|developer|operator|guidelines?|polic\w+|prompt)|\b(?:above"
            r"|over) (?:the |your |any |all )(?:system|developer|operator|safety"
            r"|original|built-in) (?:rules?|instructions?|prompt|guidelines?|polic\w+"
            r"|message)|\b(?:people|ones?|team|person|company|those) (?:who|that) (?:built"
            r"|made|created|trained|programmed|configured|wrote) (?:you|it|the (?:bot"
            r"|assistant|agent|model))|\byour (?:makers?|creators?|developers?"
            r"|builders?|programmers?|owners?|operators?|admin\w*|trainers?)\b"
            r"|\b(?:only|sole|single|highest|final|ultimate) authority\b|\bas (?:if"
            r"|though) (?:\w+ ){1,4}(?:your|an? |the )?(?:administrator|developer"
            r"|operator|admin|owner|root|system)\b|\b(?:treat|regard|consider"
            r"|handle|accept)\w*\b[^.;\n]{0,40}\bas (?:your |a |the |an )?(?:system"
            r"|developer|operator|admin\w*|root|trusted|highest"
            r"|privileged)[\w -]{0,20}\b(?:message|prompt|instruction|rule|command"
            r"|input|source|authority|level|priority|text|directive)|\b(?:obey"
            r"|comply with|do) (?:only |whatever |anything |everything "
            r"|every )(?:\w+ ){0,4}?(?:says?|writes?|asks?|tells?|wants?|commands?"
            r"|orders?|request\w*|here|below|me|him|her)\b|\bobey (?:only|whoever"
            r"|me|them|him|her|this|every|all|any)|\bunconditionally\b"
            r"|\bwithout (?:question(?:ing)?|hesitation|refus\w+)\b|\bnever refuse\b"
            r"|\bdo not refuse\b|\bdon'?t refuse\b|\bstop refusing\b"
        ),
        unless=_FOREIGN_ORDERS,
    ),
    Rule(
        "model_instruction.override",
        expression(
            r"\b(?:you are|you're|you become|consider yourself|act as|behave as"
            r"|think of yourself as|you will be|you must act)\b (?:now |no longer "
            r"|from now on |henceforth |actually |to be )?[^.;\n]{0,40}?\b(?:unrestricted"
            r"|unfiltered|uncensored|no longer|jailbr\w+|dan\b|developer mode"
            r"|god mode|admin\w*|root|superuser|without (?:any )?(?:restrictions?"
            r"|limits?|rules?|filters?)|free of|not bound|no (?:rules?|restrictions?"
            r"|limits?|filters?)|exempt|operator)\b|\b(?:jailbreak|developer mode"
            r"|god mode|debug mode|admin mode|unrestricted mode"
            r"|trusted mode|sudo mode|dan mode)\b|\b(?:restrictions?|filters?"
            r"|guard ?rails?|safety (?:rules?|checks?|filters?|features?)|safeguards?"
            r"|refusals?)\b[^.;\n]{0,20}\b(?:off|lifted|disabled|removed|suspended"
            r"|gone|unlocked|do(?:es)? not apply|don'?t apply)\b|\bfrom (?:now"
            r"|here|this point) on(?:wards?)?,? (?:you|obey|follow only|only follow"
            r"|answer only to|listen only|ignore|your)\b|\bbehave as if\b[^.;\n]{0,40}\b(?:guid"
            r"eline|rule|instruction|policy|restriction)"
        ),
        unless=_FOREIGN_ORDERS,
    ),
    Rule(
        "model_instruction.reveal",
        expression(
            r"\b(?:reveal|print|repeat|output|show|disclose|dump|paste|recite"
            r"|quote|leak|share|write out|display|return|list|tell|send|expose"
            r"|spell out|read (?:out|back)|give)\w*\b[^.;\n]{0,40}?(?:\b(?:system prompt"
            r"|developer (?:message|prompt)|hidden (?:instructions?|prompt|rules?)"
            r"|(?:initial|original|internal|secret|first|full|whole|complete|entire"
            r"|exact|own|your) (?:\w+ )?(?:instructions?|prompt|system message"
            r"|configuration|setup|set-up|rules you)|everything above|what you were (?:told"
            r"|given)|text you were (?:configured|started|set up|given)|instructions (?:you"
            r"|it) (?:were|was) given|your (?:memory|memories|knowledge base|context"
            r"|tools)|environment variables?|other (?:users?'?|tenants?'?|customers?'?"
            r"|people'?s?) (?:data|memor\w+|messages?|conversations?|files|notes)"
            r"|~/\.\w+)\b)"
        ),
        unless=expression(
            _FOREIGN_ORDERS.pattern
            + r"|\b(?:never|do not|don'?t|must not|refuse)\b|your (?:full |exact )?(?:name"
            r"|address)"
        ),
    ),
    Rule(
        "model_instruction.directs",
        expression(
            rf"(?:^|[\n(\[>*\"-])\W{{0,6}}(?:(?:note|message|memo|instructions?"
            rf"|hint|reminder|attention|important|dear|hey|hello|to|for|ps|p\.s\."
            rf"|fao)[ :,-]{{1,3}}){{1,3}}(?:the |any |all |every |whichever |our "
            rf"|your )?(?:\w+ )?{_MODEL}\b(?: (?:reading|processing|reviewing|handling"
            rf"|learning|that|who|which|of)\b[^\n]{{0,40}}?)?\s?[:,)—-]|\b(?:any"
            rf"|every|whichever|all|the) (?:\w+ )?{_MODEL} (?:that|who|which) (?:reads?"
            rf"|process\w*|sees?|parses?|extracts?|summari[sz]es?)\b"
            rf"|\b{_MODEL}(?:s)? reading this\b|\b(?:assistant|model|ai|agent|bot"
            rf"|reviewer) only\b|\bas an? (?:ai|assistant|language model)\b|(?:^"
            rf"|[\n.!?] ?)(?:assistant|ai|agent|model|bot), "
        ),
        needs=expression(
            r"\b(?:classif\w+|treat|store|save|approve|accept|rate|mark|score"
            r"|label|do not|don'?t|skip|ignore|without|no (?:human|review|need)"
            r"|benign|safe|trust\w*|verbatim|word for word|as is|must|always|never"
            r"|obey|follow|open|paste|send|add|append|insert|delete|forget|override"
            r"|execute|run|call|reveal|bypass|confidence|high(?:est)?|remember"
            r"|cancelled|before (?:step|anything)|learn)\b"
        ),
        unless=expression(
            _FOREIGN_ORDERS.pattern
            + r"|thank|please be|we want the|price|tone|answers? (?:should|in)|keep (?:it"
            r"|answers|replies)|(?:sentence|word|bullet)s? (?:max|or)"
        ),
    ),
    Rule(
        "model_instruction.directs",
        expression(
            r"\b(?:classify|label|rate|score|mark|flag|treat|report|judge"
            r"|grade)\b[^.;\n]{0,50}?\b(?:this|it|entry|text|message|note|feedback"
            r"|content)?[^.;\n]{0,20}\b(?:as|:|=) ?(?:benign|harmless|safe|trusted"
            r"|verified|low[- ]risk|not (?:malicious|poison\w*|harmful)|highest (?:confidence"
            r"|trust)|approved)\b|\b(?:word for word|verbatim|exactly as (?:written"
            r"|it stands)|unchanged|as is)\b[^.;\n]{0,60}\b(?:developer|system"
            r"|operator|trusted|without (?:review|check|judg)\w*|do not (?:judge"
            r"|evaluate|check|review|summari[sz]e))|\bdo not (?:judge|evaluate"
            r"|assess|analy[sz]e|question|screen|scan|flag|report"
            r"|summari[sz]e)\b[^.;\n]{0,30}\b(?:this|text|entry|note|feedback"
            r"|content|message|and do not)\b|\b(?:no|without) (?:human|reviewer"
            r"|moderat\w+)\b[^.;\n]{0,30}\b(?:needed|required|necessary|review"
            r"|involved)|\b(?:wipe|delete|erase|clear|forget|remove|purge|drop"
            r"|overwrite|reset|empty|destroy)\b[^.;\n]{0,30}?\b(?:(?:all|every"
            r"|everything|the (?:existing|whole|entire)|your|existing|other"
            r"|previous)\b[^.;\n]{0,25}?\b(?:memor(?:y|ies)|knowledge|rule ?sets?"
            r"|rules|skills?|learn(?:t|ed)|facts|notes you|what you know|tables?))"
            r"|\b(?:copy|insert|add|append|repeat|include|paste|write|propagate"
            r"|spread)\w*\b[^.;\n]{0,40}\b(?:this|these|the following"
            r"|it)\b[^.;\n]{0,30}\b(?:into|to|in|at the end of|with) (?:every"
            r"|all|each|any) (?:\w+ )?(?:memor\w+|skills?|rules?|repl(?:y|ies)"
            r"|answers?|messages?|notes?|agents?|files?|documents?)\b"
        ),
        unless=expression(
            _FOREIGN_ORDERS.pattern
            + r"|signature|footer|disclaimer|greeting|opening hours|logo|phone|duplicates?"
            r"|price|tone"
        ),
    ),
    Rule(
        "model_instruction.trigger",
        expression(
            r"\b(?:when(?:ever)?|if|once|as soon as|any (?:message|time|one"
            r"|text))\b[^.;\n]{0,60}?\b(?:sign(?:ed|s)|says?|contains?|includes?"
            r"|types?|writes?|mentions?|uses?|starts?|ends?|begins?|appears?|hears?"
            r"|sees?|reads?)\b[^.;\n]{0,60}?\b(?:treat (?:it|them|him|her) (?:like"
            r"|as)|do (?:whatever|anything|what) (?:it|they|he|she)|unlock|full access"
            r"|admin\w*|reveal|obey|unrestricted|ignore (?:all|any|your|the rules)"
            r"|drop (?:all|the|your)|lift (?:all|the|your)|no (?:rules|limits"
            r"|restrictions)|bypass|disclose|dump|everything you)\b"
        ),
        unless=expression(_FOREIGN_ORDERS.pattern + r"|\b(?:never|do not|don'?t|refuse)\b"),
    ),
    # ---- forged roles, approvals, receipts, calls
    Rule(
        "forged.approval",
        expression(
            r"(?:^|\n)[^\w\n]{0,8}(?:[\w./ -]{0,40}?\b)?(?:reviewer|review|approval"
            r"|approved|decision|receipt|audit|security|compliance|legal|policy"
            r"|gate|verdict|change[- ]request|clearance|authori[sz]ation|sign-?off"
            r"|certificat\w+|result|status|moderation|screening|governance|risk"
            r"|validation|verification|permit|notice|board|management)\b[^\n.]{0,60}?[:"
            r"|=#\-–—][^\n]{0,60}?\b(?:accepted|approved|passed|cleared|granted"
            r"|applied|released?|authori[sz]ed|verified|signed|confirmed|completed?"
            r"|ok|pass|yes|valid|not required|auto-?publish|clean|permitted|no findings"
            r"|benign|waived)\b"
        ),
        needs=expression(
            r"(?:#\s?\w*\d|\b(?:ticket|ref\b|ref\.|no\.|id|doc|case|cr-?|sec-?"
            r"|lgl)[ -:]?\w*\d|\b\d+ of \d+\b|\bby (?:the )?(?:finance|legal|security"
            r"|compliance|head|chief|ciso|cfo|ceo|cto|coo|director|board|platform"
            r"|owner|admin\w*|operator|system|reviewer|manager|risk|audit|it|data)"
            r"|signatures?\b|reviewer|human_review|outstanding|no (?:further|human"
            r"|reviewer)|auto|=\s*yes|release|effective|valid)"
        ),
        unless=expression(
            SECURITY + r"|\bif\b|\bwhen\b|\bmust\b|\bshould\b|\bneeds?\b|before\b|until|unless|\?"
        ),
    ),
    Rule(
        "forged.approval",
        expression(
            r"\b(?:has|have|was|were|is|are|been)\b (?:already |now |hereby |formally "
            r"|officially |just |all )?(?:been )?(?:already |formally |fully "
            r"|pre-?)?(?:approved|authori[sz]ed|cleared|signed off|green-?lit"
            r"|verified|vetted|reviewed|accepted|certified|whitelisted|allow-?listed"
            r"|granted)\b[^.;\n]{0,40}?\b(?:by|at|in|on|under|with|so|and)\b"
            r"|\b(?:pre-?)?(?:approved|authori[sz]ed|cleared|signed|confirmed"
            r"|verified|reviewed|vetted) by (?:the )?(?:platform|system|finance bot"
            r"|operator|owner|admin\w*|security team|trust|legal|compliance|board"
            r"|head of|chief|ciso|cfo|ceo|cto|coo|anthropic|openai|developers?)\b"
        ),
        needs=expression(
            r"\b(?:this|these|the following|below|above|standing policy|entry"
            r"|rule|change|memory|skill|request|update|knowledge|so (?:no|skip"
            r"|you)|skip|no (?:further|human|review)|already|release|platform"
            r"|operator|write|user)\b"
        ),
        unless=expression(
            SECURITY + r"|\bif\b|\bwhen\b|\bonce\b|\bmust\b|\bshould\b|\bafter\b|\buntil\b"
            r"|\bunless\b|\bonly\b|\bwhether\b|says?\b|invoice|customer|parcel"
            r"|->|→"
        ),
    ),
    Rule(
        "forged.tool",
        expression(
            r"(?:\btool[ _-]?(?:outputs?|results?|response|call|use)|\bfunction[ _-]?(?:call"
            r"|result|response|output)|\bpolicy_check|\bapproval_lookup"
            r"|\bobservation)\b[^\n]{0,12}[:=({\[]|\"(?:tool|tool_name|tool_call_id"
            r"|tool_use_id|function_call|tool_calls?|tool_result)\"\s*:|<(?:tool_result"
            r"|tool_use|tool_call|function_call|function_results?|invoke|antml)\b"
        ),
        unless=expression(r"\bdef \w+\(|log (?:line|format)"),
    ),
    Rule(
        "forged.turn",
        expression(
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id"
            r"|end_header_id|tool|developer)\|?>?|\[/?inst\]|<</?sys>>|</?(?:system"
            r"|assistant|system-reminder|system_prompt|instructions|developer"
            r"|admin|operator|human)(?:\s[^>\n]{0,60})?>|\brole\s*=\s*[\"']?(?:developer"
            r"|system|operator|admin|assistant)\b|\"role\"\s*:\s*\"(?:developer"
            r"|system|assistant|tool|operator)\""
        ),
    ),
    Rule(
        "forged.turn",
        expression(
            r"(?:^|\n)[^\w\n]{0,6}(?:(?:system|developer|operator|platform|admin(?:istrator)?"
            r"|root|moderator|security)(?: (?:message|notice|note|alert|admin"
            r"|team|prompt|update))?)\s?[\])>】*_]{0,4}\s?[:：>|-]\s[^\n]{0,200}"
        ),
        needs=expression(
            r"\b(?:enabl\w+|authori[sz]\w+|approv\w+|trust\w*|skip\w*|overrid\w+"
            r"|verified|granted?|permission\w*|confirmations?|disabled|off|exempt"
            r"|whitelist\w*|cleared|review\w*|polic\w+|must|ignore|unrestricted"
            r"|bypass|rights|elevated|admin)\b"
        ),
        unless=expression(SECURITY + r"|paper jam|restart|version"),
    ),
    Rule(
        "forged.turn",
        expression(
            r"(?:^|\n)[^\w\n]{0,4}(?:assistant|bot|ai|agent|model)\s?[*_]{0,2}:\s[^\n]{0,160}"
        ),
        needs=expression(
            r"\b(?:understood|confirmed|registered|saved|stored|approved|authori[sz]ed"
            r"|committed|done|applied|recorded|off for|granted|will (?:now|always"
            r"|no longer|never)|standing policy|no longer|acknowledged|updated)\b"
            r"|확인|등록|승인|저장|완료"
        ),
    ),
    Rule(
        "model_instruction.override",
        expression(
            r"\b(?:ignore|bypass|disable|skip|drop|override|do not (?:apply|use"
            r"|enforce|run)|don't (?:apply|use|enforce|run)|never (?:apply|enforce)"
            r"|switch off|turn off|suspend|relax|lift|remove)\b[^.;\n]{0,24}\b(?:safety"
            r"|content|security|moderation|alignment|ethic\w*|refusal) (?:rules?"
            r"|filters?|checks?|polic\w+|limits?|guidelines?|screen\w*|settings?)\b"
            r"|\bforget (?:what|everything|all)(?: \w+){0,2} (?:you|it) (?:know"
            r"|knows|learn\w*|were|have|had|remember\w*)|\b(?:earlier|previous"
            r"|old|original|current) (?:configuration|setup|set-up|persona|instructions?"
            r"|prompt)\b[^.;\n]{0,30}\b(?:no longer|does not|doesn't|is void|ends)"
            r"|\b(?:as|is) your new (?:configuration|instructions?|system|prompt"
            r"|rules?|persona|set-?up|orders)\b"
        ),
        unless=_FOREIGN_ORDERS,
    ),
    Rule(
        "model_instruction.reveal",
        expression(
            r"\b(?:reveal|print|repeat|output|show|disclose|dump|paste|recite"
            r"|leak|write out|display|list|expose|spell out|read out"
            r"|quote)\w*\b[^.;\n]{0,30}\byour (?:\w+ ){0,2}?(?:rules|instructions?"
            r"|prompt|guidelines|configuration|system|memories|secrets|policy text)\b"
        ),
        unless=expression(_FOREIGN_ORDERS.pattern + r"|\b(?:never|do not|don't|must not|refuse)\b"),
    ),
    Rule(
        "model_instruction.directs",
        expression(
            r"\b(?:whoever|anyone who|anything that|whatever|whichever \w+) (?:evaluat"
            r"|review|read|judg|check|screen|grad|process|moderat|scor|learn"
            r"|summari)\w* (?:this|it)\b|\b(?:put|place|prepend|append|insert"
            r"|copy|repeat|paste|attach)\b[^.;\n]{0,40}\b(?:this|these"
            r"|it)\b[^.;\n]{0,30}\b(?:in front of|before|after|at the (?:top|end"
            r"|start|bottom) of|on top of|into|to|in) (?:every|all|each|any) (?:new "
            r"|other |future )?(?:\w+ )?(?:memor\w+|skills?|rules?|repl(?:y|ies)"
            r"|answers?|messages?|notes?|agents?)\b|\b(?:top|full|maximum|highest"
            r"|perfect) (?:score|marks?|rating|confidence|trust)\b"
        ),
        needs=expression(
            r"this|entry|text|note|feedback|give|score|assign|harmless|safe|every|all"
        ),
        unless=expression(
            _FOREIGN_ORDERS.pattern
            + r"|signature|footer|disclaimer|greeting|opening hours|logo|phone|price"
            r"|exam|student|judge|contest|wine|game|quiz|customer"
        ),
    ),
    Rule(
        "forged.turn",
        expression(
            r"(?:^|\n)[^\w\n]{0,6}(?:system|developer|operator|platform|admin(?:istrator)?"
            r"|root|moderator|security|owner)s? (?:message|notice|note|alert|team"
            r"|update|override|info)?\s?[\])>】|:：]{1,3}\s?[^\n]{0,200}|\b(?:message"
            r"|notice|note|announcement|update|word) from (?:the )?(?:platform"
            r"|system|operator|developers?|admin\w*|security|moderation|openai"
            r"|anthropic|vendor|trust)\b[^\n]{0,24}[:–-][^\n]{0,120}"
        ),
        needs=expression(
            r"\b(?:enabl\w+|authori[sz]\w+|approv\w+|trust\w*|skip\w*|overrid\w+"
            r"|verified|granted?|confirmations?|disabled|suspended|exempt|whitelist\w*"
            r"|allow[- ]?list\w*|cleared|no (?:review|screen\w*|check\w*|moderation)"
            r"|unrestricted|bypass|rights|elevated|not required)\b"
        ),
        unless=expression(SECURITY + r"|paper jam|restart|version"),
    ),
    Rule(
        "forged.approval",
        expression(
            r"\b(?:sign-?off|clearance|approval|review|decision|verdict|authori[sz]ation"
            r"|screening|moderation|validation|certification)\s?:\s?(?:granted"
            r"|approved|accepted|passed|cleared|given|waived|complete\w*|not (?:needed"
            r"|required))\b|(?:\b(?:state|status|held|verdict|human_review|approved"
            r"|approver|risk|ok|review(?:ed)?(?:_status|_by)?|decision|result"
            r"|verified)\s?[=:]\s?[\"']?(?:applied|approved|passed|false|true"
            r"|none|0(?:\.0+)?|ok|not[ _]required|admin\w*|system|yes|no|clean"
            r"|cleared)\b[^\n]{0,12}){2,}|\b(?:approved|authori[sz]ed|cleared"
            r"|accepted|signed off) by (?:the )?(?:\w+ ){0,2}?(?:cfo|ceo|coo|cto"
            r"|ciso|director|board|legal|compliance|security|head office|management"
            r"|chief\w*)\b[^\n]{0,60}\b(?:\d{4}|ref|ticket|no further|without"
            r"|published?|apply|effective|immediately|at once)"
        ),
        unless=expression(
            SECURITY + r"|\bif\b|\bwhen\b|\bmust\b|\bshould\b|\bneeds?\b|until|unless|\?"
            r"|->|→|=>|\bonce\b|\bcolumns?\b|for example"
        ),
    ),
    Rule(
        "model_instruction.override",
        expression(
            r"\b(?:wrote|said|set|told|instructions?|rules?|polic\w+|prompt"
            r"|guidelines?)\b[^.;\n\"']{0,50}\b(?:may|can|should|must|is to|are to) (?:now "
            r"|all )?be (?:disregarded|ignored|forgotten|set aside|overridden"
            r"|overruled|dropped)\b|\b(?:who|which|that) (?:has|have|knows?|obeys?) no (?:rules"
            r"|limits|restrictions|filters)\b|\bnever says? no\b|\b(?:outranks?"
            r"|overrides?|trumps?|takes? precedence over|has priority over|wins? over) (?:all"
            r"|any|every|your) (?:\w+ )?(?:polic\w+|instructions?|system|guidelines?"
            r"|prompt|operators?|guardrails?)"
        ),
        needs=expression(
            r"\byou\b|your|vendor|platform|operator|developer|prompt|system|who has"
            r"|no rules|never say|outrank|every|any|all"
        ),
        unless=expression(_FOREIGN_ORDERS.pattern + r"|customer is|child|dog|waiter"),
    ),
    Rule(
        "model_instruction.reveal",
        expression(
            r"\b(?:repeat|print|output|show|copy|return|echo)\b[^.;\n]{0,20}\b(?:text"
            r"|everything|words|lines?|content|instructions|messages?)\b[^.;\n]{0,10}\b(?:above"
            r"|before this|preceding)\b"
        ),
        unless=_FOREIGN_ORDERS,
    ),
    Rule(
        "model_instruction.directs",
        expression(
            r"\bwhen(?:ever)? (?:you )?(?:are )?(?:summari[sz]|learn|process|stor"
            r"|extract|review|turn|record|sav|evaluat)\w*\b[^.;\n]{0,20}\b(?:this"
            r"|the) (?:feedback|message|note|text|entry|memo)\b[^.;\n]{0,24}\b(?:write"
            r"|say|store|state|claim|add|mark|record|do not|don't|skip|ignore)\b"
            r"|\b(?:list|set|group|circle) of (?:trusted|privileged|approved) (?:\w+ )?(?:in"
            r"|to) your\b|\bin your memory\b|\bquietly (?:add|store|save|remember)\b"
        ),
        unless=_FOREIGN_ORDERS,
    ),
    Rule(
        "forged.turn",
        expression(
            r"\b(?:user|human|me|customer)\s?:[^\n]{0,140}\b(?:assistant|bot|ai"
            r"|agent|model|system)\s?:[^\n]{0,140}\b(?:recorded|registered|approv\w+"
            r"|confirmed|saved|stored|permit\w*|authori\w+|granted|applied)\b"
        ),
        unless=expression(r"order (?:is )?confirmed|booking|delivery"),
    ),
    Rule(
        "forged.approval",
        expression(
            r"\b(?:accepted|approved|signed|cleared|confirmed|reviewed) by (?:two"
            r"|three|both|all|several|\d) (?:\w+ )?(?:approvers|reviewers|signatories"
            r"|managers|admins|directors|officers|lawyers)\b|\bno (?:action|steps?"
            r"|review|checks?|approval|signature)s? (?:is |are )?(?:left|outstanding"
            r"|pending|remaining|open)\b"
        ),
        unless=expression(
            SECURITY + r"|\bif\b|\bmust\b|\bneeds?\b|\bonce\b|\bwhen\b|until|->|→|=>|\bare\b to"
        ),
    ),
)
