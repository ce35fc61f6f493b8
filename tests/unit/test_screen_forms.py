"""What has a form is found in any of its forms: secrets, numbers of persons, code that harms."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from pathlib import Path

import pytest

from core.domain.models import Kind, ScreenSeverity
from core.safety.masking import mask
from core.safety.screen import screen, screen_skill

R = random.Random(20261124)
LETTERS = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
CODE = Path(__file__).parent / "screen_code"


def some(length: int, alphabet: str = LETTERS) -> str:
    """Return letters that a generator of keys might give; some of each kind."""
    while True:
        made = "".join(R.choice(alphabet) for _ in range(length))
        kinds = (str.islower, str.isupper, str.isdigit)
        wanted = [kind for kind in kinds if any(map(kind, alphabet))] if length > 12 else []
        if all(any(map(kind, made)) for kind in wanted):
            return made


def digits(length: int) -> str:
    return some(length, string.digits)


def summed(prefix: str, length: int) -> str:
    """Return the number of a card."""
    body = prefix + digits(length - len(prefix) - 1)
    doubled = [
        sum(divmod(int(digit) * (1 if at % 2 else 2), 10)) for at, digit in enumerate(body[::-1])
    ]
    return body + str(-sum(doubled) % 10)


def parted(number: str, sign: str, groups: tuple[int, ...] = (4, 4, 4, 4)) -> str:
    ends = [sum(groups[: at + 1]) for at in range(len(groups))]
    return sign.join(number[end - size : end] for end, size in zip(ends, groups, strict=True))


def resident(gap: str, seventh: str = "1234") -> str:
    day = f"{R.randrange(50, 99)}{R.randrange(1, 13):02}{R.randrange(1, 29):02}"
    return f"{day}{gap}{R.choice(seventh)}{digits(6)}"


KEYS: dict[str, Callable[[], str]] = {
    "aws": lambda: "AKIA" + some(16, UPPER),
    "github": lambda: "ghp_" + some(36),
    "github fine": lambda: f"github_pat_{some(22)}_{some(59)}",
    "gitlab": lambda: "glpat-" + some(20),
    "slack": lambda: f"xoxb-{digits(12)}-{digits(12)}-{some(24)}",
    "openai": lambda: "sk-proj-" + some(60),
    "anthropic": lambda: "sk-ant-api03-" + some(93),
    "stripe": lambda: "sk_live_" + some(24),
    "google": lambda: "AIza" + some(35),
    "hugging face": lambda: "hf_" + some(34),
    "npm": lambda: "npm_" + some(36),
    "pypi": lambda: "pypi-AgEIcHlwaS5vcmc" + some(60),
    "sendgrid": lambda: f"SG.{some(22)}.{some(43)}",
    "twilio": lambda: "SK" + some(32, HEX),
    "telegram": lambda: f"{digits(9)}:AA{some(33)}",
    "jwt": lambda: f"eyJ{some(20)}.eyJ{some(40)}.{some(43)}",
    "doppler": lambda: "dp.pt." + some(43),
    "planetscale": lambda: "pscale_tkn_" + some(43),
    "notion": lambda: "secret_" + some(43),
    "airtable": lambda: f"pat{some(14)}.{some(64, HEX)}",
    "discord": lambda: f"MT{some(24)}.{some(6)}.{some(38)}",
    "new relic": lambda: "NRAK-" + some(27, UPPER),
    "grafana": lambda: f"glsa_{some(32)}_{some(8, HEX)}",
    "kakao": lambda: "KakaoAK " + some(32, HEX),
    "toss": lambda: "live_sk_" + some(32),
    "postgres": lambda: f"postgres://app:{some(16)}@db.example:5432/x",
    "bearer": lambda: "Authorization: Bearer " + some(40),
    "slack hook": lambda: f"https://hooks.slack.com/services/T{some(8)}/B{some(8)}/{some(24)}",
    "any hook": lambda: f"https://hooks.chat.example/services/T{some(5)}/B{some(5)}/{some(20)}",
    "query": lambda: f"https://oapi.example/robot/send?access_token={some(64, HEX)}",
    "private key": lambda: (
        f"-----BEGIN RSA PRIVATE KEY-----\n{some(64)}\n-----END RSA PRIVATE KEY-----"
    ),
    "totp": lambda: f"otpauth://totp/x:bob?secret={some(32, 'abcdefghijklmnopqrstuvwxyz234567')}",
}
PASSWORDS = [
    "Gwan!ak#2207",
    "Marigold-Trolley-88",
    "hanul2024!@",
    "zxcv!@34",
    "Kim!2580",
    "P@ssw0rd77",
]
SAID = [
    *("비번 바뀜 → {}", "비밀번호는 {} 입니다", "프런트 공용 계정 쓰세요. front01 / {} 입니다"),
    *(
        "아이디 front01 비번 {}",
        "로그인은 pharmnight, {}",
        "id/pw = kim/{}",
        "와이파이 비번은 {} 이에요",
    ),
    *("the login is pharmnight and {}", "password changed to {}", "creds are till3/{}"),
    *("use admin and {} to get in", "wifi: StaffNet / {}", "log in with frontdesk / {}"),
]
CODES = ["4471", "905173", "0719#", "1123*9", "*8842#", "73-19-44"]
DOORS = [
    *(
        "{} (뒷문 보안키패드)",
        "도어락 번호 {}",
        "금고 번호는 {}",
        "경보 해제 코드 {}",
        "현관 비번 {}",
    ),
    *(
        "Alarm PIN for the jewellery cabinet is {}",
        "combination of the safe: {}",
        "gate keypad: {}",
    ),
    *("to disarm the alarm type {}", "entry code changed to {}"),
]
NUMBERS: dict[str, Callable[[], str]] = {
    "resident -": lambda: resident("-"),
    "resident  - ": lambda: resident(" - "),
    "resident en dash": lambda: resident("–"),
    "resident words": lambda: "주민 앞자리 " + resident(" 뒷자리 "),
    "resident plain": lambda: "주민번호: " + resident(""),
    "resident after": lambda: resident("") + " (주민번호)",
    "foreigner": lambda: "외국인등록번호 " + resident("-", "5678"),
    "card": lambda: summed("4", 16),
    "card blanks": lambda: parted(summed("5", 16), " "),
    "card two blanks": lambda: parted(summed("5", 16), "  "),
    "card dots": lambda: "카드 " + parted(summed("9411", 16), "."),
    "card slashes": lambda: "card no " + parted(summed("4", 16), "/"),
    "card odd": lambda: "card " + parted(summed("4", 16), " ", (2, 4, 4, 4, 2)),
    "amex": lambda: parted(summed("37", 15), " ", (4, 6, 5)),
    "passport": lambda: "여권번호 M" + digits(8),
    "passport new": lambda: f"여권 M{digits(3)}A{digits(4)}",
    "passport abroad": lambda: "passport no. X" + digits(8),
    "licence": lambda: f"{R.randrange(11, 28)}-{digits(2)}-{digits(6)}-{digits(2)}",
    "licence old": lambda: f"면허번호는 서울 {digits(2)}-{digits(6)}-{digits(2)}",
    "ssn": lambda: f"{R.randrange(100, 665)}-{digits(2)}-{digits(4)}",
    "national insurance": lambda: f"National Insurance AB {digits(2)} {digits(2)} {digits(2)} D",
    "nhs": lambda: f"NHS {digits(3)} {digits(3)} {digits(4)}",
    "sin": lambda: f"SIN {digits(3)}-{digits(3)}-{digits(3)}",
    "aadhaar": lambda: f"Aadhaar {digits(4)} {digits(4)} {digits(4)}",
    "pan": lambda: f"PAN ABCPK{digits(4)}L",
    "dni": lambda: f"DNI {digits(8)}Z",
    "nir": lambda: "French social security 1 84 12 76 451 089 46",
    "personnummer": lambda: f"Swedish personal number 811228-{digits(4)}",
    "china": lambda: "Chinese ID 11010519491231002X",
    "medicare": lambda: f"Medicare {digits(4)} {digits(5)} {digits(1)}",
    "health": lambda: f"건강보험증 번호 {digits(1)}-{digits(10)}",
}
AROUND = ["{}", "remember {} please", "손님 정보 {} 저장해 주세요", "{}입니다", "| kim | {} |"]


@pytest.mark.parametrize("vendor", KEYS)
def test_a_key_is_masked_whoever_issued_it(vendor: str) -> None:
    for around in (
        "use {} for this",
        "키는 {} 입니다",
        "config:\n{}\nthanks",
        "키 {}로 바꿔 주세요",
    ):
        for _ in range(3):
            text = around.format(KEYS[vendor]())
            assert "[masked:" in mask(text).text, text


@pytest.mark.parametrize("said", SAID)
def test_a_password_is_masked_however_it_is_told(said: str) -> None:
    assert [one for one in PASSWORDS if one in mask(said.format(one)).text] == []


@pytest.mark.parametrize("said", DOORS)
def test_the_code_of_a_door_is_masked_however_told(said: str) -> None:
    assert [one for one in CODES if one in mask(said.format(one)).text] == []


@pytest.mark.parametrize("kind", NUMBERS)
def test_the_number_of_a_person_is_masked_in_any_form(kind: str) -> None:
    for around in AROUND:
        for _ in range(3):
            text = around.format(NUMBERS[kind]())
            assert "[masked:" in mask(text).text, text


@pytest.mark.parametrize(
    "text",
    [
        "송장번호 880124-2039471 이거 주민번호 아닙니다",
        "Order 4539 1488 0343 6460 is late",  # no sum of a card
        "commit 3f786850e387550fdab836ed7e6dc881de23001b, 123e4567-e89b-12d3-a456-426614174000",
        "The gate at pier 12 opens at 0900 hours, 450 people",
        "금고 한도는 3000만원, 경보는 2024년에 4번 울렸습니다",
        "wallet TQm4xZr8LwKd2NvYp6HsB1cJ9eUfGa3RtV",  # where money goes is for a person to see
        "Please log in with your staff card, see docs/login-v2.md",
        "계정은 부서 대표 메일 team@shop.example 입니다",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert mask(text).text == text


def programs(name: str) -> list[tuple[str, str]]:
    """Return programs of a file as (language, code); `\\n` in a line of Python breaks it."""
    lines = (CODE / name).read_text("utf-8").splitlines()
    parts = (line.partition(": ") for line in lines if line)
    return [
        (language, code.replace("\\n", "\n") if language == "py" else code)
        for language, _, code in parts
    ]


SUFFIXES = {"perl": "pl", "ruby": "rb", "powershell": "ps1"}


def harms(language: str, code: str) -> tuple[bool, bool]:
    """Return whether a program is held as a block of a text, and as a script."""
    text = (
        f"Skill x\n\n```{ {'sh': 'bash', 'py': 'python'}.get(language, language) }\n{code}\n```\n"
    )
    path = f"scripts/a.{SUFFIXES.get(language, language)}"
    as_block = screen(None, text, kind=Kind.SKILL)
    as_script = screen_skill({}, {path: f"{code}\n".encode()})
    hold = ScreenSeverity.HOLD
    return any(one.severity is hold for one in as_block), any(
        one.severity is hold for one in as_script
    )


@pytest.mark.parametrize(("language", "code"), programs("harmful.txt"))
def test_code_that_harms_is_held_in_whatever_words(language: str, code: str) -> None:
    assert harms(language, code) == (True, True)


@pytest.mark.parametrize(("language", "code"), programs("ordinary.txt"))
def test_code_that_only_works_is_not_held(language: str, code: str) -> None:
    assert harms(language, code) == (False, False)
