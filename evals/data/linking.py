"""Measuring schema linking: are the tables and columns that gold statements need among those shown, and how many others are?"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from statistics import mean, median
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
from evals.data.questions import MOST_GOLDS, Asked, alternatives, language_asked
from knowledge.embedding.base import EmbeddingError
from knowledge.retrieval.engine import engine

Column = tuple[str, str]


@dataclass(frozen=True)
class Needed:
    """What one gold statement reads: tables, and columns by table, as the database folds their names."""

    tables: frozenset[str]
    columns: frozenset[Column]


@dataclass
class Shares:
    """Sums over questions. beyond: columns shown that are not needed, of each question."""

    questions: int = 0
    covered: int = 0
    tables: int = 0
    tables_shown: int = 0
    columns: int = 0
    columns_shown: int = 0
    beyond: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "questions": self.questions,
            "covered": round(self.covered / self.questions, 4),
            "tables_shown": round(self.tables_shown / self.tables, 4),
            "columns_shown": round(self.columns_shown / max(1, self.columns), 4),
            "columns_beyond": round(mean(self.beyond), 1),
            "tokens": {"p50": round(median(self.tokens)), "most": max(self.tokens)},
            "ms": {"p50": round(median(self.ms), 1), "p95": round(float(np.percentile(self.ms, 95)), 1)},
        }

    def add(self, other: "Shares") -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class Report:
    languages: dict[str, Shares] = field(default_factory=dict)
    databases: dict[str, Shares] = field(default_factory=dict)
    missed: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        total = Shares()
        for shares in self.databases.values():
            total.add(shares)
        return {
            "total": total.as_json() if total.questions else {},
            "languages": {name: shares.as_json() for name, shares in sorted(self.languages.items())},
            "databases": {name: shares.as_json() for name, shares in sorted(self.databases.items())},
            "missed": self.missed,
        }


def needed(sql: str, layer: SemanticLayer) -> Needed:
    """What a statement reads of a layer's tables, forbidden columns too. Raises SqlglotError."""
    schema = columns_by_table(layer)
    tables, columns = set[str](), set[Column]()
    for scope in traverse_scope(qualified(sql, layer)):
        sources = {name: one.name.lower() for name, one in scope.sources.items() if isinstance(one, exp.Table)}
        tables |= {name for name in sources.values() if name in schema}
        read = {(sources.get(column.table, ""), column.name.lower()) for column in scope.columns}
        columns |= {(table, name) for table, name in read if name in schema.get(table, ())}
    return Needed(frozenset(tables), frozenset(columns))


def shown(linked: Linked) -> Needed:
    """The tables and columns that a prompt shows, folded in the same way."""
    columns: set[Column] = set()
    for model in linked.models:
        own = [name for d in model.dimensions if f"{model.name}.{d.name}" in linked.columns for name in d.columns]
        own += [name for m in model.measures if f"{model.name}.{m.name}" in linked.measures for name in m.columns]
        columns |= {(model.table.lower(), name.lower()) for name in (*own, *keys_of(model, linked.models))}
    return Needed(frozenset(model.table.lower() for model in linked.models), frozenset(columns))


def evaluate_linking(
    asked: Sequence[Asked], layer: SemanticLayer, link: Callable[[str], Linked], report: Report
) -> None:
    """Link the questions of one layer that have a gold statement, and add to the report what their prompts show."""
    for one in asked:
        golds = list(_golds(one, layer)) if one.is_answerable else []
        if not golds:
            continue
        began = time.perf_counter()
        linked = link(one.question)
        elapsed = (time.perf_counter() - began) * 1000
        have = shown(linked)
        gold = min(golds, key=lambda need: (len(need.tables - have.tables), len(need.columns - have.columns)))
        (tokens,) = engine().embedder.count_tokens([schema_prompt(linked)])
        is_covered = gold.tables <= have.tables and gold.columns <= have.columns
        shares = Shares(
            1, int(is_covered), len(gold.tables), len(gold.tables & have.tables), len(gold.columns),
            len(gold.columns & have.columns), [len(have.columns - gold.columns)], [tokens], [elapsed],
        )  # fmt: skip
        report.languages.setdefault(language_asked(one), Shares()).add(shares)
        report.databases.setdefault(one.database, Shares()).add(shares)
        if not is_covered:
            missing = sorted(gold.tables - have.tables) + sorted(map(".".join, gold.columns - have.columns))
            report.missed.append({"id": one.id, "question": one.question, "missing": missing})


@contextmanager
def stored_linker(layer: SemanticLayer, *, whole_columns: int = WHOLE_COLUMNS) -> Iterator[Linker]:
    """A linker whose vectors lie in the database, as those of a saved source do; they are gone afterwards."""
    with transaction.atomic():
        source = DataSource(name=f"linking-{time.time_ns()}"[:50], database="none")
        source.layer = layer.model_dump(mode="json", by_alias=True)
        source.save()
        fill_row(source, _embedded)
        index = LayerIndex.of(layer)
        yield Linker(layer, index, near_in(source.pk, index), whole_columns)
        transaction.set_rollback(True)


@contextmanager
def linker_for(layer: SemanticLayer) -> Iterator[Linker]:
    """The same; by words alone where the embedding model was not prepared."""
    with ExitStack() as stack:
        try:
            linker = stack.enter_context(stored_linker(layer))
        except EmbeddingError:
            linker = Linker.of(layer)
        yield linker


def _embedded(texts: Sequence[str]) -> Vectors:
    """Each text once: the tables among which those of a set are hidden are the same for every set."""
    return np.array([_vector(text) for text in texts], np.float32)


@cache
def _vector(text: str) -> Vectors:
    vectors, _tokens = engine().encode([text])
    return np.asarray(vectors[0], np.float32)


def _golds(one: Asked, layer: SemanticLayer) -> Iterator[Needed]:
    for sql in alternatives(one.gold)[:MOST_GOLDS]:
        try:
            need = needed(sql, layer)
        except sqlglot.errors.SqlglotError:  # another dialect's; another alternative says the same
            continue
        if need.tables:
            yield need


def qualified(sql: str, layer: SemanticLayer) -> exp.Expr:
    """Return the tree of a statement, each column with its table. Raises SqlglotError."""
    tree = sqlglot.parse_one(sql, dialect="postgres")
    for table in tree.find_all(exp.Table):
        table.set("db", None)
    found: exp.Expr = qualify(tree, schema=columns_by_table(layer), dialect="postgres", validate_qualify_columns=False)
    return found


def columns_by_table(layer: SemanticLayer) -> dict[str, Any]:
    """The columns of a layer's tables, forbidden ones too, as the database folds their names, each with a type."""
    return {
        model.table.lower(): {name.lower(): "text" for name in (*model.columns, *model.forbidden_columns)}
        for model in layer.semantic_models
    }
