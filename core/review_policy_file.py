"""A review policy as people write it: a YAML file of their own, or a preset by its name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import ValidationError

from core.errors import ConfigurationError
from core.review_policy import ReviewPolicy

PRESETS = ("auto", "risky", "all")
MAX_BYTES = 1_000_000


def load_policy(name: str) -> ReviewPolicy:
    """Read the preset of that name, else the file. Raises ConfigurationError."""
    if name in PRESETS:
        text = files("core.review_policies").joinpath(f"{name}.yaml").read_text("utf-8")
    else:
        text = _read(Path(name).expanduser())
    return parse_policy(text, name)


def parse_policy(text: str, name: str) -> ReviewPolicy:
    """Read a policy; `name` is what errors call it. Raises ConfigurationError."""
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _wrong(name, f"it is no YAML: {error}") from None
    if not isinstance(data, dict):
        raise _wrong(name, "it is no mapping with `rules` and `otherwise`")
    try:
        return ReviewPolicy.model_validate(data)
    except ValidationError as error:
        told = [
            f"{'.'.join(map(str, problem['loc'])) or 'the whole'}: {problem['msg']}"
            for problem in error.errors(include_url=False)
        ]
        raise _wrong(name, "; ".join(told)) from None


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _wrong(str(path), f"it has more than {MAX_BYTES} bytes")
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong(str(path), "it is not UTF-8 text") from None
    except OSError as error:
        raise _wrong(str(path), f"it cannot be read: {error.strerror}") from None


def _wrong(name: str, problem: str) -> ConfigurationError:
    presets = ", ".join(PRESETS)
    return ConfigurationError(
        f"REVIEW_POLICY={name}: {problem}",
        hint=f"give one of {presets}, or a file as docs/how-to/review.md describes it",
    )
