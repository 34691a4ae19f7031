"""What a model type implies that its configuration does not say.

Facts are those of transformers 5.24.0 and, for types marked so below, of the code
published beside the weights.
"""

from posenc._checks import Layout
from posenc.config._fields import words

__all__ = [
    "ALIASES",
    "ALIBI",
    "BASES",
    "BASES_BEFORE",
    "DEFAULT_BLOCKS",
    "HEAD_WIDTHS",
    "LEARNED",
    "MSCALE_ON_SOFTMAX",
    "NO_POSITIONS",
    "PER_LAYER_TYPE",
    "RELATIVE_BIAS",
    "ROPE_SLICES",
    "SHARES",
    "SINUSOIDAL",
    "TWO_ROPES",
    "known",
    "layout",
]

# A wrapper whose text fields stand at the top level, and the text model it wraps.
ALIASES = {
    "cosmos3_edge": "cosmos3_edge_text",
    "ernie4_5_vl_moe": "ernie4_5_vl_moe_text",
    "exaone4_5": "exaone4",
    "exaone4_5_text": "exaone4",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "glm4v": "glm4v_text",
    "glm4v_moe": "glm4v_moe_text",
    "kimi_k2": "deepseek_v3",
    "llama4": "llama4_text",
    "mllama": "mllama_text_model",
    "phi3_v": "phi3",
    "qwen2_5_vl": "qwen2_5_vl_text",
    "qwen2_vl": "qwen2_vl_text",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
}

_INTERLEAVED = frozenset(
    words(
        """
    axk1 axk2 bailing_hybrid blt chatglm codegen cohere cohere2 deepseek_v2 deepseek_v3
    deepseek_v32 deepseek_v4 dots3_note_text ernie4_5 ernie4_5_moe ernie4_5_vl_moe_text glm
    glm4 glm4_moe_lite glm_moe_dsa glm_ocr_text gptj helium hy_v4_vl_text llama4_text
    longcat_flash mistral4 mistral_large4_text moonshine moonshine_streaming roformer
    sarvam_mla youtu
    """
    )
)
_HALF_SPLIT = frozenset(
    words(
        """
    afmoe apertus apertus1p5_text arcee aria_text baichuan bamba beam bitnet chameleon
    code_llama cosmos3_edge_text csm cwm dbrx deepseek_ocr2_text
    diffllama diffusion_gemma_text doge dory dots1 embedding_gemma2_text emu3_text_model esm
    esmc eurobert evolla exaone exaone4 exaone_moe falcon falcon_h1 flex_olmo flint gemma
    gemma2 gemma3_text gemma3n_text gemma4_text gemma4_unified_text glm4_moe glm4v_moe_text
    glm4v_text gpt_neox gpt_neox_japanese gpt_oss granite granite_swa granitemoe
    granitemoe_swa granitemoehybrid granitemoeshared gte higgs_audio_v2 hunyuan_v1_dense
    hunyuan_v1_moe hunyuan_vl_text hy_v3 hy_v4 hyperclovax internlm internlm2 internlm3
    iquestcoder jais2 jetmoe jina_embeddings_v3 laguna lfm2 lfm2_moe lfm3 llama mellum
    mimo_v2_flash minicpm minicpm3 minimax minimax_m2 minimax_m3_vl_text ministral
    ministral3 mistral mixtral mllama_text_model modernbert modernbert-decoder molmo2_text
    nanochat nemotron nemotron-nas neomme nomic_bert olmo olmo2 olmo3 olmo_hybrid olmoe
    openai_privacy_filter paddleocr_vl_text persimmon phi phi-msft phi3 phi4_multimodal
    phimoe qwen qwen2 qwen2_5_omni_text qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3
    qwen3_5_moe_text qwen3_5_text qwen3_moe qwen3_next qwen3_omni_moe_text qwen3_vl_moe_text
    qwen3_vl_text qwen4_exp_text recurrent_gemma sarvam_moe seed_oss smollm3 solar_open
    stablelm starcoder2 step3p5 t5gemma2_text ultrabert unlimited_ocr_text vaultgemma
    voxtral_realtime_text zamba2 zaya
    """
    )
)


