"""Speed and error on one GPU, against what its memory and its special-function units can do in the same run.

    python benchmarks/gpu.py

checks the kernels and prints one table: the characteristic function of 11,000,000 x 7 rows at 1,000 frequencies, the
sketch of the same rows at 60, the phase features of 1,000,000 bags, training of phase networks, and rows that stream
from this machine's memory. Times of the device are medians, after a first call that compiles. ``--sanitize`` also runs
the kernels' tests under compute-sanitizer. With 16 cores it takes some five minutes.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from _measure import best_time, row

import uptonoise as un
from uptonoise._util.threads import n_threads
from uptonoise.engines import on_device, tensor_features

N_ROWS, N_COLUMNS, N_FREQUENCIES, SEED = 11_000_000, 7, 1_000, 0
N_BAGS, BAG_SIZE, BAG_COLUMNS, BAG_FREQUENCIES = 1_000_000, 20, 3, 64


@triton.jit  # type: ignore[untyped-decorator]
def special_functions(out, n_rounds, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Take cosines and sines of numbers that stay in registers."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = place * 1e-6, place * 1e-6 + 1
    for _ in range(n_rounds):
        x = tl.inline_asm_elementwise("cos.approx.ftz.f32 $0, $1;", "=f,f", [x], tl.float32, is_pure=True, pack=1)
        y = tl.inline_asm_elementwise("sin.approx.ftz.f32 $0, $1;", "=f,f", [y], tl.float32, is_pure=True, pack=1)
    tl.store(out + place, x + y)


def device_time(function: Callable[[], Any], repetitions: int = 20) -> float:
    """Return the median time of a function on the device, in seconds."""
    function()
    times = []
    for _ in range(repetitions):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        function()
        end.record()
        torch.cuda.synchronize()
        times.append(float(start.elapsed_time(end)) / 1e3)
    return statistics.median(times)


def call_time(function: Callable[[], Any], repetitions: int = 20) -> float:
    """Return the median time of a function that brings its result back, by the clock of this machine."""
    function()
    return statistics.median(best_time(function, 1) for _ in range(repetitions))


def measured_rates() -> tuple[float, float]:
    """Return bytes read and written a second, and special functions a second."""
    buffer = torch.empty(2**30, dtype=torch.float32, device="cuda").uniform_()
    other = torch.empty_like(buffer)
    copied = 2 * 2**32 / device_time(lambda: other.copy_(buffer))
    out = torch.empty(2**20, dtype=torch.float32, device="cuda")
    taken = device_time(lambda: special_functions[(2**20 // 1024,)](out, 20_000, BLOCK=1024, num_warps=4))
    return copied, 2 * 20_000 * 2**20 / taken


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.2f} ms"


def plain_torch_ecf(X: torch.Tensor, W: torch.Tensor, chunk_rows: int = 100_000) -> torch.Tensor:
    """Sum cos and sin of chunks of the matrix of angles, in float32."""
    total = torch.zeros(2, len(W), device=X.device)
    for start in range(0, len(X), chunk_rows):
        chunk = X[start : start + chunk_rows]
        angles = chunk @ W.T
        total += torch.stack([angles.cos().sum(0), angles.sin().sum(0)])
    return total / len(X)


def one_sample(X: torch.Tensor, here: Any, limit: Callable[[float, float], float]) -> None:
    W = np.asarray(un.sample_frequencies(N_FREQUENCIES, N_COLUMNS, random_state=SEED))
    least = limit(4.0 * X.numel(), 2.0 * len(X) * N_FREQUENCIES)
    took = call_time(lambda: un.ecf(X, W))
    row(f"ecf of {len(X):,} x {N_COLUMNS} rows at {N_FREQUENCIES:,} frequencies, array to array", milliseconds(took))
    row("  the limit: two special functions for each pair", milliseconds(least))
    row("  fraction of the limit", f"{least / took:.2f}", ">= 0.5")
    there = torch.from_numpy(W).float().cuda()
    row("  plain torch in chunks", milliseconds(device_time(lambda: plain_torch_ecf(X, there), 5)))
    start = time.perf_counter()
    on_cpu = un.ecf(here, W)
    cpu = time.perf_counter() - start
    row(f"  times faster than the CPU path, {n_threads()} threads ({cpu:.2f} s, once)", f"{cpu / took:.0f}")
    exact = un.ecf(X, W, precision="float64")
    row("  largest error against float64", f"{np.abs(un.ecf(X, W) - exact).max():.1e}", "< 2e-6")
    row("  that of the CPU path", f"{np.abs(on_cpu - exact).max():.1e}")
    equal = X[:1].expand(1_000_000, -1).contiguous()
    V = W * (1e4 / np.abs(here[:1] @ W.T).max())
    error = np.abs(un.ecf(equal, V) - np.exp(1j * (here[0].astype(float) @ V.T))).max()
    row("  largest error where all rows are equal, abs(w.x) to 10,000", f"{error:.1e}", "< 2e-6")
    double = X.double()
    row("  the same rows in float64", milliseconds(call_time(lambda: un.ecf(double, W), 5)))
    half = X.half()
    row("  in float16", milliseconds(call_time(lambda: un.ecf(half, W), 5)))


def sketches(X: torch.Tensor, here: Any, limit: Callable[[float, float], float]) -> None:
    W = np.asarray(un.sample_frequencies(60, N_COLUMNS, scale=2.0, random_state=SEED))
    least = limit(4.0 * X.numel(), 2.0 * len(X) * 60)
    alone, sketch = call_time(lambda: un.ecf(X, W)), call_time(lambda: un.Sketch(W).update(X))
    row("ecf of the same rows at 60 frequencies", milliseconds(alone))
    row("  fraction of the limit", f"{least / alone:.2f}")
    row("Sketch.update at 60 frequencies", milliseconds(sketch))
    row("  over ecf alone", f"{sketch / alone:.2f}", "<= 3")
    some, others = slice(0, 1_000_000), slice(1_000_000, 2_000_000)
    exact = [un.Sketch(W, precision="float64").update(here[part]) for part in (some, others)]
    sketches = [un.Sketch(W).update(X[part]) for part in (some, others)]
    error = max(np.abs(s.covariance - t.covariance).max() for s, t in zip(sketches, exact, strict=True))
    row("  largest error of a covariance, 1,000,000 rows, against float64", f"{error:.1e}")
    statistic = un.phase_test(*exact).statistic
    error = abs(un.phase_test(*sketches).statistic / statistic - 1)
    row("  relative error of the phase test's statistic", f"{error:.1e}", "< 1e-4")
    moved = X[others] + torch.tensor([0.01] + [0.0] * (N_COLUMNS - 1), device="cuda")
    there = un.phase_test(X[some], moved)
    host = un.phase_test(here[some], moved.cpu().numpy())
    error = abs(there.statistic / host.statistic - 1)
    row(f"  the same with the test's own {len(there.frequencies)} frequencies, against the CPU path", f"{error:.1e}")
    took = call_time(lambda: un.phase_test(X[some], moved), 5)
    row("  phase_test of 2 x 1,000,000 rows, from tensors to a p-value", milliseconds(took))


def bags(limit: Callable[[float, float], float]) -> None:
    X = torch.randn(N_BAGS, BAG_SIZE, BAG_COLUMNS, device="cuda", generator=torch.Generator("cuda").manual_seed(SEED))
    W = np.asarray(un.sample_frequencies(BAG_FREQUENCIES, BAG_COLUMNS, random_state=SEED))
    least = limit(4.0 * (X.numel() + 2 * N_BAGS * BAG_FREQUENCIES), 2.0 * N_BAGS * BAG_SIZE * BAG_FREQUENCIES)
    took = device_time(lambda: tensor_features(X, W))
    row(f"phase features of {N_BAGS:,} bags of {BAG_SIZE} x {BAG_COLUMNS} at {BAG_FREQUENCIES}", milliseconds(took))
    row("  fraction of the limit", f"{least / took:.2f}", ">= 0.3")
    features = un.PhaseFeatures(frequencies=W).fit(X[:2])
    row("  as an array of float64 in this machine's memory", f"{call_time(lambda: features.transform(X), 1):.1f} s")
    some = X[:20_000].cpu().numpy()
    start = time.perf_counter()
    features.transform(some)
    cpu = (time.perf_counter() - start) * N_BAGS / len(some)
    row(f"  times faster than the CPU path, {n_threads()} threads (from 20,000 bags)", f"{cpu / took:.0f}")
    error = np.abs(un.ecf(X[:20_000], W) - un.ecf(some, W, precision="float64")).max()
    row("  largest error of a bag's characteristic function", f"{error:.1e}", "< 2e-6")


def log_uniform_bags(n_bags: int) -> tuple[un.Bags, Any]:
    """Return gamma bags of 10 to 1,000 rows, and the shapes of their distributions."""
    rng = np.random.default_rng(SEED)
    shapes = rng.uniform(1, 5, size=n_bags)
    sizes = np.exp(rng.uniform(np.log(10), np.log(1_000), size=n_bags)).astype(int)
    return un.Bags([rng.gamma(shape, size=(size, 3)) for shape, size in zip(shapes, sizes, strict=True)]), shapes


def seconds_an_epoch(device: str, data: un.Bags, y: Any, n_epochs: int) -> float:
    """Return what one more epoch of a phase network takes."""

    def fit(epochs: int) -> None:
        un.nets.PhaseNetRegressor(
            64,
            n_epochs=epochs,
            batch_size=100,
            patience=None,
            hidden=(),
            noise_augmentation=None,
            steady=False,
            device=device,
            random_state=SEED,
            progress=False,
        ).fit(data, y)

    fit(1)
    few, many = best_time(lambda: fit(1), 3), best_time(lambda: fit(1 + n_epochs), 1)
    return (many - few) / n_epochs


def padded_seconds_an_epoch(data: un.Bags, y: Any, batch_size: int = 100) -> float:
    """Return the same for plain torch: padded batches, cos and sin of all angles, autograd."""
    sizes = torch.from_numpy(data.sizes).cuda()
    padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(bag).float() for bag in data], True).cuda()
    mask = torch.arange(padded.shape[1], device="cuda") < sizes[:, None]
    targets = torch.from_numpy(y).float().cuda()[:, None]
    frequencies = torch.nn.Parameter(torch.randn(64, 3, device="cuda"))
    head = torch.nn.Sequential(torch.nn.BatchNorm1d(128), torch.nn.Linear(128, 1)).cuda()
    optimizer = torch.optim.Adam([frequencies, *head.parameters()], lr=1e-2)

    def epoch() -> None:
        order = torch.randperm(len(data), device="cuda")
        for start in range(0, len(data), batch_size):
            picked = order[start : start + batch_size]
            angles = padded[picked] @ frequencies.T
            kept = mask[picked][:, :, None]
            sums = [(wave * kept).sum(1) for wave in (angles.cos(), angles.sin())]
            amplitude = (sums[0] ** 2 + sums[1] ** 2 + 1e-12).sqrt()
            outputs = head(torch.cat([wave / amplitude for wave in sums], dim=1))
            loss = ((outputs - targets[picked]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return device_time(epoch, 5)


def networks() -> None:
    data, y = log_uniform_bags(4_000)
    gpu = seconds_an_epoch("cuda", data, y, 20)
    cpu = seconds_an_epoch("cpu", data, y, 5)
    padded = padded_seconds_an_epoch(data, y)
    row("phase network, 64 frequencies, 4,000 bags of 10 to 1,000 rows: bags a second", f"{len(data) / gpu:,.0f}")
    row(f"  on the CPU, {n_threads()} threads", f"{len(data) / cpu:,.0f}")
    row("  in plain padded torch on the same GPU", f"{len(data) / padded:,.0f}")
    row("  times faster than the CPU and than padded torch", f"{cpu / gpu:.1f} {padded / gpu:.1f}")


def streaming(here: Any) -> None:
    W = np.asarray(un.sample_frequencies(60, N_COLUMNS, random_state=SEED))
    took = call_time(lambda: un.ecf(on_device(here), W), 5)
    row(f"ecf of {len(here):,} x {N_COLUMNS} rows of this machine, streamed, 60 frequencies", milliseconds(took))
    row("  GB a second", f"{here.nbytes / took / 1e9:.1f}")
    cpu = best_time(lambda: un.ecf(here, W), 2)
    row(f"  times faster than the CPU path, {n_threads()} threads", f"{cpu / took:.1f}")


def resampling(X: torch.Tensor, here: Any) -> None:
    n = 20_000
    for test in (un.flip_test, un.phd_test):
        gpu = call_time(lambda: test(X[:n], X[n : 2 * n], random_state=SEED), 3)  # noqa: B023
        cpu = best_time(lambda: test(here[:n], here[n : 2 * n], random_state=SEED), 2)  # noqa: B023
        same = test(X[:n], X[n : 2 * n], random_state=SEED).pvalue
        other = test(here[:n], here[n : 2 * n], random_state=SEED).pvalue
        row(f"{test.__name__}, 2 x {n:,} rows: seconds on the GPU and on the CPU", f"{gpu:.2f} {cpu:.2f}")
        row("  p-values of both", f"{same:.4f} {other:.4f}")


def sanitize() -> None:
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer is None:
        row("compute-sanitizer", "not found")
        return
    root = Path(__file__).resolve().parent.parent
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(root / "tests" / "test_gpu.py"), "-k"]
    chosen = "cuda and not Triton and (TestEcf or TestBags or moments)"
    for tool in ("memcheck", "racecheck"):
        start = time.perf_counter()
        command = [sanitizer, "--tool", tool, "--error-exitcode", "9", *tests, chosen]
        done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
        summary = [line for line in done.stdout.splitlines() if "SUMMARY" in line or " passed" in line]
        row(f"compute-sanitizer {tool}, {time.perf_counter() - start:.0f} s", f"exit code {done.returncode}", "0")
        print("  " + "\n  ".join(summary), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sanitize", action="store_true", help="run the kernels' tests under compute-sanitizer too")
    options = parser.parse_args()
    name = torch.cuda.get_device_name()
    print(f"{name}, torch {torch.__version__}, Triton {triton.__version__}, numpy {np.__version__}, seed {SEED}")
    row("", "measured", "bar")
    copied, taken = measured_rates()
    row("memory, TB a second, read and written", f"{copied / 1e12:.2f}")
    row("special functions, 10^12 a second", f"{taken / 1e12:.2f}")

    def limit(n_bytes: float, n_functions: float) -> float:
        return max(n_bytes / copied, n_functions / taken)

    here = np.random.default_rng(SEED).normal(size=(N_ROWS, N_COLUMNS)).astype(np.float32)
    X = torch.from_numpy(here).cuda()
    one_sample(X, here, limit)
    sketches(X, here, limit)
    bags(limit)
    networks()
    resampling(X, here)
    streaming(here)
    if options.sanitize:
        sanitize()


if __name__ == "__main__":
    main()
