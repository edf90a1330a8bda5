"""A style sheet is anybody's: one that asks the same of the same elements again and again is answered once.

Without that, each of these pages takes for ever.
"""

from lxml import html

from knowledge.parsers.html.reader import HtmlReader

DEPTH = 150
NESTED = f"{'<div>' * DEPTH}<p>Seen.</p>{'</div>' * DEPTH}"
MANY = " ".join(["div"] * 40)


def test_a_costly_sheet_is_read() -> None:
    for rule in (
        f"{MANY} span ~ p {{ color: #fff }}",
        f":is({MANY} span) p {{ color: #fff }}",
        f"p:not({MANY} p) {{ color: #fff }}",
        "& & & & {" * 9 + "color: #fff" + "}" * 9,
        "p:nth-child(n of div div div div p) { color: #fff }",
        "p { width: " + "calc(" * 5_000 + "}",
    ):
        page = html.document_fromstring(f"<style>{rule}</style>{NESTED}")
        assert [block.text for block in HtmlReader(page).blocks] == ["Seen."], rule


def test_a_selector_that_looks_far_fits_what_it_names() -> None:
    page = html.document_fromstring(f"<style>{MANY} p {{ color: #fff }}</style>{NESTED}<p>Here.</p>")
    assert [(block.text, block.hidden) for block in HtmlReader(page).blocks] == [("Seen.", "colour"), ("Here.", None)]
