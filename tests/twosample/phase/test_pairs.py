"""All pairs of many sketches: the numbers of single tests, adjustments, and what people read."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import uptonoise as un
from uptonoise.twosample.phase.pairs import adjusted_pvalues


@pytest.fixture
def sketches(rng, tmp_path):
    """Sketches that were saved: they hold no rows, as is so for all pairs of many groups."""
    rows = {name: rng.exponential(size=(size, 2)) for name, size in zip("abcd", (200, 200, 300, 150), strict=True)}
    rows["b"] += rng.normal(size=(200, 2))
    rows["d"] = 2 - rows["d"]
    empty = un.Sketch.for_samples(*rows.values())
    for name, x in rows.items():
        un.Sketch.like(empty).update(x).save(tmp_path / name)
    return {name: un.Sketch.load(tmp_path / name) for name in rows}


@pytest.mark.parametrize("positivity", [True, False])
def test_pairs_are_single_tests(sketches, positivity):
    found = un.pairwise_phase_test(sketches, adjust="none", positivity=positivity)
    group = list(sketches.values())
    for i in range(4):
        for j in range(i + 1, 4):
            one = un.phase_test(group[i], group[j], positivity=positivity)
            assert found.pvalues[i, j] == found.pvalues[j, i] == pytest.approx(one.pvalue, rel=1e-9)
            assert found.noncentralities[i, j] == pytest.approx(one.noncentrality.estimate, rel=1e-9)
    assert (np.diag(found.pvalues) == 1).all()
    np.testing.assert_array_equal(found.adjusted, found.pvalues)


def test_what_people_read(sketches):
    found = un.pairwise_phase_test(sketches)
    assert repr(found).startswith("Phase tests of 6 pairs of 4 groups: 3 differ beyond noise")
    assert found.names == ("a", "b", "c", "d")
    frame = found.to_frame()
    assert set(frame["other"][:3]) == {"d"}
    assert found.to_frame("polars").shape == (6, 5)
    assert json.loads(json.dumps(found.to_dict()))["adjust"] == "holm"
    assert found == un.pairwise_phase_test(sketches)
    assert hash(found) == hash(un.pairwise_phase_test(sketches))
    assert found != un.pairwise_phase_test(sketches, adjust="none")


def test_parts_change_nothing(sketches, monkeypatch):
    whole = un.pairwise_phase_test(list(sketches.values()))
    monkeypatch.setattr("uptonoise.twosample.phase.pairs._AT_ONCE", 1)
    parts = un.pairwise_phase_test(list(sketches.values()))
    np.testing.assert_allclose(parts.pvalues, whole.pvalues, rtol=1e-9)
    assert whole.names == ("0", "1", "2", "3")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_pvalues_keep_order_and_bounds(values):
    pvalues = np.array(values)
    holm, bonferroni, bh = (adjusted_pvalues(pvalues, how) for how in ("holm", "bonferroni", "benjamini-hochberg"))
    assert (pvalues <= bh + 1e-15).all()
    assert (bh <= holm + 1e-12).all()
    assert (holm <= bonferroni + 1e-12).all()
    assert bonferroni.max() <= 1
    order = np.argsort(pvalues)
    assert (np.diff(holm[order]) >= 0).all()
    assert (np.diff(bh[order]) >= -1e-15).all()


def test_blocks_are_those_of_any_group_that_names_them(sketches):
    group = list(sketches.values())
    nameless = un.Sketch(group[0].frequencies) + group[0]
    found = un.pairwise_phase_test([nameless, group[1], nameless], adjust="none")
    assert found.pvalues[0, 1] == pytest.approx(un.phase_test(group[0], group[1]).pvalue, rel=1e-6)


def test_bad_input(sketches, rng):
    with pytest.raises(ValueError, match="names that differ as text"):
        un.pairwise_phase_test({1: sketches["a"], "1": sketches["b"]})
    with pytest.raises(ValueError, match="a dict or a sequence of groups; got a int"):
        un.pairwise_phase_test(3)
    with pytest.raises(ValueError, match="adjust must be one of holm, bonferroni"):
        un.pairwise_phase_test(sketches, adjust="sidak")
    with pytest.raises(ValueError, match="at least two groups; got 1"):
        un.pairwise_phase_test({"a": sketches["a"]})
    with pytest.raises(ValueError, match="at least two groups; got one Sketch"):
        un.pairwise_phase_test(sketches["a"])
    with pytest.raises(ValueError, match="the group b is a ndarray"):
        un.pairwise_phase_test({"a": sketches["a"], "b": np.zeros(3)})
    with pytest.raises(ValueError, match=r"the group e .* must have at least 2 rows"):
        un.pairwise_phase_test({**sketches, "e": un.Sketch.like(sketches["a"])})
    with pytest.raises(ValueError, match="different frequencies"):
        un.pairwise_phase_test({**sketches, "e": un.Sketch([[1.0, 2.0]]).update(rng.normal(size=(9, 2)))})


class TestSamples:
    """Samples in place of sketches, with and without clusters."""

    def test_samples_are_sketched(self, rng):
        samples = {name: rng.gamma(2, size=(200, 2)) for name in "abc"}
        empty = un.Sketch.for_samples(*samples.values())
        sketches = {name: un.Sketch.like(empty).update(rows) for name, rows in samples.items()}
        expected = un.pairwise_phase_test(sketches)
        assert un.pairwise_phase_test(samples) == expected
        np.testing.assert_array_equal(un.pairwise_phase_test(list(samples.values())).pvalues, expected.pvalues)

    def test_clusters_of_arrays_and_of_a_column(self, rng):
        ids = {name: np.array([f"{name}{number}" for number in np.repeat(np.arange(20), 15)]) for name in "abc"}
        samples = {name: rng.gamma(2, size=20).repeat(15) + rng.normal(size=300) for name in "abc"}
        result = un.pairwise_phase_test(samples, clusters=ids)
        pair = un.phase_test(samples["a"], samples["b"], clusters=(ids["a"], ids["b"]))
        assert 0.2 < result.pvalues[0, 1] / pair.pvalue < 5  # the frequencies are those of three samples
        assert (result.pvalues > un.pairwise_phase_test(samples).pvalues - 1e-12).mean() > 0.6
        frames = {name: pd.DataFrame({"x": rows, "unit": ids[name]}) for name, rows in samples.items()}
        by_column = un.pairwise_phase_test(frames, clusters="unit")
        np.testing.assert_allclose(by_column.pvalues, result.pvalues, rtol=1e-9)
        in_order = un.pairwise_phase_test(list(samples.values()), clusters=list(ids.values()))
        np.testing.assert_array_equal(in_order.pvalues, result.pvalues)

    def test_the_same_units_in_two_groups_are_a_warning(self, rng):
        ids = np.repeat(np.arange(5), 10)
        with pytest.warns(un.SharedClustersWarning, match="share 5 cluster ids"):
            un.pairwise_phase_test({"a": rng.normal(size=50), "b": rng.normal(size=50)}, clusters={"a": ids, "b": ids})

    @pytest.mark.parametrize(
        ("clusters", "message"),
        [
            (3, "clusters must be the name of a column, or a dict or sequence of ids for each group; got 3"),
            ({"a": [1, 2, 3, 4]}, "ids for every group"),
            ([[1, 2, 3, 4]] * 3, "ids for every group"),
            ({"a": [1, 2, 3], "b": [4, 5, 6, 7]}, "one id for each row of the group a"),
            ({"a": [1, 2, 3, None], "b": [4, 5, 6, 7]}, "must have an id for every row"),
            ({"a": [1, 1, 2, 2], "b": [4, 5, 6, 7]}, "the group a .* must have at least 3 clusters"),
            ({"a": [1, "x", 2, 2], "b": [4, 5, 6, 7]}, "of one type"),
        ],
    )
    def test_bad_clusters(self, clusters, message):
        samples = {"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 2.0, 3.0, 4.5]}
        with pytest.raises(ValueError, match=message):
            un.pairwise_phase_test(samples, clusters=clusters)

    def test_sketches_bring_their_own(self, rng):
        sketch = un.Sketch.for_samples(rng.normal(size=50)).update(rng.normal(size=50))
        with pytest.raises(ValueError, match="left out for sketches"):
            un.pairwise_phase_test([sketch, sketch], clusters=[[1] * 50] * 2)
        with pytest.raises(ValueError, match="all be sketches, or all samples; the group 1 is a list"):
            un.pairwise_phase_test([sketch, [1.0, 2.0]])
