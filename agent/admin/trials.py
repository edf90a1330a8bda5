"""Try a service before saving it: a button in its form tells whether the service answers, and if not, what is missing."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from agent.connections.service_keys import Keyed, take_key
from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.http.forms import first_fault


def tried(  # noqa: PLR0917  # one call of each kind
    request: HttpRequest,
    principal: Principal,
    kind: type[Any],
    form_of: Callable[..., forms.ModelForm[Any]],
    action: Action,
    outcome: Callable[[Any], Mapping[str, object]],
) -> HttpResponseBase:
    """Try the values in the form without saving them.

    outcome: tries a row and returns ok, a sentence, and detail, the service's own words in English.
    """
    try:
        row = entered(request, kind, form_of)
    except InvalidInput as problem:
        return render(request, "admin/_tried.html", {"ok": False, "sentence": str(problem)})
    record(principal, action, detail={"address": row.base_url})
    return render(request, "admin/_tried.html", dict(outcome(row)))


def entered(request: HttpRequest, kind: type[Any], form_of: Callable[..., forms.ModelForm[Any]]) -> Any:
    """Return the row as entered, not saved. Raises InvalidInput with the first fault.

    Where no key is entered and the address is unchanged, it has the stored key of the row `id`.
    """
    given = request.POST.get("id", "")
    stored: Keyed | None = kind.objects.filter(pk=given).first() if given.isdecimal() else None
    before = stored.base_url if stored else ""
    form = form_of(request.POST, instance=stored)
    if not form.is_valid():
        raise InvalidInput(first_fault(form))
    row: Keyed = form.save(commit=False)
    take_key(row, form.cleaned_data["api_key"], address_before=before)
    return row
