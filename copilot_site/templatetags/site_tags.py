"""The tag `{% version %}` and the filter `in_language`, which every template has without `{% load %}`."""

from datetime import date, datetime, timedelta

from django.template import Library
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from copilot_site.lib.text.bilingual import in_language
from copilot_site.lib.version import VERSION

register = Library()
register.filter(in_language)


@register.filter
def last_day(end: datetime) -> date:
    """Return the last day on which something holds that ends at this moment: midnight ends the day before."""
    return localtime(end - timedelta(seconds=1)).date()


@register.simple_tag
def version() -> str:
    """Return "Version 1.0.0" in the reader's language, for the foot of a page."""
    return _("Version %(number)s") % {"number": VERSION}
