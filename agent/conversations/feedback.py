"""Feedback of people on answers they got."""

from uuid import UUID

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from agent.conversations.sessions import get_answer, get_session
from agent.events import StopReason
from agent.models import AnswerFault, Message, Rating
from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.models import WebhookEvent
from knowledge.webhooks.announcing import announce

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
        announce(WebhookEvent.ANSWER_RATED_DOWN, reverse("replay", args=[answer.pk]), **ids, fault=fault)
    record(
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


def note_opened(principal: Principal, *, session_id: UUID, message_id: UUID) -> None:
    """Store that the person opened a source of their answer below the first. Raises NotFound."""
    answer = get_answer(get_session(principal, session_id), message_id)
    Message.objects.filter(pk=answer.pk).update(opened_lower=True)
