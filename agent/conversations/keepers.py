"""Questions and ratings that people share with the keepers of documents: anonymous, and without the answer."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from agent.models import AnswerFault, Citation, Message, Rating
from audit.actions import Action
from audit.record import record
from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Document


@dataclass(frozen=True)
class KeptQuestion:
    """documents: the keeper's documents that the answer cited. rating, fault: in words; fault, comment: "" for none."""

    question: str
    rating: str
    fault: str
    comment: str
    asked_at: datetime
    documents: Sequence[Document]


def kept_documents(principal: Principal) -> QuerySet[Document]:
    """Return the documents that this person manages and may read."""
    managed = Document.objects.reachable_by(principal, Right.MANAGE)
    return Document.objects.visible_to(principal).filter(pk__in=managed.values("pk"))


def rated_answers(principal: Principal) -> QuerySet[Message]:
    """Return the latest rated answers citing a document of this keeper, whose questions are shared with keepers."""
    theirs = Citation.objects.filter(
        message=OuterRef("pk"),
        document_id__in=kept_documents(principal).values("pk"),
        message__is_shown_to_keepers=True,
    )
    rows = Message.objects.filter(Exists(theirs), is_shown_to_keepers=True).exclude(rating="")
    return rows.select_related("parent").defer("content", "sentences", "state").order_by("-created_at", "-id")


@transaction.atomic
def read_questions(principal: Principal, answers: Sequence[Message]) -> list[KeptQuestion]:
    """Return the shared questions of rows of `rated_answers`; audited as read."""
    cited: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for citation in Citation.objects.filter(message__in=answers).order_by("number"):
        cited[citation.message_id].append(citation.document_id)
    documents = kept_documents(principal).in_bulk({identifier for ids in cited.values() for identifier in ids})
    if answers:
        detail = {"answers": [str(answer.pk) for answer in answers], "as": "keeper"}
        record(principal, Action.RATINGS_READ, detail=detail)
    return [
        KeptQuestion(
            question=answer.parent.content if answer.parent else "",
            rating=str(Rating(answer.rating).label),
            fault=str(AnswerFault(answer.fault).label) if answer.fault else "",
            comment=answer.comment,
            asked_at=answer.created_at,
            documents=[documents[pk] for pk in dict.fromkeys(cited[answer.pk]) if pk in documents],
        )
        for answer in answers
    ]
