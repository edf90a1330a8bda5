"""Write audit entries, at once or after a read-only transaction; nothing else adds any."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from typing import Any, Protocol

import structlog
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import connections, models, transaction
from django.db.utils import DEFAULT_DB_ALIAS
from django.utils import timezone

from audit.actions import Action, Outcome
from audit.models import Entry, seal_entry
from audit.shown import index_entry
from copilot_site.lib.database import open_prepared_cursor


class Actor(Protocol):
    """The person an entry names; `authz.Principal` is one. A user id of 0 is nobody."""

    @property
    def user_id(self) -> int: ...
    @property
    def username(self) -> str: ...


class UserActor:
    """A user of a page as an actor."""

    def __init__(self, user: AbstractBaseUser | AnonymousUser) -> None:
        self.user_id, self.username = user.pk or 0, user.get_username()


def record_action(
    actor: Actor | None,
    action: Action,
    target: models.Model | None = None,
    *,
    outcome: Outcome = Outcome.ALLOW,
    reason: str = "",
    run_id: str = "",
    detail: Mapping[str, Any] | None = None,
    on_behalf_of: Actor | None = None,
    target_name: str | None = None,
) -> Entry:
    """Write one entry in the caller's transaction; an action that cannot be recorded is rolled back.

    actor: None for the system itself. on_behalf_of: the person whose rights or view were used, if somebody else.
    detail: ids, counts and sizes, JSON-serialisable; never text of a document, never a person's name. Numbers beyond 2^53 as text.
    Of a SHOWING action, `evidence` or `documents` lists what was shown, where that is more than the target.
    target_name: replaces `str(target)`, or names a target without a row.
    The request id and the address come from the request that is being served, if one is. The entry gets its place in the chain
    when the transaction commits. Write it last, so that the lock on the end of the chain is taken after all others.
    Raises whatever the database raises; do not catch it.
    """
    context = structlog.contextvars.get_contextvars()
    token = getattr(actor, "token_id", None)  # set when they use an API token
    named = target_name if target_name is not None else str(target) if target is not None else ""
    entry = Entry(
        at=timezone.now(),
        actor_id=(actor.user_id or None) if actor else None,
        actor_name=_truncate_text(actor.username, 150) if actor else "",
        on_behalf_of_id=(on_behalf_of.user_id or None) if on_behalf_of else None,
        on_behalf_of_name=_truncate_text(on_behalf_of.username, 150) if on_behalf_of else "",
        action=str(action),
        outcome=str(outcome),
        reason=_truncate_text(reason, 500),
        target_type=target._meta.model_name or "" if target is not None else "",
        target_id=str(target.pk)[:64] if target is not None else "",
        target_name=_truncate_text(named, 255),
        request_id=_truncate_text(str(context.get("request_id", "")), 64),
        run_id=_truncate_text(run_id, 64),
        address=_normalise_address(context.get("ip")),
        detail=_clean_json_value(json.loads(json.dumps(dict(detail or {}) | ({"token": token} if token else {})))),
    )
    seal_entry(entry)
    insert_entry(entry)
    index_entry(entry)
    if flush_to_disk not in [hook[1] for hook in transaction.get_connection().run_on_commit]:
        transaction.on_commit(flush_to_disk)
    return entry


def _normalise_address(text: str | None) -> str | None:
    """Write an IP address as PostgreSQL does; return None for anything else."""
    try:
        return str(ip_address((text or "").partition("%")[0]))
    except ValueError:
        return None


def _truncate_text(text: str, length: int) -> str:
    """Cut to `length` characters that PostgreSQL can hold: a name with a NUL must not keep an entry from being written."""
    return text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")[:length]


def insert_entry(entry: Entry) -> None:
    """Insert a sealed entry in the caller's transaction and give it its id. Raises whatever the database raises.

    The statement is built once per process and planned once per connection: the ORM would build it for each row, which
    takes more processor time than the insert itself (ADR 0011).
    """
    statement, fields = _build_insert(type(entry))
    connection = connections[DEFAULT_DB_ALIAS]
    values = [field.get_db_prep_save(getattr(entry, field.attname), connection) for field in fields]
    with transaction.mark_for_rollback_on_error(DEFAULT_DB_ALIAS), open_prepared_cursor(connection) as cursor:
        cursor.execute(statement, values)
        (entry.pk,) = cursor.fetchone()
    entry._state.adding, entry._state.db = False, DEFAULT_DB_ALIAS


@cache
def _build_insert(model: type[Entry]) -> tuple[str, list[Any]]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    # with its schema: a temporary table of the same name would come first
    names, places = ", ".join(str(field.column) for field in fields), ", ".join(["%s"] * len(fields))
    return f"INSERT INTO public.{model._meta.db_table} ({names}) VALUES ({places}) RETURNING id", fields  # noqa: S608 - names of our own


def _clean_json_value(value: Any) -> Any:
    """Return a JSON value with texts that PostgreSQL can hold."""
    if isinstance(value, str):
        return _truncate_text(value, len(value))
    if isinstance(value, list):
        return [_clean_json_value(item) for item in value]
    if isinstance(value, dict):
        return {_clean_json_value(name): _clean_json_value(item) for name, item in value.items()}
    return value


def flush_to_disk() -> None:
    """Return when everything committed so far is on disk; runs after each transaction that recorded something.

    The trigger that links entries switches `synchronous_commit` off for its transaction, so that the lock on the chain's head
    lasts microseconds instead of a disk write (ADR 0011). Here the session's own setting waits: once for all threads of this
    process that are here, and PostgreSQL writes the log of many waiting sessions at once.
    """
    _waits.join(_wait_for_disk)


def _wait_for_disk() -> None:
    with open_prepared_cursor(connections[DEFAULT_DB_ALIAS]) as cursor:
        cursor.execute("SELECT pg_logical_emit_message(true, 'audit', '')")


class SharedWait:
    """A wait that threads share: those that arrive while one is under way need the next, which one thread does."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._begun = self._done = 0  # numbers of the last wait that began, and of the last that ended well
        self._is_under_way = False

    def join(self, wait: Callable[[], None]) -> None:
        """Return when a `wait` that began after this call has ended well. Raises what it raises where the caller does it."""
        with self._changed:
            needed = self._begun + 1
            self._changed.wait_for(lambda: self._done >= needed or not self._is_under_way)
            if self._done >= needed:
                return
            self._begun += 1
            mine, self._is_under_way = self._begun, True
        try:
            wait()
        except BaseException:
            mine = 0
            raise
        finally:
            with self._changed:
                self._done, self._is_under_way = max(self._done, mine), False
                self._changed.notify_all()


