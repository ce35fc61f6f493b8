"""Read where a skill is installed from: a path, an address, a git repository, or a name."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, quote, unquote, urlsplit

from core.domain.errors import InvalidInput
from core.domain.http_origin import is_loopback
from core.domain.messages import Message
from core.skills.validation.document import name_problems
from core.skills.validation.paths import errors_of, path_problems

ENDINGS = (".skill", ".zip")
_LONGEST = 2_000
_HELPER = re.compile(r"[A-Za-z0-9+._-]+::")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_LIKE_SCP = re.compile(r"[\w.-]+@[\w.-]+:")
_GIT = "git+"
# A subset of git-check-ref-format: a ref is one argument, no option and no refspec.
_NO_REF = re.compile(r"^[-+./]|\.\.|@\{|//|[\x00-\x20\x7f~^:?*\[\\]|[./]$|\.lock$")
_WITH_REF = re.compile(r"(.*[^/])@(.*)")
_SHA256 = re.compile(r"[0-9a-f]{64}")
VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)*(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


@dataclass(frozen=True)
class PathPlace:
    """A skill's folder, or a `.skill` file, on this machine."""

    path: Path

    @property
    def source(self) -> str:
        """The place as it is written."""
        return str(self.path)


@dataclass(frozen=True)
class UrlPlace:
    """A `.skill` file at an address, pinned if `sha256` is given."""

    url: str
    sha256: str = ""

    @property
    def source(self) -> str:
        """The place as it is written."""
        return f"{self.url}#sha256={self.sha256}" if self.sha256 else self.url


@dataclass(frozen=True)
class GitPlace:
    """A folder of a git repository, at a branch, tag or commit; "" is the main branch."""

    url: str
    ref: str = ""
    folder: str = ""

    @property
    def source(self) -> str:
        """The place as it is written."""
        at = f"@{self.ref}" if self.ref else ""
        folder = f"#subdirectory={quote(self.folder)}" if self.folder else ""
        return f"{_GIT}{self.url}{at}{folder}"


@dataclass(frozen=True)
class NamePlace:
    """A name to look up in an index; without a version the newest that is no pre-release."""

    name: str
    version: str = ""

    @property
    def source(self) -> str:
        """The place as it is written."""
        return f"{self.name}@{self.version}" if self.version else self.name


Place = PathPlace | UrlPlace | GitPlace | NamePlace


def read_place(text: str, here: Path) -> Place:
    """Return the place that a text names; `here` is the folder that paths start from.

    A bare name is one of an index, even beside a folder of that name: what is installed must not
    depend on where it is typed. Raises InvalidInput, which says why a place is refused.
    """
    if not text or len(text) > _LONGEST or not text.isprintable() or text != text.strip():
        raise InvalidInput(Message("place.unreadable"), hint=Message("place.hint"))
    if text.startswith("-"):
        raise InvalidInput(Message("place.option", text=text), hint=Message("place.hint"))
    rest = text.removeprefix(_GIT)
    if _HELPER.match(rest):
        raise InvalidInput(Message("place.runs", text=text), hint=Message("place.hint_git"))
    if _LIKE_SCP.match(rest):
        raise InvalidInput(Message("place.like_scp", text=text), hint=Message("place.hint_git"))
    if rest is not text or _is_repository(text):
        return _git(rest, here)
    if found := _SCHEME.match(text):
        return _url(text, found[1].lower())
    if "/" in text or text.startswith(".") or text.endswith(ENDINGS):
        return PathPlace(Path(os.path.normpath(here / text)))
    return _name(text)


def _is_repository(text: str) -> bool:
    """Whether an address is plainly one of a repository: its path ends in `.git`."""
    parts = urlsplit(text)
    path, _ = _parted(parts.path)
    return parts.scheme in {"https", "http"} and path.endswith(".git")


