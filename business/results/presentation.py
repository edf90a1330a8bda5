"""From a query that ran to what an answer keeps of it: the value in words, the table, how it is drawn, and what it means."""

import re
from collections.abc import Collection, Sequence
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override

from business.execute import Answer
from business.logical_query.query import LogicalQuery
from business.logical_query.wording import AGGREGATES, Meaning, label
from business.postgres_session import Rows
from business.results.cells import is_number, is_year
from business.results.report import plain, units_of_columns, words_of_columns
from business.results.shown_query import ChartSpec, QueryShown, ResultTable
from business.results.shown_query import Meaning as ShownMeaning
from business.results.summary import CHANGE, headline, rows_told
from business.run_query import QueryResult
from business.semantic_layer.model import SemanticLayer
from business.sources import OpenSource, reach_of

CHART_ROWS = range(2, 51)
MOST_SERIES = 4
MADE = frozenset({*CHANGE[2:], "share"})  # columns made of others beside them
PERIOD = re.compile(r"\d{4}(?:-(?:Q\d|W\d\d|\d\d(?:-\d\d)?))?")  # 2026, 2026-Q3, 2026-W40, 2026-10, 2026-10-31


def shown(
    result: QueryResult,
    opened: OpenSource,
    *,
    question: str,
    statement: str,
    meaning: Meaning | None,
    language: str,
    logical_query: LogicalQuery | None = None,
) -> QueryShown:
    """What an answer keeps. opened: what the query ran under. meaning: None where a statement was given, not compiled."""
    answer = result.answer
    rows = answer.rows or Rows((), (), is_truncated=False, elapsed_ms=0)
    reach = reach_of(opened.access.policy, answer.tables)
    asked = _asked(opened, answer.tables)
    units = units_of_columns(rows.columns, asked)
    is_chinese = language.startswith("zh")
    labels = column_labels(rows.columns, asked, language)
    if meaning and meaning.compared and CHANGE[0] in rows.columns:
        times = dict(zip(CHANGE, meaning.compared, strict=False))
        labels = tuple(times.get(name, label) for name, label in zip(rows.columns, labels, strict=True))
    words = words_of_columns(rows.columns, rows.rows, asked, language)
    return QueryShown(
        query_id=result.query_id,
        question=question,
        statement=statement,
        sql=answer.sql,
        sha256=result.sha256,
        reach=reach,
        meaning=ShownMeaning(
            headline=headline(
                rows,
                answer.total,
                meaning,
                is_chinese=is_chinese,
                labels=labels,
                units=units,
                words=words,
                counted=rows_told(reach, is_chinese=is_chinese),
            ),
            figure=meaning.figure if meaning else "",
            unit=meaning.unit if meaning else "",
            counted=meaning.counted if meaning else "",
            window=meaning.window if meaning else (),
            time_zone=opened.layer.time_zone if meaning and meaning.window else "",
            conditions=meaning.conditions[len(meaning.window) :] if meaning else (),
            definitions=(*(meaning.definitions if meaning else ()), *_read_at(answer, opened, language)),
            units=tuple(sorted({unit for table in reach for unit in table.units or ()})),
        ),
        table=ResultTable(
            columns=rows.columns,
            labels=tuple(_with_unit(*told, is_chinese=is_chinese) for told in zip(labels, units, strict=True)),
            rows=tuple(tuple(plain(value) for value in row) for row in rows.rows),
            words=words if any(words) else (),
            total=answer.total,
            is_cut=rows.is_truncated and answer.total is None,
            elapsed_ms=rows.elapsed_ms,
        ),
        logical_query=logical_query,
        chart=None if answer.total is not None or rows.is_truncated else chart_of(rows.columns, rows.rows),
    )


def _read_at(answer: Answer, opened: OpenSource, language: str) -> tuple[str, ...]:
    """When a result was read that may be a kept one."""
    if answer.read_at is None:
        return ()
    with override("zh-hans" if language.startswith("zh") else "en"):
        return (
            _("Read from the database at %(time)s.") % {"time": f"{answer.read_at.astimezone(opened.time_zone):%H:%M}"},
        )


def _with_unit(name: str, unit: str, *, is_chinese: bool) -> str:
    return (f"{name}（{unit}）" if is_chinese else f"{name} ({unit})") if unit else name