def layout(model: str) -> Layout | None:
    """Return the layout of a model type, or None if it is not known."""
    if model in _INTERLEAVED:
        return "interleaved"
    return "half-split" if model in _HALF_SPLIT else None


def _by_name(table: dict[float, str]) -> dict[str, float]:
    return {name: value for value, names in table.items() for name in names.split()}


# Default rope_theta where it is not 10000.
BASES = _by_name(
    {
        1_000.0: "nomic_bert",
        20_000.0: "jina_embeddings_v3",
        100_000.0: "helium",
        150_000.0: "gpt_oss openai_privacy_filter",
        160_000.0: "gte",
        500_000.0: """bitnet blt cohere csm ernie4_5 ernie4_5_moe ernie4_5_vl_moe_text evolla
            exaone flex_olmo higgs_audio_v2 llama4_text mllama_text_model
            paddleocr_vl_text qwen3_vl_moe_text qwen3_vl_text""",
        1_000_000.0: """cwm emu3_text_model lfm2 lfm2_moe minimax ministral3 mixtral phimoe
            qwen2_5_omni_text qwen2_5_vl_text qwen2_vl_text qwen3_omni_moe_text solar_open""",
        2_000_000.0: "smollm3",
        5_000_000.0: "minimax_m2 minimax_m3_vl_text",
        6_000_000.0: "bailing_hybrid",
        8_000_000.0: "sarvam_moe",
        10_000_000.0: "longcat_flash",
        11_158_840.0: "hy_v3",
        12_000_000.0: "apertus apertus1p5_text",
        100_000_000.0: "cosmos3_edge_text",
    }
)

# The default of transformers 4.57.6 where it was another one.
BASES_BEFORE = _by_name(
    {
        10_000.0: "cohere",
        25_000.0: "persimmon",
        100_000.0: "falcon_h1",
        5_000_000.0: "qwen3_vl_moe_text qwen3_vl_text",
    }
)

# Default partial_rotary_factor where it is not 1.
SHARES = _by_name(
    {
        0.25: """gpt_neox qwen3_5_moe_text qwen3_5_text qwen3_next
            stablelm""",
        0.334: "mimo_v2_flash",
        0.5: """bamba chatglm glm glm4 glm4_moe glm4v_moe_text nemotron persimmon phi
            recurrent_gemma""",
        0.8: "moonshine_streaming",
        0.9: "moonshine",
    }
)

# Default head_dim of classes that do not divide hidden_size by the heads.
HEAD_WIDTHS = {
    name: int(width)
    for name, width in _by_name(
        {
            64: "gpt_oss openai_privacy_filter sarvam_moe",
            128: """afmoe beam cosmos3_edge_text cwm ernie4_5 flint glm glm4 helium
            higgs_audio_v2 hy_v3 internlm3 iquestcoder laguna lfm3 llama4_text mellum minimax_m2
            minimax_m3_vl_text ministral3 molmo2_text paddleocr_vl_text qwen3 qwen3_vl_text
            seed_oss solar_open step3p5 zaya""",
            192: "mimo_v2_flash",
            256: """diffusion_gemma_text dory embedding_gemma2_text gemma gemma2 gemma3_text
            gemma3n_text gemma4_text gemma4_unified_text qwen3_5_moe_text qwen3_5_text qwen3_next
            qwen4_exp_text recurrent_gemma t5gemma2_text vaultgemma""",
            512: "deepseek_v4",
        }
    ).items()
}

# Default qk_rope_head_dim of the types that rotate a slice beside the other components.
ROPE_SLICES = {
    name: int(width)
    for name, width in _by_name(
        {
            32: "axk2 minicpm3",
            64: """axk1 bailing_hybrid deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4
            dots3_note_text glm4_moe_lite glm_moe_dsa hy_v4 hy_v4_vl_text longcat_flash mistral4
            mistral_large4_text sarvam_mla youtu""",
        }
    ).items()
}

_YARN = {"rope_type": "yarn", "beta_fast": 32.0, "beta_slow": 1.0}
_GPT_OSS = {
    **_YARN,
    "factor": 32.0,
    "truncate": False,
    "original_max_position_embeddings": 4096,
}
_MISTRAL = {**_YARN, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}
_LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}

