"""Word documents of pieces of XML, with the parts that python-docx does not write: notes, charts, SmartArt."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import docx
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml

NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    ' xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex"'
    ' xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    ' xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:v="urn:schemas-microsoft-com:vml"'
)
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
SMART_ART = f"""<dgm:dataModel {NAMES}><dgm:ptLst>
<dgm:pt modelId="0" type="doc"/><dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Receive</a:t></a:r></a:p></dgm:t></dgm:pt>
<dgm:pt modelId="3"><dgm:t><a:p><a:r><a:t>Store</a:t></a:r></a:p></dgm:t></dgm:pt>
<dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Weigh on scale 4</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst>
<dgm:cxnLst><dgm:cxn modelId="7" srcId="0" destId="3" srcOrd="1"/><dgm:cxn modelId="8" srcId="0" destId="1" srcOrd="0"/>
<dgm:cxn modelId="9" srcId="1" destId="2" srcOrd="0"/></dgm:cxnLst></dgm:dataModel>"""


def xml(source: str) -> Any:
    """Parse a piece of XML that uses the usual prefixes."""
    end = min(place for place in (source.find(" "), source.find("/>"), source.find(">")) if place > 0)
    return parse_xml(f"{source[:end]} {NAMES}{source[end:]}")


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(inner: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner if inner.startswith('<') else run(inner)}</w:p>"


def in_list(text: str, level: int = 0, name: int = 90) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{name}"/></w:numPr>')


def level(number: int, form: str, text: str, more: str = "") -> str:
    return f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/></w:lvl>'


def table(*rows: tuple[str, ...] | list[str], properties: str = "", of_rows: Mapping[int, str] | None = None) -> str:
    """A table; a cell that begins with a tag is taken as its content, with its properties."""
    said = ""
    for number, row in enumerate(rows):
        cells = "".join(f"<w:tc>{cell if cell.startswith('<') else paragraph(cell)}</w:tc>" for cell in row)
        said += f"<w:tr><w:trPr>{(of_rows or {}).get(number, '')}</w:trPr>{cells}</w:tr>"
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr><w:tblGrid/>{said}</w:tbl>"


def drawing(inner: str) -> str:
    return f"<w:r><w:drawing><a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic></w:drawing></w:r>"


class WordFile:
    """A document to which pieces are added one after the other."""

    def __init__(self) -> None:
        self.document = docx.Document()

    def add(self, *sources: str) -> "WordFile":
        for source in sources:
            self.document.element.body.insert(len(self.document.element.body) - 1, xml(source))
        return self

    def add_part(self, name: str, kind: str, content: str) -> str:
        """Add a part of its own; returns the id of its relation."""
        package = self.document.part.package
        assert package is not None
        part = Part(PackURI(f"/word/{name}.xml"), "application/xml", content.encode(), package)
        return str(self.document.part.relate_to(part, RELATIONS + kind))

    def add_list(self, *levels: str, name: int = 90, of_list: str = "") -> "WordFile":
        numbering = self.document.part.numbering_part.element
        numbering.insert(0, xml(f'<w:abstractNum w:abstractNumId="{name}">{"".join(levels)}</w:abstractNum>'))
        numbering.append(xml(f'<w:num w:numId="{name}"><w:abstractNumId w:val="{name}"/>{of_list}</w:num>'))
        return self

    def add_style(self, name: str, inner: str, kind: str = "paragraph") -> "WordFile":
        style = f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{name}"/>{inner}</w:style>'
        self.document.styles.element.append(xml(style))
        return self

    def add_link(self, address: str) -> str:
        return str(self.document.part.relate_to(address, f"{RELATIONS}hyperlink", is_external=True))

    @property
    def content(self) -> bytes:
        file = BytesIO()
        self.document.save(file)
        return file.getvalue()
