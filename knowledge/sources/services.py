"""Set-up of sources of documents: who may connect them, and what is audited.

The right is `knowledge.connect_source`, a superuser's by default. Whoever manages the folder sees a source there and has it read.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.conf import settings as django_settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows, get_governed
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound, PermissionDenied
from copilot_site.lib.storage.sealing import SealBroken, seal_text, unseal_text
from knowledge.models import Folder, Source, SourceItem, SourceRun, SourceRunState
from knowledge.services.originals import withdraw_document
from knowledge.sources.files import remove_cache
from knowledge.sources.reading import (
    SourcePreview,
    open_source_secret,
    preview_source,
    seal_source_secret,
    validate_settings,
)
from knowledge.sources.rights import CLOSED, end_source_grants
from knowledge.sources.schedule import compute_next_run

FIELDS = (
    "name", "is_active", "every_minutes", "at", "quiet_from", "quiet_until", "most_per_minute", "grace_hours", "takes_rights",
)  # fmt: skip
HOOK_PURPOSE = "copilot source webhook"


def may_connect_sources(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Tell whether somebody may connect sources: superusers and holders of `knowledge.connect_source`."""
    return isinstance(user, User) and user.is_active and user.has_perm("knowledge.connect_source")


def list_managed_sources(principal: Principal, user: AbstractBaseUser | AnonymousUser) -> QuerySet[Source]:
    """Return the sources this person manages: those whose folder they manage, or all if they may connect sources."""
    rows = Source.unscoped.all() if may_connect_sources(user) else filter_governed_rows(Source, principal)
    return rows.select_related("folder__knowledge_base")


def find_newest_runs(sources: Iterable[Source]) -> dict[UUID, SourceRun]:
    """Return the last run of each that has been read, by the source's id."""
    runs = SourceRun.objects.filter(source__in=sources).order_by("source_id", "-started_at").distinct("source_id")
    return {run.source_id: run for run in runs}


def count_failing_sources(principal: Principal, user: AbstractBaseUser | AnonymousUser) -> int:
    """Return how many sources that this person manages failed, wholly or in part, in their last run."""
    runs = find_newest_runs(list_managed_sources(principal, user).filter(is_active=True))
    return sum(run.state in (SourceRunState.FAILED, SourceRunState.PARTIAL) for run in runs.values())


def find_managed_source(principal: Principal, user: AbstractBaseUser | AnonymousUser, source_id: UUID) -> Source:
    """Return a source that this person manages. Raises NotFound, the same for missing and not theirs."""
    if not may_connect_sources(user) or principal.folder_id is not None:
        return get_governed(Source, principal, pk=source_id)
    source = list_managed_sources(principal, user).filter(pk=source_id).first()
    if source is None:
        raise NotFound(_("There is no such %(what)s, or you do not manage it.") % {"what": Source._meta.verbose_name})
    return source


def list_nameable_pages(
    principal: Principal, user: AbstractBaseUser | AnonymousUser, source: Source
) -> QuerySet[SourceItem]:
    """Return the pages of a source whose names this person may see: all if they may connect sources, else those of documents that
    they may read or govern.
    """
    rows = SourceItem.unscoped.filter(source=source)
    if may_connect_sources(user) and principal.folder_id is None:
        return rows
    theirs = Q(pk__in=SourceItem.objects.visible_to(principal)) | Q(pk__in=filter_governed_rows(SourceItem, principal))
    return rows.filter(theirs)


def list_nameable_problems(
    principal: Principal, user: AbstractBaseUser | AnonymousUser, run: SourceRun
) -> list[dict[str, str]]:
    """Return a run's failures for this person: pages that they may not see are only counted."""
    if may_connect_sources(user) and principal.folder_id is None:
        return list(run.problems)
    names = {problem["what"] for problem in run.problems}
    known = set(list_nameable_pages(principal, user, run.source).filter(path__in=names).values_list("path", flat=True))
    problems = [problem for problem in run.problems if problem["what"] in known]
    if others := len(run.problems) - len(problems):
        message = ngettext("One page you cannot see.", "%(n)d pages you cannot see.", others) % {"n": others}
        problems.append({"what": "", "why": message})
    return problems


def try_source(by: User | AnonymousUser, source: Source, *, secret: str = "") -> SourcePreview:
    """Return what a source would bring, before it is saved. secret: as for `save_source`. Raises PermissionDenied, InvalidInput."""
    _require_connect_right(by)
    settings = validate_settings(source.kind, source.settings)
    stored = Source.unscoped.filter(pk=source.pk).first()
    if not secret and stored is not None and _find_secret_address(stored) == (source.kind, settings.address):
        secret = open_source_secret(stored)
    return preview_source(source, secret=secret)


