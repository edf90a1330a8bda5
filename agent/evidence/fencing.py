"""Text for the model: document text is escaped and fenced; long text keeps its head and its tail."""

import html
import re
from collections.abc import Iterable

from agent.run_state.state import EvidenceItem

MAX_CHARACTERS = 12_000  # of one tool's output: about 4,000 tokens of English, 8,000 of Chinese
PASSAGE_CHARACTERS = 2_000  # of one passage in it
_FORGED = re.compile(r"&lt;(?=\s*/?\s*evidence\b)", re.IGNORECASE)
_FENCE = re.compile(r'<evidence [^<>]*? title="([^"<>]*)">|</evidence>')


def escape_document_text(text: str) -> str:
    """Escape document text, so that it can neither close its fence nor open another."""
    return html.escape(text, quote=False)


def truncate_middle(text: str, most: int = MAX_CHARACTERS) -> str:
    """Return the text, or its head and tail around a line that says how much is left out."""
    if len(text) <= most:
        return text
    note = f"\n… [{len(text) - most} characters left out here: ask for less at a time] …\n"
    head = (most - len(note)) * 2 // 3
    tail = most - len(note) - head
    return f"{text[:head]}{note}{text[-tail:]}"


def fence_facts(kind: str, lines: Iterable[str]) -> str:
    """Fence facts about documents besides their passages: names, titles, columns. One line each; they cannot be cited."""
    text = "\n".join(escape_document_text(line) for line in lines)
    return f'<evidence about="{kind}" title="">\n{text}\n</evidence>'


def remove_fences(output: str) -> str:
    """Return an output without the fences: their titles, the evidence, and the text around it."""
    return html.unescape(_FENCE.sub(r"\1", output))


def unescape_fenced_text(output: str) -> str:
    """Unescape the text in the fences of an output; only text that imitates a fence stays escaped."""
    return html.unescape(_FORGED.sub("&amp;lt;", output))


def fence_evidence(
    item: EvidenceItem, *, number: int | None = None, is_unapproved: bool = False, verified: str = ""
) -> str:
    """Fence a piece of evidence as data: the fence says what it is and where it is from.

    number: for citing; ids are for tool calls. verified: by whom and when, "" for unverified evidence.
    """
    marks = [f'id="{item.evidence_id}"' if number is None else f'number="{number}"']
    if item.source.doc_id and number is None:
        marks.append(f'knowledge_id="{item.source.doc_id}"')
    if item.source.chunk_id and number is None:
        marks.append(f'chunk_id="{item.source.chunk_id}"')
    if item.source.page:
        marks.append(f'page="{item.source.page}"')
    if is_unapproved:
        marks.append('approved="no"')
    if verified:
        marks.append(f'verified="{html.escape(verified)}"')
    if item.type == "web_page":
        read_at = item.source.read_at.isoformat(timespec="minutes") if item.source.read_at else ""
        marks.append(f'from="outside" url="{html.escape(item.source.uri or "")}" read_at="{read_at}"')
    title = html.escape(item.source.title)
    text = escape_document_text(truncate_middle(item.text, PASSAGE_CHARACTERS))
    return f'<evidence {" ".join(marks)} title="{title}">\n{text}\n</evidence>'
