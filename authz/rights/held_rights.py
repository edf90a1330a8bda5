"""The rule of `authz.rights.folders` for several people or groups and all rights at once, for reviews and exports."""

from collections import defaultdict
from collections.abc import Collection
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection

from authz.permissions import Right
from authz.rights.folders import ALIKE, BASES, FOLDERS, OWN
from authz.rights.tree import require_tree

Held = frozenset[tuple[Right, UUID]]  # pairs of a right and a place

# The rule for a person without token, conversation or audience, or for a member of one group alone.
_ONE = {
    OWN: f"{OWN}\n    UNION ALL SELECT one.group_id WHERE one.group_id IS NOT NULL",
    "{user}": "one.user_id",
    "{people}": "ARRAY[one.user_id]",
    "{folder_codename}": "(one.may || '_folder')",
    "{base_codename}": "(one.may || '_knowledgebase')",
    "{right}": "one.may",
    "{within}": "NULL",
    "{token}": "NULL",
    "{conversation}": "NULL",
}
_HELD = f"""
SELECT one.user_id, one.group_id, one.may, held.id
FROM (
    SELECT whom.user_id, whom.group_id, may
    FROM unnest(%(users)s::int[], %(groups)s::int[]) AS whom(user_id, group_id) CROSS JOIN unnest(%(rights)s::text[]) AS may
) AS one CROSS JOIN LATERAL (
    ({FOLDERS} AND l.descendant_id = ANY(%(places)s::uuid[]))
    UNION ({BASES})
) AS held(id)
WHERE held.id = ANY(%(places)s::uuid[])"""  # noqa: S608  # made of constants


def find_rights_of_people(user_ids: Collection[int], place_ids: Collection[UUID]) -> dict[int, Held]:
    """Return the rights of each of these people on the places; inactive people are missing.

    People with the same groups and no grants or denials of their own are computed once and share their set.
    """
    with connection.cursor() as cursor:
        cursor.execute(ALIKE.replace("{people}", "%s::int[]"), [list(user_ids)])
        alike: list[list[int]] = [ids for (ids,) in cursor.fetchall()]
    found = _find_held_rights([(ids[0], None) for ids in alike], place_ids)
    return {user_id: found.get((ids[0], None), frozenset()) for ids in alike for user_id in ids}


def find_rights_of_groups(group_ids: Collection[int], place_ids: Collection[UUID]) -> dict[int, Held]:
    """Return for each group the rights on the places of somebody who is in that group alone."""
    found = _find_held_rights([(0, group_id) for group_id in group_ids], place_ids)
    return {group_id: found.get((0, group_id), frozenset()) for group_id in group_ids}


Subject = tuple[int, int | None]  # a person, or 0 with a group


def _find_held_rights(subjects: Collection[Subject], place_ids: Collection[UUID]) -> dict[Subject, Held]:
    values: dict[str, Any] = {
        "users": [user_id for user_id, _group_id in subjects],
        "groups": [group_id for _user_id, group_id in subjects],
        "rights": Right.values,
        "places": list(place_ids),
    }
    found: defaultdict[Subject, set[tuple[Right, UUID]]] = defaultdict(set)
    with connection.cursor() as cursor:
        cursor.execute(_build_statement(), values)
        for user_id, group_id, right, place_id in cursor.fetchall():
            found[user_id, group_id].add((Right(right), place_id))
    return {subject: frozenset(held) for subject, held in found.items()}


@cache
def _build_statement() -> str:
    statement = _HELD
    for name, value in _ONE.items():
        statement = statement.replace(name, value)
    return statement.format(**require_tree().tables())
