"""Read an evaluation set: corpus.jsonl, queries.SPLIT.jsonl and qrels.SPLIT.tsv in one folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from copilot_site.lib.commands import read_text
from copilot_site.lib.errors import InvalidInput
from evals.command import read_rows

Judgements = dict[str, dict[str, int]]


class CorpusDocument(BaseModel):
    """One document of the collection. language: a tag such as `zh-cn`."""

    model_config = ConfigDict(frozen=True, strict=True)

    id: str = Field(min_length=1)
    text: str
    title: str | None = None
    language: str | None = Field(None, alias="lang")


class Query(BaseModel):
    """One question. answers: accepted spans; answerable: None where the set does not say.

    target_language: the language to search in when it is not the question's own.
    exclude_ids: documents to drop from the results before scoring, because the question was taken from them.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    id: str = Field(min_length=1)
    text: str
    language: str | None = Field(None, alias="lang")
    kind: str | None = None
    answers: tuple[str, ...] = ()
    answerable: bool | None = None
    target_language: str | None = Field(None, alias="target_lang")
    exclude_ids: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Dataset:
    """A collection with its questions and graded judgements {query id: {document id: grade}}."""

    name: str
    corpus: tuple[CorpusDocument, ...]
    queries: tuple[Query, ...]
    qrels: Judgements


def load_dataset(folder: Path, *, split: str = "dev", corpus: Path | None = None) -> Dataset:
    """Read an evaluation set.

    corpus: another corpus file than the folder's `corpus.jsonl`, such as one with headings masked; relative to the folder.
    Raises InvalidInput with file and line for a missing file, a bad line, an id used twice, or a judgement about an
    unknown query or document.
    """
    corpus_file, queries_file = folder / (corpus or "corpus.jsonl"), folder / f"queries.{split}.jsonl"
    documents, queries = read_rows(corpus_file, CorpusDocument), read_rows(queries_file, Query)
    document_ids, query_ids = _unique_ids(corpus_file, documents), _unique_ids(queries_file, queries)
    qrels = _read_qrels(folder / f"qrels.{split}.tsv", query_ids, document_ids)
    return Dataset(folder.name, tuple(documents), tuple(queries), qrels)


def _unique_ids(file: Path, rows: Sequence[CorpusDocument] | Sequence[Query]) -> set[str]:
    ids = set[str]()
    for row in rows:
        if row.id in ids:
            raise InvalidInput(f"{file}: the id {row.id!r} is used twice.")
        ids.add(row.id)
    return ids


def _read_qrels(file: Path, query_ids: set[str], document_ids: set[str]) -> Judgements:
    """Read the judgements. A first line whose grade is no number is a header."""
    qrels: Judgements = {}
    for number, line in enumerate(read_text(file).split("\n"), 1):
        if not line.strip():
            continue
        where, fields = f"{file}, line {number}", line.rstrip("\r").split("\t")
        if len(fields) != 3:
            raise InvalidInput(f"{where}: must have three fields separated by tabs, not {len(fields)}.")
        query_id, document_id, grade = fields
        if not grade.removeprefix("-").isdecimal():
            if number == 1:
                continue
            raise InvalidInput(f"{where}: the grade must be a whole number, not {grade!r}.")
        if query_id not in query_ids:
            raise InvalidInput(f"{where}: the query {query_id!r} is not in the queries file.")
        if document_id not in document_ids:
            raise InvalidInput(f"{where}: the document {document_id!r} is not in the corpus.")
        qrels.setdefault(query_id, {})[document_id] = int(grade)
    return qrels
