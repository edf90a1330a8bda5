"""The warm process behind `sandbox`: reads one request a line, forks a child for it, writes one answer.

Run as `python -m knowledge.parsers.server MODULES PRELOAD [--end-when-idle]`. Protocol: a JSON object and a newline on
stdin; on stdout eight bytes of length (big endian) and a JSON object: {"document": …}, {"png": base64 | null} for a
request that names a `page` or a picture that is `drawn`, {"marks": … | null} for one that names what is `quoted` on a page, too,
{"recognised": …} for one that names a `picture`, or {"error": "rejected" | "failed", "code": …, "params": {…}}.
"""

import base64
import gc
import importlib
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from select import select
from time import monotonic
from typing import Any, NoReturn

from copilot_site.lib.confinement import rlimits
from knowledge.parsers.base import MIB, ParseFailed, ParseLimits, Parser, Rejected, UnreadableFile
from knowledge.parsers.blocks import Picture
from knowledge.parsers.detect import find_parser

_IDLE_S = 60.0  # a server with slow libraries gives its memory back; starting again costs about two seconds
# Forbidden to parsers. An audit hook cannot be removed; it stops Python code, but not an exploited C library.
_FORBIDDEN = (
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "socket.sendto",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
)


def main() -> None:
    modules, preload = (argument.split(",") if argument else [] for argument in sys.argv[1:3])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printing libraries must not write into the answers
    for module in (*modules, *preload):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    requests = _Requests()
    while (line := requests.next(_IDLE_S if "--end-when-idle" in sys.argv else None)) is not None:
        try:
            answer = _parse_in_fork(json.loads(line))
        except _WorkerEnded:
            return
        answers.write(len(answer).to_bytes(8, "big") + answer)
        answers.flush()


class _Requests:
    """Lines of stdin without Python's buffering, so that `select` tells the truth."""

    def __init__(self) -> None:
        self._buffer = b""

    def next(self, timeout_s: float | None) -> bytes | None:
        """Return the next line; None when stdin was closed (the worker ended) or nothing came in time."""
        while b"\n" not in self._buffer:
            readable, _, _ = select([0], [], [], timeout_s)
            piece = os.read(0, MIB) if readable else b""
            if not piece:
                return None
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line


class _WorkerEnded(Exception):
    """Stdin was closed while a file was parsed."""


def _parse_in_fork(request: dict[str, Any]) -> bytes:
    limits = ParseLimits(**request["limits"])
    read_end, write_end = os.pipe()
    shared_bytes = _compute_peak_bytes(resource.getrusage(resource.RUSAGE_SELF))
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        _run_child(request, limits, write_end)
    os.close(write_end)
    try:
        answer, error = _collect_output(read_end, limits)
    finally:
        os.close(read_end)
        status, usage = _end_process_group(pid)
    if answer and status == 0:
        return answer
    return _encode_error(error or _find_failure_reason(status, usage, limits, shared_bytes))


def _collect_output(read_end: int, limits: ParseLimits) -> tuple[bytes, ParseFailed | None]:
    """Return all the child writes until it closes the pipe, within the limits of time and size. Raises _WorkerEnded."""
    data = bytearray()
    deadline = monotonic() + limits.wall_s
    while True:
        readable, _, _ = select([read_end, 0], [], [], max(0.0, deadline - monotonic()))
        if not readable:
            return b"", ParseFailed("time", limit=int(limits.wall_s))
        if read_end not in readable:  # one request at a time: readable stdin means its end
            raise _WorkerEnded
        piece = os.read(read_end, MIB)
        data += piece
        if not piece:
            return bytes(data), None
        if len(data) > limits.result_bytes:
            return b"", ParseFailed("too_much_text", limit=limits.text_characters)


def _end_process_group(pid: int) -> tuple[int, resource.struct_rusage]:
    """Kill whatever is left of the child's process group and wait for the child."""
    with suppress(ProcessLookupError, PermissionError):  # ended by itself, or not yet the leader of a group
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return status, usage


