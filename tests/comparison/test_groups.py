"""compare_groups: all pairs of many samples, and the sketches of groups."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import uptonoise as un
from uptonoise.comparison import Verdict


def gamma(n, d=2, seed=0, noise=0.0):
    generator = np.random.default_rng(seed)
    return generator.gamma(2.0, size=(n, d)) + noise * generator.normal(size=(n, d))


class TestGroups:
    def frame(self):
        generator = np.random.default_rng(0)
        site = generator.choice(["a", "b", "c"], 1_500)
        x = generator.gamma(2.0, size=1_500)
        x[site == "b"] += generator.normal(size=np.sum(site == "b"))
        x[site == "c"] *= -1
        return pd.DataFrame({"site": site, "x": x, "y": generator.normal(size=1_500)})

    def test_all_pairs_are_compared_and_adjusted(self):
        found = un.compare_groups(self.frame(), by="site")
        assert {frozenset(pair) for pair in found.differing} == {frozenset("ac"), frozenset("bc")}
        assert found.columns == ("x", "y")
        assert found.outliers == ["c"]
        assert found.sentence == "c differs from all 2 others; no other pair differs (3 pairs, adjusted)."
        assert found.pair("a", "b").verdict != "differ beyond noise and an offset"
        assert found == un.compare_groups(self.frame(), by="site")
        assert json.dumps(found.to_dict(), allow_nan=False)
        assert len(found.to_frame()) == 3

    def test_every_kind_of_groups_has_the_same_sketches(self):
        frame = self.frame()
        bags = un.Bags.from_long(frame, by="site")
        of_frame, of_bags = un.compare_groups(frame, by="site"), un.compare_groups(bags)
        of_polars = un.compare_groups(pl.from_pandas(frame), by="site")
        assert of_frame == of_bags == of_polars
        again = un.compare_groups(of_frame.sketches)
        np.testing.assert_array_equal(again.pairs.pvalues, of_frame.pairs.pvalues)

    def test_a_dict_of_samples_has_names(self):
        found = un.compare_groups({name: gamma(200, seed=seed) for seed, name in enumerate("pqr")})
        assert found.names == ("p", "q", "r")
        assert found.differing == []
        assert found.sentence.startswith("No two of 3 groups")

    def test_every_pair_has_a_verdict(self):
        found = un.compare_groups(self.frame(), by="site")
        verdicts = {frozenset(entry["pair"]): entry["verdict"] for entry in found.verdicts}
        assert len(verdicts) == 3
        assert verdicts[frozenset("ac")].is_difference
        assert not verdicts[frozenset("ab")].is_difference
        assert set(found.to_frame()["verdict"]) <= set(map(str, Verdict))
        assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["verdicts"][0]["noise"] == []

    @pytest.mark.parametrize("n", [30, 400])
    def test_two_groups_are_compared_as_two_samples(self, n):
        X, Y = gamma(n, 1), gamma(n, 1, seed=1, noise=2.0)
        alone = un.compare(X, Y, names=("a", "b"))
        groups = un.compare_groups({"a": X, "b": Y})
        assert groups.pair("a", "b") == alone
        assert groups.sentence == alone.sentence
        assert groups.verdict("a", "b") == alone.verdict
        frame = pd.DataFrame({"g": np.repeat(["a", "b"], n), "x0": np.r_[X[:, 0], Y[:, 0]]})
        assert un.compare_groups(frame, by="g").pair("a", "b") == alone

    def test_groups_that_are_alike_stand_side_by_side_after_the_outliers(self, rng):
        groups = {name: rng.gamma(2, size=400) + shift for name, shift in zip("abcd", [0, 1, 0, 5], strict=True)}
        result = un.compare_groups(groups)
        assert set(result.outliers) == {"b", "d"}
        assert set(result.by_similarity[:2]) == {"b", "d"}
        assert set(result.by_similarity[2:]) == {"a", "c"}
        assert result.effect("a", "c") == result.effect("c", "a") == result.pair("a", "c").effect
        many = un.compare_groups({str(number): rng.normal(number % 2, size=60) for number in range(18)})
        order = [int(name) % 2 for name in many.by_similarity]
        assert sorted(many.by_similarity, key=int) == list(many.names)
        assert np.count_nonzero(np.diff(order)) <= 4

    def test_few_rows_of_two_groups_are_judged_by_the_exact_test(self):
        rng = np.random.default_rng(1)
        groups = {"a": rng.exponential(size=25), "b": 3 - rng.exponential(size=25)}
        result = un.compare_groups(groups)
        assert result.two.flip is not None
        assert result.verdict("a", "b") == result.two.verdict
        assert bool(result.differing) == result.two.differs_beyond_noise

    def test_columns_choose(self):
        assert un.compare_groups(self.frame(), by="site", columns=["y"]).differing == []

    @pytest.mark.parametrize(
        ("groups", "options", "said"),
        [
            (pd.DataFrame({"x": [1.0]}), {}, "by must name the column"),
            (pd.DataFrame({"x": [1.0, 2.0], "s": ["a", "a"]}), {"by": "s"}, "at least two"),
            (np.ones((3, 2)), {}, "which row is in which group"),
            ({"a": np.ones((3, 2))}, {"by": "s"}, "by and columns are for frames"),
            ({}, {}, "at least two"),
            ({"a": np.ones(1), "b": np.ones(3)}, {}, "the group a must have at least 2 rows"),
            ({"a": np.ones(3), "b": np.ones(3)}, {"adjust": "fdr"}, "adjust must be one of"),
        ],
    )
    def test_bad_groups_are_refused(self, groups, options, said):
        with pytest.raises(ValueError, match=said):
            un.compare_groups(groups, **options)

    def test_an_unknown_pair_is_refused(self):
        found = un.compare_groups(self.frame(), by="site")
        with pytest.raises(ValueError, match="groups must be out of"):
            found.pair("a", "z")


class TestSketchesByGroup:
    def test_rows_of_a_group_may_be_anywhere(self):
        generator = np.random.default_rng(0)
        frame = pd.DataFrame({"g": generator.integers(0, 7, 5_000), "x": generator.normal(size=5_000)})
        sketches = un.Sketch.for_groups(un.Bags.from_long(frame, by="g"))
        for group, sketch in sketches.items():
            rows = frame.loc[frame["g"] == group, "x"].to_numpy()
            alone = un.Sketch.like(sketch).update(rows)
            assert sketch.n_rows == len(rows)
            np.testing.assert_allclose(sketch.mean, alone.mean, atol=1e-6)
            np.testing.assert_allclose(sketch.covariance, alone.covariance, atol=1e-6)

    def test_selecting_columns_keeps_exact_moments_and_blocks(self):
        rows = gamma(500, 4)
        sketch = un.Sketch.for_samples(rows).update(rows)
        part = sketch.select(["x2", "x0"])
        again = un.Sketch(part.frequencies, centre=part.centre).update(rows[:, [2, 0]])
        np.testing.assert_allclose(part.covariance, again.covariance, atol=1e-6)
        assert part.columns == ("x2", "x0")
        assert list(part.blocks) == list(sketch.blocks)
        assert sketch.select(sketch.columns) == sketch
        for wanted in ([], ["z"], "x0"):
            with pytest.raises(ValueError, match="columns"):
                sketch.select(wanted)

    def test_a_sketch_of_many_blocks_is_saved_and_read(self, tmp_path):
        rows = gamma(10_000, 2)
        sketch = un.Sketch.for_samples(rows).update(rows[:4_000]).update(rows[4_000:])
        sketch.save(tmp_path / "s.npz")
        assert un.Sketch.load(tmp_path / "s.npz") == sketch
