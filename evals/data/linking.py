"""Measure schema linking: are the tables and columns that gold statements need among those shown, and how many others are?"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import sqlglot
from django.db import transaction
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope

from business.linking.index import LayerIndex
from business.linking.linker import WHOLE_COLUMNS, Linked, Linker, keys_of
from business.linking.schema_prompt import schema_prompt
from business.linking.vectors import Vectors, fill_row, near_in
from business.models import DataSource
from business.semantic_layer.model import SemanticLayer
from evals.data.questions import Asked
from knowledge.embedding.base import EmbeddingError
from knowledge.retrieval.engine import engine

MAX_GOLDS = 24  # alternatives of one question that are looked at
Column = tuple[str, str]
Detail = Mapping[str, Any]


@dataclass(frozen=True)
class Needed:
    """The tables of one gold statement, and its columns by table, as the database folds their names."""

    tables: frozenset[str]
    columns: frozenset[Column]


def evaluate_linking(
    asked: Sequence[Asked], layer: SemanticLayer, link: Callable[[str], Linked]
) -> Iterator[dict[str, Any]]:
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
        (tokens,) = engine().embedder.count_tokens([schema_prompt(linked)])
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


def report_of(details: Sequence[Detail]) -> dict[str, Any]:
    """Return the shares over all, of each language and of each database, and the questions of which something is missing."""
    missed = [{name: detail[name] for name in ("id", "question", "missing")} for detail in details if detail["missing"]]
    return {
        "total": _shares(details) if details else {},
        "languages": _shares_by("language", details),
        "databases": _shares_by("database", details),
        "missed": missed,
    }


def _shares_by(name: str, details: Sequence[Detail]) -> dict[str, Any]:
    groups = sorted({detail[name] for detail in details})
    return {group: _shares([detail for detail in details if detail[name] == group]) for group in groups}


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
        "ms": {"p50": round(median(ms), 1), "p95": round(float(np.percentile(ms, 95)), 1)},
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
        columns |= {(model.table.lower(), name.lower()) for name in (*own, *keys_of(model, linked.models))}
    return Needed(frozenset(model.table.lower() for model in linked.models), frozenset(columns))


@contextmanager
def stored_linker(layer: SemanticLayer, *, whole_columns: int = WHOLE_COLUMNS) -> Iterator[Linker]:
    """Open a linker whose vectors are in the database, as those of a saved source are, until the block ends."""
    with transaction.atomic():
        source = DataSource(name=f"linking-{time.time_ns()}"[:50], database="none")
        source.layer = layer.model_dump(mode="json", by_alias=True)
        source.save()
        fill_row(source, _embedded)
        index = LayerIndex.of(layer)
        yield Linker(layer, index, near_in(source.pk, index), whole_columns)
        transaction.set_rollback(True)


@contextmanager
def open_linker(layer: SemanticLayer) -> Iterator[Linker]:
    """Open a stored linker, or one of words alone where the embedding model was not prepared."""
    with ExitStack() as stack:
        try:
            linker = stack.enter_context(stored_linker(layer))
        except EmbeddingError:
            linker = Linker.of(layer)
        yield linker


def _embedded(texts: Sequence[str]) -> Vectors:
    vectors, _tokens = zip(*(engine().encode([text]) for text in texts), strict=True)
    return np.array([vector[0] for vector in vectors], np.float32)


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
