"""Accounts kept by a directory: created, changed, disabled and enabled again on its word, each audited.

Accounts without the directory's mark, administrators of the system and service accounts are never touched.
The company's word also counts for the last manager of a place, as for groups of a sign-in (`authz.sign_in.claims`). `by`: the
token's owner; None for what the system read by itself.
"""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.models import ApiToken, Directory, DirectoryAccount
from authz.people.names import NAME_LENGTH, require_usable_name
from authz.principal import Principal
from authz.tokens.api_tokens import withdraw_token
from copilot_site.lib.errors import InvalidInput, NotFound
from copilot_site.lib.text.one_line import fold_to_one_line

ID_LENGTH = 250  # of the column
LENGTHS = {"username": NAME_LENGTH, "first_name": 150, "last_name": 150, "email": 254}  # of Django's columns


@dataclass(frozen=True)
class KnownPerson:
    """A person in a directory. external_id: their permanent id there, "" for none. username: kept in NFKC."""

    external_id: str
    username: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "username", User.normalize_username(self.username))

    def fields(self) -> dict[str, str]:
        """Return the values by column of the account, one line each, cut to the columns' lengths."""
        return {name: fold_to_one_line(getattr(self, name))[:most] for name, most in LENGTHS.items()}


def list_kept_accounts(directory: Directory) -> QuerySet[DirectoryAccount]:
    """Return the accounts that this directory may change: never superusers or service accounts."""
    rows = DirectoryAccount.objects.filter(directory=directory).select_related("user")
    return rows.filter(user__is_superuser=False, user__service_account=None)


def may_provision(principal: Principal) -> bool:
    """Tell whether a token of this person keeps accounts and groups: superusers and holders of `authz.provision`."""
    if principal.is_nobody or principal.folder_id is not None:
        return False
    user = User.objects.filter(pk=principal.user_id, is_active=True).first()
    return user is not None and user.has_perm("authz.provision")


@transaction.atomic
def create_directory_account(
    by: Principal | None, directory: Directory, known: KnownPerson, *, is_active: bool = True
) -> DirectoryAccount:
    """Create an account without any right and without a password of ours.

    Raises InvalidInput (an unusable name), Conflict (the name is taken, or looks like a taken one: an account is never
    handed over by its name).
    """
    with connection.cursor() as cursor:  # serialise two first sign-ins of one person
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('directory accounts', 0))")
    check_external_id(known.external_id)
    require_usable_name(known.username)
    user = User(**known.fields(), is_active=is_active)
    user.set_unusable_password()
    user.save()
    account = DirectoryAccount.objects.create(
        directory=directory, external_id=known.external_id, user=user, is_gone=not is_active
    )
    record_action(by, Action.USER_CREATED, user, detail={"directory": directory.value})
    return account


@transaction.atomic
def update_directory_account(by: Principal | None, account: DirectoryAccount, known: KnownPerson) -> bool:
    """Update name and address; return whether they changed. Raises InvalidInput, Conflict as `create_directory_account`."""
    user = _lock_account(account)
    check_external_id(known.external_id)
    if user.username != known.username:
        require_usable_name(known.username, besides=user.pk)
    changed = [name for name, value in known.fields().items() if getattr(user, name) != value]
    if account.external_id != known.external_id:
        account.external_id = known.external_id
        account.save(update_fields=["external_id", "changed_at"])
    if not changed:
        return False
    for name in changed:
        setattr(user, name, known.fields()[name])
    user.save(update_fields=changed)
    account.save(update_fields=["changed_at"])
    record_action(by, Action.USER_CHANGED, user, detail={"fields": sorted(changed), "directory": account.directory})
    return True


@transaction.atomic
def disable_directory_account(by: Principal | None, account: DirectoryAccount) -> bool:
    """Disable an account that left the directory, ending its sessions and tokens; return whether it was enabled.

    Sessions depend on the password's hash: a new unusable one keeps old ones from resuming when the person comes back.
    """
    user = _lock_account(account)
    if not user.is_active:
        return False
    user.is_active = False
    user.set_unusable_password()
    user.save(update_fields=["is_active", "password"])
    for token in ApiToken.objects.filter(user=user, revoked_at=None):
        withdraw_token(by, token)
    account.is_gone = True
    account.save(update_fields=["is_gone", "changed_at"])
    record_action(by, Action.USER_DISABLED, user, detail={"directory": account.directory})
    return True


@transaction.atomic
def enable_directory_account(by: Principal | None, account: DirectoryAccount) -> bool:
    """Enable an account that the directory, not an administrator, disabled; return whether it was disabled."""
    user = _lock_account(account)
    if user.is_active or not account.is_gone:
        return False
    user.is_active = True
    user.save(update_fields=["is_active"])
    account.is_gone = False
    account.save(update_fields=["is_gone", "changed_at"])
    record_action(by, Action.USER_ENABLED, user, detail={"directory": account.directory})
    return True


@transaction.atomic
def delete_directory_account(by: Principal | None, account: DirectoryAccount) -> None:
    """Delete the account with its grants, memberships, tokens and conversations, as an administrator would."""
    user = _lock_account(account)
    record_action(by, Action.USER_DELETED, user, detail={"directory": account.directory})
    user.delete()


def _lock_account(account: DirectoryAccount) -> User:
    """Return the account, reloaded and locked. Raises NotFound where it has become a system administrator."""
    user = User.objects.select_for_update().filter(pk=account.user_id, is_superuser=False).first()
    if user is None:
        raise NotFound(_("There is no such account, or the directory does not keep it."))
    return user


def check_external_id(external_id: str) -> None:
    """Raise InvalidInput for an id too long for its column: cut short, it could be another person's."""
    if len(external_id) > ID_LENGTH:
        raise InvalidInput(_("An id has at most %(most)s characters.") % {"most": ID_LENGTH})
