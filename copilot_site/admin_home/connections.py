"""Trials of the operator's settings before they are saved: the embedder, the file storage and mails."""

import time
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.storage import InvalidStorageError, storages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, PermissionDenied
from copilot_site.lib.http.forms import find_first_fault
from copilot_site.lib.outgoing.addresses import (
    AddressRefused,
    build_http_service_policy,
    parse_url,
    require_plausible_host,
)
from copilot_site.lib.trials import find_storage_fault, send_trial_mail
from knowledge.embedding.trial import measure_dimensions


class EmbedderForm(forms.Form):
    """An embedding service with OpenAI's interface; the key is used once and stored nowhere."""

    base_url = forms.CharField(
        label=gettext_lazy("Address"), max_length=300, widget=forms.URLInput(attrs={"placeholder": "https://…/v1"})
    )
    model = forms.CharField(label=gettext_lazy("Model"), max_length=200)
    api_key = forms.CharField(
        label=gettext_lazy("Key"),
        required=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("Used for this one trial and stored nowhere."),
    )

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"]
        try:
            require_plausible_host(parse_url(url)[0], build_http_service_policy(url))
        except AddressRefused as error:
            raise forms.ValidationError(str(error)) from error
        return url


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def connections(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show the page; in a POST, try what `part` names and return the result as HTML. Nothing is saved.

    Raises PermissionDenied unless a superuser asks.
    """
    if not principal.is_superuser:
        raise PermissionDenied(_("Only system administrators test the server's connections."))
    if request.method == "POST":
        tried = PARTS.get(request.POST.get("part", ""), _try_embedder)(principal, request)
        return render(request, "admin/_tried.html", tried)
    context = {
        "title": _("Connections of the server"),
        "form": EmbedderForm(),
        "embedder": settings.EMBEDDER,
        "embedder_model": settings.EMBEDDER_OPTIONS["model"],
        "mail_host": settings.EMAIL_HOST,
        "bucket": settings.STORAGES["default"].get("OPTIONS", {}).get("bucket_name", ""),
    }
    return render_admin_page(request, "admin/connections.html", context)


def _try_storage(_principal: Principal, _request: HttpRequest) -> dict[str, Any]:
    try:
        fault = find_storage_fault(storages["default"])
    except InvalidStorageError as error:
        return {"ok": False, "sentence": _("The storage cannot be used."), "detail": str(error)}
    if fault:
        sentence = _("Files cannot be stored as they must be.")
        return {"ok": False, "sentence": sentence, "detail": fault.sentence, "statement": fault.statement}
    return {"ok": True, "sentence": _("A file was written, read and removed: everything works.")}


def _send_trial_mail(principal: Principal, request: HttpRequest) -> dict[str, Any]:
    """Send a trial mail to the person asking, and to nobody else."""
    address = getattr(request.user, "email", "")
    if not settings.MAIL_IS_SET_UP:
        return {
            "ok": False,
            "sentence": _("No mail server is set, so no mail is sent. Set this and start again:"),
            "statement": "COPILOT_SMTP_HOST=…\nCOPILOT_SMTP_FROM=copilot@example.com\nCOPILOT_SITE_URL=https://…",
        }
    if not address:
        return {"ok": False, "sentence": _("Your account has no mail address: give it one, then try again.")}
    record_action(principal, Action.MAIL_TESTED)
    text = _("This mail was sent from the page “Connections of the server”. There is nothing to do.")
    fault = send_trial_mail(address, subject=_("Mail server test"), text=text)
    if fault:
        return {"ok": False, "sentence": fault.sentence, "statement": fault.statement}
    return {"ok": True, "sentence": _("A mail is on its way to %(address)s.") % {"address": address}}


def _try_embedder(principal: Principal, request: HttpRequest) -> dict[str, Any]:
    form = EmbedderForm(request.POST)
    if not form.is_valid():
        return {"ok": False, "sentence": find_first_fault(form)}
    given = form.cleaned_data
    record_action(principal, Action.MODEL_TESTED, detail={"address": given["base_url"]})
    began = time.monotonic()
    try:
        length = measure_dimensions(given["base_url"], model=given["model"], key=given["api_key"])
    except CopilotError as error:
        return {"ok": False, "sentence": str(error)}
    took = _(
        "It answers in %(seconds).1f s with vectors of %(length)d numbers. To use it, set this and run `manage.py reindex`:"
    )
    lines = {"EMBEDDER": "openai_compatible", "EMBEDDER_BASE_URL": given["base_url"], "EMBEDDER_MODEL": given["model"]}
    if given["api_key"]:
        lines["EMBEDDER_API_KEY"] = "…"
    statement = "\n".join(f"COPILOT_{name}={value}" for name, value in lines.items())
    return {
        "ok": True,
        "sentence": took % {"seconds": time.monotonic() - began, "length": length},
        "statement": statement,
    }


PARTS = {"storage": _try_storage, "mail": _send_trial_mail}
