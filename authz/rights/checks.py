"""Look up rows by id, and check rights on them.

Missing and forbidden rows get the same answer at the same cost: rights are read only when the row is found
(`permitted`), so for a missing row `equalise_timing` reads them, too.
"""

from typing import Any, TypeVar

from django.core.exceptions import EmptyResultSet, ValidationError
from django.db import connection, models
from django.utils.translation import gettext as _

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.folders import select_folder_ids
from authz.rights.managers import GuardedManager
from copilot_site.lib.errors import NotFound, PermissionDenied

M = TypeVar("M", bound=models.Model)


def get_visible(model: type[M], principal: Principal, **lookup: Any) -> M:
    """Return the one row that matches and that this person may see; raise NotFound, the same for missing and forbidden."""
    try:
        row = guarded_manager_of(model).permitted(principal, Right.VIEW, **lookup).first()
        if row is None:
            equalise_timing(principal, Right.VIEW, model.unscoped.filter(**lookup))  # type: ignore[attr-defined]
    except (ValueError, ValidationError):  # a malformed id matches nothing
        row = None
    if row is None:
        raise make_not_found(model)
    return row


def make_not_found(model: type[models.Model]) -> NotFound:
    """Return the error for a missing or forbidden row: the same words for both."""
    return NotFound(_("There is no such %(what)s, or you cannot see it.") % {"what": model._meta.verbose_name})


def equalise_timing(principal: Principal, right: Right, rows: models.QuerySet[M]) -> None:
    """Repeat for a missing row the work that a forbidden row costs, so that timing reveals nothing.

    right: the right that was checked. rows: the rows with the requested id, unchecked; none is returned.
    """
    try:
        there, values = rows.order_by().query.sql_with_params()
    except EmptyResultSet:  # a number out of the column's range
        there, values = "SELECT 1 WHERE false", ()
    ids = select_folder_ids(principal, right)
    statement = f"SELECT CASE WHEN EXISTS ({there}) THEN 0 ELSE (SELECT count(*) FROM ({ids.sql}) AS mine) END"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, *ids.params])


def has_right(principal: Principal, right: Right, row: models.Model) -> bool:
    """Tell whether this person holds `right` on this row now."""
    return guarded_manager_of(type(row)).reachable_by(principal, right).filter(pk=row.pk).exists()


def require_right(principal: Principal, right: Right, row: models.Model) -> None:
    """Raise PermissionDenied unless `has_right`; call it on rows that `get_visible` returned."""
    if not has_right(principal, right, row):
        raise PermissionDenied(
            _("You can see “%(name)s” but not %(right)s here. Ask its manager for this right.")
            % {"name": row, "right": right.label}
        )


def require_manage(by: Principal | None, row: models.Model) -> None:
    """Require a manager of this row, a superuser, or None, which sets a system up.

    Raises NotFound when they may not even see the row, else PermissionDenied.
    """
    if by is None or by.is_superuser or has_right(by, Right.MANAGE, row):
        return
    get_visible(type(row), by, pk=row.pk)
    require_right(by, Right.MANAGE, row)


def guarded_manager_of(model: type[M]) -> GuardedManager[M]:
    """Return the `GuardedManager` of a protected model."""
    return model.objects  # type: ignore[attr-defined, no-any-return]
