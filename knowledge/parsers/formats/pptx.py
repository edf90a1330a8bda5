"""PPTX by our own walk over python-pptx: a slide is a page, its title a heading, the speaker's notes follow the slide."""

from dataclasses import replace
from pathlib import Path

from knowledge.parsers import detect
from knowledge.parsers.base import ParseLimits, Rejected, parsers
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.losses import filter_losses
from knowledge.parsers.precheck import check_ooxml
from knowledge.titles import clean_stated_title


class PptxParser:
    name = "pptx"
    mime_types = ("application/vnd.openxmlformats-officedocument.presentationml.presentation",)
    extensions = (".pptx",)
    preload = ("pptx", "knowledge.parsers.office.pptx_walk")

    def recognises(self, path: Path) -> bool:
        return detect.has_ooxml_part(path, "ppt/")

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_ooxml(path, limits, xml_bytes=limits.member_xml_bytes)
        from pptx import Presentation

        from knowledge.parsers.office.pptx_walk import PptxWalk

        with path.open("rb") as file:
            presentation = Presentation(file)
        count = len(presentation.slides)
        if count > limits.slides:
            raise Rejected("too_many_pages", count=count, limit=limits.slides)
        walk = PptxWalk(presentation)
        found = ParsedDocument.of(walk.blocks())
        title = clean_stated_title(presentation.core_properties.title)
        if not title:
            title = next((block.text for block in found.blocks if block.kind == "heading"), "")
        return replace(found, title=title or None, page_count=count, losses=filter_losses(walk.losses))


parsers.add(PptxParser.name, PptxParser())
