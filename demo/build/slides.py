"""Writes a source as PPTX: a title slide, then one slide for every level-2 heading."""

from io import BytesIO
from pathlib import Path
from typing import Any

from pptx import Presentation
from pptx.util import Inches, Pt

from demo.build.archive import write_archive
from demo.build.source import Block, Heading, Items, Paragraph, SourceFile, SourceTable

TITLE_SLIDE, TITLE_AND_BODY, TITLE_ONLY = 0, 1, 5  # layouts of python-pptx's default template


def write_pptx(source: SourceFile, target: Path) -> None:
    """Write `source` to `target`. Raises ValueError when a slide mixes a table with text."""
    presentation = Presentation()
    presentation.slide_width, presentation.slide_height = Inches(10), Inches(5.625)
    properties = source.properties
    presentation.core_properties.title = properties.title
    presentation.core_properties.author = properties.author
    first = presentation.slides.add_slide(presentation.slide_layouts[TITLE_SLIDE])
    _position_shape(first.shapes.title, 1.6, 1.1, 30)
    first.shapes.title.text = properties.title
    _position_shape(first.placeholders[1], 2.9, 0.9, 16)
    first.placeholders[1].text = f"{properties.author}\n{properties.version} · {properties.date.isoformat()}"
    for title, body in _group_by_slide(source.blocks):
        _add_slide(presentation, title, body, target.name)
    built = BytesIO()
    presentation.save(built)
    write_archive(built, properties, target)


def _group_by_slide(blocks: tuple[Block, ...]) -> list[tuple[str, list[Block]]]:
    slides: list[tuple[str, list[Block]]] = []
    for block in blocks:
        if isinstance(block, Heading):
            slides.append((block.text, []))
        else:
            slides[-1][1].append(block)
    return slides


def _add_slide(presentation: Any, title: str, body: list[Block], name: str) -> None:
    tables = [block for block in body if isinstance(block, SourceTable)]
    if tables and len(body) > 1:
        raise ValueError(f"{name}: slide {title!r} mixes a table with text; give the table a slide of its own")
    slide = presentation.slides.add_slide(presentation.slide_layouts[TITLE_ONLY if tables else TITLE_AND_BODY])
    _position_shape(slide.shapes.title, 0.3, 0.8, 26)
    slide.shapes.title.text = title
    if tables:
        _add_table(slide, tables[0])
        return
    frame = slide.placeholders[1].text_frame
    _position_shape(slide.placeholders[1], 1.2, 4.1, 16)
    lines = [text for block in body for text in _list_lines(block)]
    frame.text = lines[0]
    for line in lines[1:]:
        frame.add_paragraph().text = line
    for paragraph in frame.paragraphs:
        paragraph.font.size = Pt(16)


def _list_lines(block: Block) -> tuple[str, ...]:
    match block:
        case Items(texts=texts):
            return texts
        case Paragraph(text=text) | Heading(text=text):
            return (text,)
        case SourceTable(rows=rows):
            return tuple(" · ".join(row) for row in rows)


def _add_table(slide: Any, block: SourceTable) -> None:
    rows, columns = len(block.rows), len(block.rows[0])
    table = slide.shapes.add_table(rows, columns, Inches(0.5), Inches(1.3), Inches(9), Inches(0.36 * rows)).table
    for row, texts in enumerate(block.rows):
        for column, text in enumerate(texts):
            cell = table.cell(row, column)
            cell.text = text
            for paragraph in cell.text_frame.paragraphs:
                paragraph.font.size = Pt(12)


def _position_shape(shape: Any, top: float, height: float, size: int) -> None:
    """Put a placeholder of the 4:3 template onto the 16:9 slide (inches, points)."""
    shape.left, shape.top, shape.width, shape.height = Inches(0.5), Inches(top), Inches(9), Inches(height)
    shape.text_frame.word_wrap = True
    shape.text_frame.paragraphs[0].font.size = Pt(size)
