"""Settings of the registry of transformers that changes frequencies, and the calls of posenc."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from calls import Call
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from posenc import scaling
from posenc.absolute import frequencies


@dataclass(frozen=True)
class Setting:
    """Rope parameters as a configuration has them, and the same asked of posenc."""

    parameters: Mapping[str, Any]
    trained: int
    """max_position_embeddings of the configuration."""
    length: int | None
    """Current length, where the method depends on it."""
    function: str
    arguments: Mapping[str, Any]

    def ours(self) -> scaling.Rope:
        """Return what posenc gives."""
        return getattr(scaling, self.function)(**self.arguments)

    def theirs(self) -> tuple[np.ndarray, float]:
        """Return frequencies and attention factor of the registry, for heads of 16."""
        return registry(self.parameters, self.trained, self.length, head_width=16)

    def call(self, name: str) -> Call:
        """Return the frequencies and, after them, the attention factor, as one result."""
        speeds, factor = self.theirs()
        return Call(
            name=name,
            peer=f"transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS"
            f"[{self.parameters['rope_type']!r}]",
            function=f"posenc.scaling.{self.function}",
            arguments=self.arguments,
            result=np.array([*speeds.tolist(), factor]),
        )


def registry(
    parameters: Mapping[str, Any], trained: int, length: int | None, head_width: int
) -> tuple[np.ndarray, float]:
    """Return what the method of `parameters` gives for a configuration with its length."""
    config = LlamaConfig(
        hidden_size=4 * head_width,
        num_attention_heads=4,
        max_position_embeddings=trained,
        rope_parameters={"rope_theta": 10_000.0, **parameters},
    )
    initialise = ROPE_INIT_FUNCTIONS[parameters["rope_type"]]
    speeds, factor = initialise(config, "cpu", seq_len=length)
    return speeds.numpy(), factor


SHORT = [1.0, 1.0, 1.1, 1.2, 1.3, 1.5, 1.5, 2.0]
LONG = [1.0, 1.5, 3.0, 6.0, 12.0, 24.0, 31.0, 33.0]
YARN = {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096}
BANDS = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
LONGROPE = {
    "rope_type": "longrope",
    "factor": 32.0,
    "original_max_position_embeddings": 4096,
    "short_factor": SHORT,
    "long_factor": LONG,
}

PLAIN = {"width": 16, "base": 1e4}
GROWN = {"factor": 2, "original_length": 2048}
STRETCHED = {**PLAIN, "factor": 16, "original_length": 4096}
SEARCHED = {
    **PLAIN,
    "factor": 32,
    "original_length": 4096,
    "short_factor": SHORT,
    "long_factor": LONG,
}


def _linear(name: str, width: int, **parameters: Any) -> tuple[str, Setting]:
    arguments = {"frequencies": frequencies(width), "factor": 4}
    parameters = {"rope_type": "linear", "factor": 4.0, **parameters}
    return name, Setting(parameters, 8192, None, "position_interpolation", arguments)


def _dynamic(
    name: str, factor: float, length: int | None, function: str, arguments: Mapping[str, Any]
) -> tuple[str, Setting]:
    parameters = {"rope_type": "dynamic", "factor": factor}
    return name, Setting(parameters, 2048, length, function, {**PLAIN, **arguments})


def _yarn(name: str, base: float = 1e4, **options: Any) -> tuple[str, Setting]:
    """Options are named alike on both sides."""
    parameters = {**YARN, **options, "rope_theta": base}
    return name, Setting(parameters, 65_536, None, "yarn", {**STRETCHED, "base": base, **options})


def _longrope(name: str, length: int | None) -> tuple[str, Setting]:
    return name, Setting(LONGROPE, 131_072, length, "longrope", {**SEARCHED, "length": length})


def _llama3(name: str, base: float = 1e4, **options: Any) -> tuple[str, Setting]:
    arguments = {**PLAIN, "factor": 8, "original_length": 8192, "base": base, **options}
    return name, Setting(
        {**BANDS, **options, "rope_theta": base}, 131_072, None, "llama3", arguments
    )


def _proportional(name: str, base: float, share: float, factor: float) -> tuple[str, Setting]:
    parameters = {
        "rope_type": "proportional",
        "rope_theta": base,
        "partial_rotary_factor": share,
        "factor": factor,
    }
    arguments = {"width": 16, "base": base, "fraction": share, "factor": factor}
    return name, Setting(parameters, 131_072, None, "proportional", arguments)


SETTINGS = dict(
    [
        _linear("linear", 16),
        _linear("linear, half of the head", 8, partial_rotary_factor=0.5),
        _dynamic("dynamic, within", 2.0, None, "dynamic_ntk", {**GROWN, "length": 2048}),
        _dynamic("dynamic, twice the length", 2.0, 4096, "dynamic_ntk", {**GROWN, "length": 4096}),
        # The factor is no ratio of lengths: with 1 it is the rule of the paper, a stretch of 4.
        _dynamic("dynamic, factor 1", 1.0, 8192, "ntk_aware", {"factor": 4}),
        _yarn("yarn"),
        _yarn("yarn, base 1e6", 1e6),
        _yarn("yarn, not truncated", truncate=False),
        _yarn("yarn, other turns", beta_fast=16.0, beta_slow=2.0),
        _yarn("yarn, a step", beta_fast=1.0, beta_slow=1.0),
        _yarn("yarn, a step between pairs", beta_fast=1.0, beta_slow=1.0, truncate=False),
        _yarn("yarn, attention factor given", attention_factor=1.25),
        _yarn("yarn, equal mscales", mscale=0.707, mscale_all_dim=0.707),
        _yarn("yarn, two mscales", mscale=1.0, mscale_all_dim=0.5),
        _yarn("yarn, one mscale", mscale_all_dim=0.5),
        _longrope("longrope, within", None),
        _longrope("longrope, at the trained length", 4096),
        _longrope("longrope, beyond", 4097),
        _llama3("llama3"),
        _llama3("llama3, base 5e5, factor 32", 5e5, factor=32.0),
        # Llama 4: both bounds equal, so that the peer divides 0 by 0 and then does not use it.
        _llama3("llama3, a step", 5e5, factor=16.0, low_freq_factor=1.0, high_freq_factor=1.0),
        _proportional("proportional, a quarter", 1e6, 0.25, 1.0),
        _proportional("proportional, slowed", 1e4, 0.5, 2.0),
    ]
)
