"""Patterns and shadings of a PDF: PDFium calls them white or grey, and what stands on them, or is filled by them, is seen."""

from pathlib import Path

import pytest

from knowledge.parsers.pdf import hidden as pdf_hidden
from tests.contract.test_hidden_text import parsed
from tests.hidden_texts import SEEN, UNSEEN

TEXT = SEEN["en"].encode()
BOX = b"40 480 500 50 re f "
BLACK, LIGHT = b"0 0 0", b"0.97 0.97 0.97"


def pdf(content: bytes, *, resources: bytes = b"", extra: tuple[bytes, ...] = (), page: bytes = b"") -> bytes:
    """One page, written by hand: the first of `extra` is object 6."""
    head = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R " + page
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        head + b" /Resources << /Font << /F 5 0 R >> " + resources + b" >> >>",
        stream(b"", content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        *extra,
    ]
    written, places = b"%PDF-1.7\n", []
    for number, item in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    tail = b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
    return written + tail % (size, table, size, len(written))


def stream(names: bytes, content: bytes) -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (names, len(content), content)


def tile(colour: bytes) -> bytes:
    names = b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 10 10] /XStep 10 /YStep 10 /Resources << >>"
    return stream(names, colour + b" rg 0 0 10 10 re f")


def shading(colour: bytes) -> bytes:
    ramp = b"<< /FunctionType 2 /Domain [0 1] /C0 [%s] /C1 [%s] /N 1 >>" % (colour, colour)
    return b"<< /ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 600 0] /Extend [true true] /Function %s >>" % ramp


def shaded(colour: bytes) -> bytes:
    return b"<< /Type /Pattern /PatternType 2 /Shading %s >>" % shading(colour)


def words(text: bytes, colour: bytes = b"1 1 1 rg") -> bytes:
    return b" %s BT /F 12 Tf 50 500 Td (%s) Tj ET" % (colour, text)


IN_PATTERN = b"/Pattern cs /P scn "
PATTERN = b"/Pattern << /P 6 0 R >>"
FORM = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Pattern << /P 6 0 R >> >>"


def on(colour: bytes, kind: str) -> bytes:
    """White words on something of a colour that PDFium does not tell."""
    match kind:
        case "a tile":
            return pdf(IN_PATTERN + BOX + words(TEXT), resources=PATTERN, extra=(tile(colour),))
        case "a shading":
            return pdf(IN_PATTERN + BOX + words(TEXT), resources=PATTERN, extra=(shaded(colour),))
        case "a shading of its own":
            resources = b"/Shading << /S %s >>" % shading(colour)
            return pdf(b"q 40 480 500 50 re W n /S sh Q" + words(TEXT), resources=resources)
        case "a shaded line":
            line = b"/Pattern CS /P SCN 40 w 40 505 m 560 505 l S "
            return pdf(line + words(TEXT), resources=PATTERN, extra=(shaded(colour),))
        case "a turned page":
            content = IN_PATTERN + BOX + words(TEXT)
            page = b"/Rotate 90 /CropBox [20 100 580 700]"
            return pdf(content, resources=PATTERN, extra=(shaded(colour),), page=page)
        case _:
            form = stream(FORM, IN_PATTERN + BOX + b"0 0 0 rg 0 0 9 9 re f")
            return pdf(b"/X Do" + words(TEXT), resources=b"/XObject << /X 7 0 R >>", extra=(shaded(colour), form))


KINDS = ("a tile", "a shading", "a shading of its own", "a shaded line", "a turned page", "a form")


def test_white_words_on_a_dark_pattern_are_read_and_on_a_white_one_kept_apart(tmp_path: Path) -> None:
    for kind in KINDS:
        document = parsed(on(BLACK, kind), "a.pdf", tmp_path)
        assert document.text.replace(" ", "") == SEEN["en"].replace(" ", ""), kind
        assert document.apart == (), kind
    for kind in ("a shading", "a shaded line", "a turned page", "a form"):
        assert parsed(on(LIGHT, kind), "a.pdf", tmp_path).text == "", kind


def test_words_that_a_dark_pattern_fills_are_read_and_of_a_white_one_kept_apart(tmp_path: Path) -> None:
    for pattern, text in ((shaded(BLACK), SEEN["en"]), (tile(BLACK), SEEN["en"]), (shaded(LIGHT), "")):
        document = parsed(pdf(words(TEXT, IN_PATTERN), resources=PATTERN, extra=(pattern,)), "a.pdf", tmp_path)
        assert document.text == text
        assert (document.apart == ()) is bool(text)


def test_what_stands_elsewhere_or_later_shows_nothing(tmp_path: Path) -> None:
    """White words are looked at alone: a dark pattern beside them, words in one over them, a box after them."""
    hidden = words(UNSEEN["en"].encode())
    content = IN_PATTERN + b"40 100 500 50 re f " + hidden + words(TEXT, IN_PATTERN) + b" 0 0 0 rg 40 700 500 5 re f"
    document = parsed(pdf(content, resources=PATTERN, extra=(shaded(BLACK),)), "a.pdf", tmp_path)
    assert UNSEEN["en"][:8] not in document.text
    assert any(UNSEEN["en"][:8] in item.block.text for item in document.apart)


@pytest.mark.parametrize(("limit", "most"), [("_MAX_RENDERED", 0), ("_MAX_OBJECTS", 1)])
def test_what_is_not_drawn_is_what_it_is_called(
    limit: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of many such places costs no more; the control of all above, too."""
    monkeypatch.setattr(pdf_hidden, limit, most)
    assert parsed(on(BLACK, "a shading"), "a.pdf", tmp_path).text == ""
    assert parsed(on(BLACK, "a tile"), "a.pdf", tmp_path).text == SEEN["en"]
