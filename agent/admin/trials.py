"""Try a service before saving it: a button in its form tells whether the service answers, and if not, what is missing."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agent.admin.language_models import LanguageModelForm
from agent.models import LanguageModel
from agent.providers.base import ModelError, ModelMisconfigured, ModelUnavailable
from agent.providers.breaker import breaker_of
from agent.providers.configured import served_by, try_reply
from agent.service_keys import Keyed, take_key
from audit.actions import Action
from audit.record import record
from authz.admin_pages import admin_page
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, PermissionDenied
from copilot_site.lib.forms import first_fault

# failure → what to check
SENTENCES: tuple[tuple[type[ModelError], Promise], ...] = (
    (ModelUnavailable, _("It does not answer at this address. Check the address, and whether the service runs.")),
    (ModelMisconfigured, _("The service answers and refuses: check the key and the name of the model.")),
    (
        ModelError,
        _("What it answers cannot be read. The address ends where its OpenAI-compatible interface begins, like /v1."),
    ),
)

THINKS_ALOUD = _(
    "It answers, and sends what it thinks without its beginning: that is kept out of its answers. The service tells them apart "
    "better: switch on its reasoning parser (vLLM, SGLang: --reasoning-parser). Save it now."
)


@require_POST
@admin_page
def try_model(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Try a language model before it is saved. Raises PermissionDenied without the right to change language models."""
    if not request.user.has_perm("agent.change_languagemodel"):
        raise PermissionDenied(gettext("Only administrators of the system set up language models."))
    return tried(request, principal, LanguageModel, LanguageModelForm, Action.MODEL_TESTED, _asked_model)


def tried(  # noqa: PLR0917  # one call of each kind
    request: HttpRequest,
    principal: Principal,
    kind: type[Any],
    form_of: type[forms.ModelForm[Any]],
    action: Action,
    outcome: Callable[[Any], Mapping[str, object]],
) -> HttpResponseBase:
    """Try the values in the form without saving them.

    Where no key is entered and the address is unchanged, the stored key of the row `id` is used. outcome: tries a row
    and returns ok, a sentence, and detail, the service's own words in English.
    """
    given = request.POST.get("id", "")
    stored: Keyed | None = kind.objects.filter(pk=given).first() if given.isdecimal() else None
    before = stored.base_url if stored else ""
    form = form_of(request.POST, instance=stored)
    if not form.is_valid():
        return render(request, "admin/_tried.html", {"ok": False, "sentence": first_fault(form)})
    row: Keyed = form.save(commit=False)
    take_key(row, form.cleaned_data["api_key"], address_before=before)
    record(principal, action, detail={"address": row.base_url})
    return render(request, "admin/_tried.html", dict(outcome(row)))


def _asked_model(row: LanguageModel) -> dict[str, object]:
    try:
        first_s = asyncio.run(try_reply(served_by(row)))
    except ModelError as error:
        sentence = next(sentence for kind, sentence in SENTENCES if isinstance(error, kind))
        return {"ok": False, "sentence": sentence, "detail": str(error)}
    except CopilotError as error:
        return {"ok": False, "sentence": str(error)}
    if breaker_of(row.base_url, row.model).is_begun:
        return {"ok": True, "sentence": THINKS_ALOUD}
    took = gettext("It answers: the first word came after %(seconds).1f s. Save it now.")
    return {"ok": True, "sentence": took % {"seconds": first_s}}
