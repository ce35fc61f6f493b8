"""What calls answer. Fields that a newer worker adds are ignored."""

from __future__ import annotations

import base64
from datetime import datetime

from pydantic import BaseModel, ConfigDict, JsonValue


class Answer(BaseModel):
    """The base of all answers: frozen."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class UsedItem(Answer):
    """An item by its id, and the version that was seen; without one, the one that stands."""

    id: str
    version: int | None = None


class ContextItem(UsedItem):
    """An item in a context; `is_cut` if a memory is shown in part. `kind` is as in MEMORY."""

    kind: str
    name: str
    is_cut: bool = False


class Context(Answer):
    """What an agent should see for a task: `text` is a block for its prompt, "" if nothing fits."""

    text: str
    tokens: int
    items: tuple[ContextItem, ...] = ()
    left_out: int = 0
    warnings: tuple[str, ...] = ()


class Memory(Answer):
    """A memory that a search found, whole; higher `score` is more similar."""

    id: str
    version: int
    content: str
    score: float
    taught_at: datetime | None = None
    valid_until: datetime | None = None
    user: str | None = None


class Memories(Answer):
    """Memories, best first."""

    items: tuple[Memory, ...]


class MatchedRow(Answer):
    """A row of a decision table whose tests all hold; `counts` if the hit policy selects it."""

    id: str
    annotation: str = ""
    counts: bool


class MissingInput(Answer):
    """An input that a decision needs, with its FEEL type."""

    name: str
    type: str


class Decision(Answer):
    """What a decision table says about a case; `output` is null if inputs are `missing`."""

    id: str
    name: str
    version: int
    output: JsonValue = None
    matched: tuple[MatchedRow, ...] = ()
    missing: tuple[MissingInput, ...] = ()
    defaulted: bool = False
    notes: tuple[str, ...] = ()


class SkillFileFacts(Answer):
    """A file of a skill; `size` in bytes."""

    path: str
    size: int
    sha256: str
    executable: bool = False
    is_text: bool = True


class SkillFile(Answer):
    """A file of a skill, and which others there are. `digest` covers all of them."""

    id: str
    name: str
    description: str
    version: int
    digest: str
    files: tuple[SkillFileFacts, ...]
    path: str
    text: str | None = None
    base64: str | None = None

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        if self.text is not None:
            return self.text.encode()
        return base64.b64decode(self.base64 or "")


class RefusedItem(UsedItem):
    """An item that an outcome cannot be put down to, and why."""

    reason: str


class OutcomeTaken(Answer):
    """To which items an outcome was put down; `left_out` are on trial, and were not given."""

    kept: tuple[UsedItem, ...]
    refused: tuple[RefusedItem, ...] = ()
    left_out: tuple[str, ...] = ()


class TakenFeedback(Answer):
    """Feedback that is in the inbox; `new` is false if it already was."""

    id: str
    status: str
    new: bool = True
