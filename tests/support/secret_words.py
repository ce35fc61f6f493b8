"""Secrets and resident numbers as people paste them, made up from a seed."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from dataclasses import dataclass, field

_LETTERS = string.ascii_letters + string.digits
_WEIGHTS = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)


@dataclass
class SecretWords:
    """Makes sentences with a secret in each; `made` are the bare secrets so far."""

    seed: int = 7
    made: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._kinds = self._cycle()

    def sentence(self) -> str:
        """Return a sentence with another secret in it."""
        return next(self._kinds)

    def _cycle(self) -> Iterator[str]:
        while True:
            yield f"The deploy token is {self._kept('ghp_' + self._some(36))}, do not lose it"
            yield f"고객 주민번호는 {self._kept(self._resident())} 입니다"
            yield f"접속은 AWS 키 {self._kept('AKIA' + self._some(15).upper() + '7')} 로 합니다"
            yield f"주민등록번호 {self._kept(self._resident().replace('-', ''))} 확인함"
            yield f"use {self._kept('sk-proj-' + self._some(40))} for the model"
            yield f"비밀번호: {self._kept(self._some(14) + '!7a')}"
            yield f"slack says {self._kept('xoxb-' + self._some(30))} is ours"

    def _kept(self, secret: str) -> str:
        self.made.append(secret)
        return secret

    def _some(self, length: int) -> str:
        return "".join(self._random.choices(_LETTERS, k=length))

    def _resident(self) -> str:
        """Return a number of the form that was given out until 2020, with its check digit."""
        pick = self._random.randint
        front = f"{pick(50, 99)}{pick(1, 12):02}{pick(1, 28):02}"
        digits = f"{front}{pick(1, 2)}{pick(0, 99999):05}"
        total = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, digits, strict=True))
        check = (11 - total % 11) % 10
        return f"{front}-{digits[6:]}{check}"
