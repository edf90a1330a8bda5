"""A list of things, or of columns of things, as SQL."""

from dataclasses import dataclass

from agent.business.ask.meaning import NotUnderstood, Question
from agent.business.ask.sql.conditions import Conditions
from agent.business.ask.sql.figures import first_rows
from agent.business.ask.sql.joins import Joins
from agent.business.ask.sql.source import Source
from agent.business.ask.words.lexicon import DimensionRef, Lexicon
from agent.business.guard.rewrite import quoted

_SHOWN_COLUMNS = 6  # of a thing that has no name


@dataclass(frozen=True)
class Listing:
    """One list."""

    question: Question
    lexicon: Lexicon
    joins: Joins

    def text(self) -> str:
        question = self.question
        if question.of is None:
            raise NotUnderstood("nothing to list")
        source = Source(question.of, self.lexicon, self.joins)
        columns = [source.column(ref) for ref in question.columns] or self._shown(question.of, source)
        conditions = Conditions(question, self.lexicon, self.joins)
        where = conditions.where(source, ())
        is_distinct = question.is_distinct or (bool(question.columns) and not self._has_key(question))
        if is_distinct and not question.is_distinct and self._tells_of_each(question):
            columns, is_distinct = [source.key(question.of), *columns], False
        if not is_distinct:
            also = [source.column(ref) for ref in question.also]
            columns = list(dict.fromkeys([*columns, *self._cut_by(source), *conditions.figures_of_each(source), *also]))
        elif question.also:
            raise NotUnderstood("columns beside different values")
        text = f"SELECT {'DISTINCT ' if is_distinct else ''}{self._named(columns, source)} FROM {source.text()}{where}"
        if question.order is not None:
            way = "ASC" if question.is_ascending else "DESC"
            order = source.column(question.order)
            if is_distinct and order not in columns:
                raise NotUnderstood("an order by what is not shown")
            text += f" ORDER BY {order} {way} NULLS LAST"
            if question.limit and not question.skipped and not question.is_any and self._tie(source):
                return text + first_rows(question.limit)
            text += "" if is_distinct else self._tie(source)
        else:
            text += " ORDER BY 1"
        text += f" LIMIT {question.limit}" if question.limit else ""
        return text + (f" OFFSET {question.skipped}" if question.skipped else "")

    def _named(self, columns: list[str], source: Source) -> str:
        """What is shown; a number that is made of columns with its name."""
        question = self.question
        refs = [*question.columns, *question.also, question.order, *(one.dimension for one in question.numbers)]
        names = {source.column(ref): ref.dimension for ref in refs if ref in self.lexicon.made}
        return ", ".join(f"{text} AS {quoted(names[text])}" if text in names else text for text in columns)

    def _cut_by(self, source: Source) -> list[str]:
        """The numbers that a list is cut by, to be seen beside each thing: “orders with a freight above 500”."""
        numbers = [one.dimension for one in self.question.numbers if one.sign != "="]
        return [source.column(ref) for ref in numbers if ref.model == self.question.of]

    def _tie(self, source: Source) -> str:
        primary = self.lexicon.model(source.base).primary
        return f", {source.key(source.base)}" if primary else ""

    def _has_key(self, question: Question) -> bool:
        """Whether the columns tell the things apart, so that equal rows are different things."""
        model = self.lexicon.model(question.of or "")
        own = {self.lexicon.dimension(ref).expr for ref in question.columns if ref.model == model.name}
        keys = {model.primary.expr} if model.primary else set()
        keys |= {model.name_dimension.expr} if model.name_dimension else set()
        return bool(own & keys)

    def _tells_of_each(self, question: Question) -> bool:
        """Several columns with numbers or times among them are told of each thing, equal or not, beside its key."""
        kinds = {self.lexicon.dimension(ref).type for ref in question.columns}
        has_key = self.lexicon.model(question.of or "").primary is not None
        return len(question.columns) > 1 and bool(kinds & {"number", "time"}) and has_key

    def _shown(self, name: str, source: Source) -> list[str]:
        """What a thing is called; without a name its key and first columns. An order's column is shown beside it."""
        model = self.lexicon.model(name)
        columns: list[str] = []
        if model.name_dimension is not None:
            columns.append(source.column(DimensionRef(name, model.name_dimension.name)))
        else:
            columns += [source.key(name)] if model.primary else []
            key = model.primary.expr if model.primary else ""
            shown = [dimension for dimension in model.dimensions if dimension.expr != key][:_SHOWN_COLUMNS]
            columns += [source.column(DimensionRef(name, dimension.name)) for dimension in shown]
        if self.question.order is not None:
            columns.append(source.column(self.question.order))
        return list(dict.fromkeys(columns))
