"""Secrets and numbers of persons are masked before they are stored; what is harmless stays."""

from __future__ import annotations

import random
import string
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from core.domain.errors import InvalidInput
from core.domain.models import NewFeedback, ScreenSeverity
from core.safety.masking import (
    Masked,
    mask,
    masked_again,
    masked_call,
    masked_feedback,
    masked_model,
)
from core.safety.person_numbers import ORDERS

ALNUM = string.ascii_letters + string.digits


def _word(of: random.Random, length: int, letters: str = ALNUM) -> str:
    return (
        "".join(of.choice(letters) for _ in range(length - 2)) + of.choice("abc") + of.choice("123")
    )


def _resident(of: random.Random) -> str:
    day = f"{of.randrange(100):02}{of.randrange(1, 13):02}{of.randrange(1, 29):02}"
    return f"{day}-{of.randrange(1, 9)}{of.randrange(10**6):06}"


MADE = {
    "sk-": lambda of: f"sk-proj-{_word(of, 40)}",
    "ghp": lambda of: f"ghp_{_word(of, 36)}",
    "aws": lambda of: f"AKIA{_word(of, 16, string.ascii_uppercase + string.digits).upper()}",
    "aws secret": lambda of: f"AWS_SECRET_ACCESS_KEY={_word(of, 40)}",
    "slack": lambda of: f"xoxb-{_word(of, 40)}",
    "google": lambda of: f"AIza{_word(of, 35)}",
    "jwt": lambda of: f"eyJ{_word(of, 20)}.{_word(of, 30)}.{_word(of, 30)}",
    "bearer": lambda of: f"Authorization: Bearer {_word(of, 32)}",
    "password": lambda of: f"password: {_word(of, 12)}",
    "비밀번호": lambda of: f"비밀번호는 {_word(of, 10)}입니다",
    "비번": lambda of: f"비번 {_word(of, 8)}!",
    "url": lambda of: f"postgresql://app:{_word(of, 14)}@db.internal:5432/x",
    "resident": _resident,
    "resident in full width": lambda of: _resident(of).translate(
        {ord(c): ord(c) + 0xFEE0 for c in string.digits}
    ),
    "resident with blanks": lambda of: _resident(of).replace("-", " - "),
}
HARMLESS = [
    "fixed in commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "request 550e8400-e29b-41d4-a716-446655440000 failed",
    "주문번호 240315-1234567 은 취소되었습니다",
    "order 2024031512345678 was shipped",
    "사업자등록번호는 220-81-62517 입니다",
    "국민은행은 보통 6-2-6자리, 예: 000000-00-000000",
    "주민번호는 900101-1****** 처럼 가려 주세요",
    "the password must have 12 characters and a sign",
    "비밀번호는 8자 이상으로 3개월마다 바꿉니다",
    "토큰 1개당 500원, 암호는 3회 틀리면 잠깁니다",
    'token = os.environ["API_TOKEN"]',
    "password=${DB_PASSWORD} key=<your key>",
    "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    "call 02-123-4567 or 010-1234-5678",
    "2024-03-15 14:30:00, 1,234,567 KRW",
]


def _secret(text: str) -> str:
    """Return the part of a made text that must not survive."""
    value = text.rpartition("@")[0].rpartition(":")[2] if "://" in text else text
    parts = value.replace("=", " ").replace("입니다", "").rstrip("!").split(" ")
    return max(parts, key=len)


# Behind the word order a number is no person's.
BEFORE = st.text(max_size=20).filter(lambda text: not any(one in text.lower() for one in ORDERS))


@pytest.mark.parametrize("name", MADE)
@settings(max_examples=25)
@given(seed=st.integers(min_value=0), before=BEFORE, after=st.text(max_size=20))
@example(seed=0, before="", after="000000000A/0")
def test_no_secret_and_no_number_survives(name: str, seed: int, before: str, after: str) -> None:
    made = MADE[name](random.Random(seed))
    text = f"{before}\n{made}\n{after}"
    masked = mask(text)
    assert _secret(made) not in masked.text
    assert mask(masked.text).text == masked.text
    assert all(one.severity is ScreenSeverity.MASK for one in masked.findings)
    assert all(_secret(made) not in one.model_dump_json() for one in masked.findings)


@settings(max_examples=30)
@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_is_masked_and_masking_again_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once.text).text == once.text
    assert mask(once.text).findings == ()


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert mask(text).text == text


