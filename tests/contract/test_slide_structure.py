"""What PowerPoint shows of a slide is what is read: levels, numbers, tables, charts, links, footers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.util import Inches

from knowledge.parsers.base import ParseLimits
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.formats.pptx import PptxParser
from knowledge.parsers.list_numbers import format_slide_number
from tests.hidden_samples import saved
from tests.word_parts import NAMES, RELATIONS, SMART_ART

AREA = (Inches(1), Inches(2), Inches(6), Inches(3))
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
FRAME = (
    f'<p:graphicFrame {P} {NAMES}><p:nvGraphicFramePr><p:cNvPr id="9" name="x"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>'
    '<p:xfrm><a:off x="9" y="2000000"/><a:ext cx="9" cy="9"/></p:xfrm><a:graphic><a:graphicData uri="x">{}</a:graphicData>'
    "</a:graphic></p:graphicFrame>"
)


class Deck:
    """A presentation of one slide, or several."""

    def __init__(self) -> None:
        self.deck = pptx.Presentation()
        self.slide: Any = None

    def add(self, layout: int = 6, title: str = "") -> "Deck":
        self.slide = self.deck.slides.add_slide(self.deck.slide_layouts[layout])
        if title:
            self.slide.shapes.title.text = title
        return self

    def write(self, frame: Any, lines: Sequence[tuple[str, int, str]]) -> None:
        """Write paragraphs of text, level and the XML of their properties."""
        for number, (text, level, properties) in enumerate(lines):
            paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
            paragraph.text, paragraph.level = text, level
            if properties:
                paragraph._p.get_or_add_pPr().append(parse_xml(properties.replace("/>", f" {NAMES}/>", 1)))

    def add_part(self, name: str, kind: str, content: str) -> str:
        part = Part(PackURI(f"/ppt/{name}.xml"), "application/xml", self.slide.part.package, content.encode())
        return str(self.slide.part.relate_to(part, RELATIONS + kind))

    def read(self, folder: Path) -> ParsedDocument:
        path = folder / "upload"
        path.write_bytes(saved(self.deck.save))
        return PptxParser().parse(path, ParseLimits())


def said(document: ParsedDocument) -> list[str]:
    return [block.text for block in document.blocks]


def test_the_title_comes_first_and_bullets_are_items_of_their_level(tmp_path: Path) -> None:
    deck = Deck().add(1, "Yard")
    deck.slide.shapes.title.top = Inches(5)
    deck.write(deck.slide.placeholders[1].text_frame, [("One", 0, ""), ("Inner", 1, ""), ("Plain", 0, "<a:buNone/>")])
    document = deck.read(tmp_path)
    assert [(item.kind, item.text, item.page) for item in document.blocks] == [
        ("heading", "Yard", 1), ("item", "- One", 1), ("item", "  - Inner", 1), ("paragraph", "Plain", 1)
    ]  # fmt: skip


def test_numbers_go_on_within_their_level(tmp_path: Path) -> None:
    deck = Deck().add()
    first, inner, third = ('<a:buAutoNum type="arabicPeriod"/>', '<a:buAutoNum type="alphaLcParenR"/>', "<a:buNone/>")
    late = '<a:buAutoNum type="arabicPeriod" startAt="5"/>'
    lines = [
        ("a", 0, first),
        ("b", 1, inner),
        ("c", 1, inner),
        ("d", 0, first),
        ("e", 1, inner),
        ("f", 0, third),
        ("g", 0, late),
    ]
    deck.write(deck.slide.shapes.add_textbox(*AREA).text_frame, lines)
    assert said(deck.read(tmp_path)) == ["1. a", "  a) b", "  b) c", "2. d", "  a) e", "f", "5. g"]


def test_every_scheme_of_numbers_is_written() -> None:
    for scheme, written in (
        ("romanUcParenBoth", "(III)"),
        ("ea1ChsPeriod", "三."),
        ("circleNumWdBlackPlain", "③"),
        ("x", "3"),
    ):
        assert format_slide_number(3, scheme) == written


def test_a_chart_is_the_table_it_is_drawn_from(tmp_path: Path) -> None:
    deck = Deck().add(5, "Yard")
    data: Any = CategoryChartData(number_format="#,##0")  # type: ignore[no-untyped-call]
    half = data.add_category("First half")
    half.add_sub_category("Q1")
    half.add_sub_category("Q2")
    data.add_category("Second half").add_sub_category("Q3")
    data.add_series("Moved", (1210, 1345, 1502))
    chart = deck.slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *AREA, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Containers"
    chart.value_axis.axis_title.text_frame.text = "Number"
    document = deck.read(tmp_path)
    assert [(item.kind, item.text) for item in document.blocks[1:]] == [
        ("caption", "Containers\nNumber"),
        (
            "chart",
            "|  | Moved |\n| --- | --- |\n| First half › Q1 | 1,210 |\n| First half › Q2 | 1,345 |\n| Second half › Q3 | 1,502 |",
        ),
    ]
    assert {item.page for item in document.blocks} == {1}


@pytest.mark.parametrize(("first_row", "is_headed"), [(True, True), (False, False)])
def test_a_table_has_names_of_columns_where_the_slide_says_so(first_row: bool, is_headed: bool, tmp_path: Path) -> None:
    deck = Deck().add()
    table = deck.slide.shapes.add_table(3, 2, *AREA).table
    table.first_row = first_row
    for number, text in enumerate(["Ramp", "Load", "LB", "Ort", "LC", "Feld"]):
        table.cell(number // 2, number % 2).text = text
    assert [item.is_headed for item in deck.read(tmp_path).blocks] == [is_headed]


def test_merged_cells_fill_their_places_and_header_rows_join(tmp_path: Path) -> None:
    deck = Deck().add()
    table = deck.slide.shapes.add_table(4, 3, *AREA).table
    for row, texts in enumerate([("Delay", "Fine", ""), ("", "truck", "ship"), ("short", "a", "b"), ("", "c", "d")]):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(2, 0).merge(table.cell(3, 0))
    assert said(deck.read(tmp_path)) == [
        "| Delay | Fine › truck | Fine › ship |\n| --- | --- | --- |\n| short | a | b |\n| short | c | d |"
    ]


def test_links_of_words_and_of_shapes_lead_somewhere(tmp_path: Path) -> None:
    deck = Deck().add()
    box = deck.slide.shapes.add_textbox(*AREA)
    run = box.text_frame.paragraphs[0].add_run()
    run.text, run.hyperlink.address = "the portal", "https://portal.example"
    other = deck.slide.shapes.add_textbox(Inches(1), Inches(6), Inches(2), Inches(1))
    other.text_frame.text, other.click_action.hyperlink.address = "shop", "https://shop.example"
    assert [item.links for item in deck.read(tmp_path).blocks] == [
        ((0, 10, "https://portal.example"),), ((0, 4, "https://shop.example"),)
    ]  # fmt: skip


def test_footers_are_said_once_and_numbers_of_slides_never(tmp_path: Path) -> None:
    deck = Deck()
    for _ in range(2):
        deck.add(5, "Yard")
        for number, (kind, text) in enumerate((("ftr", "Internal, YR-7"), ("dt", "March 2026"), ("sldNum", "7"))):
            deck.slide.shapes._spTree.append(
                parse_xml(
                    f'<p:sp {P} {NAMES}><p:nvSpPr><p:cNvPr id="{number + 50}" name="x"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}" idx='
                    f'"{number + 10}"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p>'
                    "</p:txBody></p:sp>"
                )
            )
    document = deck.read(tmp_path)
    assert sorted((item.kind, item.text, item.page) for item in document.blocks) == [
        ("heading", "Yard", 1), ("heading", "Yard", 2), ("running", "Internal, YR-7", 1), ("running", "March 2026", 1)
    ]  # fmt: skip


def test_smart_art_is_read_and_what_cannot_be_read_is_counted(tmp_path: Path) -> None:
    deck = Deck().add()
    relation = deck.add_part("diagrams/data1", "diagramData", SMART_ART)
    empty = deck.add_part("charts/chart9", "chart", f"<c:chartSpace {NAMES}/>")
    for inner in (f'<dgm:relIds r:dm="{relation}"/>', f'<c:chart r:id="{empty}"/>', f"<p:oleObj {P}/>"):
        deck.slide.shapes._spTree.append(parse_xml(FRAME.format(inner)))
    document = deck.read(tmp_path)
    assert said(document) == ["- Receive", "  - Weigh on scale 4", "- Store"]
    assert document.losses == {"charts": 1, "objects": 1}


def test_comments_are_kept_apart(tmp_path: Path) -> None:
    deck = Deck().add(5, "Yard")
    deck.add_part(
        "comments/comment1", "comments", f"<p:cmLst {P}><p:cm><p:text>Is this right?</p:text></p:cm></p:cmLst>"
    )
    document = deck.read(tmp_path)
    assert [(item.block.text, item.block.hidden, item.block.page) for item in document.apart] == [
        ("Is this right?", "comment", 1)
    ]
