"""Requests wait for a seat before they get a thread and a connection, each kind in a fair queue of its own.

A web process has a pool of so many connections to PostgreSQL (`copilot_site.lib.load.web_process`). What may hold one has a share of it,
so that nothing waits for a connection: pages answer however many searches, exports or runs there are.
"""

import asyncio
import hashlib
from asyncio import CancelledError
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Any

import structlog
from asgiref.sync import SyncToAsync
from django.conf import settings
from django.contrib.auth.models import User
from django.core.handlers.asgi import ASGIHandler
from django.db import close_old_connections, connection
from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve
from django.utils.translation import get_language_from_request, override
from django.utils.translation import gettext as _

from copilot_site.lib.http.client_address import find_client_address
from copilot_site.lib.http.deferred_response import Later
from copilot_site.lib.http.error_pages import render_bare_error
from copilot_site.lib.http.request_ids import compute_request_seconds, ensure_request_id
from copilot_site.lib.load.fair_queue import FairQueue, QueueFull, Ticket
from copilot_site.lib.load.waiting import set_served_request, wrap_receive
from copilot_site.lib.logs import HEALTH_PATHS, METRICS_PATH, log_refused_request
from copilot_site.lib.measures import Durations, EventCount

log = structlog.get_logger(__name__)

REQUESTS = EventCount("copilot_requests", "Requests answered, by route and status.", ("route", "status"))
REQUEST_S = Durations(
    "copilot_request_duration_seconds", "Requests up to the first byte, their wait included.", ("pool",)
)
SEAT_WAIT_S = Durations("copilot_seat_wait_seconds", "Requests' wait for a thread and a connection.", ("pool",))
KNOWN_CALLERS = 10_000  # remembered owners of secrets; for the order in queues only, never for rights
LOOK_S = 2.0  # of a request's wait for the look-up of its owner
MAX_LOOKED_UP = 1_000  # requests waiting for it
FREE = (*HEALTH_PATHS, METRICS_PATH)  # monitoring is always answered


@dataclass(frozen=True)
class SeatShare:
    """Seats of one kind. wait_s: before a request is answered with 503 and Retry-After."""

    queue: FairQueue
    wait_s: float


