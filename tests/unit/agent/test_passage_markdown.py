"""A model is given a passage as Markdown, and its sentences are checked against the same words."""

from datetime import date

import pytest

from agent.attribution.check import Evidence, check_sentence
from agent.attribution.verdict import Verdict
from agent.evidence.items import format_passage_markdown
from knowledge.text.passage_blocks import PassageBlock, parse_blocks, serialise_blocks
from knowledge.text.pipe_table import format_table


def passage(*parts: tuple[str, PassageBlock]) -> tuple[str, tuple[PassageBlock, ...]]:
    """Blocks one after the other, each told by its text and by what it is; their places are filled in."""
    text, blocks = "", []
    for said, block in parts:
        start = len(text) + 2 if text else 0
        text += f"\n\n{said}" if text else said
        links = tuple((start + a, start + b, to) for a, b, to in block.links)
        fields = {name: getattr(block, name) for name in ("level", "is_headed", "language")}
        blocks.append(PassageBlock(block.kind, start, start + len(said), links=links, **fields))
    return text, tuple(blocks)


def kind(name: str, **fields: object) -> PassageBlock:
    return PassageBlock(name, 0, 0, **fields)  # type: ignore[arg-type]


def test_structure_is_written_as_markdown() -> None:
    said = passage(
        ("Reception", kind("heading", level=2)),
        ("# is no mark here", kind("paragraph")),
        ("Suppliers register at the portal.", kind("paragraph", links=((26, 32, "https://portal.example"),))),
        (format_table([["ok", "released"]], is_headed=False), kind("table")),
        ("echo 1", kind("code", language="sh")),
    )
    assert format_passage_markdown(*said) == (
        "## Reception\n\n\\# is no mark here\n\nSuppliers register at the [portal](https://portal.example).\n\n"
        "|  |  |\n| --- | --- |\n| ok | released |\n\n```sh\necho 1\n```"
    )


def test_blocks_are_the_same_after_they_were_stored() -> None:
    _text, blocks = passage(("a", kind("heading", level=1)), ("b c", kind("paragraph", links=((2, 3, "mailto:c@d"),))))
    assert parse_blocks(serialise_blocks(blocks)) == blocks


SHORT = [("Emergency line: 0571 555 0142", kind("paragraph")), ("The gate opens at six.", kind("paragraph"))]


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("The emergency line is 0571 555 0142.", Verdict.SUPPORTED),
        ("The emergency line is 0571 555 0199.", Verdict.CONTRADICTED),
    ],
)
def test_a_short_line_is_checked_as_any_other(sentence: str, verdict: Verdict) -> None:
    found = check_sentence(
        sentence,
        Evidence(format_passage_markdown(*passage(*SHORT))),
        question="What is the emergency line?",
        today=date(2026, 11, 28),
    )
    assert found.verdict is verdict
