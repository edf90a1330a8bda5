"""What Word shows of a document is what is read: styles, numbers, tables, notes, headers, links, charts."""

from pathlib import Path
from typing import Any

from pptx.chart.data import CategoryChartData
from pptx.chart.xmlwriter import ChartXmlWriter
from pptx.enum.chart import XL_CHART_TYPE

from knowledge.parsers.base import ParseLimits
from knowledge.parsers.blocks import Block, ParsedDocument
from knowledge.parsers.formats.docx import DocxParser
from knowledge.parsers.list_numbers import format_list_number
from tests.word_parts import NAMES, SMART_ART, WordFile, drawing, in_list, level, paragraph, run, table, xml


def read(file: WordFile, folder: Path) -> ParsedDocument:
    path = folder / "upload"
    path.write_bytes(file.content)
    return DocxParser().parse(path, ParseLimits())


def said(document: ParsedDocument) -> list[str]:
    return [block.text for block in document.blocks]


def of_kind(document: ParsedDocument, kind: str) -> list[Block]:
    return [block for block in document.blocks if block.kind == kind]


# --- headings and numbers ----------------------------------------------------------------------------------------------


def test_a_heading_is_told_by_its_style_or_outline_level(tmp_path: Path) -> None:
    file = WordFile().add_style("Chapter", '<w:basedOn w:val="Heading1"/>')
    file.add_style("Section", '<w:pPr><w:outlineLvl w:val="1"/></w:pPr>')
    file.add_style("Contents", '<w:basedOn w:val="Heading1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>')
    for style in ("Title", "Chapter", "Section", "Contents"):
        file.add(paragraph(style, f'<w:pStyle w:val="{style}"/>'))
    file.add(paragraph("Outlined", '<w:outlineLvl w:val="2"/>'), paragraph(run("Bold words", "<w:b/>")))
    headings = of_kind(read(file, tmp_path), "heading")
    assert [(heading.text, heading.level) for heading in headings] == [
        ("Title", 1),
        ("Chapter", 1),
        ("Section", 2),
        ("Outlined", 3),
    ]


def test_numbers_of_clauses_are_those_that_word_shows(tmp_path: Path) -> None:
    file = WordFile().add_list(
        level(0, "chineseCounting", "第%1条"),
        level(1, "decimal", "%1.%2", "<w:isLgl/>"),
        level(2, "lowerLetter", "(%3)"),
        level(3, "bullet", "•"),
    )
    file.add(*(in_list(f"text {place}", depth) for place, depth in enumerate((0, 1, 1, 2, 2, 3, 0, 1, 2))))
    items = read(file, tmp_path).blocks
    assert [item.number for item in items] == ["第一条", "1.1", "1.2", "(a)", "(b)", "", "第二条", "2.1", "(a)"]
    assert [item.depth for item in items] == [0, 1, 1, 2, 2, 3, 0, 1, 2]
    assert [items[0].text, items[3].text, items[5].text] == ["第一条 text 0", "    (a) text 3", "      - text 5"]


def test_lists_go_on_begin_anew_and_restart_as_defined(tmp_path: Path) -> None:
    file = WordFile().add_list(level(0, "decimal", "%1."), level(1, "decimal", "%2)", '<w:lvlRestart w:val="0"/>'))
    numbering = file.document.part.numbering_part.element
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'
    for name, override in ((91, ""), (92, again)):
        numbering.append(xml(f'<w:num w:numId="{name}"><w:abstractNumId w:val="90"/>{override}</w:num>'))
    for name, depth in ((90, 0), (90, 1), (91, 0), (90, 1), (92, 0), (92, 0)):
        file.add(in_list("text", depth, name), paragraph("between"))
    numbers = [item.number for item in read(file, tmp_path).blocks if item.kind == "item"]
    assert numbers == ["1.", "1)", "2.", "2)", "7.", "8."]


def test_a_numbered_heading_begins_with_its_number(tmp_path: Path) -> None:
    tied = (
        level(place, "decimal", text, f'<w:pStyle w:val="Clause{place}"/>')
        for place, text in enumerate(("%1", "%1.%2"))
    )
    file = WordFile().add_list(*tied)
    for place in (0, 1):
        numbers = '<w:numPr><w:numId w:val="90"/></w:numPr>'
        file.add_style(f"Clause{place}", f'<w:basedOn w:val="Heading{place + 1}"/><w:pPr>{numbers}</w:pPr>')
    for place in (0, 1, 1):
        file.add(paragraph("Liability", f'<w:pStyle w:val="Clause{place}"/>'))
    file.add(paragraph("Annex", '<w:pStyle w:val="Clause0"/><w:numPr><w:numId w:val="0"/></w:numPr>'))
    assert said(read(file, tmp_path)) == ["1 Liability", "1.1 Liability", "1.2 Liability", "Annex"]


