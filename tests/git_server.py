"""Git's own server, `git http-backend`, behind Python's HTTP server; and repositories for it."""

import base64
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WHO = {
    "GIT_AUTHOR_NAME": "Chen Wei", "GIT_AUTHOR_EMAIL": "chen@example.com", "GIT_COMMITTER_NAME": "Chen Wei",
    "GIT_COMMITTER_EMAIL": "chen@example.com", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
}  # fmt: skip


def git(folder: Path, *args: str, **env: str) -> str:
    done = subprocess.run(
        ["git", *args],
        cwd=folder,
        env={**os.environ, **WHO, **env},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def make_repository(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    commit(folder, files)
    return folder


def commit(folder: Path, files: Mapping[str, str], *, author: str = "Chen Wei") -> str:
    """Write files and commit everything as it lies there."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change", GIT_AUTHOR_NAME=author)
    return git(folder, "rev-parse", "HEAD")


@contextmanager
def serving(
    root: Path, *, account: str = "", password: str = "", moved_to: str = ""
) -> Iterator[tuple[str, list[str]]]:
    """The repositories below `root` by HTTP: (address, what was asked for). moved_to: answers everything with a redirect there."""
    asked: list[str] = []
    wanted = "Basic " + base64.b64encode(f"{account}:{password}".encode()).decode() if password else ""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.path} {self.headers.get('Authorization', '')}".strip())
            if moved_to:
                self.send_response(302)
                self.send_header("Location", moved_to + self.path)
                self.end_headers()
            elif wanted and self.headers.get("Authorization") != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
            else:
                self._answer()

        def do_POST(self) -> None:
            self.do_GET()

        def _answer(self) -> None:
            path, _mark, query = self.path.partition("?")
            env = {
                **os.environ, **WHO, "GIT_PROJECT_ROOT": str(root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
                "QUERY_STRING": query, "REQUEST_METHOD": self.command, "REMOTE_ADDR": "127.0.0.1",
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
            }  # fmt: skip
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if b"want " in body:
                asked.append("objects")
            done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False)
            head, _blank, content = done.stdout.partition(b"\r\n\r\n")
            lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
            self.send_response(int(lines.pop("Status", "200 OK").split()[0]))
            for name, value in lines.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
