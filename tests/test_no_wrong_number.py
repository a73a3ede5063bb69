"""Inputs that once gave wrong numbers without an error, one family after the other."""

from __future__ import annotations

import json
import threading
import warnings

import numpy as np
import pandas as pd
import pytest

import uptonoise as un


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("units", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("way", ["whole", "in chunks", "sorted"])
def test_a_stream_gives_the_numbers_of_the_array(rng, units, way):
    X = units * np.r_[np.zeros(300), rng.exponential(size=5_000)]
    Y = units * np.r_[np.zeros(300), 2 - rng.exponential(size=5_000)]
    if way == "sorted":
        X, Y = np.sort(X), np.sort(Y)
    parts = 1 if way == "whole" else 53
    expected = un.phase_test(X, Y)
    streamed = un.phase_test(iter(np.split(X, parts)), iter(np.split(Y, parts)))
    assert streamed.pvalue == pytest.approx(expected.pvalue, rel=1e-6)
    assert streamed.effect.estimate == pytest.approx(expected.effect.estimate, rel=1e-6)


def test_a_stream_whose_scale_changes_is_told(rng, monkeypatch):
    for name in ("rows.sampling._FIRST_NUMBERS", "fourier.sketch._SCALE_NUMBERS"):
        monkeypatch.setattr(f"uptonoise.{name}", 1_000)
    X = np.r_[rng.normal(size=2_000), 50 * rng.normal(size=20_000)]
    with pytest.warns(un.SuspiciousValuesWarning, match=r"the first 2,000 rows of X.* another scale than all 22,000"):
        un.phase_test(iter(np.split(X, 11)), rng.normal(size=500))


def test_missing_values_of_a_stream_are_left_out(rng):
    X, Y = rng.normal(size=(2, 500))
    gaps = np.r_[X[:100], np.nan, X[100:]]
    expected = un.compare(X, Y).phase.pvalue
    assert un.compare(iter([gaps]), iter([Y]), missing="drop").phase.pvalue == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("units", [1e-6, 1e-4, 1e4, 1e6])
def test_rare_events_do_not_depend_on_units(rng, units, monkeypatch):
    monkeypatch.setattr("uptonoise.fourier.sketch._SCALE_NUMBERS", 20)  # so that hardly any event is among the rows
    n = 20_000
    X, Y = rng.normal(size=(2, n, 2))
    X[:, 0] = Y[:, 0] = 0.0
    X[rng.choice(n, 10, replace=False), 0] = 1.0
    Y[rng.choice(n, 60, replace=False), 0] = 1.0
    scale = np.array([units, 1.0])
    expected, found = (un.phase_test(X * factor, Y * factor).pvalue for factor in (np.ones(2), scale))
    assert np.log(found) == pytest.approx(np.log(expected), rel=1e-3)
    noise = un.extra_noise(X * scale, Y * scale).variances / scale**2
    np.testing.assert_allclose(noise, un.extra_noise(X, Y).variances, rtol=1e-3)


def test_columns_that_are_constant_and_differ(rng):
    X, Y = rng.normal(size=(2, 200, 2))
    X[:, 0], Y[:, 0] = 0.0, 1.0
    pvalues = [un.phase_test(X * [units, 1], Y * [units, 1]).pvalue for units in (1e-9, 1.0, 2 * np.pi, 1e9)]
    np.testing.assert_allclose(pvalues, pvalues[0], rtol=1e-3)


@pytest.mark.parametrize("weight", [1e-100, 1e-46, 1e-42, 1e37, 1e40, 1e90, 1e100])
@pytest.mark.parametrize("clustered", [False, True])
def test_equal_weights_are_no_weights(rng, weight, clustered):
    X, Y = rng.normal(size=(2, 200))
    clusters = (np.arange(200) // 4, 1_000 + np.arange(200) // 4) if clustered else None
    expected = un.phase_test(X, Y, clusters=clusters).pvalue
    weights = np.full(200, weight), np.full(200, weight)
    assert un.phase_test(X, Y, clusters=clusters, weights=weights).pvalue == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("code", [-999.0, 9_999.0])
@pytest.mark.parametrize("test", [un.me_test, un.mmd_test, un.flip_test])
def test_codes_for_missing_values_are_counted(rng, code, test):
    X, Y = rng.normal(size=(2, 100, 2))
    X[:3, 1] = code
    with pytest.warns(un.SuspiciousValuesWarning, match=r"X has 3 values of .* in the column 'x1'"):
        test(X, Y)


def test_a_code_is_told_once_in_a_comparison(rng):
    frames = [pd.DataFrame(rng.normal(20, 5, size=(60, 1)), columns=["temperature"]) for _ in range(2)]
    frames[0].iloc[:2] = -999.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        un.compare(*frames)
    told = [str(warning.message) for warning in caught if warning.category is un.SuspiciousValuesWarning]
    assert len(told) == 1
    assert "2 values of -999 in the column 'temperature'" in told[0]


@pytest.mark.parametrize("code", [999.0, 9_999.0])
def test_a_number_among_others_is_no_code(rng, code):
    X = rng.uniform(0, 2 * code, size=(100, 1))
    X[0] = code
    with warnings.catch_warnings():
        warnings.simplefilter("error", un.SuspiciousValuesWarning)
        un.phase_test(X, X + 1)


def test_no_pvalue_is_zero(rng):
    X, Y = rng.normal(size=(2, 5_000))
    sketches = un.Sketch.for_samples(X, Y + 50).update(X), None
    other = un.Sketch.like(sketches[0]).update(Y + 50)
    results = [test(X, Y + 50) for test in (un.me_test, un.sme_test, un.phase_test)]
    results += [un.mmd_test(sketches[0], other), un.compare(sketches[0], other)]
    constant = np.zeros(2_000)
    results.append(un.phase_test(constant, constant + 1))
    for result in results:
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))
        pvalue = result.phase.pvalue if isinstance(result, un.Comparison) else result.pvalue
        assert 0 < pvalue < 1e-200
    groups = un.compare_groups({"a": X, "b": Y + 50, "c": X[:50]})
    assert (groups.pairs.pvalues > 0).all()


