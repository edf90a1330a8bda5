"""An HTML page keeps its structure: what its elements say is what its blocks say, and no text of it changes."""

from pathlib import Path

import pytest

from knowledge.parsers.base import ParseLimits
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.formats.html import HtmlParser
from knowledge.parsers.hidden import HiddenReason


def page(body: str, folder: Path) -> ParsedDocument:
    path = folder / "page"
    path.write_text(f"<!doctype html><meta charset=utf-8>{body}", encoding="utf-8")
    return HtmlParser().parse(path, ParseLimits())


def said(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in document.blocks]


def test_blocks_are_what_the_elements_say(tmp_path: Path) -> None:
    document = page(
        "<h1>Gate <em>hours</em></h1><div>North gate<br>Mon–Fri 6–20<p>Closed on\n  holidays.</p>Ring twice.</div>"
        "<blockquote><p>Wait.</p></blockquote><figure><img src=a.png><figcaption>The gate</figcaption></figure>"
        "<details><summary>More</summary>The barrier opens for 25 s.</details><dl><dt>Late fee<dd>35 €</dl>",
        tmp_path,
    )
    assert said(document) == [
        ("heading", "Gate hours"),
        ("paragraph", "North gate\nMon–Fri 6–20"),
        ("paragraph", "Closed on holidays."),
        ("paragraph", "Ring twice."),
        ("quotation", "Wait."),
        ("caption", "The gate"),
        ("paragraph", "More"),
        ("paragraph", "The barrier opens for 25 s."),
        ("paragraph", "Late fee"),
        ("paragraph", "35 €"),
    ]


@pytest.mark.parametrize(
    ("attributes", "numbers"),
    [
        ("", ["1.", "2.", "7.", "8."]),
        ("reversed", ["4.", "3.", "7.", "6."]),
        ("type=I start=3", ["III.", "IV.", "VII.", "VIII."]),
    ],
)
def test_items_keep_the_numbers_that_the_page_shows(attributes: str, numbers: list[str], tmp_path: Path) -> None:
    document = page(f"<ol {attributes}><li>Stop.<li>Ring.<li value=7>Wait.<li>Go.</ol>", tmp_path)
    assert [(item.kind, item.number) for item in document.blocks] == [("item", number) for number in numbers]
    assert document.text == "\n".join(
        f"{a} {b}" for a, b in zip(numbers, ["Stop.", "Ring.", "Wait.", "Go."], strict=True)
    )


def test_lists_in_lists_are_deeper_items_and_blocks_in_them_are_blocks(tmp_path: Path) -> None:
    body = (
        "<ul><li><p>One</p><p>and more</p><ol><li>Deep</ol>"
        "<li>Two<pre>\nx  = 1\n  y</pre>after<li><table><tr><td>a<td>b<tr><td>c<td>d</table></ul>"
    )
    document = page(body, tmp_path)
    assert [(item.kind, item.depth, item.text) for item in document.blocks] == [
        ("item", 0, "- One\n  and more"),
        ("item", 1, "  1. Deep"),
        ("item", 0, "- Two"),
        ("code", 0, "x  = 1\n  y"),
        ("paragraph", 0, "after"),
        ("table", 0, "| a | b |\n| c | d |"),
    ]


def test_code_is_verbatim_with_its_language(tmp_path: Path) -> None:
    document = page(
        '<pre><code class="hljs language-python">if a &lt; b:\n\n\treturn   1</code></pre><p>a   b</p>', tmp_path
    )
    code, paragraph = document.blocks
    assert (code.kind, code.language, code.text) == ("code", "python", "if a < b:\n\n\treturn   1")
    assert paragraph.text == "a b"


def test_links_keep_addresses_that_lead_somewhere(tmp_path: Path) -> None:
    body = (
        '<p>Book in the <a href="https://ramps.example/book?a=1&amp;b=2"> <b>ramp</b> calendar</a>'
        ', by <a href="mailto:r@k.example">mail</a>'
        ' or <a href="tel:+49123">phone</a>; see <a href="/terms">terms</a> and <a href="javascript:x()">this</a>.</p>'
    )
    (block,) = page(body, tmp_path).blocks
    assert block.text == "Book in the ramp calendar, by mail or phone; see terms and this."
    assert [(block.text[start:end], address) for start, end, address in block.links] == [
        ("ramp calendar", "https://ramps.example/book?a=1&b=2"),
        ("mail", "mailto:r@k.example"),
        ("phone", "tel:+49123"),
        ("terms", "/terms"),
    ]


@pytest.mark.parametrize("struck", ["<del>80 €</del>", "<span style='text-decoration: red line-through'>80 €</span>"])
def test_struck_text_is_kept_apart(struck: str, tmp_path: Path) -> None:
    document = page(f"<p>Price: {struck} <ins>95 €</ins></p><p>End.</p>", tmp_path)
    assert document.text == "Price: 95 €\n\nEnd."
    assert [(item.block.text, item.block.hidden, item.at) for item in document.apart] == [
        ("80 €", HiddenReason.STRUCK, 1)
    ]


def test_raised_and_lowered_text_is_not_read_as_other_numbers(tmp_path: Path) -> None:
    body = (
        "<p>10<sup>6</sup> m<sup>2</sup>, x<sub>max</sub>, 1<sup>st</sup>, a<sup>k/2</sup></p>"
        "<math><msup><mi>x</mi><mn>2</mn></msup></math>"
    )
    assert page(body, tmp_path).text == "10⁶ m², xₘₐₓ, 1st, a^(k/2)\n\nx²"


