"""Reading the log: by filter, everything about one run, and how far it is signed."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet, prefetch_related_objects
from django.utils import timezone

from audit.actions import Action
from audit.chain.checkpoints import find_newest_checkpoint
from audit.chain.malformed_rows import load_partial_rows, load_readable_rows
from audit.models import Checkpoint, Entry, Head, Link

SEARCHED = ("actor_name", "on_behalf_of_name", "target_name", "target_id", "run_id", "request_id", "reason")


@dataclass(frozen=True)
class EntryFilter:
    """A filter on entries; None and empty fields match all. actor: a number or a sign-in name. until is exclusive. text: a search."""

    since: datetime | None = None
    until: datetime | None = None
    actor: str = ""
    action: str = ""
    outcome: str = ""
    target_id: str = ""
    run_id: str = ""
    request_id: str = ""
    text: str = ""

    def stored(self) -> dict[str, str]:
        """Return the set fields as JSON, without a person's name: the log stores it, and must be erasable."""
        given = {name: str(value) for name, value in asdict(self).items() if value}
        if not given.get("actor", "0").isdecimal():
            given["actor"] = "by name"
        return given | ({"text": "by words"} if self.text else {})

    def condition(self) -> Q:
        """Return the filter on links."""
        exact = {"action", "outcome", "target_id", "run_id", "request_id"}
        found = Q(**{f"entry__{name}": value for name, value in asdict(self).items() if name in exact and value})
        if self.since:
            found &= Q(entry__at__gte=self.since)
        if self.until:
            found &= Q(entry__at__lt=self.until)
        if self.actor:
            found &= Q(entry__actor_id=int(self.actor)) if self.actor.isdecimal() else Q(entry__actor_name=self.actor)
        return found & searched(self.text, "entry__")


def searched(text: str, prefix: str = "") -> Q:
    """Return the filter on entries whose fields, or whose action's label, hold all words of a text."""
    words, found = text.casefold().split(), Q()
    for word in words:
        found &= Q(*((f"{prefix}{name}__icontains", word) for name in SEARCHED), _connector=Q.OR)
    begun = [f" {word}" if word.isascii() else word for word in words]
    called = [action for action, name in Action.choices if words and all(w in f" {name}".casefold() for w in begun)]
    return found | Q(**{f"{prefix}action__in": called}) if called else found


def list_links(chosen: EntryFilter) -> QuerySet[Link]:
    """Return the links of the chosen entries, in chain order."""
    return Link.objects.filter(chosen.condition()).order_by("seq")


def attach_entries(places: list[Link]) -> list[Link]:
    """Attach the entries; one that is unreadable or deleted comes with the fields that are known."""
    for place, entry in zip(places, load_partial_rows(Entry, [place.entry_id for place in places]), strict=True):
        place.entry = entry
    return places


def list_run_entries(run_id: str) -> list[Entry]:
    """Return all entries about one run, in the order they were recorded."""
    entries = load_partial_rows(
        Entry, list(Entry.objects.filter(run_id=run_id).order_by("id").values_list("pk", flat=True))
    )
    prefetch_related_objects(entries, "link")
    return entries


@dataclass(frozen=True)
class Signing:
    """The ends of the log and of its signed part. unsigned: the oldest entry after the last checkpoint, or None.

    due_at: the time by which it will be signed. is_late: it is overdue by more than a whole signing interval.
    """

    head: Head | None
    checkpoint: Checkpoint | None
    unsigned: Link | None
    due_at: datetime | None
    is_late: bool


def find_signing_state() -> Signing:
    """Return the state of signing now; signatures count where this host has the keys, else agreement with the chain."""
    checkpoint = find_newest_checkpoint()
    unsigned = Link.objects.filter(seq__gt=checkpoint.seq if checkpoint else 0).order_by("seq").first()
    every, now = timedelta(seconds=settings.AUDIT_SIGNED_EVERY_S), timezone.now()
    due_at = min(_find_recorded_time(unsigned, now), now) + every if unsigned else None
    is_late = due_at is not None and now > due_at + every
    return Signing(Head.objects.first(), checkpoint, unsigned, due_at, is_late)


def _find_recorded_time(link: Link, now: datetime) -> datetime:
    """Return the time of its entry, at most a day ago; an unreadable one counts as a day old."""
    waited = now - timedelta(days=1)
    entry = load_readable_rows(Entry, [link.entry_id], instead=lambda: Entry(at=waited)).get(link.entry_id)
    return max(entry.at, waited) if entry else waited
