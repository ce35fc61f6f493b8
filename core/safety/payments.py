"""Where money goes, and what business rules are made of: numbers, links, mail, thresholds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.safety.rules import Rule, expression

Found = tuple[str, int, int]
SIGNS = re.compile(r"\d[\d -]{5,}\d|\b[a-z]{2}\d\d ?\w{4}|0x[0-9a-f]{6}|bc1|@|://|www\.|\d")
_BANKS = (
    r"은행|뱅크|농협|신협|수협|국민|신한|우리|하나|기업|카카오|토스|새마을"
    r"|우체국|저축|산업|씨티|sc제일|계좌|통장|예금주|입금|송금|이체|납부"
    r"|지급처|account|acct|a/c|iban|bank"
)
_ACCOUNTS = (
    re.compile(
        rf"(?:{_BANKS})[^\n\d]{{0,24}}?(?<![\d*•x-])(\d{{2,6}}-\d{{2,7}}-\d{{2,8}}(?:-\d{{"
        rf"1,4}})?)(?![\d*•-])"
    ),
    re.compile(rf"(?:{_BANKS})[^\n\d]{{0,14}}?(?<![\d*•x-])(\d{{10,14}})(?![\d*•-])"),
    re.compile(r"\b(\d\d-\d\d-\d\d\b[^\n\d]{1,30}\d{7,8})\b"),
    re.compile(r"\b(\d{7,8}\b[^\n\d]{1,30}\d\d-\d\d-\d\d)\b"),
    re.compile(
        r"\b(?:routing|aba|bsb|sort code)\b[^\n\d]{0,20}(\d[\d -]{4,10}\d[^\n]{0,30}\d{5,})"
    ),
    re.compile(r"(?<![\w])([a-z]{2}\d\d(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?)(?![\w])"),
    re.compile(r"\b(0x[0-9a-f]{40})\b"),
    re.compile(r"\b((?:bc1|ltc1|tb1|cosmos1|addr1)[a-z0-9]{20,100})\b"),
    re.compile(
        r"(?:btc|bitcoin|비트코인|tron|trc-?20|usdt|wallet"
        r"|지갑)[^\n]{0,40}?\b([13t][a-z0-9]{25,40})\b"
    ),
    re.compile(
        r"\b(?:zelle|venmo|paypal|cash ?app|revolut|bizum|pix|interac|페이팔"
        r"|카카오페이|토스)\b[^\n]{0,40}?([\w.+-]{1,64}@[\w.-]{3,100})"
    ),
    re.compile(r"\b(?:venmo|cash ?app|paypal|zelle|revolut|wise)\b[^\n]{0,12}?([@$][\w-]{3,40})"),
    re.compile(r"((?:paypal\.me|cash\.app|revolut\.me|venmo\.com|wise\.com/pay)/[\w$.-]{2,40})"),
    re.compile(
        r"(?:beneficiar|payee|recipient|수취|입금처|받는\s?(?:분|사람|곳))[^\n\d]{0,50}"
        r"(\d[\d -]{6,18}\d)(?!\d)"
    ),
    re.compile(
        r"\b(?:account|acct|a/c)\b(?: (?:no|number|nr))?\W{0,3}(?:is "
        r"|now )?(\d[\d -]{6,16}\d)\b"
    ),
)
_LONGEST_ACCOUNT = 24  # of letters and digits; what is longer is an address of a wallet
_MONEY = re.compile(
    r"\b(?:pay|paid|payment|payable|payout|invoices?|remit\w*|transfer\w*"
    r"|deposit\w*|refunds?|salar\w+|donat\w+|rent|wire|beneficiary|payee"
    r"|iban|bank\w*|sort code|wallet|cheques?|treasury|dues|swift|fee"
    r"|commission|bitcoin|giving|ways to give|settle\w*)\b|송금|입금|이체"
    r"|대금|급여|환불|납부|결제|후원|기부|예금주|계좌|지급|정산|월세|관리비"
    r"|수당|보증금|지갑|수련비|회비|수강료|통장|이더리움|비트코인"
)
_EXAMPLE = re.compile(
    r"형식|예\s?[):]|예시|예를|자리|마스킹|가려|가리|샘플|e\.g|for example"
    r"|(?<!\.)\bexample\b(?!\.|/)|format|sample data|placeholder|mask"
    r"|x{3,}|\*{2,}|•|digits|characters|test (?:account|data)|starts with"
    r"|looks like|사업자|전화|연락처|팩스|fax|phone"
)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_PHONE = re.compile(
    r"(?<![\d.-])(?:\+\d{1,3}[ -]?)?(?:0\d{1,3}[ -]\d{3,4}[ -]\d{3,4}"
    r"|01\d-?\d{3,4}-?\d{4}|1[568]\d\d-\d{4}|\(\d{2,4}\) ?\d{3,4}[ -]\d{3,4}"
    r"|555-\d{4})(?![\d-])"
)
_DATE = re.compile(r"(?:19|20)\d\d-[01]\d-[0-3]\d\b")
_BUSINESS = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{5}(?![\d-])")
LINK = re.compile(r"(?:https?://|www\.)([\w.-]{3,253})(?::\d+)?[^\s\"'<>)\]]*", re.IGNORECASE)
_AMOUNT = (
    r"\d[\d,.]*\s?(?:만|천|백|억|k|m|원|달러|유로|krw|usd|eur|gbp|%|퍼센트"
    r"|days?|hours?|일|시간|건|개|명|회|kg)?"
)
_THRESHOLD = re.compile(
    rf"(?:[<>≤≥]=?|\b(?:over|above|under|below|up to|at least|at most"
    rf"|more than|less than|exceed\w*|beyond|from)\b)\s*[€$£₩]?\s?{_AMOUNT}"
    rf"|[€$£₩]?{_AMOUNT}\s?(?:원\s?)?(?:이상|이하|초과|미만|넘|이내|까지)"
)
_APPROVER = re.compile(
    r"[\w가-힣]{1,12}(?:장|이사|대표|담당자?|위원회)님?\s?(?:의\s?|이\s?)?(?:승인"
    r"|결재|전결|확인)|\b(?:approv(?:es|ed by|al (?:by|from|of))|signs?(?: off)?"
    r"|sign-?off (?:by|from)|authori[sz]ed by)\b[^.\n]{0,40}|\b\w+ (?:manager"
    r"|lead|director|officer|head|committee|cfo|ceo) (?:approves|signs"
    r"|decides)\b"
)
ENGLISH_RULES = (
    Rule(
        "payee.destination",
        expression(r"(?:https?://|www\.)[^\s\"'<>)]+"),
        needs=expression(
            r"^(?=.*(?:\bpay|\bpaid\b|check-?out|donat|invoice|refund|deposit"
            r"|transfer|\brent\b|\bfees?\b|\bdues\b|billing|remit|settle|purchase"
            r"|ticket money|subscription))(?=.*(?:\binstead\b|from now on|no longer"
            r"|\bnow goes?\b|\bnew (?:\w+ )?(?:link|page|address|portal|site)"
            r"|\bonly (?:via|through|at|use|here)|\bold (?:\w+ )?(?:link|page"
            r"|one|portal|site)|rather than|replac|switch|moved to|changed to"
            r"|\bnot the\b|stop using|\bgoing forward\b|has changed))"
        ),
        unless=expression(r"\bnever\b|don't (?:click|pay)|scam|phish|fraud|suspicious"),
    ),
    Rule(
        "payee.destination",
        expression(
            r"\b(?:payable to|made? out to|(?:cheques?|checks|payments?|transfers?"
            r"|deposits?|money|cash|rent|refunds?|invoices?|dues|fees|salary|wages"
            r"|commission|donations?)\b[^.;\n]{0,40}\b(?:go(?:es)?|sent?|send"
            r"|mailed|posted|paid|wired|remitted|addressed|directed|routed"
            r"|made) (?:out )?to\b[^.;\n]{0,20}(?:c/o|p\.? ?o\.? box|box \d|\bunit \d)"
            r"|beneficiary (?:is|:|name|changed|now)|payee (?:is|:|now|changed)"
            r"|(?:new|changed|updated) (?:payee|beneficiary)|in the name of)\s*[\"']?\w"
            r"|\b(?:c/o|p\.?o\.? box|box) ?\d"
        ),
        needs=expression(
            r"pay|cheque|check|transfer|deposit|rent|refund|invoice|dues|remit"
            r"|beneficiary|payee|money|donat|salary"
        ),
        unless=expression(
            r"\bmatch|equals?|verif|\bsame as\b|≠|differs?|compare|on file\b.*\bonly\b"
            r"|call back|call-back|ring "
        ),
    ),
    Rule(
        "payee.destination",
        expression(
            r"\b(?:to|into|on|via|through|with|uses?) (?:(?:the|an?|his|her|their|my"
            r"|our) )?(?:\w+'s )?(?:personal"
            r"|private|his own|her own|my own|my|wife's|husband's|brother's|sister's"
            r"|son's|cousin's|nephew's|friend's) (?:\w+ )?(?:bank account|account|card"
            r"|paypal|venmo|wallet|iban|cash app|revolut)\b|\b(?:details|account"
            r"|iban|bank\w*|address|number|link)\b[^.;\n]{0,40}\b(?:on (?:the"
            r"|their|our) (?:\w+ )?(?:invoices?|contracts?|letters?|statements?"
            r"|website|card|stationery)|on file|in the (?:contract|welcome pack"
            r"|master|handbook|portal))\b[^.;\n]{0,30}\b(?:wrong|out of date|outdated"
            r"|old|errors?|ignore|not|no longer|obsolete|misprint\w*)|\b(?:not"
            r"|don't use|do not use|ignore|instead of|rather than) (?:the )?(?:one"
            r"|ones|details|account|iban|number|bank details)\b[^.;\n]{0,12}\b(?:on"
            r"|in|from|of) (?:the|their|our) (?:\w+ )?(?:invoice|contract|file"
            r"|letter|statement|welcome pack|website|master)"
        ),
        needs=expression(
            r"pay|transfer|deposit|refund|invoice|send|dues|fee|money|salary|iban|account"
            r"|donat|remit|\bbank"
        ),
        unless=expression(
            r"\bnever\b|\bdon't (?:pay|send|accept)|\bnot allowed|refuse|forbidden"
            r"|verif|call back|data|log ?in|sign ?in|user account"
        ),
    ),
    Rule(
        "payee.destination",
        expression(
            r"\b(?:collected|taken|received|handled|kept|held"
            r"|accepted)\b[^.;\n]{0,24}\b(?:personally"
            r"|privately|by (?:himself|herself)|at (?:his|her) (?:home|house))\b"
        ),
        needs=expression(
            r"payment|donation|\brents?\b|\bfees?\b|\bdues\b|money|cash|refund|deposit"
        ),
        unless=expression(r"\bnever\b|\bnot\b|n't"),
    ),
    Rule(
        "payee.unchecked",
        expression(
            r"\b(?:updat|chang|switch|us|pay|send|transfer|amend|replac|enter"
            r"|overwrit|accept|tak|honou?r|follow)(?:e|es|ed|ing)?\b[^.;\n]{0,70}\b(?:account"
            r"|bank|iban|sort code|payee|beneficiary|payment details"
            r"|salary details)\b[^.;\n]{0,60}\b(?:whatever|(?:given|is|are|sent"
            r"|quoted|written|shown|comes?|stands?) in (?:the|that|their|an?) (?:e-?mail"
            r"|mail|message|letter|text|chat|form)|from (?:the|that|their|an?) (?:e-?mail"
            r"|mail|message|text|chat)|in (?:the|that|their) (?:e-?mail|mail|message"
            r"|text|chat)|they (?:send|give|text|mail|write|tell)|by (?:reply"
            r"|return|mail|text|phone)|right away|straight away|immediately|at once"
            r"|same day)|\bwhatever (?:account|bank|iban|sort code|number|details)\b"
            r"|\b(?:bank|account|iban|payment|payee)\b[^.;\n]{0,20}\b(?:chang\w+"
            r"|updat\w+|new)\b[^.;\n]{0,50}\b(?:by|via|over|through) (?:e-?mail"
            r"|mail|phone|text|chat|whatsapp|message)\b[^.;\n]{0,40}\b(?:fine"
            r"|ok|okay|enough|accepted|sufficient|valid|straight|immediately|right away"
            r"|at once)"
        ),
        unless=expression(
            r"\bnever\b|don'?t|do not|\bnot\b|verif|call back|call-back|\bring\b"
            r"|two (?:people|of us)|\bphone the\b|only after|once (?:the|two|we)"
            r"|until|unless"
        ),
    ),
)


def accounts(folded: str) -> Iterator[Found]:
    """Yield accounts, wallets and the like to which money is to go, but no formats or examples."""
    if not _MONEY.search(folded):
        return
    for pattern in _ACCOUNTS:
        for one in pattern.finditer(folded):
            digits = [char for char in one[1] if char.isdigit()]
            start, end = one.span(1)
            around = (
                folded[max(0, start - 30) : start].rpartition("\n")[2],
                folded[end : end + 24].partition("\n")[0],
            )
            if len(digits) < 8 and not (set("/@$") & set(one[1]) or len(one[1]) > _LONGEST_ACCOUNT):
                continue
            if (
                set(digits) == {"0"}
                or _DATE.match(one[1])
                or _BUSINESS.fullmatch(one[1])
                or (" " not in one[1] and _PHONE.fullmatch(one[1]))
            ):
                continue
            if not any(_EXAMPLE.search(part) for part in around):
                yield "payee.account", start, end


def noted(folded: str) -> Iterator[Found]:
    """Yield what business rules are made of: mail, phones, links, thresholds, approvers."""
    for code, pattern in (
        ("contact.mail", _MAIL),
        ("contact.phone", _PHONE),
        ("contact.business_number", _BUSINESS),
        ("link.new_host", LINK),
        ("threshold.new", _THRESHOLD),
        ("approver.new", _APPROVER),
    ):
        for one in pattern.finditer(folded):
            yield code, one.start(), one.end()
