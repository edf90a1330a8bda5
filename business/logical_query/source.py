"""Build FROM: one table, and the tables it points to along keys, from many to one."""

from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from business.guard.rewrite import quote_identifier
from business.logical_query.catalog import Catalog
from business.logical_query.joins import JoinKey
from business.logical_query.query import Inexpressible
from business.semantic_layer.expressions import qualify_columns


@dataclass
class JoinedTables:
    """The FROM clause; each table is joined once, under its own alias, and never repeats a row of the base."""

    base: str
    catalog: Catalog
    prefix: str = "t"
    aliases: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.aliases[self.base] = f"{self.prefix}0"
        self.lines.append(f"{self.table(self.base)} AS {self.prefix}0")

    def table(self, name: str) -> str:
        model = self.catalog.model(name)
        return f"{quote_identifier(model.table_schema)}.{quote_identifier(model.table)}"

    def reaches(self, name: str) -> bool:
        return self.catalog.joins.up(self.base, name) is not None

    def alias(self, name: str) -> str:
        """Return the alias of a table, joining it if needed. Raises Inexpressible where no key leads to it."""
        if name not in self.aliases:
            way = self.catalog.joins.up(self.base, name)
            if way is None:
                raise Inexpressible(_("No key leads from %(base)s to %(name)s.") % {"base": self.base, "name": name})
            for step in way:
                self._add_join(step)
        return self.aliases[name]

    def _add_join(self, step: JoinKey) -> None:
        if step.one in self.aliases:
            return
        alias = self.aliases[step.one] = f"{self.prefix}{len(self.aliases)}"
        on = f"{self.aliases[step.many]}.{quote_identifier(step.column)} = {alias}.{quote_identifier(step.key)}"
        self.lines.append(f"JOIN {self.table(step.one)} AS {alias} ON {on}")

    def column(self, name: str) -> str:
        model, dimension = self.catalog.dimension(name)
        return qualify_columns(dimension.expr, self.alias(model.name))

    def key(self, name: str) -> str:
        primary = self.catalog.model(name).primary
        if primary is None:
            raise Inexpressible(_("%(name)s has no key.") % {"name": name})
        return f"{self.alias(name)}.{quote_identifier(primary.expr)}"

    def own_key(self, name: str) -> str:
        """Return the base's column with a thing's key, so that rows without one stay; "" where the base has none."""
        way = self.catalog.joins.up(self.base, name)
        if way is None or len(way) != 1 or name in self.aliases:
            return ""
        return f"{self.aliases[self.base]}.{quote_identifier(way[0].column)}"

    def text(self) -> str:
        return " ".join(self.lines)


def find_common_referrer(base: str, others: list[str], catalog: Catalog) -> str:
    """Return the one nearest table that points to `base` and to all the others. Raises Inexpressible."""
    joins = catalog.joins
    ways = []
    for name in catalog.models:
        steps = [joins.distance(name, goal) for goal in (base, *others)]
        found = [step for step in steps if step is not None]
        is_between = len(found) == len(steps) and name != base
        if is_between and not joins.is_either(name, (base, *others)):
            ways.append((sum(found), name))
    ways.sort()
    if not ways or (len(ways) > 1 and ways[0][0] == ways[1][0]):
        raise Inexpressible(
            _("No one way leads from %(base)s to %(others)s.") % {"base": base, "others": ", ".join(others)}
        )
    nearest = ways[0][1]
    for name in (base, *others):
        joins.up(nearest, name)  # raises if ambiguous
    return nearest
