import sys
from pathlib import Path

import numpy as np
import pytest

from knowledge.retrieval.rerank.base import Finalist, RerankerUnavailable, RerankQuery
from knowledge.retrieval.rerank.cross_encoder import CrossEncoderReranker


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(RerankerUnavailable, match="install the extra `models`"):
        CrossEncoderReranker("some/model", cache_dir=tmp_path).score("a", ["b"])


def save_cross_encoder(folder: Path, labels: int) -> str:
    """A cross-encoder with random weights: what it says means nothing, that it says it does."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    torch.manual_seed(7)
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh年假密码"]))
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(
        vocab_size=17,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        num_labels=labels,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


@pytest.mark.models
def test_cross_encoder_scores_each_pair_in_order(tmp_path: Path) -> None:
    scorer = CrossEncoderReranker(save_cross_encoder(tmp_path / "model", labels=1), cache_dir=tmp_path)
    texts = ["a b c", "年 假", "d \ud800 e", "", "f " * 500]
    question = RerankQuery("年 假")
    scores = scorer.rerank(question, [Finalist(text=text) for text in texts])
    assert scores.shape == (5,)
    assert scores.dtype == np.float32
    assert len(set(scores.tolist())) > 1
    np.testing.assert_allclose(scorer.score("年 假", texts[::-1])[::-1], scores, atol=1e-5)
    assert scorer.score("年 假", []).shape == (0,)


@pytest.mark.models
def test_cross_encoder_of_several_labels_is_refused(tmp_path: Path) -> None:
    scorer = CrossEncoderReranker(save_cross_encoder(tmp_path / "model", labels=3), cache_dir=tmp_path)
    with pytest.raises(RerankerUnavailable, match="gives 3 scores a pair"):
        scorer.score("a", ["b"])


@pytest.mark.models
def test_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RerankerUnavailable, match="could not be loaded"):
        CrossEncoderReranker(str(tmp_path / "nothing"), cache_dir=tmp_path).score("a", ["b"])
