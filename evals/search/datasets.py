"""Reading an evaluation set: corpus.jsonl, queries.SPLIT.jsonl and qrels.SPLIT.tsv in one folder."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class DatasetError(ValueError):
    """An evaluation file that cannot be read. The text names the file and the line."""


@dataclass(frozen=True)
class CorpusDocument:
    """One document of the collection. path: where it stood in its tree; language: a tag such as `zh-cn`."""

    id: str
    title: str
    text: str
    path: str | None = None
    language: str | None = None


@dataclass(frozen=True)
class Query:
    """One question. answers: accepted spans; answerable: None where the set does not say.

    target_language: the language to search in when it is not the question's own.
    exclude_ids: documents to drop from the results before scoring, because the question was taken from them.
    """

    id: str
    text: str
    language: str | None = None
    kind: str | None = None
    answers: tuple[str, ...] = ()
    answerable: bool | None = None
    target_language: str | None = None
    exclude_ids: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Dataset:
    """A collection with its questions and graded judgements {query id: {document id: grade}}."""

    name: str
    corpus: tuple[CorpusDocument, ...]
    queries: tuple[Query, ...]
    qrels: dict[str, dict[str, int]]


def load_dataset(folder: Path, *, split: str = "dev", corpus: Path | None = None) -> Dataset:
    """Read an evaluation set.

    corpus: another corpus file than the folder's `corpus.jsonl`, such as one with headings masked; relative to the folder.
    Raises DatasetError with file and line for a missing file, a bad line, an id used twice, or a judgement about an
    unknown query or document.
    """
    corpus_file = folder / (corpus or "corpus.jsonl")
    queries_file = folder / f"queries.{split}.jsonl"
    documents: dict[str, CorpusDocument] = {}
    for where, record in _records(corpus_file):
        document = _document(where, record)
        _insert(where, documents, document.id, document)
    queries: dict[str, Query] = {}
    for where, record in _records(queries_file):
        query = _query(where, record)
        _insert(where, queries, query.id, query)
    qrels = _qrels(folder / f"qrels.{split}.tsv", known_queries=queries, known_documents=documents)
    return Dataset(folder.name, tuple(documents.values()), tuple(queries.values()), qrels)


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    """(place, line) of every line that is not blank; the place is "file, line n"."""
    try:
        with file.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield f"{file}, line {number}", line.rstrip("\r\n")
    except OSError as error:
        raise DatasetError(f"{file}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{file}: is not UTF-8 text (byte {error.start})") from error


def _records(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for where, line in _lines(file):
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise DatasetError(f"{where}: is not JSON ({error.msg})") from error
        if not isinstance(record, dict):
            raise DatasetError(f"{where}: must be a JSON object, not {type(record).__name__}")
        yield where, record


def _document(where: str, record: dict[str, Any]) -> CorpusDocument:
    return CorpusDocument(
        id=_text(where, record, "id"),
        title=_optional_text(where, record, "title") or "",
        text=_text(where, record, "text", may_be_empty=True),
        path=_optional_text(where, record, "path"),
        language=_optional_text(where, record, "lang"),
    )


def _query(where: str, record: dict[str, Any]) -> Query:
    answerable = record.get("answerable")
    if answerable is not None and not isinstance(answerable, bool):
        raise DatasetError(f"{where}: 'answerable' must be true or false")
    return Query(
        id=_text(where, record, "id"),
        text=_text(where, record, "text", may_be_empty=True),
        language=_optional_text(where, record, "lang"),
        kind=_optional_text(where, record, "kind"),
        answers=_texts(where, record, "answers"),
        answerable=answerable,
        target_language=_optional_text(where, record, "target_lang"),
        exclude_ids=frozenset(_texts(where, record, "exclude_ids")),
    )


def _qrels(
    file: Path, *, known_queries: dict[str, Query], known_documents: dict[str, CorpusDocument]
) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for index, (where, line) in enumerate(_lines(file)):
        fields = line.split("\t")
        if len(fields) != 3:
            raise DatasetError(f"{where}: must have three fields separated by tabs, not {len(fields)}")
        query_id, document_id, grade = fields
        if index == 0 and not _is_integer(grade):
            continue  # the header
        if not _is_integer(grade):
            raise DatasetError(f"{where}: the grade must be a whole number, not {grade!r}")
        if query_id not in known_queries:
            raise DatasetError(f"{where}: the query {query_id!r} is not in the queries file")
        if document_id not in known_documents:
            raise DatasetError(f"{where}: the document {document_id!r} is not in the corpus")
        qrels.setdefault(query_id, {})[document_id] = int(grade)
    return qrels


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def _insert(where: str, items: dict[str, T], key: str, item: T) -> None:
    if key in items:
        raise DatasetError(f"{where}: the id {key!r} is used twice")
    items[key] = item


def _text(where: str, record: dict[str, Any], name: str, *, may_be_empty: bool = False) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not (value.strip() or may_be_empty):
        raise DatasetError(f"{where}: needs {name!r}, a text")
    return value


def _optional_text(where: str, record: dict[str, Any], name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise DatasetError(f"{where}: {name!r} must be a text")
    return value


def _texts(where: str, record: dict[str, Any], name: str) -> tuple[str, ...]:
    value = record.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise DatasetError(f"{where}: {name!r} must be a list of texts")
    return tuple(value)
