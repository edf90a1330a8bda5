"""DOCX by unstructured: headings by style, lists, tables; formulas are written out as text first."""

from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

from knowledge.parsers import detect
from knowledge.parsers.base import ParsedDocument, parsers
from knowledge.parsers.elements import blocks_from
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.precheck import check_ooxml
from knowledge.titles import stated_title

_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MAIN = "word/document.xml"


class DocxParser:
    name = "docx"
    mime_types = ("application/vnd.openxmlformats-officedocument.wordprocessingml.document",)
    extensions = (".docx",)
    preload = ("knowledge.parsers.unstructured_ready",)
    is_heavy = True

    def recognises(self, path: Path) -> bool:
        return detect.has_ooxml_part(path, "word/")

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_ooxml(path, limits, xml_bytes=limits.member_xml_bytes)
        from docx import Document

        from knowledge.parsers.unstructured_ready import partition_docx

        blocks = blocks_from(partition_docx(file=_readable(path)), is_heading=lambda _: True)
        properties = Document(BytesIO(path.read_bytes())).core_properties
        title = stated_title(properties.title) or next(
            (b.text for b in blocks if b.kind == "heading" and b.level == 1), None
        )
        return ParsedDocument(title=title, blocks=blocks, language=properties.language or None)


def _readable(path: Path) -> BytesIO:
    """The file, with each formula replaced by a run of text where there are any."""
    from lxml import etree

    with ZipFile(path) as archive:
        if _MAIN not in archive.namelist() or b":oMath" not in (main := archive.read(_MAIN)):
            return BytesIO(path.read_bytes())
        tree = etree.fromstring(main, etree.XMLParser(resolve_entities=False, no_network=True))
        for formula in list(tree.iter(f"{_MATH}oMath")):
            run = etree.Element(f"{_WORD}r")
            etree.SubElement(run, f"{_WORD}t").text = f" {linear(formula)} "
            run.tail = formula.tail
            parent = formula.getparent()
            if parent.tag == f"{_MATH}oMathPara":
                parent.addprevious(run)
            else:
                parent.replace(formula, run)
        copy = BytesIO()
        with ZipFile(copy, "w", ZIP_STORED) as written:
            for name in archive.namelist():
                written.writestr(name, etree.tostring(tree) if name == _MAIN else archive.read(name))
    copy.seek(0)
    return copy


def linear(node: Any) -> str:
    """An Office formula on one line: a/b, x^2, x_i; other structures as their parts in order."""
    parts = [linear(child) for child in node if isinstance(child.tag, str)]
    match node.tag.removeprefix(_MATH):
        case "t":
            return node.text or ""
        case "f":
            return "/".join(f"({part})" if len(part) > 1 else part for part in parts if part)
        case "sSup":
            return "^".join(part for part in parts if part)
        case "sSub":
            return "_".join(part for part in parts if part)
        case _:
            return "".join(parts)


parsers.add(DocxParser.name, DocxParser())
