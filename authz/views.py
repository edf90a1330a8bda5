"""Signing in, and the tokens of the person who is signed in."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from authz.models import ApiToken
from authz.pages import signed_in
from authz.principal import Principal
from authz.tokens import DEFAULT_DAYS, MAX_DAYS, issue_token, revoke_token
from copilot_site.lib.errors import InvalidInput


class LoginHint(NamedTuple):
    """Somebody who may try the system: shown on the sign-in page of a demo."""

    username: str
    password: str
    role: str


class SignIn(LoginView):
    """The sign-in page. hints: gives the logins to show; nothing outside a demo."""

    template_name = "authz/sign_in.html"
    redirect_authenticated_user = True
    hints: Callable[[], Sequence[LoginHint]] = staticmethod(tuple)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"hints": self.hints()}


@never_cache
@require_http_methods(["GET", "POST"])
@signed_in
def tokens(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """The person's tokens. A new one is in the answer to its POST and in no page after that."""
    secret, status = "", 200
    if request.method == "POST":
        try:
            _row, secret = issue_token(principal, name=request.POST.get("name", ""), days=_days(request))
        except InvalidInput as problem:
            messages.error(request, str(problem))
            status = 400
    context = {
        "tokens": ApiToken.objects.filter(user_id=principal.user_id),
        "secret": secret,
        "default_days": DEFAULT_DAYS,
        "max_days": MAX_DAYS,
    }
    return render(request, "authz/tokens.html", context, status=status)


@require_POST
@signed_in
def revoke(request: HttpRequest, principal: Principal, token_id: int) -> HttpResponse:
    revoke_token(principal, token_id=token_id)
    messages.success(request, _("The token is revoked; programs that use it are refused from now on."))
    return redirect("tokens")


def _days(request: HttpRequest) -> int:
    """Raises InvalidInput for what is no number."""
    text = request.POST.get("days", "").strip()
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise InvalidInput(_("Give the number of days as a whole number between 1 and %(most)s.") % {"most": MAX_DAYS})
    return int(text)
