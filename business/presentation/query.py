"""Convert a query that ran to what an answer keeps: the value in words, the table, the chart and the meaning."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override

from business.connections.postgres_session import FetchedRows
from business.execute import StatementResult
from business.logical_query.phrases import find_phrases, pluralise
from business.logical_query.query import CHANGE, LogicalQuery
from business.logical_query.wording import QueryWording, find_label
from business.presentation.headline import ShownResult, build_headline
from business.presentation.report import convert_to_json_value
from business.results.cells import is_number, is_year
from business.results.shown_query import ChartSpec, QueryShown, ResultTable, TableReach
from business.results.shown_query import ResultMeaning as ShownMeaning
from business.semantic_layer.model import Dimension, Measure, SemanticLayer, SemanticModel
from business.sources.services import OpenSource, list_table_reach
from business.statements.run_query import QueryResult

CHART_ROWS = range(2, 51)
MAX_SERIES = 4
MADE = frozenset({*CHANGE[2:], "share"})  # columns derived from others beside them
PERIOD = re.compile(r"\d{4}(?:-(?:Q\d|W\d\d|\d\d(?:-\d\d)?))?")  # 2026, 2026-Q3, 2026-W40, 2026-10, 2026-10-31


def build_query_shown(
    result: QueryResult,
    opened: OpenSource,
    *,
    question: str,
    statement: str,
    meaning: QueryWording,
    language: str,
    logical_query: LogicalQuery | None = None,
    asked_on: date | None = None,
) -> QueryShown:
    """Return what an answer keeps. opened: the source as the query used it. asked_on: today, if None."""
    answer = result.answer
    rows = answer.rows or FetchedRows((), (), is_truncated=False, elapsed_ms=0)
    columns = _build_columns(rows, _select_queried_layer(opened, answer.tables), meaning, language)
    reach = list_table_reach(opened.access.policy, answer.tables)
    return QueryShown(
        query_id=result.query_id,
        question=question,
        statement=statement,
        sql=answer.sql,
        sha256=result.sha256,
        reach=reach,
        meaning=_build_meaning(answer, rows, columns, reach, opened=opened, meaning=meaning, language=language),
        table=_build_table(answer, rows, columns, language),
        logical_query=logical_query,
        asked_on=asked_on or opened.today,
        chart=None if answer.total is not None or rows.is_truncated else chart_of(rows.columns, rows.rows),
    )


@dataclass(frozen=True)
class _ColumnWords:
    """Descriptions of a result's columns, in their order."""

    labels: tuple[str, ...]
    units: tuple[str, ...]
    words: tuple[dict[str, str], ...]  # names of values


def _build_columns(rows: FetchedRows, layer: SemanticLayer, meaning: QueryWording, language: str) -> _ColumnWords:
    labels = _find_column_labels(rows.columns, layer, language)
    if meaning.compared and CHANGE[0] in rows.columns:
        times = dict(zip(CHANGE, meaning.compared, strict=False))
        labels = tuple(times.get(name, label) for name, label in zip(rows.columns, labels, strict=True))
    return _ColumnWords(
        labels, _find_column_units(rows.columns, layer), tuple(_find_value_names(rows, layer, language))
    )


def _build_meaning(
    answer: StatementResult,
    rows: FetchedRows,
    columns: _ColumnWords,
    reach: tuple[TableReach, ...],
    *,
    opened: OpenSource,
    meaning: QueryWording,
    language: str,
) -> ShownMeaning:
    shown = ShownResult(rows, answer.total, columns.labels, columns.units, columns.words, language.startswith("zh"))
    headline_text = build_headline(shown, meaning, reach)
    units = tuple(sorted({unit for table in reach for unit in table.units or ()}))
    return ShownMeaning(
        headline=headline_text.text,
        title=headline_text.title,
        value=headline_text.value,
        note=headline_text.note,
        figure=meaning.figure,
        unit=meaning.unit,
        counted=meaning.counted,
        window=meaning.window,
        time_zone=opened.layer.time_zone if meaning.window else "",
        conditions=meaning.conditions[len(meaning.window) :],
        definitions=(*meaning.definitions, *_describe_reading_time(answer, opened, language)),
        units=units,
    )


def _build_table(answer: StatementResult, rows: FetchedRows, columns: _ColumnWords, language: str) -> ResultTable:
    is_chinese = language.startswith("zh")
    named = zip(columns.labels, columns.units, strict=True)
    return ResultTable(
        columns=rows.columns,
        labels=tuple(_add_unit(*unit, is_chinese=is_chinese) for unit in named),
        rows=tuple(tuple(convert_to_json_value(value) for value in row) for row in rows.rows),
        words=columns.words if any(columns.words) else (),
        total=answer.total,
        is_cut=rows.is_truncated and answer.total is None,
        elapsed_ms=rows.elapsed_ms,
    )


def _describe_reading_time(answer: StatementResult, opened: OpenSource, language: str) -> tuple[str, ...]:
    """Return the time when a result was read, which may be cached."""
    if answer.read_at is None:
        return ()
    with override("zh-hans" if language.startswith("zh") else "en"):
        return (
            _("Read from the database at %(time)s.") % {"time": f"{answer.read_at.astimezone(opened.time_zone):%H:%M}"},
        )