def test_spans_are_of_the_original_text_also_around_invisible_characters() -> None:
    text = "번호 9\u200b00817-2\u200b045518, 비번은 Hunter2!x"
    found = mask(text).findings
    assert [text[one.start : one.end] for one in found] == [
        "9\u200b00817-2\u200b045518",
        "Hunter2!x",
    ]
    assert mask(text).text == "번호 [masked:resident-number], 비번은 [masked:password]"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("SSN 987-65-4326", "national-id"),
        ("her DNI is 00048213M", "national-id"),
        ("여권번호 M41928374", "passport"),
        ("운전면허 11-00-048213-70", "licence"),
        ("카드 9430-0212-3345-8817 로 결제", "card"),
        ("Visa 4539 1488 0343 6467", "card"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "private-key"),
        ("https://hooks.slack.com/services/T02DEMO11/B03DEMO22/q8Zr5LkW1xYv", "token"),
    ],
)
def test_each_kind_is_named_in_its_place(text: str, label: str) -> None:
    assert f"[masked:{label}]" in mask(text).text


@pytest.mark.parametrize(
    "piece",
    [
        *("password ", "key=", "-----BEGIN PRIVATE KEY-----\n", "eyJ-", "://a:", "ssn 1", "9" * 50),
        *("1-" * 30, "secret aA1", "여권 ", "a@", "sk-", "\u200b9", "card 4", "비밀번호는 "),
    ],
)
def test_no_text_is_slow_to_mask(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    begun = time.process_time()
    mask(text)
    # 20 to 150 ms on a quiet machine; what grows with the square takes seconds to minutes
    assert time.process_time() - begun < 2


def texts() -> Iterator[tuple[str, str]]:
    """Yield a text, and what is stored of it."""
    for line in Path(__file__).with_name("masked.txt").read_text("utf-8").splitlines():
        text, _, stored = line.replace("\\n", "\n").partition("\t")
        yield text, stored


@pytest.mark.parametrize(("text", "stored"), [*texts()])
def test_just_what_is_secret_or_a_persons_is_masked(text: str, stored: str) -> None:
    assert mask(text).text == stored
    assert mask(f"\n{text}").text == f"\n{stored}"
    assert mask(stored).text == stored


def test_what_is_masked_is_known_by_its_line_and_place() -> None:
    text = f"first\n{'x' * 300} ssn 123-45-6789 then\npassword: Sommer24 end\nlast"
    found = mask(text, place="task").findings
    assert [text[one.start : one.end] for one in found] == ["123-45-6789", "Sommer24"]
    assert [one.quote for one in found] == ["[masked:national-id]", "[masked:password]"]
    assert [one.code for one in found] == ["personal_id.national_id", "secret.password"]
    assert {one.severity for one in found} == {ScreenSeverity.MASK}
    other = mask(text.replace("last", "else").replace("first", "other"), place="task").findings
    assert [one.digest for one in other] == [one.digest for one in found]
    line = mask(text.replace(" end", " END"), place="task").findings
    assert [a.digest == b.digest for a, b in zip(line, found, strict=True)] == [True, False]


def test_what_cannot_be_seen_hides_nothing() -> None:
    assert mask("pass\u200bword: Som\u200bmer24 가").text == "pass\u200bword: [masked:password] 가"
    assert mask("가 password: Sommer24 나").text == "가 password: [masked:password] 나"


def _token(length: int, of: str = "aB3x9Kq-2") -> str:
    return (of * 40)[:length]


@pytest.mark.parametrize(
    ("token", "stays"),
    [
        (_token(39), True),
        (_token(40), False),
        (_token(300), False),
        (_token(301), True),  # data
        (_token(48, "aB3x9Kq2"), True),  # no sign: it may be the address of a wallet
        (_token(48, "ab3x9kq-2"), True),
        (_token(48, "AB3X9KQ-2"), True),
        (_token(48, "aBcxyKq-z"), True),
        (f"{_token(40, 'aB3x9Kq2')}.Op34", False),
    ],
)
def test_a_long_token_says_by_itself_that_it_was_generated(token: str, stays: bool) -> None:
    told = token if stays else "[masked:api-key]"
    assert mask(f"see {token} now").text == f"see {told} now"


BEGIN, END = "-----BEGIN PRIVATE KEY-----\n", "\n-----END PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (f"{BEGIN}MIIabc{END}\nmid\n{BEGIN}MIIdef{END} end", "{}\nmid\n{} end"),
        (f"{BEGIN}(as sent){'A' * 19_000}{END}, end", "{}, end"),
        (f"{BEGIN}(as sent){'A' * 20_000}", f"{{}}(as sent){'A' * 20_000}"),
        (f"a {BEGIN}MII+/=abc (cut off)", "a {}(cut off)"),
    ],
)
def test_a_private_key_is_masked_to_its_end(text: str, stored: str) -> None:
    assert mask(text).text == stored.replace("{}", "[masked:private-key]")


