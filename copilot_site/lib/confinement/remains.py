"""What a script leaves in its folders: looked at while it runs, thrown away afterwards, however deep, however many, however locked."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from .plan import Limits


def is_too_much(folders: tuple[Path, ...], limits: Limits) -> bool:
    """Whether more was written than may be: a folder counts as a file, and one that cannot be looked into as too much."""
    found = size = 0
    try:
        for folder in folders:
            for _name, path in _entries(folder):
                found, size = found + 1, size + _size(path)
                if found > limits.files or size > limits.folder_bytes:
                    return True
    except OSError:  # its rights, or a path longer than the kernel takes: nobody would see what lies there
        return True
    return False


def files_in(folder: Path) -> dict[str, bytes]:
    """Regular files that can be read, by their path below the folder; links and whatever else are none, and folders that are links are
    not entered. For a folder that is not too much.
    """
    found = {}
    for name, path in _entries(folder):
        with suppress(OSError):
            if stat.S_ISREG(path.lstat().st_mode):
                found[name] = path.read_bytes()
    return found


def throw_away(folder: Path) -> None:
    """Delete a folder, after its processes. Each folder in it is moved to its top before it is emptied, so that no path is too long."""
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


def _entries(folder: Path) -> Iterator[tuple[str, Path]]:
    """All that lies below a folder, each before what lies in it. Raises OSError for a folder that cannot be looked into."""
    pending = [folder]
    while pending:
        with (
            suppress(FileNotFoundError, NotADirectoryError),
            os.scandir(pending.pop()) as entries,
        ):  # the script goes on
            for entry in entries:
                path = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                yield str(path.relative_to(folder)), path


def _size(path: Path) -> int:
    """In bytes, of a file."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
