"""Pages as scanners and cameras give them: words drawn as pixels."""

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

LETTER = (1240, 1754)  # pixels: A4 at 150 dots an inch
FONTS = ("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc", "/System/Library/Fonts/PingFang.ttc")


def drawn(
    lines: Sequence[str | tuple[str, ...]], *, size: int = 30, columns: Sequence[int] = (110, 500, 900)
) -> Image.Image:
    """A page with these lines; one of several texts is a row of cells. A line that begins with # is larger."""
    page = Image.new("RGB", LETTER, "white")
    pen = ImageDraw.Draw(page)
    font = next(path for path in FONTS if Path(path).exists())
    y = 120
    for line in lines:
        cells = line if isinstance(line, tuple) else (line,)
        height = size * 5 // 3 if cells[0].startswith("#") else size
        for x, cell in zip(columns, cells, strict=False):
            pen.text((x, y), cell.lstrip("# "), font=ImageFont.truetype(font, height), fill="black")
        y += height * 2 if line else size
    return page


def png(page: Image.Image, *, kind: str = "PNG") -> bytes:
    """A page as the file of a picture."""
    stream = io.BytesIO()
    page.save(stream, kind)
    return stream.getvalue()


def pdf(*pages: Image.Image) -> bytes:
    """Pages as a PDF of a scanner: a picture each, and no text."""
    stream = io.BytesIO()
    pages[0].save(stream, "PDF", resolution=150.0, save_all=True, append_images=list(pages[1:]))
    return stream.getvalue()


PICTURES = {name: png(drawn(["Travel"], size=20), kind=name.upper()) for name in ("png", "jpeg", "tiff", "webp")}
"""A page as each kind of picture that is read, by the name of its parser."""
