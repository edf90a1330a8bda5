"""From what an address or a form says to a person, a holder of rights, or a governed place."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.utils.translation import gettext as _

from authz.governing import get_governed
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.models import Document, Folder, FolderKind, KnowledgeBase

Kind = Literal["base", "folder", "document"]
Place = KnowledgeBase | Folder | Document
MODELS: dict[str, type[Place]] = {"base": KnowledgeBase, "folder": Folder, "document": Document}
MOST_NAMES = 500  # offered while somebody types; every name can be typed


def governed_place(principal: Principal, kind: str, place_id: UUID | str) -> Place:
    """A place that this person governs. Raises NotFound, the same for missing, unknown kinds and others' places."""
    model = MODELS.get(kind)
    if model is None:
        raise NotFound(_("A place is a base, a folder or a document; “%(kind)s” is none of them.") % {"kind": kind})
    if model is Folder:
        return get_governed(Folder, principal, pk=place_id, kind=FolderKind.FOLDER)
    return get_governed(model, principal, pk=place_id)


def kind_of(place: Place) -> Kind:
    if isinstance(place, KnowledgeBase):
        return "base"
    return "folder" if isinstance(place, Folder) else "document"


def user_named(name: str) -> User:
    """An account, disabled ones included, by sign-in name. Raises InvalidInput, naming the nearest."""
    user = User.objects.filter(username=name.strip()).first()
    if user is None:
        raise InvalidInput(_unknown(_("person"), name, User.objects.values_list("username", flat=True)))
    return user


def group_named(name: str) -> Group:
    """A group, unit or role. Raises InvalidInput, naming the nearest."""
    group = Group.objects.filter(name=name.strip()).first()
    if group is None:
        raise InvalidInput(_unknown(_("group, unit or role"), name, Group.objects.values_list("name", flat=True)))
    return group


def holder_names() -> dict[str, list[str]]:
    """Names to offer where a holder is asked for."""
    people = User.objects.filter(is_active=True).order_by("username").values_list("username", flat=True)
    groups = Group.objects.order_by("name").values_list("name", flat=True)
    return {"people": list(people[:MOST_NAMES]), "groups": list(groups[:MOST_NAMES])}


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name.strip(), list(known), n=1)
    if not near:
        return _("There is no %(what)s called “%(name)s”.") % {"what": what, "name": name.strip()}
    return _("There is no %(what)s called “%(name)s”. Did you mean “%(near)s”?") % {
        "what": what, "name": name.strip(), "near": near[0],
    }  # fmt: skip
