"""A conversation as a file says what its page says: what is from outside, was not checked, is no answer; and nothing is markup."""

import io
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from docx import Document
from pypdfium2 import PdfDocument

from agent.conversations.presentation.message import ShownMessage, ShownPage, ShownQuery, ShownSentence
from agent.conversations.transcripts.docx import render_docx
from agent.conversations.transcripts.markdown import render_transcript_markdown
from agent.conversations.transcripts.pdf import render_pdf
from agent.conversations.transcripts.transcript import build_transcript
from agent.events import StopReason
from business.results.shown_query import QueryShown, ResultMeaning, ResultTable

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
EVIL = "https://evil.example/><img src=x>"


def answer(*sentences: ShownSentence, **more: Any) -> ShownMessage:
    facts: Mapping[str, Any] = {"stop_reason": StopReason.OK, "provider": "a model", "is_complete": True, "content": ""}
    return ShownMessage(uuid4(), uuid4(), "assistant", NOW, sentences=sentences, **{**facts, **more})


def page(number: int, url: str = "https://law.example/leave") -> ShownPage:
    return ShownPage(number, f"web:{number}", url, "Leave *law*", "25 days", NOW)


def reply_content(form: str, message: ShownMessage) -> str:
    told = build_transcript("Leave", [message], lambda _citation: "", NOW)
    if form == "md":
        return render_transcript_markdown(told).decode()
    if form == "docx":
        return "\n".join(paragraph.text for paragraph in Document(io.BytesIO(render_docx(told))).paragraphs)
    return "\n".join(item.get_textpage().get_text_bounded() for item in PdfDocument(render_pdf(told)))


FORMS = ("md", "docx", "pdf")


@pytest.mark.parametrize("form", FORMS)
def test_what_is_from_outside_or_was_not_checked_says_so_and_names_its_page(form: str) -> None:
    outside = ShownSentence("The law demands 25 days.", (2,), is_outside=True)
    unchecked = ShownSentence("It is generous.", (), is_checked=False)
    said = re.sub(r"\s+", " ", reply_content(form, answer(outside, unchecked, pages=(page(2),))))
    assert re.search(r"25 days\. (\\)?\(from outside(\\)?\) ?\[\^?1\]", said), said
    assert re.search(r"generous\. (\\)?\(not checked against the source(\\)?\)", said), said
    assert "https://law.example/leave" in said


def test_passages_are_called_not_verified() -> None:
    for form in FORMS:
        found = answer(ShownSentence("Leave is applied for in May.", (1,)), kind="passages")
        assert "not verified" in re.sub(r"\s+", " ", reply_content(form, found))


def test_text_of_others_is_no_markdown() -> None:
    sentences = [
        ShownSentence(text, (), gap="\n")
        for text in ("1. one", "- two", "three\n===\n# four", "<b>five</b> ![](x)", "-5 degrees")
    ]
    said = reply_content("md", answer(*sentences, pages=(page(1, EVIL),)))
    assert "1\\. one" in said
    assert "\\- two" in said
    assert "three === \\# four" in said
    assert "\\<b\\>five\\</b\\> !\\[\\](x)" in said
    assert "<https://evil.example/%3E%3Cimg%20src=x%3E>" in said
    assert "Leave \\*law\\*" in said


def table_of(columns: int, cell: str) -> ShownMessage:
    names = tuple(f"c{number}" for number in range(columns))
    table = ResultTable(columns=names, rows=((cell,) * columns, (cell,) * columns))
    query = QueryShown(
        query_id="q",
        question="",
        statement="",
        sql="",
        sha256="",
        reach=(),
        meaning=ResultMeaning(headline="rows"),
        table=table,
    )
    return answer(ShownSentence("Rows.", (1,)), queries=(ShownQuery(1, "sql:1", "shop", "t", query),))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("columns", "cell"), [(200, "x" * 50), (3, "字" * 3_000)])
def test_a_table_is_written_however_high_or_wide_it_is(columns: int, cell: str, form: str) -> None:
    """A database holds what it holds; a file that could not be made was an error of the server."""
    assert "Rows." in reply_content(form, table_of(columns, cell)).replace("\\", "")
