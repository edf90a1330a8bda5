"""What every registered embedder keeps, whatever stands behind it."""

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from random import Random

import numpy as np
import pytest

from knowledge.embedding import build_embedder
from knowledge.embedding.base import Embedder, embedders
from tests.embedders import MODELS, ROOT, EmbeddingService, bundled, bundled_model, exported_model, serving

PASSAGES = [
    "Employees may take twenty days of paid leave each year.",
    "员工每年享有二十天带薪年假。",
    "Reset your password in the self-service portal.",
    "请在自助门户重置密码。",
    "The canteen serves lunch from noon to two.",
]
NAUGHTY = [
    "",
    " ",
    "\n\t",
    "\0",
    "a\0b",
    "\ud800",
    "报\udfff告",
    "\ufeff",
    "e\u0301" * 600,
    "知识库" * 333_334,
    "<s></s>",
]


@contextmanager
def _bundled() -> Iterator[Embedder]:
    yield build_embedder("bundled", cache_dir=bundled_model(), threads=1)


def _served_vector(text: str) -> list[float]:
    kind, _, content = text.partition(": ")
    vector = bundled().embed_query(content) if kind == "query" else bundled().embed_passages([content])[0]
    return [float(value) for value in vector]


@contextmanager
def _openai_compatible() -> Iterator[Embedder]:
    with serving(EmbeddingService(lambda texts: [_served_vector(text) for text in texts])) as service:
        yield build_embedder("openai_compatible", model="served-e5", base_url=service.base_url, cache_dir=MODELS)


@contextmanager
def _sentence_transformers() -> Iterator[Embedder]:
    yield build_embedder("sentence_transformers", model=str(exported_model()), cache_dir=MODELS, threads=1)


BUILDERS: dict[str, Callable[[], AbstractContextManager[Embedder]]] = {
    "bundled": _bundled,
    "openai_compatible": _openai_compatible,
    "sentence_transformers": _sentence_transformers,
}
MARKS = {"sentence_transformers": [pytest.mark.models]}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=MARKS.get(name, [])) for name in sorted(BUILDERS)])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    with BUILDERS[request.param]() as built:
        yield built


def _naughty_strings() -> list[str]:
    folder = Path(os.environ.get("COPILOT_DATA", ROOT.parent / "shared" / "data"))
    path = folder / "cases" / "naughty_strings.json"
    if not path.exists():
        reason = f"{path} is missing; set COPILOT_DATA"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    strings: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return strings


def test_every_registered_embedder_is_under_this_contract() -> None:
    assert embedders.names() == sorted(BUILDERS)


def test_vectors_are_float32_of_unit_length(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(PASSAGES)
    query = embedder.embed_query("paid leave")
    assert vectors.shape == (len(PASSAGES), embedder.dimensions)
    assert query.shape == (embedder.dimensions,)
    assert vectors.dtype == query.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm([*vectors, query], axis=1), 1, atol=1e-5)


def test_same_text_gives_same_vector_in_any_company_and_order(embedder: Embedder) -> None:
    alone = np.concatenate([embedder.embed_passages([text]) for text in PASSAGES])
    shuffled = Random(7).sample(range(len(PASSAGES)), len(PASSAGES))
    together = embedder.embed_passages([PASSAGES[index] for index in shuffled])
    np.testing.assert_allclose(together, alone[shuffled], atol=1e-5)


def test_several_threads_get_what_one_gets(embedder: Embedder) -> None:
    expected = embedder.embed_passages(PASSAGES)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(embedder.embed_passages, [PASSAGES] * 4):
            np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.dimensions)
    assert embedder.count_tokens([]) == []


@pytest.mark.data
def test_no_string_breaks_it(embedder: Embedder) -> None:
    strings = [*_naughty_strings(), *NAUGHTY]
    vectors = embedder.embed_passages(strings)
    assert vectors.shape == (len(strings), embedder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert min(embedder.count_tokens(strings)) >= 0
    for string in NAUGHTY:
        np.testing.assert_allclose(np.linalg.norm(embedder.embed_query(string)), 1, atol=1e-5)


def test_tokens_grow_with_the_text(embedder: Embedder) -> None:
    none, one, ten = embedder.count_tokens(["", "年假", "年假与病假 " * 10])
    assert none == 0 < one < ten


def test_what_lies_behind_the_limit_is_not_seen(embedder: Embedder) -> None:
    filler = "word " * (embedder.max_tokens * 2)
    first, second = embedder.embed_passages([filler + "年假", filler + "密码"])
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_passage_with_the_answer_is_nearest_in_both_languages(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(PASSAGES)
    for query, answers in (("How many vacation days do I get?", {0, 1}), ("忘记密码怎么办？", {2, 3})):
        best = np.argsort(-(vectors @ embedder.embed_query(query)))[:2]
        assert set(best.tolist()) == answers


def test_space_names_the_embedder(embedder: Embedder) -> None:
    assert embedder.space
    assert embedder.space == embedder.space.strip()
    assert embedder.max_tokens >= 128
