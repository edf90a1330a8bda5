"""Drafts of semantic layers made by a worker: progress, unreadable tables, and tables to take over one by one.

Each write to a draft names its attempt; a draft that was discarded or taken over by a later attempt is not written to.
"""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

import psycopg
import structlog
from celery import current_app
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from authz.principal import Principal
from business.models import DataSource, LayerDraft
from business.semantic_layer.model import SemanticLayer, SemanticModel
from business.sources.grants import require_manager
from business.sources.services import redraft_layer, save_layer
from copilot_site.lib.errors import CopilotError, NotFound
from copilot_site.lib.load.queues import send_on_commit

log = structlog.get_logger(__name__)
TASK, QUEUE = "business.draft_layer", "maintenance"
SILENCE = timedelta(minutes=10)  # after which a worker counts as dead: a table with many columns is read in seconds
UNCLAIMED = timedelta(minutes=1)  # after which a message counts as lost
MAX_UNREAD = 100  # most tables whose reason is kept


class _Overtaken(Exception):
    """The draft belongs to a later attempt, or was discarded."""


def draft_of(source: DataSource) -> LayerDraft | None:
    """Return the latest draft of a source that was not discarded."""
    return LayerDraft.objects.filter(source=source).first()


@transaction.atomic
def start_draft(by: Principal, source: DataSource) -> None:
    """Have a worker draft the layer; a running one continues. Raises PermissionDenied unless they manage the source."""
    require_manager(by, source)
    DataSource.unscoped.select_for_update().only("pk").get(pk=source.pk)
    row = draft_of(source)
    if row is not None and row.is_open:
        return
    LayerDraft.objects.filter(source=source).delete()
    send_on_commit(TASK, LayerDraft.objects.create(source=source).attempt, queue=QUEUE)


@transaction.atomic
def discard_draft(by: Principal, source: DataSource) -> None:
    """Discard a draft, even a running one. Raises PermissionDenied unless they manage the source."""
    require_manager(by, source)
    LayerDraft.objects.filter(source=source).delete()


def run_draft(attempt: UUID) -> None:
    """Read the database table by table; store failures on the row, and keep what was read."""
    claimed = LayerDraft.objects.filter(attempt=attempt, alive_at=None, ended_at=None).update(alive_at=timezone.now())
    if not claimed:
        return
    row = LayerDraft.objects.select_related("source").get(attempt=attempt)
    unread: list[dict[str, str]] = []

    def progress(done: int, count: int, table: str) -> None:
        _update_draft(attempt, done=done - 1, count=count, table=table, unread=unread[:MAX_UNREAD])

    def fail(table: str, why: str) -> None:
        unread.append({"table": table, "why": why})

    try:
        layer = redraft_layer(None, row.source, progress=progress, unread=fail)
        stored = layer.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        count = len(layer.semantic_models) + len(unread)
        _update_draft(
            attempt, layer=stored, done=count, count=count, unread=unread[:MAX_UNREAD], ended_at=timezone.now()
        )
    except _Overtaken:
        log.info("layer_draft.overtaken", source=row.source.name)
    except (CopilotError, psycopg.Error) as error:
        log.warning("layer_draft.failed", source=row.source.name, why=str(error))
        _end_draft(attempt, str(error).strip().split("\n")[0])


def recover_stalled_drafts() -> None:
    """Resend drafts that never began, and end those whose worker is dead."""
    now = timezone.now()
    for row in LayerDraft.objects.filter(ended_at=None, alive_at=None, started_at__lt=now - UNCLAIMED):
        _send_draft_task(row.attempt)
    for row in LayerDraft.objects.filter(ended_at=None, alive_at__lt=now - SILENCE):
        _end_draft(row.attempt, _("Its worker ended too early."))


def list_proposed_tables(source: DataSource, row: LayerDraft) -> list[SemanticModel]:
    """Return the tables of a draft that the saved layer does not describe, in the order of the draft."""
    known = {model.place for model in source.semantic_layer.semantic_models}
    layer = SemanticLayer.model_validate(row.layer or {"name": source.name})
    return [model for model in layer.semantic_models if model.place not in known]


@transaction.atomic
def take_over_tables(by: Principal, source: DataSource, models: Iterable[SemanticModel]) -> bool:
    """Add tables of a draft to the saved layer; False if they could not be checked. Raises what `save_layer` raises."""
    require_manager(by, source)
    locked = DataSource.unscoped.select_for_update().get(pk=source.pk)
    saved = locked.semantic_layer
    names = {model.name for model in saved.semantic_models}
    added = tuple(model for model in models if model.name not in names)
    if not added:
        raise NotFound(_("The draft no longer has this table."))
    return save_layer(by, locked, saved.model_copy(update={"semantic_models": (*saved.semantic_models, *added)}))


def _update_draft(attempt: UUID, **fields: object) -> None:
    if not LayerDraft.objects.filter(attempt=attempt, ended_at=None).update(alive_at=timezone.now(), **fields):
        raise _Overtaken


def _end_draft(attempt: UUID, problem: str) -> None:
    LayerDraft.objects.filter(Q(attempt=attempt), ended_at=None).update(ended_at=timezone.now(), problem=problem[:500])


def _send_draft_task(attempt: UUID) -> None:
    current_app.send_task(TASK, args=(str(attempt),), queue=QUEUE)
