"""The tree that rights stand on. The app that keeps the folders says which rows they are: here only their shape is known."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured


@dataclass(frozen=True)
class Tree:
    """Models of the tree.

    base: one has a root folder, which has no parent. folder: has `knowledge_base`, `parent`, `name`, `inherits` and, where it carries
    the files of a conversation, whose id it has, its `owner`. link: their closure, with `ancestor`, `descendant` and `is_cut`, as
    `knowledge.models.folders` explains it.
    """

    base: type[Any]
    folder: type[Any]
    link: type[Any]

    def tables(self) -> dict[str, str]:
        """Return the tables' names in the database, by their names in the statements."""
        models = {"bases": self.base, "folders": self.folder, "links": self.link}
        return {name: model._meta.db_table for name, model in models.items()}


_trees: list[Tree] = []


def use_tree(tree: Tree) -> None:
    """Say once, while apps start, what rights stand on."""
    if _trees:
        raise ImproperlyConfigured("rights stand on one tree")
    _trees.append(tree)


def tree() -> Tree:
    """Return the tree in use; raise ImproperlyConfigured where no app has one."""
    if not _trees:
        raise ImproperlyConfigured("no app has said what rights stand on")
    return _trees[0]
