"""Names of accounts: no new one may look like an existing one."""

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


def find_similar_name(name: str, *, besides: int = 0) -> str:
    """Return an existing name that equals this one in any case, or looks like it; "" for none. besides: own id.

    Names of people who govern are compared by full appearance, all others by the Latin name they may stand for.
    """
    name = User.normalize_username(name)
    others = User.objects.exclude(pk=besides)
    same = others.filter(Q(username__iexact=name) | Q(username__iexact=compute_skeleton(name)))
    if found := same.values_list("username", flat=True).first():
        return found
    governing = others.filter(Q(is_superuser=True) | Q(is_staff=True)).values_list("username", flat=True)
    return next((other for other in governing.order_by("pk") if compute_skeleton(other) == compute_skeleton(name)), "")


def compute_skeleton(name: str) -> str:
    """Return a name's appearance: in NFKC, lower case, with look-alike letters replaced by Latin ones."""
    return User.normalize_username(name).translate(_load_look_alikes()).casefold()


def require_usable_name(name: str, *, besides: int = 0) -> None:
    """Raise InvalidInput for an unusable name, Conflict for one that is taken or looks like a taken one."""
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError as problem:
        raise InvalidInput(problem.messages[0]) from problem
    if not 0 < len(name) <= NAME_LENGTH:
        raise InvalidInput(_("A name has 1 to %(most)s characters.") % {"most": NAME_LENGTH})
    other = find_similar_name(name, besides=besides)
    if other.casefold() == User.normalize_username(name).casefold():
        raise Conflict(_("There is already an account “%(name)s”. Choose another name.") % {"name": other})
    if other:
        sentence = _("“%(name)s” looks like the account “%(other)s”. Choose another name.")
        raise Conflict(sentence % {"name": name, "other": other})


@cache
def _load_look_alikes() -> dict[int, str]:
    listed: dict[str, str] = yaml.safe_load(Path(__file__).with_name("look_alikes.yaml").read_text(encoding="utf-8"))
    return {ord(other): letter for letter, others in listed.items() for other in others}
