"""The kinds of knowledge that installed packages add, as far as skill-worker.yaml names them."""

from __future__ import annotations

from dataclasses import replace

from core.app.bootstrap.plugins import KINDS, Named, load
from core.app.bootstrap.stores import Parts
from core.app.config_file import ConfigFile
from core.changes.policy.review_policy import Rule
from core.domain.errors import ConfigurationError
from core.domain.kinds import OwnKind, check_kind
from core.domain.messages import Message
from core.domain.models import Kind
from core.domain.ports import Committer, Knowledge
from core.learning_committers.kind_committer import KindCommitter, MissingKind


def with_kinds(parts: Parts) -> Parts:
    """Return the parts with the kinds that their file names. Raises ConfigurationError."""
    return replace(parts, kinds=load_kinds(parts.config)) if parts.config else parts


def load_kinds(config: ConfigFile) -> tuple[OwnKind, ...]:
    """Load the kinds that the file names. Raises ConfigurationError, also for rules about others.

    Nothing is looked for where it names none.
    """
    made = [_loaded(name) for name in config.kinds]
    names = [one.kind.name for one in made]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigurationError(Message("kind.twice", kind=twice))
    for rule in config.rules:
        if unknown := _unknown(rule, names):
            known = ", ".join([*Kind, *names])
            raise ConfigurationError(
                Message("kind.of_rule", kind=unknown), hint=Message("kind.known", names=known)
            )
    return tuple(made)


def _loaded(name: str) -> OwnKind:
    """Return the kind of an entry point. Raises ConfigurationError."""
    loaded = load(Named(KINDS, name))
    try:
        return OwnKind(check_kind(loaded.opens), loaded.package or loaded.place)
    except Exception as error:
        # Foreign code may raise anything where it is made: say which package it is.
        why = error.args[0] if isinstance(error, ValueError) and error.args else repr(error)
        said = Message("kind.unfit", name=name, package=loaded.package, why=why)
        raise ConfigurationError(said, hint=Message("kind.hint_suite")) from error


def _unknown(rule: Rule, names: list[str]) -> Kind | None:
    """Return a kind that a rule names and nobody brings."""
    named = rule.when.kind or ()
    return next((kind for kind in named if not kind.is_built_in and kind not in names), None)


class Committers(dict[Kind, Committer]):
    """The committer of each kind. One whose package is missing has a stand-in that says so."""

    def __init__(
        self, ours: dict[Kind, Committer], own: tuple[OwnKind, ...], knowledge: Knowledge
    ) -> None:
        theirs = {Kind(o.kind.name): KindCommitter(*o, knowledge) for o in own}
        super().__init__({**ours, **theirs})
        self._knowledge = knowledge

    def __missing__(self, kind: Kind) -> Committer:
        return MissingKind(kind, self._knowledge)
