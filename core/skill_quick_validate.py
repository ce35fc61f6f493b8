"""The face of `core.skills.validation`: a folder on disk, a bundle, and the script for pods."""

from core.skills.validation.check import check_bundle, get_quick_validate_script, with_rule
from core.skills.validation.paths import Problem, errors_of
from core.skills.validation.script import VALID, check_folder, validate_skill

__all__ = [
    "VALID",
    "Problem",
    "check_bundle",
    "check_folder",
    "errors_of",
    "get_quick_validate_script",
    "validate_skill",
    "with_rule",
]