@pytest.mark.parametrize(
    "body",
    [
        '<p>A limit.<sup><a href="#fn1">1</a></sup></p><p>B.</p><ol><li id="fn1"><p>Not abroad. <a href="#r1">↩</a></p></ol>',
        '<aside role="doc-footnote" id="n">Not abroad.</aside><p>A limit.<a href="#n"><sup>1</sup></a></p><p>B.</p>',
    ],
)
def test_a_footnote_stands_once_behind_what_refers_to_it(body: str, tmp_path: Path) -> None:
    document = page(body, tmp_path)
    assert said(document) == [("paragraph", "A limit.¹"), ("footnote", "¹ Not abroad."), ("paragraph", "B.")]
    assert document.blocks[1].number == "¹"


def test_drawings_without_words_and_formulas_are_told_as_lost(tmp_path: Path) -> None:
    body = (
        "<figure><svg><path d=''/></svg><figcaption>Sales</figcaption></figure><svg><path d=''/></svg>"
        "<figure><svg><text>Q1 12</text></svg></figure>"
        "<p><math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> or <math alttext='a/b'><mfrac><mi>a</mi><mi>b</mi></mfrac></math></p>"
    )
    document = page(body, tmp_path)
    assert document.losses == {"charts": 1, "equations": 1}
    assert said(document) == [("caption", "Sales"), ("paragraph", "Q1 12"), ("paragraph", "or a/b")]


TABLES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "two header rows": (
        ("<caption>Fees 2026</caption><thead><tr><th rowspan=2>Truck<th colspan=2>Fee<tr><th>day<th>night</thead>"
        "<tr><td>7.5 t<td>12 €<td>18 €<tr><td>40 t<td>30 €<td>45 €"),
        [
            ("caption", "Fees 2026"),
            ("table", "| Truck | Fee › day | Fee › night |\n| --- | --- | --- |\n| 7.5 t | 12 € | 18 € |\n| 40 t | 30 € | 45 € |"),
        ],
    ),
    "names of rows": (
        "<tr><th>Colour<td>red<tr><th>Weight<td>4 kg<tr><th scope=row>Height<td>2 m",
        [("table", "| Colour | red |\n| Weight | 4 kg |\n| Height | 2 m |")],
    ),
    "names of rows and columns": (
        "<tr><td><th>Mon<th>Tue<tr><th>Early<td>Ada<td>Bo<tr><th>Late<td>Cy<td>Di",
        [("table", "|  | Mon | Tue |\n| --- | --- | --- |\n| Early | Ada | Bo |\n| Late | Cy | Di |")],
    ),
    "groups": (
        ("<thead><tr><th>Part<th>Price</thead><tbody><tr><th colspan=2 scope=rowgroup>Doors<tr><td>Hinge<td>4"
        "<tbody><tr><th colspan=2>Roofs<tr><td>Tile<td>2"),
        [("table", "|  | Part | Price |\n| --- | --- | --- |\n| Doors | Hinge | 4 |\n| Roofs | Tile | 2 |")],
    ),
    "a span that would leave its part": (
        "<thead><tr><th rowspan=9>A<th>B</thead><tbody><tr><td rowspan=0>x<td>1<tr><td>2</tbody>",
        [("table", "| A | B |\n| --- | --- |\n| x | 1 |\n| x | 2 |")],
    ),
    "a layout": (
        "<tr><td><h2>Left</h2>words<td><table><tr><th>A<th>B<tr><td>1<td>2</table>",
        [("heading", "Left"), ("paragraph", "words"), ("table", "| A | B |\n| --- | --- |\n| 1 | 2 |")],
    ),
    "words between the rows": (
        "<tr><td>a<td>b</tr>lost <b>words</b><tr><td>c<td>d</tr><form><tr><td>more</form>",
        [("paragraph", "lost words"), ("paragraph", "more"), ("table", "| a | b |\n| c | d |")],
    ),
    "a table in a cell": (
        "<tr><th>Ramp<th>Rates<tr><td>North<td><table><tr><th>Hour<th>Fee<tr><td>06–12<td>18 €</table><tr><td>South<td>22 €",
        [
            ("table", "| Ramp | Rates |\n| --- | --- |\n| North |  |\n| South | 22 € |"),
            ("caption", "North"),
            ("table", "| Hour | Fee |\n| --- | --- |\n| 06–12 | 18 € |"),
        ],
    ),
}  # fmt: skip


def test_tables_have_the_names_that_are_marked(tmp_path: Path) -> None:
    for kind, (source, expected) in TABLES.items():
        assert said(page(f"<table>{source}</table>", tmp_path)) == expected, kind


def test_cells_keep_links_and_raised_text_and_what_is_hidden_stands_behind_the_table(tmp_path: Path) -> None:
    body = (
        "<table><tr><th>a<th>b<tr><td>10<sup>6</sup><td><a href='https://x.example/'>here</a>"
        "<tr style='display:none'><td>no<td>never</table>"
    )
    document = page(body, tmp_path)
    (table,) = document.blocks
    assert table.text == "| a | b |\n| --- | --- |\n| 10⁶ | here |"
    assert [table.text[start:end] for start, end, _ in table.links] == ["here"]
    assert [(item.block.text, item.at) for item in document.apart] == [("no\nnever", 1)]


def test_every_visible_word_of_a_page_is_read(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(24)]
    tags = ["address", "article", "center", "dd", "fieldset", "footer", "form", "header", "label", "legend", "main", "q", "cite", "kbd",
            "time", "mark", "unknown-tag", "ruby", "bdo", "output", "section", "hgroup", "small", "var"]  # fmt: skip
    body = "".join(f"<{tag}>{word}</{tag}>" for tag, word in zip(tags, words, strict=True))
    assert [word for word in words if word not in page(body, tmp_path).text] == []
