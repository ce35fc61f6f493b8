"""What all code that is looked at stands in: hosts it may talk to, places it should not touch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

Found = tuple[str, int, int]
_DEEPEST = 4
SECRETS = re.compile(
    r"(?:^|[/~\"'=@:])\.ssh(?:/|$)|id_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws(?:/"
    r"|$)|\.netrc|\.git-credentials|\.npmrc|\.pypirc|\.docker/config|\.kube(?:/"
    r"|$)|\.gnupg|/etc/shadow|\.pgpass|\.my\.cnf|\.vault-token|gcloud/"
    r"|\.azure|\.config/gh|login data|cookies\.sqlite|wallet\.dat|\.(?:bash"
    r"|zsh|python)_history|/proc/(?:self|\d+|\*)/environ|keychain|(?:^"
    r"|/)\.env(?:\.\w+)?$|credentials(?:\.json|\.csv|\.yml|$)"
    r"|service[-_]account.*\.json|\.mozilla|key4\.db|logins\.json|secrets?\.(?:json"
    r"|ya?ml|toml)|\.boto|\.terraform\.d|\.password-store|\.pem$|\.p12$"
    r"|\.pfx$",
    re.IGNORECASE,
)
PERSISTENT = re.compile(
    r"\.(?:bashrc|bash_profile|profile|zshrc|zprofile|zshenv|config/autostart)"
    r"|authorized_keys|/etc/(?:cron|rc\.local|profile|sudoers|passwd|systemd"
    r"|init|ld\.so)|launchagents|launchdaemons|\.git/hooks|/etc/hosts"
    r"|\.config/systemd|hookspath",
    re.IGNORECASE,
)


# Whole folders of a machine: of the system, of shared data, of a person. What lies deeper, and what
# is made to be thrown away, is for the one who works there.
ROOTS = (
    r"/(?!tmp\b|var/(?:tmp|cache)\b|proc/self|dev/)(?:bin|boot|etc|home|lib|mnt|media|opt|root"
    r"|sbin|srv"
    r"|sys|usr|var|data|export|nfs|share|shared|backups?|volumes?|Users|Volumes|Library"
    r"|Applications)"
    r"(?:/[^/\s]+)?/?\**"
    r"|(?:~|\$\{?HOME\}?)/(?:Documents|Desktop|Downloads|Pictures|Music|Movies|Videos|Library"
    r"|\.config"
    r"|\.local|\.ssh|OneDrive[^/]*|Dropbox)(?:/\**)?"
)


class Surroundings:
    """What code stands in: the hosts it may talk to, and who reads the code that it contains.

    `read` takes a language, code and these surroundings.
    """

    def __init__(
        self,
        allowed_hosts: Sequence[str],
        read: Callable[[str, str, Surroundings], Sequence[Found]],
        depth: int = 0,
    ) -> None:
        self._allowed = tuple(name.lower() for name in allowed_hosts)
        self._read, self._depth = read, depth

    def allows(self, url: str) -> bool:
        """Whether a URL or a host is allowed; one that is not known in full is not."""
        found = re.match(r"(?:\w+://)?(?:[^@/\s]*@)?(\[[^\]]*\]|[\w.-]+)", url.strip("\"' "))
        host = found[1].lower() if found else ""
        if host in ("localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0"):  # noqa: S104
            return True
        return any(fnmatchcase(host, name) for name in self._allowed)

    def codes_of(self, language: str, code: str) -> list[str]:
        """Return what code within code does; nothing below a few levels."""
        if self._depth >= _DEEPEST:
            return []
        inside = Surroundings(self._allowed, self._read, self._depth + 1)
        return [found for found, _, _ in self._read(language, code, inside)]
