"""Reading of sources: the trial before saving, and runs."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from unicodedata import normalize
from uuid import UUID, uuid4

import structlog
from django.conf import settings as django_settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import ValidationError

from authz.principal import Principal
from copilot_site.lib.errors import CopilotError, InvalidInput
from copilot_site.lib.storage.sealing import SealBroken, seal, unseal
from knowledge.models import Source, SourceRun, Trigger
from knowledge.sources.base import (
    Connector,
    ConnectorContext,
    Item,
    Known,
    Missed,
    Settings,
    connectors,
    load,
    words_of,
)
from knowledge.sources.files import remove_cache
from knowledge.sources.rights import CLOSED, require_met, stated_rights, take_rights
from knowledge.sources.runs import Overtaken, begin, failures_in_a_row, finish, keep, paced, storable
from knowledge.sources.schedule import Pace, next_time
from knowledge.sources.sync import PROGRESS_S, Keeper, items_of

log = structlog.get_logger(__name__)
TITLES = 10  # that a try shows
MAX_COUNTED = 2_000  # pages that a try counts; finding out more takes as long as a run


@dataclass(frozen=True)
class Preview:
    """The result of a trial. count: pages, at least so many where is_more. problems: sentences about unreadable items."""

    count: int
    is_more: bool
    titles: tuple[str, ...]
    problems: tuple[str, ...]


def kind_of(name: str) -> type[Connector]:
    """Return a kind of source by name. Raises UnknownName."""
    load()
    return connectors.get(name)


def checked_settings(kind: str, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a kind of source. Raises InvalidInput, with the labels of the form."""
    wanted = kind_of(kind).wants
    try:
        checked: Settings = wanted.model_validate(dict(given))
    except ValidationError as error:
        first = min(
            error.errors(), key=lambda item: item["type"] != "extra_forbidden"
        )  # a misspelt name comes first: it explains a missing one
        why = str(first.get("ctx", {}).get("error", ""))
        if not first["loc"]:
            raise InvalidInput(why) from error
        name = str(first["loc"][0])
        field = wanted.model_fields.get(name)
        if field is None:
            raise InvalidInput(_("A source of this kind has no setting “%(name)s”.") % {"name": name}) from error
        why = why or _("it is missing or not of the right kind")
        raise InvalidInput(f"{words_of(field)[0]}: {why}") from error
    return checked


def preview(source: Source, *, secret: str) -> Preview:
    """Return what a source, stored or not, would bring. Raises InvalidInput, Unreadable."""
    cache = f"try-{uuid4()}"
    try:
        connector = _connector(source, ConnectorContext(secret, pace=Pace(source.most_per_minute), cache=cache))
        try:
            stated_rights(source, connector)
            return _previewed(connector)
        finally:
            connector.close()
    finally:
        remove_cache(cache)


def _previewed(connector: Connector) -> Preview:
    titles: list[str] = []
    problems: list[str] = []
    found = 0
    for item in map(taken_in, connector.listing()):
        if not isinstance(item, Item):
            problems.append(storable(item.why))
            continue
        found += 1
        if len(titles) < TITLES:
            titles.append(item.title or item.path)
        if found == MAX_COUNTED:
            return Preview(found, True, tuple(titles), tuple(problems[:TITLES]))
    return Preview(found, False, tuple(titles), tuple(problems[:TITLES]))


def read_source(source_id: UUID, trigger: Trigger, *, by: Principal | None = None) -> SourceRun | None:
    """Read a source until its folder matches it; None while another run is under way.

    Failures are recorded in the run. by: whoever asked for it.
    """
    source = Source.unscoped.select_related("folder").get(pk=source_id)
    run = begin(source, trigger, by=by)
    if run is None:
        return None
    problem = ""
    try:
        _read(source, run)
    except Overtaken:
        return run
    except CopilotError as error:
        problem = str(error)
        log.warning("source.unreadable", source=str(source.pk), why=problem)
    except Exception:
        log.exception("source.failed", source=str(source.pk))
        problem = _("Something went wrong here: see the log of the worker.")
    try:
        finish(run, problem=problem)
    except Overtaken:
        return run
    _plan(source)
    return run


def _read(source: Source, run: SourceRun) -> None:
    items = items_of(source)
    known = {row.original_id: Known(row.version, row.memory) for row in items.values() if not row.failure}
    pace = paced(run, Pace(source.most_per_minute))
    reading = ConnectorContext(opened_secret(source), known, source.state, pace, cache=str(source.pk))
    connector = _connector(source, reading)
    try:
        accesses = stated_rights(source, connector)
        listing: Iterable[Item | Missed] = map(taken_in, connector.listing())
        if accesses:
            listing = _whole(run, listing)
            require_met(accesses, listing)
        closed = take_rights(run, source, accesses)
        Source.unscoped.filter(pk=source.pk).update(state={**source.state, CLOSED: closed})
        Keeper(run, source, connector, items=items).keep_all(listing)
    finally:
        connector.close()
    if not run.failed:
        Source.unscoped.filter(pk=source.pk).update(state={**connector.state, CLOSED: closed})


def _whole(run: SourceRun, listing: Iterable[Item | Missed]) -> list[Item | Missed]:
    """Return a listing to its end, while the run keeps its lease."""
    found, told_at = list[Item | Missed](), time.monotonic()
    for item in listing:
        found.append(item)
        if time.monotonic() - told_at > PROGRESS_S:
            keep(run)
            told_at = time.monotonic()
    return found


def _connector(source: Source, reading: ConnectorContext) -> Connector:
    return kind_of(source.kind)(checked_settings(source.kind, source.settings), reading)


@transaction.atomic
def _plan(source: Source) -> None:
    """Set the time of the next scheduled run."""
    current = Source.unscoped.select_for_update().get(pk=source.pk)
    at = next_time(current, timezone.now(), failures=failures_in_a_row(current))
    Source.unscoped.filter(pk=source.pk).update(next_at=at)


def sealed_secret(secret: str, address: str) -> str:
    """Return a secret as it is stored, for this address alone."""
    return seal(secret, purpose=_purpose(address), secrets=[django_settings.SECRET_KEY])


def opened_secret(source: Source) -> str:
    """Return a secret in the clear. Raises InvalidInput if sealed for another address or by another site secret."""
    address = checked_settings(source.kind, source.settings).address
    try:
        return unseal(source.encrypted_secret, purpose=_purpose(address), secrets=[django_settings.SECRET_KEY])
    except SealBroken:
        raise InvalidInput(
            _("The secret was stored for another address or another COPILOT_SECRET_KEY: enter it again.")
        ) from None


def _purpose(address: str) -> str:
    return f"copilot source of documents {address}"


MAX = {"id": 1_000, "path": 1_000, "url": 2_048}  # characters, as SourceItem has them


def taken_in(each: Item | Missed) -> Item | Missed:
    """Return an item with its path in NFC, as rules are read; one that cannot be stored is missed, without stopping the others."""
    if isinstance(each, Missed):
        return each
    for name, most in MAX.items():
        text = getattr(each, name)
        if text != storable(text):
            return Missed(storable(each.id), _("Its name has characters that cannot be stored: rename it there."))
        if len(text) > most:
            message = _("Its name or address has more than %(most)s characters: shorten it there.")
            return Missed(storable(each.id), message % {"most": most})
    return replace(each, path=normalize("NFC", each.path))
