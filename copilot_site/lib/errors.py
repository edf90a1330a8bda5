"""The errors a person can act on; every edge (page, API, command, admin) turns them into one clear sentence."""

import errno
from http import HTTPStatus

import redis
import structlog
from django.core.exceptions import ObjectDoesNotExist
from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext as _
from psycopg.errors import DiskFull

log = structlog.get_logger(__name__)

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)  # of an OSError: the disk is full, or this account's share of it


class CopilotError(Exception):
    """Root of the errors whose text is meant for people."""


class NotFound(CopilotError):
    """Missing, or not yours: the same words for both, on purpose."""


class PermissionDenied(CopilotError):
    """The row is visible to this person, the action is not theirs."""


class InvalidInput(CopilotError):
    """The input is invalid; the text says what is wrong and what would be right."""


class Conflict(InvalidInput):
    """The input is valid by itself and conflicts with existing data."""


class StorageFull(CopilotError):
    """The file storage is full; the operator must make room first. Nothing of the request is kept."""


class Unavailable(CopilotError):
    """Temporary failure: nothing of the request is kept, and a retry may succeed. retry_after_s: the probable time."""

    def __init__(self, sentence: str, *, retry_after_s: int = 5) -> None:
        super().__init__(sentence)
        self.retry_after_s = retry_after_s


class TooMany(Unavailable):
    """Temporary refusal, because this person or program has too much under way; others are served."""


STATUS: dict[type[CopilotError], HTTPStatus] = {
    NotFound: HTTPStatus.NOT_FOUND,
    PermissionDenied: HTTPStatus.FORBIDDEN,
    Conflict: HTTPStatus.CONFLICT,
    InvalidInput: HTTPStatus.BAD_REQUEST,
    StorageFull: HTTPStatus.INSUFFICIENT_STORAGE,
    TooMany: HTTPStatus.TOO_MANY_REQUESTS,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}


def translate_error(error: Exception) -> Exception:
    """Return the error, or one for people where the database is full, it or Valkey is silent, or a row was just deleted."""
    if isinstance(error, ObjectDoesNotExist):
        log.warning("row.gone", exc_info=error)
        return NotFound(_("This was just deleted, or you can no longer see it."))
    if isinstance(error.__cause__, DiskFull):
        return StorageFull(
            _("The server's disk is full, so nothing was saved. Tell its administrator, then try again.")
        )
    if isinstance(error, OperationalError | InterfaceError):
        log.warning("database.unavailable", exc_info=error)
        return Unavailable(_("The database is not responding. Try again in a few seconds."))
    if isinstance(error, redis.ConnectionError | redis.TimeoutError):
        log.warning("valkey.unavailable", exc_info=error)
        return Unavailable(_("Part of the server is not responding. Try again in a few seconds."))
    return error


def find_http_status(error: Exception) -> HTTPStatus | None:
    """Return the HTTP status for an error; None if it is not meant for people. Most special class first."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), None)
