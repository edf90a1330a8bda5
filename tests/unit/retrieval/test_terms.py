import math

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.text.terms import compute_lexical_weights, compute_query_weights, count_terms, extract_terms, hash_term

CORPUS = [
    "滚动更新期间 maxUnavailable 限制不可用的 Pod 数量。",
    "Running pods are restarted by the kubelet when a probe fails.",
    "员工每年有十五天年假，未用完的年假可以结转。",
    "The kube-apiserver exposes the API; kube-proxy runs on each node.",
    "年假 annual leave",
]
QUESTIONS = ["年假有几天？", "restart failing pod", "what does kube-apiserver expose", "最多不可用 Pod"]


def test_text_is_cut_into() -> None:
    for text, expected in (
        ("年假", ["年", "年假", "假"]),
        ("臺灣產品", ["台", "台湾", "湾", "湾产", "产", "产品", "品"]),
        ("ＡＰＩ ⼯作", ["api", "工", "工作", "作"]),
        ("running Pods", ["run", "pod"]),
        ("maxUnavailable", ["maxunavail", "max", "unavail"]),
        ("kube-apiserver", ["kube", "apiserv", "kube-apiserver"]),
        ("v1.27 und 3.5", ["1.27", "und", "3.5"]),
        ("K8s节点", ["k8s", "节", "节点", "点"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("대한 헌", ["대한", "헌"]),
        ("，。 —", []),
        ("\ud800", []),
    ):
        assert extract_terms(text) == expected


def test_identifier_is_found_by_its_part_and_whole() -> None:
    whole = extract_terms("app.kubernetes.io/name")
    assert "app.kubernetes.io/name" in whole
    assert set(extract_terms("kubernetes name")) <= set(whole)


@given(st.text())
def test_term_ids_fit_the_sparse_vector_for_any_text(text: str) -> None:
    assert all(1 <= number <= 999_999_999 and count > 0 for number, count in count_terms(text).items())


def test_term_ids_never_change() -> None:
    assert [hash_term("的"), hash_term("pod"), hash_term("年假")] == [848771743, 51012460, 262906363]


def test_ranking_equals_bm25s_to_the_digit() -> None:
    cut = [extract_terms(text) for text in CORPUS]
    oracle = bm25s.BM25(k1=1.2, b=0.75)
    oracle.index(cut, show_progress=False)
    frequencies = {hash_term(term): sum(term in text for text in cut) for text in cut for term in text}
    average = sum(map(len, cut)) / len(cut)
    for question in QUESTIONS:
        asked = extract_terms(question)
        weights = compute_query_weights(map(hash_term, asked), frequencies, len(cut))
        ours = [
            sum(weights.get(term, 0) * value for term, value in weighed.items())
            for weighed in (
                compute_lexical_weights(count_terms(t), len(c), average) for t, c in zip(CORPUS, cut, strict=True)
            )
        ]
        theirs = oracle.get_scores([term for term in asked if term in oracle.vocab_dict])
        ratio = np.array(ours)[theirs > 0] / theirs[theirs > 0]
        assert np.flatnonzero(ours).tolist() == np.flatnonzero(theirs).tolist()
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-5)


def test_unknown_terms_lower_every_score() -> None:
    known = compute_query_weights([1], {1: 3}, 10)
    mixed = compute_query_weights([1, 99], {1: 3}, 10)
    assert known == {1: 1.0}
    assert set(mixed) == {1}
    assert mixed[1] == pytest.approx(math.log1p(7.5 / 3.5) / (math.log1p(7.5 / 3.5) + math.log1p(10.5 / 0.5)))