def _find_failure_reason(
    status: int, usage: resource.struct_rusage, limits: ParseLimits, shared_bytes: int
) -> ParseFailed:
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number == signal.SIGXCPU or usage.ru_utime + usage.ru_stime >= limits.cpu_s:
        return ParseFailed("time", limit=limits.cpu_s)
    if _is_short_of_memory(usage, limits, shared_bytes):
        return ParseFailed("memory", limit=limits.memory_bytes // MIB)
    return ParseFailed("crashed", detail=(signal.strsignal(number) if number else None) or "it ended by itself")


def _is_short_of_memory(usage: resource.struct_rusage, limits: ParseLimits, shared_bytes: int) -> bool:
    """Tell whether half of the memory limit was in use: C libraries out of memory abort or report a damaged file."""
    return _compute_peak_bytes(usage) - shared_bytes > limits.memory_bytes / 2


def _compute_peak_bytes(usage: resource.struct_rusage) -> int:
    """Return the largest resident size so far; a forked process begins with its parent's."""
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _run_child(request: dict[str, Any], limits: ParseLimits, write_end: int) -> NoReturn:
    """Parse and answer; never returns. The exit status is 0 when the answer is whole."""
    status = 1
    try:
        _confine_process(limits)
        view = memoryview(_build_answer(request, limits))
        while view:
            view = view[os.write(write_end, view) :]
        status = 0
    finally:
        os._exit(status)


def _build_answer(request: dict[str, Any], limits: ParseLimits) -> bytes:
    """Return the answer as JSON. Whatever a library raises on an odd file becomes a reason."""
    path, name = Path(request["path"]), "text"
    shared_bytes = _compute_peak_bytes(resource.getrusage(resource.RUSAGE_SELF))
    try:
        if "drawn" in request:  # no parser of Office files is needed for it, and this server may have none
            return _encode_json(_render_inner_picture(path, request["drawn"], limits))
        parser = find_parser(path, request["filename"])
        name = parser.name
        return _encode_json(_execute_request(request, parser, path, limits))
    except UnreadableFile as error:
        found = error
    except MemoryError:
        found = ParseFailed("memory", limit=limits.memory_bytes // MIB)
    except Exception:  # noqa: BLE001 - the edge: parsers of damaged files raise anything
        found = ParseFailed("damaged", format=name.upper())
    if isinstance(found, ParseFailed) and _is_short_of_memory(
        resource.getrusage(resource.RUSAGE_SELF), limits, shared_bytes
    ):
        found = ParseFailed("memory", limit=limits.memory_bytes // MIB)
    return _encode_error(found)


def _execute_request(request: dict[str, Any], parser: Parser, path: Path, limits: ParseLimits) -> dict[str, Any]:
    """Return what is asked of a file. Libraries are imported here, since each server has its own."""
    if "quoted" in request:
        from knowledge.parsers.pdf.page_marks import locate_quotation

        marks = locate_quotation(path, request["page"], request["quoted"], request["within"])
        return {"marks": marks and asdict(marks)}
    if "page" in request:
        from knowledge.parsers.pdf.page_image import render_page_png

        return _encode_png(render_page_png(path, request["page"], limits))
    if "picture" in request:
        from knowledge.parsers.pdf.ocr import recognise_picture

        return {"recognised": asdict(recognise_picture(path, Picture(**request["picture"]), limits))}
    return {"document": parser.parse(path, limits).to_json()}


def _render_inner_picture(path: Path, name: str, limits: ParseLimits) -> dict[str, Any]:
    from knowledge.parsers.pdf.page_image import render_inner_png

    return _encode_png(render_inner_png(path, name, limits))


def _encode_png(png: bytes | None) -> dict[str, Any]:
    return {"png": png and base64.b64encode(png).decode()}


def _encode_json(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", errors="replace")


def _encode_error(error: UnreadableFile) -> bytes:
    kind = "rejected" if isinstance(error, Rejected) else "failed"
    return _encode_json({"error": kind, "code": error.code, "params": error.params})


def _confine_process(limits: ParseLimits) -> None:
    """Limit this process: it dies with the server, and has no output, no network and no other program."""
    os.setpgid(0, 0)
    rlimits.die_with_parent()
    rlimits.set_limits(
        cpu_s=limits.cpu_s,
        memory_bytes=rlimits.read_address_space() + limits.memory_bytes,
        file_bytes=limits.written_bytes,
        open_files=256,
    )
    rlimits.redirect_to_null()
    sys.addaudithook(_refuse_event)


def _refuse_event(event: str, _args: tuple[object, ...]) -> None:
    if event in _FORBIDDEN:
        raise PermissionError(f"{event} is not allowed while a file is parsed")


if __name__ == "__main__":
    main()
