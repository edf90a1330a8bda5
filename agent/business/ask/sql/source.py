"""FROM: one table, and along keys the tables it points to."""

from dataclasses import dataclass, field

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.sql.joins import Joins, Step
from agent.business.ask.words.lexicon import DimensionRef, Lexicon
from agent.business.guard.rewrite import quoted
from agent.business.layer.expressions import qualified


@dataclass
class Source:
    """FROM one table and along keys to others; each table is joined once, under its own alias."""

    base: str
    lexicon: Lexicon
    joins: Joins
    prefix: str = "t"
    aliases: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.aliases[self.base] = f"{self.prefix}0"
        self.lines.append(f"{self.table(self.base)} AS {self.prefix}0")

    def table(self, name: str) -> str:
        model = self.lexicon.model(name)
        return f"{quoted(model.table_schema)}.{quoted(model.table)}"

    def reaches(self, name: str) -> bool:
        return self.joins.up(self.base, name) is not None

    def alias(self, name: str) -> str:
        """The alias of a table, joined on the way if it is not there yet. Raises NotUnderstood where no key leads to it."""
        if name not in self.aliases:
            way = self.joins.up(self.base, name)
            if way is None:
                raise NotUnderstood(f"no key leads from {self.base} to {name}")
            for step in way:
                self._join(step)
        return self.aliases[name]

    def _join(self, step: Step) -> None:
        if step.one in self.aliases:
            return
        alias = self.aliases[step.one] = f"{self.prefix}{len(self.aliases)}"
        many = self.aliases[step.many]
        self.lines.append(
            f"JOIN {self.table(step.one)} AS {alias} ON {many}.{quoted(step.column)} = {alias}.{quoted(step.key)}"
        )

    def column(self, ref: DimensionRef) -> str:
        return qualified(self.lexicon.dimension(ref).expr, self.alias(ref.model))

    def key(self, name: str) -> str:
        primary = self.lexicon.model(name).primary
        if primary is None:
            raise NotUnderstood(f"{name} has no key")
        return f"{self.alias(name)}.{quoted(primary.expr)}"

    def own_key(self, name: str) -> str:
        """The column of the base that holds a thing's key, so that rows without one stay; "" where no key of the base itself does."""
        way = self.joins.up(self.base, name)
        if way is None or len(way) != 1 or name in self.aliases:
            return ""
        return f"{self.aliases[self.base]}.{quoted(way[0].column)}"

    def text(self) -> str:
        return " ".join(self.lines)
