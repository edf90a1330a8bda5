"""The plan of a confined process: what it may use."""

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

MIB = 1024 * 1024


class Namespaces(StrEnum):
    """The provider of the process's own names, files, network and processes."""

    OWN = "own"  # the process itself
    BUBBLEWRAP = "bubblewrap"  # `bwrap`, where the kernel lets only certain programs
    NONE = "none"


@dataclass(frozen=True)
class ConfinementLimits:
    """Limits of one run, for all its threads together (there is one process). Times in seconds, sizes in bytes.

    memory_bytes: address space; Python with its libraries has some 100 MiB of it. file_bytes: of any one file; folder_bytes and files:
    of all that is written, folders counted as files. output_bytes: of stdout, and as much of stderr.
    """

    cpu_s: int = 20
    wall_s: float = 30.0
    memory_bytes: int = 512 * MIB
    file_bytes: int = 8 * MIB
    folder_bytes: int = 16 * MIB
    files: int = 64
    output_bytes: int = 256 * 1024
    threads: int = 32
    open_files: int = 128


@dataclass(frozen=True)
class Isolation:
    """The layers that confine a process. landlock: version of its interface, 0 where there is none."""

    namespaces: Namespaces
    landlock: int


@dataclass(frozen=True)
class ScriptPlan:
    """script, arguments: what runs. search_path: where Python looks for modules. readable: files and folders; writable: folders, empty at
    first. The first of these is where it starts.
    """

    script: str
    arguments: tuple[str, ...]
    search_path: tuple[str, ...]
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    isolation: Isolation
    limits: ConfinementLimits = field(default_factory=ConfinementLimits)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ScriptPlan":
        """Read a plan. Raises ValueError, KeyError, TypeError for an invalid one."""
        given: dict[str, Any] = json.loads(text)
        isolation = Isolation(Namespaces(given["isolation"]["namespaces"]), given["isolation"]["landlock"])
        paths = {name: tuple(given[name]) for name in ("arguments", "search_path", "readable", "writable")}
        return cls(script=given["script"], **paths, isolation=isolation, limits=ConfinementLimits(**given["limits"]))