WRITTEN = (
        (4, "decimalZero", "04"), (28, "lowerLetter", "bb"), (1994, "upperRoman", "MCMXCIV"), (12, "chineseCounting", "十二"),
        (20, "chineseCountingThousand", "二十"), (105, "chineseCountingThousand", "一百〇五"), (11, "ordinal", "11th"),
        (22, "ordinal", "22nd"), (3, "ideographTraditional", "丙"), (7, "decimalEnclosedCircle", "⑦"), (0, "lowerRoman", "0"),
        (3, "001, 002, 003, ...", "003"), (12, "chineseLegalSimplified", "壹拾贰"), (2, "nobody knows", "2"), (5, "none", ""),
)  # fmt: skip


def test_numbers_are_written_in_every_form() -> None:
    for number, form, written in WRITTEN:
        assert format_list_number(number, form) == written


# --- tables --------------------------------------------------------------------------------------------------------------

HEADED = "| Ramp | Load |\n| --- | --- |\n| LB | Ort |\n| LC | Feld |"
BARE = "| Ramp | Load |\n| LB | Ort |\n| LC | Feld |"
ROWS = [["Ramp", "Load"], ["LB", "Ort"], ["LC", "Feld"]]
LOOK = '<w:tblStyle w:val="Marked"/><w:tblLook w:firstRow="{}"/>'
SHADED = '<w:tcPr><w:shd w:val="clear" w:fill="D9E2F3"/></w:tcPr>'


def shaded(row: list[str]) -> list[str]:
    return [f"{SHADED}{paragraph(cell)}" for cell in row]


MARKED = (
    (table(*ROWS), BARE),
    (table(*ROWS, of_rows={0: "<w:tblHeader/>"}), HEADED),
    (table(*ROWS, of_rows={0: '<w:tblHeader w:val="0"/>'}), BARE),
    (table([paragraph(run(cell, "<w:b/>")) for cell in ROWS[0]], *ROWS[1:]), HEADED),
    (table(shaded(ROWS[0]), *ROWS[1:]), HEADED),
    (table(shaded(ROWS[0]), ROWS[1], shaded(ROWS[2])), BARE),
    (table(*ROWS, properties=LOOK.format(1)), HEADED),
    (table(*ROWS, properties=LOOK.format(0)), BARE),
)


def test_names_of_columns_are_those_that_word_marks(tmp_path: Path) -> None:
    marked = '<w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr>'
    for source, expected in MARKED:
        assert said(read(WordFile().add_style("Marked", marked, "table").add(source), tmp_path)) == [expected]


def test_spans_fill_their_places_and_two_header_rows_join(tmp_path: Path) -> None:
    down, on = ('<w:tcPr><w:vMerge w:val="restart"/></w:tcPr>', "<w:tcPr><w:vMerge/></w:tcPr>")
    wide = f'<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{paragraph("Second half")}'
    head = [down + paragraph("Hall"), wide], [on + paragraph("never shown"), "Moved", "Damaged"]
    body = [down + paragraph("North"), "a", "b"], [on + paragraph(""), "c", "d"]
    source = table(*head, *body, of_rows={0: "<w:tblHeader/>", 1: "<w:tblHeader/>"})
    assert said(read(WordFile().add(source), tmp_path)) == [
        "| Hall | Second half › Moved | Second half › Damaged |\n| --- | --- | --- |\n| North | a | b |\n| North | c | d |"
    ]


def test_a_box_is_what_it_holds_and_an_inner_table_follows_its_outer(tmp_path: Path) -> None:
    box = table([in_list("Keep clear", name=1) + paragraph("Never stand below.")])
    outer = table(
        ["Region", "Limits"], ["Nordics", paragraph("see") + table(["City", "Limit"], ["Oslo", "210"]) + "<w:p/>"]
    )
    document = read(WordFile().add(box, outer), tmp_path)
    assert said(document)[1:] == [
        "Never stand below.",
        "| Region | Limits |\n| Nordics | see |",
        "| City | Limit |\n| --- | --- |\n| Oslo | 210 |",
    ]
    assert "Keep clear" in said(document)[0]


