"""Two values compared piece by piece: as many steps as both lengths multiplied, inside one call that no time limit reaches.

Looking for a text in a text, matching LIKE, and comparing lists or JSON are such. Where a statement gathers values or makes
them longer, one side must stay short.
"""

from django.utils.translation import gettext as _

from business.guard.grammar import Tree, nodes
from business.guard.growth import collectors, name_of
from business.guard.lengths import Lengths
from business.guard.refusal import Reason, SqlRefused
from business.guard.rules import strings

# The argument that is looked for in the first one.
_SOUGHT = {"strpos": 1, "position": 1, "replace": 1, "split_part": 1, "string_to_array": 1, "string_to_table": 1}
_LIKE = frozenset({"~~", "!~~", "~~*", "!~~*"})
_PIECEWISE = _LIKE | {"@>", "<@", "&&", "?|", "?&"}
_OF_JSON = frozenset({"-"})  # takes away keys; of numbers and dates it is a difference
MAX_STEPS = 3_200_000_000  # some three seconds: 32 characters or values beside what was gathered
LIKE_STEPS = 4  # as slow: 8 characters of a pattern


def require_short_side(tree: Tree, *, longer: int) -> None:
    """Raises SqlRefused where both sides of a comparison may be long. tree: rewritten. longer: times a text may grow in it."""
    found = list(nodes(tree))
    signs = _PIECEWISE | _OF_JSON if any(map(_makes_json, found)) else _PIECEWISE
    pairs = [pair for node in found if (pair := _compared(node, signs))]
    if not pairs or not (collectors(tree) or longer > 1):
        return
    lengths = Lengths(tree)
    if any(lengths.of(one) * lengths.of(other) * steps > MAX_STEPS for one, other, steps in pairs):
        raise SqlRefused(
            Reason.COST,
            _("This compares two values that may both be long: compare with a short text or a short list."),
        )


def _compared(node: Tree, signs: frozenset[str]) -> tuple[Tree, Tree, int] | None:
    """The two sides of a comparison piece by piece, and how slow a step is."""
    kind = node.DESCRIPTOR.name
    if kind == "A_Expr" and (sign := strings(node.name)[-1]) in signs:
        return node.lexpr, node.rexpr, LIKE_STEPS if sign in _LIKE else 1
    if kind == "SubLink" and node.oper_name and (sign := strings(node.oper_name)[-1]) in signs:
        return node.testexpr, node.subselect, LIKE_STEPS if sign in _LIKE else 1
    at = _SOUGHT.get(name_of(node)) if kind == "FuncCall" else None
    return (node.args[0], node.args[at], 1) if at is not None and len(node.args) > at else None


def _makes_json(node: Tree) -> bool:
    if node.DESCRIPTOR.name == "TypeName":
        return bool(node.names[-1].string.sval == "jsonb")
    return node.DESCRIPTOR.name == "FuncCall" and "jsonb" in name_of(node)
