"""Write the address of the explore form, filled with a question."""

from urllib.parse import urlencode

from django.urls import reverse

from business.explore.fields import Fields, fits
from business.logical_query.query import LogicalQuery

MAX_CHARACTERS = 6_000  # of an address; proxies accept 8,000


def explore_url(source: str, query: LogicalQuery | Fields | None = None) -> str:
    """Return the address for changing a question. query: None for the empty form, Fields if partly understood.

    "" for a query that does not fit the form or an address: no link is better than a truncated question.
    """
    if isinstance(query, LogicalQuery) and not fits(query):
        return ""
    fields = Fields.of(query) if isinstance(query, LogicalQuery) else query or Fields()
    filled = "&".join(filter(None, [urlencode({"source": source}), fields.encoded()]))
    address = f"{reverse('explore')}?{filled}"
    return address if len(address) <= MAX_CHARACTERS else ""