@transaction.atomic
def save_source(by: User | AnonymousUser | None, source: Source, *, secret: str = "") -> bool:
    """Store a source. secret: a new one; "": keep the stored one while the address stays. by: None for the system.

    Returns whether a stored secret was emptied, because it was for another address: it must be entered again.
    Raises PermissionDenied, NotFound (a folder that they do not manage), InvalidInput (settings), Conflict (the name is taken, another
    source fills the folder).
    """
    if by is not None:
        _require_fill_right(by, source)
    settings = validate_settings(source.kind, source.settings)
    source.settings = settings.model_dump(mode="json")
    _refuse_overlap(source)
    before = Source.unscoped.select_for_update().filter(pk=source.pk).first()
    if before is not None and (before.kind, before.folder_id) != (source.kind, source.folder_id):
        raise InvalidInput(_("A source keeps its kind and its folder. Create another one for another place."))
    is_moved = before is not None and _find_secret_address(before) != (source.kind, settings.address)
    is_emptied = is_moved and not secret and bool(before and before.encrypted_secret)
    if secret:
        source.encrypted_secret = seal_source_secret(secret, settings.address)
    elif is_moved:
        source.encrypted_secret = ""
    if is_moved:
        source.state = {CLOSED: source.state.get(CLOSED, {})}
    source.next_at = (
        compute_next_run(source, timezone.now()) if before else (timezone.now() if source.every_minutes else None)
    )
    source.save()
    changed = [name for name in FIELDS if before is None or getattr(before, name) != getattr(source, name)]
    changed += [name for name, value in source.settings.items() if before is None or before.settings.get(name) != value]
    detail: dict[str, object] = {"fields": changed}
    if before is None or is_moved:
        detail |= {"address_before": _find_secret_address(before)[1] if before else "", "address": settings.address}
    if secret or is_emptied:
        detail["secret"] = "entered" if secret else "emptied"
    record_action(Principal.of(by) if by else None, Action.DOCUMENT_SOURCE_CHANGED, source, detail=detail)
    return is_emptied


@transaction.atomic
def delete_source(by: User | AnonymousUser, source: Source, *, withdraw: bool) -> None:
    """Delete a source; its documents stay as they are, or are withdrawn. Raises PermissionDenied, NotFound (its folder)."""
    principal = _require_fill_right(by, source)
    if withdraw:
        for row in SourceItem.unscoped.filter(source=source).exclude(document=None).select_related("document"):
            assert row.document is not None  # just asked for
            withdraw_document(principal, row.document)
    end_source_grants(source)
    detail = {"address_before": _find_secret_address(source)[1], "withdrawn": withdraw}
    record_action(principal, Action.DOCUMENT_SOURCE_DELETED, source, detail=detail)
    cache = str(source.pk)
    source.delete()
    transaction.on_commit(lambda: remove_cache(cache), robust=True)


@transaction.atomic
def create_webhook_secret(by: User | AnonymousUser, source: Source) -> str:
    """Return a new secret for calls of the source's webhook, shown once; the previous one becomes invalid. Raises as `delete_source`."""
    principal = _require_fill_right(by, source)
    secret = secrets.token_urlsafe(32)
    purpose = f"{HOOK_PURPOSE} {source.pk}"
    source.encrypted_hook_secret = seal_text(secret, purpose=purpose, secrets=[django_settings.SECRET_KEY])
    source.save(update_fields=["encrypted_hook_secret"])
    record_action(principal, Action.DOCUMENT_SOURCE_CHANGED, source, detail={"fields": ["webhook"]})
    return secret


def authenticate_webhook_call(source_id: UUID, body: bytes, signatures: Sequence[str], token: str) -> Source:
    """Return the source whose webhook was called with its secret. Raises NotFound, the same for every reason.

    signatures: HMAC-SHA256 of the body in hex, perhaps after `sha256=`, as GitHub and Gitea send it. token: the secret itself, as
    GitLab sends it.
    """
    source = Source.unscoped.filter(pk=source_id, is_active=True).first()
    stored = source.encrypted_hook_secret if source else ""
    purpose = f"{HOOK_PURPOSE} {source_id}"
    try:
        secret = unseal_text(stored, purpose=purpose, secrets=[django_settings.SECRET_KEY]) if stored else ""
    except SealBroken:  # under another secret of the site
        secret = ""
    secret = secret or secrets.token_urlsafe(32)  # which nobody knows
    right = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    is_signed = any(hmac.compare_digest(right.encode(), item.removeprefix("sha256=").encode()) for item in signatures)
    is_known = hmac.compare_digest(secret.encode(), token.encode())
    if source is None or not (is_signed or is_known):
        raise NotFound(_("There is no such %(what)s, or you do not manage it.") % {"what": Source._meta.verbose_name})
    return source


def _find_secret_address(source: Source) -> tuple[str, str]:
    """Return the address a secret is for; "" for settings that this version cannot read."""
    try:
        return source.kind, validate_settings(source.kind, source.settings).address
    except InvalidInput:
        return source.kind, ""


def _require_connect_right(by: User | AnonymousUser) -> None:
    if not may_connect_sources(by):
        raise PermissionDenied(_("Only administrators set where documents come from."))


def _require_fill_right(by: User | AnonymousUser, source: Source) -> Principal:
    """Check that somebody may fill a folder. Raises PermissionDenied (no right to connect), NotFound (folder not managed)."""
    _require_connect_right(by)
    principal = Principal.of(by)
    get_governed(Folder, principal, pk=source.folder_id)
    return principal


def _refuse_overlap(source: Source) -> None:
    """Refuse a folder filled by another source: two would move each other's documents."""
    if Source.unscoped.filter(name=source.name).exclude(pk=source.pk).exists():
        raise Conflict(_("There is already a source called “%(name)s”.") % {"name": source.name})
    others = Source.unscoped.filter(folder=source.folder).exclude(pk=source.pk)
    if others.exists():
        raise Conflict(_("Another source already fills “%(folder)s”.") % {"folder": source.folder})
    if not Folder.unscoped.filter(pk=source.folder_id, kind="folder").exists():
        raise InvalidInput(_("Choose a folder that the source fills."))
