"""Separate files, network, processes and names for this process, without being root: it sees only what it is given.

As root it then becomes the owner of the folder it writes, a user who owns nothing else.
"""

import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from .kernel import call_c_function, make_system_call
from .rlimits import die_with_parent

NOBODY = 65534
_NEW_USER = 0x10000000
_NEW = 0x00020000 | 0x40000000 | 0x20000000 | 0x08000000 | 0x04000000 | 0x02000000
# mounts, network, processes, IPC, host name, control groups
_BIND, _ALL_BELOW, _PRIVATE, _NO_SUID, _NO_DEVICES, _READ_ONLY = 0x1000, 0x4000, 0x40000, 2, 4, 1
_REMOUNT, _DETACH = 0x20, 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR, _HERE, _RECURSIVE = 442, -100, 0x8000
_ONLY_READ, _ATTR_NO_SUID, _ATTR_NO_DEVICES = 0x1, 0x2, 0x4


def enter_namespaces(root: str, *, readable: Sequence[str], writable: Sequence[str], devices: Sequence[str]) -> None:
    """Enter new namespaces; the call returns in their first process. The calling process waits outside and ends with the same status.

    root: an empty folder, on which the new files are put together. Raises CannotConfine, OSError.
    """
    is_root, owner = os.geteuid() == 0, Path(writable[0]).stat().st_uid
    user, group = os.geteuid(), os.getegid()
    call_c_function("unshare", _NEW if is_root else _NEW | _NEW_USER)
    if not is_root:
        Path("/proc/self/setgroups").write_text("deny", encoding="utf-8")
        Path("/proc/self/uid_map").write_text(f"{NOBODY} {user} 1", encoding="utf-8")
        Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1", encoding="utf-8")
    _set_up_root(root, [*readable, *writable, *devices], {*readable})
    if is_root:
        os.setgroups([])
        os.setresgid(owner, owner, owner)
        os.setresuid(owner, owner, owner)
    die_with_parent()  # a change of user takes it back
    child = os.fork()
    if child:
        _exit_like_child(child)
    die_with_parent()


def _set_up_root(root: str, given: Sequence[str], readable: set[str]) -> None:
    """Set up a new root with only these files at their places."""
    call_c_function("mount", b"none", b"/", None, _ALL_BELOW | _PRIVATE, None)
    call_c_function("mount", b"tmpfs", root.encode(), b"tmpfs", _NO_SUID | _NO_DEVICES, b"size=1m,mode=755")
    for path in given:
        source = os.path.realpath(path)
        place = root + source
        _make_mount_point(Path(place), is_folder=Path(path).is_dir())
        call_c_function("mount", source.encode(), place.encode(), None, _BIND | _ALL_BELOW, None)
        if path in readable:
            attributes = struct.pack("QQQQ", _ONLY_READ | _ATTR_NO_SUID | _ATTR_NO_DEVICES, 0, 0, 0)
            make_system_call(
                _MOUNT_SETATTR, "mount_setattr", _HERE, place.encode(), _RECURSIVE, attributes, len(attributes)
            )
    for path in given:
        if os.path.realpath(path) != path and not os.path.lexists(root + path):
            Path(root + path).parent.mkdir(parents=True, exist_ok=True)
            Path(root + path).symlink_to(os.path.realpath(path))
    call_c_function("mount", None, root.encode(), None, _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_DEVICES, None)
    os.chdir(root)
    make_system_call(_PIVOT_ROOT[os.uname().machine], "pivot_root", b".", b".")
    call_c_function("umount2", b".", _DETACH)
    os.chdir("/")


def _make_mount_point(place: Path, *, is_folder: bool) -> None:
    if is_folder:
        place.mkdir(parents=True, exist_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()


def _exit_like_child(child: int) -> NoReturn:
    """Wait for the process inside and end with its status, 128 and the signal's number where one ended it."""
    _pid, status = os.waitpid(child, 0)
    os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