def _asked(opened: OpenSource, tables: Collection[str]) -> SemanticLayer:
    """The part of the layer that a query read: a name of another table says nothing about its columns."""
    models = tuple(m for m in opened.layer.semantic_models if f"{m.table_schema}.{m.table}" in tables)
    return opened.layer.model_copy(update={"semantic_models": models})


def chart_of(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> ChartSpec | None:
    """A line over time that runs forwards, bars over names and over times in another order; None where the shape asks for neither.

    A part of a table is not drawn: it would mislead. What was made of drawn numbers, their change and share, is on another scale.
    """
    if len(rows) not in CHART_ROWS or len(columns) < 2:
        return None
    kinds = [_kind(name, [row[place] for row in rows]) for place, name in enumerate(columns)]
    labels = [place for place, kind in enumerate(kinds) if kind in ("time", "name")]
    quantities = [place for place, kind in enumerate(kinds) if kind == "quantity"]
    if len(labels) != 1 or len(labels) + len(quantities) < len(columns):
        return None
    series = tuple(place for place in quantities if columns[place] not in MADE) or tuple(quantities)
    names = [row[labels[0]] for row in rows]
    if not 0 < len(series) <= MOST_SERIES or len(set(names)) < len(names):
        return None
    runs_forwards = kinds[labels[0]] == "time" and None not in names and names == sorted(names, key=str)
    return ChartSpec(type="line" if runs_forwards else "bar", label=labels[0], series=series)


def _kind(name: str, values: Sequence[Any]) -> str:
    """time, name or quantity of a column by its values; "" where they are none of these."""
    told = [value for value in values if value is not None]
    if not told:
        return ""
    if all(
        isinstance(value, date) or is_year(name, value) or (isinstance(value, str) and PERIOD.fullmatch(value))
        for value in told
    ):
        return "time"
    if all(isinstance(value, str) for value in told):
        return "name"
    if all(map(is_number, told)):
        return "" if f"_{name.lower()}".endswith("_id") else "quantity"  # a number that names a row is none
    return ""


_COUNTED = {"zh": "数量", "en": "count"}
_DERIVED = {
    "en": {
        "ratio": "ratio",
        "share": "share (%)", "part": "part", "whole": "whole", "current": "current", "previous": "previous", "change": "change",
        "change_percent": "change (%)", "average": "average", "exists": "exists", "period": "period", "weekday": "weekday (1 = Monday)",
    },
    "zh": {
        "ratio": "比值",
        "share": "占比（%）", "part": "部分", "whole": "总体", "current": "本期", "previous": "对比期", "change": "变化",
        "change_percent": "变化率（%）", "average": "平均", "exists": "是否有", "period": "时间", "weekday": "星期（1 = 星期一）",
    },
}  # fmt: skip
_PERIODS = {"day": "日", "week": "周", "month": "月", "quarter": "季度", "year": "年"}


def column_labels(columns: Sequence[str], layer: SemanticLayer, language: str) -> tuple[str, ...]:
    """What the columns of a result are called in a language; a name that means several things, or none, stays as it is."""
    key = "zh" if language.startswith("zh") else "en"
    said: dict[str, set[str]] = {"count": {_COUNTED[key]}} | {name: {word} for name, word in _DERIVED[key].items()}
    if key == "zh":
        said |= {name: {word} for name, word in _PERIODS.items()}
    for model in layer.semantic_models:
        rows = f"{label(model, key)}数量" if key == "zh" else f"number of {label(model, key)} records"
        said.setdefault(f"count_{model.name}", set()).add(rows)
        for part in (model, *model.measures, *model.dimensions):
            said.setdefault(part.name, set()).add(label(part, key))
        for dimension in model.dimensions:
            said.setdefault(dimension.expr.strip('"'), set()).add(label(dimension, key))
            for agg in AGGREGATES[key]:
                between = "" if key == "zh" else " "
                told = f"{AGGREGATES[key][agg]}{between}{label(dimension, key)}"
                said.setdefault(f"{agg}_{dimension.name}"[:60], set()).add(told)
    return tuple(said[name].copy().pop() if len(said.get(name, ())) == 1 else name for name in columns)
