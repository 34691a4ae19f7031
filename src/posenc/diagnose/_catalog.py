"""Names of faults and notes, and what to do about them."""

# What the function does with its arguments, whatever it computes.
_CALLS = {
    "raises": "hand x of shape (*leading, length, head_dim) and integer positions of shape "
    "(length,), or wrap the function so that it takes them",
    "result-conversion": "return an array NumPy can read: on the CPU, without a gradient, and of "
    "one regular shape",
    "result-shape": "return one array of the shape of x; wrap a function that returns the rotated "
    "query and key",
    "result-dtype": "compute as wide as you like, then cast the result to the dtype of x",
    "not-finite": "check for infinite frequencies, and for positions beyond the range of a dtype",
    "base-zero": "require a base greater than 0, and do not rotate in a model without rotary "
    "positions",
    "mutates-input": "work on a copy, or write to an array the caller hands over for it",
    "not-deterministic": "remove what is random or kept between calls",
    "batch-rows-differ": "let the angles depend on the position alone, and rotate every row of a "
    "batch, also when the length is 1",
    "ignores-positions": "take each vector's angle from its entry in positions, not from its "
    "place in the array",
    "not-linear": "rotate only: no normalisation, bias or clipping in the same function",
}

# What a correct call computes.
_MAPS = {
    "not-rotated": "multiply the pairs by the cosine and sine of position times frequency",
    "not-in-planes": "pair each component with exactly one other",
    "unpaired-component": "use an even rotary width, so that each component has a partner",
    "scattered-pairs": "rotate neighbouring pairs (2r, 2r + 1) or (r, r + rotary_width / 2)",
    "partial-pair-offset": "pair component r with r + rotary_width / 2, inside the rotated part",
    "mixed-layouts": "lay out angles as components: (t0, t0, t1, t1, ...) with neighbouring pairs, "
    "(t0, t1, ..., t0, t1, ...) with halves",
    "angle-per-channel": "give both components of pair r the frequency base ** (-2r / width), "
    "where r = channel // 2 for neighbouring pairs",
    "sine-cosine-mismatch": "take the cosine and the sine of a pair at the same angle",
    "missing-minus": "negate one sine: (x cos - y sin, x sin + y cos)",
    "overwritten-input": "compute both new components before writing either",
    "pair-not-rotated": "multiply each pair by [[cos, -sin], [sin, cos]]",
    "mixed-directions": "turn all pairs the same way",
    "norm-changes": "remove what scales with the position; xPos is to be tested without its scale",
    "pairs-scaled-apart": "scale all pairs by the same factor, or none",
    "not-identity-at-zero": "leave vectors at position 0 as they are",
    "not-relative": "rotate each pair by position times a fixed frequency",
}

_FREQUENCIES = {
    "equal-frequencies": "compute exponents in floating point: an integer division or an integer "
    "array made them all 0",
    "index-off-by-one": "count pairs from 0: the first frequency is 1",
    "doubled-exponent": "use 2r / width for pair r; a loop over 0, 2, 4, ... has doubled r already",
    "halved-exponent": "divide 0, 2, 4, ... by the width, or 0, 1, 2, ... by half of it",
    "positive-exponent": "divide the position by base ** (2r / width), do not multiply",
    "floored-exponent": "write -log(base) / width with one true division; // binds like / and "
    "rounds down to -1",
    "half-minus-one": "divide r by width / 2, not by width / 2 - 1, which is the timing signal of "
    "tensor2tensor",
    "head-width-denominator": "divide the exponents by the rotary width, not by the head's width",
    "reversed-frequencies": "give pair 0 the highest frequency",
    "other-base": "read the base from where the configuration keeps it, and pass it on",
    "other-frequencies": "compare the measured frequencies with those of the configuration",
}

_PRECISION = {
    "bfloat16-frequencies": "keep the frequencies in float32: casting a model casts its buffers",
    "float16-frequencies": "keep the frequencies in float32: casting a model casts its buffers",
    "bfloat16-positions": "keep positions as integers or float32: bfloat16 holds integers up to "
    "256 only",
    "float16-positions": "keep positions as integers or float32: float16 holds integers up to "
    "2048 only",
    "bfloat16-angles": "multiply position and frequency in float32, outside of autocast",
    "float16-angles": "multiply position and frequency in float32, outside of autocast",
    "bfloat16-tables": "rotate in float32 and cast the result, not the cosines and sines",
    "float16-tables": "rotate in float32 and cast the result, not the cosines and sines",
    "angle-not-proportional": "keep one set of frequencies for all positions: cached keys keep "
    "the angles they were stored with",
}

_STATED = {
    "other-layout": "permute the rows of the query and key projections, or rotate in the layout "
    "the weights were trained with",
    "other-direction": "swap the sign of the sine",
    "other-width": "pass the rotary width on; partial rotation leaves the rest of the head alone",
    "query-key-differ": "rotate queries and keys with the same function",
}

FAULTS: dict[str, str] = {**_CALLS, **_MAPS, **_FREQUENCIES, **_PRECISION, **_STATED}

NOTES: dict[str, str] = {
    "position-limit": "fine if the model never gets there",
    "one-pair": "",
    "output-reordered": "do the same to queries and keys, and to keys already cached",
    "clockwise": "weights of a model that turns the other way do not fit",
    "origin": "scores do not change; cached keys of another origin do not fit",
    "attention-factor": "logits grow by its square; apply it once",
    "interpolated": "right for a model with linear scaling by this factor",
    "scaled-by-parts": "state frequencies= to check them",
    "no-series": "state frequencies= to check them",
    "second-definition": "state base= to have the usual series required",
    "proportional": "right for a model that rotates this way; state rotary_width= for ordinary "
    "partial rotation",
    "float32-tables": "",
}
