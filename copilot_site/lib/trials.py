"""Trials of the file storage and of the mail server: what fails, and what mends it."""

import json
import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.utils.translation import gettext as _

PROBE = b"probe"
S3_ACTIONS = {"write": "s3:PutObject", "read": "s3:GetObject", "remove": "s3:DeleteObject"}


@dataclass(frozen=True)
class TrialFault:
    """A failure in one sentence; of the storage in English, as for operators. statement: a setting, command or policy that mends it."""

    sentence: str
    statement: str


def find_storage_fault(storage: Storage) -> TrialFault | None:
    """Return the fault of the storage; None without one. The trial file is removed again if that is allowed."""
    name = ""

    def write() -> bool:
        nonlocal name
        name = storage.save("doctor-probe", ContentFile(PROBE))
        return True

    def read() -> bool:
        with storage.open(name) as probe:
            return bool(probe.read() == PROBE)

    def remove() -> bool:
        storage.delete(name)
        return True

    steps: dict[str, Callable[[], bool]] = {"write": write, "read": read, "remove": remove}
    for step, act in steps.items():
        try:
            intact = act()
        except Exception as error:  # noqa: BLE001 - each kind of storage has errors of its own, and a trial tells them all
            return _describe_step_fault(storage, step, error)
        if not intact:
            return TrialFault(
                "what was written is not what is read", "Check the storage: another writer, or a broken disk."
            )
    return None


def _describe_step_fault(storage: Storage, step: str, error: Exception) -> TrialFault:
    """Return the fault of one step; what S3 answers is in `response`, as botocore has it."""
    answer = getattr(error, "response", None)
    code = str(answer.get("Error", {}).get("Code", "")) if isinstance(answer, dict) else ""
    sentence = f"it may not {step} files: {code or _extract_first_line(error)}"
    bucket = getattr(storage, "bucket_name", "")
    if code in {"AccessDenied", "403"}:
        resource = f"arn:aws:s3:::{bucket}/*"
        return TrialFault(sentence, json.dumps({"Effect": "Allow", "Action": S3_ACTIONS[step], "Resource": resource}))
    if code in {"NoSuchBucket", "404"}:
        return TrialFault(f"there is no bucket {bucket}", f"aws s3 mb s3://{bucket}")
    if isinstance(storage, FileSystemStorage) and isinstance(error, PermissionError):
        return TrialFault(sentence, f"chown -R $(id -un) {storage.location} && chmod -R u+rwX {storage.location}")
    return TrialFault(sentence, "Mend the folder or COPILOT_S3_BUCKET.")


def _extract_first_line(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).splitlines()[0][:200]


def find_mail_fault() -> TrialFault | None:
    """Return the mail problem, found by signing in without sending; None if there is none, or no server is set up."""
    if not settings.MAIL_IS_SET_UP:
        return None
    if not settings.DEFAULT_FROM_EMAIL:
        return TrialFault(_("No sender address is set."), "COPILOT_SMTP_FROM=copilot@example.com")
    return _find_server_fault(lambda connection: connection.open())


def send_trial_mail(address: str, *, subject: str, text: str) -> TrialFault | None:
    """Send one mail; return the problem."""
    return find_mail_fault() or _find_server_fault(
        lambda connection: EmailMessage(subject, text, to=[address], connection=connection).send()
    )


def _find_server_fault(work: Callable[[BaseEmailBackend], object]) -> TrialFault | None:
    connection = get_connection()
    try:
        work(connection)
    except smtplib.SMTPAuthenticationError:
        return TrialFault(_("The mail server refuses the account."), "COPILOT_SMTP_USERNAME=…\nCOPILOT_SMTP_PASSWORD=…")
    except (smtplib.SMTPSenderRefused, smtplib.SMTPRecipientsRefused):
        return TrialFault(
            _("The mail server refuses the address that mails come from, or yours."), "COPILOT_SMTP_FROM=…"
        )
    except ssl.SSLError:
        return TrialFault(
            _("The connection to the mail server cannot be encrypted this way."),
            "COPILOT_SMTP_SECURITY=starttls|tls|none",
        )
    except (OSError, smtplib.SMTPException) as error:
        message = _("The mail server does not respond properly: %(error)s") % {"error": str(error)[:200]}
        return TrialFault(message, "COPILOT_SMTP_HOST=…\nCOPILOT_SMTP_PORT=587\nCOPILOT_SMTP_SECURITY=starttls")
    finally:
        connection.close()
    return None
