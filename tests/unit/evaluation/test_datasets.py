import json
from pathlib import Path

import pytest

from copilot_site.lib.errors import InvalidInput
from evals.corpus import load_dataset
from evals.management.commands.evaluate_retrieval import ranked_documents

CORPUS = [
    {"id": "d1", "title": "Leave", "text": "15 days", "path": "hr/leave.md", "lang": "en"},
    {"id": "d2", "text": ""},
]
QUERIES = [
    {"id": "q1", "text": "年假？", "lang": "zh", "target_lang": "en", "exclude_ids": ["d2"], "answers": ["15 days"]},
    {"id": "q2", "text": "", "answerable": False},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "corpus.jsonl", *map(json.dumps, CORPUS))
    write(tmp_path / "queries.dev.jsonl", *map(json.dumps, QUERIES))
    write(tmp_path / "qrels.dev.tsv", "query-id\tcorpus-id\tscore", "q1\td1\t2", "q1\td2\t0")
    return tmp_path


def write(file: Path, *lines: str) -> None:
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_a_document_counts_once_by_its_best_chunk_and_excluded_ones_never() -> None:
    chunks = [("a", 0.2), ("b", 0.5), ("a", 0.9), ("source", 1.0), ("c", 0.5)]
    assert ranked_documents(chunks, exclude={"source"}) == ["a", "b", "c"]
    assert ranked_documents(chunks) == ["source", "a", "b", "c"]


def test_set_is_read(folder: Path) -> None:
    dataset = load_dataset(folder)
    query, unanswerable = dataset.queries
    assert [(d.id, d.title, d.language) for d in dataset.corpus] == [("d1", "Leave", "en"), ("d2", None, None)]
    assert (query.target_language, query.exclude_ids) == ("en", frozenset({"d2"}))
    assert query.answers == ("15 days",)
    assert (unanswerable.text, unanswerable.answerable) == ("", False)
    assert dataset.qrels == {"q1": {"d1": 2, "d2": 0}}


def test_another_corpus_takes_the_place_of_the_first(folder: Path) -> None:
    write(folder / "masked.jsonl", json.dumps({"id": "d1", "text": "masked"}), json.dumps({"id": "d2", "text": "b"}))
    assert load_dataset(folder, corpus=folder / "masked.jsonl").corpus[0].text == "masked"


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("corpus.jsonl", "{", r"corpus\.jsonl, line 3: Invalid JSON"),
        ("corpus.jsonl", '{"id": "d1", "text": "again"}', r"corpus\.jsonl: the id 'd1' is used twice"),
        ("corpus.jsonl", '{"id": 7, "text": "a"}', r"line 3: id: Input should be a valid string"),
        ("qrels.dev.tsv", "q1 d1 1", r"qrels\.dev\.tsv, line 4: must have three fields"),
        ("qrels.dev.tsv", "q1\td1\thigh", r"line 4: the grade must be a whole number, not 'high'"),
        ("qrels.dev.tsv", "q9\td1\t1", r"line 4: the query 'q9' is not in the queries file"),
        ("qrels.dev.tsv", "q1\td9\t1", r"line 4: the document 'd9' is not in the corpus"),
    ],
)
def test_bad_line_is_named(folder: Path, name: str, line: str, message: str) -> None:
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(InvalidInput, match=message):
        load_dataset(folder)


def test_missing_or_foreign_file_is_named(folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"There is no file .*queries\.test\.jsonl"):
        load_dataset(folder, split="test")
    (folder / "corpus.jsonl").write_bytes(b'{"id": "\xff"}')
    with pytest.raises(InvalidInput, match=r"corpus\.jsonl” cannot be read as text"):
        load_dataset(folder)
