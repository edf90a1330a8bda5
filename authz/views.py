"""Sign-in, and the tokens of the signed-in person."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from authz.directory.accounts import may_provision
from authz.oidc import list_sign_ins
from authz.pages import require_sign_in
from authz.people.accounts import record_password_change
from authz.principal import Principal
from authz.scopes import DEFAULT_SCOPES, TokenScope
from authz.sign_in.password import NewPasswordForm, SignInForm, continue_sign_in
from authz.tokens.api_tokens import (
    DEFAULT_DAYS,
    MAX_DAYS,
    find_folder_names,
    find_token_folder,
    issue_token,
    list_folder_choices,
    list_tokens,
    revoke_token,
)
from authz.tokens.forms import OwnTokenForm
from copilot_site.lib.errors import InvalidInput, NotFound
from copilot_site.lib.http.forms import validate_form


class LoginHint(NamedTuple):
    """An account to try the system with, shown on a demo's sign-in page."""

    username: str
    password: str
    role: str


class SignIn(LoginView):
    """The sign-in page. hints: returns the logins to show; none outside a demo."""

    template_name = "authz/sign_in.html"
    form_class = SignInForm
    redirect_authenticated_user = True
    hints: Callable[[], Sequence[LoginHint]] = staticmethod(tuple)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"hints": self.hints(), "sign_ins": list_sign_ins(self.request)}

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        return continue_sign_in(self.request, form.get_user(), redirect_url=self.get_success_url())

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        answer = super().form_invalid(form)
        if form.has_error(NON_FIELD_ERRORS, "throttled"):
            answer.status_code = 429
        if form.has_error(NON_FIELD_ERRORS, "unavailable"):
            answer.status_code = 503
        return answer


class ChangePassword(PasswordChangeView):
    """Changes one's own password; people from the company sign-in have none."""

    template_name = "authz/password.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("chat")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if isinstance(request.user, User) and not request.user.has_usable_password():
            raise NotFound(_("Your account has no password here: you use the company sign-in."))
        return super().dispatch(request, *args, **kwargs)

    @transaction.atomic
    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        answer = super().form_valid(form)
        record_password_change(Principal.of(form.user), User.objects.get(pk=form.user.pk))
        messages.success(self.request, _("Your password is changed."))
        return answer

    def form_invalid(self, form: PasswordChangeForm) -> HttpResponse:
        answer = super().form_invalid(form)
        if form.has_error("old_password", "throttled"):
            answer.status_code = 429
        return answer


@require_safe
def cancelled(request: HttpRequest) -> HttpResponse:
    """Handle the return from a cancelled sign-in at the company."""
    messages.info(request, _("The company sign-in was not completed. Nothing was changed."))
    return redirect("login")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@require_sign_in
def tokens(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show the person's tokens. Only the response to its POST has a new one.

    `?folder=` (and the same field of the form) limits the new token to a folder.
    """
    secret, status = "", 200
    folder_id = _parse_folder_id(request)
    form = OwnTokenForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        try:
            _row, secret = issue_token(principal, folder_id=folder_id, **validate_form(form))
        except InvalidInput as problem:
            messages.error(request, str(problem))
            status = 400
    rows = list(list_tokens(principal))
    names = find_folder_names(principal, rows)
    context = {
        "tokens": [(token, names.get(token.folder_id) if token.folder_id else None) for token in rows],
        "secret": secret,
        "scopes": list_offered_scopes(principal),
        "chosen": form["scopes"].value() if status == 400 else list(DEFAULT_SCOPES),
        "folder": find_token_folder(principal, folder_id) if folder_id else None,
        "folders": list_folder_choices(principal),
        "default_days": DEFAULT_DAYS,
        "max_days": MAX_DAYS,
    }
    return render(request, "authz/tokens.html", context, status=status)


@require_POST
@require_sign_in
def revoke(request: HttpRequest, principal: Principal, token_id: int) -> HttpResponse:
    revoke_token(principal, token_id=token_id)
    messages.success(request, _("The token is revoked; programs that use it are refused from now on."))
    return redirect("tokens")


def list_offered_scopes(principal: Principal) -> list[tuple[str, str]]:
    """Return the values and labels of the scopes that this person can use."""
    left_out = set() if may_provision(principal) else {TokenScope.PROVISION.value}
    return [(value, str(label)) for value, label in TokenScope.choices if value not in left_out]


def _parse_folder_id(request: HttpRequest) -> UUID | None:
    """Return the folder id. Raises NotFound for a malformed id, worded as for a missing folder."""
    text = request.POST.get("folder", "") or request.GET.get("folder", "")
    try:
        return UUID(text) if text else None
    except ValueError:
        what = {"what": _("folder")}  # in the words of `get_visible`
        raise NotFound(_("There is no such %(what)s, or you cannot see it.") % what) from None
