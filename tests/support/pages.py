"""The command blocks of a docs page, run as a reader would: in order, in one shell and one home.

A block of commands is fenced as `bash`. A comment right above it may say what a test must know:

    <!-- not run: REASON -->    it needs what a test cannot have
    <!-- nightly: REASON -->    it takes long
    <!-- stays running -->      a server; it is stopped by the next one, or at the end of the page
    <!-- ends with 1 -->        its last command is expected to leave with this exit code

A block with `title="FILE"` behind its language is written to that file first.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.forked import warm_address

ROOT = Path(__file__).parents[2]
SHELLS = {"bash", "sh", "console"}
MARKS = ("not run", "nightly", "stays running", "ends with")
PORTS = (8720, 8765, 8766, 8767)  # ports in the pages; each run gets free ones instead
SECONDS = 300.0
_BLOCK = re.compile(
    r"(?:^<!-- ?(?P<mark>[^\n]*?) ?-->\n)?"
    r"^```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_COMMAND = re.compile(
    r"^\s*(?:\$ )?(?:\w+=\S+ )*(?:skill-worker|curl|pip|python|export) ", re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """One fenced block: its position, and the notes about it."""

    place: str
    language: str
    title: str | None
    mark: str
    reason: str
    text: str

    @property
    def is_command(self) -> bool:
        """Whether readers type it into a shell."""
        return self.language in SHELLS and self.title is None

    @property
    def looks_like_commands(self) -> bool:
        """Whether it contains commands, whatever its language says."""
        return self.language in {"", "text"} and _COMMAND.search(self.text) is not None


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        said = match["mark"] or ""
        mark = next((known for known in MARKS if said.startswith(known)), said)
        line = text.count("\n", 0, match.start("language")) + 1
        found.append(
            Block(
                place=f"{page.relative_to(ROOT)}:{line}",
                language=match["language"],
                title=match["title"],
                mark=mark,
                reason=said.removeprefix(mark).removeprefix(":").strip(),
                text=match["text"],
            )
        )
    return found


def run_page(blocks: Sequence[Block], folder: Path, url: str | None) -> str:
    """Run the commands of a page on a database; return their output.

    Without `url` each command uses the embedded one, as a reader would. That costs a second per
    command. Raises AssertionError if a command fails.
    """
    for block in blocks:
        if block.title is not None:
            (folder / block.title).write_text(block.text, "utf-8")
    script = folder / "page.bash"
    script.write_text(_script(blocks), "utf-8")
    (folder / "home").mkdir()
    # An error answer fails the page, as a failing command does.
    (folder / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n", "utf-8")
    done = subprocess.run(
        ["bash", str(script)],
        cwd=folder,
        env=_environment(folder) | ({"DATABASE_URL": url} if url else {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def _environment(folder: Path) -> dict[str, str]:
    commands = folder / "bin"
    commands.mkdir()
    shim = commands / "skill-worker"
    shim.write_text(f"#!{sys.executable} -SE\n{_SHIM}", "utf-8")
    shim.chmod(0o755)
    path = f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {
        "PATH": path,
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "SKILL_WORKER_HOME": str(folder / "home"),
        "WARM": warm_address(),
    }


def _script(blocks: Sequence[Block]) -> str:
    parts = [_HEAD, *(_part(block) for block in blocks if block.is_command)]
    script = "\n".join(parts)
    for port in PORTS:
        script = re.sub(rf"\b{port}\b", str(_free_port()), script)
    return script


def _part(block: Block) -> str:
    said = f"echo '### {block.place}'"
    if block.mark == "stays running":
        servers = len(re.findall(r"^[^#]*\bskill-worker (?:run|serve)\b", block.text, re.MULTILINE))
        is_worker = "skill-worker run" in block.text
        return f"{said}\nserve() {{\n{block.text}}}\nserving {servers} {int(is_worker)}\n"
    if block.mark == "ends with":
        return f"{said}\nset +e\n{block.text}\nended $? {block.reason}\nset -e\n"
    return f"{said}\n{block.text}\n"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


_HEAD = """\
set -e
export HEALTH_PORT=8720
touch served served.pids
trap stop EXIT

stop() {
  for pid in $(cat served.pids); do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in $(cat served.pids); do
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
  done
  : >served.pids
}

serving() { # how many servers there must be, and whether one of them is a worker
  stop
  SERVED=$PWD/served.pids serve >served 2>&1 &
  for _ in $(seq 600); do
    if [ "$(grep -c server.started served)" -ge "$1" ]; then
      [ "$2" -eq 0 ] && return
      curl -q -sf -o /dev/null 127.0.0.1:8720/readyz && return
    fi
    sleep 0.1
  done
  cat served
  return 1
}

ended() {
  [ "$1" -eq "$2" ] || { echo "ended with $1, not with $2"; exit 1; }
}
"""

# A command as a reader types it, forked from a process that has all imports, with the offline
# model.
_SHIM = """
import json, os, signal, socket, struct, sys

arguments = sys.argv[1:]
if arguments[:1] in (["run"], ["doctor"]) and "--offline" not in arguments:
    arguments.append("--offline")
environment = dict(os.environ)
if served := environment.pop("SERVED", None):
    with open(served, "a") as pids:
        print(os.getpid(), file=pids)
warm = socket.socket(socket.AF_UNIX)
warm.connect(environment.pop("WARM"))
asked = {"arguments": arguments, "cwd": os.getcwd(), "environment": environment}
data = json.dumps(asked).encode()
socket.send_fds(warm, [struct.pack("!I", len(data))], [0, 1, 2])
warm.sendall(data)
(pid,) = struct.unpack("!i", warm.recv(4, socket.MSG_WAITALL))
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: os.kill(pid, number))
(status,) = struct.unpack("!i", warm.recv(4, socket.MSG_WAITALL))
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
"""
