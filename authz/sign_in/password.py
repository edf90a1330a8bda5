"""Sign-in with a password, and settings of django-allauth: limits, second factor, no sign-up, no mail."""

import time
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from allauth.account.internal.flows.login import get_authentication_records, perform_password_login
from allauth.account.models import Login
from allauth.core import context
from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from authz.sign_in.backends import PeopleBackend
from copilot_site.lib.errors import Unavailable
from copilot_site.lib.http.client_address import find_client_address

TOO_MANY = _("Too many wrong attempts. Wait five minutes, then try again.")
NO_DIRECTORY = _("The company directory does not answer now. Nothing was changed; try again in a moment.")
SILENT = ("account/messages/logged_in.txt", "account/messages/logged_out.txt")  # the next page shows it


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Closes sign-up: only administrators and the company's sign-in create accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the key of limits by address; visitors without one share a limit."""
        return find_client_address(request) or "unknown"

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        """Check every sign-in last, however it began; refuse disabled accounts and service accounts."""
        if PeopleBackend().user_can_authenticate(user):
            return None
        return render_refusal(request, str(_("This account cannot sign in. Ask an administrator.")))

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Require the password again before a second factor changes, unless the sign-in is minutes old."""
        records = get_authentication_records(context.request, context.request.user)
        newest = max((record["at"] for record in records), default=0.0)
        return time.time() - newest > settings.ACCOUNT_REAUTHENTICATION_TIMEOUT

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        if message_template not in SILENT:
            super().add_message(request, level, message_template, *args, **kwargs)


class SignInForm(AuthenticationForm):
    """Name and password, with limits on failures per name and per address."""

    error_messages = {
        "invalid_login": _("Wrong user name or password."),
        "inactive": _("Wrong user name or password."),
        "throttled": TOO_MANY,
        "unavailable": NO_DIRECTORY,
    }

    def clean(self) -> dict[str, Any]:
        username, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if username is None or not password:
            raise self.get_invalid_login_error()
        try:
            user = get_adapter().authenticate(self.request, username=username, password=password)
        except forms.ValidationError as limit:
            raise forms.ValidationError(self.error_messages["throttled"], code="throttled") from limit
        except Unavailable as problem:  # the log has the reason; people not signed in are not told
            raise forms.ValidationError(self.error_messages["unavailable"], code="unavailable") from problem
        if user is None:
            raise self.get_invalid_login_error()
        self.user_cache = user
        return self.cleaned_data


class NewPasswordForm(PasswordChangeForm):
    """Checks the old password as at sign-in: with the same limit, and failures recorded."""

    error_messages = PasswordChangeForm.error_messages | {"throttled": TOO_MANY}

    def clean_old_password(self) -> str:
        password: str = self.cleaned_data["old_password"]
        try:
            is_right = get_adapter().reauthenticate(self.user, password)
        except forms.ValidationError as limit:
            raise forms.ValidationError(self.error_messages["throttled"], code="throttled") from limit
        if not is_right:
            raise forms.ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return password


def render_refusal(request: HttpRequest, sentence: str, *, status: int = 403) -> HttpResponse:
    """Return the page for a refused sign-in. sentence: why, and what to do."""
    return render(request, "authz/sign_in_refused.html", {"sentence": sentence}, status=status)


def continue_sign_in(request: HttpRequest, user: User, *, redirect_url: str) -> HttpResponse:
    """Continue after a correct password: to the second factor, if there is one, or sign in."""
    login = Login(user=user, redirect_url=redirect_url)
    answer: HttpResponse = perform_password_login(request, {"username": user.get_username()}, login)
    return answer
