"""What a person may edit of a held change: its texts, one by one."""

from __future__ import annotations

from collections.abc import Mapping

from core.domain.errors import InvalidInput, NotFound
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Change, Edited, Kind, Reach, SkillFile
from core.domain.ports import ChangeLog
from core.entrypoints.service.review_view.states import read_files, tree_of


async def editable_texts(change: Change, changes: ChangeLog) -> Mapping[str, str]:
    """Return the texts of the state that a change leads to, SKILL.md first.

    Raises InvalidInput if it leads to none, NotFound if a file is not stored.
    """
    if change.after is None:
        raise InvalidInput(
            Message("review.deletion_not_edited"),
            hint=Message("review.approve_or_reject_deletion"),
        )
    files = await _files(change, changes)
    texts = {path: text for path, file in files.items() if (text := _text(file)) is not None}
    return dict(sorted(texts.items(), key=lambda item: (item[0] != SKILL_MD, item[0])))


async def with_texts(
    change: Change, texts: Mapping[str, str], changes: ChangeLog, reach: Reach | None = None
) -> Edited:
    """Return what replaces a change's content; binary files stay.

    Raises InvalidInput on a path that the change does not have, and if nothing differs.
    """
    files = await _files(change, changes)
    for path in texts.keys() - files.keys():
        raise InvalidInput(Message("no.file_of_change", id=change.id, path=path))
    is_same_reach = reach is None or (change.after is not None and reach == change.after.reach)
    if is_same_reach and all(text == _text(files[path]) for path, text in texts.items()):
        raise InvalidInput(Message("review.not_edited"))
    if change.kind is not Kind.SKILL:
        return Edited(content=next(iter(texts.values())), reach=reach)
    edited = {
        path: SkillFile(data=text.encode("utf-8"), executable=files[path].executable)
        for path, text in texts.items()
    }
    return Edited(files={**files, **edited})


async def _files(change: Change, changes: ChangeLog) -> dict[str, SkillFile]:
    tree = tree_of(change.kind, change.after)
    data = await read_files((tree,), list(tree.files), changes)
    gone = [path for path, ref in tree.files.items() if ref.sha256 not in data]
    if gone:  # the replacement would lose them
        raise NotFound(Message("review.content_not_stored", id=change.id, paths=", ".join(gone)))
    return {
        path: SkillFile(data=data[ref.sha256], executable=ref.executable)
        for path, ref in tree.files.items()
    }


def _text(file: SkillFile) -> str | None:
    try:
        return None if b"\0" in file.data else file.data.decode("utf-8")
    except UnicodeDecodeError:
        return None
