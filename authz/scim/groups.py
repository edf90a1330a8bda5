"""Groups as resources of SCIM."""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from django.contrib.auth.models import User as Person
from django.db.models import QuerySet

from authz.directory import groups
from authz.directory.accounts import kept_by
from authz.models import Directory, DirectoryGroup
from authz.principal import Principal
from authz.scim.resources import Group, GroupMember, meta_of

Row = DirectoryGroup


class Groups:
    """`Groups`. `by`: the token's owner. lookups: lower-case attributes that the database can filter by."""

    lookups = {"displayname": "group__name__iexact", "externalid": "external_id"}

    def __init__(self, by: Principal) -> None:
        self._by = by

    def rows(self) -> QuerySet[Row]:
        return DirectoryGroup.objects.select_related("group").order_by("pk")

    def resources(self, rows: Collection[Row], left_out: Collection[str]) -> list[Group]:
        """Return rows as resources. left_out: attributes that were not requested."""
        members = {} if "members" in left_out else _members_of([row.group_id for row in rows])
        return [_resource(row, members.get(row.group_id, [])) for row in rows]

    def create(self, given: Group) -> Row:
        row = groups.create(self._by, name=given.display_name or "", external_id=given.external_id or "")
        groups.set_members(self._by, row, account_ids=_ids(given))
        return row

    def update(self, row: Row, given: Group) -> None:
        groups.update(self._by, row, name=given.display_name or "", external_id=given.external_id or "")
        groups.set_members(self._by, row, account_ids=_ids(given))

    def delete(self, row: Row) -> None:
        groups.remove(self._by, row)


def _ids(given: Group) -> set[str]:
    return {member.value for member in given.members or [] if member.value}


def _resource(row: Row, members: list[UUID]) -> Group:
    made = Group(
        id=str(row.pk),
        external_id=row.external_id or None,
        display_name=row.group.name,
        members=[GroupMember.model_validate({"value": str(pk), "$ref": f"Users/{pk}"}) for pk in members] or None,
    )
    made.meta = meta_of(made, "Group", row.created_at, row.changed_at)
    return made


def _members_of(group_ids: Collection[int]) -> dict[int, list[UUID]]:
    """Return, by id of a group, ids of its members that SCIM keeps."""
    rows = Person.groups.through.objects.filter(group_id__in=group_ids, user__in=kept_by(Directory.SCIM).values("user"))
    found: defaultdict[int, list[UUID]] = defaultdict(list)
    for group_id, account_id in rows.order_by("user_id").values_list("group_id", "user__directory_account"):
        found[group_id].append(account_id)
    return found
