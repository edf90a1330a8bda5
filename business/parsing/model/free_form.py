"""Check a model's free statement: joins not along keys, values that no row has, definitions not followed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import override
from sqlglot import exp

from business.logical_query.catalog import Catalog
from business.logical_query.joins import Place
from business.logical_query.wording import build_unknown_value_message
from business.parsing.model.definitions import list_definition_differences, list_definition_remarks
from business.parsing.model.selects import Select, find_defining_select, parse_statement
from business.semantic_layer.model import Dimension, SemanticModel

MAX_TOLD = 160  # characters of conditions
_TOGETHER = 2  # a pair of joined tables


@dataclass(frozen=True)
class StatementFault:
    """is_wrong: it must not run; else it may, with the remark that it follows no definition."""

    why: str
    is_wrong: bool


def find_statement_fault(sql: str, catalog: Catalog) -> StatementFault | None:
    """Return the first fault of a statement, or None. Unparseable ones are left to the guard."""
    tree = parse_statement(sql)
    if tree is None:
        return None
    if (unread := find_made_up_result(tree)) is not None:
        return unread
    selects = _check_selects(tree, catalog)
    for own in selects:
        why = next(own.joined_otherwise(), "") or next(own.unknown_values(), "")
        if why:
            return StatementFault(why, is_wrong=True)
    faults = [*list_definition_differences(sql, catalog, _find_repeated_tables(selects)), *_list_doubts(selects)]
    return StatementFault(" ".join(faults), is_wrong=False) if faults else None


def find_made_up_result(tree: exp.Expr) -> StatementFault | None:
    """Return why a result does not come from the data; None where it does."""
    inside = {cte.alias for cte in tree.find_all(exp.CTE)}
    if all(table.name in inside and not table.db for table in tree.find_all(exp.Table)):
        return StatementFault(_("The statement reads no table."), is_wrong=True)
    outer = find_defining_select(tree)
    made_up = next(filter(_is_made_up, outer.expressions), None) if outer is not None else None
    if made_up is None:
        return None
    value = made_up.unalias().sql(dialect="postgres")
    return StatementFault(
        _("A number of the result is not read from the data: %(value)s.") % {"value": value}, is_wrong=True
    )


def list_statement_remarks(sql: str, catalog: Catalog, language: str) -> tuple[str, ...]:
    """Return the remarks shown with the result of a free statement: the definitions it follows, and doubts."""
    tree = parse_statement(sql)
    selects = _check_selects(tree, catalog) if tree is not None else []
    definitions = list_definition_remarks(sql, catalog, language, _find_repeated_tables(selects))
    with override("zh-hans" if language.startswith("zh") else "en"):
        return (*definitions, *_list_doubts(selects))


def find_row_limit(sql: str) -> int | None:
    """Return the most rows that a statement lets through, whatever their values; None for all."""
    tree = parse_statement(sql)
    limit = tree.args.get("limit") if tree is not None else None
    number = limit.expression if isinstance(limit, exp.Limit) else None
    return int(number.this) if isinstance(number, exp.Literal) and number.is_int else None


def list_statement_conditions(sql: str, language: str) -> tuple[str, ...]:
    """Return the conditions of a statement as it writes them, for the note below its headline."""
    tree = parse_statement(sql)
    parts = [item.sql(dialect="postgres") for item in tree.find_all(exp.Where, exp.Having)] if tree else []
    conditions = " ".join(" ".join(dict.fromkeys(parts)).split())
    if not conditions:
        return ()
    if len(conditions) > MAX_TOLD:
        return ("按 SQL 中的条件筛选",) if language.startswith("zh") else ("filtered as the SQL says",)
    return (conditions,)


def _check_selects(tree: exp.Expr, catalog: Catalog) -> list["_Checked"]:
    return [_Checked.of(select, catalog) for select in tree.find_all(exp.Select)]


def _list_doubts(selects: Sequence["_Checked"]) -> list[str]:
    """Return doubts: values among others that no row has, and rows that a join adds several times."""
    doubts = [why for own in selects for why in own.values_among_others()]
    for base, other in (pair for own in selects for pair in own.repeated_rows()):
        named = {"base": base.name, "other": other.name}
        doubts.append(_("Rows of %(base)s are counted or added several times by the join with %(other)s.") % named)
    return list(dict.fromkeys(doubts))


def _find_repeated_tables(selects: Sequence["_Checked"]) -> frozenset[str]:
    """Return the tables whose rows are counted or added several times: their definitions are not followed."""
    return frozenset(base.name for own in selects for base, _other in own.repeated_rows())


def _is_made_up(shown: exp.Expr) -> bool:
    """Return whether a result column's number comes from no row: a literal or an aggregate of one, but not a row count."""
    node = shown.unalias()
    if node.find(exp.Column, exp.Star, exp.Select, exp.Count):
        return False
    is_of_ones = isinstance(node, exp.Sum) and node.this.sql() == "1"
    return not is_of_ones and any(not item.is_string for item in node.find_all(exp.Literal))


