"""The first wall: text, tree, rewriting, agreement. What comes out is the only text that is ever sent to a database."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from agent.business.guard.comparing import require_short_side
from agent.business.guard.gathering import Gathering, gathering
from agent.business.guard.grammar import parse_query, same, text_of
from agent.business.guard.growth import doublings, require_foreseeable
from agent.business.guard.policy import AllowedTable, Policy
from agent.business.guard.refusal import Reason, SqlRefused
from agent.business.guard.rewrite import Rewriter, Target, cap_rows
from agent.business.guard.rules import require_known
from agent.business.guard.second_grammar import require_agreement
from agent.business.guard.spelled_out import spell_out
from agent.business.guard.text import clean
from agent.business.guard.unseen import without_values


@dataclass(frozen=True)
class GuardedSql:
    """A statement that may run: re-serialised, filtered, at most 50 rows.

    tables: what it reads, in order of appearance. uncapped: the same without our limit, for counting its rows; None where
    the statement itself asks for no more. gathering: what it gathers into one value; None where it does not. unseen: the
    same with its values hidden, in two ways, for judging its plan.
    """

    sql: str
    tables: tuple[AllowedTable, ...]
    uncapped: str | None
    gathering: Gathering | None = None
    unseen: tuple[str, ...] = ()


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
    was_capped = cap_rows(tree.stmts[0].stmt.select_stmt)
    sql = text_of(tree)
    again = parse_query(sql)
    if not same(tree, again):
        raise SqlRefused(
            Reason.DISAGREEMENT, _("The statement does not survive being written out: write it more simply.")
        )
    require_known(again)
    require_agreement(sql, again)
    tables = tuple(dict.fromkeys(rewriter.tables))
    return GuardedSql(sql, tables, uncapped if was_capped else None, gathered, without_values(tree))
