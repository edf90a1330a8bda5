"""Landlock: a process takes files, TCP and signals away from itself, without being root. Source: the kernel's userspace-api/landlock."""

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from .kernel import PR_SET_NO_NEW_PRIVS, CannotConfine, make_system_call, prctl

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every architecture
_READ_FILE, _READ_DIR, _WRITE_FILE, _TRUNCATE, _DEVICE = 1 << 2, 1 << 3, 1 << 1, 1 << 14, 1 << 15
_EXECUTE, _SPECIAL = 1 << 0, sum(1 << bit for bit in (6, 9, 10, 11, 12))  # devices, sockets, pipes, symbolic links
_CHANGES = sum(1 << bit for bit in (4, 5, 7, 8))  # remove and make folders and files
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE
_TCP, _SCOPES = 0b11, 0b11  # bind, connect; abstract sockets, signals
HOLDS_ALONE = 3  # older kernels allow truncating a readable file
_FIRST_WITH_TCP, _FIRST_WITH_SCOPES = 4, 6


def find_abi_version() -> int:
    """Return the version of the kernel's interface; 0 without one."""
    try:
        return make_system_call(_CREATE, "landlock", 0, 0, 1)
    except CannotConfine:
        return 0


def restrict_file_access(abi: int, *, readable: Iterable[str], writable: Iterable[str], devices: Iterable[str]) -> None:
    """Restrict this process to these files, without TCP and signals to others. Raises CannotConfine, OSError."""
    handled = _compute_handled_rights(abi)
    attributes = struct.pack("QQQ", handled, _TCP * (abi >= _FIRST_WITH_TCP), _SCOPES * (abi >= _FIRST_WITH_SCOPES))
    attributes = attributes[: 24 if abi >= _FIRST_WITH_SCOPES else 16 if abi >= _FIRST_WITH_TCP else 8]
    rules = make_system_call(_CREATE, "landlock_create_ruleset", attributes, len(attributes), 0)
    for path in readable:
        _allow_path(rules, path, (_READ_FILE | _READ_DIR) & handled)
    for path in devices:
        _allow_path(rules, path, (_READ_FILE | _WRITE_FILE) & handled)
    for path in writable:
        _allow_path(rules, path, (_READ_FILE | _READ_DIR | _WRITE_FILE | _TRUNCATE | _CHANGES) & handled)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    make_system_call(_RESTRICT, "landlock_restrict_self", rules, 0)
    os.close(rules)


def _compute_handled_rights(abi: int) -> int:
    """Return all rights that this version knows: those not allowed again are removed."""
    bits = {1: 13, 2: 14, 3: 15, 4: 15}.get(abi, 16)
    return (1 << bits) - 1


def _allow_path(rules: int, path: str, access: int) -> None:
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        is_folder = Path(path).is_dir()
        rule = struct.pack("=Qi", access if is_folder else access & _OF_FILES, parent)
        make_system_call(_ADD, "landlock_add_rule", rules, 1, rule, 0)
    finally:
        os.close(parent)
