"""A built-in function: what it takes, checked before it is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.decision_table.feel.values import NoValue, Value, bounded, kind_of


@dataclass(frozen=True)
class Function:
    """A function over values; `kinds` are those of its parameters, alternatives with `|`.

    The last `optional` parameters may be left out; with `many` the last one may be repeated.
    With `clock` it is called with the moment of the evaluation and takes nothing else.
    """

    call: Callable[..., Value]
    kinds: tuple[str, ...] = ()
    optional: int = 0
    many: bool = False
    clock: bool = False

    def takes(self, count: int) -> bool:
        """Tell whether the function can be called with so many arguments."""
        least = len(self.kinds) - self.optional
        return least <= count and (self.many or count <= len(self.kinds))

    @property
    def arity(self) -> str:
        """Say how many arguments the function takes."""
        least, most = len(self.kinds) - self.optional, len(self.kinds)
        if self.many:
            return f"{least} or more arguments"
        return f"{most} arguments" if least == most else f"{least} to {most} arguments"

    def of(self, name: str, arguments: Sequence[Value]) -> Value:
        """Call the function. Raises NoValue for an argument of another type, as for no result."""
        for number, value in enumerate(arguments):
            wanted = self.kinds[min(number, len(self.kinds) - 1)]
            if wanted != "any" and kind_of(value) not in wanted.split("|"):
                listed = " or ".join(wanted.split("|"))
                raise NoValue(f"'{name}' takes {listed} there, not {kind_of(value)}")
        found = self.call(*arguments)
        return bounded(found) if isinstance(found, str) else found
