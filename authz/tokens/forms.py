"""Forms for a new API token: on the person's own page, where `issue_token` reports errors, and in the admin."""

from typing import Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from authz.people.names import require_usable_name
from authz.scopes import DEFAULT_SCOPES, TokenScope
from authz.tokens.api_tokens import DEFAULT_DAYS, MAX_DAYS
from copilot_site.lib.errors import InvalidInput


class OwnTokenForm(forms.Form):
    name = forms.CharField(required=False)
    days = forms.IntegerField(min_value=0)
    scopes = forms.Field(required=False, widget=forms.SelectMultiple)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sentence = gettext("Give the number of days as a whole number between 1 and %(most)s.") % {"most": MAX_DAYS}
        self.fields["days"].error_messages |= {"required": sentence, "invalid": sentence, "min_value": sentence}


def clean_name(name: str) -> str:
    """Return the form's name for a new account. Raises ValidationError."""
    try:
        require_usable_name(name)
    except InvalidInput as problem:
        raise forms.ValidationError(str(problem)) from problem
    return name


class AccountTokenForm(forms.Form):
    name = forms.CharField(label=_("What uses it"), max_length=100)
    days = forms.IntegerField(label=_("Valid for (days)"), min_value=1, max_value=MAX_DAYS, initial=DEFAULT_DAYS)
    scopes = forms.MultipleChoiceField(
        label=capfirst(_("scopes")),
        choices=TokenScope.choices,
        initial=DEFAULT_SCOPES,
        widget=forms.CheckboxSelectMultiple,
    )
    folder_id = forms.UUIDField(
        label=_("Only this folder"),
        required=False,
        help_text=_("The id in the folder's address. Empty: all the account can see."),
    )
