"""Pass the principal to views."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, resolve_url
from django.utils.translation import gettext as _

from authz.principal import Principal

P = ParamSpec("P")


def require_sign_in(
    view: Callable[Concatenate[HttpRequest, Principal, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Wrap a view for signed-in people: it gets their principal as second argument.

    Everybody else is redirected to the sign-in page and back; our pages' scripts get 401 as JSON.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        principal = Principal.of(request.user)
        if not principal.is_nobody:
            return view(request, principal, *args, **kwargs)
        if not request.accepts("text/html"):
            return JsonResponse({"status": 401, "detail": _("You are signed out. Sign in again.")}, status=401)
        target = f"?{urlencode({'next': request.get_full_path()})}" if request.method in {"GET", "HEAD"} else ""
        return redirect(f"{resolve_url(settings.LOGIN_URL)}{target}")

    return cast("Callable[Concatenate[HttpRequest, P], HttpResponseBase]", guarded)
