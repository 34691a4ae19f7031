"""Records what transformers computes from each configuration in configs.json.

Run it in an environment with transformers 5.24.0 and torch:

    python tests/unit/data/configs/record.py

It writes expected.json and defaults.json beside itself. Every configuration is loaded by the
class named with it; remote-code models are mapped to the class of the same formula. Frequencies
are recorded twice: as the class computes them, in float32, and with float64 put in its place.
"""

import importlib
import json
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import torch
import transformers

HERE = Path(__file__).parent
LENGTHS = {"dynamic": (1, 2, 4), "longrope": (1, 32)}  # multiples of the trained length


def main():
    entries, spectra = [], []
    for item in json.loads((HERE / "configs.json").read_text()):
        if "class" not in item:
            continue  # no rotation
        narrow = record(item)
        with in_float64():
            wide = record(item)
        for first, second in zip(narrow, wide, strict=True):
            values = [shortest(first.pop("frequencies")), second.pop("frequencies")]
            if values not in spectra:
                spectra.append(values)
            entries.append({**first, "spectrum": spectra.index(values)})
    document = {"transformers": transformers.__version__, "torch": torch.__version__}
    text = json.dumps(document)[:-1] + ',\n"entries": [\n'
    text += ",\n".join(json.dumps(entry) for entry in entries) + '\n],\n"spectra": [\n'
    text += ",\n".join(json.dumps(values, separators=(",", ":")) for values in spectra) + "\n]}\n"
    (HERE / "expected.json").write_text(text)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in defaults())
    (HERE / "defaults.json").write_text("{" + lines + "}\n")


def defaults():
    """Yield rope parameters and head width of every class that rotates, made without arguments."""
    for name, config_class in sorted(transformers.CONFIG_MAPPING.items()):
        try:
            config = config_class()
        except Exception as error:  # noqa: BLE001 (a class that needs arguments has no defaults)
            print(f"no defaults: {name} ({type(error).__name__})")
            continue
        parameters = dict(getattr(config, "rope_parameters", None) or {})
        if hasattr(config, "qk_rope_head_dim"):
            parameters["qk_rope_head_dim"] = config.qk_rope_head_dim
        if parameters and parameters.get("rope_type") != "axial":
            yield name, parameters


def in_float64():
    stack = ExitStack()
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    stack.callback(torch.set_default_dtype, before)
    stack.enter_context(mock.patch.multiple(torch, float=torch.float64, float32=torch.float64))
    stack.enter_context(mock.patch.object(torch.Tensor, "float", torch.Tensor.double))
    return stack


def shortest(values):
    """Fewest digits that give the same float32."""
    return [float(str(torch.tensor(value, dtype=torch.float32).numpy())) for value in values]


def record(item):
    if "rotary" not in item:
        return [sinusoid_table(item)]
    config = load(item)
    rotary = getattr(importlib.import_module(modeling_of(config)), item["rotary"])(config)
    types = getattr(rotary, "rope_type", None)
    if not isinstance(types, dict):
        return [one(item, config, rotary, None, length) for length in lengths(config, types)]
    return [one(item, config, rotary, name, None) for name in types]


def modeling_of(config):
    return type(config).__module__.replace("configuration_", "modeling_")


def load(item):
    values = dict(item["config"].get("text_config", item["config"]))
    for name, value in item.get("with", {}).items():
        block, _, key = name.rpartition(".")
        if block:
            values[block] = {**values[block], key: value}
        else:
            values[key] = value
    if values.get("model_type") == "qwen":
        values["rope_theta"] = values["rotary_emb_base"]
    return getattr(transformers, item["class"]).from_dict(json.loads(json.dumps(values)))


def lengths(config, rope_type):
    if rope_type not in LENGTHS:
        return [None]
    trained = config.rope_parameters.get("original_max_position_embeddings")
    trained = config.max_position_embeddings if rope_type == "dynamic" else trained
    return [multiple * trained for multiple in LENGTHS[rope_type]]


def one(item, config, rotary, layer_type, length):
    if length is not None:
        rotary(torch.zeros(1), torch.tensor([[length - 1]]))
    prefix = "" if layer_type is None else f"{layer_type}_"
    parameters = config.rope_parameters
    method = rotary.rope_type if layer_type is None else rotary.rope_type[layer_type]
    result = {
        "model": item["model"],
        "spelling": item["spelling"],
        "layer_type": layer_type,
        "length": length,
        "method": method,
        "attention_factor": float(getattr(rotary, f"{prefix}attention_scaling")),
        "frequencies": getattr(rotary, f"{prefix}inv_freq").tolist(),
    }
    if getattr(config, "no_rope_layers", None):
        result["turning_layers"] = list(config.no_rope_layers)
    if hasattr(config, "qk_head_dim") and "mscale_all_dim" in parameters:
        module = importlib.import_module(modeling_of(config))
        if hasattr(module, "yarn_apply_mscale"):
            result["softmax_factor"] = module.yarn_apply_mscale(parameters, 1.0)
    return result


def sinusoid_table(item):
    """GPT-J and CodeGen have a table of sines instead of frequencies."""
    name = item["class"]
    module = importlib.import_module(f"transformers.models.{name}.modeling_{name}")
    width = item["config"]["rotary_dim"]
    sines = module.create_sinusoidal_positions(2, width)[1, : width // 2]
    return {
        "model": item["model"],
        "spelling": item["spelling"],
        "layer_type": None,
        "length": None,
        "method": "default",
        "attention_factor": 1.0,
        "frequencies": torch.asin(sines).tolist(),
    }


if __name__ == "__main__":
    main()
