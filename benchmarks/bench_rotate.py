"""How fast `posenc.rotary.rotate` is, next to copying the array and to other implementations.

    python benchmarks/bench_rotate.py           measure, then store results.json and growth.svg
    python benchmarks/bench_rotate.py --draw    draw growth.svg from results.json

One thread on one core, processor time. Candidates of a comparison take turns, and the shortest
time of each counts, so that what else the machine does falls on all of them alike. Only ratios
are stored.
torch, ONNX Runtime and JAX are compared where they can be imported.
"""

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from posenc.absolute import frequencies
from posenc.rotary import apply_phases, phases, rotate

HERE = Path(__file__).parent
RESULTS, FIGURE = HERE / "results.json", HERE / "growth.svg"

SHAPES = {"prefill": (1, 32, 2048, 128), "decode": (32, 32, 1, 128)}
LAYOUTS = ("interleaved", "half-split")
LENGTHS, WIDTHS = (256, 512, 1024, 2048, 4096, 8192), (32, 64, 128, 256, 512)
HEADS = 8

Run = Callable[[], Any]
Ratios = dict[str, float]


def shortest(candidates: dict[str, Run], seconds: float = 4.0) -> dict[str, float]:
    """Return the shortest time of each candidate, in turns, for about so many seconds."""
    loops = {}
    for name, run in candidates.items():
        run()
        once = min(timeit.repeat(run, number=1, repeat=3, timer=process_time))
        loops[name] = max(1, round(2e-3 / max(once, 1e-6)))
    times = dict.fromkeys(candidates, float("inf"))
    names = list(candidates)
    end = timeit.default_timer() + seconds
    rounds = 0
    while rounds < 7 or timeit.default_timer() < end:
        for name in names:
            spent = timeit.timeit(candidates[name], number=loops[name], timer=process_time)
            times[name] = min(times[name], spent / loops[name])
        names.reverse()  # nobody always runs after the same neighbour
        rounds += 1
    return times


def ratios(candidates: dict[str, Run], baseline: str) -> Ratios:
    times = shortest(candidates)
    return {
        name: round(time / times[baseline], 3) for name, time in times.items() if name != baseline
    }


