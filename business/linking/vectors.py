"""Vectors of a source's saved layer in the database: filled after a layer is saved, searched for a question.

A search reads only the named tables' vectors: other tables do not influence its result.
"""

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from uuid import UUID

import numpy as np
import structlog
from django.core.cache import cache
from django.db.models import Min
from numpy.typing import NDArray
from pgvector.django import MaxInnerProduct

from business.linking.entries import Key, entries_of
from business.linking.index import LayerIndex
from business.linking.linker import Near
from business.models import DataSource, SchemaVector
from copilot_site.lib.database import hold_process_lock
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.load.queues import send_on_commit
from knowledge.embedding.base import EmbeddingError
from knowledge.retrieval.engine import load_engine

BATCH = 64  # texts embedded and stored per batch

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]  # (texts, dimensions)

log = structlog.get_logger(__name__)


def build_nearest_search(source_id: UUID, index: LayerIndex) -> Near:
    """Return the embedding search among the entries of an index."""

    def near(text: str, tables: Collection[str], most: int) -> dict[int, float]:
        found = find_nearest_entries(source_id, text, tables, most)
        return {index.places[key]: cosine for key, cosine in found.items() if key in index.places}

    return near


def find_nearest_entries(source_id: UUID, text: str, tables: Collection[str], most: int) -> dict[Key, float]:
    """Return the cosines of these tables' entries nearest to a text; none without vectors."""
    vector = _try_embed_text(text)
    if vector is None:
        return {}
    found = (
        SchemaVector.objects.filter(source=source_id, space=load_engine().space_id, model__in=tables)
        .annotate(distance=MaxInnerProduct("vector", vector))
        .order_by("distance")
        .values_list("model", "kind", "part", "distance")
    )
    return {(model, kind, part): -distance for model, kind, part, distance in found[:most]}


def find_nearest_sources(sources: Collection[UUID], text: str, most: int) -> list[UUID]:
    """Return the sources with the entries nearest to a text, nearest first; none without vectors."""
    vector = _try_embed_text(text)
    if vector is None:
        return []
    rows = SchemaVector.objects.filter(source__in=sources, space=load_engine().space_id).order_by()
    near = rows.values("source_id").annotate(distance=Min(MaxInnerProduct("vector", vector))).order_by("distance")
    return list(near.values_list("source_id", flat=True)[:most])


def _try_embed_text(text: str) -> Vectors | None:
    try:
        return _embed_text(text)
    except EmbeddingError as error:
        log.warning("linking.words_alone", why=str(error))
        return None


@lru_cache(maxsize=64)  # a question is embedded for all tables, for the chosen ones, and for every source
def _embed_text(text: str) -> Vectors:
    return load_engine().ask(text)[0]


def fill_vectors_on_commit(source_id: UUID) -> None:
    """Have a worker fill a source when the transaction commits; lost messages are made up for later."""
    send_on_commit("business.fill_schema_vectors", source_id, queue="maintenance")


def fill_source_vectors(source_id: UUID) -> int:
    """Update a source's vectors to its saved layer; return how many were made, 0 also while another process does it."""
    made = 0
    with hold_process_lock(f"schema vectors:{source_id}") as is_alone:
        while is_alone:
            source = DataSource.unscoped.filter(pk=source_id).first()
            if source is None:
                return made
            made += update_vectors(source)
            cache.set(_build_lock_name(source), source.changed_at.isoformat(), timeout=None)
            if not DataSource.unscoped.filter(pk=source_id, changed_at__gt=source.changed_at).exists():
                return made
    return made


def list_unfilled_sources() -> list[UUID]:
    """Return the sources whose layer was, or may have been, saved since they were filled."""
    sources = DataSource.unscoped.filter(is_active=True).defer("layer")
    return [source.pk for source in sources if cache.get(_build_lock_name(source)) != source.changed_at.isoformat()]


def update_vectors(source: DataSource, embed: Embed | None = None) -> int:
    """Embed new and changed entries of a source's layer; each batch is stored at once, so interrupted work is kept."""
    embed = embed or _embed_texts
    try:
        wanted = {entry.key: entry for entry in entries_of(source.semantic_layer)}
    except InvalidInput:  # the doctor command reports it
        return 0
    space = load_engine().space_id
    rows = SchemaVector.objects.filter(source=source, space=space)
    stored = {(r.model, r.kind, r.part): (r.pk, bytes(r.sha256)) for r in rows.defer("vector")}
    digests = {key: entry.sha256() for key, entry in wanted.items()}
    stale = [pk for key, (pk, digest) in stored.items() if digests.get(key) != digest]
    SchemaVector.objects.filter(pk__in=stale).delete()
    new = [key for key, digest in digests.items() if stored.get(key, (0, b""))[1] != digest]
    for start in range(0, len(new), BATCH):
        keys = new[start : start + BATCH]
        vectors = embed([wanted[key].text() for key in keys])
        made = [
            SchemaVector(
                source=source,
                space_id=space,
                model=key[0],
                kind=key[1],
                part=key[2],
                sha256=digests[key],
                vector=vector,
            )
            for key, vector in zip(keys, vectors, strict=True)
        ]
        SchemaVector.objects.bulk_create(made)
    return len(new)


def _embed_texts(texts: Sequence[str]) -> Vectors:
    return load_engine().encode(texts)[0]


def _build_lock_name(source: DataSource) -> str:
    return f"schema-vectors:{source.pk}:{load_engine().space}"
