import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import uptonoise as un
from uptonoise.fourier import CosineSine, compiled

needs_kernel = pytest.mark.skipif(compiled.kernel is None, reason="the kernel is not compiled, or not in use")


def in_turns(W):
    return np.ascontiguousarray(W.T / (2 * np.pi))


def plain(X, W, weights=None):
    waves = np.exp(1j * (X @ W.T))
    return waves if weights is None else waves * weights[:, None]


def bounds_of(sizes):
    return np.concatenate([[0], np.cumsum(sizes)])


def sums_between(X, projection, weights, bounds):
    out = np.empty((len(bounds) - 1, projection.shape[1]), dtype=np.complex128)
    compiled.kernel.sums(X, projection, weights, bounds, out)
    return out


def features(X, W, weights=None):
    return features_in_turns(X, in_turns(W), weights)


def features_in_turns(X, projection, weights=None):
    out, sums = np.empty((len(X), 2 * projection.shape[1]), dtype=np.float32), np.empty(2 * projection.shape[1])
    compiled.kernel.features(X, projection, weights, out, sums)
    return out, sums


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


@needs_kernel
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 7, 19])
@pytest.mark.parametrize("m", [1, 3, 4, 7, 8, 9, 15, 16, 17, 24, 33])
def test_sums_are_those_of_the_definition_in_every_shape(rng, d, m, weighted):
    sizes = [1, 0, 2, 7, 8, 9, 16, 300, 5]
    X, W = rng.normal(size=(sum(sizes), d)), rng.normal(size=(m, d))
    weights = rng.exponential(size=len(X)) if weighted else None
    bounds = bounds_of(sizes)
    sums = sums_between(X, in_turns(W), weights, bounds)
    waves = plain(X, W, weights)
    expected = np.stack([waves[a:b].sum(axis=0) for a, b in itertools.pairwise(bounds)])
    scale = np.maximum(1, np.array(sizes))[:, None] if weights is None else np.abs(waves).sum()
    assert np.abs((sums - expected) / scale).max() < 5e-7
    assert (sums[1] == 0).all()


@needs_kernel
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("d", "m"), [(1, 1), (2, 5), (5, 8), (3, 16), (8, 21)])
def test_features_and_their_sums_are_those_of_the_definition(rng, d, m, weighted):
    X, W = rng.normal(size=(517, d)), rng.normal(size=(m, d))
    weights = rng.exponential(size=len(X)) if weighted else None
    out, sums = features(X, W, weights)
    waves = plain(X, W)
    assert np.abs(out - np.concatenate([waves.real, waves.imag], axis=1)).max() < 5e-7
    own = out.sum(axis=0, dtype=np.float64) if weights is None else weights @ out.astype(np.float64)
    np.testing.assert_allclose(sums, own, atol=1e-7 * len(X))


@needs_kernel
@pytest.mark.parametrize("reach", [1e-3, 1.0, 1e2, 1e4])
def test_no_feature_is_off_by_more_than_5e_7_up_to_10_000_radians(rng, reach):
    X = np.concatenate([rng.uniform(-reach, reach, size=200_000), np.linspace(-reach, reach, 50_001)])[:, None]
    out, _ = features(X, np.array([[1.0]]))
    assert np.abs(out - np.concatenate([np.cos(X), np.sin(X)], axis=1)).max() < 5e-7


@needs_kernel
def test_equal_rows_whose_rounding_adds_up_stay_within_the_error(rng):
    for _ in range(20):
        x, W = rng.normal(size=(1, 5)), 1_000 * rng.normal(size=(100, 5))
        sums = sums_between(np.repeat(x, 1_001, axis=0), in_turns(W), None, np.array([0, 1_001]))
        assert np.abs(sums / 1_001 - plain(x, W)).max() < 5e-7


@needs_kernel
def test_the_errors_of_rows_have_no_sign_that_adds_up(rng):
    X, W = rng.normal(size=(100_000, 5)), rng.normal(size=(30, 5))
    mean = sums_between(X, in_turns(W), None, np.array([0, len(X)]))[0] / len(X)
    assert np.abs(mean - plain(X, W).mean(axis=0)).max() < 1e-8


@needs_kernel
def test_quarter_turns_are_exact():
    quarters = np.arange(-8, 9.0)[:, None]
    out, _ = features_in_turns(quarters, np.array([[0.25]]))
    np.testing.assert_allclose(out[:, 0], np.cos(np.pi * quarters[:, 0] / 2), atol=2e-7)
    np.testing.assert_allclose(out[:, 1], np.sin(np.pi * quarters[:, 0] / 2), atol=2e-7)


