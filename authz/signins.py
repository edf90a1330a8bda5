"""Sign-ins and sign-outs go into the audit log."""

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed

from audit.actions import Action, Outcome
from audit.record import record
from authz.principal import Principal


def connect() -> None:
    """These three are Django's own announcements: there is no service of ours around a sign-in to record it in."""
    user_logged_in.connect(_signed_in, dispatch_uid="audit.signed_in")
    user_logged_out.connect(_signed_out, dispatch_uid="audit.signed_out")
    user_login_failed.connect(_failed, dispatch_uid="audit.sign_in_failed")


def _signed_in(sender: object, user: Any, **kwargs: object) -> None:
    record(Principal.of(user), Action.SIGNED_IN)


def _signed_out(sender: object, user: Any, **kwargs: object) -> None:
    if user is not None:
        record(Principal.of(user), Action.SIGNED_OUT)


def _failed(sender: object, credentials: dict[str, Any], **kwargs: object) -> None:
    record(None, Action.SIGN_IN_FAILED, outcome=Outcome.DENY, reason=str(credentials.get("username", ""))[:150])
