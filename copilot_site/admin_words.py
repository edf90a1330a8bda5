"""The texts of the admin's scripts, with those missing in Django's own catalogues, such as of its new picker."""

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
COLON = gettext_noop(":")  # behind a field's name; Django's Chinese has the half-width one


class AdminWords(JavaScriptCatalog):
    """The catalogue served in place of the admin's own, and based on it."""

    def get_catalog(self) -> dict[str, Any]:
        """Return the catalogue; Django's own texts take precedence, once it has them."""
        return {words: gettext(words) for words in LACKING} | super().get_catalog()
