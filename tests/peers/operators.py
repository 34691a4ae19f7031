"""The operators of ONNX, and of ONNX Runtime, that rotate."""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from posenc.absolute import frequencies

LAYOUTS = {"half-split": 0, "interleaved": 1}


def operator(domain, **attributes):
    """Return a model of one node; the two operators order their inputs differently."""
    tables = ["cosine", "sine"]
    inputs = ["x", "positions", *tables] if domain else ["x", *tables, "positions"]
    graph = helper.make_graph(
        [helper.make_node("RotaryEmbedding", inputs, ["turned"], domain=domain, **attributes)],
        "rotary",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("positions", TensorProto.INT64, None),
            helper.make_tensor_value_info("cosine", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("sine", TensorProto.FLOAT, None),
        ],
        [helper.make_tensor_value_info("turned", TensorProto.FLOAT, None)],
    )
    sets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=10)


def turn(x, positions, domain, evaluator, layout, width):
    """Return x turned; cosine and sine come from float64 angles."""
    angles = np.outer(np.arange(positions.max() + 1), frequencies(width))
    attributes = {"interleaved": LAYOUTS[layout]}
    if width < x.shape[-1]:
        attributes["rotary_embedding_dim"] = width
        if domain:
            attributes["num_heads"] = x.shape[1]
    model = operator(domain, **attributes)
    inputs = {
        "x": x,
        "positions": positions,
        "cosine": np.cos(angles).astype(np.float32),
        "sine": np.sin(angles).astype(np.float32),
    }
    if evaluator == "reference":
        return ReferenceEvaluator(model).run(None, inputs)[0]
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, inputs)[0]
