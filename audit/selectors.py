"""Reading the log: by filter, and everything about one run."""

from dataclasses import asdict, dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from audit.models import Entry, Link


@dataclass(frozen=True)
class EntryFilter:
    """Which entries; what is None or empty does not narrow. actor: a number or a sign-in name. until is exclusive."""

    since: datetime | None = None
    until: datetime | None = None
    actor: str = ""
    action: str = ""
    outcome: str = ""
    target_id: str = ""
    run_id: str = ""
    request_id: str = ""

    def stored(self) -> dict[str, str]:
        """What is set, as JSON. A person's name is left out: what goes into the log must be erasable."""
        given = {name: str(value) for name, value in asdict(self).items() if value}
        if not given.get("actor", "0").isdecimal():
            given["actor"] = "by name"
        return given

    def condition(self) -> Q:
        """The filter on links."""
        exact = {"action", "outcome", "target_id", "run_id", "request_id"}
        found = Q(**{f"entry__{name}": value for name, value in asdict(self).items() if name in exact and value})
        if self.since:
            found &= Q(entry__at__gte=self.since)
        if self.until:
            found &= Q(entry__at__lt=self.until)
        if self.actor:
            found &= Q(entry__actor_id=int(self.actor)) if self.actor.isdecimal() else Q(entry__actor_name=self.actor)
        return found


def links(chosen: EntryFilter) -> QuerySet[Link]:
    """Entries with their places, in the order of the chain."""
    return Link.objects.filter(chosen.condition()).select_related("entry").order_by("seq")


def timeline(run_id: str) -> QuerySet[Entry]:
    """Everything that was recorded about one run, in the order in which it was."""
    found: QuerySet[Entry] = Entry.objects.filter(run_id=run_id).select_related("link").order_by("id")
    return found
