"""How well text in pictures is read: pages of PDFs that have text, drawn as a scanner would give them, against that text."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pypdfium2 as pdfium
from PIL import Image
from rapidfuzz.distance import Levenshtein

from knowledge.parsers.blocks import Picture
from knowledge.parsers.sandbox import recognised_in_child, stop_servers

DPI = 150


@dataclass(frozen=True)
class ReadPage:
    """One page. characters: of its own text, without spaces; wrong: how many have to be changed, put in or left out."""

    file: str
    number: int
    characters: int
    wrong: int
    seconds: float


def read_pages(path: Path, *, tilt_degrees: float = 0.0, noise: float = 0.0, seed: int = 1) -> Iterator[ReadPage]:
    """Every page of a PDF that has text. noise: standard deviation of what is added to each of 256 shades."""
    chance = np.random.default_rng(seed)
    with pdfium.PdfDocument(path) as document, TemporaryDirectory() as folder:
        for number in range(1, len(document) + 1):
            page = document[number - 1]
            said = _plain(page.get_textpage().get_text_range())
            if not said:
                continue
            scan = Path(folder) / "scan.png"
            _scanned(page.render(scale=DPI / 72).to_pil(), tilt_degrees, noise, chance).save(scan)
            began = perf_counter()
            found = recognised_in_child(scan, filename=scan.name, picture=Picture(0, 1))
            seconds = perf_counter() - began
            read = _plain("".join(line.text for line in found.lines))
            yield ReadPage(path.name, number, len(said), Levenshtein.distance(said, read), seconds)


def peak_mib() -> int:
    """The largest memory of the processes that read so far; ends them."""
    stop_servers()
    return getrusage(RUSAGE_CHILDREN).ru_maxrss // 1024


def _scanned(image: Image.Image, tilt_degrees: float, noise: float, chance: np.random.Generator) -> Image.Image:
    tilted = image.convert("RGB").rotate(tilt_degrees, Image.Resampling.BICUBIC, expand=True, fillcolor="white")
    shades = np.asarray(tilted, np.float32) + chance.normal(0, noise, (tilted.height, tilted.width, 3)) * (noise > 0)
    return Image.fromarray(np.clip(shades, 0, 255).astype(np.uint8))


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())
