"""Explanations of a person's rights at a place, for the page and the API."""

from collections.abc import Iterator

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record
from authz.explain import Explanation, explain
from authz.permissions import Right
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from knowledge.governance.effective_rights import base_id_of, node_id_of, person_of, rulebook_of
from knowledge.governance.parameters import Place
from knowledge.models import KnowledgeBase


@transaction.atomic
def explain_rights(by: Principal, user: User, place: Place) -> list[Explanation]:
    """Each right of this person at a place that `by` reviews, with its reason. It tells about a person, so it is recorded."""
    rules, person = rulebook_of([base_id_of(place)]), person_of(user)
    found = [explain(rules.decide(person, right, node_id_of(place))) for right in Right]
    held = [each.right.value for each in found if each.is_allowed]
    record(by, Action.ACCESS_EXPLAINED, place, detail={"user": user.pk, "held": held})
    return found


def seen_inside(user: User, base: KnowledgeBase) -> Iterator[str]:
    """The places in a base that somebody may view: because of one of them they see the base's name, too."""
    rules, person = rulebook_of([base.pk]), person_of(user)
    for right, place_id in rules.held(person):
        if right is Right.VIEW and place_id != base.pk:
            yield rules.places[place_id].name


def right_named(word: str) -> Right:
    """Raises InvalidInput, naming the five."""
    if word not in Right.values:
        raise InvalidInput(
            _("“%(word)s” is no right. The rights are: %(rights)s.") % {"word": word, "rights": ", ".join(Right.values)}
        )
    return Right(word)
