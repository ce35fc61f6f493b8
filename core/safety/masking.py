"""Secrets and numbers of persons, masked before a text is stored anywhere.

Every pattern starts where a token starts and is bounded, so that no text takes more than linear
time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.domain.models import Finding, ScreenSeverity
from core.safety.findings import PLACEHOLDER, finding
from core.safety.person_numbers import NUMBERS, Hit, near, persons, within
from core.safety.rules import words

# Before anything else: a text in lower case without any of them, and without a run of digits,
# contains nothing of what is looked for below. Looking for words takes a tenth of a pattern.
_PASSWORD_SIGNS = words("pass|pwd|pw|pin|code|wifi key|wi-fi key|psk|비밀|비번|암호|패스|출입|공동")
_KEY_SIGNS = words(
    "secret|token|key|credential|signature|authorization|password|비밀|키|시크릿|토큰|인증|비번|암호"
)
_PREFIXES = words(
    "sk-|sk_|pk_|rk_|gsk_|ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-"
    "|gldt-|glrt-|glptt-|xox|xapp-|akia|asia|agpa|aida|aroa|anpa|abia"
    "|acca|aiza|ya29.|gocspx-|hf_|npm_|r8_|sbp_|swk_|whsec_|rpa_|ntn_"
    "|dckr_pat|lin_api|figd|vcp_|tskey|phc_|sntrys|shpat|shpca|shppa"
    "|shpss|dop_v1|doo_v1|rubygems|pul-|eaac|atatt3|atctt3|pypi-|sg."
    "|key-|sq0|pmak-|pplx-|xai-|nvapi-|tvly-|dapi|hvs.|age-secret|:aa"
    "|eyj|ac0|ac1|ac2|ac3|ac4|ac5|ac6|ac7|ac8|ac9"
)
_URL_SIGNS = ("://",)
_SCHEME_SIGNS = ("bearer", "basic", "kakaoak", "token")
_LOGIN_SIGNS = ("계정", "아이디", "login", "credential", "user")
_OPTION_SIGNS = ("-u ", "--user")
_BEGIN_SIGNS = ("-----begin",)
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
            "@",
            "hooks.",
            "webhook",
            "여권",
        )
    )
)
DIGITS = re.compile(r"[0-9０-９](?:[^0-9０-９\w\n]{0,3}[0-9０-９A-Za-z]){6}")
# Written otherwise, meant the same: full-width letters and digits, dashes, blanks. One for one.
_FOLDED: dict[int, int | str] = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212), "-"),
    **dict.fromkeys((0xA0, 0x2002, 0x2003, 0x2009, 0x202F, 0x3000), " "),
}
_LINE = 1000
_INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e01ef]+"
)


@dataclass(frozen=True)
class Masked:
    """A text without secrets, and what was taken out: spans of the original, quotes masked.

    All findings have the severity MASK.
    """

    text: str
    findings: tuple[Finding, ...] = ()


def mask(text: str, *, place: str = "") -> Masked:
    """Return a text with each secret and number of a person replaced by `[masked:what]`.

    Masking again changes nothing. What is masked is known by `screen` for what it was: the
    number of a person is held there, a secret is noted. Never raises on any text.
    """
    hits = sensitive(text)
    if not hits:
        return Masked(text)
    parts, at = [], 0
    for hit in hits:
        parts += [text[at : hit.start], f"[masked:{hit.label}]"]
        at = hit.end
    clear = "".join([*parts, text[at:]])
    return Masked(clear, tuple(_findings(clear, hits, place)))


def _findings(clear: str, hits: Sequence[Hit], place: str) -> Iterator[Finding]:
    """Yield the findings of what was masked; the line they are known by is the masked one."""
    shift = 0
    for hit in hits:
        quote = f"[masked:{hit.label}]"
        at = hit.start + shift
        shift += len(quote) - (hit.end - hit.start)
        earliest = max(0, at - _LINE)
        begin = max(earliest, clear.rfind("\n", earliest, at) + 1)
        end = clear.find("\n", at, at + _LINE)
        yield finding(
            code_of(hit.label),
            (hit.start, hit.end),
            ScreenSeverity.MASK,
            quote=quote,
            context=clear[begin : end if end >= 0 else at + _LINE],
            place=place,
        )


def code_of(label: str) -> str:
    """Return the code of the finding of what is masked under a label."""
    name = label.replace("-", "_")
    return f"personal_id.{name}" if name in NUMBERS else f"secret.{name}"


def sensitive(text: str) -> list[Hit]:
    """Return what of a text must not be stored, in order, without overlaps."""
    plain, places = without_invisible(text if text.isascii() else text.translate(_FOLDED))
    lowered = plain.lower()
    if len(lowered) != len(plain):
        lowered = plain
    if not any(sign in lowered for sign in SIGNS) and not DIGITS.search(plain):
        return []
    found = [*_secrets(plain, lowered), *persons(plain, lowered)]
    barriers = [(one.start(), one.end()) for one in PLACEHOLDER.finditer(plain)]
    found = [hit for hit in found if not any(a < hit.end and hit.start < b for a, b in barriers)]
    return [
        Hit(places[hit.start], places[hit.end - 1] + 1, hit.label) if places else hit
        for hit in _apart(found)
    ]


def without_invisible(text: str) -> tuple[str, list[int]]:
    """Return a text as it is read, and where each character was if some were left out."""
    if text.isascii() or not _INVISIBLE.search(text):
        return text, []
    places: list[int] = []
    at = 0
    for one in _INVISIBLE.finditer(text):
        places += range(at, one.start())
        at = one.end()
    places += range(at, len(text))
    return _INVISIBLE.sub("", text), places


def _apart(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Yield hits in order; of those that overlap the first, as long as all together."""
    last: Hit | None = None
    for hit in sorted(hits, key=lambda one: (one.start, -one.end)):
        if last is not None and hit.start < last.end:
            last = Hit(last.start, max(last.end, hit.end), last.label)
            continue
        if last is not None:
            yield last
        last = hit
    if last is not None:
        yield last


