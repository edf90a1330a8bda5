"""The tree of folders for rights; the app with the folders registers its models, and here only their shape is known."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured


@dataclass(frozen=True)
class TreeModels:
    """Models of the tree.

    base: has a root folder without parent. folder: has `knowledge_base`, `parent`, `name`, `inherits` and, for files
    of a conversation, whose id it shares, its `owner`. link: their closure with `ancestor`, `descendant` and `is_cut`;
    see `knowledge.models.folders`.
    """

    base: type[Any]
    folder: type[Any]
    link: type[Any]

    def tables(self) -> dict[str, str]:
        """Return the tables' database names by their names in the statements."""
        models = {"bases": self.base, "folders": self.folder, "links": self.link}
        return {name: model._meta.db_table for name, model in models.items()}


_trees: list[TreeModels] = []


def register_tree(tree: TreeModels) -> None:
    """Register the tree for rights, once, while apps start."""
    if _trees:
        raise ImproperlyConfigured("a tree of rights is already registered")
    _trees.append(tree)


def require_tree() -> TreeModels:
    """Return the registered tree; raise ImproperlyConfigured without one."""
    if not _trees:
        raise ImproperlyConfigured("no tree of rights is registered")
    return _trees[0]
