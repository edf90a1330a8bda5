"""Accounts of people in the LDAP directory, updated at sign-in and by a periodic sync."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import structlog
from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from audit.actions import Action, Outcome
from audit.record import record_action
from authz.directory.accounts import (
    KnownPerson,
    create_directory_account,
    disable_directory_account,
    enable_directory_account,
    list_kept_accounts,
    update_directory_account,
)
from authz.directory.ldap_client import DirectoryEntry, LdapDirectory, LdapSettings, is_correct_password, open_directory
from authz.models import Directory, DirectoryAccount
from authz.sign_in.claims import MAX_VALUES, VALUE_LENGTH, apply_claims, set_claim_memberships, store_unmapped_values
from copilot_site.lib.database import hold_process_lock
from copilot_site.lib.errors import Conflict, InvalidInput

log = structlog.get_logger(__name__)

FEW = 5  # this many accounts may vanish at once without a safety stop


class MostAreGone(InvalidInput):
    """More than half of the accounts are missing in the directory: a wrong filter is the likelier cause."""


@dataclass
class Synced:
    """The result of a sync, in accounts. same: unchanged; failed: the name is taken by another account here."""

    same: int = 0
    changed: int = 0
    ended: int = 0
    resumed: int = 0
    failed: int = 0


def authenticate_person(given: LdapSettings, username: str, password: str) -> User | None:
    """Return the account for this password: created at the first sign-in, updated at each.

    None for a wrong password, an unknown name, and a name that an account of ours has. Raises DirectoryUnavailable.
    """
    with open_directory(given) as directory:
        entry = directory.named(username)
        if not is_correct_password(given, entry, password) or entry is None:
            return None
        values = list_claim_values(directory, entry)
    try:
        account = _update_or_create_account(entry)
    except (Conflict, InvalidInput) as problem:
        record_action(
            None, Action.SIGN_IN_FAILED, outcome=Outcome.DENY, reason=str(problem), detail={"directory": "ldap"}
        )
        return None
    if not account.user.is_superuser:
        apply_claims(account.user, provider=Directory.LDAP.value, values=values)
    return account.user


def list_claim_values(directory: LdapDirectory, entry: DirectoryEntry) -> set[str]:
    """Return the values for claim mappings: the names of the person's groups, and `unit=` with each department."""
    found = directory.groups_of(entry) | {f"unit={unit}" for unit in entry.units}
    return set(sorted(value for value in found if len(value) <= VALUE_LENGTH)[:MAX_VALUES])


def sync_accounts(given: LdapSettings, *, even_if_most_are_gone: bool = False) -> Synced | None:
    """Update every account from the directory; return None while another sync runs.

    Raises DirectoryUnavailable before anything is changed, MostAreGone.
    """
    with hold_process_lock("directory sync") as is_first:
        if not is_first:
            return None
        seen = list(_iterate_accounts(given))
        gone = [account for account, entry, _values in seen if entry is None and account.user.is_active]
        active = sum(account.user.is_active for account, _entry, _values in seen)
        if len(gone) > max(FEW, active / 2) and not even_if_most_are_gone:
            sentence = _(
                "The directory does not find %(gone)s of %(all)s accounts any more; nothing was changed. "
                "Look at the filter, or say that it is meant: manage.py directory sync --even-if-most-are-gone"
            )
            raise MostAreGone(sentence % {"gone": len(gone), "all": active})
        return _update_accounts(seen)


Seen = tuple[DirectoryAccount, DirectoryEntry | None, set[str]]


def _iterate_accounts(given: LdapSettings) -> Iterator[Seen]:
    """Yield each account with its entry and values, reading all before the first is changed."""
    with open_directory(given) as directory:
        for account in list_kept_accounts(Directory.LDAP):
            entry = directory.known_as(account.external_id)
            yield account, entry, list_claim_values(directory, entry) if entry else set()


def _update_accounts(seen: list[Seen]) -> Synced:
    done, unmapped = Synced(), set[str]()
    for account, entry, values in seen:
        if entry is None:
            is_ended = disable_directory_account(None, account)
            set_claim_memberships(account.user, provider=Directory.LDAP.value, values=())
            done.ended += is_ended
            done.same += not is_ended
            continue
        is_resumed = enable_directory_account(None, account)
        try:
            is_changed = update_directory_account(None, account, build_account_fields(entry))
        except InvalidInput as problem:
            log.warning("directory.account_not_changed", user=account.user_id, why=str(problem))
            done.failed += 1
            continue
        finally:
            unmapped |= set_claim_memberships(account.user, provider=Directory.LDAP.value, values=values)
        done.resumed += is_resumed
        done.changed += is_changed and not is_resumed
        done.same += not (is_changed or is_resumed)
    store_unmapped_values(Directory.LDAP.value, unmapped)
    return done


def build_account_fields(entry: DirectoryEntry) -> KnownPerson:
    """Return an entry as an account's fields; characters not allowed in names become `_`, as at sign-in."""
    username = re.sub(r"[^\w.@+-]", "_", entry.username)
    return KnownPerson(entry.external_id, username, entry.first_name, entry.last_name, entry.email)


def _update_or_create_account(entry: DirectoryEntry) -> DirectoryAccount:
    """Return the account of this entry, updated, or a new one. Raises InvalidInput, Conflict."""
    rows = DirectoryAccount.objects.filter(directory=Directory.LDAP).select_related("user")
    account = rows.filter(external_id=entry.external_id).first()
    if account is None:
        return create_directory_account(None, Directory.LDAP, build_account_fields(entry))
    if not account.user.is_superuser:
        enable_directory_account(None, account)
        update_directory_account(None, account, build_account_fields(entry))
        account.user.refresh_from_db()
    return account
