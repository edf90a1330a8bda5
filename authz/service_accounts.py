"""Accounts for programs: they hold rights like people, and act through tokens only."""

from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record
from authz.holders import managed_by_person
from authz.lockout import managers_kept
from authz.models import ServiceAccount
from authz.principal import Principal
from copilot_site.lib.errors import Conflict, InvalidInput


@transaction.atomic
def create_service_account(by: Principal, *, username: str, purpose: str, keeper: User | None = None) -> ServiceAccount:
    """Make an account without any right, password or session; the admin page has checked that `by` may.

    Raises InvalidInput (no purpose, a name that is none), Conflict (the name is taken).
    """
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError as problem:
        raise InvalidInput(problem.messages[0]) from problem
    if not purpose.strip():
        raise InvalidInput(_("Say what the account is for: whoever reviews rights sees nothing else of it."))
    if User.objects.filter(username=username).exists():
        raise Conflict(_("There is an account “%(name)s” already. Choose another name.") % {"name": username})
    user = User.objects.create_user(username)
    account = ServiceAccount.objects.create(user=user, purpose=purpose.strip()[:200], keeper=keeper)
    record(by, Action.SERVICE_ACCOUNT_CREATED, account, detail={"keeper": keeper.pk if keeper else None})
    return account


@transaction.atomic
def set_enabled(by: Principal, account: ServiceAccount, *, enabled: bool) -> None:
    """Turn the account on or off; off, every token of it is refused at once. Nothing happens where it is so already.

    Raises InvalidInput (a place would lose its last manager).
    """
    with managers_kept(lambda: managed_by_person(account.user)):
        if User.objects.filter(pk=account.user_id).exclude(is_active=enabled).update(is_active=enabled):
            action = Action.SERVICE_ACCOUNT_ENABLED if enabled else Action.SERVICE_ACCOUNT_DISABLED
            record(by, action, account)
