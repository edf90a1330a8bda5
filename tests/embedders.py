"""Embedders for tests: the bundled model, a service that speaks over HTTP, and an export for sentence-transformers."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from knowledge.embedding.bundled import BundledEmbedder
from knowledge.embedding.convert import prepare_model
from knowledge.embedding.weights import WeightFile, find_weight_file
from tests.homes import Checkout

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / ".copilot-tests" / "models"

Answer = tuple[int, Any]


@cache
def bundled_model() -> Path:
    """The cache folder with the converted model; converted once for all test runs."""
    prepare_model(MODELS)
    return MODELS


def home_with_model(root: Path) -> Checkout:
    """A new home in which the model, no part of a backup, need not be made again."""
    root.mkdir(mode=0o700)
    checkout = Checkout(root)
    checkout.home.models.symlink_to(bundled_model())
    return checkout


@cache
def bundled() -> BundledEmbedder:
    return BundledEmbedder(bundled_model(), threads=2)


class EmbeddingService:
    """What a service answers: the vectors of `vectors_of`, or the next of `faults` (status and body) while there are any.

    requests: the JSON bodies received, in order. authorization: the last header of that name.
    """

    def __init__(self, vectors_of: Callable[[list[str]], list[list[float]]]) -> None:
        self.vectors_of = vectors_of
        self.faults: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.authorization: str | None = None
        self.base_url = ""
        self.answering = threading.Event()  # cleared, the service accepts requests and keeps silent
        self.answering.set()

    def answer(self, request: dict[str, Any]) -> Answer:
        self.requests.append(request)
        self.answering.wait()
        if self.faults:
            return self.faults.pop(0)
        if any(not text for text in request["input"]):
            return 400, {"error": {"message": "input cannot be an empty string"}}
        return 200, embedding_answer(self.vectors_of(request["input"]))


def embedding_answer(vectors: list[list[float]]) -> dict[str, Any]:
    """The body of a good answer; rows come last first, as a service may send them."""
    rows = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
    return {"object": "list", "model": "served", "data": rows[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@contextmanager
def serving(service: EmbeddingService) -> Iterator[EmbeddingService]:
    """`service` on a free port of this machine while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            service.authorization = self.headers["Authorization"]
            status, body = service.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    service.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield service
    finally:
        service.answering.set()
        server.shutdown()
        server.server_close()
        thread.join()


@cache
def exported_model() -> Path:
    """The bundled weights as an ordinary sentence-transformers folder, float32; written once for all test runs."""
    target = MODELS / "exported" / "multilingual-e5-small"
    if target.exists():
        return target
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    staging = target.with_name("staging")
    _save_transformer(WeightFile(find_weight_file()), staging / "transformer")
    transformer = Transformer(str(staging / "transformer"), max_seq_length=512)
    SentenceTransformer(modules=[transformer, Pooling(384, "mean"), Normalize()], device="cpu").save(
        str(staging / "whole"), create_model_card=False
    )
    (staging / "whole").rename(target)
    return target


def _save_transformer(weights: WeightFile, folder: Path) -> None:
    import torch
    from transformers import BertConfig, BertModel

    shape = weights.shape
    config = BertConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.feed_forward,
        max_position_embeddings=shape.positions,
        type_vocab_size=shape.types,
        layer_norm_eps=shape.epsilon,
        pad_token_id=weights.vocabulary.pad,
    )
    model = BertModel(config, add_pooling_layer=False)
    state = {name: torch.tensor(value) for name, value in _state(weights).items()}
    unexpected = model.load_state_dict(state, strict=False).unexpected_keys
    assert not unexpected, unexpected
    model.save_pretrained(folder)
    _save_tokenizer(weights, folder)


def _state(weights: WeightFile) -> dict[str, Any]:
    hidden, wide = weights.shape.hidden, weights.shape.feed_forward
    state = {
        "embeddings.word_embeddings.weight": weights.four_bit("emb.word", hidden).dequantised(),
        "embeddings.position_embeddings.weight": weights.floats("emb.pos").reshape(-1, hidden),
        "embeddings.token_type_embeddings.weight": weights.floats("emb.type").reshape(-1, hidden),
        "embeddings.LayerNorm.weight": weights.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": weights.floats("emb.ln.b"),
    }
    dense = {
        "q": "attention.self.query",
        "k": "attention.self.key",
        "v": "attention.self.value",
        "ao": "attention.output.dense",
        "fi": "intermediate.dense",
        "fo": "output.dense",
    }
    for number in range(weights.shape.layers):
        at = f"encoder.layer.{number}"
        for short, name in dense.items():
            columns = wide if short == "fo" else hidden
            state[f"{at}.{name}.weight"] = weights.four_bit(f"l{number}.{short}.w", columns).dequantised()
            state[f"{at}.{name}.bias"] = weights.floats(f"l{number}.{short}.b")
        for short, name in (("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm")):
            state[f"{at}.{name}.weight"] = weights.floats(f"l{number}.{short}.w")
            state[f"{at}.{name}.bias"] = weights.floats(f"l{number}.{short}.b")
    return state


def _save_tokenizer(weights: WeightFile, folder: Path) -> None:
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = weights.vocabulary
    pieces = list(zip(vocabulary.pieces, vocabulary.scores, strict=True))
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=vocabulary.unk, byte_fallback=False))
    spaces = normalizers.Replace(Regex(r"\s+"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", vocabulary.bos), ("</s>", vocabulary.eos)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        mask_token="<mask>",
        model_max_length=512,
    ).save_pretrained(folder)
