"""Record sign-ins, sign-outs and second factors in the audit log."""

from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed

from audit.actions import Action, Outcome
from audit.record import record_action
from authz.principal import Principal

LDAP_BACKEND = "authz.directory.backend.DirectoryBackend"  # as the settings name it


def connect() -> None:
    """Connect to signals of Django and allauth: no service of ours handles sign-ins."""
    user_logged_in.connect(_record_sign_in, dispatch_uid="audit.signed_in")
    user_logged_out.connect(_record_sign_out, dispatch_uid="audit.signed_out")
    user_login_failed.connect(_record_failed_sign_in, dispatch_uid="audit.sign_in_failed")
    for signal, receiver in (
        (mfa.authenticator_added, _record_factor_added),
        (mfa.authenticator_removed, _record_factor_removed),
    ):
        signal.connect(receiver, dispatch_uid="audit.second_factor")
    mfa.authentication_failed.connect(_record_factor_failed, dispatch_uid="audit.second_factor_failed")


def _record_sign_in(sender: object, request: Any, user: Any, **kwargs: object) -> None:
    """Record a sign-in.

    by: the proofs in order, such as ["password", "mfa"]; empty for a program. directory: set if it held the password.
    """
    by = [entry["method"] for entry in get_authentication_records(request, user)]
    directory = {"directory": "ldap"} if getattr(user, "backend", "") == LDAP_BACKEND else {}
    record_action(Principal.of(user), Action.SIGNED_IN, detail={"by": by} | directory)


def _record_sign_out(sender: object, user: Any, **kwargs: object) -> None:
    if user is not None:
        record_action(Principal.of(user), Action.SIGNED_OUT)


def _record_failed_sign_in(sender: object, credentials: dict[str, Any], **kwargs: object) -> None:
    """Record a failed sign-in; unknown names are left out, as some are passwords typed by mistake."""
    user = User.objects.filter(username=str(credentials.get("username", ""))).first()
    record_action(
        None, Action.SIGN_IN_FAILED, user, outcome=Outcome.DENY, reason="wrong password" if user else "unknown name"
    )


def _record_factor_added(sender: object, user: Any, authenticator: Authenticator, **kwargs: object) -> None:
    record_action(Principal.of(user), Action.MFA_ADDED, user, detail={"type": authenticator.type})


def _record_factor_removed(sender: object, user: Any, authenticator: Authenticator, **kwargs: object) -> None:
    record_action(Principal.of(user), Action.MFA_REMOVED, user, detail={"type": authenticator.type})


def _record_factor_failed(sender: object, user: Any, **kwargs: object) -> None:
    record_action(Principal.of(user), Action.MFA_FAILED, user, outcome=Outcome.DENY)