class SeatedHandler(ASGIHandler):
    """Django's handler for ASGI, with seats. shares: by name.

    share_of: the name of the share that a request waits for, by its method and the name of its route, "" where there is none.
    """

    def __init__(self, shares: Mapping[str, SeatShare], share_of: Callable[[str, str], str], owners: "Owners") -> None:
        super().__init__()
        self._shares, self._share_of, self._door = shares, share_of, OwnerLookup(owners)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        await super().handle(scope, wrap_receive(scope, receive), send)

    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        ensure_request_id(request)
        response = await self._answer_with_seat(request)
        if request.path_info.startswith(settings.STATIC_URL):
            return response
        if not hasattr(request, "is_logged"):
            log_refused_request(request, response)
        match = request.resolver_match
        REQUESTS.add(match.view_name if match else "", str(response.status_code))
        REQUEST_S.observe(compute_request_seconds(request), getattr(request, "pool", "free"))
        return response

    async def _answer_with_seat(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info in FREE or request.path_info.startswith(settings.STATIC_URL):
            return await self._answer_request(request)
        method = "GET" if request.method == "HEAD" else request.method or ""  # the view does the same for both
        pool = request.pool = self._share_of(method, _resolve_route(request))  # type: ignore[attr-defined]
        share = self._shares[pool]
        await self._door.meet(request)
        try:
            seat = share.queue.enter(callers.party(request))
        except QueueFull as full:
            return _build_refusal(request, full)
        request.seat = seat  # type: ignore[attr-defined]  # whose thread answers gives it back: see GivesBack
        try:
            if not await seat.served_within(share.wait_s):
                return _build_refusal(request, QueueFull(is_own=False, retry_after_s=share.queue.retry_after_s()))
            SEAT_WAIT_S.observe(compute_request_seconds(request), pool)
            response = await self._answer_request(request)
        except CancelledError:  # the client has gone, and nobody closes what its thread may still make
            request.is_abandoned = True  # type: ignore[attr-defined]
            if hasattr(request, "keeps_seat"):
                seat.leave()
            raise
        finally:
            if not hasattr(request, "is_seated"):  # no thread has begun with it, and none will
                seat.leave()
        return response

    async def _answer_request(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = await super().run_get_response(request)
        if isinstance(response, Later) or (response.streaming and not getattr(response, "reads_while_sent", False)):
            _release_thread()
        return await response.settled() if isinstance(response, Later) else response


def _release_thread() -> None:
    """End this request's thread, which would be idle until the answer; a new one starts when needed."""
    context = SyncToAsync.thread_sensitive_context.get(None)
    executor = SyncToAsync.context_to_thread_executor.pop(context, None) if context else None
    if executor:
        executor.shutdown(wait=False)


class GivesBack:
    """The outermost middleware: once the answer is made, its thread gives back connection and seat, however long sending takes.

    An answer that reads from the database while it is sent (`reads_while_sent`) keeps both until it is over.
    """

    sync_capable, async_capable = True, False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        seat: Ticket | None = getattr(request, "seat", None)
        request.is_seated = True  # type: ignore[attr-defined]
        set_served_request(request)
        keeps = False
        try:
            response = self._get_response(request)
            callers.learn(request)
            if seat and getattr(response, "reads_while_sent", False):
                response._resource_closers.append(seat.leave)  # type: ignore[attr-defined]  # what `close` calls
                request.keeps_seat = True  # type: ignore[attr-defined]  # before the look at who has gone, as the handler does it after
                keeps = not hasattr(request, "is_abandoned")
        finally:
            if not keeps:
                if not connection.in_atomic_block:
                    close_old_connections()
                if seat:
                    seat.leave()
        return response


class Callers:
    """The known senders of requests before any look-up: a person, or else an address.

    The owner of a cookie or token is learned from its first successful answer, or looked up (`OwnerLookup`), so that all
    credentials of one person wait in one line. Until then it counts as its address.
    """

    def __init__(self) -> None:
        self._people: OrderedDict[str, int] = OrderedDict()
        self._lock = Lock()

    def party(self, request: HttpRequest) -> Hashable:
        return self._find_person(request) or find_client_address(request)

    def is_unknown(self, request: HttpRequest) -> bool:
        """Tell whether it has a credential whose owner is not yet known."""
        return any((_read_token(request), _read_cookie(request))) and self._find_person(request) is None

    def learn(self, request: HttpRequest) -> None:
        """Remember the credential's owner, if the request has looked it up, without a statement of its own."""
        found: Any = request.__dict__.get("_cached_user") or request.__dict__.get("user")
        secret = _read_token(request) if getattr(request, "auth", None) else _read_cookie(request)
        if secret and type(found) is User and found.pk:
            self.remember(secret, found.pk)

    def remember(self, secret: str, person: int) -> None:
        mark = _hash_secret(secret)
        with self._lock:
            self._people[mark] = person
            self._people.move_to_end(mark)
            if len(self._people) > KNOWN_CALLERS:
                self._people.popitem(last=False)

    def _find_person(self, request: HttpRequest) -> int | None:
        marks = (_hash_secret(secret) for secret in (_read_token(request), _read_cookie(request)) if secret)
        return next((person for mark in marks if (person := self._people.get(mark))), None)


callers = Callers()


@dataclass(frozen=True)
class Owners:
    """Look-ups of a secret's owner, by id; None for an invalid one. of_token: by header, of_session: by cookie."""

    of_token: Callable[[str], int | None]
    of_session: Callable[[str], int | None]


class OwnerLookup:
    """Looks up owners of secrets new to this process, so that signed-in people do not wait behind unknown callers.

    That takes a millisecond, where a page takes fifty: one at a time, in turn between addresses, in the thread that looks up sessions
    of sockets. A secret not looked up in time counts as its address.
    """

    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self._queue = FairQueue(places=1, own_places=lambda _address: 1, most_waiting=MAX_LOOKED_UP)

    async def meet(self, request: HttpRequest) -> None:
        """Look up and remember the owner of a request, if there is one to find."""
        if not callers.is_unknown(request):
            return
        try:
            place = self._queue.enter(find_client_address(request))
        except QueueFull:
            return
        look: Future[None] | None = None
        try:
            if await place.served_within(LOOK_S) and callers.is_unknown(request):
                look = SyncToAsync.single_thread_executor.submit(self._look_up_owner, request)
                await asyncio.wait({asyncio.wrap_future(look)}, timeout=LOOK_S)
        finally:
            if look:
                look.add_done_callback(lambda _done: place.leave())
            else:
                place.leave()

    def _look_up_owner(self, request: HttpRequest) -> None:
        try:
            for secret, owner in (
                (_read_token(request), self._owners.of_token),
                (_read_cookie(request), self._owners.of_session),
            ):
                if secret and (person := owner(secret)):
                    callers.remember(secret, person)
                    return
        except Exception:
            log.warning("caller_not_looked_up", exc_info=True)  # the request itself says what is wrong
        finally:
            close_old_connections()


def _read_token(request: HttpRequest) -> str:
    return request.headers.get("Authorization", "")


def _read_cookie(request: HttpRequest) -> str:
    return request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")


def _hash_secret(secret: str) -> str:
    """Return the key by which a secret is remembered."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _resolve_route(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).view_name
    except Resolver404:
        return ""


def _build_refusal(request: HttpRequest, full: QueueFull) -> HttpResponseBase:
    with override(get_language_from_request(request)):
        sentence = (
            _("You have too many requests running. Wait for some to finish, then try again.")
            if full.is_own
            else _("The server is busy. Try again in %(seconds)s s.") % {"seconds": full.retry_after_s}
        )
        return render_bare_error(request, 429 if full.is_own else 503, sentence, retry_after_s=full.retry_after_s)
