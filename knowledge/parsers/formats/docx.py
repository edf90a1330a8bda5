"""DOCX by unstructured: headings by style, lists, tables; what it does not see is put before it as plain runs first."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

from knowledge.parsers import detect
from knowledge.parsers.base import parsers
from knowledge.parsers.blocks import ParsedDocument, with_pieces
from knowledge.parsers.elements import blocks_from
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.precheck import check_ooxml
from knowledge.titles import stated_title


class DocxParser:
    name = "docx"
    mime_types = ("application/vnd.openxmlformats-officedocument.wordprocessingml.document",)
    extensions = (".docx",)
    preload = ("knowledge.parsers.unstructured_warmup",)
    is_heavy = True

    def recognises(self, path: Path) -> bool:
        return detect.has_ooxml_part(path, "word/")

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_ooxml(path, limits, xml_bytes=limits.member_xml_bytes)
        from docx import Document

        from knowledge.parsers.docx_runs import readable
        from knowledge.parsers.unstructured_warmup import partition_docx

        file, hidden = readable(path)
        found = ParsedDocument.of(
            with_pieces(blocks_from(partition_docx(file=file), is_heading=lambda _: True), hidden)
        )
        properties = Document(BytesIO(path.read_bytes())).core_properties
        title = stated_title(properties.title) or next(
            (b.text for b in found.blocks if b.kind == "heading" and b.level == 1), None
        )
        return replace(found, title=title, language=properties.language or None)


parsers.add(DocxParser.name, DocxParser())
