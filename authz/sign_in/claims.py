"""Memberships that the company's sign-in adds and removes."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils import timezone

from audit.actions import Action
from audit.record import record_action
from authz.models import ClaimMapping, ClaimMembership, UnmappedClaim

MAX_VALUES = 1_000  # values read from one claim
VALUE_LENGTH = 250  # characters


def read_claim_values(claim: Any) -> set[str]:
    """Return the names in a groups claim: a list of texts, one text, or nothing (no claim: no group)."""
    listed = [claim] if isinstance(claim, str) else claim if isinstance(claim, list) else []
    return {text for text in listed[:MAX_VALUES] if isinstance(text, str) and 0 < len(text) <= VALUE_LENGTH}


@transaction.atomic
def apply_claims(user: User, *, provider: str, values: Iterable[str]) -> None:
    """Set the person's memberships to what the mapping gives for these values.

    Memberships from earlier sign-ins that are no longer given end; those given by hand stay, whatever the mapping says.
    Values without a mapping are noted for the administrator and have no effect.
    """
    store_unmapped_values(provider, set_claim_memberships(user, provider=provider, values=values))


def store_unmapped_values(provider: str, values: Iterable[str]) -> None:
    """Store unmapped values for the administrator, who may map them."""
    for value in sorted(values):
        UnmappedClaim.objects.update_or_create(provider=provider, value=value, defaults={"seen_at": timezone.now()})


@transaction.atomic
def set_claim_memberships(user: User, *, provider: str, values: Iterable[str]) -> set[str]:
    """Set memberships as `apply_claims` does; return the values without a mapping."""
    User.objects.select_for_update().get(pk=user.pk)  # serialise concurrent sign-ins
    named = set(values)
    mappings = ClaimMapping.objects.filter(provider__in=("", provider), value__in=named)
    known, wanted = set(), set()
    for value, group_id in mappings.values_list("value", "group_id"):
        known.add(value)
        wanted.add(group_id)
    marks = ClaimMembership.objects.filter(user=user, provider=provider)
    for mark in marks.exclude(group_id__in=wanted).select_related("group"):
        _remove_membership(user, mark)
    held = set(user.groups.values_list("pk", flat=True))
    for group in Group.objects.filter(pk__in=wanted - held):
        _add_membership(user, group, provider)
    return named - known


# These do not call `units.add_member` and `units.remove_member`, which refuse to leave a place without a manager: the company's word
# on who is in a group counts all the same.
def _add_membership(user: User, group: Group, provider: str) -> None:
    user.groups.add(group)
    ClaimMembership.objects.create(user=user, group=group, provider=provider)
    record_action(None, Action.MEMBER_ADDED, group, detail={"user": user.pk, "sign_in": provider})


def _remove_membership(user: User, mark: ClaimMembership) -> None:
    user.groups.remove(mark.group)
    mark.delete()
    record_action(None, Action.MEMBER_REMOVED, mark.group, detail={"user": user.pk, "sign_in": mark.provider})
