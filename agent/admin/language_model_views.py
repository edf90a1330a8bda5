"""A language model is tried before it is saved: a button of its form says whether it answers, and if not, what is missing."""

import asyncio
import time

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agent.admin.language_models import LanguageModelForm
from agent.models import LanguageModel
from agent.providers.base import ModelError, ModelMisconfigured, ModelUnavailable
from agent.providers.configured import probe, served_by
from agent.providers.keys import sealed
from audit.actions import Action
from audit.record import record
from authz.admin_pages import admin_page
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, PermissionDenied
from copilot_site.lib.forms import first_fault


@require_POST
@admin_page
def try_model(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """What the form says, with the stored key of the row `id` where none is entered and the address is the same. Nothing is saved.

    Raises PermissionDenied for whoever may not change language models.
    """
    if not request.user.has_perm("agent.change_languagemodel"):
        raise PermissionDenied(gettext("Only administrators of the system set up language models."))
    given = request.POST.get("id", "")
    stored = LanguageModel.objects.filter(pk=given).first() if given.isdecimal() else None
    before = stored.base_url if stored else ""
    form = LanguageModelForm(request.POST, instance=stored)
    if not form.is_valid():
        return _said(request, ok=False, sentence=first_fault(form))
    row = form.save(commit=False)
    if key := form.cleaned_data["api_key"]:
        row.encrypted_key = sealed(key, row.base_url)
    elif row.base_url != before:
        row.encrypted_key = ""
    record(principal, Action.MODEL_TESTED, detail={"address": row.base_url})
    return _said(request, **_outcome(row))


# how it fails → what to look at
SENTENCES: tuple[tuple[type[ModelError], Promise], ...] = (
    (ModelUnavailable, _("It does not answer at this address. Check the address, and whether the service runs.")),
    (ModelMisconfigured, _("The service answers and refuses: check the key and the name of the model.")),
    (
        ModelError,
        _("What it answers cannot be read. The address ends where its OpenAI-compatible interface begins, like /v1."),
    ),
)


def _outcome(row: LanguageModel) -> dict[str, object]:
    began = time.monotonic()
    try:
        asyncio.run(probe(served_by(row)))
    except ModelError as error:
        sentence = next(sentence for kind, sentence in SENTENCES if isinstance(error, kind))
        return {"ok": False, "sentence": sentence, "detail": str(error)}
    except CopilotError as error:
        return {"ok": False, "sentence": str(error)}
    took = gettext("It answers: the first word came after %(seconds).1f s. Save it now.")
    return {"ok": True, "sentence": took % {"seconds": time.monotonic() - began}}


def _said(request: HttpRequest, *, ok: object, sentence: object, detail: object = "") -> HttpResponseBase:
    """detail: the provider's own words, in English."""
    return render(request, "admin/_tried.html", {"ok": ok, "sentence": sentence, "detail": detail})