@needs_kernel
def test_a_sum_depends_on_its_rows_alone(rng):
    X, W = rng.normal(size=(1_000, 3)), rng.normal(size=(37, 3))
    bounds = np.sort(rng.choice(1_001, size=60, replace=False))
    together = sums_between(X, in_turns(W), None, bounds)
    for a, b, sums in zip(bounds[:-1], bounds[1:], together, strict=True):
        alone = sums_between(X[a:b].copy(), in_turns(W), None, np.array([0, b - a]))
        np.testing.assert_array_equal(alone[0], sums)
    fewer = sums_between(X, in_turns(W[5:14]), None, bounds)
    np.testing.assert_array_equal(fewer, together[:, 5:14])


@needs_kernel
def test_denormal_tiny_and_huge_rows(rng):
    W = rng.normal(size=(9, 1))
    for x in (5e-324, 1e-310, 1e-30, -1e-300, 0.0, -0.0):
        assert np.abs(sums_between(np.array([[x]]), in_turns(W), None, np.array([0, 1])) - 1).max() < 5e-7
    # Only the last digits of float64 tell where in a turn such an angle is; numpy reduces it in the same way.
    turns = rng.uniform(-1e14, 1e14, size=(1_000, 1))
    out, _ = features_in_turns(turns, np.array([[1.0]]))
    left = 2 * np.pi * (turns - np.rint(turns))
    np.testing.assert_allclose(out, np.concatenate([np.cos(left), np.sin(left)], axis=1), atol=5e-7)


@needs_kernel
@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_weights_that_float32_does_not_hold(rng, size):
    X, W, weights = rng.normal(size=(100, 2)), rng.normal(size=(11, 2)), size * rng.exponential(size=100)
    sums = sums_between(X, in_turns(W), weights, np.array([0, 100]))[0]
    np.testing.assert_allclose(sums / weights.sum(), plain(X, W, weights).sum(axis=0) / weights.sum(), atol=5e-7)


