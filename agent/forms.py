"""What the pages about answers are asked; what it may be, the services say."""

from django import forms


class FeedbackForm(forms.Form):
    rating = forms.CharField(required=False)
    comment = forms.CharField(required=False, strip=False)


class LookForm(forms.Form):
    """What somebody tries with another person's eyes: the tree, a search, or a question."""

    what = forms.CharField(required=False, empty_value="tree")
    text = forms.CharField(required=False, strip=False)
