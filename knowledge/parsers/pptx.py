"""PPTX by unstructured: a slide is a page, its title a heading, the speaker's notes follow the slide."""

from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

from knowledge.parsers import detect
from knowledge.parsers.base import Block, ParsedDocument, Rejected, block, parsers
from knowledge.parsers.elements import blocks_from
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.precheck import check_ooxml
from knowledge.titles import stated_title


class PptxParser:
    name = "pptx"
    mime_types = ("application/vnd.openxmlformats-officedocument.presentationml.presentation",)
    extensions = (".pptx",)
    preload = ("knowledge.parsers.unstructured_ready",)
    is_heavy = True

    def recognises(self, path: Path) -> bool:
        return detect.has_ooxml_part(path, "ppt/")

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_ooxml(path, limits, xml_bytes=limits.member_xml_bytes)
        from pptx import Presentation

        from knowledge.parsers.unstructured_ready import partition_pptx

        presentation = Presentation(BytesIO(path.read_bytes()))
        count = len(presentation.slides)
        if count > limits.slides:
            raise Rejected("too_many_pages", count=count, limit=limits.slides)
        elements = partition_pptx(file=BytesIO(path.read_bytes()), include_slide_notes=False)
        # unstructured calls every short line a title; the slide's own title is the one without depth
        slides = blocks_from(elements, is_heading=lambda e: not e.metadata.category_depth, has_pages=True)
        blocks = _with_notes(slides, presentation)
        title = stated_title(presentation.core_properties.title)
        if not title:
            title = next((block.text for block in blocks if block.kind == "heading"), "")
        return ParsedDocument(title=title or None, blocks=blocks, page_count=count)


def _with_notes(blocks: tuple[Block, ...], presentation: Any) -> tuple[Block, ...]:
    """The speaker's notes after the blocks of their slide; unstructured puts them in front of its title."""
    by_page = {page: list(group) for page, group in groupby(blocks, key=lambda each: each.page)}
    for number, slide in enumerate(presentation.slides, start=1):
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = block("paragraph", slide.notes_slide.notes_text_frame.text, page=number)
            by_page[number] = by_page.get(number, []) + notes
    return tuple(each for _, group in sorted(by_page.items()) for each in group)


parsers.add(PptxParser.name, PptxParser())
