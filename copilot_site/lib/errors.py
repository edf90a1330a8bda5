"""The errors a person can act on; every edge (page, API, command, admin) turns them into one clear sentence."""

import errno
from http import HTTPStatus

from django.utils.translation import gettext as _
from psycopg.errors import DiskFull

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


STATUS: dict[type[CopilotError], HTTPStatus] = {
    NotFound: HTTPStatus.NOT_FOUND,
    PermissionDenied: HTTPStatus.FORBIDDEN,
    Conflict: HTTPStatus.CONFLICT,
    InvalidInput: HTTPStatus.BAD_REQUEST,
    StorageFull: HTTPStatus.INSUFFICIENT_STORAGE,
}


def as_ours(error: Exception) -> Exception:
    """The error itself; where the database has no room left, what that means for people."""
    if not isinstance(error.__cause__, DiskFull):
        return error
    return StorageFull(
        _("The disk of the server is full; nothing was kept of this. Tell its administrator, then try again.")
    )


def status_of(error: Exception) -> HTTPStatus | None:
    """How a page or the API answers this error; None for what is not meant for people. Most special class first."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), None)
