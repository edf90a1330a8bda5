"""What a file says reaches the reader unchanged, with its structure: files that failed in other systems."""

from collections.abc import Iterator

import pytest

from agent.text.sentences import split_sentences
from knowledge.ingestion.chunking import ChunkDraft, chunk_document
from knowledge.parsers.blocks import ParsedDocument
from knowledge.parsers.sandbox import parse_in_child, servers
from tests.evaluation_data import data_folder

pytestmark = pytest.mark.data


@pytest.fixture(scope="module", autouse=True)
def ended_servers() -> Iterator[None]:
    yield
    servers.stop()


def read(name: str) -> ParsedDocument:
    return parse_in_child(data_folder("cases") / "documents" / name, filename=name)


def passages(parsed: ParsedDocument) -> list[ChunkDraft]:
    def count(texts: list[str]) -> list[int]:
        return [len(text) // 3 + 1 for text in texts]

    return chunk_document(parsed, count_tokens=count, target_tokens=240, max_tokens=320)


def said(parsed: ParsedDocument) -> list[str]:
    """Every sentence that may be quoted; headings answer nothing."""
    return [
        entry.text
        for chunk in passages(parsed)
        for entry in split_sentences(chunk.text, chunk.blocks)
        if entry.kind != "heading"
    ]


SAYS = {
    "reception.md": ["Emergency line: 0571 555 0142", "The parcel desk is in room R-104"],
    "fleet-rules.docx": ["Mileage rate: 0.30 euros per kilometre"],
    "curing.md": [
        "The resin is cured for 1½ hours at 80 ℃; its resistivity is then 10¹² ohm·m.",
        "The film is 10⁻³ m thick and withstands 2×10⁶ bends.",
        "Mix ¾ litre of hardener with 4½ litres of resin.",
    ],
    "relay-life.docx": [
        "The relay RL-8 is rated for 5 × 10⁶ switching cycles at a contact resistance below 10⁻³ ohm.",
        "It must be mounted within 2½ hours after the seal is opened, on an area of at least 12 cm².",
    ],
    "onboarding.md": [
        "Suppliers register in the supplier portal and send the signed form to einkauf@kontor.example.",
        "A first order may not exceed 12,000 euros.¹",
    ],
    "mixed.html": ["Truck: 40 t; Fee › day: 30 €; Fee › night: 45 €", "7. Wait.", "Price: 95 €", "x₁ and 5² and 1st"],
    "rates.html": ["4. Report at the gate.", "5. Show the ramp code.", "Area 40 m², load 5ₘₐₓ t"],
    "bridges.docx": [
        "Warning: never stand below an open bridge.",
        "Ramp: LB-1; Load in tonnes › static: 9; Load in tonnes › dynamic: 6; Inspector: Ort",
    ],
    "yard.pptx": ["Delay: 1 h; Fine › truck: 50 €; Fine › ship: 400 €"],
    "crane-checks.xlsx": ["not ok: crane is locked"],
    "stock-zero.xlsx": ["Article: Gasket GX-7; On hand: 0; Reserved: 0; Active: FALSE"],
    "branches.csv": [
        "Branch: Cottbus; Postcode: 03046; Phone: 0355 555040; Key code: 4E2; Manager since: 05/06/2022; Rent: -; Share: 5%"
    ],
    "preise-sep.csv": [
        "Artikel: Klemme KL-14-B; Preis EUR: 1.204,90; Lieferzeit Tage: 10; Bemerkung: zwei Zeilen | mit Strich"
    ],
}


@pytest.mark.parametrize("name", SAYS)
def test_a_sentence_is_what_the_file_says(name: str) -> None:
    sentences = said(read(name))
    assert [item for item in SAYS[name] if item not in sentences] == [], sentences


def test_a_wide_table_never_says_one_row_under_another() -> None:
    rows = [item for item in said(read("员工台账.xlsx")) if "G209" in item]
    assert rows
    assert all(row.startswith("工号: G209") for row in rows)


def test_cells_are_displayed_by_their_number_format() -> None:
    text = read("partner-terms.xlsx").text
    assert all(item in text for item in ("7.5%", "€1,234.50", "00042", "6222021234567890"))
    assert "6.22202" not in text


def test_links_keep_where_they_lead() -> None:
    for name, addresses in {
        "onboarding.md": {"mailto:einkauf@kontor.example", "../forms/supplier-form.docx"},
        "rates.html": {"https://ramps.kontor.example/book?site=7", "mailto:ramp@kontor.example"},
    }.items():
        links = {to for chunk in passages(read(name)) for block in chunk.blocks for _a, _b, to in block.links}
        assert addresses <= links


def test_footnotes_and_running_headers_are_read_once() -> None:
    handbook = read("travel-handbook.docx")
    kinds = [(block.kind, block.text) for block in handbook.blocks]
    assert any(kind == "footnote" and "210 euros" in text for kind, text in kinds)
    assert sum(kind == "running" and "TH-2026-014" in text for kind, text in kinds) == 1
    assert any(
        kind == "footnote" and "5,000 euros" in text
        for kind, text in ((b.kind, b.text) for b in read("onboarding.md").blocks)
    )


def test_front_matter_is_told_as_fields() -> None:
    fields = read("onboarding.md").fields
    assert (fields["owner"], fields["valid_until"], fields["document_no"]) == (
        "Purchasing Desk",
        "2027-03-31",
        "ON-2026-77",
    )
    cold = read("toml-front.md")
    assert cold.title == "Cold room rules"
    assert "+++" not in cold.text


def test_what_is_struck_out_is_kept_apart() -> None:
    for name, struck in (("onboarding.md", "8,000"), ("mixed.html", "80 €"), ("bridges.docx", "30")):
        parsed = read(name)
        assert any(struck in item.block.text for item in parsed.apart), name
    assert "the limit is 45 tonnes" in " ".join(read("bridges.docx").text.split())


def test_a_chart_is_a_table_of_its_data() -> None:
    charts = [block for block in read("yard.pptx").blocks if block.kind == "chart"]
    assert charts
    assert any("1345" in block.text or "1,345" in block.text for block in charts)


def test_what_is_not_read_is_counted() -> None:
    assert read("forklift-budget.xlsx").losses["formulas"] == 9


def test_headings_by_a_style_of_ones_own_are_headings() -> None:
    headings = [block.text for block in read("bridges.docx").blocks if block.kind == "heading"]
    assert headings[:2] == ["Ladebrücken", "Prüfung der Hydraulik"]
