"""Requests for access to discoverable folders, and decisions about them."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.models import AccessRequest, RequestState
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.governing import filter_governed_rows
from copilot_site.lib.errors import Conflict, InvalidInput, NotFound
from knowledge.models import Folder, WebhookEvent
from knowledge.selectors import discoverable_folders
from knowledge.services.access import grant_place_rights
from knowledge.tasks import mail_about_request
from knowledge.webhooks.announcing import announce_event

REASON_LENGTH = 500


@transaction.atomic
def request_access(principal: Principal, *, folder_id: UUID, reason: str = "") -> AccessRequest:
    """Ask the managers of a folder for the right to view it.

    Raises NotFound (no such folder, or its name may not be told), InvalidInput (they may view it; too long a reason), Conflict
    (they wait for an answer already).
    """
    if Folder.objects.visible_to(principal).filter(pk=folder_id).exists():
        raise InvalidInput(_("You can already view this folder."))
    folder = discoverable_folders(principal).filter(pk=folder_id).first()
    if folder is None:
        raise NotFound(_("There is no such folder, or it does not accept requests."))
    if len(reason) > REASON_LENGTH:
        raise InvalidInput(_("A reason has at most %(most)s characters.") % {"most": REASON_LENGTH})
    try:
        with transaction.atomic():
            asked = AccessRequest.objects.create(folder=folder, user_id=principal.user_id, reason=reason.strip())
    except IntegrityError as error:
        raise Conflict(_("You have already asked for this folder; its managers have not answered yet.")) from error
    path = reverse("access-requests")
    announce_event(
        WebhookEvent.ACCESS_ASKED, path, folder_id=str(folder.pk), request_id=asked.pk, user_id=principal.user_id
    )
    _queue_request_mail(asked)
    record_action(principal, Action.ACCESS_REQUESTED, folder, detail={"request": asked.pk})
    return asked


@transaction.atomic
def grant_request(
    by: Principal, *, request_id: int, ends_at: datetime | None = None, answer: str = ""
) -> AccessRequest:
    """Give the right to view that was asked for, until `ends_at` if there is an end.

    Raises NotFound (not governed by `by`), InvalidInput (decided already, an end that has passed).
    """
    asked = _lock_open_request(by, request_id)
    grant_place_rights(by, [Right.VIEW], asked.folder, to=asked.user, expires_at=ends_at)
    asked.ends_at = ends_at
    return _decide_request(by, asked, RequestState.GRANTED, answer)


@transaction.atomic
def refuse_request(by: Principal, *, request_id: int, answer: str = "") -> AccessRequest:
    """Refuse a request. Raises NotFound (not governed by `by`), InvalidInput (decided already)."""
    return _decide_request(by, _lock_open_request(by, request_id), RequestState.REFUSED, answer)


def list_requests_to_decide(by: Principal) -> QuerySet[AccessRequest]:
    """Return the requests that this person decides about: waiting ones first, oldest first, then the latest decisions."""
    rows = AccessRequest.objects.filter(folder__in=filter_governed_rows(Folder, by).values("pk"))
    return rows.select_related("folder", "user", "decided_by").order_by(
        F("decided_at").desc(nulls_first=True), "asked_at"
    )


def list_waiting_requests(by: Principal) -> QuerySet[AccessRequest]:
    """Return the undecided requests that this person decides about."""
    return list_requests_to_decide(by).filter(state=RequestState.OPEN)


def list_own_requests(principal: Principal) -> QuerySet[AccessRequest]:
    """Return what this person has asked for, latest first. A folder's name is shown only while it may be told or seen."""
    own = AccessRequest.objects.filter(user_id=principal.user_id).select_related("folder", "decided_by")
    return own if principal.folder_id is None else own.none()


def list_unread_decisions(principal: Principal) -> QuerySet[AccessRequest]:
    """Return the decisions about this person's requests that they have not read."""
    return list_own_requests(principal).filter(seen_at=None).exclude(state=RequestState.OPEN)


def mark_decisions_read(principal: Principal) -> None:
    list_unread_decisions(principal).update(seen_at=timezone.now())


def find_nameable_folders(principal: Principal) -> set[UUID]:
    """Return requested folders that this person sees or whose names they may be told now."""
    asked = AccessRequest.objects.filter(user_id=principal.user_id).values("folder")
    discoverable, seen = discoverable_folders(principal), Folder.objects.visible_to(principal)
    return {pk for rows in (discoverable, seen) for pk in rows.filter(pk__in=asked).values_list("pk", flat=True)}


@dataclass(frozen=True)
class AccessOffer:
    """A folder that somebody may request. state: of their last request, "" when they never asked."""

    folder_id: UUID
    name: str
    state: str


def find_requestable_folders(principal: Principal, folder_ids: Collection[UUID]) -> dict[UUID, AccessOffer]:
    """Return the folders that this person may request: discoverable and not visible to them now."""
    if not folder_ids:
        return {}
    rows = AccessRequest.objects.filter(user_id=principal.user_id, folder__in=folder_ids).order_by("asked_at")
    states = dict(rows.values_list("folder_id", "state"))
    tellable = discoverable_folders(principal).filter(pk__in=folder_ids)
    return {folder.pk: AccessOffer(folder.pk, str(folder), states.get(folder.pk, "")) for folder in tellable}


def list_requestable_folders(principal: Principal) -> list[AccessOffer]:
    """Return every folder that this person may request, by name, without those with a waiting request."""
    every = find_requestable_folders(principal, discoverable_folders(principal).values_list("pk", flat=True))
    return [offer for offer in every.values() if offer.state != RequestState.OPEN]


def _lock_open_request(by: Principal, request_id: int) -> AccessRequest:
    """Return an undecided request, locked so that two managers do not decide at once."""
    rows = AccessRequest.objects.select_for_update(of=("self",)).filter(
        folder__in=filter_governed_rows(Folder, by).values("pk")
    )
    asked = rows.select_related("folder", "user").filter(pk=request_id).first()
    if asked is None:
        raise NotFound(_("There is no such request, or you cannot decide it."))
    if asked.state != RequestState.OPEN:
        raise InvalidInput(_("This request is already decided: %(state)s.") % {"state": asked.get_state_display()})
    return asked


def _queue_request_mail(asked: AccessRequest) -> None:
    """Have people told by mail when the transaction commits, if there is a mail server."""
    if settings.MAIL_IS_SET_UP:
        transaction.on_commit(lambda: mail_about_request.delay(asked.pk), robust=True)


def _decide_request(by: Principal, asked: AccessRequest, state: RequestState, answer: str) -> AccessRequest:
    asked.state, asked.answer = state, answer.strip()[:REASON_LENGTH]
    asked.decided_at, asked.decided_by = timezone.now(), User.objects.get(pk=by.user_id)
    asked.save(update_fields=["state", "answer", "decided_at", "decided_by", "ends_at"])
    _queue_request_mail(asked)
    action = Action.ACCESS_GRANTED if state is RequestState.GRANTED else Action.ACCESS_REFUSED
    record_action(by, action, asked.folder, detail={"request": asked.pk, "user": asked.user_id})
    return asked
