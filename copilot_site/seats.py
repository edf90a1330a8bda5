"""What the requests of this site wait for: which of them take long, and how many of each kind are served at once."""

from typing import Final

from django.conf import settings

from copilot_site.lib.fair_queue import FairQueue
from copilot_site.lib.seats import Share
from copilot_site.lib.web_process import EXPORTS, PAGES, TRANSFERS

TRANSFER, EXPORT = "transfers", "exports"
# A method beside each: a list at the same address is a page like others.
KINDS: Final[dict[tuple[str, str], str]] = {
    ("POST", "folder-upload"): TRANSFER,
    ("POST", "api:folder-documents"): TRANSFER,
    ("POST", "api:knowledge-search"): TRANSFER,
    ("POST", "api:see-as-knowledge-search"): TRANSFER,
    ("POST", "api:see-as-answer"): TRANSFER,
    ("POST", "see-as"): TRANSFER,
    ("POST", "mcp"): TRANSFER,
    ("GET", "document-download"): TRANSFER,
    ("GET", "api:document-download"): TRANSFER,
    ("GET", "page-image"): TRANSFER,
    ("POST", "query-run-again"): TRANSFER,
    ("POST", "api:query-again"): TRANSFER,
    ("POST", "query-correct"): TRANSFER,
    ("POST", "api:query-correction"): TRANSFER,
    ("POST", "check-sql"): TRANSFER,
    ("GET", "rights-export"): TRANSFER,
    ("GET", "api:effective-access"): TRANSFER,
    ("GET", "api:audit-export"): EXPORT,
    ("POST", "admin:audit_entry_export"): EXPORT,
}


def shares() -> dict[str, Share]:
    """Of one process. A page is not worth waiting for longer than 15 s; a transfer is."""

    def queue(places: int, own_places: int, most_waiting: int) -> FairQueue:
        return FairQueue(places=places, own_places=lambda _party: own_places, most_waiting=most_waiting)

    return {
        "pages": Share(queue(PAGES, PAGES, 400), wait_s=15.0),
        TRANSFER: Share(queue(TRANSFERS, settings.TRANSFERS_PER_PERSON, 200), wait_s=60.0),
        EXPORT: Share(queue(EXPORTS, 1, 20), wait_s=60.0),
    }
