"""A trial of mail, on demand."""

import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.utils.translation import gettext as _


@dataclass(frozen=True)
class MailFault:
    """A mail problem as a sentence, and the setting that fixes it."""

    sentence: str
    statement: str


def fault_of_mail() -> MailFault | None:
    """Return the mail problem, found by signing in without sending; None if there is none, or no server is set up."""
    if not settings.MAIL_IS_SET_UP:
        return None
    if not settings.DEFAULT_FROM_EMAIL:
        return MailFault(_("No sender address is set."), "COPILOT_SMTP_FROM=copilot@example.com")
    return _fault_of(lambda connection: connection.open())


def send_trial(address: str, *, subject: str, text: str) -> MailFault | None:
    """Send one mail; return the problem."""
    return fault_of_mail() or _fault_of(
        lambda connection: EmailMessage(subject, text, to=[address], connection=connection).send()
    )


def _fault_of(work: Callable[[BaseEmailBackend], object]) -> MailFault | None:
    connection = get_connection()
    try:
        work(connection)
    except smtplib.SMTPAuthenticationError:
        return MailFault(_("The mail server refuses the account."), "COPILOT_SMTP_USERNAME=…\nCOPILOT_SMTP_PASSWORD=…")
    except (smtplib.SMTPSenderRefused, smtplib.SMTPRecipientsRefused):
        return MailFault(
            _("The mail server refuses the address that mails come from, or yours."), "COPILOT_SMTP_FROM=…"
        )
    except ssl.SSLError:
        return MailFault(
            _("The connection to the mail server cannot be encrypted this way."),
            "COPILOT_SMTP_SECURITY=starttls|tls|none",
        )
    except (OSError, smtplib.SMTPException) as error:
        message = _("The mail server does not respond properly: %(error)s") % {"error": str(error)[:200]}
        return MailFault(message, "COPILOT_SMTP_HOST=…\nCOPILOT_SMTP_PORT=587\nCOPILOT_SMTP_SECURITY=starttls")
    finally:
        connection.close()
    return None
