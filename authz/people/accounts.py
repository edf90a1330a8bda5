"""Accounts of people: an administrator creates, changes, disables and deletes them; audited; the last manager stays.

`by` is a superuser; only superusers reach the pages that call this.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.models import ServiceAccount
from authz.people.names import require_usable_name
from authz.principal import Principal
from authz.rights.holders import keep_managers, list_places_managed_by_person
from copilot_site.lib.errors import InvalidInput, PermissionDenied

UNASKED = ("account", "admin", "contenttypes", "guardian", "sessions")  # apps whose permissions nothing checks


@transaction.atomic
def create_account(by: Principal, user: User) -> None:
    """Store a new account. Raises PermissionDenied, Conflict (its name looks like another one)."""
    _require_superuser(by)
    require_usable_name(user.username)
    user.save()
    record_action(by, Action.USER_CREATED, user)


@transaction.atomic
def change_account(by: Principal, user: User, *, changed: Collection[str]) -> None:
    """Store a changed account; changed: the names of its fields. Enabling and disabling are recorded as such.

    Raises PermissionDenied, InvalidInput (a place would lose its last manager, the system its last administrator), Conflict as
    `create_account`.
    """
    _require_superuser(by)
    if "username" in changed:
        require_usable_name(user.username, besides=user.pk)
    with _require_remaining_managers(user):
        user.save()
        if "is_active" in changed:
            record_action(by, Action.USER_ENABLED if user.is_active else Action.USER_DISABLED, user)
        if others := sorted(set(changed) - {"is_active"}):
            record_action(by, Action.USER_CHANGED, user, detail={"fields": others})


@transaction.atomic
def delete_account(by: Principal, user: User) -> None:
    """Delete an account with its grants, memberships and tokens. Raises PermissionDenied, InvalidInput as `change_account`."""
    _require_superuser(by)
    with _require_remaining_managers(user):
        record_action(by, Action.USER_DELETED, user)
        user.delete()


@transaction.atomic
def list_checked_permissions() -> QuerySet[Permission]:
    """Return the permissions that something checks, with their kinds of rows."""
    return Permission.objects.exclude(content_type__app_label__in=UNASKED).select_related("content_type")


def set_permissions(by: Principal, holder: User | Group, permissions: Iterable[Permission]) -> None:
    """Set which pages of the admin somebody may use, such as the audit log; none gives a right on documents."""
    _require_superuser(by)
    held = holder.user_permissions if isinstance(holder, User) else holder.permissions
    before, after = set(held.all()), set(permissions)
    if before != after:
        held.set(after)
        detail = {"permissions": _list_codenames(after - before), "taken": _list_codenames(before - after)}
        record_action(
            by, Action.USER_CHANGED if isinstance(holder, User) else Action.GROUP_CHANGED, holder, detail=detail
        )


def record_password_change(by: Principal, user: User) -> None:
    """Record a new password, in the transaction that stored it."""
    record_action(by, Action.PASSWORD_CHANGED, user)


@contextmanager
def _require_remaining_managers(user: User) -> Iterator[None]:
    """Run a change of an account; refuse it where a place loses its last manager or the system its last administrator."""
    administrators = User.objects.filter(is_active=True, is_superuser=True)
    with keep_managers(lambda: list_places_managed_by_person(user)):
        had_one = administrators.exists()
        yield
        if had_one and not administrators.exists():
            raise InvalidInput(_("This would leave the system without an administrator. Make someone else one first."))


def _require_superuser(by: Principal) -> None:
    if not by.is_superuser:
        raise PermissionDenied(_("Only system administrators change accounts."))


def _list_codenames(permissions: Iterable[Permission]) -> list[str]:
    return sorted(permission.codename for permission in permissions)


@transaction.atomic
def create_service_account(by: Principal, *, username: str, purpose: str, keeper: User | None = None) -> ServiceAccount:
    """Create an account without any right, password or session; the admin page has checked `by`.

    Raises InvalidInput (no purpose, an unusable name), Conflict (the name is taken, or looks like a taken one).
    """
    require_usable_name(username)
    if not purpose.strip():
        raise InvalidInput(_("Say what the account is for. Reviewers of rights see nothing else about it."))
    user = User.objects.create_user(username)
    account = ServiceAccount.objects.create(user=user, purpose=purpose.strip()[:200], keeper=keeper)
    record_action(by, Action.SERVICE_ACCOUNT_CREATED, account, detail={"keeper": keeper.pk if keeper else None})
    return account


@transaction.atomic
def set_enabled(by: Principal, account: ServiceAccount, *, enabled: bool) -> None:
    """Enable or disable the account; disabled, its tokens are refused at once. An unchanged state is not recorded.

    Raises InvalidInput (a place would lose its last manager).
    """
    with keep_managers(lambda: list_places_managed_by_person(account.user)):
        if User.objects.filter(pk=account.user_id).exclude(is_active=enabled).update(is_active=enabled):
            action = Action.SERVICE_ACCOUNT_ENABLED if enabled else Action.SERVICE_ACCOUNT_DISABLED
            record_action(by, action, account)
