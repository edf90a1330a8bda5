"""The default-deny walk: every node class, field, function, operator and type of a tree must be in the vocabulary."""

import re

from django.utils.translation import gettext as _

from business.guard.grammar import Tree, iterate_nodes
from business.guard.refusal import RefusalKind, SqlRefused
from business.guard.vocabulary import (
    CHARACTER_SETS,
    CLOCKS,
    FUNCTIONS,
    MAX_COLLATION_CHARS,
    MAX_PATTERN_CHARS,
    MAX_SET_CHARS,
    NAMED_ARGUMENTS,
    NODES,
    OPERATORS,
    PATTERN_FUNCTIONS,
    PATTERN_OPERATORS,
    SIMILAR,
    TYPES,
)

_COLLATION = re.compile(rf"[A-Za-z][A-Za-z0-9_.@-]{{0,{MAX_COLLATION_CHARS - 1}}}")


def require_known_vocabulary(tree: Tree) -> None:
    """Raise SqlRefused, naming the first part that is not in the vocabulary."""
    for node in iterate_nodes(tree):
        kind = node.DESCRIPTOR.name
        if kind == "Node":
            continue
        if kind not in NODES:
            raise SqlRefused(RefusalKind.STATEMENT, _("%(what)s is not allowed in a question.") % {"what": kind})
        for field, _value in node.ListFields():
            if field.name not in NODES[kind]:
                raise SqlRefused(
                    RefusalKind.STATEMENT,
                    _("%(what)s is not allowed in a question.") % {"what": f"{kind}.{field.name}"},
                )
        check = _CHECKS.get(kind)
        if check:
            check(node)


def _require_known_function(node: Tree) -> None:
    names = list_name_parts(node.funcname)
    if names[0] == "pg_catalog":
        names = names[1:]
    if len(names) != 1 or names[0] not in FUNCTIONS:
        raise SqlRefused(
            RefusalKind.FUNCTION,
            _("The function %(name)s is not allowed: use aggregates, dates, text or JSON functions.")
            % {"name": ".".join(list_name_parts(node.funcname))},
        )
    if names[0] not in NAMED_ARGUMENTS and any(arg.WhichOneof("node") == "named_arg_expr" for arg in node.args):
        raise SqlRefused(
            RefusalKind.FUNCTION,
            _("Give the arguments of %(name)s by their place, without names.") % {"name": names[0]},
        )
    among = CHARACTER_SETS.get(names[0])
    if among is not None and len(node.args) > among:
        _require_short_set(node.args[among])
    at = PATTERN_FUNCTIONS.get(names[0])
    if at is not None:
        _require_short_pattern(node.args[at] if len(node.args) > at else None)


def _require_known_operator(node: Tree) -> None:
    names = list_name_parts(node.name)
    if len(names) != 1 or names[0] not in OPERATORS:
        raise SqlRefused(RefusalKind.FUNCTION, _("The operator %(name)s is not allowed.") % {"name": ".".join(names)})
    if names[0] in PATTERN_OPERATORS:
        _require_short_pattern(node.rexpr)


def _require_short_set(node: Tree) -> None:
    text = node.a_const.sval.sval if node.WhichOneof("node") == "a_const" else ""
    if not text or len(text) > MAX_SET_CHARS:
        raise SqlRefused(
            RefusalKind.FUNCTION,
            _("The characters to take away or to replace must be written out, at most %(max)d of them.")
            % {"max": MAX_SET_CHARS},
        )


def _require_short_pattern(node: Tree) -> None:
    if (
        node is not None
        and node.WhichOneof("node") == "func_call"
        and list_name_parts(node.func_call.funcname)[-1] == SIMILAR
    ):
        node = node.func_call.args[0]  # how the grammar writes SIMILAR TO
    text = node.a_const.sval.sval if node is not None and node.WhichOneof("node") == "a_const" else ""
    if not text or len(text) > MAX_PATTERN_CHARS:
        raise SqlRefused(
            RefusalKind.FUNCTION,
            _("A regular expression must be written out, with at most %(max)d characters.")
            % {"max": MAX_PATTERN_CHARS},
        )


def _require_plain_sublink(node: Tree) -> None:
    if node.oper_name and list_name_parts(node.oper_name)[-1:] != list_name_parts(node.oper_name):
        raise SqlRefused(RefusalKind.FUNCTION, _("A qualified operator is not allowed."))
    if node.oper_name and list_name_parts(node.oper_name)[0] not in OPERATORS:
        raise SqlRefused(
            RefusalKind.FUNCTION,
            _("The operator %(name)s is not allowed.") % {"name": list_name_parts(node.oper_name)[0]},
        )


def _require_known_type(node: Tree) -> None:
    names = list_name_parts(node.names)
    if names[0] == "pg_catalog":
        names = names[1:]
    if len(names) != 1 or names[0] not in TYPES:
        raise SqlRefused(
            RefusalKind.FUNCTION,
            _("The type %(name)s is not allowed.") % {"name": ".".join(list_name_parts(node.names))},
        )


def _require_known_clock(node: Tree) -> None:
    if node.op not in CLOCKS:
        raise SqlRefused(
            RefusalKind.FUNCTION, _("Names of the server's users and databases are not part of a question.")
        )


def _require_index_access(node: Tree) -> None:
    if any(part.WhichOneof("node") != "a_indices" for part in node.indirection):
        raise SqlRefused(RefusalKind.STATEMENT, _("Fields of a row value are not allowed: name the column."))


def _require_plain_collation(node: Tree) -> None:
    """Require one plain name for a collation, such as zh-x-icu."""
    names = list_name_parts(node.collname)
    if len(names) != 1 or not _COLLATION.fullmatch(names[0]):
        raise SqlRefused(RefusalKind.FUNCTION, _("The collation %(name)s is not allowed.") % {"name": ".".join(names)})


def _require_known_from_function(node: Tree) -> None:
    """Require a function in FROM to be in the vocabulary and without a column definition list."""
    calls = [part for item in node.functions for part in item.list.items]
    if len(calls) != 2 or calls[0].WhichOneof("node") != "func_call" or calls[1].WhichOneof("node") is not None:
        raise SqlRefused(RefusalKind.STATEMENT, _("%(what)s is not allowed in a question.") % {"what": "ROWS FROM"})


def list_name_parts(parts: Tree) -> list[str]:
    """Return the words of a qualified name."""
    return [part.string.sval for part in parts]


_CHECKS = {
    "FuncCall": _require_known_function,
    "A_Expr": _require_known_operator,
    "SubLink": _require_plain_sublink,
    "TypeName": _require_known_type,
    "SQLValueFunction": _require_known_clock,
    "A_Indirection": _require_index_access,
    "CollateClause": _require_plain_collation,
    "RangeFunction": _require_known_from_function,
}
