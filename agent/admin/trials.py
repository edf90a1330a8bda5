"""A service is tried before it is saved: a button of its form says whether it answers, and if not, what is missing."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agent.admin.chat_bots import ChatBotForm
from agent.admin.language_models import LanguageModelForm
from agent.admin.web_search import WebSearchProviderForm
from agent.models import ChatBot, LanguageModel, WebSearchProvider
from agent.providers.base import ModelError, ModelMisconfigured, ModelUnavailable
from agent.providers.breaker import breaker_of
from agent.providers.configured import served_by, try_reply
from agent.service_keys import Keyed, take_key
from agent.web.hosts import HostRules
from agent.web.searching import SearchFailed, search, service_of
from audit.actions import Action
from audit.record import record
from authz.admin_pages import admin_page
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, PermissionDenied
from copilot_site.lib.forms import first_fault

QUERY = "PostgreSQL documentation"  # something that every search of the web finds, and that tells nothing of who asks

# how it fails → what to look at
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
    """Raises PermissionDenied for whoever may not change language models."""
    if not request.user.has_perm("agent.change_languagemodel"):
        raise PermissionDenied(gettext("Only administrators of the system set up language models."))
    return _tried(request, principal, LanguageModel, LanguageModelForm, Action.MODEL_TESTED, _asked_model)


@require_POST
@admin_page
def try_search(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Raises PermissionDenied for whoever may not change searches of the web."""
    if not request.user.has_perm("agent.change_websearchprovider"):
        raise PermissionDenied(gettext("Only administrators of the system set up searches of the web."))
    return _tried(request, principal, WebSearchProvider, WebSearchProviderForm, Action.WEB_SEARCH_TESTED, _searched)


@require_POST
@admin_page
def try_bot(request: HttpRequest, principal: Principal) -> HttpResponseBase:
    """Raises PermissionDenied for whoever may not change bots of chat platforms."""
    if not request.user.has_perm("agent.change_chatbot"):
        raise PermissionDenied(gettext("Only administrators of the system set up bots in chat platforms."))
    try:
        stored = ChatBot.objects.filter(pk=request.POST.get("id", "")).first()
    except ValidationError:  # no UUID: it is new
        stored = None
    form = ChatBotForm(request.POST, instance=stored)
    is_tried = form.is_valid() and form.instance.is_active  # then it was tried already
    name = form.try_it() if form.is_valid() and not is_tried else ""
    record(principal, Action.CHAT_BOT_TESTED, detail={"address": form.instance.base_url})
    if not form.is_valid():
        return render(request, "admin/_tried.html", {"ok": False, "sentence": first_fault(form)})
    said = gettext("It answers as “%(name)s”. Save it now.") % {"name": name or form.instance.bot_id}
    return render(request, "admin/_tried.html", {"ok": True, "sentence": said})


def _tried(  # noqa: PLR0917  # one call of each kind
    request: HttpRequest,
    principal: Principal,
    kind: type[Any],
    form_of: type[forms.ModelForm[Any]],
    action: Action,
    outcome: Callable[[Any], Mapping[str, object]],
) -> HttpResponseBase:
    """What the form says, with the stored key of the row `id` where none is entered and the address is the same. Nothing is saved.

    outcome: what comes of trying a row: ok, sentence, and detail, the service's own words in English.
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


def _searched(row: WebSearchProvider) -> dict[str, object]:
    try:
        found = search(service_of(row), QUERY, HostRules())
    except SearchFailed as problem:
        return {"ok": False, "sentence": gettext("It does not answer as it should."), "detail": str(problem)}
    if not found:
        return {"ok": False, "sentence": gettext("It answers, and finds nothing for “%(query)s”.") % {"query": QUERY}}
    counted = ngettext("%(count)d page", "%(count)d pages", len(found)) % {"count": len(found)}
    sentence = gettext("It answers: %(pages)s for “%(query)s”. Save it now.") % {"pages": counted, "query": QUERY}
    return {"ok": True, "sentence": sentence}
