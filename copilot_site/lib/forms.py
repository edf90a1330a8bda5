"""Forms of pages whose values the services judge."""

from typing import Any

from django.forms import BaseForm

from copilot_site.lib.errors import InvalidInput


def checked(form: BaseForm) -> dict[str, Any]:
    """What was given. Raises InvalidInput with the first thing that is wrong."""
    if form.is_valid():
        return form.cleaned_data
    raise InvalidInput(str(next(iter(form.errors.values()))[0]))


def first_fault(form: BaseForm) -> str:
    """What is wrong first in a form that is not valid, after the label of its field where it is one field's."""
    name, errors = next(iter(form.errors.items()))
    field = form.fields.get(name)
    return f"{field.label}: {errors[0]}" if field else str(errors[0])
