"""posenc.config against what transformers 5.24.0 computes, and against public mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest

from posenc.absolute import frequencies
from posenc.config import ConfigError, PositionScheme, _models, read

DATA = Path(__file__).parent / "data" / "configs"
CONFIGS = json.loads((DATA / "configs.json").read_text())
DEFAULTS = json.loads((DATA / "defaults.json").read_text())
EXPECTED = json.loads((DATA / "expected.json").read_text())
BY_NAME = {(item["model"], item["spelling"]): item["config"] for item in CONFIGS}
PUBLISHED = "as published"

# Where the recorded class is not the one the configuration names.
METHODS = {"ntk_alpha": "ntk-aware"}
SUPPLEMENTED = {
    # Three fields of a larger file; the widths are those of the model it belongs to.
    "Qwen/Qwen2.5-7B-Instruct-1M": {"hidden_size": 3584, "num_attention_heads": 28},
}

# Types whose files have a block of parameters for each layer type.
WITHOUT_DEFAULTS = {
    *("beam", "diffusion_gemma_text", "dory", "dots3_note_text", "embedding_gemma2_text"),
    *("gemma4_text", "gemma4_unified_text", "laguna", "lfm3", "mellum", "neomme", "step3p5"),
    *("ultrabert", "zaya"),
}
KNOWN = {
    model for model in DEFAULTS if _models.known(_models.ALIASES.get(model, model))
} - WITHOUT_DEFAULTS
# What some types cannot do without.
NEEDED = {
    "bamba": {"attn_layer_indices": [1]},
    "granitemoehybrid": {"position_embedding_type": "rope"},
    "zamba2": {"use_mem_rope": True},
}

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}


def config_of(model, spelling=PUBLISHED):
    return {**BY_NAME[model, spelling], **SUPPLEMENTED.get(model, {})}


def llama(**fields):
    return {
        "model_type": "llama",
        "hidden_size": 1024,
        "num_attention_heads": 8,
        "num_hidden_layers": 4,
        "max_position_embeddings": 8192,
        "rope_theta": 10_000.0,
        **fields,
    }


def bare(model):
    return {
        "model_type": model,
        "hidden_size": 4000,
        "num_attention_heads": 50,
        "num_hidden_layers": 12,
        "max_position_embeddings": 2**20,
        # Not the default, but needed for the width of a head with a rotated slice.
        **({"qk_nope_head_dim": 128} if "qk_rope_head_dim" in DEFAULTS[model] else {}),
    }


def noted(scheme, *parts):
    return any(all(part in note for part in parts) for note in scheme.notes)


def name_of(entry):
    return "-".join(str(entry[key]) for key in ("model", "spelling", "layer_type", "length"))


class TestAgainstTransformers:
    def test_the_record_is_complete(self):
        recorded = {(entry["model"], entry["spelling"]) for entry in EXPECTED["entries"]}
        rotating = {(item["model"], item["spelling"]) for item in CONFIGS if "class" in item}
        assert recorded == rotating
        assert EXPECTED["transformers"] == "5.24.0"
        assert len(EXPECTED["entries"]) == 109

    @pytest.mark.parametrize("entry", EXPECTED["entries"], ids=name_of)
    def test_frequencies(self, entry):
        config = config_of(entry["model"], entry["spelling"])
        scheme = read(config, length=entry["length"], layer=entry["layer_type"])
        narrow, wide = map(np.array, EXPECTED["spectra"][entry["spectrum"]])
        assert scheme.kind == "rope"
        assert scheme.rotary_width == 2 * wide.size
        assert scheme.rope.frequencies == pytest.approx(wide, rel=1e-12, abs=0)
        assert scheme.rope.frequencies == pytest.approx(narrow, rel=1e-6, abs=0)
        assert scheme.rope.attention_factor == pytest.approx(entry["attention_factor"], rel=1e-12)
        assert scheme.method == METHODS.get(entry["method"], entry["method"])
        if "turning_layers" in entry:
            assert [int(turn) for turn in scheme.turning_layers] == entry["turning_layers"]
        if "softmax_factor" in entry:
            assert scheme.softmax_factor == pytest.approx(entry["softmax_factor"], rel=1e-12)
        else:
            assert scheme.softmax_factor == 1

    @pytest.mark.parametrize(
        "item", CONFIGS, ids=lambda item: f"{item['model']}-{item['spelling']}"
    )
    def test_the_layout_of_each_is_known(self, item):
        scheme = read(config_of(item["model"], item["spelling"]))
        if item["model"] in SUPPLEMENTED:
            assert scheme.layout is None
            assert noted(scheme, "model_type is missing")
        else:
            assert (scheme.layout is None) == (scheme.kind != "rope")

    def test_most_rotating_classes_are_known(self):
        assert len(KNOWN) == 141
        for model in set(DEFAULTS) - KNOWN - WITHOUT_DEFAULTS - {"kimi_linear"}:
            with pytest.raises(ConfigError, match=f"'{model}' is not known"):
                read(bare(model))

    @pytest.mark.parametrize("model", sorted(KNOWN))
    def test_defaults(self, model):
        recorded = dict(DEFAULTS[model])
        rotary = recorded.pop("qk_rope_head_dim", None)
        by_type = any(isinstance(block, dict) for block in recorded.values())
        for layer, block in recorded.items() if by_type else [(None, recorded)]:
            scheme = read({**bare(model), **NEEDED.get(model, {})}, layer=layer)
            assert scheme.layout is not None
            assert scheme.base == block["rope_theta"]
            assert scheme.method == block["rope_type"]
            share = block.get("partial_rotary_factor", 1.0)
            assert scheme.rotary_width == (rotary or int(scheme.head_width * share))

    @pytest.mark.parametrize("model", sorted(WITHOUT_DEFAULTS))
    def test_types_that_must_tell_by_layer_type(self, model):
        with pytest.raises(ConfigError, match="has other positions in each layer type"):
            read(bare(model))
        blocks = {
            name: block for name, block in DEFAULTS[model].items() if name != "qk_rope_head_dim"
        }
        for name, block in blocks.items():
            scheme = read({**bare(model), "rope_parameters": blocks}, layer=name)
            assert scheme.base == (None if block is None else block["rope_theta"])

    def test_the_excerpt_is_refused_as_it_is(self):
        with pytest.raises(ConfigError, match="head_dim is missing"):
            read(BY_NAME["Qwen/Qwen2.5-7B-Instruct-1M", PUBLISHED])

    def test_the_old_key_is_ignored_where_the_class_ignores_it(self):
        scheme = read(config_of("google/gemma-3-4b (Megatron-Bridge sample)"))
        assert scheme.method == "default"
        assert noted(scheme, "old key type 'linear'", "nothing is scaled")
        assert noted(scheme, "factor is ignored")
        config = config_of("google/gemma-3-4b (Megatron-Bridge sample)")
        config["rope_scaling"] = {"factor": 8.0, "rope_type": "linear"}
        assert read(config).rope.frequencies == pytest.approx(scheme.rope.frequencies / 8)


class TestKindsWithoutRotation:
    @pytest.mark.parametrize(
        ("model", "kind", "details"),
        [
            ("gpt2", "learned", {"rows": 1024, "position_offset": 0, "longest": 1024}),
            ("bigscience/bloom-560m", "alibi", {"heads": 16}),
            (
                "google/flan-t5-base",
                "relative-bias",
                {"heads": 12, "buckets": 32, "max_distance": 128},
            ),
            ("moonshotai/Kimi-K3", "none", {}),
            ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "none", {}),
            ("nvidia/Nemotron-H-56B-Base-8K", "none", {}),
        ],
    )
    def test_published(self, model, kind, details):
        scheme = read(config_of(model))
        assert (scheme.kind, dict(scheme.details)) == (kind, details)
        assert scheme.rope is None
        assert scheme.rotary_width == 0

    def test_ignored_fields_are_noted(self):
        assert noted(read(config_of("bigscience/bloom-560m")), "offset_alibi is ignored")
        nemotron = read(config_of("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"))
        assert noted(nemotron, "rope_theta is ignored")

    @pytest.mark.parametrize(
        ("config", "kind", "details"),
        [
            (
                {"model_type": "opt", "max_position_embeddings": 2048},
                "learned",
                {"rows": 2050, "position_offset": 2, "longest": 2048},
            ),
            (
                {"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1},
                "learned",
                {"rows": 514, "position_offset": 2, "longest": 512},
            ),
            (
                {"model_type": "bert", "max_position_embeddings": 512},
                "learned",
                {"rows": 512, "position_offset": 0, "longest": 512},
            ),
            ({"model_type": "marian", "d_model": 512}, "sinusoidal", {"width": 512}),
            ({"model_type": "mpt", "n_heads": 32}, "alibi", {"heads": 32}),
            (
                {"model_type": "mpt", "n_heads": 4, "attn_config": {"alibi_bias_max": 16}},
                "alibi",
                {"heads": 4, "max_exponent": 16},
            ),
            (
                {"model_type": "falcon", "alibi": True, "num_attention_heads": 71},
                "alibi",
                {"heads": 71},
            ),
            (
                {"model_type": "baichuan", "hidden_size": 5120, "num_attention_heads": 40},
                "alibi",
                {"heads": 40},
            ),
            ({"model_type": "mamba"}, "none", {}),
            ({"model_type": "zamba2"}, "none", {}),
            ({"model_type": "granitemoehybrid"}, "none", {}),
            (
                {"model_type": "bert", "position_embedding_type": "relative_key"},
                "relative-bias",
                {},
            ),
            (
                {"model_type": "esm", "max_position_embeddings": 1026, "pad_token_id": 1},
                "learned",
                {"rows": 1026, "position_offset": 2, "longest": 1024},
            ),
        ],
    )
    def test_others(self, config, kind, details):
        scheme = read(config)
        assert (scheme.kind, dict(scheme.details)) == (kind, details)

    def test_switches_that_turn_rotation_on(self):
        wide = {"hidden_size": 64, "num_attention_heads": 4}
        granite = {"model_type": "granitemoehybrid", "position_embedding_type": "rope", **wide}
        assert read(granite).kind == "rope"
        assert read({"model_type": "falcon", "alibi": False, **wide}).kind == "rope"
        assert read({"model_type": "zamba2", "use_mem_rope": True, **wide}).rotary_width == 32
        assert (
            read({"model_type": "esm", "position_embedding_type": "rotary", **wide}).kind == "rope"
        )


class TestLayers:
    def test_gemma3_is_local_and_global(self):
        # B100: the factor belongs to global layers alone, and local ones have another base.
        config = config_of("unsloth/gemma-3-12b-it")
        local, full = read(config, layer=0), read(config, layer=5)
        assert (local.layer_type, full.layer_type) == ("sliding_attention", "full_attention")
        assert 8192 * full.rope.frequencies[64] == pytest.approx(1.024, rel=1e-12)
        assert 8192 * local.rope.frequencies[64] == pytest.approx(81.92, rel=1e-12)
        assert full.layer_types[:6] == ("sliding_attention",) * 5 + ("full_attention",)
        assert noted(read(config), "layer types differ", "full_attention", "ask with layer=")

    def test_modernbert(self):
        config = config_of("answerdotai/ModernBERT-base")
        bases = [read(config, layer=layer).base for layer in range(4)]
        assert bases == [160_000, 10_000, 10_000, 160_000]

    def test_old_modernbert_spelling(self):
        config = {
            "model_type": "modernbert",
            "hidden_size": 768,
            "num_attention_heads": 12,
            "num_hidden_layers": 22,
            "global_attn_every_n_layers": 3,
            "global_rope_theta": 160_000.0,
            "local_rope_theta": 10_000.0,
        }
        scheme = read(config)
        assert [read(config, layer=layer).base for layer in range(4)] == [
            160_000,
            10_000,
            10_000,
            160_000,
        ]
        assert not noted(scheme, "ignored")

    @pytest.mark.parametrize(
        ("model", "free"),
        [
            ("HuggingFaceTB/SmolLM3-3B (explicit list)", [3, 7]),
            ("RedHatAI/Llama-4-Scout-17B-16E-Instruct-FP8-dynamic", [3, 7]),
            ("CohereForAI/c4ai-command-r7b-12-2024 class", [3, 7]),
            ("LGAI-EXAONE/EXAONE-4.0-32B", [3, 7]),
            ("Qwen/Qwen3.5-27B", [0, 1, 2, 4, 5, 6, 8]),
            ("LiquidAI/LFM2.5-VL-1.6B", [0, 1, 3, 4, 6, 7]),
            ("meta-llama/Llama-3.2-90B-Vision-Instruct", [3, 8]),
        ],
    )
    def test_layers_without_rotation(self, model, free):
        config = config_of(model)
        found = [layer for layer in range(9) if read(config, layer=layer).kind == "none"]
        assert found == free
        assert noted(read(config), "layers do not rotate")
        nothing = read(config, layer=free[0])
        assert nothing.rope is None
        assert noted(nothing, "does not rotate")

    def test_flags_mean_that_a_layer_has_rope(self):
        config = llama(model_type="smollm3", no_rope_layers=[1, 0, 0, 1])
        kinds = [read(config, layer=layer).kind for layer in range(4)]
        assert kinds == ["rope", "none", "none", "rope"]

    def test_exaone_without_a_window_rotates_everywhere(self):
        config = llama(model_type="exaone4", sliding_window=None)
        assert all(read(config).turning_layers)
        lettered = llama(model_type="exaone4", sliding_window=4096, sliding_window_pattern="LLG")
        assert read(lettered).turning_layers == (True, True, False, False)

    def test_deepseek_v4_has_two_ropes(self):
        config = config_of("deepseek-ai/DeepSeek-V4-Flash")
        main, compressed = read(config, layer=0), read(config, layer=2)
        assert (main.base, main.method) == (10_000, "default")
        assert (compressed.base, compressed.method) == (160_000, "yarn")
        assert compressed.rope.attention_factor == 1

    def test_gemma4_turns_64_of_256_pairs_in_full_attention(self):
        config = {
            "model_type": "gemma4_text",
            "num_hidden_layers": 6,
            "head_dim": 256,
            "global_head_dim": 512,
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
                "full_attention": {
                    "rope_type": "proportional",
                    "partial_rotary_factor": 0.25,
                    "rope_theta": 1e6,
                },
            },
        }
        full = read(config, layer=5)
        assert full.rope.frequencies.size == 256
        assert np.count_nonzero(full.rope.frequencies) == 64
        assert full.rope.frequencies[63] == pytest.approx(1e6 ** (-126 / 512))
        assert read(config, layer=0).rope.frequencies == pytest.approx(frequencies(256))

    def test_null_block_is_a_layer_type_without_positions(self):
        config = llama(
            model_type="beam",
            layer_types=["sliding_attention", "full_attention"] * 2,
            rope_parameters={"sliding_attention": {"rope_theta": 1e4}, "full_attention": None},
        )
        assert read(config, layer=0).kind == "rope"
        assert read(config, layer=1).kind == "none"
        assert read(config).layer_type == "sliding_attention"

    @pytest.mark.parametrize(
        ("layer", "error", "message"),
        [
            (4, ValueError, "layer must be below the 4 layers, got 4"),
            (-1, ValueError, "layer must be at least 0, got -1"),
            (10**30, ValueError, "layer must be below the 4 layers"),
            (1.0, TypeError, "layer must be an integer, got 1.0"),
            (True, TypeError, "layer must be an integer, got True"),
            ("global", ValueError, "layer must be one of attention, got 'global'"),
        ],
    )
    def test_bad_layers(self, layer, error, message):
        with pytest.raises(error, match=message):
            read(llama(), layer=layer)

    @pytest.mark.parametrize(
        ("length", "error", "message"),
        [
            (0, ValueError, "length must be at least 1, got 0"),
            (10**400, ValueError, "length must be at most"),
            (8192.0, TypeError, "length must be an integer"),
            ("8192", TypeError, "length must be an integer"),
            (True, TypeError, "length must be an integer"),
        ],
    )
    def test_bad_lengths(self, length, error, message):
        with pytest.raises(error, match=message):
            read(llama(), length=length)


class TestScaling:
    def test_default_is_not_scaled(self):
        scheme = read(llama())
        assert scheme.rope.frequencies == pytest.approx(frequencies(128), rel=1e-15)
        assert scheme.rope.frequencies.tolist() == scheme.unscaled.tolist()
        assert (scheme.method, scheme.base, scheme.layout) == ("default", 10_000, "half-split")
        assert (scheme.head_width, scheme.rotary_width, scheme.notes) == (128, 128, ())
        assert isinstance(scheme, PositionScheme)

    @pytest.mark.parametrize("factor", [4, 4.0, np.float32(4), np.int64(4)])
    def test_whole_and_broken_numbers_are_numbers(self, factor):
        # B101: factor 4 is as good as 4.0, and type as good as rope_type.
        for key in ("type", "rope_type"):
            scheme = read(llama(rope_scaling={key: "linear", "factor": factor}))
            assert scheme.rope.frequencies == pytest.approx(frequencies(128) / 4, rel=1e-15)

    def test_conflicting_names_are_refused(self):
        # B101
        with pytest.raises(ConfigError, match="rope_type and rope_scaling.type disagree"):
            read(llama(rope_scaling={"type": "linear", "rope_type": "dynamic", "factor": 2.0}))
        both = llama(rope_scaling={"type": "linear", "rope_type": "linear", "factor": 2.0})
        assert read(both).method == "linear"

    def test_the_base_is_read_and_not_assumed(self):
        # B31: a hard-coded 10000 turns the last pair of a base 5e6 model 450 times too fast.
        scheme = read(llama(rope_theta=5_000_000))
        assert 1000 * scheme.rope.frequencies[63] == pytest.approx(0.000254507978804, rel=1e-11)
        assert 1000 * frequencies(128)[63] == pytest.approx(0.115478198469, rel=1e-11)

    @pytest.mark.parametrize(
        ("base", "angle"), [(10_000, 40.96), (500_000, 5.79261875148), (1_000_000, 4.096)]
    )
    def test_the_base_is_found_inside_and_outside(self, base, angle):
        # B32: code that looks in the old place only gets 10000 without an error; B79 as well.
        outside = llama(rope_theta=base)
        inside = llama(rope_theta=None, rope_parameters={"rope_theta": base})
        mixed = llama(rope_theta=None, rope_scaling={"rope_theta": base, "rope_type": "default"})
        for config in (outside, inside, mixed):
            angles = 4096 * read(config).rope.frequencies
            assert angles[32] == pytest.approx(angle, rel=1e-11)

    def test_scaling_is_not_parsed_and_ignored(self):
        # B88: width 64, base 500000, factor 32.
        block = {
            "rope_type": "llama3",
            "factor": 32.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        }
        scheme = read(llama(head_dim=64, rope_theta=500_000.0, rope_scaling=block))
        assert scheme.rope.frequencies[16] == pytest.approx(0.000429556796559, rel=1e-11)

    def test_declared_attention_factor_wins(self):
        # B98
        block = {**YARN, "attention_factor": 1.0}
        assert read(llama(rope_scaling=block)).rope.attention_factor == 1
        plain = read(llama(rope_scaling=YARN))
        assert plain.rope.attention_factor == pytest.approx(1.138629436112)

    def test_original_length_is_the_trained_one(self):
        # B94
        config = llama(
            rope_theta=1e6,
            max_position_embeddings=131072,
            rope_scaling={**YARN, "original_max_position_embeddings": 32768},
        )
        scheme = read(config)
        assert scheme.rope.frequencies[[24, 32, 38]] == pytest.approx(
            [0.00537532149079, 0.000602941176471, 9.26230170413e-5], rel=1e-10
        )
        assert (scheme.trained_length, scheme.max_length) == (32768, 131072)

    def test_softmax_factor_comes_from_mscale_all_dim(self):
        # B97: mscale 1 and mscale_all_dim 0.707 are not the same.
        block = {**YARN, "factor": 40, "mscale": 1, "mscale_all_dim": 0.707}
        scheme = read(llama(model_type="deepseek_v3", qk_rope_head_dim=64, rope_scaling=block))
        assert scheme.softmax_factor == pytest.approx(1.58962616512, rel=1e-11)
        assert scheme.rope.attention_factor == pytest.approx(1.08572639926, rel=1e-11)
        elsewhere = read(llama(rope_scaling=block))
        assert elsewhere.softmax_factor == 1

    def test_double_counted_temperature_is_noted(self):
        block = {**YARN, "factor": 40, "mscale_all_dim": 1.0}
        scheme = read(llama(model_type="deepseek_v3", qk_rope_head_dim=64, rope_scaling=block))
        assert scheme.rope.attention_factor == pytest.approx(1.3688879454113936)
        assert scheme.softmax_factor == pytest.approx(1.8738542070926265)
        assert noted(scheme, "counts it twice")

    def test_dynamic_depends_on_the_length(self):
        # B83
        config = llama(
            max_position_embeddings=2048, rope_scaling={"type": "dynamic", "factor": 4.0}
        )
        for length, base in ((2048, 1e4), (4096, 51293.7872682), (8192, 135401.973042)):
            rope = read(config, length=length).rope
            assert rope.frequencies == pytest.approx(frequencies(128, base), rel=1e-10)
        assert noted(read(config), "change beyond 2048 positions")
        assert not noted(read(config, length=4096), "change beyond")

    def test_dynamic_ignores_the_original_length(self):
        block = {"type": "dynamic", "factor": 4.0, "original_max_position_embeddings": 1024}
        scheme = read(llama(rope_scaling=block), length=8192)
        assert scheme.rope.frequencies == pytest.approx(frequencies(128))
        assert noted(scheme, "ignores original_max_position_embeddings 1024")

    def test_first_qwen_grows_in_steps(self):
        # B85
        config = {**config_of("Qwen/Qwen-1_8B-Chat"), "seq_length": 2048}
        scheme = read(config, length=3000)
        assert scheme.rope.frequencies == pytest.approx(frequencies(128, 30527.7367488), rel=1e-10)
        assert read(config, length=2048).rope.frequencies == pytest.approx(frequencies(128))

    def test_longrope_lists_change_with_the_length(self):
        config = config_of("microsoft/Phi-4-mini-instruct")
        short, long = read(config, length=4096), read(config, length=4097)
        assert short.rope.frequencies == pytest.approx(frequencies(96))
        divisors = config["rope_scaling"]["long_factor"]
        assert long.rope.frequencies == pytest.approx(frequencies(96) / divisors)

    def test_empty_and_null_blocks_are_none(self):
        for block in ({}, None):
            scheme = read(llama(rope_scaling=block, rope_parameters=block))
            assert scheme.method == "default"

    def test_equal_spellings_are_one(self):
        new = {**YARN, "rope_theta": 10_000.0}
        old = {"type": "yarn", **{key: new[key] for key in new if key != "rope_type"}}
        assert read(llama(rope_scaling=old, rope_parameters=new)).method == "yarn"

    def test_gpt_oss_scales_without_a_word(self):
        scheme = read(llama(model_type="gpt_oss", head_dim=64, rope_theta=None))
        assert scheme.method == "yarn"
        assert scheme.rope.attention_factor == pytest.approx(1.3465735902799727)
        assert noted(scheme, "scales by default")

    def test_truncate_is_not_read_in_a_block_per_layer_type(self):
        block = {**YARN, "truncate": False}
        nested = llama(
            layer_types=["full_attention"] * 4, rope_parameters={"full_attention": block}
        )
        rounded = read(llama(rope_scaling=YARN)).rope.frequencies
        assert read(nested).rope.frequencies.tolist() == rounded.tolist()
        assert noted(read(nested), "truncate false")
        assert read(llama(rope_scaling=block)).rope.frequencies.tolist() != rounded.tolist()


class TestWidthsAndDefaults:
    @pytest.mark.parametrize(
        ("fields", "width", "layout"),
        [
            ({"model_type": "gpt_neox", "rotary_pct": 0.25}, 32, "half-split"),
            ({"model_type": "gpt_neox"}, 32, "half-split"),
            ({"model_type": "phi", "partial_rotary_factor": 0.4, "head_dim": 80}, 32, "half-split"),
            ({"model_type": "stablelm"}, 32, "half-split"),
            ({"model_type": "glm4"}, 64, "interleaved"),
            ({"model_type": "gptj", "rotary_dim": 64}, 64, "interleaved"),
            ({"model_type": "minimax_m2", "rotary_dim": 64}, 64, "half-split"),
            ({"model_type": "gemma"}, 256, "half-split"),
            ({"model_type": "qwen3"}, 128, "half-split"),
            (
                {"model_type": "deepseek_v3", "qk_rope_head_dim": 64, "rope_interleave": False},
                64,
                "half-split",
            ),
            ({"model_type": "deepseek_v2", "qk_rope_head_dim": 64}, 64, "interleaved"),
            ({"model_type": "made_up"}, 128, None),
        ],
    )
    def test_rotary_width_and_layout(self, fields, width, layout):
        scheme = read(llama(**fields))
        assert scheme.rotary_width == width
        assert scheme.layout == layout
        expected = frequencies(width, scheme.base)
        assert scheme.rope.frequencies == pytest.approx(expected, rel=1e-15)

    def test_defaults_are_notes(self):
        scheme = read(llama(rope_theta=None, model_type="persimmon"))
        assert scheme.base == 10_000
        assert noted(scheme, "rope_theta is missing", "10000", "transformers 4.57.6: 25000")
        assert noted(scheme, "rotates 64 of 128 by default")

    @pytest.mark.parametrize(
        ("model", "base"),
        [("mixtral", 1e6), ("smollm3", 2e6), ("nomic_bert", 1e3), ("gpt_oss", 1.5e5)],
    )
    def test_default_bases(self, model, base):
        assert read(llama(model_type=model, rope_theta=None)).base == base

    def test_gpt_neox_ignores_rope_theta(self):
        scheme = read(llama(model_type="gpt_neox", rope_theta=5e5, rotary_emb_base=1e4))
        assert scheme.base == 10_000
        assert noted(scheme, "rope_theta is ignored")
        partial = read(llama(model_type="gpt_neox", partial_rotary_factor=0.5))
        assert partial.rotary_width == 32
        assert noted(partial, "partial_rotary_factor is ignored")

    def test_unknown_model_is_a_note_and_no_guess_of_the_layout(self):
        scheme = read(llama(model_type="made_up"))
        assert noted(scheme, "'made_up' is not known", "layout not known")

    def test_text_model_inside_a_wrapper(self):
        scheme = read({"model_type": "llava", "rope_theta": 7.0, "text_config": llama()})
        assert scheme.base == 10_000
        assert noted(scheme, "rope_theta is ignored: text_config.* is read instead")
        deep = {"model_type": "omni", "thinker_config": {"text_config": llama()}}
        assert read(deep).rotary_width == 128


class TestSuspiciousThings:
    @pytest.mark.parametrize(
        ("block", "parts"),
        [
            ({"type": "linear", "factor": 2, "beta_fast": 32}, ["beta_fast is ignored"]),
            ({"type": "linear", "factor": 2, "fator": 3}, ["'fator' is not known and is ignored"]),
            ({**YARN, "factor": 2.0}, ["is 4 times", "but factor is 2"]),
            ({"type": "yarn", "factor": 4.0}, ["is taken for the trained length"]),
            ({**YARN, "factor": None}, ["factor is null", "4"]),
            ({**YARN, "beta_fast": 0}, ["beta_fast 0 counts as not given"]),
            ({"type": "mrope", "mrope_section": [16, 24, 20]}, ["does not sum to 64 pairs"]),
            ({"type": "mrope", "mrope_section": [16, 24, 24]}, ["three axes", "[16, 24, 24]"]),
            (
                {
                    "type": "llama3",
                    "factor": 8,
                    "low_freq_factor": 1,
                    "high_freq_factor": 1,
                    "original_max_position_embeddings": 8192,
                },
                ["0/0", "hard step"],
            ),
            (
                {
                    "type": "llama3",
                    "factor": 8,
                    "low_freq_factor": 1,
                    "high_freq_factor": 4,
                    "original_max_position_embeddings": 8192,
                },
                ["8192 is not below max_position_embeddings 8192"],
            ),
            ({"type": "linear", "factor": 2}, ["may already be the stretched one"]),
            ({**YARN, "llama_4_scaling_beta": 0.1}, ["multiplies queries"]),
            ({"type": "proportional"}, ["turns every plane"]),
        ],
    )
    def test_notes(self, block, parts):
        assert noted(read(llama(rope_scaling=block)), *parts)

    @pytest.mark.parametrize("original", [2, 10**12])
    def test_a_ramp_that_runs_backwards(self, original):
        block = {**YARN, "original_max_position_embeddings": original}
        assert noted(read(llama(head_dim=8, rope_scaling=block)), "runs backwards")

    def test_a_healthy_file_has_no_notes(self):
        assert read(config_of("meta-llama/Llama-3.1-405B")).notes == ()

    def test_interleaved_flag_of_llama_is_ignored(self):
        scheme = read(config_of("HuggingFaceTB/SmolLM2-135M-Instruct"))
        assert noted(scheme, "rope_interleaved is ignored")

    def test_attention_factor_of_a_partly_rotated_head(self):
        scheme = read(config_of("microsoft/Phi-4-mini-instruct"))
        assert noted(scheme, "reaches the rotated components only")


class TestFiles:
    def test_path_directory_and_mapping_agree(self, tmp_path):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(llama()), encoding="utf-8")
        for source in (path, str(path), tmp_path, llama()):
            assert read(source).base == 10_000

    def test_byte_order_mark_is_no_fault(self, tmp_path):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(llama()), encoding="utf-8-sig")
        assert read(path).base == 10_000

    def test_infinity_elsewhere_is_no_fault(self, tmp_path):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(llama(time_step_limit=[0, float("inf")])))
        assert read(path).base == 10_000

    def test_the_configuration_is_left_alone(self):
        config = llama(rope_scaling={"type": "linear", "factor": 2.0})
        before = json.dumps(config)
        read(config, layer=0)
        assert json.dumps(config) == before