class Asked(BaseModel):
    """What is asked for, with a name by which it is found again."""

    skill_id: str = ""
    text: str = ""
    number: int = 0
    parts: tuple[object, ...] = ()
    files: dict[str, object] = {}


SSN, CARD = "ssn 123-45-6789", 4111111111111111


def test_every_text_of_a_model_is_masked_and_its_ids_stay() -> None:
    asked = Asked(
        skill_id=SSN,
        text=SSN,
        number=CARD,
        parts=({"memory_id": SSN, SSN: SSN}, [SSN, 7], CARD, None, 1.5),
        files={
            "a.md": SSN.encode(),
            "b.png": b"\xff" + SSN.encode(),
            "c": {"knowledge_ids": [SSN]},
        },
    )
    masked = "ssn [masked:national-id]"
    made = masked_model(asked)
    assert made.skill_id == SSN
    assert (made.text, made.number) == (masked, "[masked:card]")
    assert made.parts == (
        {"memory_id": SSN, masked: masked},
        [masked, 7],
        "[masked:card]",
        None,
        1.5,
    )
    assert made.files == {
        "a.md": masked.encode(),
        "b.png": b"\xff" + SSN.encode(),
        "c": {"knowledge_ids": [SSN]},
    }
    assert masked_call({"rule_id": SSN, "texts": [SSN]}) == {"rule_id": SSN, "texts": [masked]}


def test_what_has_nothing_to_mask_is_no_copy() -> None:
    asked = Asked(text="x", number=10**11 - 1, parts=([1], {"a": "b"}), files={"a": b"c"})
    assert masked_model(asked) is asked
    call = {"a": [{"b": "c"}, ("d", 10**12)]}
    assert masked_call(call) is call
    some = masked_model(Asked(text=SSN, parts=([1], {"a": "b"}), files={"a": b"c"}))
    assert (some.parts, some.files) == (([1], {"a": "b"}), {"a": b"c"})


def test_two_keys_that_are_masked_alike_leave_one() -> None:
    assert masked_call({"ssn 123-45-6789": 1, "ssn 123-45-6788": 1}) == {
        "ssn [masked:national-id]": 1
    }


def test_a_piece_says_where_it_was_masked_and_is_not_masked_twice() -> None:
    piece = NewFeedback(
        tenant_id="t",
        agent_ids=("a",),
        content=SSN,
        task=SSN,
        author="kim",
        events=({"note": SSN},),
        output={"items": [{"note": SSN}]},
    )
    made = masked_feedback(piece)
    assert SSN not in made.model_dump_json()
    assert [one.place for one in made.masked] == [
        "",
        "task",
        "events.0.note",
        "output.items.0.note",
    ]
    assert masked_feedback(made) is made
    both = masked_again(made.model_copy(update={"author": SSN}), mask)
    assert [one.place for one in both.masked] == [*(one.place for one in made.masked), "author"]


@pytest.mark.parametrize("name", ["id", "in_reply_to", "thread"])
def test_a_secret_is_no_name_of_a_piece(name: str) -> None:
    piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="x", **{name: SSN})
    with pytest.raises(InvalidInput, match=name):
        masked_feedback(piece)
    counted = piece.model_copy(update={name: str(CARD)})  # somebody's count of something
    assert getattr(masked_feedback(counted), name) == str(CARD)


def test_a_number_is_masked_where_it_is_as_long_as_a_persons() -> None:
    def mask_all(text: str, *, place: str) -> Masked:
        found = mask(SSN, place=place).findings
        return Masked("[masked:x]", found) if text.isdecimal() else Masked(text)

    piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="x", output=[10**11, 10**11 - 1])
    made = masked_again(masked_feedback(piece), mask_all)
    assert made.output == ["[masked:x]", 10**11 - 1]
    assert [one.place for one in made.masked] == ["output.0"]
