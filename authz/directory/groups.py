"""Groups kept by SCIM: created, renamed, filled and deleted on its word, each audited.

It sets membership only for the people it keeps; other members stay, and it does not see them. The company's word
counts for the last manager of a place, too (`authz.sign_in.claims`). `by`: whose token it came with.
"""

from collections.abc import Collection
from uuid import UUID

from django.contrib.auth.models import Group
from django.db import transaction
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.directory.accounts import check_external_id, list_kept_accounts
from authz.models import ClaimMembership, Directory, DirectoryGroup
from authz.people.units import create_carrier_group, remove_group, set_name
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput

KEPT = {"directory": Directory.SCIM.value}


@transaction.atomic
def create_directory_group(by: Principal, *, name: str, external_id: str) -> DirectoryGroup:
    """Create a group without members or rights. Raises InvalidInput (no name), Conflict (it is taken)."""
    check_external_id(external_id)
    group = create_carrier_group(name)
    row = DirectoryGroup.objects.create(group=group, external_id=external_id, is_made=True)
    record_action(by, Action.GROUP_CREATED, group, detail=KEPT)
    return row


@transaction.atomic
def update_directory_group(by: Principal, row: DirectoryGroup, *, name: str, external_id: str) -> None:
    """Change name and id. Raises InvalidInput (no name, or the group was created here), Conflict (it is taken)."""
    if row.group.name != name:
        if not row.is_made:
            raise InvalidInput(_("“%(name)s” was made here, and is renamed here.") % {"name": row.group.name})
        set_name(by, row.group, name=name)
        row.save(update_fields=["changed_at"])
    check_external_id(external_id)
    if row.external_id != external_id:
        row.external_id = external_id
        row.save(update_fields=["external_id", "changed_at"])


@transaction.atomic
def set_members(by: Principal, row: DirectoryGroup, *, account_ids: Collection[str]) -> None:
    """Set the members among the people that SCIM keeps. Raises InvalidInput for the id of anyone else."""
    DirectoryGroup.objects.select_for_update().get(pk=row.pk)
    people = dict(
        list_kept_accounts(Directory.SCIM).filter(pk__in=_parse_uuids(account_ids)).values_list("pk", "user_id")
    )
    unknown = set(account_ids) - {str(known) for known in people}
    if unknown:
        raise InvalidInput(_("There is no person with the id %(id)s.") % {"id": min(unknown)[:100]})
    wanted = set(people.values())
    held = set(
        row.group.user_set.filter(pk__in=list_kept_accounts(Directory.SCIM).values("user")).values_list("pk", flat=True)
    )
    row.group.user_set.add(*wanted - held)
    row.group.user_set.remove(*held - wanted)
    ClaimMembership.objects.filter(user__in=held - wanted, group=row.group).delete()
    for action, people_ids in ((Action.MEMBER_ADDED, wanted - held), (Action.MEMBER_REMOVED, held - wanted)):
        for pk in sorted(people_ids):
            record_action(by, action, row.group, detail={"user": pk} | KEPT)
    if wanted != held:
        row.save(update_fields=["changed_at"])


@transaction.atomic
def remove_directory_group(by: Principal, row: DirectoryGroup) -> None:
    """Undo SCIM's part: its people leave, and a group that it created is deleted with its grants.

    A group stays where other members are the last managers of a place, or where it was created here.
    """
    set_members(by, row, account_ids=())
    group, is_made = row.group, row.is_made
    row.delete()
    if is_made and _delete_group_if_possible(by, group):
        return
    record_action(by, Action.GROUP_CHANGED, group, detail=KEPT | {"kept": False})


def _delete_group_if_possible(by: Principal, group: Group) -> bool:
    """Delete the group unless a place would lose its last manager."""
    try:
        with transaction.atomic():
            record_action(by, Action.GROUP_DELETED, group, detail=KEPT)
            remove_group(group)
    except InvalidInput:
        return False
    return True


def _parse_uuids(texts: Collection[str]) -> list[UUID]:
    found = []
    for text in texts:
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return found
