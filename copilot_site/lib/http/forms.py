"""Forms of pages whose values the services validate."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.forms import BaseForm, TextInput
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from copilot_site.lib.errors import CopilotError, InvalidInput


def validate_form(form: BaseForm) -> dict[str, Any]:
    """Return the form's values. Raises InvalidInput with the first error."""
    if form.is_valid():
        return form.cleaned_data
    raise InvalidInput(str(next(iter(form.errors.values()))[0]))


def find_first_fault(form: BaseForm) -> str:
    """Return the first error of an invalid form, after the label of its field if it has one."""
    name, errors = next(iter(form.errors.items()))
    field = form.fields.get(name)
    return f"{field.label}: {errors[0]}" if field else str(errors[0])


@contextmanager
def show_problem_as_message(request: HttpRequest, kind: type[CopilotError] = InvalidInput) -> Iterator[None]:
    """Show an error of this kind as a message of the page, in place of raising it."""
    try:
        yield
    except kind as problem:
        messages.error(request, str(problem))


class PickedInput(TextInput):
    """A text field that offers values to pick from, each with what it is called; anything else can be typed."""

    def __init__(self, offered: Iterable[tuple[str, str]]) -> None:
        super().__init__(attrs={"autocomplete": "off"})
        self.offered = offered

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        place = f"{name}-offered"
        field = super().render(name, value, {**(attrs or {}), "list": place}, renderer)
        options = format_html_join("", '<option value="{}">{}</option>', self.offered)
        return format_html('{}<datalist id="{}">{}</datalist>', field, place, options)
