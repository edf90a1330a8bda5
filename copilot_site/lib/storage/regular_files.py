"""Reading from folders that others write to: only regular files below the folder, and with a time limit.

A link may lead out, a named pipe waits for its writer, a share that went away answers no call: none of them holds a worker, or shows
what the folder does not hold.
"""

import errno
import os
import stat
import threading
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import copy_context
from pathlib import Path
from typing import TypeVar

from django.utils.translation import gettext as _

SILENCE_S = 60.0  # that one call of the file system may take; a share that sleeps wakes up in less
BLOCK_BYTES = 1_000_000  # read by one call
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
Result = TypeVar("Result")


def run_with_timeout(seconds: float, work: Callable[[], Result]) -> Result:
    """Return the result of `work` or raise its error. Raises TimeoutError when it takes longer; the hanging thread is abandoned."""
    done: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again for whoever waits
            failed.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError(errno.ETIMEDOUT, _("the file system does not answer"))
    return done[0]


def open_regular_file(path: Path, *, top: Path) -> int:
    """Return a descriptor of a regular file below `top`, which is a real path, also through a link.

    No part of the real path is followed if it has become a link. Raises OSError, whose strerror says why.
    """
    real = path.resolve()
    if top not in real.parents:
        raise OSError(errno.EXDEV, _("it leads out of the folder"))
    with ExitStack() as opened:
        folder = os.open(real.anchor, _FOLDER)
        opened.callback(os.close, folder)
        for part in real.parts[1:-1]:
            folder = os.open(part, _FOLDER, dir_fd=folder)
            opened.callback(os.close, folder)
        _require_regular_file(os.stat(real.name, dir_fd=folder, follow_symlinks=False))  # a device is not even opened
        file = os.open(real.name, _FILE, dir_fd=folder)
    try:
        _require_regular_file(os.fstat(file))
    except OSError:
        os.close(file)
        raise
    return file


def read_regular_file(path: Path, *, top: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file below `top`. Raises OSError, TimeoutError among them; EFBIG for more than most_bytes."""
    file = run_with_timeout(SILENCE_S, lambda: open_regular_file(path, top=top))
    try:
        found = bytearray()
        while block := run_with_timeout(SILENCE_S, lambda: os.read(file, BLOCK_BYTES)):
            found += block
            if len(found) > most_bytes:
                raise OSError(errno.EFBIG, _("it is too large"))
        return bytes(found)
    finally:
        os.close(file)


def _require_regular_file(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, _("it is not a regular file"))
