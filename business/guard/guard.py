"""Check a statement against an allow-list and rewrite it. Only the rewritten text is ever sent to a database."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from business.guard.access_paths import Path, build_access_paths
from business.guard.comparing import require_short_comparisons
from business.guard.grammar import (
    Tree,
    are_equal_statements,
    deparse_tree,
    find_outermost_select,
    parse_query,
    strip_statement,
)
from business.guard.growth import Gathering, count_doublings, estimate_gathering, require_predictable_rows
from business.guard.policy import AllowedTable, TablePolicy
from business.guard.refusal import RefusalKind, SqlRefused
from business.guard.rewrite import ProjectionTarget, Rewriter, cap_rows
from business.guard.rules import require_known_vocabulary
from business.guard.spelled_out import expand_bounded_functions
from business.guard.unseen import replace_values_by_parameters


@dataclass(frozen=True)
class GuardedSql:
    """A statement that may run: re-serialised, filtered, with at most the target's number of rows.

    tables: in order of appearance. uncapped: the same without our limit, for counting rows; None where the statement's
    own limit is lower. gathering: what it aggregates into one value, or None. tree: of `sql`.
    reads_views: whether it reads a sandbox's views.
    """

    sql: str
    tables: tuple[AllowedTable, ...]
    uncapped: str | None
    gathering: Gathering | None
    tree: Tree = field(compare=False, repr=False)
    reads_views: bool = False

    @property
    def unseen(self) -> tuple[str, str]:
        """Return the statement with its values hidden, in two variants, to estimate its plan."""
        return replace_values_by_parameters(self.tree)

    @property
    def countable(self) -> str:
        """Return `uncapped` without its order, which does not change the count."""
        tree = parse_query(self.uncapped or self.sql)
        find_outermost_select(tree).ClearField("sort_clause")
        return deparse_tree(tree)

    def paths(self) -> Iterator[Path]:
        """Yield equivalent statements that use other indexes, for one that reads views; run them through `serialise_rewritten_tree`."""
        if not self.reads_views or self.gathering:
            return iter(())
        return build_access_paths(self.tree, self.tables, is_capped=self.uncapped is not None)


def guard_statement(text: str, policy: TablePolicy, target: ProjectionTarget) -> GuardedSql:
    """Check a statement against what a person may read, and rewrite it. Raises SqlRefused, saying what to change."""
    tree = parse_query(strip_statement(text))
    expand_bounded_functions(tree)
    require_known_vocabulary(tree)
    require_predictable_rows(tree)
    rewriter = Rewriter(policy, target)
    rewriter.rewrite(tree)
    longer = 2 ** count_doublings(tree)
    require_short_comparisons(tree, longer=longer)
    gathered = estimate_gathering(tree, longer=longer)
    uncapped = deparse_tree(tree)
    was_capped = cap_rows(find_outermost_select(tree), target.rows)
    sql = serialise_rewritten_tree(tree)
    tables = tuple(dict.fromkeys(rewriter.tables))
    return GuardedSql(sql, tables, uncapped if was_capped else None, gathered, tree, target.schema is not None)


def serialise_rewritten_tree(tree: Tree) -> str:
    """Serialise a rewritten tree, and check the text like one from outside. Raises SqlRefused."""
    sql = deparse_tree(tree)
    again = parse_query(sql)
    if not are_equal_statements(tree, again):
        raise SqlRefused(
            RefusalKind.DISAGREEMENT, _("The statement changes when it is rewritten: write it more simply.")
        )
    require_known_vocabulary(again)
    return sql
