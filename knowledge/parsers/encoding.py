"""Bytes of a text file to text, for the encodings that company files come in."""

import codecs
from pathlib import Path

from knowledge.parsers.base import ParseLimits, Rejected
from knowledge.parsers.precheck import check_file_size

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Lead bytes of the everyday characters and the punctuation of each East Asian encoding. Western text that happens to
# decode as one of them comes out as rare characters, which lie outside.
_EAST_ASIAN = (
    ("gb18030", "gb2312", frozenset((*range(0xA1, 0xA4), *range(0xB0, 0xD8)))),
    ("big5", "big5", frozenset((*range(0xA1, 0xA4), *range(0xA4, 0xC7)))),
)


def read_text(path: Path, limits: ParseLimits) -> str:
    """Return the text of a file with every line end as a newline. Raises Rejected: empty, too_large, encoding."""
    check_file_size(path, limits.text_bytes)
    return decode_text(path.read_bytes()).replace("\r\n", "\n").replace("\r", "\n")


def decode_text(data: bytes) -> str:
    """Decode by byte order mark, UTF-8, GB18030, Big5 or Windows-1252: the first that gives plausible text.

    Raises Rejected("encoding").
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    if (text := _try_decode(data, "utf-8")) is not None:
        return text
    for encoding, plain, everyday in _EAST_ASIAN:
        text = _try_decode(data, encoding)
        if text is not None and _compute_everyday_share(text, plain, everyday) >= 0.8:
            return text
    text = _try_decode(data, "cp1252")
    if text is not None and sum(char.isascii() for char in text) >= 0.7 * len(text):
        return text
    raise Rejected("encoding")


def _try_decode(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _compute_everyday_share(text: str, encoding: str, everyday: frozenset[int]) -> float:
    sample = [char for char in text[:200_000] if not char.isascii()]
    encoded = [char.encode(encoding, errors="ignore") for char in sample]
    return sum(len(code) == 2 and code[0] in everyday for code in encoded) / max(1, len(sample))
