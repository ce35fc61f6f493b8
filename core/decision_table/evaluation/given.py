"""The values of a case: given for a column, or computed from the names its expression uses."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from pydantic import JsonValue

from core.decision_table.cells import one_line
from core.decision_table.columns import ANY_TYPE, FEEL_TYPES, feel_type
from core.decision_table.feel import Node, Scope, Value, evaluate, parse_expression
from core.decision_table.feel.temporal import to_date, to_duration, to_moment, to_time
from core.decision_table.feel.values import NoValue, kind_of, number
from core.decision_table.problems import listing, refuse
from core.domain.errors import RuleInvalid
from core.domain.messages import Message
from core.domain.models import DecisionTable, InputColumn

_FROM_TEXT: dict[str, Callable[[str], Value]] = {
    "number": number,
    "date": to_date,
    "time": to_time,
    "date and time": to_moment,
    "days and time duration": to_duration,
    "years and months duration": to_duration,
}


@lru_cache(maxsize=256)
def value_type(name: str) -> str:
    """Return the FEEL type of a column. Raises NoValue for types of item definitions."""
    kind = feel_type(name.removeprefix("feel:"))
    if kind is None:
        known = ", ".join(FEEL_TYPES)
        raise NoValue(Message("feel.type_unsupported", name=name, known=known))
    return kind


def typed(value: JsonValue, type_name: str) -> Value:
    """Return a JSON value as a value of a column's type.

    Numbers are JSON numbers, or strings where all digits must survive; dates, times and durations
    are strings in ISO 8601 form; null stays null. Raises NoValue.
    """
    wanted = value_type(type_name)
    plain = _plain(value)
    if isinstance(plain, str) and wanted in _FROM_TEXT:
        plain = _FROM_TEXT[wanted](plain)
    if plain is not None and wanted not in ("Any", kind_of(plain)):
        raise NoValue(Message("feel.type_given", found=kind_of(plain), wanted=wanted))
    return plain


def _plain(value: JsonValue) -> Value:
    if isinstance(value, dict):
        raise NoValue(Message("feel.no_objects"))
    if isinstance(value, list):
        return tuple(_plain(item) for item in value)
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if value is None or isinstance(value, bool):
        return value
    return number(repr(value)) if isinstance(value, float) else number(str(Decimal(value)))


_HINT = Message("table.hint_inputs")


class InputsMissing(RuleInvalid):
    """A case lacks inputs and nothing else is wrong with it: `missing` is name -> FEEL type."""

    def __init__(self, message: str, missing: Mapping[str, str], *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.missing = missing


@dataclass(frozen=True)
class Given:
    """A case: the value of each input column, in order, and all names that cells may use."""

    columns: tuple[Value, ...]
    names: Mapping[str, Value]


def read_given(
    table: DecisionTable,
    inputs: Mapping[str, JsonValue],
    used: frozenset[str],
    now: datetime | None,
) -> Given:
    """Type the inputs of a case; `used` are the names that rows use besides the columns.

    A column that is not given is computed if it is an expression over what is given, as in `amount
    * 2`; a member of an object is known by its path, as in `customer.age`. Strings and names are
    normalised to NFC. Raises RuleInvalid with every input that is missing, unknown, or of another
    type; InputsMissing if all of them are missing.
    """
    return _Case(table, inputs, now).read(used)


class _Case:
    def __init__(
        self, table: DecisionTable, inputs: Mapping[str, JsonValue], now: datetime | None
    ) -> None:
        self._table = table
        self._columns = {column.name: column for column in table.inputs}
        self._declared = {column.name: column for column in table.declared}
        self._now = now
        self._heads = [one_line(name) for name in inputs]
        self._raw = dict(_members(inputs))
        self._others: dict[str, Value] = {}
        self._taken: set[str] = set()
        self._problems: list[str] = []
        self._missing: dict[str, str] = {}

    def read(self, used: frozenset[str]) -> Given:
        values = {name: self._column(column) for name, column in self._columns.items()}
        for name in sorted(used):
            self._other(name)
        self._problems = self._unknown() + self._problems
        problems = list(dict.fromkeys(self._problems))
        try:
            refuse(problems, hint=_HINT)
        except RuleInvalid as error:
            if len(problems) > len(self._missing):
                raise
            raise InputsMissing(error.message, self._missing, hint=_HINT) from None
        return Given(tuple(values.values()), self._others | values)

    def _column(self, column: InputColumn) -> Value:
        if column.name in self._raw:
            return self._typed(column.name, column.type)
        tree = self._expression(column.name)
        if tree is None:
            self._lacks(column.name, column.type)
            return None
        for node in tree.walk():
            if node.op == "name":
                self._other(str(node.value))
        return self._computed(column, tree)

    def _expression(self, text: str) -> Node | None:
        """Return the expression that computes a column; None for a mere name that is not given."""
        others = (name for name in self._raw if name not in self._columns)
        names = tuple(dict.fromkeys((*self._declared, *others)))
        try:
            return parse_expression(text, names)
        except RuleInvalid:
            return None

    def _computed(self, column: InputColumn, tree: Node) -> Value:
        scope = Scope(self._others, now=self._now)
        value = evaluate(tree, scope)
        for why in dict.fromkeys(scope.beyond):
            self._problems.append(Message("table.given_wrong", name=column.name, why=why))
        try:
            wanted = value_type(column.type)
        except NoValue as reason:
            self._problems.append(Message("table.given_wrong", name=column.name, why=reason))
            return None
        if value is not None and wanted not in (ANY_TYPE, kind_of(value)):
            self._problems.append(
                Message(
                    "table.input_computed", name=column.name, found=kind_of(value), wanted=wanted
                )
            )
        return value

    def _other(self, name: str) -> None:
        """Type a name that is not a column; one that cells or expressions use has to be given."""
        if name in self._others or name in self._columns:
            return
        self._others[name] = None
        declared = self._declared.get(name)
        kind = _known_type(declared.type if declared else ANY_TYPE)
        if name in self._raw:
            self._others[name] = self._typed(name, kind)
        else:
            self._lacks(name, kind)

    def _lacks(self, name: str, kind: str) -> None:
        self._missing[name] = kind
        self._problems.append(Message("table.input_missing", name=name, type=kind))

    def _typed(self, name: str, kind: str) -> Value:
        self._taken.add(name)
        try:
            return typed(self._raw[name], kind)
        except NoValue as reason:
            self._problems.append(Message("table.given_wrong", name=name, why=reason))
        return None

    def _unknown(self) -> list[str]:
        names = list(dict.fromkeys((*self._columns, *self._declared)))
        return [
            Message("table.input_unknown", name=name, known=listing(names))
            for name in self._heads
            if name not in self._taken
            and name not in self._declared
            and not any(taken.startswith(f"{name}.") for taken in self._taken)
        ]


def _members(inputs: Mapping[str, JsonValue], path: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Yield each given value under its name, and members of objects under their path too."""
    for key, value in inputs.items():
        name = f"{path}{one_line(key)}"
        yield name, value
        if isinstance(value, dict):
            yield from _members(value, f"{name}.")


def _known_type(kind: str) -> str:
    try:
        return value_type(kind)
    except NoValue:
        return ANY_TYPE
