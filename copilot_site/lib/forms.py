"""Forms of pages whose values the services judge."""

from typing import Any

from django.forms import BaseForm

from copilot_site.lib.errors import InvalidInput


def checked(form: BaseForm) -> dict[str, Any]:
    """What was given. Raises InvalidInput with the first thing that is wrong."""
    if form.is_valid():
        return form.cleaned_data
    raise InvalidInput(str(next(iter(form.errors.values()))[0]))
