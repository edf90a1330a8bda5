"""Photographs and scans: no text of their own, a page for each picture in the file, to be read by `knowledge.ingestion.pictures`."""

from dataclasses import dataclass
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from knowledge.parsers import detect
from knowledge.parsers.base import ParseFailed, ParseLimits, Rejected, parsers
from knowledge.parsers.blocks import ParsedDocument, Picture
from knowledge.parsers.pdf.page_image import open_upright_picture
from knowledge.parsers.precheck import check_file_size


@dataclass(frozen=True)
class ImageParser:
    """One kind of picture. signatures: possible first bytes of its files; Pillow's name is `name` in capitals."""

    name: str
    mime_types: tuple[str, ...]
    extensions: tuple[str, ...]
    signatures: tuple[bytes, ...]
    preload: tuple[str, ...] = ("knowledge.parsers.pdf.page_image",)

    def recognises(self, path: Path) -> bool:
        return detect.read_head(path).startswith(self.signatures)

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_file_size(path, limits.file_bytes)
        try:
            with Image.open(path, formats=[self.name.upper()]) as image:
                count = getattr(image, "n_frames", 1)
            open_upright_picture(path, limits)
        except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
            raise ParseFailed("damaged", format=self.name.upper()) from error
        if count > limits.pages:
            raise Rejected("too_many_pages", count=count, limit=limits.pages)
        return ParsedDocument.of((Picture(0, page) for page in range(1, count + 1)), page_count=count)


for _parser in (
    ImageParser("png", ("image/png",), (".png",), (b"\x89PNG\r\n\x1a\n",)),
    ImageParser("jpeg", ("image/jpeg",), (".jpg", ".jpeg"), (b"\xff\xd8\xff",)),
    ImageParser("tiff", ("image/tiff",), (".tif", ".tiff"), (b"II*\0", b"MM\0*")),
    ImageParser("webp", ("image/webp",), (".webp",), (b"RIFF",)),
):
    parsers.add(_parser.name, _parser)
