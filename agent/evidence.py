"""What a passage is called when an answer stands on it."""

import hashlib

from agent.events import KnowledgeReference
from agent.state import EvidenceItem, Source
from knowledge.retrieval.search import Hit
from knowledge.selectors import ShownPassage


def text_hash(text: str) -> str:
    """SHA-256 of a passage, hexadecimal: shows later whether the text is still the one that was cited."""
    return hashlib.sha256(text.encode()).hexdigest()


def evidence_id(passage: ShownPassage) -> str:
    """Made from where the passage stands and what it says, so that it can be made again: `doc:<id>:chunk_0007:1a2b3c4d`."""
    return f"doc:{passage.document_id}:chunk_{passage.position:04d}:{text_hash(passage.text)[:8]}"


def evidence_of(hit: Hit) -> EvidenceItem:
    passage = hit.passage
    return EvidenceItem(
        evidence_id=evidence_id(passage),
        text=passage.text,
        score=hit.scores.final,
        source=Source(
            doc_id=str(passage.document_id),
            title=passage.title,
            page=passage.page,
            chunk_id=str(passage.chunk_id),
            uri=f"kb://{passage.knowledge_base_id}/{passage.document_id}",
        ),
        hash=text_hash(passage.text),
    )


def reference(number: int, hit: Hit, *, start: int, end: int) -> KnowledgeReference:
    """A source as clients see it; the snippet is the cited span."""
    passage = hit.passage
    return KnowledgeReference(
        number=number,
        evidence_id=evidence_id(passage),
        knowledge_base_id=passage.knowledge_base_id,
        knowledge_id=passage.document_id,
        chunk_id=passage.chunk_id,
        title=passage.title,
        heading_path=list(passage.heading_path),
        page=passage.page,
        snippet=passage.text[start:end],
        score=hit.scores.final,
    )
