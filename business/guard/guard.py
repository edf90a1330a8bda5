"""Check a statement against an allow-list and rewrite it. The text that comes out is the only one ever sent to a database."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from business.guard.access_paths import Path, paths
from business.guard.comparing import require_short_side
from business.guard.gathering import Gathering, gathering
from business.guard.grammar import Tree, parse_query, same, select_of, text_of
from business.guard.growth import doublings, require_foreseeable
from business.guard.policy import AllowedTable, Policy
from business.guard.refusal import Reason, SqlRefused
from business.guard.rewrite import Rewriter, Target, cap_rows
from business.guard.rules import require_known
from business.guard.spelled_out import spell_out
from business.guard.text import clean
from business.guard.unseen import without_values


@dataclass(frozen=True)
class GuardedSql:
    """A statement that may run: re-serialised, filtered, at most as many rows as the target has.

    tables: what it reads, in order of appearance. uncapped: the same without our limit, for counting its rows; None where
    the statement itself asks for no more. gathering: what it gathers into one value; None where it does not. tree: of `sql`.
    reads_views: those of a sandbox.
    """

    sql: str
    tables: tuple[AllowedTable, ...]
    uncapped: str | None
    gathering: Gathering | None
    tree: Tree = field(compare=False, repr=False)
    reads_views: bool = False

    @property
    def unseen(self) -> tuple[str, str]:
        """Return the statement with its values hidden, in two ways, for judging its plan."""
        return without_values(self.tree)

    @property
    def countable(self) -> str:
        """`uncapped` without its order: it takes time, and there are as many rows without."""
        tree = parse_query(self.uncapped or self.sql)
        select_of(tree).ClearField("sort_clause")
        return text_of(tree)

    def paths(self) -> Iterator[Path]:
        """Yield other ways to say the same, by other indexes; of a statement that reads views. They run as `written` writes them."""
        if not self.reads_views or self.gathering:
            return iter(())
        return paths(self.tree, self.tables, is_capped=self.uncapped is not None)


def guard(text: str, policy: Policy, target: Target) -> GuardedSql:
    """Check a statement against what a person may read, and write it anew. Raises SqlRefused, saying what to change."""
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
    """Write out a rewritten tree, and check that text like one from outside. Raises SqlRefused."""
    sql = text_of(tree)
    again = parse_query(sql)
    if not same(tree, again):
        raise SqlRefused(
            Reason.DISAGREEMENT, _("The statement does not survive being written out: write it more simply.")
        )
    require_known(again)
    return sql
