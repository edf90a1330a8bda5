"""PPTX by unstructured: a slide is a page, its title a heading, the speaker's notes follow the slide, what nobody sees is kept apart."""

import re
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

from knowledge.parsers import detect
from knowledge.parsers.base import Rejected, parsers
from knowledge.parsers.blocks import Block, ParsedDocument, Picture, block, hidden_block
from knowledge.parsers.elements import blocks_from
from knowledge.parsers.hidden import HiddenReason
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ooxml_pictures import pictures_in
from knowledge.parsers.pptx_hidden import unseen as unseen_parts
from knowledge.parsers.precheck import check_ooxml
from knowledge.parsers.raised import lowered, raised
from knowledge.titles import stated_title

_CHINESE = re.compile("[\u4e00-\u9fff]")


class PptxParser:
    name = "pptx"
    mime_types = ("application/vnd.openxmlformats-officedocument.presentationml.presentation",)
    extensions = (".pptx",)
    preload = ("knowledge.parsers.unstructured_warmup",)
    is_heavy = True

    def recognises(self, path: Path) -> bool:
        return detect.has_ooxml_part(path, "ppt/")

    def parse(self, path: Path, limits: ParseLimits) -> ParsedDocument:
        check_ooxml(path, limits, xml_bytes=limits.member_xml_bytes)
        from pptx import Presentation

        from knowledge.parsers.unstructured_warmup import partition_pptx

        presentation = Presentation(BytesIO(path.read_bytes()))
        count = len(presentation.slides)
        if count > limits.slides:
            raise Rejected("too_many_pages", count=count, limit=limits.slides)
        unseen, file = _without_unseen(presentation, path)
        elements = partition_pptx(file=file, include_slide_notes=False)
        # unstructured calls every short line a title; the slide's own title is the one without depth
        slides = blocks_from(elements, is_heading=lambda e: not e.metadata.category_depth, has_pages=True)
        found = ParsedDocument.of(_in_order(slides, presentation, unseen), page_count=count)
        title = stated_title(presentation.core_properties.title)
        if not title:
            title = next((block.text for block in found.blocks if block.kind == "heading"), "")
        return replace(found, title=title or None)


def _in_order(
    blocks: tuple[Block, ...], presentation: Any, unseen: dict[int, list[Block]]
) -> Iterator[Block | Picture]:
    """Slide by slide: its blocks, its pictures, the speaker's notes, what is not seen of it. Of a hidden slide nothing is seen."""
    by_page = {page: list(group) for page, group in groupby(blocks, key=lambda each: each.page)}
    for number, slide in enumerate(presentation.slides, start=1):
        shown, notes = by_page.get(number, []), _notes(slide, number)
        if slide.element.get("show") in ("0", "false"):
            yield from (replace(each, hidden=HiddenReason.SLIDE) for each in [*shown, *notes])
        else:
            yield from shown
            yield from _pictures(slide, number)
            yield from notes
        yield from unseen.get(number, [])


def _pictures(slide: Any, number: int) -> Iterator[Picture]:
    """The pictures of a slide, in the order they are drawn."""
    for name in pictures_in(
        slide.shapes.element, {key: each.target_ref for key, each in slide.part.rels.items()}, "ppt/slides"
    ):
        yield Picture(0, number, name)


def _notes(slide: Any, number: int) -> list[Block]:
    """The speaker's notes, said to be notes wherever they are quoted; unstructured puts them in front of the slide's title."""
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    text = frame.text.strip() if frame is not None else ""
    label = "备注：" if _CHINESE.search(text) else "Speaker notes: "
    return block("paragraph", label + text, page=number) if text else []


def _without_unseen(presentation: Any, path: Path) -> tuple[dict[int, list[Block]], BytesIO]:
    """What shapes hide, by slide, and the file without it; descriptions of pictures are not in the text anyhow."""
    unseen: dict[int, list[Block]] = {}
    is_changed = False
    for number, slide in enumerate(presentation.slides, start=1):
        tree = slide.shapes.element
        described = [each.get("descr", "") for each in tree.iter("{*}cNvPr")]
        found = [each for text in described for each in hidden_block(text, HiddenReason.PICTURE, page=number)]
        for element, reason in list(unseen_parts(slide, presentation.slide_width, presentation.slide_height)):
            if tree not in element.iterancestors():
                continue  # gone with what it stood in
            found += hidden_block("\n".join(element.itertext("{*}t")), reason, page=number)
            if element is not tree:
                element.getparent().remove(element)
                is_changed = True
        is_changed |= _pulled_in(slide) | _written_out(tree)
        unseen[number] = found
    if not is_changed:
        return unseen, BytesIO(path.read_bytes())
    changed = BytesIO()
    presentation.save(changed)
    changed.seek(0)
    return unseen, changed


def _written_out(tree: Any) -> bool:
    """Whether superscripts and subscripts were put into characters of their own."""
    placed = [each for each in tree.iter("{*}rPr") if each.get("baseline", "0").strip("%") not in ("", "0")]
    for properties in placed:
        write = lowered if properties.get("baseline").startswith("-") else raised
        for text in properties.itersiblings("{*}t"):
            text.text = write(text.text or "")
    return bool(placed)


def _pulled_in(slide: Any) -> bool:
    """Whether shapes that begin beyond the left or upper edge were moved: unstructured passes them over, and they are seen."""
    over = [shape for shape in slide.shapes if (shape.left or 0) < 0 or (shape.top or 0) < 0]
    for shape in over:
        shape.left, shape.top = max(shape.left, 0), max(shape.top, 0)
    return bool(over)


parsers.add(PptxParser.name, PptxParser())
