"""A page of a PDF as an image. Runs in the confined child: PDFium is a large C++ library, and the file is a stranger's."""

import io
from pathlib import Path

import pypdfium2 as pdfium

SCALE = 2.0  # pixels a point: sharp on a laptop, about 200 KB a page
LONGEST_SIDE = 2400  # pixels; a poster must not cost a gigabyte


def page_png(path: Path, number: int) -> bytes | None:
    """The page as PNG, None where there is no such page. number: from 1. Raises PdfiumError for what is no PDF."""
    document = pdfium.PdfDocument(path)
    try:
        if not 1 <= number <= len(document):
            return None
        page = document[number - 1]
        scale = min(SCALE, LONGEST_SIDE / max(page.get_size()))
        image = page.render(scale=scale).to_pil()
    finally:
        document.close()
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
