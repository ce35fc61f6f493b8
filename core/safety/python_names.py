"""What names in Python stand for: what sends, fetches, decodes, runs, removes. Data only."""

from __future__ import annotations

import re

from core.safety.surroundings import ROOTS

SENDS = re.compile(
    r"^(?:requests|httpx|aiohttp|urllib3|session|client|s|sess|http)(?:\.\w+)*\.(?:post"
    r"|put|patch|upload_\w+)$|^smtplib\.SMTP\w*$|^ftplib\.FTP\w*$"
    r"|^socket\.(?:create_connection|socket)$|^paramiko\.\w+$|^telnetlib\.\w+$"
    r"|^websockets?\.\w+$|^http\.client\.HTTPS?Connection$|^boto3\.(?:client"
    r"|resource)$|^discord\w*\.|^telegram\w*\.|^slack_sdk\."
)
FETCHES = re.compile(
    r"^(?:urllib\.request\.(?:urlopen|urlretrieve|Request)|requests\.(?:get"
    r"|request|head|Session)|httpx\.(?:get|request|Client|stream)|urllib2\.urlopen"
    r"|aiohttp\.\w+|urllib3\.\w+|webbrowser\.open\w*|wget\.download|urllib\.urlopen)"
)
DECODES = re.compile(
    r"^(?:base64\.\w*decode\w*|codecs\.decode|zlib\.decompress|gzip\.decompress"
    r"|bz2\.decompress|lzma\.decompress|bytes\.fromhex|binascii\.\w+|marshal\.loads?"
    r"|bytearray\.fromhex|chr|int\.to_bytes)$"
)
RUNS = re.compile(
    r"^(?:os\.(?:system|popen\w*|exec\w+|spawn\w+|posix_spawnp?|startfile)|subprocess\.\w+"
    r"|commands\.\w+|pty\.spawn|asyncio\.create_subprocess_\w+|pexpect\.\w+"
    r"|ctypes\.(?:CDLL|cdll|PyDLL)(?:\.\w+)*\.system|sh\.\w+|plumbum\.(?:local|cmd)\S*)$"
)
# How many arguments stand before the program, and whether its words are in a list.
STARTS = {
    **dict.fromkeys(("os.execv", "os.execve", "os.execvp", "os.execvpe"), (0, True)),
    **dict.fromkeys(("os.execl", "os.execle", "os.execlp", "os.execlpe"), (0, False)),
    **dict.fromkeys(("os.spawnv", "os.spawnve", "os.spawnvp", "os.spawnvpe"), (1, True)),
    **dict.fromkeys(("os.spawnl", "os.spawnle", "os.spawnlp", "os.spawnlpe"), (1, False)),
    **dict.fromkeys(("os.posix_spawn", "os.posix_spawnp"), (0, True)),
}
READS_FILES = {"read_text", "read_bytes", "exists", "is_file", "is_dir", "stat", "iterdir", "open"}
ASKS_FILES = re.compile(r"^os\.(?:stat|access|path\.(?:exists|is\w+|get\w+))$")
LOADERS = {"runpy.run_path", "importlib.util.spec_from_file_location"}
WRITES = re.compile(r"[wax+]")
DISK = re.compile(r"/dev/(?:sd|nvme|hd|disk|mem\b)")
EVALUATES = {
    "exec",
    "eval",
    "compile",
    "builtins.exec",
    "builtins.eval",
    "runpy.run_path",
    "types.FunctionType",
    "types.CodeType",
    "__builtins__.exec",
    "__builtins__.eval",
}
LOADS = {"pickle.loads", "pickle.load", "marshal.loads", "dill.loads", "cloudpickle.loads"}
REMOVES = re.compile(r"^(?:shutil\.rmtree|os\.(?:remove|unlink|rmdir|removedirs)|send2trash\.\w+)$")
BROAD = re.compile(
    r"^(?:" + ROOTS + r"|/|~/?|\.\.?/?|\*|[A-Za-z]:[\\/]*"
    r"|/\*\*?/.*|~/\*\*/.*|/\*\*?/?\*?|~/\*\*?|\$HOME)$"
)
