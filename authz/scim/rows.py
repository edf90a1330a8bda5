"""Accounts and groups as resources of SCIM."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User as Person
from django.db.models import QuerySet

from authz.directory import groups
from authz.directory.accounts import (
    KnownPerson,
    create_directory_account,
    delete_directory_account,
    disable_directory_account,
    enable_directory_account,
    list_kept_accounts,
    update_directory_account,
)
from authz.models import Directory, DirectoryAccount, DirectoryGroup
from authz.principal import Principal
from authz.scim.resources import Email, Group, GroupMember, GroupMembership, Name, User, build_meta


class Accounts:
    """`Users`. `by`: the token's owner. lookups: lower-case attributes that the database can filter by."""

    lookups = {"username": "user__username__iexact", "externalid": "external_id", "emails.value": "user__email__iexact"}

    def __init__(self, by: Principal) -> None:
        self._by = by

    def rows(self) -> QuerySet[DirectoryAccount]:
        return list_kept_accounts(Directory.SCIM).order_by("pk")

    def resources(self, rows: Collection[DirectoryAccount], left_out: Collection[str]) -> list[User]:
        """Return rows as resources. left_out: attributes that were not requested."""
        groups = {} if "groups" in left_out else _find_groups_by_person([row.user_id for row in rows])
        return [_build_user(row, groups.get(row.user_id, [])) for row in rows]

    def create(self, given: User) -> DirectoryAccount:
        account = create_directory_account(
            self._by, Directory.SCIM, _build_account_fields(given), is_active=given.active is not False
        )
        _save_emails(account, given)
        return account

    def update(self, row: DirectoryAccount, given: User) -> None:
        update_directory_account(self._by, row, _build_account_fields(given))
        _save_emails(row, given)
        if given.active is False:
            disable_directory_account(self._by, row)
        elif given.active:
            enable_directory_account(self._by, row)

    def delete(self, row: DirectoryAccount) -> None:
        delete_directory_account(self._by, row)


def _build_account_fields(given: User) -> KnownPerson:
    name = given.name or Name()
    main = max(given.emails or [], key=lambda email: bool(email.primary), default=None)  # of equals, the first wins
    return KnownPerson(
        external_id=given.external_id or "",
        username=given.user_name or "",
        first_name=name.given_name or "",
        last_name=name.family_name or "",
        email=(main.value if main else None) or "",
    )


def _save_emails(account: DirectoryAccount, given: User) -> None:
    kept: list[dict[str, Any]] = [
        {"value": email.value, "type": email.type, "primary": email.primary} for email in given.emails or []
    ]
    if kept != account.emails:
        account.emails = kept
        account.save(update_fields=["emails", "changed_at"])


def _build_user(row: DirectoryAccount, groups: list[tuple[UUID, str]]) -> User:
    user = row.user
    name = Name(given_name=user.first_name or None, family_name=user.last_name or None)
    made = User(
        id=str(row.pk),
        external_id=row.external_id or None,
        user_name=user.username,
        name=name if name.given_name or name.family_name else None,
        active=user.is_active,
        emails=[Email(**email) for email in row.emails] or None,
        groups=[_build_membership(pk, shown) for pk, shown in groups] or None,
    )
    made.meta = build_meta(made, "User", row.created_at, row.changed_at)
    return made


def _build_membership(pk: UUID, shown: str) -> GroupMembership:
    return GroupMembership.model_validate({"value": str(pk), "$ref": f"Groups/{pk}", "display": shown})


def _find_groups_by_person(user_ids: Collection[int]) -> dict[int, list[tuple[UUID, str]]]:
    """Return, by id of a person, ids and names of their groups that SCIM keeps."""
    kept = dict(DirectoryGroup.objects.values_list("group_id", "pk"))
    rows = Person.groups.through.objects.filter(user_id__in=user_ids, group_id__in=kept).order_by("group_id")
    found: defaultdict[int, list[tuple[UUID, str]]] = defaultdict(list)
    for user_id, group_id, name in rows.values_list("user_id", "group_id", "group__name"):
        found[user_id].append((kept[group_id], name))
    return found


class Groups:
    """`Groups`. `by`: the token's owner. lookups: lower-case attributes that the database can filter by."""

    lookups = {"displayname": "group__name__iexact", "externalid": "external_id"}

    def __init__(self, by: Principal) -> None:
        self._by = by

    def rows(self) -> QuerySet[DirectoryGroup]:
        return DirectoryGroup.objects.select_related("group").order_by("pk")

    def resources(self, rows: Collection[DirectoryGroup], left_out: Collection[str]) -> list[Group]:
        """Return rows as resources. left_out: attributes that were not requested."""
        members = {} if "members" in left_out else _find_members_by_group([row.group_id for row in rows])
        return [_build_group(row, members.get(row.group_id, [])) for row in rows]

    def create(self, given: Group) -> DirectoryGroup:
        row = groups.create_directory_group(
            self._by, name=given.display_name or "", external_id=given.external_id or ""
        )
        groups.set_members(self._by, row, account_ids=_list_member_ids(given))
        return row

    def update(self, row: DirectoryGroup, given: Group) -> None:
        groups.update_directory_group(self._by, row, name=given.display_name or "", external_id=given.external_id or "")
        groups.set_members(self._by, row, account_ids=_list_member_ids(given))

    def delete(self, row: DirectoryGroup) -> None:
        groups.remove_directory_group(self._by, row)


def _list_member_ids(given: Group) -> set[str]:
    return {member.value for member in given.members or [] if member.value}


def _build_group(row: DirectoryGroup, members: list[UUID]) -> Group:
    made = Group(
        id=str(row.pk),
        external_id=row.external_id or None,
        display_name=row.group.name,
        members=[GroupMember.model_validate({"value": str(pk), "$ref": f"Users/{pk}"}) for pk in members] or None,
    )
    made.meta = build_meta(made, "Group", row.created_at, row.changed_at)
    return made


def _find_members_by_group(group_ids: Collection[int]) -> dict[int, list[UUID]]:
    """Return, by id of a group, ids of its members that SCIM keeps."""
    rows = Person.groups.through.objects.filter(
        group_id__in=group_ids, user__in=list_kept_accounts(Directory.SCIM).values("user")
    )
    found: defaultdict[int, list[UUID]] = defaultdict(list)
    for group_id, account_id in rows.order_by("user_id").values_list("group_id", "user__directory_account"):
        found[group_id].append(account_id)
    return found
