"""Write a skill as a zip: the same bytes for the same content."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib

from core.models import Bundle, SkillFile
from core.skill_bundle.inflate import is_bomb

_DATE = (1980, 1, 1, 0, 0, 0)
_LEVEL = 6


def bundle_to_zip(bundle: Bundle, *, root: bool) -> bytes:
    """Write the folder as a zip; the same bytes for the same content.

    With `root` SKILL.md stands at the zip's root, as an upload wants it; without, everything is
    under one `<name>/` folder, as in a `.skill` file.
    """
    prefix = "" if root else f"{bundle.name}/"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, file in sorted(bundle.files.items()):
            archive.writestr(_entry(prefix + path, file), file.data, compresslevel=_LEVEL)
    return buffer.getvalue()


def _entry(name: str, file: SkillFile) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.create_system = 3  # Unix, so that the mode below is read
    entry.external_attr = (stat.S_IFREG | (0o755 if file.executable else 0o644)) << 16
    entry.compress_type = _method(file.data)
    return entry


def _method(data: bytes) -> int:
    """Deflated, unless the reader's limit on ratio would take it for a bomb."""
    if is_bomb(len(data), 0) and is_bomb(len(data), _deflated_size(data)):
        return zipfile.ZIP_STORED
    return zipfile.ZIP_DEFLATED


def _deflated_size(data: bytes) -> int:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return len(packer.compress(data)) + len(packer.flush())