def _add_unit(name: str, unit: str, *, is_chinese: bool) -> str:
    return (f"{name}（{unit}）" if is_chinese else f"{name} ({unit})") if unit else name


def _select_queried_layer(opened: OpenSource, tables: Collection[str]) -> SemanticLayer:
    """Return the part of the layer that a query read, since names of other tables do not describe its columns."""
    models = tuple(m for m in opened.layer.semantic_models if m.full_name in tables)
    return opened.layer.model_copy(update={"semantic_models": models})


def chart_of(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> ChartSpec | None:
    """Return a line over ascending time, bars over names and otherwise ordered times; None for other shapes.

    Truncated tables are not drawn: they would mislead. Changes and shares are left out: their scale differs.
    """
    if len(rows) not in CHART_ROWS or len(columns) < 2:
        return None
    kinds = [_find_column_kind(name, [row[place] for row in rows]) for place, name in enumerate(columns)]
    labels = [place for place, kind in enumerate(kinds) if kind in ("time", "name")]
    quantities = [place for place, kind in enumerate(kinds) if kind == "quantity"]
    if len(labels) != 1 or len(labels) + len(quantities) < len(columns):
        return None
    series = tuple(place for place in quantities if columns[place] not in MADE) or tuple(quantities)
    names = [row[labels[0]] for row in rows]
    if not 0 < len(series) <= MAX_SERIES or len(set(names)) < len(names):
        return None
    runs_forwards = kinds[labels[0]] == "time" and None not in names and names == sorted(names, key=str)
    return ChartSpec(type="line" if runs_forwards else "bar", label=labels[0], series=series)


def _find_column_kind(name: str, values: Sequence[Any]) -> str:
    """Return a column's kind by its values: time, name or quantity, or ""."""
    numbers = [value for value in values if value is not None]
    if not numbers:
        return ""
    if all(
        isinstance(value, date) or is_year(name, value) or (isinstance(value, str) and PERIOD.fullmatch(value))
        for value in numbers
    ):
        return "time"
    if all(isinstance(value, str) for value in numbers):
        return "name"
    if all(map(is_number, numbers)):
        return "" if f"_{name.lower()}".endswith("_id") else "quantity"  # an id is not a quantity
    return ""


_KEEPS_UNIT = ("", "sum", "avg", "min", "max")  # aggregates that keep a column's unit
Meant = tuple[str, SemanticModel | Measure | Dimension, str]
Said = defaultdict[str, set[str]]


def _iterate_column_meanings(layer: SemanticLayer) -> Iterator[Meant]:
    """Yield the possible names of a result's columns, with their part of the layer and derivation, or ""."""
    for model in layer.semantic_models:
        yield model.name, model, ""
        yield from ((measure.name, measure, "") for measure in model.measures)
        for dimension in model.dimensions:
            yield from ((name, dimension, "") for name in {dimension.name, dimension.expr.strip('"')})
            yield from ((f"{agg}_{dimension.name}"[:60], dimension, agg) for agg in find_phrases("aggregates", "en"))


def _choose_only_text(texts: set[str], otherwise: str) -> str:
    """Return the item if there is exactly one, else `otherwise`."""
    return next(iter(texts)) if len(texts) == 1 else otherwise


def _find_column_labels(columns: Sequence[str], layer: SemanticLayer, language: str) -> tuple[str, ...]:
    """Return the columns' labels in a language; an ambiguous or unknown name stays."""
    key = "zh" if language.startswith("zh") else "en"
    words = Said(set, {name: {word} for name, word in find_phrases("columns", key).items()})
    for model in layer.semantic_models:
        rows = f"{find_label(model, key)}数量" if key == "zh" else f"number of {pluralise(find_label(model, key))}"
        words[f"count_{model.name}"].add(rows)
    for name, named, agg in _iterate_column_meanings(layer):
        made = f"{find_phrases('aggregates', key)[agg]}{'' if key == 'zh' else ' '}" if agg else ""
        words[name].add(f"{made}{find_label(named, key)}")
    return tuple(_choose_only_text(words[name], name) for name in columns)


def _find_column_units(columns: Sequence[str], layer: SemanticLayer) -> tuple[str, ...]:
    """Return the unit of each column; "" for none, and for an ambiguous name."""
    words = Said(set)
    for name, named, agg in _iterate_column_meanings(layer):
        if not isinstance(named, SemanticModel) and agg in _KEEPS_UNIT:
            words[name].add(named.unit)
    return tuple(_choose_only_text(words[name], "") for name in columns)


def _find_value_names(rows: FetchedRows, layer: SemanticLayer, language: str) -> Iterator[dict[str, str]]:
    """Return for each column its values' names in a language, where the layer renames them.

    A value that is ambiguous under one column name stays.
    """
    found: defaultdict[str, Said] = defaultdict(lambda: Said(set))
    for name, named, agg in _iterate_column_meanings(layer):
        dimension = named.name_dimension if isinstance(named, SemanticModel) else named
        if isinstance(dimension, Dimension) and not agg:
            for value in dimension.values:
                found[name][value.value].add(value.text(language))
    for place, name in enumerate(rows.columns):
        there = sorted({row[place] for row in rows.rows if isinstance(row[place], str)})
        words = {value: _choose_only_text(found[name][value], value) for value in there}
        yield {value: word for value, word in words.items() if word != value}