# --- notes, headers, links -----------------------------------------------------------------------------------------------


def notes(kind: str, **texts: str) -> str:
    each = "".join(
        f'<w:{kind} w:id="{name[1:]}"><w:p><w:r><w:{kind}Ref/></w:r>{run(text)}</w:p></w:{kind}>'
        for name, text in texts.items()
    )
    return f"<w:{kind}s {NAMES}>{each}</w:{kind}s>"


def test_notes_follow_the_paragraph_that_refers_to_them(tmp_path: Path) -> None:
    file = WordFile()
    file.add_part(
        "footnotes", "footnotes", notes("footnote", _2="Oslo: 210 euros.", _3="By train only.", _4="gone", _5="star")
    )
    file.add_part("endnotes", "endnotes", notes("endnote", _2="Until 2027."))
    first, other, last = (f'<w:r><w:footnoteReference w:id="{item}"/></w:r>' for item in (2, 4, 3))
    file.add(
        paragraph(run("Hotels: 140 euros") + first + run(".")),
        paragraph(
            run("Trips") + f'<w:del w:id="1">{other}</w:del>' + last + '<w:r><w:endnoteReference w:id="2"/></w:r>'
        ),
        paragraph('<w:r><w:footnoteReference w:customMarkFollows="1" w:id="5"/><w:t>*</w:t></w:r>'),
    )
    document = read(file, tmp_path)
    assert said(document) == [
        "Hotels: 140 euros¹.", "¹ Oslo: 210 euros.", "Trips²ⁱ", "² By train only.", "ⁱ Until 2027.", "*", "* star"
    ]  # fmt: skip
    assert [item.number for item in of_kind(document, "footnote")] == ["¹", "²", "ⁱ", "*"]
    assert [(item.block.text, item.block.hidden) for item in document.apart] == [("gone", "deleted")]


def test_headers_and_footers_are_said_once_without_numbers_of_pages(tmp_path: Path) -> None:
    file = WordFile().add(paragraph("Body."))
    for _ in range(2):
        section = file.document.add_section()
        for running in (section.header, section.footer):
            running.is_linked_to_previous = False
        header = table(["Document no.", "TH-014"])
        section.header._element.append(xml(header))
        pages = '<w:fldSimple w:instr=" PAGE "><w:r><w:t>3</w:t></w:r></w:fldSimple>'
        page = paragraph(f"{run('Page ')}{pages}{run(' of ')}{pages.replace('PAGE', 'NUMPAGES')}")
        for item in (paragraph("Valid from 1 March 2026"), page):
            section.footer._element.append(xml(item))
        section.first_page_header.paragraphs[0].text = "Not shown"
    document = read(file, tmp_path)
    assert [(item.kind, item.text) for item in document.blocks] == [
        ("running", "Document no.\tTH-014"), ("paragraph", "Body."), ("running", "Valid from 1 March 2026")
    ]  # fmt: skip
    file.document.sections[1].different_first_page_header_footer = True
    assert "Not shown" in said(read(file, tmp_path))


def test_links_keep_their_words_and_addresses(tmp_path: Path) -> None:
    file = WordFile()
    outside = file.add_link("https://portal.example/x")
    raised = '<w:vertAlign w:val="subscript"/>'
    field = "".join(f'<w:r><w:fldChar w:fldCharType="{item}"/></w:r>' for item in ("begin", "separate", "end"))
    code = '<w:r><w:instrText>HYPERLINK "mailto:a@b.example"</w:instrText></w:r>'
    begin, separate, end = (f"{part}</w:r>" for part in field.split("</w:r>")[:3])
    file.add(
        paragraph(
            f'{run("The ")}<w:hyperlink r:id="{outside}" w:anchor="p">{run("CO")}{run("2", raised)}</w:hyperlink>'
        ),
        paragraph(f"{begin}{code}{separate}{run('write us')}{end}"),
        paragraph(f'<w:hyperlink w:anchor="inside">{run("above")}</w:hyperlink>'),
    )
    assert [(item.text, item.links) for item in read(file, tmp_path).blocks] == [
        ("The CO₂", ((4, 7, "https://portal.example/x#p"),)), ("write us", ((0, 8, "mailto:a@b.example"),)), ("above", ())
    ]  # fmt: skip


# --- captions, charts, drawings, formulas --------------------------------------------------------------------------------


