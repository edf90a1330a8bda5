"""The errors a person can act on; every edge (page, API, command, admin) turns them into one clear sentence."""

import errno
from http import HTTPStatus

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
    """What was given cannot be used; the text says what is wrong and what would be right."""


class Conflict(InvalidInput):
    """What was given is fine by itself and collides with what is there."""


class StorageFull(CopilotError):
    """The place for files takes no more; the operator must make room first. Nothing of the request is kept."""


class Unavailable(CopilotError):
    """Not now: nothing of the request is kept, and the same may go well later. retry_after_s: when that will probably be."""

    def __init__(self, sentence: str, *, retry_after_s: int = 5) -> None:
        super().__init__(sentence)
        self.retry_after_s = retry_after_s


class TooMany(Unavailable):
    """Not now, because this person or program has too much under way; others are served."""


STATUS: dict[type[CopilotError], HTTPStatus] = {
    NotFound: HTTPStatus.NOT_FOUND,
    PermissionDenied: HTTPStatus.FORBIDDEN,
    Conflict: HTTPStatus.CONFLICT,
    InvalidInput: HTTPStatus.BAD_REQUEST,
    StorageFull: HTTPStatus.INSUFFICIENT_STORAGE,
    TooMany: HTTPStatus.TOO_MANY_REQUESTS,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}


def as_ours(error: Exception) -> Exception:
    """The error itself; what it means for people where the database has no room left or does not answer, or where a row went away
    between two statements of a request.
    """
    if isinstance(error, ObjectDoesNotExist):
        log.warning("row.gone", exc_info=error)
        return NotFound(_("This was deleted a moment ago, or you may not see it any more."))
    if isinstance(error.__cause__, DiskFull):
        return StorageFull(
            _("The disk of the server is full; nothing was kept of this. Tell its administrator, then try again.")
        )
    if isinstance(error, OperationalError | InterfaceError):
        log.warning("database.unavailable", exc_info=error)
        return Unavailable(_("The database does not answer at the moment. Try again in a few seconds."))
    return error


def status_of(error: Exception) -> HTTPStatus | None:
    """How a page or the API answers this error; None for what is not meant for people. Most special class first."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), None)
