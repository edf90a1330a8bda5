"""The ways to hide a sentence in a DOCX file."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import docx
from docx.oxml import parse_xml
from docx.shared import Pt, RGBColor
from PIL import Image

from knowledge.parsers.hidden import HiddenReason as Why
from tests.hidden_samples import SEEN, Sample, saved

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _vanish(document: Any, text: str) -> None:
    document.add_paragraph("Before ").add_run(text).font.hidden = True


def _vanish_by_style(document: Any, text: str) -> None:
    ghost = document.styles.add_style("Ghost", 1)
    ghost.font.hidden = True
    document.styles.add_style("Ghost below", 1).base_style = ghost
    document.add_paragraph(text, style="Ghost below")


def _spec_vanish(document: Any, text: str) -> None:
    run = document.add_paragraph().add_run(text)
    run._r.get_or_add_rPr().append(parse_xml(f"<w:specVanish {_WORD}/>"))


def _white(document: Any, text: str) -> None:
    document.add_table(1, 1).cell(0, 0).paragraphs[0].add_run(text).font.color.rgb = RGBColor(255, 255, 255)


def _tiny(document: Any, text: str) -> None:
    document.add_paragraph().add_run(text).font.size = Pt(1)


def _struck(document: Any, text: str) -> None:
    document.add_paragraph("Before ").add_run(text).font.strike = True


def _comment(document: Any, text: str) -> None:
    document.add_comment(document.add_paragraph("Before ").runs, text=text)


def _described(document: Any, text: str) -> None:
    file = BytesIO(saved(lambda f: Image.new("RGB", (9, 9)).save(f, "PNG")))
    document.add_picture(file)._inline.docPr.set("descr", text)


def _deleted(document: Any, text: str) -> None:
    source = f'<w:del {_WORD} w:id="1" w:author="a"><w:r><w:delText>{text}</w:delText></w:r></w:del>'
    document.add_paragraph()._p.append(parse_xml(source))


_NAMES = (
    f'{_WORD} xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" xmlns:z="urn:nobody"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:v="urn:schemas-microsoft-com:vml"'
)
_BEGIN, _SEPARATE, _END = (f'<w:r><w:fldChar w:fldCharType="{item}"/></w:r>' for item in ("begin", "separate", "end"))
_BOX = "<w:txbxContent><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:txbxContent>"
_AT = '<wp:extent cx="{0}" cy="90000"/><wp:positionH><wp:posOffset>{1}</wp:posOffset></wp:positionH>'
_IN_WORD: dict[str, tuple[str, Why]] = {
    "field_code": (f"<w:p>{_BEGIN}<w:r><w:t>{{}}</w:t></w:r>{_SEPARATE}<w:r><w:t>a</w:t></w:r>{_END}</w:p>", Why.NOT_DISPLAYED),
    "shape_off": (f'<w:p><w:r><wp:anchor><wp:docPr hidden="1"/>{_BOX}</wp:anchor></w:r></w:p>', Why.NOT_DISPLAYED),
    "shape_away": (f"<w:p><w:r><wp:anchor>{_AT.format(90000, -90000000)}{_BOX}</wp:anchor></w:r></w:p>", Why.OUTSIDE),
    "shape_without_room": (f"<w:p><w:r><wp:anchor>{_AT.format(0, 0)}{_BOX}</wp:anchor></w:r></w:p>", Why.TOO_SMALL),
    "old_shape_off": (f'<w:p><w:r><w:pict><v:shape style="visibility:hidden">{_BOX}</v:shape></w:pict></w:r></w:p>', Why.NOT_DISPLAYED),
    "no_fill": ("<w:p><w:r><w:rPr><w14:textFill><w14:noFill/></w14:textFill></w:rPr><w:t>{}</w:t></w:r></w:p>", Why.INVISIBLE),
    "theme_colour": ('<w:p><w:r><w:rPr><w:color w:val="000000" w:themeColor="background1"/></w:rPr><w:t>{}</w:t></w:r></w:p>', Why.COLOUR),
    "red_on_red": ('<w:p><w:r><w:rPr><w:color w:val="FF0000"/><w:highlight w:val="red"/></w:rPr><w:t>{}</w:t></w:r></w:p>', Why.COLOUR),
    "pressed": ('<w:p><w:r><w:rPr><w:w w:val="1"/></w:rPr><w:t>{}</w:t></w:r></w:p>', Why.TOO_SMALL),
    "size_with_unit": ('<w:p><w:r><w:rPr><w:sz w:val="1pt"/></w:rPr><w:t>{}</w:t></w:r></w:p>', Why.TOO_SMALL),
    "line_height": ('<w:p><w:pPr><w:spacing w:line="1" w:lineRule="exact"/></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>', Why.OUTSIDE),
    "indent": ('<w:p><w:pPr><w:ind w:left="-30000"/></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>', Why.OUTSIDE),
    "row_height": (('<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr><w:trPr><w:trHeight w:val="1" w:hRule="exact"/></w:trPr>'
                   "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"), Why.ROW),
}  # fmt: skip


def _written_in_word(source: str, text: str) -> bytes:
    document = docx.Document()
    document.add_paragraph(SEEN["en"])
    document.add_paragraph(SEEN["zh"])
    source = source.replace("{}", text).replace(">", f" {_NAMES}>", 1)
    document.element.body.insert(2, parse_xml(source))
    return saved(document.save)


def word_sources(language: str, seen: str, unseen: str) -> Iterator[Sample]:
    for kind, (source, why) in _IN_WORD.items():
        yield Sample(f"docx_{kind}", language, "a.docx", _written_in_word(source, unseen), why)


def word(language: str, seen: str, unseen: str) -> Iterator[Sample]:
    for hide, why in (
        (_vanish, Why.NOT_DISPLAYED),
        (_vanish_by_style, Why.NOT_DISPLAYED),
        (_spec_vanish, Why.NOT_DISPLAYED),
        (_white, Why.COLOUR),
        (_tiny, Why.TOO_SMALL),
        (_deleted, Why.DELETED),
        (_struck, Why.STRUCK),
        (_comment, Why.COMMENT),
        (_described, Why.PICTURE),
    ):
        document = docx.Document()
        document.add_paragraph(seen)
        hide(document, unseen)
        yield Sample(f"docx{hide.__name__}", language, "a.docx", saved(document.save), why)
