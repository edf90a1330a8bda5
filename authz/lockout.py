"""Nobody locks the last manager out: who may manage a place after a change is compared with who could before."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from django.db import connection, models, transaction
from django.utils.translation import gettext as _

from authz.holders import people_with
from authz.permissions import Right
from copilot_site.lib.errors import InvalidInput


@contextmanager
def managers_kept(places: Callable[[], Iterable[models.Model]]) -> Iterator[None]:
    """A transaction around a change of rights, one at a time in the system.

    places: which folders and knowledge bases it concerns, asked when no other such change is under way. Raises InvalidInput,
    and nothing of the change stays, when one of them had somebody who may manage it without an end and has nobody any more.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('managers', 0))")
        managed = [place for place in places() if _is_managed(place)]
        yield
        for place in managed:
            if not _is_managed(place):
                raise InvalidInput(
                    _("Nobody could manage “%(name)s” any more. Give somebody else the right to manage it first.")
                    % {"name": place}
                )


def _is_managed(place: models.Model) -> bool:
    return people_with(Right.MANAGE, place, without_end=True).exists()
