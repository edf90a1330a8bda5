"""Numbers of requests of each kind that this site serves at once, and the share that one client may hold.

The kinds of routes are in `copilot_site.pools`.
"""

from collections.abc import Hashable
from typing import Final

from copilot_site.lib.load.fair_queue import FairQueue
from copilot_site.lib.load.seats import Share
from copilot_site.lib.load.web_process import EXPORTS, PAGES, TRANSFERS
from copilot_site.pools import EXPORT, PAGE, TRANSFER

TRANSFERS_PER_PERSON: Final = 1  # of 4: each keeps a processor, a disk or another server busy
PAGES_PER_PERSON: Final = 2  # a page and what it fetches beside itself
PER_ADDRESS: Final = 1  # of all together that come from one address without showing who they are


def shares() -> dict[str, Share]:
    """Return the shares of one process. A page is not worth waiting for longer than 15 s; a transfer is.

    One person holds less than a pool, their anonymous requests included. A party is a person's id or an address.
    """

    def queue(places: int, of_person: int, most_waiting: int) -> FairQueue:
        def own_places(party: Hashable) -> int:
            return min(of_person, places - PER_ADDRESS - 1) if isinstance(party, int) else PER_ADDRESS

        return FairQueue(places=places, own_places=own_places, most_waiting=most_waiting)

    return {
        PAGE: Share(queue(PAGES, PAGES_PER_PERSON, 400), wait_s=15.0),
        TRANSFER: Share(queue(TRANSFERS, TRANSFERS_PER_PERSON, 200), wait_s=60.0),
        EXPORT: Share(queue(EXPORTS, 1, 20), wait_s=60.0),
    }
