"""Shared code of file sources: the files to read, permitted local folders, and anchors of headings."""

import re
from abc import abstractmethod
from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import pairwise
from mimetypes import guess_type
from pathlib import Path, PurePosixPath
from shutil import rmtree

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from markdown_it import MarkdownIt

from copilot_site.lib.storage.regular_files import SILENCE_S, run_with_timeout
from knowledge.parsers.base import list_accepted_extensions, load_parsers
from knowledge.sources.base import ItemContent, ListedItem, PathReaders, Unreadable
from knowledge.sources.http import HttpConnector
from knowledge.sources.rules import FILE, parse_access_rules

LEAVE_OUT = gettext_lazy("leave out"), gettext_lazy("One pattern per line, like drafts or *.tmp.md.")
_MARKDOWN = {".md", ".markdown"}
_LEFT_ALONE = re.compile(r"^(\.|~\$|thumbs\.db$|desktop\.ini$)", re.IGNORECASE)


def list_readable_types(*, takes_pictures: bool) -> frozenset[str]:
    """Return the endings of the files that are read, with their dot."""
    load_parsers()
    found = list_accepted_extensions()
    return frozenset(
        entry for entry in found if takes_pictures or not (guess_type(f"x{entry}")[0] or "").startswith("image/")
    )


class PathChoice:
    """The choice of a source's paths that become documents: of a type that is read, not hidden, not left out by one of the patterns.

    takes_pictures: scans in a share are documents; pictures beside pages are parts of them.
    """

    def __init__(self, leave_out: Iterable[str] = (), *, takes_pictures: bool = True) -> None:
        self._types, self._leave_out = list_readable_types(takes_pictures=takes_pictures), list(leave_out)

    def takes(self, path: str) -> bool:
        """Tell whether a file is read. path: by `/`, below the source's top."""
        parts = PurePosixPath(path)
        return parts.suffix.lower() in self._types and not self.leaves(path)

    def leaves(self, path: str) -> bool:
        """Tell whether a file, or a folder with all in it, is skipped."""
        if any(_LEFT_ALONE.match(part) for part in path.split("/")):
            return True
        return any(
            fnmatchcase(path, pattern) or path.startswith(pattern.rstrip("/") + "/") for pattern in self._leave_out
        )


def check_listed_size(path: str, size: int) -> None:
    """Raise Unreadable for a file too large to fetch. size: bytes, as listed."""
    if size > settings.UPLOAD_MAX_BYTES:
        message = _("%(path)s has more than %(most)s MB.")
        raise Unreadable(message % {"path": path, "most": settings.UPLOAD_MAX_BYTES // 1_000_000})


def build_file_gone_error(path: str) -> Unreadable:
    """Return the error for a file deleted since the listing."""
    return Unreadable(_("%(path)s no longer exists.") % {"path": path})


class HttpFiles(HttpConnector):
    """Files with an address each, and a file of rules at the top. Items have their size in bytes as `memory["size"]`."""

    noun = gettext_lazy("file")
    ids_are_paths = True
    takes_rights = True

    @abstractmethod
    def _address(self, path: str) -> str:
        """Return the address of a file."""

    def fetch(self, item: ListedItem) -> ItemContent:
        check_listed_size(item.path, int(item.memory.get("size", 0)))
        data = self._fetch_file(item.id)
        if data is None:
            raise build_file_gone_error(item.path)
        return ItemContent(data)

    def rights(self) -> list[PathReaders]:
        return parse_access_rules(self._fetch_file(FILE))

    def _fetch_file(self, path: str) -> bytes | None:
        """Return a file's content; None where it does not exist."""
        answer = self._client.get(self._address(path))
        return answer.body if answer.status == 200 else None


def resolve_local_folder(text: str) -> Path:
    """Return a local folder that the operator opened to sources. Raises Unreadable for any other or missing one."""
    try:
        return run_with_timeout(SILENCE_S, lambda: _resolve_permitted_folder(text))
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        why = getattr(error, "strerror", "") or str(error)
        raise Unreadable(_("%(path)s cannot be read: %(why)s.") % {"path": text, "why": why}) from error


def _resolve_permitted_folder(text: str) -> Path:
    folder = Path(text).resolve()
    roots = [Path(root).resolve() for root in settings.SOURCE_FOLDERS]
    if not any(folder == root or root in folder.parents for root in roots):
        raise Unreadable(
            _("%(path)s is not among the folders that COPILOT_SOURCE_FOLDERS opens to sources.") % {"path": text}
        )
    if not folder.is_dir():
        raise Unreadable(_("There is no folder %(path)s. Is the share mounted?") % {"path": text})
    return folder


def build_cache_path(name: str) -> Path:
    return Path(settings.SOURCE_CACHE) / PurePosixPath(name).name


def remove_cache(name: str) -> None:
    """Remove a source's cache; missing files and files in use are left."""
    rmtree(build_cache_path(name), ignore_errors=True)


def list_markdown_sections(path: str, data: bytes) -> tuple[tuple[str, str], ...]:
    """Return the headings of a Markdown file with the anchors that GitHub, GitLab and Gitea give them; nothing for other files."""
    if PurePosixPath(path).suffix.lower() not in _MARKDOWN:
        return ()
    tokens = MarkdownIt().parse(data.decode("utf-8", "replace"))
    headings = [
        "".join(child.content for child in after.children or () if child.type in {"text", "code_inline"})
        for token, after in pairwise(tokens)
        if token.type == "heading_open"
    ]
    seen: dict[str, int] = {}
    found = []
    for heading in headings:
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        seen[anchor] = seen.get(anchor, -1) + 1
        found.append((heading, f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor))
    return tuple(found)
