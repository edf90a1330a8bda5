"""A git repository of this machine, copied before it is read: what git would follow out of its folder is not taken along.

Only refs and objects are: no `.git` file, no link, no `commondir`, `alternates`, `worktrees`, hooks or configuration with its includes.
Layout: https://git-scm.com/docs/gitrepository-layout.
"""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from django.utils.translation import gettext as _

from copilot_site.lib.regular_files import SILENCE_S, blocks_of, read_regular, within
from knowledge.sources.base import Passing, Unreadable

MOST_BYTES = 1_000_000_000  # of one repository, copied or fetched; one of more is no handbook
MOST_REFS = 20_000
MOST_REF_BYTES, MOST_PACKED_BYTES = 1_000, 20_000_000  # of one ref, and of the file with all that are packed
_ID = re.compile(r"[0-9a-f]{40}")
_HEADS = "refs/heads/"
_FAN_OUT, _LOOSE = re.compile(r"[0-9a-f]{2}"), re.compile(r"[0-9a-f]{38}")
_PACKED = re.compile(r"pack-[0-9a-f]{40}\.(pack|idx)")


def control_folder(folder: Path) -> Path:
    """Where the repository of a folder keeps what it knows. folder: a real path. Raises Unreadable."""
    own = folder / ".git"
    try:
        mode = within(SILENCE_S, lambda: os.lstat(own).st_mode if os.path.lexists(own) else 0)
        found = own if mode else folder
        if mode and not stat.S_ISDIR(mode):
            said = _("%(path)s is a part of another repository (a worktree, a submodule or a link): name that one.")
            raise Unreadable(said % {"path": folder})
        is_one = within(SILENCE_S, lambda: os.path.lexists(found / "HEAD") and os.path.lexists(found / "objects"))
    except OSError as error:
        raise _unreadable(str(folder), error) from error
    if not is_one:
        raise Unreadable(_("%(path)s is no git repository.") % {"path": folder})
    return found


def heads_of(control: Path) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """The branches, and what HEAD is: {name: commit} and {b"HEAD": name}; a HEAD without a branch stands among the first.

    Raises Unreadable.
    """
    found: dict[bytes, bytes] = {}
    for line in _read(control, "packed-refs", MOST_PACKED_BYTES).splitlines():
        commit, _space, name = line.partition(" ")
        if _ID.fullmatch(commit) and name.startswith(_HEADS):
            found[name.encode()] = commit.encode()
    for name in within(SILENCE_S, lambda: list(_below(control / "refs" / "heads"))):
        commit = _read(control, f"{_HEADS}{name}", MOST_REF_BYTES).strip()
        if _ID.fullmatch(commit):
            found[f"{_HEADS}{name}".encode()] = commit.encode()
    head = _read(control, "HEAD", MOST_REF_BYTES).strip()
    if head.startswith("ref: "):
        return found, {b"HEAD": head.removeprefix("ref: ").strip().encode()}
    return found | ({b"HEAD": head.encode()} if _ID.fullmatch(head) else {}), {}


def copy_objects(control: Path, to: Path) -> None:
    """Make the objects of a bare repository the same as those there. Each has its content's name: what is here already is not read.

    Raises Unreadable for more than MOST_BYTES, Passing where git tidied up meanwhile.
    """
    objects = control / "objects"
    wanted: set[str] = set()
    left = MOST_BYTES
    for lot in (_loose, _packs):  # in this order: what is packed meanwhile is in one of the two
        for name in _listed(objects, lot):
            wanted.add(name)
            left -= _brought(objects, name, to / "objects" / name, most_bytes=left)
    for name in chain(_loose(to / "objects"), _packs(to / "objects")):
        if name not in wanted:
            (to / "objects" / name).unlink()
    ends = (line for line in _read(control, "shallow", MOST_PACKED_BYTES).splitlines() if _ID.fullmatch(line))
    (to / "shallow").write_text("".join(f"{line}\n" for line in ends))  # where the history of a shallow clone ends


def _brought(objects: Path, name: str, to: Path, *, most_bytes: int) -> int:
    """The size of an object's file that is here now; 0 for one that is gone there."""
    if to.exists():
        return to.stat().st_size
    to.parent.mkdir(parents=True, exist_ok=True)
    new = to.with_name(f"{to.name}.new")
    try:
        with new.open("wb") as file:
            for block in blocks_of(objects / name, top=objects, most_bytes=most_bytes):
                file.write(block)
    except FileNotFoundError:
        new.unlink()
        if name.startswith("pack/"):
            raise Passing(_("The repository changed while it was read; the next run reads it again.")) from None
        return 0
    except OSError as error:
        new.unlink(missing_ok=True)
        if error.errno == errno.EFBIG:
            said = _("The repository has more than %(most)s MB.") % {"most": MOST_BYTES // 1_000_000}
            raise Unreadable(said) from error
        raise _unreadable(f"objects/{name}", error) from error
    new.replace(to)
    return to.stat().st_size


def _listed(objects: Path, lot: Callable[[Path], Iterator[str]]) -> list[str]:
    """Raises Unreadable."""
    try:
        return within(SILENCE_S, lambda: list(lot(objects)))
    except OSError as error:
        raise _unreadable("objects", error) from error


def _loose(objects: Path) -> Iterator[str]:
    for folder in objects.iterdir():
        if _FAN_OUT.fullmatch(folder.name):
            yield from (f"{folder.name}/{file.name}" for file in folder.iterdir() if _LOOSE.fullmatch(file.name))


def _packs(objects: Path) -> Iterator[str]:
    """The packs before their indexes, by which they are found."""
    names = [file.name for file in (objects / "pack").iterdir()] if (objects / "pack").is_dir() else []
    yield from sorted((f"pack/{name}" for name in names if _PACKED.fullmatch(name)), reverse=True)


def _below(folder: Path) -> Iterator[str]:
    """The paths of the files below a folder, links to folders not followed. Raises Unreadable for more than MOST_REFS."""
    count = 0
    for above, _folders, names in os.walk(folder):
        for name in names:
            count += 1
            if count > MOST_REFS:
                raise Unreadable(_("The repository has more than %(most)s branches.") % {"most": MOST_REFS})
            yield (Path(above) / name).relative_to(folder).as_posix()


def _read(control: Path, name: str, most_bytes: int) -> str:
    """What a file of the repository says, "" where there is none. Raises Unreadable."""
    try:
        return read_regular(control / name, top=control, most_bytes=most_bytes).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _unreadable(name, error) from error


def _unreadable(path: str, error: OSError) -> Unreadable:
    return Unreadable(_("%(path)s cannot be read: %(why)s.") % {"path": path, "why": error.strerror})
