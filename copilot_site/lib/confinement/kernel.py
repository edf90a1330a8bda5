"""Calls of the Linux kernel that Python has no name for."""

import ctypes
import os
import struct

_libc = ctypes.CDLL(None, use_errno=True)
_CAPABILITIES_3 = 0x20080522
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38


class CannotConfine(Exception):
    """The kernel refuses a layer."""


def call_c_function(name: str, *arguments: object) -> int:
    """Return a function of the C library. Raises CannotConfine."""
    return _check_result(getattr(_libc, name)(*map(_convert_to_c, arguments)), name)


def make_system_call(number: int, name: str, *arguments: object) -> int:
    """Make a system call by number, where the C library has no function. Raises CannotConfine."""
    return _check_result(_libc.syscall(ctypes.c_long(number), *map(_convert_to_c, arguments)), name)


def prctl(option: int, value: int = 0) -> None:
    call_c_function("prctl", option, value, 0, 0, 0)


def drop_capabilities() -> None:
    """Drop all capabilities for good, also for programs started later."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    call_c_function("capset", struct.pack("Ii", _CAPABILITIES_3, 0), bytes(24))


def _convert_to_c(value: object) -> object:
    return ctypes.c_ulong(value & (2**64 - 1)) if isinstance(value, int) else value


def _check_result(result: int, name: str) -> int:
    if result < 0:
        raise CannotConfine(f"{name}: {os.strerror(ctypes.get_errno())}")
    return result
