"""Checks of a zip's directory before anything in it is unpacked."""

import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from zipfile import ZipInfo

OUT_OF_ITS_FOLDER = re.compile(r"(^|[/\\])\.\.([/\\]|$)|^[A-Za-z]:|\0")
ENCRYPTED = 0x1  # flag bit


@dataclass(frozen=True)
class ZipBounds:
    """Sizes in bytes. ratio: unpacked to packed, of a member above ratio_from_bytes."""

    entries: int
    unpacked_bytes: int
    member_bytes: int
    ratio: int
    ratio_from_bytes: int


def find_zip_fault(members: Sequence[ZipInfo], bounds: ZipBounds) -> str:
    """Return why it must not be unpacked, in a few English words; "" if it may. Members must still be held to their sizes."""
    if len(members) > bounds.entries:
        return f"more than {bounds.entries} entries"
    if sum(member.file_size for member in members) > bounds.unpacked_bytes:
        return f"more than {bounds.unpacked_bytes} bytes unpacked"
    for member in members:
        if fault := _find_member_fault(member, bounds):
            return f"{member.filename[:80]!r} {fault}"
    return ""


def compute_ratio(member: ZipInfo) -> float:
    return member.file_size / max(1, member.compress_size)


def _find_member_fault(member: ZipInfo, bounds: ZipBounds) -> str:
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is no plain file"
    if OUT_OF_ITS_FOLDER.search(member.filename) or member.filename.startswith(("/", "\\")):
        return "leads out of the folder"
    if member.flag_bits & ENCRYPTED:
        return "is encrypted"
    if member.file_size > bounds.member_bytes:
        return f"has more than {bounds.member_bytes} bytes"
    if member.file_size > bounds.ratio_from_bytes and compute_ratio(member) > bounds.ratio:
        return "unpacks to far more than it is"
    return ""
