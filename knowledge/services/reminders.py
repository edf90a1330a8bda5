"""Mails to people whose documents are to be read again. They say how many there are, never which: a mailbox has no rights."""

import logging
from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, get_connection
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from knowledge.models import Document
from knowledge.selectors import reviews_of

logger = logging.getLogger(__name__)
AHEAD = timedelta(days=7)  # the next mail comes in a week
LANGUAGES = ("zh-hans", "en")  # both: a recipient's language is unknown


def remind_of_reviews() -> int:
    """Send one mail to each owner of documents whose day of review has passed or comes within a week; return how many were sent.

    Documents an owner may no longer see, and owners without an address, are skipped. A refused mail stops no other.
    """
    if not settings.MAIL_IS_SET_UP:
        return 0
    sent = 0
    with get_connection() as connection:
        for person, count in _due():
            try:
                EmailMessage(*_text(person, count), to=[person.email], connection=connection).send()
            except OSError as error:  # smtplib's errors are subclasses
                logger.warning("reminder not sent", extra={"user_id": person.pk, "why": str(error)})
                continue
            record(None, Action.REVIEW_REMINDED, person, detail={"documents": count})
            sent += 1
    return sent


def _due() -> Iterator[tuple[User, int]]:
    until = timezone.localdate() + AHEAD
    waiting = Document.unscoped.filter(trashed_at=None, review_on__lte=until)
    owners = set(waiting.exclude(owner=None).values_list("owner_id", flat=True))
    owners |= set(waiting.filter(owner=None).exclude(created_by=None).values_list("created_by_id", flat=True))
    for person in User.objects.filter(pk__in=owners, is_active=True).exclude(email="").order_by("pk"):
        count = reviews_of(Principal.of(person), until=until).count()
        if count:
            yield person, count


def _text(person: User, count: int) -> tuple[str, str]:
    """Return subject and text, in both languages."""
    query = urlencode({"state": "review-soon", "owner": person.get_username()})
    address = f"{settings.SITE_URL}{reverse('find')}?{query}"
    subjects, texts = [], []
    for language in LANGUAGES:
        with override(language):
            subjects.append(_("Documents to review"))
            message = ngettext(
                "%(n)d of your documents is due for review now, or within a week.",
                "%(n)d of your documents are due for review now, or within a week.",
                count,
            )
            texts.append(
                message % {"n": count}
                + " "
                + _("Confirm that they are still correct, or replace them, and set the next date.")
            )
    return " · ".join(subjects), "\n\n".join([*texts, address])
