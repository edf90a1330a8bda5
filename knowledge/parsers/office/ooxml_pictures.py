"""The pictures inside an Office document that can be read, by the names of their parts in the file."""

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

READ = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".gif", ".bmp")  # not EMF and WMF, which are drawings
_EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"


def blips(tree: Any) -> Iterator[Any]:
    """Yield the elements that show a picture, in the order of the document."""
    yield from tree.iter("{http://schemas.openxmlformats.org/drawingml/2006/main}blip")


def name_of(blip: Any, targets: Mapping[str, str], folder: str) -> str | None:
    """Return the part that a picture comes from; None if it is outside the file or of an unread type.

    targets: what the ids of relations lead to. folder: where in the file the part that shows it lies.
    """
    target = targets.get(blip.get(_EMBED) or "")
    if not target or "://" in target or not target.lower().endswith(READ):
        return None
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def pictures_in(tree: Any, targets: Mapping[str, str], folder: str) -> Iterator[str]:
    """Return the names of all pictures, each once."""
    yield from dict.fromkeys(name for blip in blips(tree) if (name := name_of(blip, targets, folder)))
