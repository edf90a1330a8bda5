"""Mails about requests for access: to those who decide, and to the person who asked. They name no folder: a mailbox has no rights."""

import logging

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, get_connection
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override

from authz.models import AccessRequest, RequestState
from authz.permissions import Right
from authz.rights.holders import people_with
from knowledge.services.reminders import LANGUAGES

logger = logging.getLogger(__name__)


def mail_about_request(request_id: int) -> int:
    """Tell those who decide of a waiting request, or the person who asked of the decision; return how many mails were sent.

    A refused mail stops no other. Nothing is sent without a mail server.
    """
    asked = AccessRequest.objects.select_related("folder").filter(pk=request_id).first()
    if asked is None or not settings.MAIL_IS_SET_UP:
        return 0
    is_open = asked.state == RequestState.OPEN
    people = _deciders(asked) if is_open else User.objects.filter(pk=asked.user_id, is_active=True)
    sent = 0
    with get_connection() as connection:
        for person in people.exclude(email="").order_by("pk"):
            try:
                EmailMessage(*_text(is_open=is_open), to=[person.email], connection=connection).send()
                sent += 1
            except OSError as error:  # smtplib's errors are subclasses
                logger.warning("request mail not sent", extra={"user_id": person.pk, "why": str(error)})
    return sent


def _deciders(asked: AccessRequest) -> QuerySet[User]:
    """Return those who manage the folder; superusers where there are none."""
    managers = people_with(Right.MANAGE, asked.folder)
    return managers if managers.exists() else User.objects.filter(is_superuser=True, is_active=True)


def _text(*, is_open: bool) -> tuple[str, str]:
    """Return subject and text, in both languages."""
    subjects, texts = [], []
    for language in LANGUAGES:
        with override(language):
            subjects.append(
                _("A request for access waits for you") if is_open else _("Your request for access is answered")
            )
            texts.append(_("Someone asks to read a folder that you manage.") if is_open else _("See the answer here:"))
    address = f"{settings.SITE_URL}{reverse('access-requests' if is_open else 'my-requests')}"
    return " · ".join(subjects), "\n\n".join([*texts, address])