def inputs(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return vectors, positions and frequencies; one token is decoded at the last position."""
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    length = shape[-2]
    positions = np.arange(length) if length > 1 else np.array([2047])
    return x, positions, frequencies(shape[-1])


def against_copy(shape: tuple[int, ...]) -> dict[str, Ratios]:
    x, positions, speeds = inputs(shape)
    out = np.empty_like(x)
    z, z_out = x.view(np.complex64), out.view(np.complex64)
    factors = phases(positions, speeds).astype(np.complex64)
    # What no implementation on NumPy can do without: the passes over the array, with tables of
    # its full size at hand. A half-split pair takes two products, a sum, and a swap of halves.
    full = np.broadcast_to(factors, z.shape).copy()
    tables, spare = x * 0.5, np.empty_like(x)
    half = shape[-1] // 2

    def half_split_passes() -> None:
        spare[..., :half] = x[..., half:]
        spare[..., half:] = x[..., :half]
        np.multiply(spare, tables, out=spare)
        np.multiply(x, tables, out=out)
        np.add(out, spare, out=out)

    with_out: dict[str, Run] = {"copyto": lambda: np.copyto(out, x)}
    without: dict[str, Run] = {"copy": lambda: x.copy()}
    for layout in LAYOUTS:
        with_out[layout] = lambda layout=layout: rotate(
            x, positions, speeds, layout=layout, out=out
        )
        with_out[f"{layout}, phases given"] = lambda layout=layout: apply_phases(
            x, factors, layout=layout, out=out
        )
        without[layout] = lambda layout=layout: rotate(x, positions, speeds, layout=layout)
        without[f"{layout}, phases given"] = lambda layout=layout: apply_phases(
            x, factors, layout=layout
        )
    with_out["limit: one complex product, factors broadcast"] = lambda: np.multiply(
        z, factors, out=z_out
    )
    with_out["limit: one complex product, factors of full size"] = lambda: np.multiply(
        z, full, out=z_out
    )
    with_out["limit: passes of half-split, tables of full size"] = half_split_passes
    with_out["limit: phases alone"] = lambda: phases(positions, speeds)
    return {
        "with out, over np.copyto": ratios(with_out, "copyto"),
        "without out, over x.copy()": ratios(without, "copy"),
    }


def tables() -> Ratios:
    positions, speeds = np.arange(131_072), frequencies(128)
    angles = 1j * np.multiply.outer(positions, speeds)
    return ratios(
        {"phases": lambda: phases(positions, speeds), "np.exp": lambda: np.exp(angles)}, "np.exp"
    )


def programs() -> dict[str, Any]:
    """Return the times of textbook programs for one rotation over that of the complex product.

    All of them are given their tables, and all compute the same; two layouts, two sizes.
    """
    result: dict[str, Any] = {}
    for heads, length, width in ((1, 64, 64), (8, 1024, 128)):
        x, positions, speeds = inputs((heads, length, width))
        factors = phases(positions, speeds).astype(np.complex64)
        cosine, sine = factors.real.copy(), factors.imag.copy()
        wide_cosine, wide_sine = np.tile(cosine, 2), np.tile(sine, 2)
        z, half = x.view(np.complex64), width // 2
        matrices = np.zeros((length, width, width), np.float32)
        for r in range(half):
            block = [[cosine[:, r], -sine[:, r]], [sine[:, r], cosine[:, r]]]
            matrices[:, 2 * r : 2 * r + 2, 2 * r : 2 * r + 2] = np.moveaxis(block, -1, 0)

        def complex_product(z: Any = z, factors: Any = factors) -> Any:
            return (z * factors).view(np.float32)

        def even_and_odd(x: Any = x, c: Any = cosine, s: Any = sine) -> Any:
            out = np.empty_like(x)
            a, b = x[..., 0::2], x[..., 1::2]
            out[..., 0::2] = a * c - b * s
            out[..., 1::2] = a * s + b * c
            return out

        def rotate_half(
            x: Any = x, c: Any = wide_cosine, s: Any = wide_sine, half: int = half
        ) -> Any:
            swapped = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
            return x * c + swapped * s

        def block_diagonal(x: Any = x, matrices: Any = matrices) -> Any:
            return np.matmul(matrices, x[..., np.newaxis])[..., 0]

        def loop(x: Any = x, c: Any = cosine, s: Any = sine, half: int = half) -> Any:
            out = np.empty_like(x)
            for head in range(x.shape[0]):
                for t in range(x.shape[1]):
                    for r in range(half):
                        a, b = x[head, t, 2 * r], x[head, t, 2 * r + 1]
                        out[head, t, 2 * r] = a * c[t, r] - b * s[t, r]
                        out[head, t, 2 * r + 1] = a * s[t, r] + b * c[t, r]
            return out

        candidates: dict[str, Run] = {
            "complex product": complex_product,
            "even and odd components": even_and_odd,
            "half-split, concatenated": rotate_half,
            "block-diagonal matrices": block_diagonal,
        }
        if heads * length * width < 10_000:
            candidates["Python loop"] = loop
        for name, run in candidates.items():
            layout = "half-split" if name.startswith("half") else "interleaved"
            difference = np.abs(run() - rotate(x, positions, speeds, layout=layout)).max()
            if not difference < 1e-5:
                raise AssertionError(f"{name} differs by {difference}")
        key = f"{heads} heads, length {length}, width {width}"
        result[key] = ratios(candidates, "complex product")
    return result


def growth() -> dict[str, dict[str, list[float]]]:
    """Return times over that of the smallest size, along the length and along the width."""
    result: dict[str, dict[str, list[float]]] = {}
    for name, sizes in (("length", LENGTHS), ("width", WIDTHS)):
        candidates: dict[str, Run] = {}
        for size in sizes:
            shape = (1, HEADS, size, 128) if name == "length" else (1, HEADS, 2048, size)
            x, positions, speeds = inputs(shape)
            out = np.empty_like(x)
            for layout in LAYOUTS:
                candidates[f"{layout} {size}"] = lambda a=(x, positions, speeds), o=out, y=layout: (
                    rotate(*a, layout=y, out=o)
                )
        times = shortest(candidates, seconds=10)
        result[name] = {"sizes": [float(size) for size in sizes]}
        for layout in LAYOUTS:
            first = times[f"{layout} {sizes[0]}"]
            result[name][layout] = [round(times[f"{layout} {n}"] / first, 3) for n in sizes]
    return result


def torch_runs(shape: tuple[int, ...]) -> dict[str, Run]:
    import torch

    torch.set_num_threads(1)
    x, positions, speeds = inputs(shape)
    tensor = torch.from_numpy(x)
    factors = torch.from_numpy(phases(positions, speeds).astype(np.complex64))
    cosine, sine = torch.cat([factors.real] * 2, -1), torch.cat([factors.imag] * 2, -1)

    def half_split() -> Any:
        first, second = tensor.chunk(2, dim=-1)
        return tensor * cosine + torch.cat((-second, first), dim=-1) * sine

    def interleaved() -> Any:
        pairs = torch.view_as_complex(tensor.reshape(*tensor.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * factors).flatten(-2)

    check(half_split().numpy(), shape, "half-split")
    check(interleaved().numpy(), shape, "interleaved")
    return {"torch, eager, half-split": half_split, "torch, complex, interleaved": interleaved}


def onnx_runs(shape: tuple[int, ...]) -> dict[str, Run]:
    import onnxruntime
    from onnx import TensorProto, helper

    x, positions, speeds = inputs(shape)
    batch, _, length, _ = shape
    factors = phases(np.arange(positions.max() + 1), speeds)
    feeds = {
        "x": x,
        "ids": np.broadcast_to(positions, (batch, length)).astype(np.int64),
        "cosine": factors.real.astype(np.float32),
        "sine": factors.imag.astype(np.float32),
    }
    kinds = {"ids": TensorProto.INT64}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    runs: dict[str, Run] = {}
    for layout in LAYOUTS:
        node = helper.make_node(
            "RotaryEmbedding",
            list(feeds),
            ["y"],
            domain="com.microsoft",
            interleaved=int(layout == "interleaved"),
        )
        graph = helper.make_graph(
            [node],
            "rotary",
            [
                helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), feed.shape)
                for name, feed in feeds.items()
            ],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
            ir_version=8,
        )
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        check(session.run(None, feeds)[0], shape, layout)
        runs[f"ONNX Runtime, {layout}"] = lambda session=session: session.run(None, feeds)
    return runs


def jax_runs(shape: tuple[int, ...]) -> dict[str, Run]:
    import jax
    import jax.numpy as jnp

    x, positions, speeds = inputs(shape)
    factors = phases(positions, speeds)
    cosine, sine = (jnp.asarray(part, jnp.float32) for part in (factors.real, factors.imag))
    vectors = jnp.asarray(x)

    @jax.jit
    def half_split(x: Any, cosine: Any, sine: Any) -> Any:
        first, second = jnp.split(x, 2, axis=-1)
        return jnp.concatenate(
            [first * cosine - second * sine, second * cosine + first * sine], axis=-1
        )

    @jax.jit
    def interleaved(x: Any, cosine: Any, sine: Any) -> Any:
        first, second = x[..., 0::2], x[..., 1::2]
        pairs = [first * cosine - second * sine, second * cosine + first * sine]
        return jnp.stack(pairs, axis=-1).reshape(x.shape)

    runs: dict[str, Run] = {}
    for layout, function in (("half-split", half_split), ("interleaved", interleaved)):
        check(np.asarray(function(vectors, cosine, sine)), shape, layout)
        runs[f"JAX, jitted, {layout}"] = lambda f=function: f(
            vectors, cosine, sine
        ).block_until_ready()
    return runs


def check(result: np.ndarray, shape: tuple[int, ...], layout: str) -> None:
    """Fail unless a peer computes what we compute: other work is no comparison."""
    x, positions, speeds = inputs(shape)
    difference = np.abs(result - rotate(x, positions, speeds, layout=layout)).max()
    if not difference < 1e-5:
        raise AssertionError(f"the peer differs by {difference} for {shape}, {layout}")


PEERS = {
    ("torch",): torch_runs,
    ("onnxruntime", "onnx"): onnx_runs,
    ("jax",): jax_runs,
}


def against_peers(shape: tuple[int, ...]) -> Ratios:
    """Return the times of others over that of copying, next to ours with a new result."""
    x, positions, speeds = inputs(shape)
    factors = phases(positions, speeds).astype(np.complex64)
    candidates: dict[str, Run] = {"copy": lambda: x.copy()}
    for layout in LAYOUTS:
        candidates[f"posenc, {layout}"] = lambda layout=layout: rotate(
            x, positions, speeds, layout=layout
        )
        candidates[f"posenc, {layout}, phases given"] = lambda layout=layout: apply_phases(
            x, factors, layout=layout
        )
    for modules, runs in PEERS.items():
        if all(importlib.util.find_spec(module) for module in modules):
            candidates.update(runs(shape))
    return ratios(candidates, "copy")


def keep_to_one_core() -> None:
    """Allow one thread and one core, before the peers are imported and look."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure() -> dict[str, Any]:
    keep_to_one_core()
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    for (module, *_), _runs in PEERS.items():
        if importlib.util.find_spec(module):
            versions[module] = importlib.metadata.version(module)
    result: dict[str, Any] = {
        "what": "processor times over that of copying the same array: float32, one thread, "
        "one core, the shortest of many runs in turns. Peers are given their tables of cosines "
        "and sines; rotate computes its phases in each call, apply_phases is given them.",
        "versions": versions,
    }
    for name, shape in SHAPES.items():
        print(f"{name} {shape}")
        result[name] = {"shape": list(shape), **against_copy(shape)}
        result[name]["peers, over x.copy()"] = against_peers(shape)
        for group, values in result[name].items():
            if isinstance(values, dict):
                print(f"  {group}")
                print(
                    "".join(f"    {ratio:8.2f}  {what}\n" for what, ratio in values.items()), end=""
                )
    result["131072 positions x 64 planes, over np.exp"] = tables()
    print("tables", result["131072 positions x 64 planes, over np.exp"])
    result["programs, over the complex product"] = programs()
    print("programs", json.dumps(result["programs, over the complex product"], indent=2))
    result["growth, over the smallest size"] = growth()
    return result


def draw(result: dict[str, Any]) -> None:
    from matplotlib import pyplot as plt

    from posenc import figures

    figures.use()
    figure, panels = plt.subplots(1, 2, sharey=True)
    titles = {"length": f"{HEADS} heads, width 128", "width": f"{HEADS} heads, length 2048"}
    labels = {"length": "length T", "width": "width d of a head"}
    for panel, (name, title) in zip(panels, titles.items(), strict=True):
        series = result["growth, over the smallest size"][name]
        sizes = np.array(series["sizes"])
        panel.plot(
            sizes, sizes / sizes[0], color=figures.colour("muted"), linestyle=":", label="as size"
        )
        for layout, hue, marker in zip(LAYOUTS, ("blue", "orange"), "os", strict=True):
            panel.plot(
                sizes, series[layout], marker=marker, color=figures.colour(hue), label=layout
            )
        panel.set_xscale("log", base=2)
        panel.set_yscale("log", base=2)
        panel.set_xticks(sizes, [f"{size:g}" for size in sizes])
        panel.set_xlabel(labels[name])
        panel.set_title(title)
    panels[0].set_ylabel("time / time of the smallest")
    panels[0].legend()
    picture = figures.show(
        figure,
        alt="Time of rotate on doubly logarithmic axes, against the length of the sequence and "
        "against the width of a head, for both layouts; a dotted line shows growth in proportion "
        "to the size.",
    )
    FIGURE.write_text(picture.svg, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--draw", action="store_true", help="draw from results.json only")
    if not parser.parse_args().draw:
        text = json.dumps(measure(), indent=2)
        RESULTS.write_text(text + "\n", encoding="utf-8")
    if importlib.util.find_spec("matplotlib"):
        draw(json.loads(RESULTS.read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
