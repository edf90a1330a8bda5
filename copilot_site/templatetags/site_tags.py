"""The tag `{% version %}` and the filter `in_language`, which every template has without `{% load %}`."""

from django.template import Library
from django.utils.translation import gettext as _

from copilot_site.lib.text.bilingual import in_language
from copilot_site.lib.version import VERSION

register = Library()
register.filter(in_language)


@register.simple_tag
def version() -> str:
    """Return "Version 1.0.0" in the reader's language, for the foot of a page."""
    return _("Version %(number)s") % {"number": VERSION}