def chart(title: str = "Moved", *, axis: str = "Quarter") -> str:
    data: Any = CategoryChartData(number_format="0.0%")  # type: ignore[no-untyped-call]
    data.categories = ["Q1", "Q2"]
    data.add_series("North", (0.125, 0.5))
    data.add_series("South", (None, 0.25))
    written = ChartXmlWriter(XL_CHART_TYPE.COLUMN_CLUSTERED, data).xml  # type: ignore[no-untyped-call]
    words = "<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>{}</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    written = written.replace("<c:autoTitleDeleted", words.format(title) + "<c:autoTitleDeleted", 1)
    return (
        str(written.replace('<c:axPos val="b"/>', f'<c:axPos val="b"/>{words.format(axis)}')).split("?>", 1)[1].strip()
    )


def test_a_chart_is_the_table_it_is_drawn_from(tmp_path: Path) -> None:
    file = WordFile()
    relation = file.add_part("charts/chart1", "chart", chart())
    file.add(paragraph(run("See:") + drawing(f'<c:chart r:id="{relation}"/>')))
    document = read(file, tmp_path)
    assert [(item.kind, item.text) for item in document.blocks] == [
        ("paragraph", "See:"),
        ("caption", "Moved\nQuarter"),
        ("chart", "| Quarter | North | South |\n| --- | --- | --- |\n| Q1 | 12.5% |  |\n| Q2 | 50.0% | 25.0% |"),
    ]
    assert "| Q1 | 0.125 |  |" in document.blocks[2].exact
    assert document.losses == {}


def test_what_cannot_be_read_is_counted(tmp_path: Path) -> None:
    file = WordFile()
    empty = file.add_part("charts/chart1", "chart", f"<c:chartSpace {NAMES}/>")
    sheet, old = (
        f'<w:r><w:object><o:OLEObject ProgID="{name}"/></w:object></w:r>' for name in ("Excel.Sheet.12", "Equation.3")
    )
    file.add(paragraph(drawing(f'<c:chart r:id="{empty}"/>') + drawing('<cx:chart r:id="x"/>') + sheet + old))
    assert read(file, tmp_path).losses == {"charts": 2, "objects": 1, "equations": 1}


def test_smart_art_is_read_as_items(tmp_path: Path) -> None:
    file = WordFile()
    relation = file.add_part("diagrams/data1", "diagramData", SMART_ART)
    file.add(paragraph(drawing(f'<dgm:relIds r:dm="{relation}"/>')))
    assert said(read(file, tmp_path)) == ["- Receive", "  - Weigh on scale 4", "- Store"]


def test_a_caption_is_one_with_its_number(tmp_path: Path) -> None:
    number = '<w:fldSimple w:instr=" SEQ Table "><w:r><w:t>2</w:t></w:r></w:fldSimple>'
    file = WordFile().add(paragraph(f"{run('Table ')}{number}{run(': Loads')}", '<w:pStyle w:val="Caption"/>'))
    assert [(item.kind, item.text) for item in read(file, tmp_path).blocks] == [("caption", "Table 2: Loads")]


def test_formulas_are_read_on_one_line(tmp_path: Path) -> None:
    def t(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    power = f"<m:sSup><m:e>{t('v')}</m:e><m:sup>{t('n+1')}</m:sup></m:sSup>"
    share = f"<m:f><m:num>{t('m')}{power}</m:num><m:den>{t('2')}</m:den></m:f>"
    root = f"<m:rad><m:e>{t('a+b')}</m:e></m:rad>"
    file = WordFile().add(
        paragraph(f"{run('Energy')}<m:oMath>{t('E=')}{share}{t('+')}{root}</m:oMath>{run('in joules')}")
    )
    assert said(read(file, tmp_path)) == ["Energy E=(mv^(n+1))/2+√(a+b) in joules"]


def test_numbers_that_no_program_writes_are_survived(tmp_path: Path) -> None:
    far = "9" * 5000
    file = WordFile().add_list(level(0, "0" * 5000, "%1." + "x" * 5000), level(999_999_999, "decimal", "%1"))
    wide = f'<w:tcPr><w:gridSpan w:val="{far}"/></w:tcPr><w:p/>'
    file.add(
        in_list("one"),
        paragraph("two", f'<w:outlineLvl w:val="{far}"/>'),
        in_list("three", 999_999_999),
        table([wide, "a"], ["b"]),
    )
    document = read(file, tmp_path)
    assert len(document.text) < 500
    assert all(word in document.text for word in ("one", "two", "three", "a", "b"))
