"""The words that the admin's scripts say, with those that Django's own catalogues lack: its picker of many came with new ones."""

from typing import Any

from django.utils.translation import gettext, gettext_noop
from django.views.i18n import JavaScriptCatalog

LACKING = (
    gettext_noop("Choose all %s"),
    gettext_noop("Choose selected %s"),
    gettext_noop('Choose %s by selecting them and then select the "Choose" arrow button.'),
    gettext_noop("Remove all %s"),
    gettext_noop("Remove selected %s"),
    gettext_noop('Remove %s by selecting them and then select the "Remove" arrow button.'),
    gettext_noop("(click to clear)"),
)


class AdminWords(JavaScriptCatalog):
    """In the place of the catalogue that the admin would serve, of whose package it is made."""

    def get_catalog(self) -> dict[str, Any]:
        """What Django's catalogue says comes first: one day it will have these, too."""
        return {words: gettext(words) for words in LACKING} | super().get_catalog()
