"""Parsing away from the worker: in a forked child of a warm server, under limits, killed with its group on time-out.

A worker process keeps at most two servers, started when first needed: one for all formats (about 70 MB), and one that reads
pictures (about 200 MB) and ends after a minute without work. They are ordinary subprocesses on pipes, so a Celery pool process,
which may not use multiprocessing, can have them; they end when stdin closes, that is with the worker.
"""

import atexit
import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from time import monotonic
from typing import IO, Any

from knowledge.parsers.base import MIB, RECOGNITION_LIMITS, ParseFailed, ParseLimits, Rejected, load_parsers, parsers
from knowledge.parsers.blocks import Box, PageMarks, ParsedDocument, Picture
from knowledge.parsers.detect import find_parser_by_name
from knowledge.parsers.pdf.recognised import RecognisedPage

_START_S = 60.0  # a server that imports its libraries on a busy machine
_GRACE_S = 10.0  # the server kills a slow child itself; later than this it counts as dead
_LENGTH_BYTES = 8
# The only variables passed to a parser from the worker's environment, which holds passwords and keys.
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class _ServerDied(Exception):
    """The server gave no whole answer."""


def parse_in_child(path: Path, *, filename: str, limits: ParseLimits | None = None) -> ParsedDocument:
    """Parse the file at `path`, which was uploaded as `filename`, in a child process. Safe to call from any thread.

    Raises Rejected (type, encryption, limits of content) or ParseFailed (damaged, time, memory, crash), with a reason;
    FileNotFoundError when there is nothing at `path`.
    One file is parsed at a time in each calling process; a dead server is replaced at the next file.
    """
    return ParsedDocument.from_json(_ask_child(_Kind.FORMATS, path, filename, limits or ParseLimits())["document"])


def render_page_in_child(path: Path, *, filename: str, page: int, limits: ParseLimits | None = None) -> bytes | None:
    """Return a page of the PDF or picture at `path` as PNG, made in a child process; None where there is no such page. page: from 1.

    Raises ParseFailed (damaged, time, memory, crash), FileNotFoundError, as `parse_in_child` does.
    """
    png: str | None = _ask_child(_Kind.FORMATS, path, filename, limits or ParseLimits(), page=page)["png"]
    return None if png is None else base64.b64decode(png)


def render_picture_in_child(path: Path, *, filename: str, name: str) -> bytes:
    """Return a picture inside the Office file at `path` as PNG, made in a child process. name: of the part of the file that holds it.

    Raises Rejected, ParseFailed (damaged, time, memory, crash), FileNotFoundError, as `parse_in_child` does.
    """
    return base64.b64decode(_ask_child(_Kind.FORMATS, path, filename, ParseLimits(), drawn=name)["png"])


def locate_quotation_in_child(
    path: Path, *, filename: str, page: int, quoted: str, within: Sequence[Box]
) -> PageMarks | None:
    """Return the place of a quotation on a page of the PDF at `path` (`knowledge.parsers.pdf.page_marks`), found in a child process.

    Raises ParseFailed (damaged, time, memory, crash), FileNotFoundError, as `parse_in_child` does.
    """
    asked = {"page": page, "quoted": quoted, "within": list(within)}
    marks = _ask_child(_Kind.FORMATS, path, filename, ParseLimits(), **asked)["marks"]
    return None if marks is None else PageMarks.from_json(marks)


def recognise_picture_in_child(path: Path, *, filename: str, picture: Picture) -> RecognisedPage:
    """Return the text of one picture of the file at `path`, read in a child process: some four seconds for a page.

    Raises Rejected, ParseFailed (damaged, time, memory, crash), FileNotFoundError, as `parse_in_child` does.
    """
    answer = _ask_child(_Kind.RECOGNITION, path, filename, RECOGNITION_LIMITS, picture=asdict(picture))
    return RecognisedPage.from_json(answer["recognised"])


def _ask_child(kind: "_Kind", path: Path, filename: str, limits: ParseLimits, **more: Any) -> dict[str, Any]:
    """Return the child's answer about the file. Raises Rejected or ParseFailed, with its reason."""
    load_parsers()
    find_parser_by_name(filename)  # raises Rejected for a type that nobody reads
    request = {"path": str(path.resolve(strict=True)), "filename": filename, "limits": asdict(limits), **more}
    answer = servers.of(kind).ask(request, limits)
    if (
        answer.get("code") == "crashed"
    ):  # something outside may have killed it, as a machine short of memory does: once more
        answer = servers.of(kind).ask(request, limits)
    if "error" not in answer:
        return answer
    error = Rejected if answer["error"] == "rejected" else ParseFailed
    raise error(answer["code"], **answer["params"])


