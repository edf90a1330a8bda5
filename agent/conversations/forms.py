"""What the pages about answers are asked; what it may be, the services say."""

from django import forms


class FeedbackForm(forms.Form):
    rating = forms.CharField(required=False)
    fault = forms.CharField(required=False)
    comment = forms.CharField(required=False, strip=False)
    is_shown_to_keepers = forms.BooleanField(required=False)


class OrganiseForm(forms.Form):
    """What is not given stays as it is."""

    title = forms.CharField(required=False)
    label = forms.CharField(required=False)
    is_pinned = forms.TypedChoiceField(
        choices=[("1", "1"), ("0", "0")], coerce=lambda text: text == "1", required=False
    )
    is_archived = forms.TypedChoiceField(
        choices=[("1", "1"), ("0", "0")], coerce=lambda text: text == "1", required=False
    )