# Classes that scale although the file has no word of scaling.
DEFAULT_BLOCKS: dict[str, dict[str, object]] = {
    "apertus": _LLAMA3,
    "apertus1p5_text": _LLAMA3,
    "cwm": {**_LLAMA3, "factor": 16.0},
    "gpt_oss": _GPT_OSS,
    "higgs_audio_v2": {
        **_LLAMA3,
        "factor": 32.0,
        "low_freq_factor": 0.125,
        "high_freq_factor": 0.5,
        "original_max_position_embeddings": 1024,
    },
    "ministral3": {**_MISTRAL, "factor": 16.0, "original_max_position_embeddings": 16384},
    "mistral4": {**_MISTRAL, "factor": 128.0, "original_max_position_embeddings": 8192},
    "mistral_large4_text": {
        **_YARN,
        "factor": 2048.0,
        "original_max_position_embeddings": 512,
        "attention_factor": 1.0,
    },
    "openai_privacy_filter": _GPT_OSS,
}

# Types with a rope for each layer type whose files always say so themselves.
PER_LAYER_TYPE = frozenset(
    words(
        """
    beam diffusion_gemma_text dory dots3_note_text embedding_gemma2_text gemma4_text
    gemma4_unified_text laguna lfm3 mellum neomme step3p5 ultrabert zaya
    """
    )
)

# Attention multiplies all its scores by the square of the mscale_all_dim formula.
MSCALE_ON_SOFTMAX = frozenset(
    words(
        """
    axk1 axk2 bailing_hybrid deepseek_v2 deepseek_v3 deepseek_v32 glm4_moe_lite glm_moe_dsa
    hy_v4 hy_v4_vl_text longcat_flash minicpm3 mistral4 mistral_large4_text sarvam_mla youtu
    """
    )
)

# Types with one rope for full and one for sliding attention: the two fields that hold the
# bases, their defaults, and the layer types that the old spelling of scaling reaches.
_BOTH = ("full_attention", "sliding_attention")
TWO_ROPES: dict[str, tuple[str, float, str, float, tuple[str, ...]]] = {
    "gemma3_text": ("rope_theta", 1e6, "rope_local_base_freq", 1e4, _BOTH[:1]),
    "gemma3n_text": ("rope_theta", 1e6, "rope_local_base_freq", 1e4, _BOTH[:1]),
    "t5gemma2_text": ("rope_theta", 1e6, "rope_local_base_freq", 1e4, _BOTH[:1]),
    "modernbert": ("global_rope_theta", 1.6e5, "local_rope_theta", 1e4, _BOTH),
    "modernbert-decoder": ("global_rope_theta", 1.6e5, "local_rope_theta", 1e4, _BOTH),
    "olmo3": ("rope_theta", 5e5, "", 5e5, _BOTH[:1]),
    "mimo_v2_flash": ("rope_theta", 5e6, "swa_rope_theta", 1e4, ()),
}

ALIBI = frozenset(["bloom"])
NO_POSITIONS = frozenset(
    words(
        """
    falcon_mamba jamba kimi_k3 kimi_linear mamba mamba2 nemotron_h rwkv zamba
    """
    )
)
RELATIVE_BIAS = frozenset(
    words(
        """
    longt5 mt5 pop2piano switch_transformers t5 udop umt5
    """
    )
)
SINUSOIDAL = frozenset(
    words(
        """
    ctrl fsmt m2m_100 marian pegasus speech_to_text xglm
    """
    )
)

# Rows of the table that stand before the row of position 0.
LEARNED = {
    **dict.fromkeys(
        words(
            """
    albert bert blenderbot electra gpt2 gpt_bigcode gpt_neo imagegpt openai-gpt whisper
    """
        ),
        0,
    ),
    **dict.fromkeys(
        words(
            """
    bart biogpt mbart opt plbart
    """
        ),
        2,
    ),
    # Numbered from the padding token's id + 1.
    **dict.fromkeys(
        words(
            """
    camembert roberta xlm-roberta xlm-roberta-xl xmod
    """
        ),
        None,
    ),
}


def known(model: str) -> bool:
    """Tell whether rotary models of this type are known."""
    return layout(model) is not None
