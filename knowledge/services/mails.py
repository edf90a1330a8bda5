"""Mails about reviews of documents and requests for access. They name no document and no folder: a mailbox has no rights."""

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, get_connection
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from audit.actions import Action
from audit.record import record_action
from authz.models import AccessRequest, RequestState
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.holders import find_people_with_right
from knowledge.models import Document
from knowledge.selectors import list_due_reviews

logger = logging.getLogger(__name__)

AHEAD = timedelta(days=7)  # the next mail comes in a week
LANGUAGES = ("zh-hans", "en")  # both: a recipient's language is unknown


def send_review_reminders() -> int:
    """Send one mail to each owner of documents whose day of review has passed or comes within a week; return how many were sent.

    Documents an owner may no longer see, and owners without an address, are skipped.
    """
    if not settings.MAIL_IS_SET_UP:
        return 0
    due, sent = _count_due_documents(), 0
    for person in _send_mails((person, _compose_reminder(person, count)) for person, count in due.items()):
        record_action(None, Action.REVIEW_REMINDED, person, detail={"documents": due[person]})
        sent += 1
    return sent


def send_request_mails(request_id: int) -> int:
    """Tell those who decide of a waiting request, or the person who asked of the decision; return how many mails were sent."""
    asked = AccessRequest.objects.select_related("folder").filter(pk=request_id).first()
    if asked is None or not settings.MAIL_IS_SET_UP:
        return 0
    is_open = asked.state == RequestState.OPEN
    people = _find_deciders(asked) if is_open else User.objects.filter(pk=asked.user_id, is_active=True)
    return len(
        list(
            _send_mails((person, _compose_request_mail(is_open)) for person in people.exclude(email="").order_by("pk"))
        )
    )


def _send_mails(mails: Iterable[tuple[User, tuple[str, str]]]) -> Iterator[User]:
    """Send mails, as subject and text, and yield who got one. A refused mail stops no other."""
    with get_connection() as connection:
        for person, text in mails:
            try:
                EmailMessage(*text, to=[person.email], connection=connection).send()
            except OSError as error:  # smtplib's errors are subclasses
                logger.warning("mail not sent", extra={"user_id": person.pk, "why": str(error)})
            else:
                yield person


def _format_in_both_languages(said: Callable[[], tuple[str, str]], address: str) -> tuple[str, str]:
    """Return subject and text in both languages, the address of a page last. said: both in the language that is active."""
    subjects, texts = [], []
    for language in LANGUAGES:
        with override(language):
            subject, text = said()
        subjects.append(subject)
        texts.append(text)
    return " · ".join(subjects), "\n\n".join([*texts, f"{settings.SITE_URL}{address}"])


def _count_due_documents() -> dict[User, int]:
    """Return the owners to remind, each with how many of their documents are due."""
    until = timezone.localdate() + AHEAD
    waiting = Document.unscoped.filter(trashed_at=None, review_on__lte=until)
    owners = set(waiting.exclude(owner=None).values_list("owner_id", flat=True))
    owners |= set(waiting.filter(owner=None).exclude(created_by=None).values_list("created_by_id", flat=True))
    people = User.objects.filter(pk__in=owners, is_active=True).exclude(email="").order_by("pk")
    counts = ((person, list_due_reviews(Principal.of(person), until=until).count()) for person in people)
    return {person: count for person, count in counts if count}


def _compose_reminder(person: User, count: int) -> tuple[str, str]:
    def said() -> tuple[str, str]:
        message = ngettext(
            "%(n)d of your documents is due for review now, or within a week.",
            "%(n)d of your documents are due for review now, or within a week.",
            count,
        )
        advice = _("Confirm that they are still correct, or replace them, and set the next date.")
        return _("Documents to review"), f"{message % {'n': count}} {advice}"

    query = urlencode({"state": "review-soon", "owner": person.get_username()})
    return _format_in_both_languages(said, f"{reverse('find')}?{query}")


def _find_deciders(asked: AccessRequest) -> QuerySet[User]:
    """Return those who manage the folder; superusers where there are none."""
    managers = find_people_with_right(Right.MANAGE, asked.folder)
    return managers if managers.exists() else User.objects.filter(is_superuser=True, is_active=True)


def _compose_request_mail(is_open: bool) -> tuple[str, str]:
    def said() -> tuple[str, str]:
        if is_open:
            return _("A request for access waits for you"), _("Someone asks to read a folder that you manage.")
        return _("Your request for access is answered"), _("See the answer here:")

    return _format_in_both_languages(said, reverse("access-requests" if is_open else "my-requests"))