@needs_kernel
def test_rows_may_lie_anywhere_in_memory(rng):
    X, W = rng.normal(size=(40, 2)), rng.normal(size=(5, 2))
    bounds = np.array([0, 40])
    expected = CosineSine(W, "fast").sums(X, None, bounds)
    odd = np.frombuffer(b"." + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    wide = np.zeros((80, 2))
    wide[::2] = X
    for rows in (odd, wide[::2], np.asfortranarray(X)):
        np.testing.assert_array_equal(CosineSine(W, "fast").sums(rows, None, bounds), expected)
        np.testing.assert_array_equal(CosineSine(W, "fast")(rows), CosineSine(W, "fast")(X))


@needs_kernel
def test_bad_arguments_are_refused_not_read():
    X, P, bounds = np.zeros((4, 2)), np.zeros((2, 3)), np.array([0, 4])
    for wrong in (np.array([0, 5]), np.array([-1, 4]), np.array([3, 1]), np.array([0, 4, 2])):
        with pytest.raises(ValueError, match="bounds must be int64, in increasing order"):
            sums_between(X, P, None, wrong)
    with pytest.raises(ValueError, match="projection must have 2 rows"):
        sums_between(X, np.zeros((3, 3)), None, bounds)
    with pytest.raises(ValueError, match="weights must have 4 rows"):
        sums_between(X, P, np.ones(3), bounds)
    with pytest.raises(ValueError, match="values must be a contiguous array of 2 dimensions and of the type d"):
        sums_between(X.astype(np.float32), P, None, bounds)
    with pytest.raises(ValueError, match="at least one column"):
        sums_between(np.zeros((4, 0)), np.zeros((0, 3)), None, bounds)
    with pytest.raises(ValueError, match="out must have 4 rows and 6 columns"):
        compiled.kernel.features(X, P, None, np.empty((4, 5), dtype=np.float32), np.empty(6))
    with pytest.raises(ValueError, match="weights must be a contiguous array of 1 dimensions"):
        sums_between(X, P, np.ones((4, 1)), bounds)


@needs_kernel
@pytest.mark.parametrize("weighted", [False, True])
def test_both_kernels_give_the_same_within_their_error(rng, weighted):
    X, W = rng.normal(size=(5_000, 3)), rng.normal(size=(40, 3))
    weights = rng.exponential(size=len(X)) if weighted else None
    bags = un.Bags(np.array_split(X, 300))
    frame = pd.DataFrame({"by": rng.integers(5, size=len(X)), "x": X[:, 0]})

    def all_of_it():
        sketch = un.Sketch(W).update(X, weights)
        scattered = un.ecf(un.Bags.from_long(frame, by="by"), W[:, :1])
        return [un.ecf(X, W, weights), un.ecf(bags, W, weights), scattered, sketch.mean, sketch.covariance]

    compiled_results = all_of_it()
    with compiled.by_numpy():
        numpy_results = all_of_it()
    for one, other in zip(compiled_results, numpy_results, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=5e-7)


@needs_kernel
def test_threads_that_call_at_once_get_the_same(rng):
    X, W, bounds = rng.normal(size=(20_000, 3)), rng.normal(size=(30, 3)), np.arange(0, 20_001, 100)
    expected = sums_between(X, in_turns(W), None, bounds)
    with ThreadPoolExecutor(4) as pool:
        for sums in pool.map(lambda _: sums_between(X, in_turns(W), None, bounds), range(20)):
            np.testing.assert_array_equal(sums, expected)


@needs_kernel
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_gets_the_same_while_threads_are_in_the_kernel():
    done = python(
        """
import os, threading
import numpy as np
import pandas as pd
from uptonoise.fourier import compiled

X, P = np.random.default_rng(0).normal(size=(50_000, 3)), np.random.default_rng(1).normal(size=(3, 30))
bounds = np.array([0, 20, 50_000])

def sums():
    out = np.empty((2, 30), dtype=complex)
    compiled.kernel.sums(X, P, None, bounds, out)
    return out

expected = sums()
threads = [threading.Thread(target=lambda: [sums() for _ in range(20)]) for _ in range(2)]
for thread in threads:
    thread.start()
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(sums(), expected) else 1)
for thread in threads:
    thread.join()
print(os.waitpid(child, 0)[1])
"""
    )
    assert done.stdout.strip() == "0", done.stderr


@needs_kernel
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_after_a_sum_in_threads_makes_the_same_sum():
    done = python(
        """
import os
import numpy as np
import pandas as pd
import uptonoise as un

X, W = np.random.default_rng(0).normal(size=(100_000, 3)), np.random.default_rng(1).normal(size=(30, 3))
expected = un.ecf(X, W)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(un.ecf(X, W), expected) else 1)
print(os.waitpid(child, 0)[1])
""",
        UPTONOISE_NUM_THREADS="2",
    )
    assert done.stdout.strip() == "0", done.stderr


SUMS = """
import numpy as np
import pandas as pd
from uptonoise.fourier import compiled
rng = np.random.default_rng(0)
X, P = rng.normal(size=(1000, 5)), rng.normal(size=(5, 100))
sums = np.empty((2, 100), dtype=complex)
compiled.kernel.sums(X, P, None, np.array([0, 10, 1000]), sums)
print(compiled.kernel_name())
print(sums.tobytes().hex())
"""


def sums_with(kernel):
    done = python(SUMS, UPTONOISE_KERNEL=kernel)
    assert done.returncode == 0, done.stderr
    name, hexadecimal = done.stdout.split("\n")[:2]
    return name, np.frombuffer(bytes.fromhex(hexadecimal), dtype=np.complex128)


@needs_kernel
def test_instruction_sets_agree():
    name, best = sums_with("compiled")
    _, avx2 = sums_with("avx2")
    baseline_name, baseline = sums_with("baseline")
    np.testing.assert_array_equal(avx2, best)
    np.testing.assert_allclose(baseline, best, atol=1e-4)
    assert name.startswith("compiled (")
    assert baseline_name in ("compiled (vectors of 128 bits)", "compiled (no vectors)")


def test_the_environment_chooses_the_kernel():
    code = "from uptonoise.fourier import compiled; print(compiled.kernel is not None, compiled.kernel_name())"
    assert python(code, UPTONOISE_KERNEL="numpy").stdout == "False numpy (UPTONOISE_KERNEL=numpy)\n"
    assert "UPTONOISE_KERNEL must be one of numpy, compiled" in python(code, UPTONOISE_KERNEL="fortran").stderr


def test_without_the_extension_numpy_does_the_work():
    hidden = "import sys; sys.modules['uptonoise.fourier._kernel'] = None\n"
    code = hidden + "import uptonoise as un; from uptonoise.fourier import compiled; print(compiled.kernel_name())"
    done = python(code + "; print(un.ecf([0.0], [1.0]))", UPTONOISE_KERNEL="")
    assert done.stdout == "numpy (no compiled kernel)\n[1.+0.j]\n"
    assert "cannot be loaded" in python(code, UPTONOISE_KERNEL="compiled").stderr