@dataclass
class _Server:
    """One warm process. `modules` register parsers, `preload` are imported before the first fork."""

    modules: tuple[str, ...]
    preload: tuple[str, ...]
    ends_when_idle: bool
    lock: threading.Lock = field(default_factory=threading.Lock)
    process: "subprocess.Popen[bytes] | None" = None

    def ask(self, request: dict[str, Any], limits: ParseLimits) -> dict[str, Any]:
        """Return the answer to one request; a server that died before this request is started again once."""
        with self.lock:
            was_running = self._is_running()
            try:
                return self._send_request(request, limits)
            except (_ServerDied, BrokenPipeError):
                self.stop()
                if not was_running:
                    raise ParseFailed("crashed", detail="the parsing process does not start") from None
            try:
                return self._send_request(request, limits)
            except (_ServerDied, BrokenPipeError):
                self.stop()
                raise ParseFailed("crashed", detail="the parsing process ended") from None

    def _is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def _send_request(self, request: dict[str, Any], limits: ParseLimits) -> dict[str, Any]:
        process = self.process if self._is_running() else None
        process = process or self._start_process()
        _write_bytes(process.stdin, json.dumps(request).encode() + b"\n")
        deadline = monotonic() + _START_S + limits.wall_s + _GRACE_S
        size = int.from_bytes(_read_bytes(process.stdout, _LENGTH_BYTES, deadline), "big")
        if size > limits.result_bytes:
            raise _ServerDied
        answer: dict[str, Any] = json.loads(_read_bytes(process.stdout, size, deadline))
        return answer

    def _start_process(self) -> "subprocess.Popen[bytes]":
        self.stop()
        environment = {
            **{name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "OPENBLAS_NUM_THREADS": "1",  # threads do not survive a fork
            "OMP_NUM_THREADS": "1",
            "DO_NOT_TRACK": "true",
            "UNSTRUCTURED_DISABLE_NOTICE": "1",
        }
        command = [sys.executable, "-m", "knowledge.parsers.server", ",".join(self.modules), ",".join(self.preload)]
        command += ["--end-when-idle"] if self.ends_when_idle else []
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True, bufsize=0
        )
        return self.process

    def stop(self) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        _close_pipes(process)
        try:
            process.wait(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _close_pipes(process: "subprocess.Popen[bytes]") -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()


def _write_bytes(pipe: IO[bytes] | None, data: bytes) -> None:
    if pipe is None:
        raise _ServerDied
    view = memoryview(data)
    while view:
        view = view[os.write(pipe.fileno(), view) :]


def _read_bytes(pipe: IO[bytes] | None, size: int, deadline: float) -> bytes:
    data = bytearray()
    if pipe is None:
        raise _ServerDied
    with DefaultSelector() as selector:
        selector.register(pipe, EVENT_READ)
        while len(data) < size:
            if not selector.select(max(0.0, deadline - monotonic())):
                raise _ServerDied
            piece = os.read(pipe.fileno(), min(size - len(data), MIB))
            if not piece:
                raise _ServerDied
            data += piece
    return bytes(data)


class _Kind(Enum):
    """The purpose of a server."""

    FORMATS = "formats"
    RECOGNITION = "recognition"

    def modules(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the modules that register its parsers, and those to import before the first fork."""
        modules = sorted({type(parser).__module__ for parser in parsers})
        if self is _Kind.RECOGNITION:
            return modules, ("knowledge.parsers.pdf.ocr",)
        return modules, tuple(dict.fromkeys(module for parser in parsers for module in parser.preload))


class _Servers:
    """The servers of this process; a forked process begins with none."""

    def __init__(self) -> None:
        self._servers: dict[_Kind, _Server] = {}
        self._inherited: dict[_Kind, _Server] = {}  # kept: a discarded Popen warns
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget_servers)

    def of(self, kind: _Kind) -> _Server:
        with self._lock:
            if kind not in self._servers:
                modules, preload = kind.modules()
                self._servers[kind] = _Server(tuple(modules), tuple(preload), ends_when_idle=kind is not _Kind.FORMATS)
            return self._servers[kind]

    def stop(self) -> None:
        with self._lock:
            for server in self._servers.values():
                server.stop()
            self._servers.clear()

    def pids(self) -> list[int]:
        with self._lock:
            running = [server.process for server in self._servers.values() if server.process is not None]
        return [process.pid for process in running]

    def _forget_servers(self) -> None:
        """Forget the parent's servers after a fork. Its pipe ends are closed here, so that servers end with the parent."""
        self._inherited = self._servers
        self._servers = {}
        self._lock = threading.Lock()
        for server in self._inherited.values():
            if server.process is not None:
                _close_pipes(server.process)


servers = _Servers()
atexit.register(servers.stop)
