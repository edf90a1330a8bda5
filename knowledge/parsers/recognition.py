"""Text in pictures (OCR), by PP-OCRv6 out of the package `rapidocr`, in the confined child: the models and the picture stay there.

Importing this module loads the libraries (about a second and 150 MB); the models are loaded in the child, in a third of a second.
"""

import io
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pypdfium2 as pdfium
from PIL import Image
from rapidocr import RapidOCR

from knowledge.parsers.base import Box, Picture
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.page_image import is_pdf, upright
from knowledge.parsers.recognised import RecognisedLine, RecognisedPage

DPI = 150  # of a page when it is read: 0.2 to 0.4 % of characters wrong, four seconds; 200 read no better
LONGEST_SIDE = 4000  # pixels; what is larger is made smaller
LEAST_SIDE = 24  # pixels: an icon, a line
LEAST_SCORE = 0.7  # of a line, 0 to 1: below it the model guesses


def recognise(path: Path, picture: Picture, limits: ParseLimits) -> RecognisedPage:
    """The lines of one picture of the file at `path`. Raises what the libraries raise on a damaged one, Rejected on a huge one."""
    image, width, height = _image_of(path, picture, limits)
    if min(image.size) < LEAST_SIDE:
        return RecognisedPage(width, height)
    found: Any = _engine()(np.asarray(image)[:, :, ::-1])
    if found.txts is None:
        return RecognisedPage(width, height)
    lines = zip(found.txts, found.boxes, found.scores, strict=True)
    kept = (RecognisedLine(text, _share(corners, image)) for text, corners, score in lines if score >= LEAST_SCORE)
    return RecognisedPage(width, height, tuple(line for line in kept if line.text.strip()))


@cache
def _engine() -> RapidOCR:
    one = {f"EngineConfig.onnxruntime.{name}_op_num_threads": 1 for name in ("intra", "inter")}
    return RapidOCR(params={"Global.log_level": "error", "Global.text_score": LEAST_SCORE, **one})


def _image_of(path: Path, picture: Picture, limits: ParseLimits) -> tuple[Image.Image, float, float]:
    """The picture in colours, upright, and its size as `RecognisedPage` says it."""
    if not picture.name and is_pdf(path):
        with pdfium.PdfDocument(path) as document:
            page = document[(picture.page or 1) - 1]
            width, height = page.get_size()
            image = page.render(scale=min(DPI / 72, LONGEST_SIDE / max(width, height))).to_pil().convert("RGB")
            return image, width, height
    if picture.name:
        with ZipFile(path) as archive:
            image = upright(io.BytesIO(archive.read(picture.name)), limits)
    else:
        image = upright(path, limits, frame=(picture.page or 1) - 1)
    width, height = image.size
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return image, width, height


def _share(corners: "np.ndarray[Any, Any]", image: Image.Image) -> Box:
    """The upright box around the four corners of a line, in shares of the picture."""
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    width, height = image.size
    return float(x0 / width), float(y0 / height), float(x1 / width), float(y1 / height)