def _parted(path: str) -> tuple[str, str | None]:
    """Return a repository's path, and the ref behind it; `/@team/x` has none."""
    found = _WITH_REF.fullmatch(path)
    return (found[1], found[2]) if found else (path, None)


def check_address(url: str) -> SplitResult:
    """Return the parts of an address. Raises InvalidInput unless it is HTTPS, or on loopback.

    What it has in it is on record for good: a password may not be.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        raise InvalidInput(Message("place.no_address", url=url, why=error)) from None
    if not host or host.startswith("-"):
        raise InvalidInput(Message("place.no_host", url=url))
    if parts.scheme not in {"https", "http"}:
        raise InvalidInput(Message("place.scheme", scheme=parts.scheme), hint=Message("place.hint"))
    if parts.scheme == "http" and not is_loopback(host):
        raise InvalidInput(Message("place.plain_http", host=host))
    if parts.username or parts.password:
        raise InvalidInput(Message("place.password", host=host))
    return parts


def _url(text: str, scheme: str) -> UrlPlace:
    if scheme == "file":
        raise InvalidInput(Message("place.file"), hint=Message("place.hint_file"))
    if scheme == "ssh":
        raise InvalidInput(Message("place.scheme", scheme=scheme), hint=Message("place.hint_git"))
    parts = check_address(text)
    given = _fragment(parts.fragment, {"sha256"})
    pin = given.get("sha256", "").lower()
    if pin:
        check_pin(pin)
    return UrlPlace(parts._replace(fragment="").geturl(), pin)


def check_pin(pin: str) -> str:
    """Return a SHA-256 in hex. Raises InvalidInput."""
    if not _SHA256.fullmatch(pin):
        raise InvalidInput(Message("place.no_pin", pin=pin))
    return pin


def _git(text: str, here: Path) -> GitPlace:
    parts = urlsplit(text)
    path, ref = _parted(parts.path)
    if ref is not None and (not ref or _NO_REF.search(ref) or len(ref) > 255):
        raise InvalidInput(Message("place.no_ref", ref=ref))
    folder = _fragment(parts.fragment, {"subdirectory"}).get("subdirectory", "").strip("/")
    if folder and path_problems(folder):
        raise InvalidInput(Message("place.no_folder", folder=folder))
    bare = parts._replace(path=path, fragment="")
    if parts.scheme == "file":
        return GitPlace(f"file://{_inside(unquote(path), parts.netloc, here)}", ref or "", folder)
    if parts.scheme == "ssh":
        _check_ssh(bare)
    else:
        check_address(bare.geturl())
    return GitPlace(bare.geturl(), ref or "", folder)


def _check_ssh(parts: SplitResult) -> None:
    if parts.password:
        raise InvalidInput(Message("place.password", host=parts.hostname or ""))
    for part in (parts.hostname or "-", parts.username or "git"):
        if part.startswith("-"):
            raise InvalidInput(Message("place.no_host", url=parts.geturl()))


def _inside(path: str, host: str, here: Path) -> Path:
    """Return a repository's real path. Raises InvalidInput outside the current folder."""
    real, root = Path(path).resolve(), here.resolve()
    if host or not real.is_relative_to(root):
        raise InvalidInput(Message("place.outside", path=path), hint=Message("place.hint_outside"))
    return real


def _fragment(text: str, known: set[str]) -> dict[str, str]:
    parts = [part.partition("=") for part in text.split("&") if part]
    given = {name: unquote(value) for name, _, value in parts}
    if unknown := sorted(set(given) - known):
        shown = unknown[0]
        raise InvalidInput(Message("place.fragment", name=shown, known=", ".join(sorted(known))))
    return given


def _name(text: str) -> NamePlace:
    name, at, version = text.partition("@")
    if errors_of(name_problems(name)):
        raise InvalidInput(Message("place.no_name", name=name), hint=Message("place.hint"))
    if at and not VERSION.fullmatch(version):
        raise InvalidInput(Message("place.no_version", version=version))
    return NamePlace(name, version)
