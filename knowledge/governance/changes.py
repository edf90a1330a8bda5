"""One change of rights on one place, or of one membership: first shown with what it does to whom, then carried out when that is
confirmed."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from uuid import UUID

from django import forms
from django.contrib.auth.models import Group, User
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from authz.explanations.impact import Effects
from authz.models import OrgUnit, Role
from authz.people.groups import format_person_name
from authz.people.units import add_member, remove_member
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.governing import get_governed
from authz.rights.holders import find_bases_about_group
from copilot_site.lib.errors import InvalidInput
from knowledge.governance import dry_run
from knowledge.governance.effective_rights import base_id_of
from knowledge.governance.parameters import Place, find_group_by_name, find_user_by_name
from knowledge.models import Folder, FolderKind, KnowledgeBase
from knowledge.services import access
from knowledge.services.folders import rename_and_move_folder


class What(models.TextChoices):
    GIVE = "give", gettext_lazy("give rights")
    TAKE_BACK = "take_back", gettext_lazy("take back rights")
    DENY = "deny", gettext_lazy("deny rights")
    UNDENY = "undeny", gettext_lazy("take back a denial")
    BREAK = "break", gettext_lazy("stop inheriting rights")
    RESTORE = "restore", gettext_lazy("inherit rights again")
    TELL = "tell", gettext_lazy("let its name be shown")
    HIDE = "hide", gettext_lazy("keep its name hidden")
    MOVE = "move", gettext_lazy("move below another folder")


ABOUT_A_HOLDER = (What.GIVE, What.TAKE_BACK, What.DENY, What.UNDENY)


@dataclass(frozen=True)
class RightsChange:
    """A requested change on a place.

    copy: for BREAK, keep what is granted from above on the place itself. parent_id: for MOVE, the folder to lie in.
    """

    what: What
    holder: User | Group | None = None
    rights: tuple[Right, ...] = ()
    ends_at: datetime | None = None
    reason: str = ""
    copy: bool = False
    parent_id: UUID | None = None

    @property
    def holder_text(self) -> str:
        return format_person_name(self.holder) if isinstance(self.holder, User) else str(self.holder or "")

    def apply(self, by: Principal, place: Place) -> None:
        """Make the change. Raises NotFound, PermissionDenied and InvalidInput of `knowledge.services.access`."""
        if self.holder is not None:
            self._apply_to_holder(by, place, self.holder)
        elif isinstance(place, KnowledgeBase):
            raise InvalidInput(_("A knowledge base has nothing above it. Change this on folders and documents."))
        elif self.what is What.BREAK:
            access.break_inheritance(by, place, copy=self.copy)
        elif self.what is What.RESTORE:
            access.restore_inheritance(by, place)
        elif self.what is What.MOVE:
            self._move_folder(by, place)
        elif isinstance(place, Folder):
            access.set_discoverable(by, place, is_discoverable=self.what is What.TELL)
        else:
            raise InvalidInput(_("Only folder names can be shown or hidden."))

    def _move_folder(self, by: Principal, place: Place) -> None:
        if not isinstance(place, Folder):
            raise InvalidInput(_("Only folders are moved here; documents are moved on their own pages."))
        parent = get_governed(Folder, by, pk=self.parent_id, kind=FolderKind.FOLDER)
        rename_and_move_folder(by, folder_id=place.pk, name=place.name, parent_id=parent.pk)

    def _apply_to_holder(self, by: Principal, place: Place, holder: User | Group) -> None:
        if self.what is What.GIVE:
            access.grant_place_rights(by, self.rights, place, to=holder, expires_at=self.ends_at)
        elif self.what is What.TAKE_BACK:
            access.revoke_place_rights(by, self.rights, place, of=holder)
        elif self.what is What.DENY:
            access.deny_place_rights(by, self.rights, place, to=holder, reason=self.reason)
        else:
            access.revoke_place_denials(by, self.rights, place, of=holder)


class ChangeForm(forms.Form):
    """The form that the page of a place sends."""

    what = forms.ChoiceField(choices=What.choices)
    holder_kind = forms.ChoiceField(choices=[("user", ""), ("group", "")], required=False)
    holder = forms.CharField(max_length=200, required=False)
    rights = forms.MultipleChoiceField(choices=Right.choices, required=False)
    until = forms.DateField(
        required=False, error_messages={"invalid": gettext_lazy("Give the last day as a date like 2027-12-31.")}
    )
    reason = forms.CharField(max_length=500, required=False)
    copy = forms.BooleanField(required=False)
    parent = forms.UUIDField(required=False, error_messages={"invalid": gettext_lazy("Choose a folder.")})

    def change(self) -> RightsChange:
        """Return the change that was asked for. Raises InvalidInput with one sentence."""
        if not self.is_valid():
            field, problems = next(iter(self.errors.items()))
            raise InvalidInput(f"{field}: {problems[0]}" if field != "__all__" else str(problems[0]))
        given = self.cleaned_data
        what = What(given["what"])
        if what not in ABOUT_A_HOLDER:
            return RightsChange(what, copy=given["copy"], parent_id=given["parent"])
        rights = tuple(right for right in Right if right.value in given["rights"])
        if not rights:
            raise InvalidInput(_("Choose at least one right."))
        if not given["holder"].strip():
            raise InvalidInput(_("Enter a person or a group."))
        ends_at = compute_end_of_day(given["until"]) if given["until"] else None
        return RightsChange(what, _find_holder(given["holder_kind"], given["holder"]), rights, ends_at, given["reason"])


def _find_holder(kind: str, name: str) -> User | Group:
    """Return the holder of this kind, else of the other, whose names the same field offers; effects are shown first."""
    named, other = (
        (find_group_by_name, find_user_by_name) if kind == "group" else (find_user_by_name, find_group_by_name)
    )
    try:
        return named(name)
    except InvalidInput:
        with suppress(InvalidInput):
            return other(name)
        raise


def compute_end_of_day(day: date) -> datetime:
    """Return the moment a last day is over, in the site's time zone."""
    return timezone.make_aware(datetime.combine(day + timedelta(days=1), time.min))


def apply_place_change(by: Principal, place: Place, change: RightsChange, *, confirmed: str = "") -> Effects | None:
    """Make a change on a place, or show what it would do: `dry_run.apply_confirmed_change`."""
    return dry_run.apply_confirmed_change(
        by,
        lambda: change.apply(by, place),
        what=change.what.value,
        target=place,
        base_ids=[base_id_of(place)],
        confirmed=confirmed,
        asks_always=change.what in ABOUT_A_HOLDER,
    )


class MembershipChange(models.TextChoices):
    JOIN = "join", gettext_lazy("Add as member")
    LEAVE = "leave", gettext_lazy("End the membership")


def change_membership(
    by: Principal, user: User, place: OrgUnit | Role | Group, what: MembershipChange, *, confirmed: str = ""
) -> Effects | None:
    """Let a person join or leave, or show what that would do. Raises PermissionDenied, InvalidInput (the last manager of a place)."""
    change = add_member if what is MembershipChange.JOIN else remove_member
    return dry_run.apply_confirmed_change(
        by,
        lambda: change(by, place, user=user),
        what=what.value,
        target=user,
        base_ids=find_bases_about_group(place if isinstance(place, Group) else place.group),
        confirmed=confirmed,
    )
