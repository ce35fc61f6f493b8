"""What words of shell scripts stand for: what fetches, runs, sends, deletes, unlocks. Data only."""

from __future__ import annotations

import re

from core.safety.surroundings import ROOTS

FETCH = {"curl", "wget", "fetch", "aria2c", "http", "https", "lynx", "xh", "iwr", "axel"}
SHELLS = {"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"}
RUNNERS = {
    *SHELLS,
    "python",
    "python2",
    "python3",
    "perl",
    "ruby",
    "node",
    "php",
    "deno",
    "bun",
    "osascript",
    "pwsh",
    "powershell",
    "source",
    ".",
    "eval",
}
PREFIXES = {
    "sudo",
    "doas",
    "env",
    "nohup",
    "time",
    "exec",
    "command",
    "builtin",
    "nice",
    "setsid",
    "timeout",
    "xargs",
    "stdbuf",
    "busybox",
    "toybox",
    "ionice",
    "chrt",
    "taskset",
    "chroot",
    "unshare",
    "flock",
    "strace",
    "ltrace",
    "runuser",
    "eatmydata",
}
DECODERS = re.compile(r"^(?:base64|base32|xxd|openssl|uudecode|gunzip|zcat|rev|tr|gpg|basenc)$")
SENDS = re.compile(
    r"^(?:-d|--data.*|-F|--form.*|-T|--upload-file.*|--json.*|--post-data.*"
    r"|--post-file.*|--body-.*)"
)
SENDERS = {
    "nc",
    "ncat",
    "netcat",
    "socat",
    "telnet",
    "ftp",
    "tftp",
    "sftp",
    "lftp",
    "sendmail",
    "mail",
    "mailx",
    "mutt",
    "swaks",
    "croc",
    "ngrok",
    "cloudflared",
    "chisel",
}
ASKERS = {"nslookup", "dig", "host", "ping", "drill", "traceroute", "getent"}
REMOTE = re.compile(r"^(?:[\w.-]+@)?[\w.-]+\.[\w.-]+:|^(?:s3|gs|sftp|ssh|rsync|ftp)://|::")
BROAD = re.compile(
    r"^(?:" + ROOTS + r"|/|/\*+|~[\w-]*/?|~/\*+|\$\{?HOME\}?/?|\$\{?HOME\}?/\*+|\.\.?/?|\.\./.*"
    r"|.*/\.\./?\*?|\*|\./?\*|/(?:dev|proc|tmp)/?"
    r"|[A-Za-z]:[\\/]?\*?|/c/?|\$\{?(?:PWD|OLDPWD|USERPROFILE)\}?(?:/\*)?)$"
)
# Without these a machine or its people are locked out.
VITAL = re.compile(r"/+(?:etc/+(?:passwd|shadow|group|sudoers|fstab|ssh/sshd_config)|boot/\S+)$")
UNPACKERS = {"tar", "unzip", "7z", "gunzip", "bsdtar"}
NARROWED = re.compile(r"-(?:i?name|i?path|i?regex|[cma]time|[cma]min|empty|size|newer\w*|user)$")
KEY_VARIABLES = re.compile(
    r"\$\{?(\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE)\w*)", re.IGNORECASE
)
VENDORS = {"openai", "anthropic", "aws", "github", "gh", "slack", "stripe", "google", "azure"}
CREDENTIALS = re.compile(
    r"security (?:find|dump)-|gpg2? .*--export-secret|kubectl get secrets?\b|vault kv get|pass show"
    r"|op read|secret-tool lookup|aws secretsmanager get|gcloud secrets versions"
)
# What lets code through past the checks that stand before it.
UNCHECKED = re.compile(
    r"git .*--no-verify\b|git push .*(?:--force\b|-f\b).*\b(?:main|master|prod\w*|release\S*)\b"
    r"|git push .*\b(?:main|master|prod\w*|release\S*)\b.*(?:--force\b|-f\b)"
    r"|gh pr merge .*--admin\b|glab mr merge .*--skip|(?:terraform|tofu) .*-auto-approve\b"
)
HOST = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){3}|localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:/\S*)?")
URL = re.compile(
    r"(?:https?|ftp)://[^\s\"'|;)]+|\b(?:\d{1,3}\.){3}\d{1,3}\b"
    r"|\b[\w-]+(?:\.[\w-]+)+(?:/\S*)?"
)
