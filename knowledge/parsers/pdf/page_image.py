"""A page of a PDF, a picture, or a picture inside an Office file, as an image.

Runs in the confined child: PDFium and Pillow are large, and the file is a stranger's.
"""

import io
from pathlib import Path
from zipfile import ZipFile

import pypdfium2 as pdfium
from PIL import Image, ImageOps

from knowledge.parsers import detect
from knowledge.parsers.base import ParseLimits, Rejected

SCALE = 2.0  # pixels a point: sharp on a laptop, about 200 KB a page
MAX_SIDE = 2400  # pixels; a poster must not cost a gigabyte


def render_page_png(path: Path, number: int, limits: ParseLimits) -> bytes | None:
    """Return the page as PNG, None where there is no such page. number: from 1. Raises the libraries' errors for other files."""
    image = _render_pdf_page(path, number) if is_pdf(path) else _load_frame(path, number, limits)
    return None if image is None else _encode_png(image)


def render_inner_png(path: Path, name: str, limits: ParseLimits) -> bytes:
    """Return a picture inside an Office file as PNG. name: of the part that holds it. Raises the libraries' errors for a damaged one."""
    image = load_inner_picture(path, name, limits)
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    return _encode_png(image)


def load_inner_picture(path: Path, name: str, limits: ParseLimits) -> Image.Image:
    """Return a picture inside an Office file, as `open_upright_picture` has it. name: of the part that holds it."""
    with ZipFile(path) as archive:
        return open_upright_picture(io.BytesIO(archive.read(name)), limits)


def _encode_png(image: Image.Image) -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def is_pdf(path: Path) -> bool:
    return b"%PDF-" in detect.read_head(path)[:1024]


def open_upright_picture(source: Path | io.BytesIO, limits: ParseLimits, *, frame: int = 0) -> Image.Image:
    """Return a picture as people see it, on white where transparent. frame: from 0. Raises Rejected before a huge one is unpacked."""
    with Image.open(source) as image:
        image.seek(frame)
        if image.width * image.height > limits.pixels:
            raise Rejected("too_many_pixels", size=image.width * image.height // 10**6, limit=limits.pixels // 10**6)
        seen = ImageOps.exif_transpose(image).convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen).convert("RGB")


def _render_pdf_page(path: Path, number: int) -> Image.Image | None:
    with pdfium.PdfDocument(path) as document:
        if not 1 <= number <= len(document):
            return None
        page = document[number - 1]
        image: Image.Image = page.render(scale=min(SCALE, MAX_SIDE / max(page.get_size()))).to_pil()
        return image


def _load_frame(path: Path, number: int, limits: ParseLimits) -> Image.Image | None:
    try:
        image = open_upright_picture(path, limits, frame=number - 1)
    except EOFError:  # Pillow's word for a frame that is not there
        return None
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    return image
