"""A reading becomes SQL: from one table along its keys, never through a join that would count a row twice."""

from dataclasses import dataclass

from agent.business.ask.meaning import Aggregate, NotUnderstood, Period, Question, Rows
from agent.business.ask.sql.conditions import Conditions
from agent.business.ask.sql.derived import derived_sql
from agent.business.ask.sql.figures import (
    carrier_of,
    figure_sql,
    first_rows,
    group_sql,
    model_of_figure,
    model_of_group,
    number_sql,
)
from agent.business.ask.sql.joins import Joins
from agent.business.ask.sql.lists import Listing
from agent.business.ask.sql.source import Source
from agent.business.ask.words.lexicon import Lexicon, ModelRef
from agent.business.guard.rewrite import quoted


def build_sql(question: Question, lexicon: Lexicon) -> str:
    """The statement of a reading, without org units and limits, which the guard adds. Raises NotUnderstood."""
    if question.derived is not None:
        return derived_sql(question, lexicon, build_sql)
    joins = Joins(lexicon.layer)
    if question.counts_groups:
        return _count_of_things(question, lexicon, joins)
    _require_several(question)
    if question.figures:
        return _Figures(question, lexicon, joins).text()
    return Listing(question, lexicon, joins).text()


def _require_several(question: Question) -> None:
    """“Which genres are the songs of, and how many each”, “number of credits per course”: one each. Raises NotUnderstood."""
    counted = [f.model for f in question.figures if isinstance(f, Rows)]
    counted += [f.of.model for f in question.figures if isinstance(f, Aggregate) and f.agg == "count_distinct"]
    if any(ModelRef(model) in question.groups for model in counted):
        raise NotUnderstood("a number of what in each")


@dataclass(frozen=True)
class _Figures:
    """Numbers, each alone or by groups."""

    question: Question
    lexicon: Lexicon
    joins: Joins

    def text(self) -> str:
        question = self.question
        base, counts_key = self._base()
        source = Source(base, self.lexicon, self.joins)
        conditions = Conditions(question, self.lexicon, self.joins)
        are_several = len(question.figures) > 1
        figures = [figure_sql(figure, source, counts_key, is_filtered=are_several) for figure in question.figures]
        groups = []
        for group in question.groups:
            time = None
            if isinstance(group, Period):
                time = group.dimension or conditions.time_of(base, source)
            groups += group_sql(group, source, time)
        where = conditions.where(source, question.figures)
        shown = [*(f"{sql} AS {quoted(name)}" for sql, name, is_shown in groups if is_shown or question.shows_keys)]
        shown += [f"{sql} AS {quoted(name)}" for sql, name in figures]
        text = f"SELECT {', '.join(shown)} FROM {source.text()}{where}"
        if groups:
            text += f" GROUP BY {', '.join(sql for sql, _name, _shown in groups)}"
            text += self._having(source, counts_key)
            text += self._order(source, len(shown), len(figures))
        return text

    def _having(self, source: Source, counts_key: str) -> str:
        """Conditions on figures of each group; only where the group is what they are about."""
        parts = []
        for condition in self.question.having:
            if condition.figure not in self.question.figures:
                raise NotUnderstood("a condition on another figure than the one asked for")
            figure = figure_sql(condition.figure, source, counts_key)[0]
            parts.append(f"{figure} {condition.sign} {number_sql(condition.number)}")
        return f" HAVING {' AND '.join(parts)}" if parts else ""

    def _order(self, source: Source, shown: int, figures: int) -> str:
        question = self.question
        if question.limit is None and any(isinstance(group, Period) for group in question.groups):
            return " ORDER BY 1"
        way = "ASC" if question.is_ascending else "DESC"
        if question.order is not None and question.limit is None:  # by a column that it is grouped by
            return f" ORDER BY {source.column(question.order)} {way}"
        ranked = f" ORDER BY {shown - figures + 1} {way} NULLS LAST"
        if question.limit and not question.skipped:
            return f"{ranked}{first_rows(question.limit)}"
        rest = "".join(f", {n}" for n in range(1, shown - figures + 1))
        return f"{ranked}{rest}" + (f" LIMIT {question.limit} OFFSET {question.skipped}" if question.limit else "")

    def _base(self) -> tuple[str, str]:
        """The table the rows come from, and, where it is a table between two, the table whose keys are counted once each."""
        models = {model_of_figure(figure) for figure in self.question.figures}
        if len(models) != 1:
            raise NotUnderstood("figures of several tables")
        base = models.pop()
        grouped = {name for group in self.question.groups if (name := model_of_group(group))}
        far = [name for name in grouped if self.joins.up(base, name) is None]
        if not far:
            return base, ""
        if any(not isinstance(figure, Rows) for figure in self.question.figures):
            raise NotUnderstood("a sum would count rows twice")
        return carrier_of(base, far, self.lexicon, self.joins), base


def _count_of_things(question: Question, lexicon: Lexicon, joins: Joins) -> str:
    """How many things fulfil conditions on figures of theirs."""
    figure = question.figures[0]
    if not isinstance(figure, Rows) or len(question.figures) > 1:
        raise NotUnderstood("a condition on a figure, and another figure")
    source = Source(figure.model, lexicon, joins)
    where = Conditions(question, lexicon, joins).where(source, ())
    return f"SELECT count(*) AS {quoted('count')} FROM {source.text()}{where}"
