from collections.abc import Iterator

import numpy as np
import pytest

from knowledge.embedding import build_embedder
from knowledge.embedding.base import EmbedderMisconfigured, EmbedderUnavailable
from knowledge.embedding.openai_compatible import ATTEMPTS, BATCH_TEXTS, OpenAICompatibleEmbedder
from tests.contract.test_outgoing_clients import http_server
from tests.embedders import MODELS, EmbeddingService, embedding_answer, serving


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    with serving(EmbeddingService(lambda texts: [[3.0, 4.0 * (len(text) % 2)] for text in texts])) as running:
        yield running


def embedder_of(service: EmbeddingService, model: str = "served", timeout_s: float = 10) -> OpenAICompatibleEmbedder:
    return OpenAICompatibleEmbedder(
        base_url=service.base_url, model=model, api_key="key-1", timeout_s=timeout_s, first_wait_s=0.001
    )


def test_vectors_are_normalised_and_in_order(service: EmbeddingService) -> None:
    vectors = embedder_of(service).embed_passages(["a", "bb"])
    np.testing.assert_allclose(vectors, np.array([[0.6, 0.8], [1.0, 0.0]]), atol=1e-6)
    assert service.authorization == "Bearer key-1"
    assert service.requests == [{"input": ["a", "bb"], "model": "served", "encoding_format": "float"}]


def test_many_texts_travel_in_batches(service: EmbeddingService) -> None:
    assert embedder_of(service).embed_passages(["text"] * (2 * BATCH_TEXTS + 1)).shape == (2 * BATCH_TEXTS + 1, 2)
    assert [len(request["input"]) for request in service.requests] == [BATCH_TEXTS, BATCH_TEXTS, 1]


def test_e5_models_get_their_prefixes(service: EmbeddingService) -> None:
    embedder = embedder_of(service, model="intfloat/multilingual-e5-large")
    embedder.embed_passages(["年假"])
    embedder.embed_query("年假")
    assert [request["input"] for request in service.requests] == [["passage: 年假"], ["query: 年假"]]


@pytest.mark.parametrize("status", [429, 503])
def test_temporary_errors_are_retried(service: EmbeddingService, status: int) -> None:
    service.faults = [(status, {"error": {"message": "busy"}})] * (ATTEMPTS - 1)
    assert embedder_of(service).embed_query("a").shape == (2,)
    assert len(service.requests) == ATTEMPTS


def test_service_that_stays_busy_is_unavailable(service: EmbeddingService) -> None:
    service.faults = [(503, {"error": {"message": "busy"}})] * ATTEMPTS
    with pytest.raises(EmbedderUnavailable, match=f"after {ATTEMPTS} attempts: .*busy"):
        embedder_of(service).embed_query("a")
    assert len(service.requests) == ATTEMPTS


def test_silent_service_is_unavailable_after_the_time_limit(service: EmbeddingService) -> None:
    service.answering.clear()
    with pytest.raises(EmbedderUnavailable, match="did not answer"):
        embedder_of(service, timeout_s=0.05).embed_query("a")


def test_passages_are_not_sent_on_to_another_address(service: EmbeddingService) -> None:
    with http_server(service.base_url, status=307) as server:
        embedder = OpenAICompatibleEmbedder(base_url=server.url, model="served", api_key="key-1", first_wait_s=0.001)
        with pytest.raises(EmbedderMisconfigured, match="307"):
            embedder.embed_query("a")
    assert len(server.requests) == 1
    assert service.requests == []


@pytest.mark.parametrize("status", [401, 404])
def test_refusal_is_not_retried(service: EmbeddingService, status: int) -> None:
    service.faults = [(status, {"error": {"message": "no such model"}})]
    with pytest.raises(EmbedderMisconfigured, match=rf"'served' with status {status}: .*no such model"):
        embedder_of(service).embed_query("a")
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"<html>proxy</html>", "does not answer as an embedding service"),
        ({"data": []}, "sent 0 vectors for 1 texts"),
        (embedding_answer([[1.0, 0.0], [1.0, 0.0]]), "sent 2 vectors for 1 texts"),
        (embedding_answer([[0.0, 0.0]]), "without a direction"),
        (embedding_answer([[float("nan"), 1.0]]), "without a direction"),
        (embedding_answer([[1.0, 0.0, 0.0]]), "3 dimensions where 2 were expected"),
    ],
)
def test_answer_that_is_none_is_named(service: EmbeddingService, body: object, sentence: str) -> None:
    embedder = embedder_of(service)
    assert embedder.dimensions == 2
    service.faults = [(200, body)]
    with pytest.raises(EmbedderMisconfigured, match=sentence):
        embedder.embed_query("a")


@pytest.mark.parametrize(("model", "base_url"), [("served", None), (None, "http://127.0.0.1:9/v1")])
def test_missing_setting_is_named_when_built(model: str | None, base_url: str | None) -> None:
    with pytest.raises(EmbedderMisconfigured, match="needs a base URL and the name of a model"):
        build_embedder("openai_compatible", model=model, base_url=base_url, cache_dir=MODELS)
