"""Check a statement against an allow-list and rewrite it. Only the rewritten text is ever sent to a database."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from business.guard.access_paths import Path, paths
from business.guard.comparing import require_short_side
from business.guard.grammar import Tree, clean, parse_query, same, select_of, text_of
from business.guard.growth import Gathering, doublings, gathering, require_foreseeable
from business.guard.policy import AllowedTable, Policy
from business.guard.refusal import Reason, SqlRefused
from business.guard.rewrite import Rewriter, Target, cap_rows
from business.guard.rules import require_known
from business.guard.spelled_out import spell_out
from business.guard.unseen import without_values


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
        return without_values(self.tree)

    @property
    def countable(self) -> str:
        """Return `uncapped` without its order, which does not change the count."""
        tree = parse_query(self.uncapped or self.sql)
        select_of(tree).ClearField("sort_clause")
        return text_of(tree)

    def paths(self) -> Iterator[Path]:
        """Yield equivalent statements that use other indexes, for one that reads views; run them through `written`."""
        if not self.reads_views or self.gathering:
            return iter(())
        return paths(self.tree, self.tables, is_capped=self.uncapped is not None)


def guard(text: str, policy: Policy, target: Target) -> GuardedSql:
    """Check a statement against what a person may read, and rewrite it. Raises SqlRefused, saying what to change."""
    tree = parse_query(clean(text))
    spell_out(tree)
    require_known(tree)
    require_foreseeable(tree)
    rewriter = Rewriter(policy, target)
    rewriter.rewrite(tree)
    longer = 2 ** doublings(tree)
    require_short_side(tree, longer=longer)
    gathered = gathering(tree, longer=longer)
    uncapped = text_of(tree)
    was_capped = cap_rows(select_of(tree), target.rows)
    sql = written(tree)
    tables = tuple(dict.fromkeys(rewriter.tables))
    return GuardedSql(sql, tables, uncapped if was_capped else None, gathered, tree, target.schema is not None)


def written(tree: Tree) -> str:
    """Serialise a rewritten tree, and check the text like one from outside. Raises SqlRefused."""
    sql = text_of(tree)
    again = parse_query(sql)
    if not same(tree, again):
        raise SqlRefused(Reason.DISAGREEMENT, _("The statement changes when it is rewritten: write it more simply."))
    require_known(again)
    return sql
