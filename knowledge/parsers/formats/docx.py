"""DOCX by our own walk over python-docx: paragraphs are typed by styles and numbers, hidden text is kept apart."""

from dataclasses import replace
from pathlib import Path

from knowledge.parsers import detect
from knowledge.parsers.base import ParseLimits, parsers
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.losses import filter_losses
from knowledge.parsers.precheck import check_ooxml
from knowledge.titles import clean_stated_title


class DocxParser:
    name = "docx"
    mime_types = ("application/vnd.openxmlformats-officedocument.wordprocessingml.document",)
    extensions = (".docx",)
    preload = ("docx", "knowledge.parsers.office.docx_walk")

    def recognises(self, path: Path) -> bool:
        return detect.has_ooxml_part(path, "word/")

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_ooxml(path, limits, xml_bytes=limits.member_xml_bytes)
        from docx import Document

        from knowledge.parsers.office.docx_walk import DocxWalk

        with path.open("rb") as file:
            document = Document(file)
        walk = DocxWalk(document)
        found = ParsedDocument.of(walk.blocks())
        properties = document.core_properties
        title = clean_stated_title(properties.title) or next(
            (b.text for b in found.blocks if b.kind == "heading" and b.level == 1), None
        )
        return replace(found, title=title, language=properties.language or None, losses=filter_losses(walk.losses))


parsers.add(DocxParser.name, DocxParser())
