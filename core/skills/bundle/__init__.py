"""A skill folder in memory: its hash, the rules for its paths, reading and writing zips (pure)."""

from core.skills.bundle.archive import (
    bundle_hash,
    bundle_to_zip,
    check_bundle,
    check_path,
    file_hash,
    file_ref,
    file_refs,
    is_script,
    is_text,
    read_zip,
    sound,
    zip_to_bundle,
)
from core.skills.bundle.disk import read_folder
from core.skills.validation.paths import (
    MAX_BUNDLE_BYTES,
    MAX_DEPTH,
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_NAME_BYTES,
    MAX_PATH_BYTES,
    is_device_name,
    is_invisible,
)

__all__ = [
    "MAX_BUNDLE_BYTES",
    "MAX_DEPTH",
    "MAX_FILES",
    "MAX_FILE_BYTES",
    "MAX_NAME_BYTES",
    "MAX_PATH_BYTES",
    "bundle_hash",
    "bundle_to_zip",
    "check_bundle",
    "check_path",
    "file_hash",
    "file_ref",
    "file_refs",
    "is_device_name",
    "is_invisible",
    "is_script",
    "is_text",
    "read_folder",
    "read_zip",
    "sound",
    "zip_to_bundle",
]
