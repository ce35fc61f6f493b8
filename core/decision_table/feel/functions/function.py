"""A built-in function, and how its arguments are checked and coerced before the call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.decision_table.feel.values import NoValue, Value, bounded, kind_of
from core.decision_table.problems import either
from core.domain.messages import Message


@dataclass(frozen=True)
class Function:
    """A function over values; `kinds` are those of its parameters, alternatives separated by `|`.

    `names` are those of its parameters, separated by commas; a second signature follows a `;`. The
    last `optional` parameters may be omitted; with `many` the last one may be repeated. With
    `clock` it is called with the time of the evaluation and takes nothing else.
    """

    call: Callable[..., Value]
    kinds: tuple[str, ...] = ()
    names: str = ""
    optional: int = 0
    many: bool = False
    clock: bool = False

    def takes(self, count: int) -> bool:
        """Whether the function can be called with `count` arguments."""
        least = len(self.kinds) - self.optional
        return least <= count and (self.many or count <= len(self.kinds))

    @property
    def arity(self) -> str:
        """Return how many arguments the function takes, in words."""
        least, most = len(self.kinds) - self.optional, len(self.kinds)
        if self.many:
            return Message("feel.arguments_from", least=least)
        if least == most:
            return Message("feel.arguments", most=most)
        return Message("feel.arguments_between", least=least, most=most)

    def order(self, given: Sequence[str]) -> list[int] | None:
        """Return the positions of named arguments; None if the names do not fit."""
        for names in self._signatures():
            if len(set(given)) == len(given) and set(given) <= set(names):
                return [names.index(name) for name in given]
        return None

    @property
    def parameters(self) -> str:
        """Return the names of the parameters, in words."""
        listed = (", ".join(f"'{name}'" for name in names) for names in self._signatures())
        return either([*filter(None, listed)] or [Message("list.none")])

    def of(self, name: str, arguments: Sequence[Value]) -> Value:
        """Call the function. Raises NoValue for an argument of another type, as for no result."""
        fitted = [
            _fitted(value, self.kinds[min(number, len(self.kinds) - 1)], name)
            for number, value in enumerate(arguments)
        ]
        found = self.call(*fitted)
        return bounded(found) if isinstance(found, str) else found

    def _signatures(self) -> list[list[str]]:
        return [
            [name.strip() for name in names.split(",")] for names in self.names.split(";") if names
        ]


def _fitted(value: Value, wanted: str, function: str) -> Value:
    """Coerce a value to the wanted kind.

    A single value stands for a list of it, and a list of one for its item (DMN 1.3, 10.3.2.9.4).
    """
    kinds = wanted.split("|")
    if wanted == "any" or kind_of(value) in kinds:
        return value
    if "list" in kinds and value is not None:
        return (value,)
    if isinstance(value, tuple) and len(value) == 1 and kind_of(value[0]) in kinds:
        return value[0]
    raise NoValue(_unfit(function, wanted, kind_of(value)))


@lru_cache(maxsize=1024)
def _unfit(name: str, wanted: str, kind: str) -> Message:
    return Message("feel.argument", name=name, kinds=either(wanted.split("|")), kind=kind)
