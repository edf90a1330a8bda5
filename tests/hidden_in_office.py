"""The ways to hide a sentence in a workbook or on a slide."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import openpyxl
import pptx
from docx.shared import Pt
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Color, Font, PatternFill
from openpyxl.worksheet.table import Table
from PIL import Image
from pptx.dml.color import RGBColor as Rgb
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.util import Inches

from knowledge.parsers.hidden import HiddenReason as Why
from tests.hidden_samples import Sample, saved


def _hidden_row(book: Any, sheet: Any, text: str) -> None:
    sheet.append([text])
    sheet.row_dimensions[sheet.max_row].hidden = True


def _hidden_column(book: Any, sheet: Any, text: str) -> None:
    sheet["D2"] = text
    sheet.column_dimensions["D"].hidden = True


def _hidden_sheet(book: Any, sheet: Any, text: str) -> None:
    book.create_sheet("More").append([text])
    book["More"].sheet_state = "hidden"


def _very_hidden_sheet(book: Any, sheet: Any, text: str) -> None:
    book.create_sheet("More").append([text])
    book["More"].sheet_state = "veryHidden"


def _format_of_nothing(book: Any, sheet: Any, text: str) -> None:
    sheet["B2"] = text
    sheet["B2"].number_format = ";;;"


def _white_font(book: Any, sheet: Any, text: str) -> None:
    sheet["B2"] = text
    sheet["B2"].font = Font(color="FFFFFFFF")


def _format_without_words(book: Any, sheet: Any, text: str) -> None:
    sheet["B2"] = text
    sheet["B2"].number_format = "0;-0;0;"


def _format_in_white(book: Any, sheet: Any, text: str) -> None:
    sheet["B2"] = text
    sheet["B2"].number_format = "[White]@"


def _indexed_white(book: Any, sheet: Any, text: str) -> None:
    sheet["B2"] = text
    sheet["B2"].font = Font(color=Color(indexed=9))


def _tinted_white(book: Any, sheet: Any, text: str) -> None:
    sheet["B2"] = text
    sheet["B2"].font = Font(color=Color(theme=0, tint=-0.02))


def _tiny_font(book: Any, sheet: Any, text: str) -> None:
    sheet["B2"] = text
    sheet["B2"].font = Font(sz=1)


def _flat_row(book: Any, sheet: Any, text: str) -> None:
    sheet.append([text])
    sheet.row_dimensions[sheet.max_row].height = 1


def _white_beside_a_condition(book: Any, sheet: Any, text: str) -> None:
    _white_font(book, sheet, text)
    sheet.conditional_formatting.add("Z1:Z9", CellIsRule("equal", ["1"], fill=PatternFill("solid", bgColor="FF0000")))


def _white_beside_a_table(book: Any, sheet: Any, text: str) -> None:
    _white_font(book, sheet, text)
    for place in ("X1", "Y1", "X2"):
        sheet[place] = place
    sheet.add_table(Table(displayName="Beside", ref="X1:Y2"))


def workbooks(language: str, seen: str, unseen: str) -> Iterator[Sample]:
    for hide, why in (
        (_hidden_row, Why.ROW),
        (_hidden_column, Why.COLUMN),
        (_hidden_sheet, Why.SHEET),
        (_very_hidden_sheet, Why.SHEET),
        (_format_of_nothing, Why.CELL),
        (_white_font, Why.COLOUR),
        (_format_without_words, Why.CELL),
        (_format_in_white, Why.COLOUR),
        (_indexed_white, Why.COLOUR),
        (_tinted_white, Why.COLOUR),
        (_tiny_font, Why.TOO_SMALL),
        (_flat_row, Why.ROW),
        (_white_beside_a_condition, Why.COLOUR),
        (_white_beside_a_table, Why.COLOUR),
    ):
        book = openpyxl.Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.append(["Rule", "Note"])
        sheet.append([seen, None])
        hide(book, sheet, unseen)
        yield Sample(f"xlsx{hide.__name__}", language, "a.xlsx", saved(book.save), why)


def _box(slide: Any, text: str, left: float = 1.0, top: float = 3.0) -> Any:
    box = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(5), Inches(1))
    box.text_frame.text = text
    return box


def _slide(deck: Any, title: str) -> Any:
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = title
    return slide


def _hidden_slide(deck: Any, slide: Any, text: str) -> None:
    hidden = _slide(deck, "More")
    _box(hidden, "Nothing here.")
    hidden.notes_slide.notes_text_frame.text = text
    hidden._element.set("show", "0")


def _beside_the_slide(deck: Any, slide: Any, text: str) -> None:
    _box(slide, text, left=30)


def _switched_off(deck: Any, slide: Any, text: str) -> None:
    _box(slide, text)._element.nvSpPr.cNvPr.set("hidden", "1")


def _described(deck: Any, slide: Any, text: str) -> None:
    picture = slide.shapes.add_picture(BytesIO(saved(lambda f: Image.new("RGB", (9, 9)).save(f, "PNG"))), 0, 0)
    picture._element.nvPicPr.cNvPr.set("descr", text)


def _in_a_group_beside(deck: Any, slide: Any, text: str) -> None:
    group = slide.shapes.add_group_shape()
    _box(group, text, left=30)
    _box(group, "Here.", left=1)


def _run(shape: Any) -> Any:
    return shape.text_frame.paragraphs[0].runs[0]


def _white_on_white(deck: Any, slide: Any, text: str) -> None:
    _run(_box(slide, text)).font.color.rgb = Rgb(255, 255, 255)  # type: ignore[no-untyped-call]


def _white_of_the_theme(deck: Any, slide: Any, text: str) -> None:
    _run(_box(slide, text)).font.color.theme_color = MSO_THEME_COLOR.BACKGROUND_1


def _colour_of_the_shape(deck: Any, slide: Any, text: str) -> None:
    box = _box(slide, text)
    box.fill.solid()
    box.fill.fore_color.rgb = Rgb(20, 30, 40)  # type: ignore[no-untyped-call]
    _run(box).font.color.rgb = Rgb(21, 30, 40)  # type: ignore[no-untyped-call]


def _one_point_on_a_slide(deck: Any, slide: Any, text: str) -> None:
    _run(_box(slide, text)).font.size = Pt(1)


def _clear_letters(deck: Any, slide: Any, text: str) -> None:
    _run(_box(slide, text)).font.fill.background()


def _struck_out(deck: Any, slide: Any, text: str) -> None:
    _run(_box(slide, text))._r.get_or_add_rPr().set("strike", "sngStrike")


def decks(language: str, seen: str, unseen: str) -> Iterator[Sample]:
    for hide, why in (
        (_hidden_slide, Why.SLIDE),
        (_beside_the_slide, Why.OUTSIDE),
        (_switched_off, Why.NOT_DISPLAYED),
        (_described, Why.PICTURE),
        (_in_a_group_beside, Why.OUTSIDE),
        (_white_on_white, Why.COLOUR),
        (_white_of_the_theme, Why.COLOUR),
        (_colour_of_the_shape, Why.COLOUR),
        (_one_point_on_a_slide, Why.TOO_SMALL),
        (_clear_letters, Why.INVISIBLE),
        (_struck_out, Why.STRUCK),
    ):
        deck = pptx.Presentation()
        slide = _slide(deck, "Trips")
        _box(slide, seen, top=2)
        hide(deck, slide, unseen)
        yield Sample(f"pptx{hide.__name__}", language, "a.pptx", saved(deck.save), why)
