"""Evidence ids, and evidence and citations made from search results."""

import hashlib
import re
from collections.abc import Sequence

from agent.events import KnowledgeReference, QueryReference, VerifiedReference
from agent.run_state.cited_answer import CitedPage, CitedQuery, CitedSpan, CitedVerified
from agent.run_state.outside import WebPassage
from agent.run_state.run import Finding
from agent.run_state.state import EvidenceItem, EvidenceSource
from agent.run_state.verified_match import VerifiedMatch
from agent.text.overlap import find_nearest_sentence
from knowledge.retrieval.search import Hit
from knowledge.selectors import ShownPassage
from knowledge.text.passage_blocks import PassageBlock
from knowledge.text.pipe_table import format_row, format_rule, parse_cells

RESULT_CHARACTERS = 1_200  # of a query result shown verbatim
SNIPPET = 600  # characters of a result that a client is shown


def hash_text(text: str) -> str:
    """Return the hexadecimal SHA-256 of a passage, to detect later whether the cited text has changed."""
    return hashlib.sha256(text.encode()).hexdigest()


def make_evidence_id(passage: ShownPassage) -> str:
    """Return an id made from a passage's place and text, hence reproducible: `doc:<id>:chunk_0007:1a2b3c4d`."""
    return f"doc:{passage.document_id}:chunk_{passage.position:04d}:{hash_text(passage.text)[:8]}"


def make_passage_evidence(passage: ShownPassage, score: float | None = None) -> EvidenceItem:
    """Return a passage as evidence. score: of the search that found it; None where it was read by position."""
    return EvidenceItem(
        evidence_id=make_evidence_id(passage),
        text=format_passage_markdown(passage.text, passage.blocks),
        score=score,
        source=EvidenceSource(
            doc_id=str(passage.document_id),
            title=passage.title,
            page=passage.page,
            chunk_id=str(passage.chunk_id),
            uri=f"kb://{passage.knowledge_base_id}/{passage.document_id}",
        ),
        hash=hash_text(passage.text),
    )


def make_passage_finding(passage: ShownPassage, score: float | None = None) -> Finding:
    return Finding(make_passage_evidence(passage, score), passage)


def make_hit_finding(hit: Hit) -> Finding:
    return Finding(make_passage_evidence(hit.passage, hit.scores.final), hit.passage, hit.scores)


def make_web_finding(passage: WebPassage, score: float | None = None) -> Finding:
    """Return a web passage as a finding. score: of the search, higher is better; None where it was fetched by address."""
    item = EvidenceItem(
        evidence_id=passage.evidence_id,
        type="web_page",
        text=passage.text,
        score=score,
        source=EvidenceSource(title=passage.title, uri=passage.url, read_at=passage.read_at),
        by="web",
        hash=passage.hash,
    )
    return Finding(item, outside=passage)


def make_verified_finding(match: VerifiedMatch) -> Finding:
    """Return a verified answer as evidence: its question is its title, and its text is data like a document's."""
    hashed = hash_text(match.text)
    item = EvidenceItem(
        evidence_id=f"verified:{match.answer_id}:{hashed[:8]}",
        type="verified",
        text=match.text,
        score=1.0,
        source=EvidenceSource(title=match.question, uri=f"verified://{match.answer_id}"),
        by="keeper",
        hash=hashed,
    )
    return Finding(item, verified=match)


def format_verified_mark(finding: Finding) -> str:
    """Return who verified an answer and when, for the fence; "" for other evidence."""
    match = finding.verified
    return ", ".join(filter(None, (match.by, match.on.isoformat()))) if match else ""


def cite_verified_answer(number: int, finding: Finding) -> CitedVerified:
    match = finding.verified
    assert match is not None
    return CitedVerified(number, finding.item.evidence_id, match.answer_id, match.by, match.on, finding.item.hash)


def make_verified_reference(number: int, finding: Finding) -> VerifiedReference:
    match = finding.verified
    assert match is not None
    return VerifiedReference(
        number=number,
        evidence_id=finding.item.evidence_id,
        verified_answer_id=match.answer_id,
        question=match.question,
        by=match.by,
        verified_on=match.on,
        snippet=match.text[:SNIPPET],
    )


