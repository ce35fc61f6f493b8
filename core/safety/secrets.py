"""Secrets in a text: keys by the forms of their vendors, passwords and codes by the words around.

Every pattern starts where a token starts and is bounded, so that no text takes more than linear
time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from core.safety.person_numbers import Hit, near, within
from core.safety.rules import words

# Before anything else: a text in lower case without any of them, and without a run of digits,
# contains nothing of what is looked for below. Looking for words takes a tenth of a pattern.
_PASSWORD_SIGNS = words("pass|pwd|pw|pin|code|wifi key|wi-fi key|psk|비밀|비번|암호|패스|출입|공동")
_KEY_SIGNS = words(
    "secret|token|key|credential|signature|authorization|password|비밀|키|시크릿|토큰|인증|비번"
    "|암호"
)
_PREFIXES = words(
    "sk-|sk_|pk_|rk_|gsk_|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-"
    "|gldt-|glrt-|glptt-|xox|xapp-|akia|asia|agpa|aida|aroa|anpa|abia"
    "|acca|aiza|ya29.|gocspx-|hf_|npm_|r8_|sbp_|swk_|whsec_|rpa_|ntn_"
    "|dckr_pat|lin_api|figd|vcp_|tskey|phc_|sntrys|shpat|shpca|shppa"
    "|shpss|dop_v1|doo_v1|rubygems|pul-|eaac|atatt3|atctt3|pypi-|sg."
    "|dp.pt.|dp.st.|pscale_|secret_|hrku-|nrak-|nrra-|glsa_|glc_|fo1_|figp|sk0|sk1|sk2|sk3|sk4|sk5"
    "|sk6|sk7|sk8|sk9|ska|skb|skc|skd|ske|skf|acd|acf|pat|otpauth|ntn|key-|sq0|pmak-|pplx-|xai-"
    "|nvapi-|tvly-|dapi|hvs.|age-secret|:aa"
    "|eyj|ac0|ac1|ac2|ac3|ac4|ac5|ac6|ac7|ac8|ac9"
)
_URL_SIGNS = ("://",)
_SCHEME_SIGNS = ("bearer", "basic", "kakaoak", "token")
_LOGIN_SIGNS = ("계정", "아이디", "login", "credential", "user")
_OPTION_SIGNS = ("-u ", "--user")
_BEGIN_SIGNS = ("-----begin",)

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}-----")
_KEY_BODY = re.compile(r"(?:\\n|[\sA-Za-z0-9+/=:,-])*")
_KEYS = re.compile(
    r"(?<![\w-])(?:sk-[\w-]{16,}|(?:sk|pk|rk|live_sk|test_sk|live_gsk"
    r"|test_gsk)_[A-Za-z]*_?\w{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}"
    r"|gl(?:pat|dt|rt|ptt)-[\w-]{16,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}"
    r"|A(?:KIA|SIA|GPA|IDA|ROA|NPA|BIA|CCA)[A-Z0-9]{12,}|AIza[\w-]{20,}"
    r"|ya29\.[\w.-]{20,}|GOCSPX-[\w-]{20,}|(?:hf|gsk|npm|r8|sbp|swk|whsec"
    r"|rpa|ntn|fo1|dckr_pat|lin_api|figd|vcp|tskey|phc|pat|sntrys|shpat"
    r"|shpca|shppa|shpss|dop_v1|doo_v1|rubygems|pul|EAAC|ATATT3"
    r"|ATCTT3)[_-]?\w[\w=-]{18,}|pypi-[\w-]{30,}|SG\.[\w-]{10,}\.[\w-]{10,}"
    r"|dp\.(?:pt|st|ct)\.\w{30,}|pscale_(?:tkn|pw|oauth)_[\w.-]{20,}|secret_[A-Za-z0-9]{40,}"
    r"|HRKU-[0-9a-fA-F-]{30,}|NR(?:AK|RA|JS|II)-[A-Z0-9]{20,}|gl(?:sa|c)_\w{30,}|fo1_[\w-]{30,}"
    r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|key-[0-9a-f]{32}|(?:AC|SK)[0-9a-f]{32}"
    r"|sq0[a-z]{3}-[\w-]{20,}|PMAK-[\w-]{30,}"
    r"|(?:pplx|xai|nvapi|tvly|dapi)-?\w[\w-]{24,}|hvs\.[\w-]{20,}"
    r"|AGE-SECRET-KEY-1\w{40,}|\d{8,10}:AA[\w-]{30,}"
    r"|eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?)"
)
# Whoever made it: long, of letters of both cases and digits. What is named by its digest is none.
LONG = re.compile(
    r"(?<![\w/+=.:@-])(?!sha\d)[A-Za-z0-9_-]{18,}(?:[.][A-Za-z0-9_-]{4,}){0,3}(?![\w/@(])"
)
_HOOKS = re.compile(
    r"https?://(?:hooks\.slack\.com/(?:services|workflows)/"
    r"|discord(?:app)?\.com/api/webhooks/|[\w-]{1,60}\.webhook\.office\.com/"
    r"|chat\.googleapis\.com/v1/spaces/)[^\s\"'<>)]{8,300}"
)
_ANY_HOOK = re.compile(r"https?://([^\s\"'<>()]{0,200}hook[^\s\"'<>()]{8,300})", re.IGNORECASE)
_SCHEMES = re.compile(r"\b(?:bearer|basic|kakaoak|token)\s{1,3}([\w.~+/=-]{12,})")
_HEX_SCHEMES = re.compile(
    r"(?:\b(?:bearer|kakaoak)\s{1,3}|[?&]\w{0,20}(?:token|key|secret|sig)=|\bsecret=)"
    r"([0-9a-f]{24,200}|[a-z2-7]{26,64})(?![0-9a-z])"
)
_URL_PASSWORD = re.compile(r"://[^\s/:@\"'<>]{0,64}:([^\s/\"'<>]{1,100})@(?=[\w\[])")
_URL_KEY = re.compile(r"://([0-9a-f]{24,64}|[A-Za-z0-9_-]{24,100})@(?=[\w\[])")
# Words beside which a password stands, and such beside which a code of a door or a safe does.
_ENTRY_SIGNS = words(
    "비번|비밀번호|암호|패스워드|패스코드|계정|아이디|로그인|접속|와이파이|wifi|wi-fi|password"
    "|passcode"
    "|passphrase|passwd|pwd|log in|login|logs in|sign in|signs in|creds|credential|username|user:"
    "|user |id/pw|pw |pw:|get in|the pass "
)
_DOOR_SIGNS = words(
    "금고|현관|출입문|뒷문|정문|도어|키패드|경보|세콤|자물쇠|열쇠함|다이얼|사물함|door|alarm|safe"
    "|gate"
    "|keypad|lockbox|key box|keybox|lock box|combination|disarm|padlock|entry code|vault|locker"
    "|locked"
)
SIGNS = tuple(
    dict.fromkeys(
        (
            *_PASSWORD_SIGNS,
            *_KEY_SIGNS,
            *_PREFIXES,
            *_SCHEME_SIGNS,
            *_OPTION_SIGNS,
            *_LOGIN_SIGNS,
            *_BEGIN_SIGNS,
            *_ENTRY_SIGNS,
            *_DOOR_SIGNS,
            "@",
            "hooks.",
            "webhook",
            "여권",
        )
    )
)
# How far before a sign a match may begin, and how far behind it end: no match is longer.
_OF_KEYS = (12, 600)
_OF_LINKS = (12, 500)
_OF_SCHEMES = (1, 400)
_OF_OPTIONS = (2, 200)
_OF_LOGINS = (4, 200)
_OF_PASSWORDS = (12, 400)
_OF_NAMED_KEYS = (16, 400)
# How far from its word a password that was chosen may stand, or the code of a door.
_OF_ENTRIES = (40, 80)
_OF_DOORS = (40, 48)
_LONGEST_KEY = 20_000
_TOKEN = re.compile(r"[!-~]{4,80}")
_DOOR_CODE = re.compile(
    r"(?<![\w.,:/#*-])(?:[#*]?\d{2,8}[#*][\d#*]{0,8}|[#*]\d{3,8}[#*]?|\d{4,8}"
    r"|\d{1,2}(?:-\d{1,2}){2,3}"
    r"|[좌우lr]\d{1,2}(?:[ ,-]{1,2}[좌우lr]\d{1,2})+)(?![\w,.:/-]?\d|[\w%]|\s?(?:원|개|명|시|호"
    r"|층|번지|회|년"
    r"|월|일|분|초|번|kg|krw|usd|eur|people|times|days|hours|min|dollars|€|\$))"
)
_OPENS = re.compile(
    r"code|\bpin\b|combination|disarm|keypad|\btype\b|\bpress\b|\bwants\b|unlock|\bopens?\b|\bdial"
    r"|번호|비번|비밀|키패드|누르|해제|다이얼|코드|암호|입력"
)
_LOGIN = re.compile(
    r"(?:계정|아이디|login|credentials?|username|user)(?:은|는|이"
    r"|가)?[\s:=]{1,3}[\w.@-]{2,40}\s?[/,|]\s?([^\s\"'`,;<>(){}\[\]|]{6,100})"
)
_QUERY = re.compile(
    r"[?&](?:[\w-]{0,20}(?:key|token|secret|sig|signature|password"
    r"|auth))=([^\s&\"'#<>]{8,300})"
)
_USER_PASSWORD = re.compile(r"(?:\s-u|--user)[ =]{1,2}[\"']?[\w.@-]{1,60}:([^\s\"']{4,100})")
_VALUE = r"([^\s\"'`,;<>(){}\[\]|]{4,300})"
_LINK = (
    r"[\"'\]*_`]{0,3}(?:\s{1,3}|(?=[:=은는이가를을값→-]))(?:(?:[:=]|:="
    r"|=>|->|→)|(?:is|was|are|to|값은|값이|값)(?=\s)|(?:은|는|이|가|를"
    r"|을)(?=[\s!-~]))?\s{0,3}(?:[:=]\s{0,3})?[\"'`“‘*]{0,3}"
)
# Not in the name of what was masked before: neither its first word nor its second is a sign.
_NO_MASK = r"(?<!masked:)(?<!masked:api-)(?<!masked:private-)"
_PASSWORDS = re.compile(
    _NO_MASK + r"(?:pass(?:word|wd|phrase|code)?|pwd|\bpw|\bpin(?: code"
    r"| number)?|(?:door|alarm|gate|safe|entry|access|lock)[ -]code|wi-?fi key"
    r"|psk|비밀\s?번호|비번|암호|패스워드|출입\s?번호|공동현관\s?번호)s?" + _LINK + _VALUE
)
_NAMED_KEYS = re.compile(
    _NO_MASK + r"(?:secret(?:[ _-]?(?:access[ _-]?)?key)?|api[ _-]?(?:key"
    r"|secret|token)|(?:access|auth|account|private|signing|encryption"
    r"|shared|master|licen[cs]e|service|app|client|user|consumer|subscription"
    r"|session|webhook|bot|deploy|storage|admin|root)[ _-]?(?:key|token"
    r"|secret)|(?:refresh|id|access)_?token|\btoken|credentials?|sharedaccesssignature"
    r"|\bkey|authorization|비밀\s?키|인증\s?키|접근\s?키|액세스\s?키|시크릿(?:\s?키)?"
    r"|토큰|api\s?키|연동\s?키|서비스\s?키|개인\s?키|보안\s?키|서명\s?키"
    r"|발급\s?키)s?" + _LINK + _VALUE
)
_NEAR_KEYS = re.compile(
    _NO_MASK + r"(?:secret|token|credential|api[ _-]?key|\bkey\b|password"
    r"|비밀|토큰|시크릿|인증|비번|암호|키)[^\n]{0,40}?(?<![\w/+=.-])([A-Za-z0-9+/_=.-]{"
    r"20,300})"
)
# Of these no word begins: of thirty random letters and digits one in two hundred has no digit.
_CERTAIN_KEYS = re.compile(r"xox[a-z]-|xapp-|gh[pousr]_|github_pat_|gl(?:pat|dt|rt|ptt)-")
_CERTAIN = re.compile(r"[!@#$%^&*?~+]")
_NO_VALUE = re.compile(
    r"^(?:[*xX•·_.…-]{3,}|\$.*|%\w+%?|<.*|\{.*|your.*|example.*|changeme"
    r"|placeholder.*|masked.*|none|null|true|false|required|optional|string"
    r"|https?://.*|/.*|~/.*|\d{1,3}%.*|.*\.\.\..*|password|passwd|pass"
    r"|pwd|secret|user)$",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ADDRESS = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?/|[/.~]|\w+(?:[/.]\w+){3}")
_HEX = re.compile(r"[0-9a-fA-F]+")
_NUMBER = re.compile(r"[\d.,:/%-]+")


def secrets(plain: str, lowered: str) -> Iterator[Hit]:
    """Yield where a text has secrets, and what they are; `lowered` is the text in lower case."""
    if "-----begin" in lowered:
        yield from _private_keys(plain)
    for one in within(_KEYS, plain, near(lowered, _PREFIXES, *_OF_KEYS)):
        if any(char.isdigit() for char in one[0]) or _is_certain_key(one[0]):
            label = "token" if one[0].startswith("eyJ") else "api-key"
            yield Hit(one.start(), one.end(), label)
    links = near(lowered, _URL_SIGNS, *_OF_LINKS)
    if links:
        for one in within(_HOOKS, plain, links):
            yield Hit(one.start(), one.end(), "token")
        for one in within(_ANY_HOOK, plain, links):
            if any(map(_is_random_part, re.split(r"[/?=&]", one[1]))):
                yield Hit(one.start(), one.end(), "token")
        yield from _values(_URL_PASSWORD, plain, plain, links, "password", bool)
        yield from _values(_URL_KEY, plain, plain, links, "token", bool)
        yield from _values(_QUERY, lowered, plain, links, "token", _is_random)
    there = near(lowered, _SCHEME_SIGNS, *_OF_SCHEMES)
    yield from _values(_SCHEMES, lowered, plain, there, "token", _is_random)
    yield from _values(_HEX_SCHEMES, lowered, plain, [(0, len(plain))], "token", bool)
    yield from _beside(plain, lowered)
    for one in LONG.finditer(plain):
        if _is_certainly_random(one[0]):
            yield Hit(one.start(), one.end(), "api-key")
    there = near(lowered, _OPTION_SIGNS, *_OF_OPTIONS)
    yield from _values(_USER_PASSWORD, plain, plain, there, "password", _is_password)
    there = near(lowered, _LOGIN_SIGNS, *_OF_LOGINS)
    yield from _values(_LOGIN, lowered, plain, there, "password", _is_signed)
    there = near(lowered, _PASSWORD_SIGNS, *_OF_PASSWORDS)
    yield from _values(_PASSWORDS, lowered, plain, there, "password", _is_password)
    there = near(lowered, _KEY_SIGNS, *_OF_NAMED_KEYS)
    yield from _values(_NAMED_KEYS, lowered, plain, there, "api-key", _is_key)
    yield from _values(_NEAR_KEYS, lowered, plain, there, "api-key", _is_random)


def _values(
    pattern: re.Pattern[str],
    text: str,
    plain: str,
    stretches: Sequence[tuple[int, int]],
    label: str,
    accepts: Callable[[str], bool],
) -> Iterator[Hit]:
    """Yield the values of a pattern that are no placeholders, without the marks at their end."""
    for one in within(pattern, text, stretches):
        start, end = one.span(1)
        closing = ".,;:\"'`|" if label == "password" else ".,;:!?\"'`*|"
        end = start + len(plain[start:end].rstrip(closing))
        value = plain[start:end]
        if value and not _NO_VALUE.match(value) and accepts(value):
            yield Hit(start, end, label)


def _beside(plain: str, lowered: str) -> Iterator[Hit]:
    """Yield passwords and codes of doors that stand beside a word for what they open."""
    for begin, until in near(lowered, _ENTRY_SIGNS, *_OF_ENTRIES):
        for one in _TOKEN.finditer(plain, begin, min(until, len(plain))):
            value = one[0].lstrip("\"'`([<“,;:")
            start = one.end() - len(value)
            value = value.rstrip(".,;:)]>\"'`")
            for mark in ("=", ":", "/"):  # id/pw=kim/… and login svc:…
                name, _, rest = value.rpartition(mark)
                if name and _looks_chosen(rest):
                    start, value = start + len(value) - len(rest), rest
            if _looks_chosen(value) and (start == begin or not plain[start - 1].isalnum()):
                yield Hit(start, start + len(value), "password")
    for begin, until in near(lowered, _DOOR_SIGNS, *_OF_DOORS):
        if not _OPENS.search(lowered, begin, until):
            continue
        for one in _DOOR_CODE.finditer(lowered, begin, min(until, len(plain))):
            if not _is_date(one[0]):
                yield Hit(one.start(), one.end(), "password")


def _looks_chosen(value: str) -> bool:
    """Whether a word was chosen as a password: letters, digits and signs, or cases, mixed."""
    if not 6 <= len(value) <= 64 or _ADDRESS.match(value) or _NO_VALUE.match(value):
        return False
    if re.search(r"@[\w-]+\.\w|[(){}<>=/\\]|://", value) or _UUID.fullmatch(value):
        return False
    if not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    if re.search(r"\w[!@#$%^&*?~+]+\w|\w[!@#$%^&*?~]+$|^[!@$%^&*?~]\w", value):
        return True
    cased = any(map(str.isupper, value)) and any(map(str.islower, value))
    return cased and len(value) >= 8 and not re.search(r"(?i)\bv\d|[._]\w+$", value)


def _is_random_part(value: str) -> bool:
    mixed = sum(a.islower() != b.islower() for a, b in pairwise(value)) * 4 >= len(value)
    return len(value) >= 16 and (mixed or _is_random(value) or bool(_HEX.fullmatch(value)))


def _is_certainly_random(value: str) -> bool:
    """Whether a token says by itself that it was generated; data and wallets have no dots."""
    if len(value) < 40 or len(value) > 300 or not _is_random(value):
        return False
    cased = any(map(str.isupper, value)) and any(map(str.islower, value))
    return cased and bool(re.search(r"[._-]", value))


def _private_keys(plain: str) -> Iterator[Hit]:
    at = 0
    while begun := _BEGIN.search(plain, at):
        start = begun.end()
        ended = _END.search(plain, start, start + _LONGEST_KEY) or _KEY_BODY.match(plain, start)
        assert ended is not None  # a body may be empty
        at = ended.end()
        yield Hit(begun.start(), at, "private-key")


def _is_password(value: str) -> bool:
    """Whether a value after the word password is one: no word, no time or date, no amount."""
    value = _ascii_start(value)
    if _UUID.fullmatch(value):
        return False
    digits = sum(char.isdigit() for char in value)
    if _NUMBER.fullmatch(value):
        return digits >= 4 and value.replace("-", "").isdigit() and not _is_date(value)
    if digits >= 4 and value.strip("#*").isdigit():
        return True
    signed = bool(_CERTAIN.search(value[:-1])) or value.endswith(("#", "$", "@", "%", "&"))
    return len(value) >= 6 and (signed or (digits > 0 and any(map(str.isalpha, value))))


def _is_certain_key(value: str) -> bool:
    """Whether a value without a digit is a key: by its prefix and its letters of both cases."""
    found = _CERTAIN_KEYS.match(value)
    rest = value[found.end() :] if found else ""
    return rest.lower() != rest != rest.upper()


def _is_signed(value: str) -> bool:
    """Whether a value behind the name of an account is a password: letters, digits, and a sign."""
    return _is_password(value) and bool(_CERTAIN.search(value)) and any(map(str.isdigit, value))


def _is_date(value: str) -> bool:
    return bool(re.fullmatch(r"(?:19|20)\d\d-\d\d?(?:-\d\d?)?|(?:19|20)\d\d", value))


def _ascii_start(value: str) -> str:
    """Return what stands before the first letter of another script, where particles follow."""
    found = re.match(r"[!-~]+", value)
    return found[0] if found else ""


def _is_key(value: str) -> bool:
    value = _ascii_start(value)
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    if len(value) < 8 or not digits or not letters:
        return False
    if any(map(str.isupper, value)) and any(map(str.islower, value)):
        return True
    return (len(value) >= 16 and digits >= 3) or bool(_CERTAIN.search(value)) or _is_random(value)


def _is_random(value: str) -> bool:
    """Whether a token looks generated: long, of several kinds of characters, hardly repeated.

    Digests, commit hashes and UUIDs are no secrets unless their name says so.
    """
    value = _ascii_start(value)
    if len(value) < 12 or _UUID.fullmatch(value) or _NUMBER.fullmatch(value):
        return False
    if _ADDRESS.match(value):
        return False
    if _HEX.fullmatch(value):
        return False
    kinds = sum(
        any(test(char) for char in value) for test in (str.isdigit, str.islower, str.isupper)
    )
    changes = sum(_kind(a) != _kind(b) for a, b in pairwise(value))
    return kinds >= 2 and any(map(str.isdigit, value)) and changes * 4 >= len(value)


def _kind(char: str) -> int:
    return 0 if char.isdigit() else 1 if char.islower() else 2 if char.isupper() else 3
