"""Which letters lie side by side on a keyboard, Latin and Korean: the likelier slips."""

from __future__ import annotations

from functools import cache

_ROWS = (
    ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    ("ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ", "ㅁㄴㅇㄹㅎㅗㅓㅏㅣ", "ㅋㅌㅊㅍㅠㅜㅡ"),
)
# Letters of one key, and those that sound alike.
_ON_ONE_KEY = "ㅂㅃ ㅈㅉ ㄷㄸ ㄱㄲ ㅅㅆ ㅐㅒ ㅔㅖ"
_ALIKE = "ㅐㅔ ㅚㅙ ㅚㅞ ㅙㅞ ㅢㅣ ㅗㅚ ㅜㅟ ㅓㅝ ㅏㅘ ㄴㄶ ㄹㅀ ㅂㅄ ㄱㄳ ㄹㄺ"
_ONSETS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_CODAS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
_FIRST, _LAST = 0xAC00, 0xD7A3


def letters(syllable: str) -> tuple[str, str, str]:
    """Give the three letters of a Hangul syllable, a blank where it ends in a vowel."""
    rest, coda = divmod(ord(syllable) - _FIRST, len(_CODAS))
    onset, vowel = divmod(rest, len(_VOWELS))
    return _ONSETS[onset], _VOWELS[vowel], _CODAS[coda]


def is_syllable(char: str) -> bool:
    """Tell whether a character is a composed syllable of Hangul."""
    return _FIRST <= ord(char) <= _LAST


@cache
def slips(syllable: str) -> tuple[tuple[str, bool], ...]:
    """Give the syllables of which one letter is another one, and whether that is a near slip."""
    onset, vowel, coda = letters(syllable)
    found = [(_syllable(other, vowel, coda), near(onset, other)) for other in _ONSETS]
    found += [(_syllable(onset, other, coda), near(vowel, other)) for other in _VOWELS]
    found += [
        (_syllable(onset, vowel, other), near(coda, other) or " " in {coda, other})
        for other in _CODAS
    ]
    return tuple((other, is_near) for other, is_near in found if other != syllable)


def near(one: str, other: str) -> bool:
    """Tell whether two letters lie side by side, on one key, or sound alike."""
    return other in _neighbours().get(one, "")


@cache
def _neighbours() -> dict[str, str]:
    found: dict[str, str] = {}
    for rows in _ROWS:
        for y, row in enumerate(rows):
            for x, letter in enumerate(row):
                places = [(y, x - 1), (y, x + 1), (y - 1, x), (y - 1, x + 1), (y + 1, x - 1)]
                beside = [*places, (y + 1, x)]
                found[letter] = "".join(
                    rows[b][a] for b, a in beside if 0 <= b < len(rows) and 0 <= a < len(rows[b])
                )
    for pair in f"{_ON_ONE_KEY} {_ALIKE}".split():
        one, other = pair[0], pair[1]
        found[one] = found.get(one, "") + other
        found[other] = found.get(other, "") + one
    return found


def _syllable(onset: str, vowel: str, coda: str) -> str:
    place = _ONSETS.index(onset) * len(_VOWELS) + _VOWELS.index(vowel)
    return chr(_FIRST + place * len(_CODAS) + _CODAS.index(coda))
