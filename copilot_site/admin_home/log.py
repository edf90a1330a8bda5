"""The auditor's first page: how far the log is signed, refusals, impersonations, and what is held."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from audit.actions import Action, Outcome
from audit.models import Entry, Hold
from audit.selectors import Signing, find_signing_state

DAYS = 7
RIGHTS_CHANGED = (
    Action.GRANT_GIVEN, Action.GRANT_REVOKED, Action.DENIAL_GIVEN, Action.DENIAL_REMOVED, Action.INHERITANCE_BROKEN,
    Action.INHERITANCE_RESTORED,
)  # fmt: skip
LISTED: tuple[tuple[Promise, str, tuple[str, ...]], ...] = (  # name, field, its values
    (_("Refused"), "outcome", (Outcome.DENY,)),
    (_("Failed"), "outcome", (Outcome.ERROR,)),
    (_("Viewed as someone else"), "action", (Action.ACCESS_PREVIEWED, Action.ANSWER_REPLAYED)),
    (_("Rights changed"), "action", RIGHTS_CHANGED),
    (_("Exports of the log"), "action", (Action.AUDIT_EXPORTED,)),
)


@dataclass(frozen=True)
class Number:
    """A number for the last DAYS, with its list."""

    name: Promise
    count: int
    url: str


@dataclass(frozen=True)
class Log:
    signing: Signing
    numbers: tuple[Number, ...]
    holds: int


def build_log_home() -> Log:
    """Return the page's numbers, for people who may read the log; its linked lists record who reads them."""
    return Log(find_signing_state(), tuple(_iterate_numbers()), Hold.objects.filter(released_at=None).count())


def _iterate_numbers() -> Iterator[Number]:
    since = (timezone.localtime() - timedelta(days=DAYS)).replace(hour=0, minute=0, second=0, microsecond=0)
    address = reverse("admin:audit_entry_changelist")
    for name, field, values in LISTED:
        query = {f"{field}__in": ",".join(values), "at__gte": since.isoformat()}
        count = Entry.objects.filter(**{f"{field}__in": values}, at__gte=since).count()
        yield Number(name, count, f"{address}?{urlencode(query)}")