def make_passage_reference(
    number: int, passage: ShownPassage, score: float, *, start: int, end: int
) -> KnowledgeReference:
    """Return a source for clients; the snippet is the cited span."""
    return KnowledgeReference(
        number=number,
        evidence_id=make_evidence_id(passage),
        knowledge_base_id=passage.knowledge_base_id,
        knowledge_id=passage.document_id,
        chunk_id=passage.chunk_id,
        title=passage.title,
        heading_path=list(passage.heading_path),
        page=passage.page_at(start),
        snippet=passage.text[start:end],
        score=score,
    )


def cite_query(number: int, finding: Finding) -> CitedQuery:
    item = finding.item
    db, title = item.source.db or "", item.source.title or ""
    return CitedQuery(number, item.evidence_id, db, title, hash_text(item.text), finding.query)


def make_query_reference(number: int, finding: Finding) -> QueryReference:
    item = finding.item
    return QueryReference(
        number=number,
        evidence_id=item.evidence_id,
        source=item.source.db or "",
        title=item.source.title,
        snippet=item.text[:SNIPPET],
        result=finding.query,
    )


def cite_web_page(number: int, passage: WebPassage, sentence: str) -> CitedPage:
    """Return the citation of a web page. sentence: the words of the page closest to it are kept."""
    start, end = find_nearest_sentence(sentence, passage.text)
    return CitedPage(
        number=number,
        evidence_id=passage.evidence_id,
        url=passage.url,
        title=passage.title,
        snippet=passage.text[start:end][:SNIPPET],
        read_at=passage.read_at,
        text_hash=passage.hash,
    )


def cite_passage(number: int, passage: ShownPassage, score: float, *, start: int = 0, end: int = 0) -> CitedSpan:
    """Return the citation of a passage. end: 0 for the whole passage."""
    return CitedSpan(
        number=number,
        evidence_id=make_evidence_id(passage),
        knowledge_base_id=passage.knowledge_base_id,
        document_id=passage.document_id,
        version_id=passage.version_id,
        chunk_id=passage.chunk_id,
        start=start,
        end=end or len(passage.text),
        score=score,
        text_hash=hash_text(passage.text),
    )


def format_result_text(finding: Finding) -> str:
    """Return the headline of a query's result with its quiet line where its table is shown separately, else the text."""
    return finding.query.meaning.text if finding.query else finding.item.text[:RESULT_CHARACTERS]


_LIKE_A_MARK = re.compile(r"^(?=\s{0,3}(?:#{1,6}\s|```|~~~))", re.MULTILINE)


def format_passage_markdown(text: str, blocks: Sequence[PassageBlock]) -> str:
    """Write headings, items, tables, code and links with the marks of Markdown; a passage without blocks stays as it is."""
    if not blocks:
        return text
    parts: list[str] = []
    end = 0
    for block in blocks:
        parts += [text[end : block.start], _format_block(text, block)]
        end = block.end
    return "".join([*parts, text[end:]])


def _format_block(text: str, block: PassageBlock) -> str:
    words = text[block.start : block.end]
    match block.kind:
        case "heading":
            return f"{'#' * (block.level or 1)} {_insert_links(words, block)}"
        case "code":
            fence = "~~~~" if "```" in words else "```"
            return f"{fence}{block.language}\n{words}\n{fence}"
        case "table" | "chart" if not block.is_headed:
            width = len(parse_cells(words.split("\n", 1)[0]))
            return f"{format_row([''] * width)}\n{format_rule(width)}\n{_insert_links(words, block)}"
        case "table" | "chart" | "item":
            return _insert_links(words, block)
        case _:
            return _LIKE_A_MARK.sub(r"\\", _insert_links(words, block))


def _insert_links(text: str, block: PassageBlock) -> str:
    for start, end, address in reversed(block.links):
        first, last = start - block.start, end - block.start
        text = f"{text[:first]}[{text[first:last]}]({address}){text[last:]}"
    return text