class _Checked(Select):
    def joined_otherwise(self) -> Iterator[str]:
        """Yield tables that are not joined by keys: their rows would multiply."""
        if len(self.sources) < _TOGETHER:
            return
        together: list[set[str]] = [{alias} for alias in self.sources]
        for one, other in self.equalities():
            if not self._is_join_along_keys(one, other):
                continue
            aliases = {alias for side in (one, other) for alias in self.aliases(side)}
            groups = [group for group in together if group & aliases]
            together = [group for group in together if group not in groups] + [set().union(*groups)]
        if len(together) > 1:
            names = " / ".join(sorted(min(group) for group in together))
            yield _("The tables are not joined along their keys: %(names)s.") % {"names": names}

    def _is_join_along_keys(self, one: exp.Expr, other: exp.Expr) -> bool:
        """Return whether an equality joins along the layer's keys; True for a subquery's computed columns."""
        if len(self.aliases(one) | self.aliases(other)) < _TOGETHER:
            return False
        if not (isinstance(one, exp.Column) and isinstance(other, exp.Column)):
            return self._is_primary_key_equality(one, other) or self._is_primary_key_equality(other, one)
        first, second = self.place(one), self.place(other)
        if first is None or second is None:
            return True
        return _are_joined(first, second, self.catalog) or (first[1] == second[1] and self._lists_distinct_rows())

    def _is_primary_key_equality(self, key: exp.Expr, computed: exp.Expr) -> bool:
        """Return whether a table's primary key equals a non-key expression, which gives at most one row."""
        place = self.place(key) if isinstance(key, exp.Column) else None
        primary = self.catalog.models[place[0]].primary if place and place[0] in self.catalog.models else None
        if place is None or primary is None or primary.expr != place[1]:
            return False
        made_of = [self.place(column) for column in computed.find_all(exp.Column)]
        return bool(made_of) and not any(item and _is_key_column(item, self.catalog) for item in made_of)

    def _lists_distinct_rows(self) -> bool:
        """Return whether distinct rows are listed and nothing is counted: multiplied rows do not matter."""
        return bool(self.select.args.get("distinct")) and not any(
            expression.find(exp.AggFunc, exp.Window) for expression in self.select.expressions
        )

    def repeated_rows(self) -> Iterator[tuple[SemanticModel, SemanticModel]]:
        """Yield tables with aggregated rows that a join repeats, with the repeating table, unless it is a breakdown."""
        group = self.select.args.get("group")
        by = {
            alias
            for expression in (group.expressions if group else [])
            for alias in self._find_group_tables(expression)
        }
        for node in self.select.find_all(exp.Sum, exp.Avg, exp.Count):
            if node.parent_select is not self.select or isinstance(node.this, exp.Distinct):
                continue
            alias = next(iter(owners)) if len(owners := self.aliases(node)) == 1 else ""
            own = self.sources.get(alias)
            if not isinstance(own, SemanticModel) or (isinstance(node, exp.Count) and alias in by):
                continue
            for other in self._find_repeating_tables(alias, own, by):
                yield own, other

    def _find_repeating_tables(self, alias: str, own: SemanticModel, by: set[str]) -> Iterator[SemanticModel]:
        """Yield tables with several rows per row of a table that no group separates. by: tables of the groups."""
        for item in self._find_multiplying_tables(alias):
            other = self.sources[item]
            if isinstance(other, SemanticModel) and item not in by and not by & self._find_aliases_beyond(other, own):
                yield other

    def _find_multiplying_tables(self, alias: str) -> list[str]:
        """Return the tables joined to a table other than by steps to one row each."""
        steps: dict[tuple[str, str], bool] = {}
        for pair in self.equalities():
            if all(isinstance(side, exp.Column) for side in pair):
                for one, other in (pair, pair[::-1]):
                    ends = self.owner(one), self.owner(other)  # type: ignore[arg-type]
                    steps[ends] = steps.get(ends, False) or not self._may_match_several_rows(one, other)  # type: ignore[arg-type]
        near, far = {alias}, set[str]()
        while more := {end for (begin, end), is_one in steps.items() if is_one and begin in near and end} - near:
            near |= more
        while more := {end for begin, end in steps if begin in near | far and end} - near - far:
            far |= more
        return [source for source in self.sources if source in far]

    def _may_match_several_rows(self, one: exp.Column, other: exp.Column) -> bool:
        """Return whether several rows of the other's table may match one row: the column is not its table's key."""
        place, model = self.place(other), self.sources.get(self.owner(other))
        if place is None or not isinstance(model, SemanticModel):
            return False
        keys = {entity.expr for entity in model.entities if entity.type in ("primary", "unique")}
        points = any((step.many, step.column) == place for step in self.catalog.joins.steps)
        return place[1] not in keys and (bool(keys) or points)

    def _find_group_tables(self, node: exp.Expr) -> set[str]:
        """Return the tables of a group's expression; a number is a position in the select list."""
        if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
            shown = self.select.expressions
            node = shown[int(node.this) - 1] if 0 < int(node.this) <= len(shown) else node
        return self.aliases(node)

    def _find_aliases_beyond(self, many: SemanticModel, own: SemanticModel) -> set[str]:
        """Return the aliases of tables that the repeating one leads to, without the repeated one."""
        return {
            alias
            for alias, model in self.sources.items()
            if isinstance(model, SemanticModel)
            and model.name != own.name
            and self.catalog.joins.distance(many.name, model.name) is not None
            and self.catalog.joins.distance(own.name, model.name) is None
        }

    def unknown_values(self) -> Iterator[str]:
        """Return literals compared with a column of listed values that has none of them."""
        for dimension, listed, unknown in self._find_compared_columns():
            if len(unknown) == len(listed):
                yield build_unknown_value_message(dimension, unknown[0])
        for node in self.select.find_all(exp.Like, exp.ILike):
            column = self._find_dimension(node.this) if isinstance(node.this, exp.Column) else None
            pattern = node.expression.this if node.expression.is_string else ""
            is_held = node.parent_select is self.select and not node.args.get("negate")
            is_held = is_held and not isinstance(node.parent, exp.Not | exp.Or)
            values = [value.value for value in column.values] if column is not None and is_held else []
            if column is not None and pattern and values and not any(_is_like(value, pattern) for value in values):
                yield build_unknown_value_message(column, pattern.strip("%"))

    def values_among_others(self) -> Iterator[str]:
        """Return such literals beside others that the column has."""
        for dimension, listed, unknown in self._find_compared_columns():
            if len(unknown) < len(listed):
                yield from (build_unknown_value_message(dimension, value) for value in unknown)

    def _find_compared_columns(self) -> Iterator[tuple[Dimension, list[str], list[str]]]:
        """Yield columns with listed values, the texts compared with them, and the unlisted ones of these."""
        for node in self.select.find_all(exp.EQ, exp.NEQ, exp.In):
            if node.parent_select is not self.select or not isinstance(node.this, exp.Column):
                continue
            given = node.expressions if isinstance(node, exp.In) else [node.args.get("expression")]
            listed = [item.this for item in given if isinstance(item, exp.Literal) and item.is_string and item.this]
            dimension = self._find_dimension(node.this)
            if dimension is not None and dimension.values and listed:
                known = {value.value for value in dimension.values}
                yield dimension, listed, [value for value in listed if value not in known]

    def _find_dimension(self, column: exp.Column) -> Dimension | None:
        place = self.place(column)
        model = self.catalog.models.get(place[0]) if place else None
        if model is None or place is None:
            return None
        return next((item for item in model.dimensions if item.expr.strip('"') == place[1]), None)


def _is_like(text: str, pattern: str) -> bool:
    """Return whether a text matches a LIKE pattern, in any case."""
    wanted = "".join({"%": ".*", "_": "."}.get(sign, re.escape(sign)) for sign in pattern)
    return re.fullmatch(wanted, text, re.IGNORECASE | re.DOTALL) is not None


def _are_joined(one: Place, other: Place, catalog: Catalog) -> bool:
    """Return whether the layer joins these columns, or both point to one key."""
    return catalog.joins.is_step(one, other) or bool(
        _find_target_keys(one, catalog) & _find_target_keys(other, catalog)
    )


def _find_target_keys(place: Place, catalog: Catalog) -> set[Place]:
    """Return the keys that a column points to; a primary key is its own."""
    found = {(step.one, step.key) for step in catalog.joins.steps if (step.many, step.column) == place}
    model = catalog.models.get(place[0])
    return found | ({place} if model and model.primary and model.primary.expr == place[1] else set())


def _is_key_column(place: Place, catalog: Catalog) -> bool:
    model = catalog.models.get(place[0])
    return model is not None and any(entity.expr == place[1] for entity in model.entities)
