"""Relative positions that act on the scores: biases, and score terms with vectors of their own.

The distance between a query and a key enters as the offset, key position minus
query position, or as its absolute value.
"""

from posenc.bias.alibi import alibi_bias, alibi_key_bias, alibi_slopes
from posenc.bias.deberta import deberta_bucket, deberta_index, deberta_scores
from posenc.bias.kerple import kerple_bias
from posenc.bias.shaw import shaw_index, shaw_scores, shaw_values
from posenc.bias.shift import relative_shift
from posenc.bias.t5 import t5_bias, t5_bucket, t5_bucket_starts
from posenc.bias.transformer_xl import transformer_xl_scores

__all__ = [
    "alibi_bias",
    "alibi_key_bias",
    "alibi_slopes",
    "deberta_bucket",
    "deberta_index",
    "deberta_scores",
    "kerple_bias",
    "relative_shift",
    "shaw_index",
    "shaw_scores",
    "shaw_values",
    "t5_bias",
    "t5_bucket",
    "t5_bucket_starts",
    "transformer_xl_scores",
]
