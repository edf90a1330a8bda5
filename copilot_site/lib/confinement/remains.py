"""A script's files: checked while it runs, and deleted afterwards, whatever their depth, number and permissions."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from .plan import ConfinementLimits


def is_over_limits(folders: tuple[Path, ...], limits: ConfinementLimits) -> bool:
    """Tell whether more was written than allowed: a folder counts as a file, and an unreadable one as too much."""
    found = size = 0
    try:
        for folder in folders:
            for _name, path in _iterate_entries(folder):
                found, size = found + 1, size + _read_file_size(path)
                if found > limits.files or size > limits.folder_bytes:
                    return True
    except OSError:  # no rights, or too long a path: its content could not be counted
        return True
    return False


def read_files(folder: Path) -> dict[str, bytes]:
    """Return readable regular files by path below the folder, without links, special files and linked folders. Call it for
    folders within their limits only.
    """
    found = {}
    for name, path in _iterate_entries(folder):
        with suppress(OSError):
            if stat.S_ISREG(path.lstat().st_mode):
                found[name] = path.read_bytes()
    return found


def delete_tree(folder: Path) -> None:
    """Delete a folder, after its processes ended. Its folders are moved to the top before they are emptied, so that no path is too long."""
    number, pending = count(), [folder]
    for place in pending:  # grows while it is walked
        with suppress(OSError):
            place.chmod(0o700)
        with suppress(OSError), os.scandir(place) as entries:
            for entry in list(entries):
                with suppress(OSError):
                    if not entry.is_dir(follow_symlinks=False):
                        Path(entry.path).unlink()
                    elif place == folder:
                        pending.append(Path(entry.path))
                    else:
                        Path(entry.path).chmod(0o700)  # a folder that may not be written is not moved
                        pending.append(Path(entry.path).rename(folder / f"deleted-{next(number)}"))
    for place in reversed(pending):
        with suppress(OSError):
            place.rmdir()


def _iterate_entries(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield all entries below a folder, parents first. Raises OSError for an unreadable folder."""
    pending = [folder]
    while pending:
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(pending.pop()) as entries:  # a script goes on
            for entry in entries:
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                yield str(path.relative_to(folder)), path


def _read_file_size(path: Path) -> int:
    """Return the size of a file in bytes."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
