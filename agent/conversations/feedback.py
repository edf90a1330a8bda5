"""Feedback of people on answers they got, and what they share of it with the keepers of documents: without their name."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from agent.conversations.sessions import get_answer, get_session
from agent.events import StopReason
from agent.models import AnswerFault, Citation, Message, Rating
from audit.actions import Action
from audit.record import record_action
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.models import Document, WebhookEvent
from knowledge.webhooks.announcing import announce_event

COMMENT_LENGTH = 1_000  # characters


@transaction.atomic
def rate_answer(
    principal: Principal,
    *,
    session_id: UUID,
    message_id: UUID,
    rating: str,
    fault: str = "",
    comment: str = "",
    is_shown_to_keepers: bool = False,
) -> None:
    """Rate one's own answer, replacing an earlier rating; rating "" removes it.

    fault: the problem with an answer that did not help. is_shown_to_keepers: whether those who manage a cited document
    may see the question and this feedback; without an answer, whether the question is listed as one. Raises NotFound
    (not their conversation, no finished answer) and InvalidInput.
    """
    answer = get_answer(get_session(principal, session_id), message_id)
    if rating not in {"", *Rating.values}:
        raise InvalidInput(_("A rating is “helpful” or “not_helpful”. Leave it empty to take yours back."))
    if fault not in {"", *AnswerFault.values}:
        raise InvalidInput(_("What is wrong must be one of: %(known)s.") % {"known": ", ".join(AnswerFault.values)})
    if fault and rating != Rating.NOT_HELPFUL:
        raise InvalidInput(_("Rate the answer as not helpful first."))
    if len(comment) > COMMENT_LENGTH:
        raise InvalidInput(_("A comment has at most %(most)s characters.") % {"most": COMMENT_LENGTH})
    if comment and not rating:
        raise InvalidInput(_("Rate the answer first: a comment needs a rating."))
    if is_shown_to_keepers and not rating and answer.stop_reason == StopReason.OK:
        raise InvalidInput(_("Rate the answer first: your question is shown with a rating."))
    answer.rating, answer.fault, answer.comment = rating, fault, comment.strip()
    answer.is_shown_to_keepers = is_shown_to_keepers
    answer.save(update_fields=["rating", "fault", "comment", "is_shown_to_keepers"])
    if rating == Rating.NOT_HELPFUL:
        ids = {"session_id": str(answer.session_id), "message_id": str(answer.pk)}
        announce_event(WebhookEvent.ANSWER_RATED_DOWN, reverse("replay", args=[answer.pk]), **ids, fault=fault)
    record_action(
        principal,
        Action.ANSWER_RATED,
        answer.session,
        run_id=str(answer.pk),
        detail={
            "rating": rating,
            "fault": fault,
            "comment_characters": len(answer.comment),
            "is_shown_to_keepers": is_shown_to_keepers,
        },
    )


def record_source_opened(principal: Principal, *, session_id: UUID, message_id: UUID) -> None:
    """Store that the person opened a source of their answer below the first. Raises NotFound."""
    answer = get_answer(get_session(principal, session_id), message_id)
    Message.objects.filter(pk=answer.pk).update(opened_lower=True)


@dataclass(frozen=True)
class KeptQuestion:
    """documents: the keeper's documents that the answer cited. rating, fault: in words; fault, comment: "" for none."""

    question: str
    rating: str
    fault: str
    comment: str
    asked_at: datetime
    documents: Sequence[Document]


def managed_documents_of(principal: Principal) -> QuerySet[Document]:
    """Return the documents that this person manages and may read."""
    managed = Document.objects.reachable_by(principal, Right.MANAGE)
    return Document.objects.visible_to(principal).filter(pk__in=managed.values("pk"))


def list_shared_ratings(principal: Principal) -> QuerySet[Message]:
    """Return the latest rated answers citing a document of this keeper, whose questions are shared with keepers."""
    theirs = Citation.objects.filter(
        message=OuterRef("pk"),
        document_id__in=managed_documents_of(principal).values("pk"),
        message__is_shown_to_keepers=True,
    )
    rows = Message.objects.filter(Exists(theirs), is_shown_to_keepers=True).exclude(rating="")
    return rows.select_related("parent").defer("content", "sentences", "state").order_by("-created_at", "-id")


@transaction.atomic
def read_shared_questions(principal: Principal, answers: Sequence[Message]) -> list[KeptQuestion]:
    """Return the shared questions of rows of `list_shared_ratings`; audited as read."""
    cited: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for citation in Citation.objects.filter(message__in=answers).order_by("number"):
        cited[citation.message_id].append(citation.document_id)
    documents = managed_documents_of(principal).in_bulk({identifier for ids in cited.values() for identifier in ids})
    if answers:
        detail = {"answers": [str(answer.pk) for answer in answers], "as": "keeper"}
        record_action(principal, Action.RATINGS_READ, detail=detail)
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