_waits = SharedWait()


class Recorder(Protocol):
    """A function that records work: `audit.record.record_action`, or one that keeps the entries for later."""

    def __call__(
        self,
        actor: Actor | None,
        action: Action,
        target: models.Model | None = None,
        *,
        outcome: Outcome = Outcome.ALLOW,
        reason: str = "",
        run_id: str = "",
        detail: Mapping[str, Any] | None = None,
    ) -> object: ...


@dataclass
class DeferredEntries:
    """A Recorder that keeps its entries. Actor and run are set by `write`: they are not those of the trial."""

    _kept: list[dict[str, Any]] = field(default_factory=list)

    def __call__(
        self,
        actor: Actor | None,
        action: Action,
        target: models.Model | None = None,
        *,
        run_id: str = "",
        detail: Mapping[str, Any] | None = None,
        **given: Any,
    ) -> None:
        self._kept.append({**given, "action": action, "target": target, "detail": {**(detail or {}), "trial": True}})

    @transaction.atomic
    def write(self, by: Actor, *, on_behalf_of: Actor) -> None:
        """Record the kept entries in order, as a trial by one person with another's rights. Raises whatever the database raises."""
        for entry in self._kept:
            record_action(by, **entry, on_behalf_of=on_behalf_of)
        self._kept.clear()
