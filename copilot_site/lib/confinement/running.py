"""Run a script confined as this machine can, and collect its files."""

import asyncio
import os
import signal
import threading
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from .child import NOT_CONFINED
from .isolation import build_command, build_environment, build_plan, open_scratch_folder
from .plan import ConfinementLimits, Isolation
from .remains import is_over_limits, read_files

AT_ONCE = 2  # scripts of this process; each may take as much memory as its limits say
_LOOK_S = 0.1  # between two looks at what was written, or for a free place
_places = threading.BoundedSemaphore(AT_ONCE)  # runs have event loops of their own
_KILLED = {-signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGXCPU, 128 + signal.SIGKILL}
"""Exit statuses after the CPU limit: of the script itself, or passed on by the process that waits for it."""


class Stopped(StrEnum):
    """The reason why a script was stopped, or did not run."""

    TIME = "time"
    OUTPUT = "output"
    WRITTEN = "written"
    NOT_CONFINED = "not_confined"


@dataclass(frozen=True)
class Ran:
    """The result of a run. status: 0 for success. output, errors: as UTF-8, what is no text replaced. files: what it left, by path;
    none where it was stopped. stopped: None where it ended by itself.
    """

    status: int
    output: str
    errors: str
    files: Mapping[str, bytes]
    stopped: Stopped | None = None


class _SaysTooMuch(Exception):
    """The output is larger than allowed."""


@dataclass
class _Output:
    """The output so far."""

    output: bytearray
    errors: bytearray

    def ran(self, status: int, stopped: Stopped | None, files: Mapping[str, bytes]) -> Ran:
        output, errors = (bytes(item).decode("utf-8", errors="replace") for item in (self.output, self.errors))
        return Ran(status, output, errors, files, stopped)


async def run_confined(
    within: Isolation,
    files: Mapping[str, bytes],
    script: str,
    arguments: Sequence[str] = (),
    *,
    stdin: bytes = b"",
    limits: ConfinementLimits | None = None,
) -> Ran:
    """Run `script`, one of `files`: they lie read-only in a folder `in`, beside the one where it starts and may write.

    Waits while AT_ONCE others run. Nothing else is kept; killed when cancelled. Raises OSError where no process starts.
    """
    limits = limits or ConfinementLimits()
    async with _hold_place():
        return await _run_script(within, files, script, arguments, stdin=stdin, limits=limits)


@asynccontextmanager
async def _hold_place() -> AsyncIterator[None]:
    """Hold one of this process's places, as soon as one is free."""
    while not _places.acquire(blocking=False):  # noqa: ASYNC110 - places are shared by event loops
        await asyncio.sleep(_LOOK_S)
    try:
        yield
    finally:
        _places.release()


async def _run_script(
    within: Isolation,
    files: Mapping[str, bytes],
    script: str,
    arguments: Sequence[str],
    *,
    stdin: bytes,
    limits: ConfinementLimits,
) -> Ran:
    with open_scratch_folder(within) as folder:
        for name, data in files.items():
            path = folder / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        plan = build_plan(folder, folder / "in" / script, tuple(arguments), within, limits)
        process = await asyncio.create_subprocess_exec(
            *build_command(plan),
            stdin=PIPE if stdin else DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env=build_environment(folder),
            start_new_session=True,
        )
        try:
            return await _watch_process(process, folder, limits, stdin)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await asyncio.gather(_drain_pipe(process.stdout), _drain_pipe(process.stderr))
            await process.wait()


async def _drain_pipe(pipe: asyncio.StreamReader | None) -> None:
    """Read a pipe to its end: asyncio treats a process as ended only once its pipes are."""
    while pipe is not None and await pipe.read(65_536):
        pass


async def _watch_process(process: Process, folder: Path, limits: ConfinementLimits, stdin: bytes) -> Ran:
    output = _Output(bytearray(), bytearray())
    ending = asyncio.create_task(_wait_for_end(process, output, stdin, limits.output_bytes))
    growing = asyncio.create_task(_wait_until_too_large(folder, limits))
    try:
        done, _rest = await asyncio.wait({ending, growing}, timeout=limits.wall_s, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            return output.ran(-1, Stopped.TIME, {})
        if growing in done or is_over_limits(_list_writable_folders(folder), limits):
            return output.ran(-1, Stopped.WRITTEN, {})
        status = ending.result()
    finally:
        for task in (ending, growing):
            task.cancel()
        await asyncio.gather(ending, growing, return_exceptions=True)
    if status is None:
        return output.ran(-1, Stopped.OUTPUT, {})
    if status == NOT_CONFINED:
        return output.ran(status, Stopped.NOT_CONFINED, {})
    if status in _KILLED:
        return output.ran(status, Stopped.TIME, {})
    return output.ran(status, None, read_files(folder / "out"))


async def _wait_for_end(process: Process, output: _Output, stdin: bytes, most: int) -> int | None:
    """Return the exit status; None where the output is too large."""
    is_too_much = False
    try:
        async with asyncio.TaskGroup() as pipes:
            pipes.create_task(_read_output(process.stdout, output.output, most))
            pipes.create_task(_read_output(process.stderr, output.errors, most))
            pipes.create_task(_write_input(process.stdin, stdin))
    except* _SaysTooMuch:
        is_too_much = True
    return None if is_too_much else await process.wait()


async def _read_output(pipe: asyncio.StreamReader | None, into: bytearray, most: int) -> None:
    while pipe is not None and (piece := await pipe.read(65_536)):
        if len(into) + len(piece) > most:
            into += piece[: most - len(into)]
            raise _SaysTooMuch
        into += piece


async def _write_input(pipe: asyncio.StreamWriter | None, data: bytes) -> None:
    if pipe is not None:
        with suppress(BrokenPipeError, ConnectionResetError):  # it need not read
            pipe.write(data)
            await pipe.drain()
        pipe.close()


async def _wait_until_too_large(folder: Path, limits: ConfinementLimits) -> None:
    """Wait until more is written than allowed."""
    while not is_over_limits(_list_writable_folders(folder), limits):  # noqa: ASYNC110 - nobody tells when a file grows
        await asyncio.sleep(_LOOK_S)


def _list_writable_folders(folder: Path) -> tuple[Path, Path]:
    return folder / "out", folder / "tmp"
