"""Resolution of parameters of addresses and forms to people, holders of rights, and governed places."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, Literal, TypedDict
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.utils.translation import gettext as _

from authz.models import OrgUnit, Role
from authz.people.groups import find_accounts_by_name
from authz.principal import Principal
from authz.rights.governing import get_governed, get_reviewed
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.models import Document, Folder, FolderKind, KnowledgeBase

Kind = Literal["base", "folder", "document"]
Place = KnowledgeBase | Folder | Document
MODELS: dict[str, type[Place]] = {"base": KnowledgeBase, "folder": Folder, "document": Document}
# what has no rights for people to look at: the nodes of documents, what is in the trash, and the files of conversations
NARROW: dict[type[Place], dict[str, Any]] = {
    Folder: {"kind": FolderKind.FOLDER},
    Document: {"trashed_at": None, "folder__kind": FolderKind.FOLDER},
}
MAX_NAMES = 500  # offered while somebody types; every name can be typed


def find_governed_place(principal: Principal, kind: str, place_id: UUID | str) -> Place:
    """Return a place that this person governs. Raises NotFound, the same for missing, unknown kinds and others' places."""
    return _find_place(get_governed, principal, kind, place_id)


def find_reviewed_place(principal: Principal, kind: str, place_id: UUID | str) -> Place:
    """Return a place whose rights this person may see. Raises NotFound as `find_governed_place` does."""
    return _find_place(get_reviewed, principal, kind, place_id)


def _find_place(get: Callable[..., Any], principal: Principal, kind: str, place_id: UUID | str) -> Place:
    model = MODELS.get(kind)
    if model is None:
        raise NotFound(_("A place is a base, a folder or a document, not “%(kind)s”.") % {"kind": kind})
    place: Place = get(model, principal, pk=place_id, **NARROW.get(model, {}))
    return place


def find_place_kind(place: Place) -> Kind:
    if isinstance(place, KnowledgeBase):
        return "base"
    return "folder" if isinstance(place, Folder) else "document"


def find_user_by_name(name: str) -> User:
    """Return an account, disabled ones included, by sign-in name, else by a full name that only one has.

    Raises InvalidInput, naming the nearest names, or the people who share the name.
    """
    found = list(find_accounts_by_name(name).order_by("username"))
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidInput(
            _("%(count)s people are called “%(name)s”. Give the sign-in name: %(names)s.")
            % {"count": len(found), "name": name.strip(), "names": ", ".join(item.username for item in found)}
        )
    advice = _("Give the sign-in name, or the exact full name.")
    raise InvalidInput(
        _format_unknown_name(_("person"), name, User.objects.values_list("username", flat=True), advice=advice)
    )


def find_group_by_name(name: str) -> Group:
    """Return a group, unit or role. Raises InvalidInput, naming the nearest."""
    group = Group.objects.filter(name=name.strip()).first()
    if group is None:
        raise InvalidInput(
            _format_unknown_name(_("group, unit or role"), name, Group.objects.values_list("name", flat=True))
        )
    return group


def find_group_carrier(group: Group) -> OrgUnit | Role | Group:
    """Return the org unit or role behind a group, else the group itself, for the audit log."""
    unit = OrgUnit.objects.filter(group=group).first()
    return unit or Role.objects.filter(group=group).first() or group


def find_unit_by_name(name: str) -> OrgUnit:
    """Return an org unit by name. Raises InvalidInput, naming the nearest."""
    unit = OrgUnit.objects.filter(group__name=name.strip()).first()
    if unit is None:
        raise InvalidInput(
            _format_unknown_name(_("org unit"), name, OrgUnit.objects.values_list("group__name", flat=True))
        )
    return unit


class HolderNames(TypedDict):
    """people: full names by sign-in name."""

    people: dict[str, str]
    groups: list[str]


def list_holder_names() -> HolderNames:
    """Return names to offer where a holder is asked for."""
    people = User.objects.filter(is_active=True).order_by("username")[:MAX_NAMES]
    groups = Group.objects.order_by("name").values_list("name", flat=True)
    return {"people": {user.username: user.get_full_name() for user in people}, "groups": list(groups[:MAX_NAMES])}


def _format_unknown_name(what: str, name: str, known: Iterable[str], *, advice: str = "") -> str:
    """Return the error for an unknown name. advice: a further sentence, where no name is near."""
    near = get_close_matches(name.strip(), list(known), n=1)
    if not near:
        return (
            _("There is no %(what)s called “%(name)s”.") % {"what": what, "name": name.strip()} + f" {advice}"
        ).strip()
    return _("There is no %(what)s called “%(name)s”. Did you mean “%(near)s”?") % {
        "what": what, "name": name.strip(), "near": near[0],
    }  # fmt: skip
