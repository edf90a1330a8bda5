"""Check a company sign-in before it is saved: its issuer's metadata, and whether they suffice to verify a sign-in."""

from typing import Any

from allauth.socialaccount.adapter import get_adapter
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from requests import RequestException

from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import admin_page
from authz.principal import Principal
from authz.sign_in.claim_admin import CompanySignInForm
from copilot_site.lib.errors import PermissionDenied
from copilot_site.lib.outgoing.http import find_refusal

DISCOVERY = ".well-known/openid-configuration"
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


def find_issuer_fault(issuer: str) -> str:
    """Return why nobody can sign in with this issuer and what to do; "" where people can."""
    session = get_adapter().get_requests_session()
    address = f"{issuer.rstrip('/')}/{DISCOVERY}"
    try:
        answer = session.get(address)
        known: Any = answer.json() if answer.ok else None
    except ValueError:  # not JSON; requests' own JSON error is a ValueError, too
        known = None
    except RequestException as error:
        return str(
            find_refusal(error) or _("Nothing answers at this address. Check it, and that this server can reach it.")
        )
    if not isinstance(known, dict):
        return _("There is no OpenID configuration at %(address)s. Give the issuer as its documentation writes it.") % {
            "address": address
        }
    if known.get("issuer") != issuer:
        return _("The issuer calls itself “%(name)s”. Enter exactly that.") % {"name": known.get("issuer", "")}
    lacking = [name for name in ENDPOINTS if not known.get(name)]
    if lacking:
        return _("Its configuration lacks %(names)s; people could not sign in.") % {"names": ", ".join(lacking)}
    return "" if _has_keys(session, known["jwks_uri"]) else _("It publishes no keys, so no sign-in could be checked.")


def _has_keys(session: Any, address: str) -> bool:
    try:
        return bool(session.get(address).json().get("keys"))
    except (RequestException, ValueError, AttributeError):
        return False


@require_POST
@admin_page
def try_issuer(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Check the form's values. Nothing is saved, and the secret is not sent: only the first sign-in tests it.

    Raises PermissionDenied for anyone but a superuser.
    """
    if not principal.is_superuser:
        raise PermissionDenied(_("Only system administrators set up company sign-ins."))
    form = CompanySignInForm(request.POST)
    if wrong := form.errors.get("server_url"):
        sentence = str(wrong[0])
    else:
        issuer = form.cleaned_data["server_url"]
        record_action(principal, Action.SIGN_IN_TESTED, detail={"issuer": issuer})
        sentence = find_issuer_fault(issuer)
    shown = sentence or _("The issuer answers. Enter this address there as the one to return to: %(address)s") % {
        "address": request.build_absolute_uri(
            reverse("openid_connect_callback", args=[request.POST.get("provider_id") or "NAME"])
        )
    }
    return render(request, "admin/_tried.html", {"ok": not sentence, "sentence": shown})
