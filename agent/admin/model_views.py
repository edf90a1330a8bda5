"""Language models on pages of their own: the list, a form with presets, and a trial that shows what works."""

import asyncio
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agent.admin.base import read_entered_row
from agent.admin.language_models import ModelForm
from agent.connections.local_models import permit_local_address
from agent.connections.service_keys import delete_language_model, save_language_model
from agent.models import LanguageModel
from agent.providers.base import ModelError, ModelMisconfigured, ModelUnavailable
from agent.providers.configured import FROM_SETTINGS, build_served_model, load_settings_model
from agent.providers.openai_compatible import ServedModel
from agent.providers.presets import OTHER, PRESETS, find_preset
from agent.providers.trial import CHECKS, find_next_check, load_findings, store_findings, try_check
from audit.actions import Action
from audit.record import record_action
from authz.admin_pages import admin_page, render_admin_page
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, InvalidInput, NotFound, PermissionDenied
from copilot_site.lib.outgoing.http import find_refusal

# failure → what to check
SENTENCES: tuple[tuple[type[ModelError], Promise], ...] = (
    (ModelUnavailable, _("Nothing answers at this address. Check it, and that the service is running.")),
    (ModelMisconfigured, _("The service responds but refuses: check the key and the name of the model.")),
    (
        ModelError,
        _(
            "Its response cannot be read. The address should end where the OpenAI-compatible interface begins, like /v1."
        ),
    ),
)


@require_safe
@admin_page
def model_list(request: HttpRequest, _principal: Principal) -> HttpResponseBase:
    """List the models, each with what its last trial found."""
    _require_model_right(request, "view")
    rows = list(LanguageModel.objects.order_by("-is_default", "name"))
    ours = load_settings_model()
    context = {
        "models": [(row, urlsplit(row.base_url).netloc, load_findings(row.base_url, row.model)) for row in rows],
        "ours": ours,
        "our_host": urlsplit(ours.base_url).netloc if ours else "",
        "our_findings": load_findings(ours.base_url, ours.model) if ours else {},
        "is_default": not any(row.is_default for row in rows),
        "presets": PRESETS,
    }
    return render_admin_page(request, "agent/language_models/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def add_model(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Show the presets; with `?preset=` the form that starts with its values. A POST adds the model."""
    _require_model_right(request, "add")
    if "preset" not in request.GET:
        return render_admin_page(request, "agent/language_models/add.html", {"presets": PRESETS})
    preset = find_preset(request.GET["preset"])
    has_none = load_settings_model() is None and not LanguageModel.objects.exists()
    row = LanguageModel(is_default=has_none)
    form = ModelForm(request.POST or None, instance=row, by=principal, preset=preset)
    silence = _silence(request, principal, form)
    if request.method == "POST" and form.is_valid() and not silence:
        return _save_model(request, principal, form)
    title = gettext("Add %(service)s") % {"service": preset.name} if preset is not OTHER else gettext("Add a model")
    return render_admin_page(
        request, "agent/language_models/form.html", {"form": form, "preset": preset, "title": title, "silence": silence}
    )


@require_http_methods(["GET", "HEAD", "POST"])
@admin_page
def edit_model(request: HttpRequest, principal: Principal, model_id: int) -> HttpResponseBase:
    """Show the form of a model. A POST saves it, or deletes it where `do` says so. Raises NotFound."""
    _require_model_right(request, "change")
    row = LanguageModel.objects.filter(pk=model_id).first()
    if row is None:
        raise NotFound(gettext("There is no such page, or you cannot see it."))
    may_delete = request.user.has_perm("agent.delete_languagemodel")
    if request.POST.get("do") == "delete" and may_delete:
        delete_language_model(principal, row)
        messages.success(request, gettext("“%(name)s” is deleted.") % {"name": row.name})
        return redirect("language-models")
    name, found = row.name, load_findings(row.base_url, row.model)
    form = ModelForm(request.POST or None, instance=row, by=principal)
    silence = _silence(request, principal, form)
    if request.method == "POST" and form.is_valid() and not silence:
        return _save_model(request, principal, form)
    context = {"form": form, "title": name, "row": row, "may_delete": may_delete, "found": found, "silence": silence}
    return render_admin_page(request, "agent/language_models/form.html", context)


def _require_model_right(request: HttpRequest, right: str) -> None:
    if not request.user.has_perm(f"agent.{right}_languagemodel"):
        raise PermissionDenied(gettext("Only system administrators set up language models."))


def _silence(request: HttpRequest, principal: Principal, form: ModelForm) -> str:
    """Return why the default model that a form describes does not answer; "" where it does, or is saved anyway."""
    if request.POST.get("anyway") or not (form.is_valid() and form.cleaned_data["is_default"]):
        return ""
    try:
        asyncio.run(try_check(_entered(request, principal)))
    except (CopilotError, ModelError) as error:
        form.fields["api_key"].widget.render_value = True  # not lost when it is saved anyway
        return _problem(error)["problem"]
    return ""


def _save_model(request: HttpRequest, principal: Principal, form: ModelForm) -> HttpResponseBase:
    row: LanguageModel = form.save(commit=False)
    row.is_default = form.cleaned_data["is_default"]
    given = form.cleaned_data
    if save_language_model(
        principal, row, key=given["api_key"], fields=form.changed_data, is_allowed_here=given["allow_here"]
    ):
        message = gettext(
            "The stored key was for the old address and has been removed. Enter the one for the new address."
        )
        messages.warning(request, message)
    messages.success(request, gettext("“%(name)s” is saved.") % {"name": row.name})
    return redirect("language-models")


@require_POST
@admin_page
def try_model(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Make one check of a model and show what is known of it so far; the page asks for the next one.

    `stored`: the id of a saved model, or `default` for the one of the environment; without it, the form's values, not saved.
    """
    _require_model_right(request, "change")
    check = request.POST.get("check", "answers")
    if check not in CHECKS:
        raise InvalidInput(gettext("There is no such check."))
    stored = request.POST.get("stored", "")
    context: dict[str, Any] = {}
    try:
        served = _find_saved_model(stored) if stored else _entered(request, principal)
        record_action(principal, Action.MODEL_TESTED, detail={"address": served.base_url, "check": check})
        context["found"] = store_findings(served, check, asyncio.run(try_check(served, check)))
        context["next"] = find_next_check(check)
    except (CopilotError, ModelError) as error:
        context = _problem(error)
    return render(request, "agent/language_models/_works.html", context)


def _entered(request: HttpRequest, principal: Principal) -> ServedModel:
    row = read_entered_row(request, LanguageModel, partial(ModelForm, by=principal))
    if request.POST.get("allow_here"):
        permit_local_address(principal, row)
    return build_served_model(row)


def _problem(error: CopilotError | ModelError) -> dict[str, str]:
    """Return what the page says of a failed check: `problem`, and `detail` in the service's words."""
    if (refusal := find_refusal(error)) or isinstance(error, CopilotError):
        return {"problem": str(refusal or error)}
    sentence = next(sentence for kind, sentence in SENTENCES if isinstance(error, kind))
    return {"problem": str(sentence), "detail": str(error)}


def _find_saved_model(name: str) -> ServedModel:
    """Return a saved model by its id, or that of the environment. Raises NotFound, ModelMisconfigured."""
    if name == FROM_SETTINGS and (ours := load_settings_model()):
        return ours
    row = LanguageModel.objects.filter(pk=name).first() if name.isdecimal() else None
    if row is None:
        raise NotFound(gettext("There is no such page, or you cannot see it."))
    return build_served_model(row)