def test_threads_may_update_one_sketch(rng):
    parts, sketch = rng.normal(size=(240, 10)), un.Sketch([[1.0]])
    threads = [threading.Thread(target=lambda k=k: [sketch.update(part) for part in parts[k::8]]) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sketch.n_rows == parts.size
    np.testing.assert_allclose(sketch.mean, un.Sketch([[1.0]]).update(parts.ravel()).mean, atol=1e-6)


def changed_file(path, change):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(str(arrays["header"]))
    change(header, arrays)
    arrays["header"] = np.array(json.dumps(header))
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: header.update(n_rows=5),
        lambda header, arrays: arrays.update(weights=np.array([300.0, 1.0])),
        lambda header, arrays: arrays["scatter"].__setitem__((slice(0, 2), slice(0, 2)), [[1.0, 1e4], [1e4, 1.0]]),
        lambda header, arrays: arrays.update(scatter=3 * arrays["scatter"]),
        lambda header, arrays: arrays.update(mean=np.zeros_like(arrays["mean"])),
    ],
    ids=["too few rows", "other weights", "indefinite", "too large", "other mean"],
)
def test_a_tampered_sketch_is_refused(tmp_path, rng, change):
    path = tmp_path / "a.npz"
    X = rng.exponential(size=(300, 2))
    un.Sketch.for_samples(X).update(X).save(path)
    changed_file(path, change)
    with pytest.raises(ValueError, match=r"a\.npz is a damaged sketch"):
        un.Sketch.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: arrays["coef"].fill(np.nan),
        lambda header, arrays: arrays.update(coef=arrays["coef"][..., :-1]),
        lambda header, arrays: header.update(n_columns=100_000_000),
        lambda header, arrays: header.update(columns=["a"] * 7),
    ],
    ids=["NaN", "too short", "columns", "names"],
)
@pytest.mark.parametrize("make", [un.plrr, un.lgrr, un.BagRidgeCV])
def test_a_tampered_model_is_refused(tmp_path, rng, make, change):
    path = tmp_path / "a.npz"
    make(random_state=0).fit(rng.normal(size=(20, 5, 2)), np.arange(20.0)).save(path)
    changed_file(path, change)
    with pytest.raises(ValueError, match=r"a\.npz is not a model"):
        un.BagRidgeCV.load(path)


def test_an_extra_part_of_a_sketch_is_never_unpacked(tmp_path, rng):
    path = tmp_path / "a.npz"
    un.Sketch([[1.0]]).update(rng.normal(size=30)).save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(path, **arrays, extra=np.zeros(10))
    assert un.Sketch.load(path).n_rows == 30
    np.savez_compressed(path, **arrays, extra=np.zeros(10))
    with pytest.raises(ValueError, match="is compressed, which uptonoise never writes"):
        un.Sketch.load(path)


def test_the_sample_with_the_largest_float_is_named():
    X, Y = np.random.default_rng(0).normal(size=(2, 200, 1))
    Y[0] = np.finfo(float).max
    for call in (un.phase_test, un.compare):
        with pytest.raises(ValueError, match="Y times frequencies reaches inf"):
            call(X, Y)


def test_groups_of_a_dict_have_as_few_frequencies_as_those_of_a_frame():
    rows = np.random.default_rng(0).normal(size=(400, 5, 1))
    with pytest.warns(un.FewerFrequenciesWarning, match="46 frequencies are used in place of"):
        assert un.Sketch.for_samples(*rows).n_frequencies == 46
    with pytest.raises(ValueError, match="groups must be at most 2,000"):
        un.compare_groups({str(number): rows[0] for number in range(2_001)})


def test_more_groups_and_columns_than_an_hour_compares_are_refused():
    with pytest.raises(ValueError, match=r"all pairs of 1,500 groups with 60 columns take about .* GB and .* minutes"):
        un.Sketch.for_samples(*np.random.default_rng(0).normal(size=(1_500, 4, 60)))
