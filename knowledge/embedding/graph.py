"""The bundled model as an ONNX graph, written node by node: no torch, no exporter.

One text per run and no attention mask: nothing is padded, and since activations are quantised per tensor, a text alone
gets the same vector whatever else is embedded. Operators of `com.microsoft` are onnxruntime's own fused kernels. Its
SkipLayerNormalization is not used: on a CPU it takes 0.52 ms where Add and LayerNormalization take 0.08 ms, so the
session must be told not to fuse them (`bundled._Runtime`).
"""

from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from knowledge.embedding.model_files import INPUT, SENTENCE, TOKENS
from knowledge.embedding.weights import FourBit, WeightFile

OPSET, IR_VERSION = 21, 10  # the first opset with 4-bit tensors
# 7 bits: with 8, CPUs without VNNI saturate their 16-bit sums and give other vectors (onnxruntime: "reduce_range")
WEIGHT_LEVELS = 63
LOUD_CHANNELS, REACH = 128, 5.0  # of the feed-forward channels; standard deviations that an activation may reach

Floats: TypeAlias = NDArray[np.float32]


class GraphBuilder:
    """Collects nodes and constants; every method adds one step and returns the name of its result."""

    def __init__(self, weights: WeightFile) -> None:
        self.weights = weights
        self.shape = weights.shape
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def tensor(self, name: str) -> str:
        """Return a float tensor of the weight file, under its own name."""
        return self.constant(name, self.weights.floats(name))

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Return a standard operator, or onnxruntime's own one when `kind` is written as `ms.Kind`."""
        prefix, _, name = kind.rpartition(".")
        domain = "com.microsoft" if prefix else ""
        self.nodes.append(helper.make_node(name, inputs, [output], domain=domain, **attributes))
        return output

    def dense(self, source: str, weight: Floats, bias: Floats | None, output: str) -> str:
        """Add source @ weight.T + bias with int8 weights, one scale per output, and int8 activations, one for all.

        weight: (outputs, inputs). bias: (outputs,), or None where another part of the same sum brings it.
        """
        scale = np.abs(weight).max(axis=1) / WEIGHT_LEVELS
        quantised = np.round(weight / scale[:, None]).astype(np.int8).T
        inputs = [
            source,
            self.constant(f"{output}.int8", quantised),
            self.constant(f"{output}.scale", scale),
            self.constant(f"{output}.zero", np.zeros(len(scale), np.int8)),
        ]
        if bias is not None:
            inputs.append(self.constant(f"{output}.bias", bias))
        return self.node("ms.DynamicQuantizeMatMul", inputs, output)

    def matrix(self, name: str, columns: int) -> Floats:
        return self.weights.four_bit(f"{name}.w", columns).dequantised()

    def bias(self, name: str) -> Floats:
        return self.weights.floats(f"{name}.b")

    def word_embeddings(self) -> str:
        """Add the look-up of vocabulary rows; the vocabulary stays in its 4 bits."""
        matrix = self.weights.four_bit("emb.word", self.shape.hidden)
        self.constants.append(build_int4_tensor("emb.word", matrix))
        scales = self.constant("emb.word.scale", matrix.scales.astype(np.float32))
        block = {"block_size": self.shape.block, "gather_axis": 0, "quantize_axis": 1}
        return self.node("ms.GatherBlockQuantized", ["emb.word", INPUT, scales], "words", **block)

    def embeddings(self) -> str:
        """Add word + position + type 0, normalised."""
        hidden = self.shape.hidden
        table = self.weights.floats("emb.pos").reshape(-1, hidden) + self.weights.floats("emb.type")[:hidden]
        positions = self.constant("positions", table)
        zero = self.constant("zero", np.array([0]))
        # a 1-D length: as a scalar it fails at run time after optimisation ("Starts must be a 1-D array")
        length = self.node("Shape", [INPUT], "length", start=1, end=2)
        used = self.node("Slice", [positions, zero, length, zero], "used_positions")
        total = self.node("Add", [self.word_embeddings(), used], "embedded")
        return self.normalise(total, "emb.ln", "x")

    def normalise(self, source: str, name: str, output: str) -> str:
        inputs = [source, self.tensor(f"{name}.w"), self.tensor(f"{name}.b")]
        return self.node("LayerNormalization", inputs, output, axis=-1, epsilon=self.shape.epsilon)

    def attention(self, source: str, at: str) -> str:
        names = [f"{at}.q", f"{at}.k", f"{at}.v"]
        weight = np.concatenate([self.matrix(name, self.shape.hidden) for name in names])
        packed = self.dense(source, weight, np.concatenate([self.bias(name) for name in names]), f"{at}.qkv")
        parts = [f"{at}.query", f"{at}.key", f"{at}.value"]
        self.nodes.append(helper.make_node("Split", [packed], parts, axis=-1, num_outputs=3))
        context = self.node("ms.MultiHeadAttention", parts, f"{at}.context", num_heads=self.shape.heads)
        return self.dense(context, self.matrix(f"{at}.ao", self.shape.hidden), self.bias(f"{at}.ao"), f"{at}.attended")

    def feed_forward(self, source: str, at: str) -> str:
        """Return the two wide products, with the loudest channels in a group of their own.

        A few of the 1,536 channels reach tens of times the size of the others, and one scale for all would round those
        away. Two groups have a scale each: the mean cosine to float32 rises from 0.9966 to 0.9988 for no time.
        """
        wide, bias = self.matrix(f"{at}.fi", self.shape.hidden), self.bias(f"{at}.fi")
        narrow = self.matrix(f"{at}.fo", self.shape.feed_forward)
        gain, offset = self.weights.floats(f"{at}.aln.w"), self.weights.floats(f"{at}.aln.b")
        # what enters is offset + gain * (zero mean, unit variance): so a channel's reach follows from the weights alone
        reach = wide @ offset + bias + REACH * np.linalg.norm(wide * gain, axis=1)
        loudest_first = np.argsort(-reach, kind="stable")
        parts = []
        for number, channels in enumerate(np.split(loudest_first, [LOUD_CHANNELS])):
            name = f"{at}.group{number}"
            opened = self.dense(source, wide[channels], bias[channels], f"{name}.wide")
            active = self.node("ms.Gelu", [opened], f"{name}.gelu")
            last = self.bias(f"{at}.fo") if number == 0 else None
            parts.append(self.dense(active, narrow[:, channels], last, f"{name}.narrow"))
        return self.node("Add", parts, f"{at}.fed_forward")

    def layer(self, source: str, at: str, output: str) -> str:
        """Add one transformer layer of BERT, normalised after each residual."""
        attended = self.node("Add", [source, self.attention(source, at)], f"{at}.sum")
        middle = self.normalise(attended, f"{at}.aln", f"{at}.middle")
        total = self.node("Add", [middle, self.feed_forward(middle, at)], f"{at}.total")
        return self.normalise(total, f"{at}.oln", output)

    def build(self) -> onnx.ModelProto:
        x = self.embeddings()
        for number in range(self.shape.layers):
            at = f"l{number}"
            x = self.layer(x, at, TOKENS if number == self.shape.layers - 1 else f"{at}.out")
        mean = self.node("ReduceMean", [x, self.constant("token_axis", np.array([1]))], "mean", keepdims=0)
        self.node("LpNormalization", [mean], SENTENCE, axis=-1, p=2)
        hidden = self.shape.hidden
        graph = helper.make_graph(
            self.nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info(INPUT, TensorProto.INT64, [1, "tokens"])],
            [
                helper.make_tensor_value_info(SENTENCE, TensorProto.FLOAT, [1, hidden]),
                helper.make_tensor_value_info(TOKENS, TensorProto.FLOAT, [1, "tokens", hidden]),
            ],
            self.constants,
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def build_int4_tensor(name: str, matrix: FourBit) -> onnx.TensorProto:
    """Return the matrix as ONNX INT4: two's complement, two values a byte, the first in the low half."""
    values = matrix.values().reshape(len(matrix.nibbles), -1) ^ 8  # n - 8 in four bits
    tensor = onnx.TensorProto(name=name, data_type=TensorProto.INT4, dims=values.shape)
    tensor.raw_data = (values[:, 0::2] | (values[:, 1::2] << 4)).tobytes()
    return tensor
