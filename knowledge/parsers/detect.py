"""The choice of a file's parser: its extension, the allow-list of parsers and the content have to agree."""

from pathlib import Path, PurePosixPath, PureWindowsPath
from zipfile import BadZipFile, ZipFile

import puremagic

from knowledge.parsers.base import Parser, Rejected, list_accepted_extensions, parsers

HEAD_BYTES = 8192
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


def extension_of(filename: str) -> str:
    """Return the ending of an uploaded name in lower case, with the dot; "" without one. Names are never used as paths."""
    return PurePosixPath(PureWindowsPath(filename).name).suffix.lower()


def find_parser_by_name(filename: str) -> Parser:
    """Return the parser for an extension. Raises Rejected("unknown_type"), which names what is accepted."""
    extension = extension_of(filename)
    for parser in parsers:
        if extension in parser.extensions:
            return parser
    raise Rejected("unknown_type", extension=extension or "?", accepted=", ".join(list_accepted_extensions()))


def find_parser(path: Path, filename: str) -> Parser:
    """Return the parser of a file. Raises Rejected: unknown_type, empty, encrypted, mismatch and its two kinds."""
    parser = find_parser_by_name(filename)
    if path.stat().st_size == 0:
        raise Rejected("empty")
    if not parser.recognises(path):
        if is_encrypted_office(path):
            raise Rejected("encrypted")
        raise _build_mismatch_error(path, extension_of(filename))
    return parser


def read_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _build_mismatch_error(path: Path, extension: str) -> Rejected:
    """Return the error for content that does not match its extension, with the right extension where known."""
    try:
        looks_like = puremagic.magic_string(read_head(path))[0].extension.lower()
    except (puremagic.PureError, ValueError, IndexError):
        looks_like = ""
    if looks_like:
        return Rejected("mismatch", extension=extension, looks_like=looks_like)
    return Rejected("mismatch_text" if is_text(path) else "mismatch_unknown", extension=extension)


def is_encrypted_office(path: Path) -> bool:
    """Tell whether an Office file has a password: an OLE container with a stream called EncryptedPackage."""
    if not read_head(path).startswith(_OLE):
        return False
    return _ENCRYPTED_STREAM in path.read_bytes()


def is_text(path: Path) -> bool:
    """Tell whether bytes are text: no NUL (except UTF-16 with a byte order mark), few other control characters."""
    start = read_head(path)
    if start.startswith(_UTF16_BOMS):
        return True
    controls = sum(byte < 9 or 13 < byte < 27 for byte in start)
    return b"\0" not in start and controls <= len(start) // 200 and not _has_signature(start)


def has_ooxml_part(path: Path, folder: str) -> bool:
    """Tell whether the file is a zip with a content-type list and members in `folder` ("word/", "xl/", "ppt/")."""
    if not read_head(path).startswith(b"PK"):
        return False
    try:
        with ZipFile(path) as archive:
            names = [name.lower().lstrip("/") for name in archive.namelist()]
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return True  # a damaged zip is this format's to report
    return "[content_types].xml" in names and any(name.startswith(folder) for name in names)


_SIGNATURES = (
    b"%PDF-",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"{\\rtf",
    b"\x1f\x8b",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"%!PS",
    _OLE,
)


def _has_signature(start: bytes) -> bool:
    return start.lstrip().startswith(_SIGNATURES)
