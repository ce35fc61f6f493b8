"""The program inside a sandbox: it writes files and runs commands for the server outside.

Started as `python3 -I -S -c <this text> <limits as JSON>`, with the standard library alone. It
reads requests from stdin and answers on stdout, a JSON object a line:

    {"op": "run", "command": "ls"}                 {"exit_code": 0, "stdout": "…", "stderr": "…"}
    {"op": "write", "path": "/a", "content": "…"}  {}
    {"op": "delete", "path": "/a"}                 {}

or `{"error": "…"}`. It ends when stdin ends, and all that it started with it.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import IO, Any

TICK, DEATH_SECONDS, CHUNK, TIMED_OUT, KILLED = 0.05, 5.0, 65_536, 124, 137

Streams = dict[IO[bytes], bytearray]
Reply = dict[str, Any]


class Over(Exception):
    """A limit was exceeded: exit code of the command, and the message about it."""

    def __init__(self, code: int, note: str) -> None:
        super().__init__(note)
        self.code, self.note = code, note


class Agent:
    """Answers one request after another; in between it watches what commands left running."""

    def __init__(self, limits: Reply) -> None:
        self.limits = limits
        self.root = os.path.realpath(limits["folder"])
        self.pending = b""
        self.checked_at = 0.0
        self.shell: int | None = None
        self.status: int | None = None

    def serve(self) -> None:
        """Answer until stdin ends; a first, unrequested answer reports that we are ready."""
        answer({})
        while True:
            request = json.loads(self.next_line())
            try:
                answer(getattr(self, "do_" + request.pop("op"))(**request))
            except (OSError, ValueError) as error:
                answer({"error": getattr(error, "strerror", None) or str(error)})

    def next_line(self) -> bytes:
        """Return the next request, however long it takes."""
        while b"\n" not in self.pending:
            self.wait({}, 5 * TICK if processes() else None)
            try:
                self.check_memory()
            except Over:
                self.kill_all()
        line, self.pending = self.pending.split(b"\n", 1)
        return line

    def do_write(self, path: str, content: str) -> Reply:
        """Write a file and the folders above it."""
        target = self.resolve(path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        # The folder is resolved; the file itself may still be a link that a command has made.
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(target, flags, 0o644), "wb") as file:
            file.write(content.encode("utf-8"))
        return {}

    def do_delete(self, path: str) -> Reply:
        """Delete a file."""
        os.unlink(self.resolve(path))
        return {}

    def resolve(self, path: str) -> str:
        """Resolve the links of a file's folders; the result must be inside our folder."""
        folder, name = os.path.split(path)
        real = os.path.realpath(folder)
        inside = os.path.isabs(path) and (real + "/").startswith(self.root + "/")
        if not inside or name in {"", ".", ".."} or "\0" in path:
            raise ValueError("the path must name a file under " + self.limits["shown_folder"])
        return os.path.join(real, name)

    def do_run(self, command: str) -> Reply:
        """Run a command of the shell to its end, or to a limit."""
        try:
            child = self.spawn(command)
        except BlockingIOError:  # processes left by earlier commands use up the limit
            self.kill_all()
            child = self.spawn(command)
        self.shell, self.status, note = child.pid, None, ""
        streams = {stream: bytearray() for stream in (child.stdout, child.stderr) if stream}
        try:
            code = self.watch(streams)
        except Over as over:
            self.kill_all()
            code, note = over.code, over.note
        self.drain(streams)
        child.returncode = code  # reaped here, not by subprocess
        return self.result(code, note, *streams.values())

    def spawn(self, command: str) -> subprocess.Popen[bytes]:
        """Start a shell in its own session."""
        return subprocess.Popen(  # noqa: S603 - running arbitrary commands is its purpose
            [self.limits["shell"], "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.root,
            start_new_session=True,
            preexec_fn=self.confine,
        )

    def confine(self) -> None:
        """Set limits on the child that must not apply to the agent itself."""
        lower(resource.RLIMIT_CPU, self.limits["seconds"])
        lower(resource.RLIMIT_AS, self.limits["memory_bytes"])
        os.nice(5)

    def watch(self, streams: Streams) -> int:
        """Collect output until the shell ends (its daemons may live on); return its exit code."""
        deadline = time.monotonic() + self.limits["seconds"]
        while self.status is None:
            is_open = any(not stream.closed for stream in streams)
            # With both streams closed nothing wakes us when the shell ends: poll more often.
            self.wait(streams, TICK if is_open else TICK / 50)
            if time.monotonic() > deadline:
                raise Over(TIMED_OUT, "ended after {} s".format(self.limits["seconds"]))
            self.check_memory()
        return exit_code(self.status)

    def drain(self, streams: Streams) -> None:
        """Take what is in the pipes, without waiting for more."""
        for stream, data in streams.items():
            left = self.limits["output_bytes"]
            while left > 0 and not stream.closed and select.select([stream], [], [], 0)[0]:
                self.collect(stream, data)
                left -= CHUNK
            stream.close()

    def wait(self, streams: Streams, timeout: float | None) -> None:
        """Wait for stdin or a stream, read what is there, reap ended processes."""
        watched = {stream.fileno(): stream for stream in streams if not stream.closed}
        ready = select.select([0, *watched], [], [], timeout)[0]
        if 0 in ready:
            self.read_stdin()
        for stream in map(watched.get, ready):
            if stream:
                self.collect(stream, streams[stream])
        self.reap()

    def read_stdin(self) -> None:
        """Read more of the requests; exit at end of input."""
        if not (data := os.read(0, CHUNK)):
            self.kill_all()
            sys.exit()
        self.pending += data

    def collect(self, stream: IO[bytes], data: bytearray) -> None:
        """Read output, discarding it beyond the limit."""
        chunk = os.read(stream.fileno(), CHUNK)
        if not chunk:
            stream.close()
        elif len(data) <= self.limits["output_bytes"]:
            data += chunk

    def reap(self) -> None:
        """Reap ended processes, orphans included."""
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == self.shell:
                    self.status = found[1]

    def check_memory(self) -> None:
        """Check the total memory of all processes, at most once per tick. Raises Over."""
        if time.monotonic() < self.checked_at + TICK:
            return
        self.checked_at, most = time.monotonic(), self.limits["memory_bytes"]
        # The kernel limits memory per process only; of all together it is summed here.
        if sum(private_bytes(pid) for pid in processes()) > most:
            raise Over(KILLED, f"ended for using more than {most} bytes of memory")
        disk = os.statvfs(self.root)
        if os.getpid() == 1 and disk.f_files - disk.f_ffree > self.limits["files"]:
            sys.exit("too many files")  # files are memory too, and are freed only with the sandbox

    def kill_all(self) -> None:
        """Kill every other process of the sandbox, and wait until they are dead."""
        deadline = time.monotonic() + DEATH_SECONDS
        if self.shell and os.getpid() != 1:
            with suppress(OSError):
                os.killpg(self.shell, signal.SIGKILL)
        while targets := processes():
            if time.monotonic() > deadline:
                sys.exit("a process cannot be killed")
            # From PID 1, -1 means all at once: none can escape by forking meanwhile.
            for pid in [-1] if os.getpid() == 1 else targets:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.reap()
        self.shell = None

    def result(self, code: int, note: str, out: bytearray, err: bytearray) -> Reply:
        """Return the answer to a run, cut to the limit; stderr says what was cut."""
        most, notes = self.limits["output_bytes"], [note] if note else []
        for name, data in (("stdout", out), ("stderr", err)):
            if len(data) > most:
                notes.append(f"{name} is cut after {most} bytes")
        stdout, stderr = (data[:most].decode("utf-8", "replace") for data in (out, err))
        stderr += "".join(f"[sandbox] {text}\n" for text in notes)
        return {"exit_code": code, "stdout": stdout, "stderr": stderr}


def answer(reply: Reply) -> None:
    """Write a complete answer."""
    data = json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    while data:
        data = data[os.write(1, data) :]


def exit_code(status: int) -> int:
    """Return the exit code as a shell has it: 128 plus the signal for a killed process."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def processes() -> list[int]:
    """List all others in our process namespace; without one of our own, our descendants."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    me = os.getpid()
    if me == 1:
        return [pid for pid in pids if pid != 1]
    parents, found = {pid: parent(pid) for pid in pids}, {me}
    while more := {pid for pid in parents if parents[pid] in found} - found:
        found |= more
    return sorted(found - {me})


def parent(pid: int) -> int | None:
    """Return the parent of a process, None for one that has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, ppid = file.read().rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return None if state == "Z" else int(ppid)


def private_bytes(pid: int) -> int:
    """Return the memory that a process shares with no other."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            _, resident, shared = [int(word) for word in file.read().split()[:3]]
    except (OSError, ValueError):
        return 0
    return (resident - shared) * resource.getpagesize()


def lower(kind: int, value: int) -> None:
    """Set a limit that nobody inside can raise again."""
    hard = resource.getrlimit(kind)[1]
    least = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (least, least))


def harden() -> None:
    """Become the kernel's first OOM victim, inaccessible to those inside, and their reaper."""
    import ctypes

    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")
    with suppress(AttributeError):
        prctl = ctypes.CDLL(None).prctl
        prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE off: others cannot open our memory and pipes
        prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans become ours


def main() -> None:
    """Lower the limits that apply to all, then serve."""
    limits = json.loads(sys.argv[1])
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_FSIZE, limits["disk_bytes"])
    lower(resource.RLIMIT_NOFILE, limits["open_files"])
    # Without a namespace of our own, NPROC would count every process of the user.
    if os.getpid() == 1:
        lower(resource.RLIMIT_NPROC, limits["processes"])
    harden()
    Agent(limits).serve()


if __name__ == "__main__":
    main()
