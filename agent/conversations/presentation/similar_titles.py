"""Suggest documents where nothing was found: those with titles similar to the question."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from agent.text.words import find_content_terms
from authz.principal import Principal
from knowledge.documents.places import DocumentLocation, find_document_places
from knowledge.models import Document
from knowledge.text.terms import extract_terms

MAX = 3
LOOKED_AT = 50  # documents with one of the words in their title, the latest first
MIN = 0.3  # share of the question's words that a title must have; chosen by hand


@dataclass(frozen=True)
class CloseTitle:
    document_id: UUID
    title: str
    place: DocumentLocation | None


def find_similar_titles(principal: Principal, question: str) -> tuple[CloseTitle, ...]:
    """Return the readable documents with titles most similar to a question, best first; none below a minimum."""
    asked = find_content_terms(question)
    words = (
        {word for word in question.split() if asked & set(extract_terms(word))} if " " in question.strip() else asked
    )
    if not words:
        return ()
    named = Q()
    for word in words:
        named |= Q(title__icontains=word.strip("?？.,。，"))
    rows = Document.objects.visible_to(principal).filter(named).order_by("-updated_at").values_list("pk", "title")
    scored = [(len(asked & set(extract_terms(title))) / len(asked), title, pk) for pk, title in rows[:LOOKED_AT]]
    best = sorted((item for item in scored if item[0] >= MIN), key=lambda item: (-item[0], item[1]))[:MAX]
    places = find_document_places(principal, [pk for _share, _title, pk in best])
    return tuple(CloseTitle(pk, title, places.get(pk)) for _share, title, pk in best)
