"""Make folders, people and grants by bulk statements, inside a transaction that is rolled back."""

import random
from collections.abc import Sequence
from uuid import uuid4

from django.contrib.auth.models import Group, User
from django.db import connection

from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import deny_rights, grant_rights
from knowledge.models import Folder, KnowledgeBase
from knowledge.services.folders import create_knowledge_base, find_root_folder
from knowledge.services.tree import mark_cuts

FAN_OUT = 10  # folders in a folder
SETS = 10  # of groups, in which the people of an audience are

_LINK = """
INSERT INTO knowledge_folderlink (ancestor_id, descendant_id, depth, is_cut)
WITH RECURSIVE up (ancestor, descendant, depth) AS (
    SELECT parent_id, id, 1 FROM knowledge_folder WHERE knowledge_base_id = %(base)s AND parent_id IS NOT NULL
    UNION ALL SELECT f.parent_id, up.descendant, up.depth + 1 FROM up JOIN knowledge_folder f ON f.id = up.ancestor
    WHERE f.parent_id IS NOT NULL
)
SELECT ancestor, descendant, depth, false FROM up
UNION ALL SELECT id, id, 0, false FROM knowledge_folder WHERE knowledge_base_id = %(base)s AND parent_id IS NOT NULL
"""


def make_tree(count: int, name: str = "") -> tuple[KnowledgeBase, list[Folder]]:
    """Make a base of `count` folders, FAN_OUT in each, the root first."""
    base = create_knowledge_base(None, name=name or f"benchmark {uuid4()}")
    folders = [find_root_folder(base)]
    for number in range(1, count):
        parent = folders[(number - 1) // FAN_OUT]
        folders.append(Folder(knowledge_base=base, parent=parent, name=f"folder {number}"))
    Folder.unscoped.bulk_create(folders[1:], batch_size=2_000)
    with connection.cursor() as cursor:
        cursor.execute(_LINK, {"base": base.pk})
    return base, folders


def make_member(groups: int) -> tuple[User, list[Group]]:
    """Make a person in so many groups."""
    user = User.objects.create(username=f"benchmark-{uuid4()}")
    made = [Group.objects.create(name=f"benchmark-{uuid4()}") for _group in range(groups)]
    user.groups.set(made)
    return user, made


def make_reader(base: KnowledgeBase, share: float) -> Principal:
    """Make a person who sees about that share of the passages: through grants on leaves, one at least, or on the base for all."""
    user, (group,) = make_member(1)
    left = share * sum(Folder.unscoped.filter(knowledge_base=base).values_list("chunk_count", flat=True))
    filled = list(Folder.unscoped.filter(knowledge_base=base, chunk_count__gt=0, children=None).order_by("name", "pk"))
    chosen: list[Folder | KnowledgeBase] = [base] if share == 1 else []
    for leaf in random.Random(1).sample(filled, len(filled)) if share < 1 else ():  # noqa: S311 - repeats a run
        if leaf.chunk_count <= left or not chosen:
            chosen.append(leaf)
            left -= leaf.chunk_count
    for place in chosen:
        grant_rights(None, [Right.VIEW], place, to=group)
    return Principal.of(user)


def make_audience(people: int, groups: Sequence[Group]) -> list[int]:
    """Make so many people more, each in nine tenths of the groups, every tenth person in the same; return their ids."""
    made = User.objects.bulk_create(User(username=f"benchmark-{uuid4()}") for _person in range(people))
    members = [
        User.groups.through(user_id=user.pk, group_id=group.pk)
        for number, user in enumerate(made)
        for place, group in enumerate(groups)
        if place % SETS != number % SETS
    ]
    User.groups.through.objects.bulk_create(members)
    return [user.pk for user in made]


def share_out(folders: Sequence[Folder], groups: Sequence[Group]) -> None:
    """Give each group three grants on folders anywhere; break inheritance in every fiftieth folder, and make two hundred denials."""
    chance = random.Random(1)  # noqa: S311 - repeats a run, hides nothing
    Folder.unscoped.filter(pk__in=[folder.pk for folder in folders[50::50]]).update(inherits=False)
    mark_cuts(folders[0])
    for group in groups:
        for folder in chance.sample(folders[1:], 3):
            grant_rights(None, [Right.VIEW], folder, to=group)
    for folder in chance.sample(folders[1:], min(200, len(folders) - 1)):
        deny_rights(None, [Right.VIEW], folder, to=chance.choice(groups))
