"""Writes a source as DOCX: real heading styles, real lists, tables with a header row."""

from io import BytesIO
from pathlib import Path

import docx
from docx.oxml.ns import qn
from docx.shared import Pt

from demo.build.archive import write_archive
from demo.build.source import Heading, Items, Paragraph, SourceFile, SourceTable


def write_docx(source: SourceFile, target: Path) -> None:
    """Write `source` to `target`."""
    document = docx.Document()
    style = document.styles["Normal"]
    style.font.name, style.font.size = "Calibri", Pt(11)
    style.element.rPr.rFonts.set(qn("w:eastAsia"), "Microsoft YaHei")
    properties = source.properties
    document.core_properties.title = properties.title
    document.core_properties.author = properties.author
    document.core_properties.version = properties.version
    document.core_properties.language = properties.language
    document.add_heading(properties.title, level=0)
    document.add_paragraph(f"{properties.version} · {properties.date.isoformat()} · {properties.author}")
    for block in source.blocks:
        match block:
            case Heading(level=level, text=text):
                document.add_heading(text, level=level)
            case Paragraph(text=text):
                document.add_paragraph(text)
            case Items(texts=texts, ordered=ordered):
                for text in texts:
                    document.add_paragraph(text, style="List Number" if ordered else "List Bullet")
            case SourceTable(rows=rows):
                table = document.add_table(rows=len(rows), cols=len(rows[0]), style="Light Grid Accent 1")
                for cells, row in zip(table.rows, rows, strict=True):
                    for cell, text in zip(cells.cells, row, strict=True):
                        cell.text = text
                document.add_paragraph()
    built = BytesIO()
    document.save(built)
    write_archive(built, properties, target)
