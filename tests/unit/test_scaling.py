"""posenc.scaling against the worked examples of papers, code and public mistakes."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from posenc.absolute import frequencies
from posenc.rotary import rotate
from posenc.scaling import (
    Rope,
    dynamic_ntk,
    linear_schedule,
    llama3,
    longrope,
    ntk_aware,
    position_interpolation,
    proportional,
    yarn,
)

LLAMA2 = {"width": 128, "base": 10_000.0, "factor": 16.0, "original_length": 4096}


def exact(values, rel=1e-12):
    return pytest.approx(values, rel=rel, abs=0)


def slowdowns(rope, width, base):
    return frequencies(width, base) / rope.frequencies


class TestRope:
    def test_holds_what_it_is_given(self):
        rope = Rope([1, 0.5], 2)
        assert rope.frequencies.dtype == np.float64
        assert rope.frequencies.tolist() == [1, 0.5]
        assert rope.attention_factor == 2.0
        assert Rope([1.0]).attention_factor == 1.0

    def test_cannot_be_changed_from_outside(self):
        speeds = np.array([1.0, 0.5])
        rope = Rope(speeds)
        speeds[0] = 9
        assert rope.frequencies[0] == 1
        with pytest.raises(ValueError, match="read-only"):
            rope.frequencies[0] = 2


class TestPositionInterpolation:
    def test_divides_every_frequency(self):
        rope = position_interpolation(frequencies(8), 4)
        assert rope.frequencies == exact([0.25, 0.025, 0.0025, 0.00025])
        assert rope.attention_factor == 1

    def test_is_the_same_as_squeezed_positions(self):
        # W9: with factor 4 position 8191 is turned like position 2047.75.
        x = np.random.default_rng(0).normal(size=8)
        squeezed = rotate(x, 2047.75, frequencies(8))
        rope = position_interpolation(frequencies(8), 4)
        assert rotate(x, 8191, rope.frequencies) == pytest.approx(squeezed, abs=1e-12)

    def test_is_not_a_larger_base(self):
        # B82: the factor inside the power gives another spectrum.
        rope = position_interpolation(frequencies(64, 150_000.0), 32)
        right, inside_power = [0.0007539134707, 3.02351142812e-7], frequencies(64, 150_000.0 * 32)
        assert rope.frequencies[[10, 31]] == exact(right, rel=1e-9)
        assert inside_power[[10, 31]] == exact([0.00816793199685, 3.36936105158e-7], rel=1e-9)


class TestNtkAware:
    @pytest.mark.parametrize(
        ("factor", "base"),
        [
            (2, 20221.26168973791),
            (4, 40889.94243248622),
            (8, 82684.62264056222),
            (16, 167198.7392132037),
            (32, 338096.9459824436),
        ],
    )
    def test_is_a_larger_base(self, factor, base):
        rope = ntk_aware(128, 10_000.0, factor)
        assert rope.frequencies == exact(frequencies(128, base))

    def test_slows_the_last_pair_by_the_factor_and_the_first_not_at_all(self):
        shares = 1 / slowdowns(ntk_aware(128, 10_000.0, 4), 128, 10_000.0)
        assert shares[[0, 1, 31, 63]] == exact([1, 0.978235664333, 0.505531542243, 0.25], rel=1e-11)

    def test_small_example(self):
        rope = ntk_aware(8, 10_000.0, 4)
        assert rope.frequencies == exact([1, 0.06299605249474366, 0.003968502629920499, 0.00025])
        assert slowdowns(rope, 8, 1e4) == exact([1, 1.5874010519681994, 2.5198420997897464, 4])

    def test_alpha_base_and_length_are_three_things(self):
        # B80: a tenfold stretch of base 500000 is base 5.19e6; base * 20 leaves the first pair.
        assert ntk_aware(128, 500_000.0, 10).frequencies == exact(frequencies(128, 5186125.47704))
        larger = frequencies(128, 20 * 10_000.0) / frequencies(128, 10_000.0)
        assert larger[[0, 32, 63]] == exact([1, 0.2236067977, 0.05239605605], rel=1e-9)

    @given(st.integers(2, 64), st.floats(2, 1e9), st.floats(1, 1e4))
    def test_first_and_last_pair(self, pairs, base, factor):
        slower = slowdowns(ntk_aware(2 * pairs, base, factor), 2 * pairs, base)
        assert slower[0] == 1
        assert slower[-1] == pytest.approx(factor, rel=1e-9)
        assert slower == pytest.approx(factor ** (np.arange(pairs) / (pairs - 1)), rel=1e-9)


class TestDynamicNtk:
    @pytest.mark.parametrize(
        ("factor", "length", "base"),
        [
            (2, 2048, 10_000.0),
            (2, 1, 10_000.0),
            (2, 4096, 43267.487109222246),
            (2, 8192, 133905.18279406722),
            (1, 4096, 25198.420997897465),
        ],
    )
    def test_bases(self, factor, length, base):
        rope = dynamic_ntk(8, 10_000.0, factor, length, 2048)
        assert rope.frequencies == exact(frequencies(8, base))

    def test_grows_with_the_length_and_not_at_once(self):
        # B83: a fixed length = factor * L is static; a repair that loses one factor never grows.
        bases = [10_000.0, 51293.7872682, 135401.973042]
        for length, base in zip([2048, 4096, 8192], bases, strict=True):
            rope = dynamic_ntk(128, 10_000.0, 4, length, 2048)
            assert rope.frequencies == exact(frequencies(128, base), rel=1e-10)

    def test_steps_are_another_rule(self):
        # B85: alpha in steps 2**ceil(log2(n / L) + 1) - 1 against the smooth scale n / L.
        alpha = 2 ** math.ceil(math.log2(3000 / 2048) + 1) - 1
        assert alpha == 3
        stepped = ntk_aware(128, 10_000.0, alpha).frequencies
        assert stepped == exact(frequencies(128, 30527.7367488), rel=1e-10)
        smooth = dynamic_ntk(128, 10_000.0, 1, 3000, 2048).frequencies
        assert smooth == exact(frequencies(128, 14737.4691974), rel=1e-10)

    @given(st.integers(2, 64), st.floats(1, 64), st.integers(1, 10**7))
    def test_factor_one_is_the_scale_of_the_paper(self, pairs, factor, length):
        width, trained = 2 * pairs, 2048
        paper = ntk_aware(width, 10_000.0, max(1, length / trained)).frequencies
        released = dynamic_ntk(width, 10_000.0, factor, length, trained).frequencies
        if factor == 1 or length <= trained:
            assert released == exact(paper)
        else:
            assert (released <= paper * (1 + 1e-12)).all()


class TestYarn:
    def test_small_example(self):
        rope = yarn(8, 10_000.0, 4, 2048)
        assert rope.frequencies == exact([1, 0.1, 0.00625, 0.00025])
        assert rope.attention_factor == exact(1.138629436111989)
        unrounded = yarn(8, 10_000.0, 4, 2048, truncate=False)
        assert unrounded.frequencies == exact([1, 0.1, 0.005056971521129435, 0.00025])
        paper = yarn(8, 10_000.0, 4, 2048, ramp="paper")
        assert paper.frequencies == exact([1, 0.1, 0.0030466515889972625, 0.00025])

    @pytest.mark.parametrize(
        ("ramp", "shares"),
        [
            ("paper", [1, 0.5721286454, 0.2951575052, 0.1602815545, 0.09460134661, 0.0625]),
            ("released", [1, 0.81971154, 0.63942308, 0.45913462, 0.27884615, 0.0625]),
        ],
    )
    def test_two_ramps(self, ramp, shares):
        slower = slowdowns(yarn(**LLAMA2, ramp=ramp), 128, 10_000.0)
        assert 1 / slower[[20, 25, 30, 35, 40, 46]] == exact(shares, rel=2e-8)

    def test_llama2_by_index(self):
        slower = slowdowns(yarn(**LLAMA2), 128, 10_000.0)
        assert slower[[33, 36, 45, 63]] == exact(
            [1.8823529411764706, 2.3636363636363638, 10.146341463414636, 16]
        )

    def test_gpt_oss(self):
        rope = yarn(64, 150_000.0, 32, 4096, truncate=False)
        assert rope.frequencies[[8, 13, 18]] == exact(
            [0.050813274815461475, 0.0038603593171920685, 3.8308812373753384e-05]
        )
        assert rope.attention_factor == exact(1.3465735902799727)

    @pytest.mark.parametrize(
        ("factor", "growth", "square"),
        [
            (2, 1.069314718056, 1.1434339662512),
            (4, 1.138629436112, 1.2964769927807),
            (8, 1.207944154168, 1.4591290795886),
            (16, 1.277258872224, 1.6313902266749),
            (32, 1.346573590280, 1.8132604340395),
        ],
    )
    def test_attention_factor(self, factor, growth, square):
        rope = yarn(8, 10_000.0, factor, 2048)
        assert rope.attention_factor == exact(growth)
        assert rope.attention_factor**2 == exact(square)

    def test_factor_one_changes_nothing(self):
        rope = yarn(64, 10_000.0, 1, 4096)
        assert rope.frequencies == exact(frequencies(64))
        assert rope.attention_factor == 1

    def test_both_mscales_make_a_ratio(self):
        # B95 and B97: one when they are equal, and neither of the two alone.
        def growth(**options):
            return yarn(64, 10_000.0, 16, 4096, **options).attention_factor

        assert growth(mscale=1, mscale_all_dim=1) == 1
        assert growth() == exact(1.27725887222, rel=1e-11)
        assert growth(mscale_all_dim=0.7) == growth(mscale=0.7) == growth()
        assert growth(mscale=0.7, mscale_all_dim=0) == growth()
        both = yarn(64, 10_000.0, 40, 4096, mscale=1, mscale_all_dim=0.707)
        assert both.attention_factor == exact(1.08572639926, rel=1e-11)

    def test_given_attention_factor_replaces_the_formula(self):
        # B98: declared 1.0 is 1.0, not the formula and not their product.
        rope = yarn(64, 10_000.0, 16, 4096, attention_factor=1.0, mscale=1, mscale_all_dim=0.5)
        assert rope.attention_factor == 1
        assert yarn(64, 1e4, 8, 4096).attention_factor == exact(1.207944154168)

    def test_length_is_the_trained_one(self):
        # B94: the extended length in the ramp gives other frequencies.
        right = yarn(128, 1e6, 4, 32768).frequencies[[24, 32, 38]]
        wrong = yarn(128, 1e6, 4, 131072).frequencies[[24, 32, 38]]
        assert right == exact([0.00537532149079, 0.000602941176471, 9.26230170413e-5], rel=1e-10)
        assert wrong == exact([0.0056234132519, 0.000911764705882, 0.000177191858688], rel=1e-10)

    def test_upper_end_is_clipped_to_the_width_not_to_the_pairs(self):
        # B91
        assert yarn(8, 10_000.0, 16, 131072).frequencies[3] == exact(0.0006875)

    def test_equal_ends_are_a_step(self):
        # B92: low = high = 0 is legal, and the pair at 0 is kept.
        assert yarn(2, 10_000.0, 4, 64).frequencies.tolist() == [1.0]
        step = yarn(64, 50_000.0, 32, 4096, beta_fast=1, beta_slow=1, truncate=False)
        slower = slowdowns(step, 64, 50_000.0)
        assert set(np.round(slower, 9)) == {1.0, 32.0}
        by_turns = yarn(64, 50_000.0, 32, 4096, beta_fast=1, beta_slow=1, ramp="paper")
        assert slowdowns(by_turns, 64, 50_000.0) == exact(slower)

    @given(
        st.integers(1, 64),
        st.floats(10, 1e8),
        st.floats(1, 1e3),
        st.integers(32, 2**20),
        st.booleans(),
        st.sampled_from(["released", "paper"]),
    )
    def test_stays_between_kept_and_divided(self, pairs, base, factor, length, truncate, ramp):
        rope = yarn(2 * pairs, base, factor, length, truncate=truncate, ramp=ramp)
        slower = slowdowns(rope, 2 * pairs, base)
        assert (slower >= 1 - 1e-9).all()
        assert (slower <= factor * (1 + 1e-9)).all()
        turns = length * frequencies(2 * pairs, base) / (2 * np.pi)
        if ramp == "paper":
            assert slower[turns > 32] == exact(np.ones(np.sum(turns > 32)))
            assert slower[turns < 1] == exact(np.full(np.sum(turns < 1), factor), rel=1e-9)
            assert (np.diff(slower) >= -1e-9 * factor).all()


class TestLongrope:
    SHORT, LONG = (1.0, 1.0, 1.0, 1.0), (1.0, 1.5, 3.0, 6.0)

    def test_lists_divide(self):
        rope = longrope(8, 10_000.0, self.SHORT, self.LONG, 32, 4096, length=4097)
        assert rope.frequencies == exact(
            [1, 0.06666666666666667, 0.0033333333333333335, 0.00016666666666666666]
        )
        assert rope.attention_factor == exact(1.1902380714238083)

    @pytest.mark.parametrize("length", [None, 1, 4096])
    def test_short_list_up_to_the_trained_length(self, length):
        rope = longrope(8, 10_000.0, (2.0,) * 4, self.LONG, 32, 4096, length=length)
        assert rope.frequencies == exact(frequencies(8) / 2)
        # Released code multiplies by the factor of the long regime here as well.
        assert rope.attention_factor == exact(1.1902380714238083)

    def test_attention_factor(self):
        def growth(factor, trained, **options):
            rope = longrope(8, 10_000.0, self.SHORT, self.LONG, factor, trained, **options)
            return rope.attention_factor

        assert growth(4, 2048) == exact(1.087114613009218)
        assert growth(1, 2048) == 1
        assert growth(4, 2048, variant="paper") == 1
        assert growth(4, 2048, attention_factor=1.5) == 1.5
        assert growth(4, 2048, attention_factor=1.5, variant="paper") == 1.5
        assert growth(4, 16) == exact(1.224744871391589)


class TestLlama3:
    def test_bands(self):
        # B86: scaled frequencies are returned, not the unscaled ones.
        rope = llama3(128, 500_000.0, 8, 8192)
        scaled = [
            0.00321144599475,
            0.0021665707635,
            0.000524846160993,
            0.000178507812768,
            9.55621235396e-5,
            3.06892598891e-7,
        ]
        assert rope.frequencies[[28, 29, 32, 34, 35, 63]] == exact(scaled, rel=1e-10)
        slower = slowdowns(rope, 128, 500_000.0)
        assert np.flatnonzero(slower > 1 + 1e-12)[0] == 29
        assert np.flatnonzero(slower > 8 - 1e-9)[0] == 35
        assert slower[[29, 30, 33, 34]] == exact(
            [1.207483871283662, 1.5534146285049255, 3.6842525277457185, 5.257326588708467]
        )
        assert rope.attention_factor == 1

    def test_which_pairs_are_kept_blended_and_divided(self):
        # B88
        rope = llama3(64, 500_000.0, 32, 8192)
        slower = slowdowns(rope, 64, 500_000.0)
        assert np.flatnonzero(np.isclose(slower, 1, rtol=1e-12)).tolist() == list(range(15))
        assert np.flatnonzero(np.isclose(slower, 32, rtol=1e-12)).tolist() == list(range(18, 32))
        assert rope.frequencies[16] == exact(0.000429556796559, rel=1e-11)

    def test_small_example(self):
        rope = llama3(8, 10_000.0, 8, 1024)
        assert rope.frequencies == exact([1, 0.1, 0.003086760967011274, 0.000125])

    def test_equal_bounds_are_a_step(self):
        # Llama 4: the wavelength of pair 34 is 6695, that of pair 35 is 8219.
        rope = llama3(128, 500_000.0, 16, 8192, low_freq_factor=1, high_freq_factor=1)
        slower = slowdowns(rope, 128, 500_000.0)
        assert slower.tolist() == exact([1] * 35 + [16] * 29)

    @given(
        st.integers(1, 64),
        st.floats(10, 1e8),
        st.floats(1, 1e3),
        st.integers(32, 2**20),
        st.floats(0.1, 4),
        st.floats(0, 60),
    )
    def test_is_yarn_with_the_ramp_of_the_paper(self, pairs, base, factor, length, low, more):
        high = low + more
        assume(high == low or more > 1e-6)
        first = llama3(2 * pairs, base, factor, length, low_freq_factor=low, high_freq_factor=high)
        second = yarn(2 * pairs, base, factor, length, beta_slow=low, beta_fast=high, ramp="paper")
        assert first.frequencies.tolist() == second.frequencies.tolist()


class TestProportional:
    def test_keeps_the_fastest_pairs_of_the_whole_head(self):
        rope = proportional(8, 10_000.0, 0.5)
        assert rope.frequencies == pytest.approx([1, 0.1, 0, 0], rel=1e-15, abs=0)
        assert frequencies(4) == exact([1, 0.01])  # partial rotation spreads them anew

    def test_turns_components_of_both_halves(self):
        x = np.arange(1.0, 9.0)
        turned = rotate(x, 2, proportional(8, 1e4, 0.5).frequencies, layout="half-split")
        first, second = [-4.962633970675551, 0.768117170912116], [-1.17143675591, 6.27773812863757]
        assert turned == pytest.approx([*first, 3, 4, *second, 7, 8], rel=1e-12)

    def test_gemma4_turns_64_pairs(self):
        speeds = proportional(512, 1e6, 0.25).frequencies
        assert np.count_nonzero(speeds) == 64
        assert speeds[63] == exact(1e6 ** (-126 / 512))
        assert 2 * np.pi / speeds[63] == pytest.approx(188, abs=0.5)

    def test_ends_of_the_range(self):
        assert proportional(8, 1e4, 1).frequencies == exact(frequencies(8))
        assert proportional(8, 1e4, 0).frequencies.tolist() == [0] * 4
        assert proportional(8, 1e4, 1, factor=4).frequencies == exact(frequencies(8) / 4)
        assert np.count_nonzero(proportional(8, 1e4, 0.74).frequencies) == 2


class TestLinearSchedule:
    def test_rises_in_equal_steps(self):
        speeds = linear_schedule(16).frequencies
        assert speeds == pytest.approx(
            [0, 0.392699, 0.785398, 1.178097, 1.570796, 1.963495, 2.356194, 2.748894], abs=1e-6
        )

    @pytest.mark.parametrize("base", [1, 3])
    def test_comes_back_after_width_positions(self, base):
        x = np.random.default_rng(1).normal(size=16)
        speeds = linear_schedule(16, base).frequencies
        again = rotate(x, 5 + 16, speeds)
        assert again == pytest.approx(rotate(x, 5, speeds), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Rope([[1.0]]), ValueError, "frequencies must be a vector"),
        (lambda: Rope([np.nan]), ValueError, "frequencies must be finite, got nan"),
        (lambda: Rope([]), ValueError, "frequencies must be a vector"),
        (lambda: Rope(["1"]), TypeError, "frequencies must hold real numbers"),
        (lambda: Rope([1.0], 0), ValueError, "attention_factor must be one number greater than 0"),
        (lambda: Rope([1.0], -2), ValueError, "attention_factor must be one number greater"),
        (lambda: Rope([1.0], True), TypeError, "attention_factor must hold real numbers"),
        (lambda: position_interpolation([1.0], 0.5), ValueError, "factor must be one number at"),
        (lambda: position_interpolation([1.0], np.inf), ValueError, "factor must be finite"),
        (lambda: position_interpolation([1j], 2), TypeError, "frequencies must hold real numbers"),
        (lambda: position_interpolation([1.0], [2, 3]), ValueError, "factor must be one number"),
        (lambda: ntk_aware(2, 1e4, 2), ValueError, "width must be at least 4"),
        (lambda: ntk_aware(7, 1e4, 2), ValueError, "width must be a positive even number, got 7"),
        (lambda: ntk_aware(8.0, 1e4, 2), TypeError, "width must be an integer, got 8.0"),
        (lambda: ntk_aware(True, 1e4, 2), TypeError, "width must be an integer, got True"),
        (lambda: ntk_aware(8, 0, 2), ValueError, "base must be one number greater than 1, got 0"),
        (lambda: ntk_aware(8, 1, 2), ValueError, "base must be one number greater than 1, got 1"),
        (lambda: ntk_aware(8, "1e4", 2), TypeError, "base must hold real numbers"),
        (lambda: ntk_aware(8, 1e4, 1e300), ValueError, "leave the larger base finite"),
        (lambda: ntk_aware(8, 1e300, 1e10), ValueError, "leave the larger base finite"),
        (lambda: ntk_aware(8, 1e4, None), TypeError, "factor must hold real numbers"),
        (lambda: dynamic_ntk(2, 1e4, 2, 9, 4), ValueError, "width must be at least 4"),
        (lambda: dynamic_ntk(8, 1e4, 0, 9, 4), ValueError, "factor must be one number at least 1"),
        (lambda: dynamic_ntk(8, 1e4, 2, 0, 4), ValueError, "length must be one number greater"),
        (lambda: dynamic_ntk(8, 1e4, 2, 9, 0), ValueError, "original_length must be one number"),
        (lambda: dynamic_ntk(8, 1e4, 2, np.nan, 4), ValueError, "length must be finite, got nan"),
        (lambda: yarn(8, 1e4, 0.9, 64), ValueError, "factor must be one number at least 1"),
        (lambda: yarn(8, 1, 2, 64), ValueError, "base must be one number greater than 1"),
        (lambda: yarn(8, 1e4, 2, -1), ValueError, "original_length must be one number greater"),
        (lambda: yarn(8, 1e4, 2, 64, beta_slow=0), ValueError, "beta_slow must be one number"),
        (
            lambda: yarn(8, 1e4, 2, 64, beta_fast=1, beta_slow=2),
            ValueError,
            "beta_fast must be one number at least 2, got 1",
        ),
        (lambda: yarn(8, 1e4, 2, 64, truncate=1), TypeError, "truncate must be True or False"),
        (lambda: yarn(8, 1e4, 2, 64, ramp="code"), ValueError, 'ramp must be "released" or'),
        (lambda: yarn(8, 1e4, 2, 64, mscale=-1), ValueError, "mscale must be one number at least"),
        (lambda: yarn(8, 1e4, 2, 64, mscale_all_dim="1"), TypeError, "mscale_all_dim must hold"),
        (lambda: yarn(8, 1e4, 2, 64, attention_factor=0), ValueError, "attention_factor must be"),
        (lambda: yarn(9, 1e4, 2, 64), ValueError, "width must be a positive even number"),
        (
            lambda: longrope(4, 1e4, [1, 1, 1], [1, 1], 2, 64),
            ValueError,
            r"short_factor must hold 2 numbers, one per pair, got shape \(3,\)",
        ),
        (lambda: longrope(4, 1e4, [1, 1], [1, 0], 2, 64), ValueError, "positive numbers, got 0"),
        (lambda: longrope(4, 1e4, [1, 1], [], 2, 64), ValueError, r"got shape \(0,\)"),
        (lambda: longrope(4, 1e4, [1, np.nan], [1, 1], 2, 64), ValueError, "short_factor must be"),
        (lambda: longrope(4, 1e4, [1, 1], [1, 1], 2, 1), ValueError, "original_length must be"),
        (lambda: longrope(4, 1e4, [1, 1], [1, 1], 0, 64), ValueError, "factor must be one number"),
        (
            lambda: longrope(4, 1e4, [1, 1], [1, 1], 2, 64, length=0),
            ValueError,
            "length must be one number greater than 0",
        ),
        (
            lambda: longrope(4, 1e4, [1, 1], [1, 1], 2, 64, variant="su"),
            ValueError,
            'variant must be "released" or "paper"',
        ),
        (
            lambda: llama3(8, 1e4, 8, 64, low_freq_factor=4, high_freq_factor=1),
            ValueError,
            "high_freq_factor must be one number at least 4, got 1",
        ),
        (lambda: llama3(8, 1e4, 8, 64, low_freq_factor=0), ValueError, "low_freq_factor must be"),
        (lambda: llama3(8, 1e4, 8, True), TypeError, "original_length must hold real numbers"),
        (lambda: llama3(0, 1e4, 8, 64), ValueError, "width must be a positive even number, got 0"),
        (lambda: proportional(8, 1e4, 1.5), ValueError, "fraction must be at most 1, got 1.5"),
        (lambda: proportional(8, 1e4, -0.1), ValueError, "fraction must be one number at least 0"),
        (lambda: proportional(8, 1e4, 0.5, factor=0), ValueError, "factor must be one number"),
        (lambda: proportional(8, 0.5, 0.5), ValueError, "base must be one number greater than 1"),
        (lambda: linear_schedule(16, 0), ValueError, "base must be one number greater than 0"),
        (lambda: linear_schedule(3), ValueError, "width must be a positive even number, got 3"),
        (lambda: linear_schedule("16"), TypeError, "width must be an integer"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
