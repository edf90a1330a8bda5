"""Limits of time and space of this process, which it cannot raise again."""

import ctypes
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path

from .kernel import PR_SET_PDEATHSIG


def die_with_parent() -> None:
    """Make this process die with its parent. Linux only; elsewhere limits of time end it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def set_limits(*, cpu_s: int, memory_bytes: int, file_bytes: int, open_files: int) -> None:
    """Set limits, without core dumps and locked memory. memory_bytes: address space."""
    for number in (resource.RLIMIT_CORE, resource.RLIMIT_MEMLOCK):
        resource.setrlimit(number, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def read_address_space() -> int:
    """Return the address space in use by this process; 0 without /proc."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


def redirect_to_null() -> None:
    """Connect stdin, stdout and stderr to /dev/null."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
