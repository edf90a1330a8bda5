"""The closure table of a folder tree: every change of the tree goes through here, so that links and cuts stay right."""

from uuid import UUID

from django.db import connection

from knowledge.models import Folder, FolderLink

# A link is cut when a folder that does not inherit lies below its ancestor, down to its descendant itself.
_CUT = """
UPDATE knowledge_folderlink l SET is_cut = new.is_cut
FROM (
    SELECT link.id, EXISTS (
        SELECT 1 FROM knowledge_folderlink up JOIN knowledge_folder f ON f.id = up.ancestor_id
        WHERE up.descendant_id = link.descendant_id AND up.depth < link.depth AND NOT f.inherits
    ) AS is_cut
    FROM knowledge_folderlink link JOIN knowledge_folderlink inside ON inside.descendant_id = link.descendant_id
    WHERE inside.ancestor_id = %s
) new
WHERE l.id = new.id AND l.is_cut <> new.is_cut
"""


def lock_tree(knowledge_base_id: UUID) -> None:
    """Lock a tree for one change at a time: two at once could miss each other's moves, additions or cuts."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"tree:{knowledge_base_id}"])


def lock_branch(knowledge_base_id: UUID) -> None:
    """Lock a tree for adding folders: several may at once, but none while the tree is changed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))", [f"tree:{knowledge_base_id}"])


def link_new_folder(folder: Folder, parent: Folder | None) -> None:
    """Link a folder that was just made, and that inherits, to itself and to everything above it."""
    above = FolderLink.objects.filter(descendant=parent) if parent else FolderLink.objects.none()
    FolderLink.objects.bulk_create(
        [
            FolderLink(ancestor=folder, descendant=folder, depth=0),
            *(
                FolderLink(ancestor_id=link.ancestor_id, descendant=folder, depth=link.depth + 1, is_cut=link.is_cut)
                for link in above
            ),
        ]
    )


def is_below(folder: Folder, other: Folder) -> bool:
    """Tell whether `folder` lies below `other` or is the same one."""
    return FolderLink.objects.filter(ancestor=other, descendant=folder).exists()


def move_subtree(folder: Folder, parent: Folder) -> None:
    """Move a folder with everything below it under another one; the caller holds `lock_tree`."""
    moved = list(FolderLink.objects.filter(ancestor=folder).values_list("descendant_id", "depth"))
    above = list(FolderLink.objects.filter(descendant=parent).values_list("ancestor_id", "depth"))
    inside = [pk for pk, _depth in moved]
    FolderLink.objects.filter(descendant_id__in=inside).exclude(ancestor_id__in=inside).delete()
    FolderLink.objects.bulk_create(
        FolderLink(ancestor_id=top, descendant_id=bottom, depth=up + 1 + down)
        for top, up in above
        for bottom, down in moved
    )
    folder.parent = parent
    folder.save(update_fields=["parent"])
    mark_cuts(folder)


def mark_cuts(folder: Folder) -> None:
    """Correct the cuts of the links to a folder and to those below it; the caller holds `lock_tree`."""
    with connection.cursor() as cursor:
        cursor.execute(_CUT, [folder.pk])
