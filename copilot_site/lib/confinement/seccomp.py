"""The system calls of a confined process: an allow-list, as a program of the classic BPF machine.

No sockets, no program, no further process, no change of rights, owners or times of files, no signal to others, and none of the calls
that kernels were taken over by. Numbers are those of the kernel's unistd.h. Source: the kernel's userspace-api/seccomp_filter.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Mapping, Sequence

from .kernel import PR_SET_NO_NEW_PRIVS, call_c_function, prctl

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # AUDIT_ARCH, column below
_NUMBERS: Mapping[str, tuple[int | None, int | None]] = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67), "pwrite64": (18, 68),
    "preadv": (295, 69), "pwritev": (296, 70), "preadv2": (327, 286), "pwritev2": (328, 287), "open": (2, None),
    "openat": (257, 56), "close": (3, 57), "close_range": (436, 436), "stat": (4, None), "fstat": (5, 80),
    "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291), "fstatfs": (138, 44), "lseek": (8, 62),
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216), "madvise": (28, 233),
    "brk": (12, 214), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439), "pipe": (22, None),
    "pipe2": (293, 59), "select": (23, None), "pselect6": (270, 72), "poll": (7, None), "ppoll": (271, 73),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22),
    "eventfd2": (290, 19), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "flock": (73, 32),
    "fsync": (74, 82), "fdatasync": (75, 83), "ftruncate": (77, 46), "getdents64": (217, 61), "getcwd": (79, 17),
    "chdir": (80, 49), "fchdir": (81, 50), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276),
    "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "unlink": (87, None), "unlinkat": (263, 35),
    "readlink": (89, None), "readlinkat": (267, 78), "umask": (95, 166), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148), "getresgid": (120, 150), "getgroups": (115, 158),
    "getpid": (39, 172), "gettid": (186, 178), "getppid": (110, 173), "getpgrp": (111, None), "getrusage": (98, 165),
    "times": (100, 153), "uname": (63, 160), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "gettimeofday": (96, 169), "time": (201, None),
    "getrandom": (318, 278), "futex": (202, 98), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "set_robust_list": (273, 99), "rseq": (334, 293), "set_tid_address": (218, 96), "exit": (60, 93),
    "exit_group": (231, 94), "membarrier": (324, 283), "getrlimit": (97, 163), "sendfile": (40, 71),
    "copy_file_range": (326, 285), "fadvise64": (221, 223), "restart_syscall": (219, 128),
}  # fmt: skip
_CLONE, _CLONE3, _IOCTL, _PRCTL, _PRLIMIT, _TGKILL = (56, 220), (435, 435), (16, 29), (157, 167), (302, 261), (234, 131)
_FCNTL = (72, 25)
_CLONE_THREAD = 0x00010000
# Of fcntl: copies, flags and locks; not the receiver of a file's signals, which is a way to kill
_OWN_FILES = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030)
_HARMLESS_IOCTLS = (0x5401, 0x5450, 0x5451)  # TCGETS (is it a terminal?), FIONCLEX, FIOCLEX
_PR_SET_NAME = 15

_ALLOW, _KILL, _REFUSE, _ABSENT = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
_LOAD, _IS, _HAS, _RETURN = 0x20, 0x15, 0x45, 0x06  # of the BPF machine
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # places in struct seccomp_data; arguments have eight bytes, the low half first
_SET_SECCOMP, _FILTER = 22, 2
_Instruction = tuple[int, int, int, int]


def is_known_machine() -> bool:
    return platform.system() == "Linux" and platform.machine() in _MACHINES and struct.pack("=H", 1) == b"\1\0"


def restrict_system_calls() -> None:
    """Restrict this process, and every thread that it starts, to these calls. Raises CannotConfine."""
    code = b"".join(struct.pack("=HBBI", *item) for item in _build_filter(platform.machine(), os.getpid()))
    kept = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(kept))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    call_c_function("prctl", _SET_SECCOMP, _FILTER, program, 0, 0)


def _build_filter(machine: str, pid: int) -> list[_Instruction]:
    """Return the filter. pid: the process may signal itself, and nobody else."""
    arch, column = _MACHINES[machine]
    numbers = [number for pair in _NUMBERS.values() if (number := pair[column]) is not None]
    program = [(_LOAD, 0, 0, _ARCH), (_IS, 1, 0, arch), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    for number in numbers:
        program += [(_IS, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    program += _allow_call_if(_CLONE[column], 0, [(_HAS, 0, 1, _CLONE_THREAD)])
    program += _allow_call_if(_FCNTL[column], 1, [(_IS, 0, 1, command) for command in _OWN_FILES])
    program += _allow_call_if(_IOCTL[column], 1, [(_IS, 0, 1, request) for request in _HARMLESS_IOCTLS])
    program += _allow_call_if(_PRCTL[column], 0, [(_IS, 0, 1, _PR_SET_NAME)])
    program += _allow_call_if(_TGKILL[column], 0, [(_IS, 0, 1, pid)])
    program += _allow_reading_limits(_PRLIMIT[column])
    program += [(_IS, 0, 1, _CLONE3[column]), (_RETURN, 0, 0, _ABSENT)]  # the C library then uses clone
    return [*program, (_RETURN, 0, 0, _REFUSE)]


def _allow_call_if(number: int, argument: int, tests: Sequence[_Instruction]) -> list[_Instruction]:
    """Allow a call where the low half of an argument passes one of the tests."""
    inner = [step for test in tests for step in (test, (_RETURN, 0, 0, _ALLOW))]
    inner = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument), *inner, (_RETURN, 0, 0, _REFUSE)]
    return [(_IS, 0, len(inner), number), *inner]


def _allow_reading_limits(number: int) -> list[_Instruction]:
    """Allow prlimit only to read one's own limits: no process (argument 0), no new limit (argument 2)."""
    halves = [_ARGUMENTS, _ARGUMENTS + 16, _ARGUMENTS + 20]
    inner: list[_Instruction] = []
    for place in halves:
        inner += [(_LOAD, 0, 0, place), (_IS, 1, 0, 0), (_RETURN, 0, 0, _REFUSE)]
    inner.append((_RETURN, 0, 0, _ALLOW))
    return [(_IS, 0, len(inner), number), *inner]
