"""Text in pictures (OCR), by PP-OCRv6 out of the package `rapidocr`, in the confined child: the models and the picture stay there.

Importing this module loads the libraries (about a second and 150 MB); the models are loaded in the child, in a third of a second.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2 as pdfium
from PIL import Image
from rapidocr import RapidOCR

from knowledge.parsers.base import ParseLimits
from knowledge.parsers.blocks import Box, Picture
from knowledge.parsers.pdf.page_image import is_pdf, load_inner_picture, open_upright_picture
from knowledge.parsers.pdf.recognised import RecognisedLine, RecognisedPage

DPI = 150  # of a page when it is read: 0.2 to 0.4 % of characters wrong, four seconds; 200 read no better
MAX_SIDE = 4000  # pixels; larger pictures are scaled down
MIN_SIDE = 24  # pixels: an icon, a line
MIN_SCORE = 0.7  # of a line, 0 to 1: below it the model guesses
SURE_SCORE, SURE_SHARE = (
    0.85,
    0.6,
)  # confidence of a readable line; share of characters in such lines of an upright picture


def recognise_picture(path: Path, picture: Picture, limits: ParseLimits) -> RecognisedPage:
    """Return the lines of one picture of the file at `path`. Raises the libraries' errors on a damaged one, Rejected on a huge one.

    One that lies on its side or on its head reads as nonsense: then it is turned, and what the model is surest of counts.
    """
    image, width, height = _load_image(path, picture, limits)
    if min(image.size) < MIN_SIDE:
        return RecognisedPage(width, height)
    best, lines, turned = 0.0, tuple[RecognisedLine, ...](), 0
    for turns in (0, 2, 1, 3):
        seen = image.rotate(90 * turns, expand=True)
        found = _recognise_lines(seen)
        sure, length = _count_confident_characters(found, seen), sum(len(line.text) for line, _ in found)
        if sure > best:
            best, turned, lines = sure, turns, tuple(line for line, score in found if score >= MIN_SCORE)
        if sure >= SURE_SHARE * length:  # also for a picture without text: no turn reads better
            break
    size = (height, width) if turned % 2 else (width, height)
    return RecognisedPage(*size, lines, turned)


def _recognise_lines(image: Image.Image) -> list[tuple[RecognisedLine, float]]:
    """Return the lines of an image with the model's confidence in each, 0 to 1."""
    found: Any = _load_engine()(np.asarray(image)[:, :, ::-1])
    if found.txts is None:
        return []
    lines = zip(found.txts, found.boxes, found.scores, strict=True)
    return [
        (RecognisedLine(text, _convert_to_box(corners, image)), score) for text, corners, score in lines if text.strip()
    ]


def _count_confident_characters(found: Sequence[tuple[RecognisedLine, float]], image: Image.Image) -> float:
    """Return the number of confident characters; those of vertical lines count half."""
    sure = 0.0
    for line, score in found:
        x0, y0, x1, y1 = line.box
        is_tall = (y1 - y0) * image.height > (x1 - x0) * image.width and len(line.text) > 1
        sure += len(line.text) * (score >= SURE_SCORE) / (2 if is_tall else 1)
    return sure


@cache
def _load_engine() -> RapidOCR:
    """Load the models, on one core. Rapidocr's guess at upside-down lines is off: it turned one good line in sixty on noisy pages."""
    one = {f"EngineConfig.onnxruntime.{name}_op_num_threads": 1 for name in ("intra", "inter")}
    return RapidOCR(params={"Global.log_level": "error", "Global.text_score": 0.3, "Global.use_cls": False, **one})


def _load_image(path: Path, picture: Picture, limits: ParseLimits) -> tuple[Image.Image, float, float]:
    """Return the picture in colours, upright, and its size as `RecognisedPage` says it."""
    if not picture.name and is_pdf(path):
        with pdfium.PdfDocument(path) as document:
            page = document[(picture.page or 1) - 1]
            width, height = page.get_size()
            image = page.render(scale=min(DPI / 72, MAX_SIDE / max(width, height))).to_pil().convert("RGB")
            return image, width, height
    if picture.name:
        image = load_inner_picture(path, picture.name, limits)
    else:
        image = open_upright_picture(path, limits, frame=(picture.page or 1) - 1)
    width, height = image.size
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    return image, width, height


def _convert_to_box(corners: "np.ndarray[Any, Any]", image: Image.Image) -> Box:
    """Return the upright box around the four corners of a line, in shares of the picture."""
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    width, height = image.size
    return float(x0 / width), float(y0 / height), float(x1 / width), float(y1 / height)
