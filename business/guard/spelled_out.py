"""Expand functions that can make a value of any length, where the statement itself bounds it.

lpad, rpad, repeat and format are not in the vocabulary. With a literal short length or plain template they become
pieces of text that are joined and cut: `lpad(x, 5, '0')` is `right('00000' || left(x, 5), 5)`.
"""

import re

from business.guard.grammar import Tree, iterate_nodes, parse_trusted_expression
from business.guard.rewrite import quote_literal
from business.guard.rules import list_name_parts

MAX_CHARACTERS = 100  # of a padded or repeated text
_VALUE = re.compile(r"%(?:(?P<percent>%)|(?:(?P<place>[1-9][0-9]?)\$)?s)")


def expand_bounded_functions(tree: Tree) -> None:
    """Change the tree in place; unbounded calls stay, and the vocabulary refuses them."""
    for node in iterate_nodes(tree):
        if node.DESCRIPTOR.name == "ResTarget" and node.val.WhichOneof("node") == "func_call" and not node.name:
            name = list_name_parts(node.val.func_call.funcname)[-1]
            if _replace_call(node.val):
                node.name = name
        elif node.DESCRIPTOR.name == "Node" and node.WhichOneof("node") == "func_call":
            _replace_call(node)


def _replace_call(node: Tree) -> bool:
    call = node.func_call
    write = _WAYS.get(list_name_parts(call.funcname)[-1]) if len(call.funcname) == 1 else None
    written = write(list(call.args)) if write and _is_plain_call(call) else None
    if written is not None:
        node.CopyFrom(written)
    return written is not None


def _is_plain_call(call: Tree) -> bool:
    """Return whether a call has a name and arguments, and nothing else."""
    return {field.name for field, _value in call.ListFields()} <= {"funcname", "args", "funcformat", "location"}


def _expand_lpad(args: list[Tree]) -> Tree | None:
    padding = _build_padding(args)
    if padding is None:
        return None
    n = len(padding)
    written = parse_trusted_expression(f"right({quote_literal(padding)} || left(NULL, {n}), {n})")
    written.func_call.args[0].a_expr.rexpr.func_call.args[0].CopyFrom(args[0])
    return written


def _expand_rpad(args: list[Tree]) -> Tree | None:
    padding = _build_padding(args)
    if padding is None:
        return None
    n = len(padding)
    written = parse_trusted_expression(f"left(left(NULL, {n}) || {quote_literal(padding)}, {n})")
    written.func_call.args[0].a_expr.lexpr.func_call.args[0].CopyFrom(args[0])
    return written


def _expand_repeat(args: list[Tree]) -> Tree | None:
    text, times = (_read_text_literal(args[0]), _read_integer_literal(args[1])) if len(args) == 2 else (None, None)
    if text is None or times is None or len(text) * times > MAX_CHARACTERS:
        return None
    return parse_trusted_expression(f"{quote_literal(text * times)}::text")


def _expand_format(args: list[Tree]) -> Tree | None:
    template = _read_text_literal(args[0]) if args else None
    parts = _parse_format_template(template) if template is not None else None
    if not parts or any(isinstance(part, int) and not 0 < part < len(args) for part in parts):
        return None
    written = parse_trusted_expression("concat(NULL)")
    del written.func_call.args[:]
    for part in parts:
        written.func_call.args.append(
            args[part] if isinstance(part, int) else parse_trusted_expression(quote_literal(part))
        )
    return written


def _parse_format_template(template: str) -> list[str | int] | None:
    """Return the template's texts, and the index (from 1) of the value for each `%s` or `%2$s`; None with other directives."""
    if "%" in _VALUE.sub("", template):
        return None
    parts: list[str | int] = []
    end, place = 0, 0
    for found in _VALUE.finditer(template):
        parts.append(template[end : found.start()] + (found["percent"] or ""))
        end = found.end()
        if not found["percent"]:
            place = int(found["place"] or place + 1)
            parts.append(place)
    return [part for part in (*parts, template[end:]) if part != ""]


def _build_padding(args: list[Tree]) -> str | None:
    """Return the fill character repeated to the whole length; None unless both are literal and short."""
    if len(args) not in (2, 3):
        return None
    length = _read_integer_literal(args[1])
    fill = _read_text_literal(args[2]) if len(args) == 3 else " "
    if length is None or not 0 < length <= MAX_CHARACTERS or fill is None or len(fill) != 1:
        return None
    return fill * length


def _read_integer_literal(node: Tree) -> int | None:
    is_number = node.WhichOneof("node") == "a_const" and node.a_const.WhichOneof("val") == "ival"
    return int(node.a_const.ival.ival) if is_number else None


def _read_text_literal(node: Tree) -> str | None:
    is_text = node.WhichOneof("node") == "a_const" and node.a_const.WhichOneof("val") == "sval"
    return str(node.a_const.sval.sval) if is_text else None


_WAYS = {"lpad": _expand_lpad, "rpad": _expand_rpad, "repeat": _expand_repeat, "format": _expand_format}
