"""A publisher on loopback: files at paths, redirects, and git repositories over smart HTTP."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from core.skills.bundle import bundle_to_zip, read_folder

_CLOSED = {
    "PATH": os.defpath,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{who}_{what}": f"{what}@x"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    },
}


@dataclass
class Publisher:
    """What is served: `files` by path, `moved` paths with where they lead, and repositories."""

    url: str
    root: Path
    files: dict[str, bytes] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, without any settings of this machine."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env=_CLOSED, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def commit(folder: Path, files: Mapping[str, str]) -> str:
    """Write files into a repository, which is made if there is none, and commit them."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "x")
    return git(folder, "rev-parse", "HEAD")


def skill_text(name: str, *steps: str, version: str = "1.0") -> str:
    """Return the document of a skill with these steps."""
    told = f"description: How to {name}. Use it for that."
    head = f'---\nname: {name}\n{told}\nmetadata:\n  version: "{version}"\n---\n'
    numbered = "".join(f"{at}. {step}\n" for at, step in enumerate(steps, 1))
    return f"{head}\n# Title\n\n## Steps\n\n{numbered}\n## End\n\nDone.\n"


def packed(folder: Path) -> bytes:
    """Return a skill's folder as the bytes of a `.skill` file."""
    return bundle_to_zip(read_folder(folder), root=False)


@contextmanager
def publishing(root: Path) -> Iterator[Publisher]:
    """Serve until the block ends; repositories under `root` are at `/git/`."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            publisher.asked.append(self.path)
            if self.path.startswith("/git/"):
                self._repository(b"")
            elif self.path in publisher.moved:
                self._answer(302, b"", {"Location": publisher.moved[self.path]})
            elif self.path in publisher.files:
                self._answer(200, publisher.files[self.path], publisher.headers)
            else:
                self._answer(404, b"nothing")

        def do_POST(self) -> None:
            self._repository(self.rfile.read(int(self.headers["Content-Length"])))

        def _answer(self, status: int, body: bytes, headers: Mapping[str, str] = {}) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def _repository(self, body: bytes) -> None:
            path, _, query = self.path.removeprefix("/git").partition("?")
            environment = {
                **_CLOSED,
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_ADDR": "127.0.0.1",
            }
            done = subprocess.run(
                ["git", "http-backend"], env=environment, input=body, capture_output=True
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            given = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
            self._answer(int(given.pop("Status", "200").split()[0]), content, given)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        publisher = Publisher(f"http://127.0.0.1:{server.server_address[1]}", root)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield publisher
        finally:
            server.shutdown()
            thread.join()