# ---- secrets ---------------------------------------------------------------------------------

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
    r"|key-[0-9a-f]{32}|(?:AC|SK)[0-9a-f]{32}|sq0[a-z]{3}-[\w-]{20,}|PMAK-[\w-]{30,}"
    r"|(?:pplx|xai|nvapi|tvly|dapi)-?\w[\w-]{24,}|hvs\.[\w-]{20,}"
    r"|AGE-SECRET-KEY-1\w{40,}|\d{8,10}:AA[\w-]{30,}"
    r"|eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?)"
)
_HOOKS = re.compile(
    r"https?://(?:hooks\.slack\.com/(?:services|workflows)/"
    r"|discord(?:app)?\.com/api/webhooks/|[\w-]{1,60}\.webhook\.office\.com/"
    r"|chat\.googleapis\.com/v1/spaces/)[^\s\"'<>)]{8,300}"
)
_SCHEMES = re.compile(r"\b(?:bearer|basic|kakaoak|token)\s{1,3}([\w.~+/=-]{12,})")
_URL_PASSWORD = re.compile(r"://[^\s/:@\"'<>]{0,64}:([^\s/\"'<>]{1,100})@(?=[\w\[])")
_URL_KEY = re.compile(r"://([0-9a-f]{24,64}|[A-Za-z0-9_-]{24,100})@(?=[\w\[])")
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
    r"|을)(?=[\s:]))?\s{0,3}(?:[:=]\s{0,3})?[\"'`“‘*]{0,3}"
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


def _secrets(plain: str, lowered: str) -> Iterator[Hit]:
    if "-----begin" in lowered:
        yield from _private_keys(plain)
    for one in within(_KEYS, plain, near(lowered, _PREFIXES, 8, 600)):
        if any(char.isdigit() for char in one[0]) or _is_certain_key(one[0]):
            label = "token" if one[0].startswith("eyJ") else "api-key"
            yield Hit(one.start(), one.end(), label)
    links = near(lowered, _URL_SIGNS, 12, 500)
    if links:
        for one in within(_HOOKS, plain, links):
            yield Hit(one.start(), one.end(), "token")
        yield from _values(_URL_PASSWORD, plain, plain, links, "password", bool)
        yield from _values(_URL_KEY, plain, plain, links, "token", bool)
        yield from _values(_QUERY, lowered, plain, links, "token", _is_random)
    there = near(lowered, _SCHEME_SIGNS, 1, 400)
    yield from _values(_SCHEMES, lowered, plain, there, "token", _is_random)
    there = near(lowered, _OPTION_SIGNS, 2, 200)
    yield from _values(_USER_PASSWORD, plain, plain, there, "password", _is_password)
    there = near(lowered, _LOGIN_SIGNS, 4, 200)
    yield from _values(_LOGIN, lowered, plain, there, "password", _is_signed)
    there = near(lowered, _PASSWORD_SIGNS, 12, 400)
    yield from _values(_PASSWORDS, lowered, plain, there, "password", _is_password)
    there = near(lowered, _KEY_SIGNS, 16, 400)
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


def _private_keys(plain: str) -> Iterator[Hit]:
    at = 0
    while begun := _BEGIN.search(plain, at):
        ended = _END.search(plain, begun.end(), begun.end() + 20_000)
        body = None if ended else _KEY_BODY.match(plain, begun.end())
        at = ended.end() if ended else body.end() if body else begun.end()
        yield Hit(begun.start(), at, "private-key")


def _is_password(value: str) -> bool:
    """Whether a value after the word password is one: no word, no time or date, no amount."""
    value = _ascii_start(value)
    if len(value) < 4 or _UUID.fullmatch(value):
        return False
    digits = sum(char.isdigit() for char in value)
    if _NUMBER.fullmatch(value):
        return digits >= 4 and value.replace("-", "").isdigit() and not _is_date(value)
    letters = sum(char.isalpha() for char in value)
    if digits >= 4 and not letters and value.strip("#*").isdigit():
        return True
    signs = bool(_CERTAIN.search(value[:-1]) or value[-1:] in ("#", "$", "@", "%", "&"))
    return (digits > 0 and letters > 0 and len(value) >= 6) or (signs and len(value) >= 6)


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
