"""Names of accounts: none is made that looks like another one, whoever makes it."""

from functools import cache
from pathlib import Path

import yaml
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.translation import gettext as _

from copilot_site.lib.errors import Conflict, InvalidInput

NAME_LENGTH = 150  # of Django's column


def resembled(name: str, *, besides: int = 0) -> str:
    """Return the name of an account that this one is, in whatever case, or looks like; "" for none. besides: the id of the account itself.

    Whoever governs here is compared by all that a name looks like, everybody else by the Latin name that it may stand for.
    """
    name = User.normalize_username(name)
    others = User.objects.exclude(pk=besides)
    same = others.filter(Q(username__iexact=name) | Q(username__iexact=skeleton(name)))
    if found := same.values_list("username", flat=True).first():
        return found
    governing = others.filter(Q(is_superuser=True) | Q(is_staff=True)).values_list("username", flat=True)
    return next((other for other in governing.order_by("pk") if skeleton(other) == skeleton(name)), "")


def skeleton(name: str) -> str:
    """Return what a name looks like: in NFKC, Latin letters in place of those that are drawn as they are, in small letters."""
    return User.normalize_username(name).translate(_look_alikes()).casefold()


def require_usable(name: str, *, besides: int = 0) -> None:
    """Raises InvalidInput for what is no name, Conflict for one that somebody has, and for one that looks like somebody's."""
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError as problem:
        raise InvalidInput(problem.messages[0]) from problem
    if not 0 < len(name) <= NAME_LENGTH:
        raise InvalidInput(_("A name has 1 to %(most)s characters.") % {"most": NAME_LENGTH})
    other = resembled(name, besides=besides)
    if other.casefold() == User.normalize_username(name).casefold():
        raise Conflict(_("There is an account “%(name)s” already. Choose another name.") % {"name": other})
    if other:
        sentence = _("“%(name)s” looks like the account “%(other)s”. Choose another name.")
        raise Conflict(sentence % {"name": name, "other": other})


@cache
def _look_alikes() -> dict[int, str]:
    listed: dict[str, str] = yaml.safe_load(Path(__file__).with_name("look_alikes.yaml").read_text(encoding="utf-8"))
    return {ord(other): letter for letter, others in listed.items() for other in others}
