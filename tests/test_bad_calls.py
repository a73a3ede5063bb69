"""Thousands of generated bad calls: each is refused in clear words, or answered with numbers that make sense."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from bad_calls import VALUES, faults_of, options_of, tricky_samples, value_of

import uptonoise as un

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(50, 2)), RNG.exponential(size=(50, 2))
W = np.array([[0.5, 1.0], [1.0, -0.3], [0.2, 0.1]])
SKETCH = un.Sketch.for_samples(X, Y).update(X)
FRAME = pd.DataFrame(np.concatenate([X, Y]), columns=["a", "b"]).assign(site=np.repeat(["p", "q"], 50))

OF_TWO = {
    "compare": un.compare,
    "phase_test": un.phase_test,
    "flip_test": un.flip_test,
    "me_test": un.me_test,
    "sme_test": un.sme_test,
    "mmd_test": un.mmd_test,
    "phd_test": un.phd_test,
    "extra_noise": un.extra_noise,
    "paired_difference_test": un.paired_difference_test,
    "phase_test_power": lambda X, Y, n=20, **options: un.phase_test_power(X, Y, n, **{"n_draws": 4} | options),
    "mmd": lambda X, Y, frequencies=W, **options: un.mmd(X, Y, frequencies, **options),
    "phd": lambda X, Y, frequencies=W, **options: un.phd(X, Y, frequencies, **options),
    "paired_mmd": lambda X, Y, frequencies=W, **options: un.paired_mmd(X, Y, frequencies, **options),
}
SIGNATURES = {name: getattr(un, name) for name in OF_TWO}
OF_ONE = {
    "ecf": lambda X: un.ecf(X, W),
    "phase": lambda X: un.phase(X, W),
    "Sketch.update": lambda X: un.Sketch(W).update(X),
    "Sketch.for_samples": lambda X: un.Sketch.for_samples(X),
    "median_scale": lambda X: un.median_scale(X),
    "median_scale per column": lambda X: un.median_scale(X, per_column=True),
    "Bags": lambda X: un.Bags([Y, X]),
    "compare_groups": lambda X: un.compare_groups({"p": Y, "q": X}),
    "BagRidgeCV": lambda X: un.BagRidgeCV().fit([X] * 8, np.arange(8.0)),
}
OTHERS = {
    "Sketch": (lambda **options: un.Sketch(**{"frequencies": W} | options), un.Sketch),
    "Sketch.for_samples": (lambda **options: un.Sketch.for_samples(X, **options), un.Sketch.for_samples),
    "sample_frequencies": (
        lambda **options: un.sample_frequencies(**{"n_frequencies": 3, "n_columns": 2} | options),
        un.sample_frequencies,
    ),
    "median_scale": (lambda **options: un.median_scale(X, **options), un.median_scale),
    "compare_groups": (lambda **options: un.compare_groups(FRAME, **{"by": "site"} | options), un.compare_groups),
    "pairwise_phase_test": (
        lambda **options: un.pairwise_phase_test({"p": SKETCH, "q": un.Sketch.like(SKETCH).update(Y)}, **options),
        un.pairwise_phase_test,
    ),
    "Bags": (lambda **options: un.Bags([X, Y], **options), un.Bags),
    "Bags.from_long": (lambda **options: un.Bags.from_long(FRAME, **{"by": "site"} | options), un.Bags.from_long),
    "blocks": (lambda **options: un.blocks(**{"n_rows": 10, "size": 2} | options), un.blocks),
    "scan_csv": (lambda **options: un.scan_csv("no such file.csv", **options), un.scan_csv),
    "scan_parquet": (lambda **options: un.scan_parquet("no such file.parquet", **options), un.scan_parquet),
    "ecf": (lambda **options: un.ecf(**{"X": X, "frequencies": W} | options), un.ecf),
    "Sketch.update": (lambda **options: un.Sketch(W).update(X, **options), un.Sketch.update),
    "Sketch.select": (lambda **options: SKETCH.select(**{"columns": ["x0"]} | options), un.Sketch.select),
}
TRICKY = tricky_samples() | {"sketch": SKETCH}


def option_calls():
    """Yield calls with one bad option each."""
    for name, function in OF_TWO.items():
        for option in options_of(SIGNATURES[name]):
            for kind in VALUES:
                yield f"{name}({option}={kind})", lambda f=function, o=option, k=kind: f(X, Y, **{o: value_of(k)})
    for name, (function, signature) in OTHERS.items():
        for option in options_of(signature):
            for kind in VALUES:
                yield f"{name}({option}={kind})", lambda f=function, o=option, k=kind: f(**{o: value_of(k)})


def sample_calls():
    """Yield calls with a tricky sample, or no sample at all, in each place."""
    samples = {**TRICKY, **{name: value for name, value in VALUES.items() if name != "an iterator"}}
    for kind, sample in samples.items():
        for name, function in OF_ONE.items():
            yield f"{name}({kind})", lambda f=function, s=sample: f(s)
        for name, function in OF_TWO.items():
            yield f"{name}({kind}, Y)", lambda f=function, s=sample: f(s, Y)
            yield f"{name}(X, {kind})", lambda f=function, s=sample: f(X, s)
        yield f"streams of {kind}", lambda s=sample: un.phase_test(iter([s]), iter([Y]))
        yield f"compared streams of {kind}", lambda s=sample: un.compare(iter([X]), iter([s]))


def weight_calls():
    """Yield calls with weights of any size and kind, alone and with clusters."""
    clusters = np.arange(50) // 4, np.arange(50) // 5
    sizes = (1e-320, 1e-101, 1e-100, 1e-46, 1e-42, 1e-10, 1.0, 1e10, 1e37, 1e40, 1e90, 1e100, 1e101, 1e300)
    for first in sizes:
        for second in sizes:
            weights = np.full(50, first), np.full(50, second)
            yield f"weights {first:g}, {second:g}", lambda w=weights: un.phase_test(X, Y, weights=w)
            options = {"weights": weights, "clusters": clusters}
            yield f"clusters, weights {first:g}, {second:g}", lambda o=options: un.phase_test(X, Y, **o)
            mixed = np.r_[np.full(25, first), np.full(25, second)]
            yield f"mixed weights {first:g}, {second:g}", lambda w=mixed: un.extra_noise(X, Y, weights=(w, None))
            yield f"ecf, weights {first:g}, {second:g}", lambda w=mixed: un.ecf(X, W, w)


FAMILIES = {"options": option_calls, "samples": sample_calls, "weights": weight_calls}


@pytest.mark.parametrize("family", FAMILIES)
def test_some_bad_calls(family):
    calls = list(FAMILIES[family]())
    assert not faults_of(calls[:: max(1, len(calls) // 40)])


@pytest.mark.slow
def test_there_are_thousands_of_bad_calls():
    assert sum(1 for family in FAMILIES.values() for _ in family()) >= 6_000


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("part", range(8))
def test_all_bad_calls(family, part):
    assert not faults_of(list(FAMILIES[family]())[part::8])
