"""`manage.py evaluate_linking DIR`: measure which tables and columns that gold statements need are shown, and how many others."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import sqlglot
from django.core.management.base import CommandParser
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope

from business.linking.linker import WHOLE_COLUMNS, Linked, list_required_columns
from business.linking.schema_prompt import build_schema_prompt
from business.semantic_layer.model import SemanticLayer
from evals.command import Detail, by_group
from evals.question_sets import Asked, QuestionSetCommand, loaded, questions_by_database, stored_linker
from evals.report import percentile
from knowledge.retrieval.engine import load_engine

MAX_GOLDS = 24  # alternatives of one question that are looked at
Column = tuple[str, str]


@dataclass(frozen=True)
class Needed:
    """The tables of one gold statement, and its columns by table, as the database folds their names."""

    tables: frozenset[str]
    columns: frozenset[Column]


class Command(QuestionSetCommand):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--whole-columns",
            type=int,
            default=WHOLE_COLUMNS,
            help="a layer of no more columns is shown whole; 0: none is",
        )

    def measure(self, options: dict[str, Any]) -> dict[str, Any]:
        details = list[Detail]()
        for name, asked in questions_by_database(options):
            with (
                loaded(name, options["folder"], options["databases"]) as (_address, layer),
                stored_linker(layer, whole_columns=options["whole_columns"]) as linker,
            ):
                linker.link("warm up")
                details += _linked(asked, layer, linker.link)
        missed = [{name: one[name] for name in ("id", "question", "missing")} for one in details if one["missing"]]
        return {
            "total": _shares(details) if details else {},
            "languages": by_group(details, _shares, "language"),
            "databases": by_group(details, _shares, "database"),
            "missed": missed,
        }


def _linked(asked: Sequence[Asked], layer: SemanticLayer, link: Callable[[str], Linked]) -> Iterator[Detail]:
    """Link the questions of one layer that have a gold statement; give what each prompt shows of what is needed."""
    for one in asked:
        golds = [need for sql in one.golds[:MAX_GOLDS] if (need := _needed_of_tables(sql, layer))]
        if not golds:
            continue
        began = time.perf_counter()
        linked = link(one.question)
        ms = (time.perf_counter() - began) * 1000
        have = shown(linked)
        gold = min(golds, key=lambda need: (len(need.tables - have.tables), len(need.columns - have.columns)))
        (tokens,) = load_engine().embedder.count_tokens([build_schema_prompt(linked)])
        yield {
            "id": one.id,
            "question": one.question,
            "database": one.database,
            "language": one.language,
            "missing": sorted(gold.tables - have.tables) + sorted(map(".".join, gold.columns - have.columns)),
            "tables": len(gold.tables),
            "tables_shown": len(gold.tables & have.tables),
            "columns": len(gold.columns),
            "columns_shown": len(gold.columns & have.columns),
            "columns_beyond": len(have.columns - gold.columns),
            "tokens": tokens,
            "ms": ms,
        }


def _shares(details: Sequence[Detail]) -> dict[str, Any]:
    def total(name: str) -> int:
        return sum(detail[name] for detail in details)

    tokens, ms = ([detail[name] for detail in details] for name in ("tokens", "ms"))
    return {
        "questions": len(details),
        "covered": round(sum(not detail["missing"] for detail in details) / len(details), 4),
        "tables_shown": round(total("tables_shown") / total("tables"), 4),
        "columns_shown": round(total("columns_shown") / max(1, total("columns")), 4),
        "columns_beyond": round(total("columns_beyond") / len(details), 1),
        "tokens": {"p50": round(median(tokens)), "most": max(tokens)},
        "ms": {"p50": round(median(ms), 1), "p95": round(percentile(ms, 95), 1)},
    }


def needed(sql: str, layer: SemanticLayer) -> Needed:
    """Return what a statement reads of a layer's tables, forbidden columns too. Raises SqlglotError."""
    schema = columns_by_table(layer)
    tables, columns = set[str](), set[Column]()
    for scope in traverse_scope(qualified(sql, layer)):
        sources = {name: one.name.lower() for name, one in scope.sources.items() if isinstance(one, exp.Table)}
        tables |= {name for name in sources.values() if name in schema}
        read = {(sources.get(column.table, ""), column.name.lower()) for column in scope.columns}
        columns |= {(table, name) for table, name in read if name in schema.get(table, ())}
    return Needed(frozenset(tables), frozenset(columns))


def shown(linked: Linked) -> Needed:
    """Return the tables and columns that a prompt shows, folded in the same way."""
    columns: set[Column] = set()
    for model in linked.models:
        own = [name for d in model.dimensions if f"{model.name}.{d.name}" in linked.columns for name in d.columns]
        own += [name for m in model.measures if f"{model.name}.{m.name}" in linked.measures for name in m.columns]
        columns |= {
            (model.table.lower(), name.lower()) for name in (*own, *list_required_columns(model, linked.models))
        }
    return Needed(frozenset(model.table.lower() for model in linked.models), frozenset(columns))


def _needed_of_tables(sql: str, layer: SemanticLayer) -> Needed | None:
    """Return what a gold statement reads; None for one of another dialect, or without a table of the layer."""
    try:
        need = needed(sql, layer)
    except sqlglot.errors.SqlglotError:
        return None
    return need if need.tables else None


def qualified(sql: str, layer: SemanticLayer) -> exp.Expr:
    """Return the tree of a statement, each column with its table. Raises SqlglotError."""
    tree = sqlglot.parse_one(sql, dialect="postgres")
    for table in tree.find_all(exp.Table):
        table.set("db", None)
    found: exp.Expr = qualify(tree, schema=columns_by_table(layer), dialect="postgres", validate_qualify_columns=False)
    return found


def columns_by_table(layer: SemanticLayer) -> dict[str, Any]:
    """Return the columns of a layer's tables, forbidden ones too, as the database folds their names, each with a type."""
    return {
        model.table.lower(): {name.lower(): "text" for name in (*model.columns, *model.forbidden_columns)}
        for model in layer.semantic_models
    }
