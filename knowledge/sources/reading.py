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
from copilot_site.lib.storage.sealing import SealBroken, seal_text, unseal_text
from knowledge.models import Source, SourceRun, Trigger
from knowledge.sources.base import (
    Connector,
    ConnectorContext,
    KnownItem,
    ListedItem,
    Missed,
    Settings,
    connectors,
    find_field_labels,
    load_connectors,
)
from knowledge.sources.files import remove_cache
from knowledge.sources.rights import CLOSED, apply_source_rights, read_stated_rights, require_matched_rules
from knowledge.sources.runs import (
    SourceLeaseLost,
    build_leased_pace,
    clean_foreign_text,
    count_consecutive_failures,
    finish_source_run,
    start_source_run,
    store_run_progress,
)
from knowledge.sources.schedule import Pace, compute_next_run
from knowledge.sources.sync import PROGRESS_S, Keeper, load_source_items

log = structlog.get_logger(__name__)
TITLES = 10  # that a try shows
MAX_COUNTED = 2_000  # pages that a try counts; finding out more takes as long as a run


@dataclass(frozen=True)
class SourcePreview:
    """The result of a trial. count: pages, at least so many where is_more. problems: sentences about unreadable items."""

    count: int
    is_more: bool
    titles: tuple[str, ...]
    problems: tuple[str, ...]


def find_connector_type(name: str) -> type[Connector]:
    """Return a kind of source by name. Raises UnknownName."""
    load_connectors()
    return connectors.get(name)


def validate_settings(kind: str, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a kind of source. Raises InvalidInput, with the labels of the form."""
    wanted = find_connector_type(kind).wants
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
        raise InvalidInput(f"{find_field_labels(field)[0]}: {why}") from error
    return checked


def preview_source(source: Source, *, secret: str) -> SourcePreview:
    """Return what a source, stored or not, would bring. Raises InvalidInput, Unreadable."""
    cache = f"try-{uuid4()}"
    try:
        connector = _build_connector(source, ConnectorContext(secret, pace=Pace(source.most_per_minute), cache=cache))
        try:
            read_stated_rights(source, connector)
            return _preview_listing(connector)
        finally:
            connector.close()
    finally:
        remove_cache(cache)


def _preview_listing(connector: Connector) -> SourcePreview:
    titles: list[str] = []
    problems: list[str] = []
    found = 0
    for item in map(normalise_item, connector.listing()):
        if not isinstance(item, ListedItem):
            problems.append(clean_foreign_text(item.why))
            continue
        found += 1
        if len(titles) < TITLES:
            titles.append(item.title or item.path)
        if found == MAX_COUNTED:
            return SourcePreview(found, True, tuple(titles), tuple(problems[:TITLES]))
    return SourcePreview(found, False, tuple(titles), tuple(problems[:TITLES]))


def read_source(source_id: UUID, trigger: Trigger, *, by: Principal | None = None) -> SourceRun | None:
    """Read a source until its folder matches it; None while another run is under way.

    Failures are recorded in the run. by: whoever asked for it.
    """
    source = Source.unscoped.select_related("folder").get(pk=source_id)
    run = start_source_run(source, trigger, by=by)
    if run is None:
        return None
    problem = ""
    try:
        _import_listing(source, run)
    except SourceLeaseLost:
        return run
    except CopilotError as error:
        problem = str(error)
        log.warning("source.unreadable", source=str(source.pk), why=problem)
    except Exception:
        log.exception("source.failed", source=str(source.pk))
        problem = _("Something went wrong here: see the log of the worker.")
    try:
        finish_source_run(run, problem=problem)
    except SourceLeaseLost:
        return run
    _schedule_next_run(source)
    return run


def _import_listing(source: Source, run: SourceRun) -> None:
    items = load_source_items(source)
    known = {row.original_id: KnownItem(row.version, row.memory) for row in items.values() if not row.failure}
    pace = build_leased_pace(run, Pace(source.most_per_minute))
    reading = ConnectorContext(open_source_secret(source), known, source.state, pace, cache=str(source.pk))
    connector = _build_connector(source, reading)
    try:
        accesses = read_stated_rights(source, connector)
        listing: Iterable[ListedItem | Missed] = map(normalise_item, connector.listing())
        if accesses:
            listing = _collect_listing(run, listing)
            require_matched_rules(accesses, listing)
        closed = apply_source_rights(run, source, accesses)
        Source.unscoped.filter(pk=source.pk).update(state={**source.state, CLOSED: closed})
        Keeper(run, source, connector, items=items).keep_all(listing)
    finally:
        connector.close()
    if not run.failed:
        Source.unscoped.filter(pk=source.pk).update(state={**connector.state, CLOSED: closed})


def _collect_listing(run: SourceRun, listing: Iterable[ListedItem | Missed]) -> list[ListedItem | Missed]:
    """Return a listing to its end, while the run keeps its lease."""
    found, told_at = list[ListedItem | Missed](), time.monotonic()
    for item in listing:
        found.append(item)
        if time.monotonic() - told_at > PROGRESS_S:
            store_run_progress(run)
            told_at = time.monotonic()
    return found


def _build_connector(source: Source, reading: ConnectorContext) -> Connector:
    return find_connector_type(source.kind)(validate_settings(source.kind, source.settings), reading)


@transaction.atomic
def _schedule_next_run(source: Source) -> None:
    """Set the time of the next scheduled run."""
    current = Source.unscoped.select_for_update().get(pk=source.pk)
    at = compute_next_run(current, timezone.now(), failures=count_consecutive_failures(current))
    Source.unscoped.filter(pk=source.pk).update(next_at=at)


def seal_source_secret(secret: str, address: str) -> str:
    """Return a secret as it is stored, for this address alone."""
    return seal_text(secret, purpose=_build_seal_purpose(address), secrets=[django_settings.SECRET_KEY])


def open_source_secret(source: Source) -> str:
    """Return a secret in the clear. Raises InvalidInput if sealed for another address or by another site secret."""
    address = validate_settings(source.kind, source.settings).address
    try:
        return unseal_text(
            source.encrypted_secret, purpose=_build_seal_purpose(address), secrets=[django_settings.SECRET_KEY]
        )
    except SealBroken:
        raise InvalidInput(
            _("The secret was stored for another address or another COPILOT_SECRET_KEY: enter it again.")
        ) from None


def _build_seal_purpose(address: str) -> str:
    return f"copilot source of documents {address}"


MAX = {"id": 1_000, "path": 1_000, "url": 2_048}  # characters, as SourceItem has them


def normalise_item(each: ListedItem | Missed) -> ListedItem | Missed:
    """Return an item with its path in NFC, as rules are read; one that cannot be stored is missed, without stopping the others."""
    if isinstance(each, Missed):
        return each
    for name, most in MAX.items():
        text = getattr(each, name)
        if text != clean_foreign_text(text):
            return Missed(
                clean_foreign_text(each.id), _("Its name has characters that cannot be stored: rename it there.")
            )
        if len(text) > most:
            message = _("Its name or address has more than %(most)s characters: shorten it there.")
            return Missed(clean_foreign_text(each.id), message % {"most": most})
    return replace(each, path=normalize("NFC", each.path))
