"""Forms of the pages about answers; the services validate the values."""

from django import forms
from django.utils.translation import gettext_lazy as _


class FeedbackForm(forms.Form):
    rating = forms.CharField(required=False)
    fault = forms.CharField(required=False)
    comment = forms.CharField(required=False, strip=False)
    is_shown_to_keepers = forms.BooleanField(required=False)


class AboutForm(forms.Form):
    """The document or folder that a conversation begins with; neither: no restriction."""

    document = forms.CharField(required=False)
    folder = forms.CharField(required=False)


class AttachForm(forms.Form):
    file = forms.FileField(allow_empty_file=True, error_messages={"required": _("Choose a file first.")})


class FileIntoForm(forms.Form):
    folder = forms.UUIDField(error_messages={"required": _("Choose a folder."), "invalid": _("Choose a folder.")})


class OrganiseForm(forms.Form):
    """Omitted fields stay unchanged."""

    title = forms.CharField(required=False)
    label = forms.CharField(required=False)
    is_pinned = forms.TypedChoiceField(
        choices=[("1", "1"), ("0", "0")], coerce=lambda text: text == "1", required=False
    )
    is_archived = forms.TypedChoiceField(
        choices=[("1", "1"), ("0", "0")], coerce=lambda text: text == "1", required=False
    )
