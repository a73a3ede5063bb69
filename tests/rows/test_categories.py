"""Columns of text as columns of 0 and 1: frames and samples in memory."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import uptonoise as un
from uptonoise.rows.categories import coded_frame

N = 400


def frame(seed=0, shares=(0.5, 0.3, 0.2), colours=("blue", "green", "red"), noise=0.0, n=N):
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": generator.gamma(2, size=n) + noise * generator.normal(size=n),
            "colour": generator.choice(colours, n, p=shares),
            "sex": generator.choice(["f", "m"], n),
        }
    )


def as_categorical(table):
    return table.astype({"colour": "category"})


KINDS = {
    "pandas": lambda table: table,
    "pandas categorical": as_categorical,
    "polars": pl.from_pandas,
    "polars lazy": lambda table: pl.from_pandas(table).lazy(),
    "polars categorical": lambda table: pl.from_pandas(as_categorical(table)),
    "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
}


class TestOneHot:
    @pytest.mark.parametrize("kind", KINDS)
    def test_all_kinds_of_frames_have_the_same_columns_and_values(self, kind):
        table = frame()
        coded = un.one_hot(KINDS[kind](table))
        names = list(coded.column_names if kind == "pyarrow" else coded.columns)
        assert names == ["x", "colour=blue", "colour=green", "colour=red", "sex=m"]
        assert np.array_equal(np.asarray(coded["colour=green"], dtype=float), table["colour"] == "green")
        assert np.array_equal(np.asarray(coded["sex=m"], dtype=float), table["sex"] == "m")

    def test_columns_that_a_frame_has_not_are_made(self):
        table = nw.from_native(pd.DataFrame({"x": [1, 2, 3], "colour": ["red", "blue", None]}))
        coded = coded_frame(table, ["x", "colour=red"]).to_native()
        assert list(coded.columns) == ["x", "colour=red"]
        np.testing.assert_array_equal(coded["colour=red"], [1.0, 0.0, np.nan])

    def test_a_category_that_one_frame_lacks_is_a_column_of_zeros_there(self):
        left, right = un.one_hot(frame(), frame(1, (0.5, 0.5), ("blue", "green")))
        assert list(left.columns) == list(right.columns)
        assert right["colour=red"].sum() == 0 < left["colour=red"].sum()

    def test_a_missing_value_is_missing_in_all_columns_of_its_categories(self):
        table = frame()
        table.loc[3, "colour"] = None
        coded = un.one_hot(table)
        assert coded.loc[3, ["colour=blue", "colour=green", "colour=red"]].isna().all()
        assert coded.drop(index=3).notna().all().all()

    def test_the_order_of_rows_and_of_samples_does_not_matter(self):
        left, right = frame(), frame(1, (0.5, 0.5), ("green", "violet"))
        assert list(un.one_hot(left, right)[0].columns) == list(un.one_hot(right, left)[0].columns)
        assert list(un.one_hot(left).columns) == list(un.one_hot(left[::-1]).columns)

    def test_columns_of_another_site(self):
        coded = un.one_hot(frame())
        sketch = un.Sketch.for_samples(coded).update(coded)
        other = un.one_hot(frame(1)[["sex", "colour", "x"]], columns=sketch.columns)
        assert list(other.columns) == list(sketch.columns)
        second = un.Sketch.like(sketch).update(other)
        assert un.phase_test(sketch, second).pvalue > 0.01
        assert un.compare(sketch, second).input.categories == {"colour": ("blue", "green", "red"), "sex": ("m",)}

    def test_an_unknown_category_of_another_site_is_an_error(self):
        columns = ["x", "colour=blue", "colour=green", "colour=red", "sex=m"]
        strange = frame(1, colours=("blue", "green", "pink"))
        with pytest.raises(ValueError, match="'colour' has the category 'pink', for which there is no column"):
            un.one_hot(strange, columns=columns)
        strange = frame(1)
        strange.loc[0, "sex"] = "unknown"
        with pytest.raises(ValueError, match="'sex' has the category"):
            un.one_hot(strange, columns=columns)
        with pytest.raises(ValueError, match="sample 1 has no column for 'size=s'"):
            un.one_hot(frame(), columns=["x", "size=s"])

    def test_too_many_categories(self):
        table = frame().assign(name=[f"n{number}" for number in range(N)])
        message = "sample 1: the column 'name' has more than 50 categories, such as .* leave it out with exclude="
        with pytest.raises(ValueError, match=message):
            un.one_hot(table)

    @pytest.mark.parametrize("sample", [np.zeros(3), "a.csv", [1, 2]])
    def test_only_frames_have_categories(self, sample):
        with pytest.raises(ValueError, match="sample 1 must be a frame"):
            un.one_hot(sample)


class TestCompare:
    def test_noise_on_the_number_is_no_difference(self):
        answer = un.compare(frame(), frame(1, noise=1.0), categories="one-hot")
        assert not answer.differs_beyond_noise
        assert answer.input.categories == {"colour": ("blue", "green", "red"), "sex": ("f", "m")}
        assert "one-hot   colour (3 categories); sex (1 is m, 0 is f)" in repr(answer.input)
        assert answer.to_dict()["input"]["categories"]["sex"] == ["f", "m"]

    def test_other_shares_are_a_difference_that_no_offset_explains(self):
        answer = un.compare(frame(), frame(1, (0.2, 0.3, 0.5)), categories="one-hot")
        assert answer.verdict == "differ beyond noise and an offset"
        differ = {column.column for column in answer.by_column if column.adjusted_beyond_noise < 0.001}
        assert differ == {"colour=blue", "colour=red"}
        assert {offset.column for offset in answer.offsets()} == {"x"}
        assert answer.effect_beyond_offset.in_column("colour=red").estimate > 0.4
        assert not answer.places  # a table of categories says it better

    def test_an_offset_of_the_number_is_one(self):
        moved = frame(1, noise=0.5, n=1_500)
        moved["x"] += 2
        answer = un.compare(frame(n=1_500), moved, categories="one-hot")
        assert answer.verdict == "differ by noise and an offset"
        (offset,) = answer.offsets()
        assert offset.column == "x"
        assert -2.3 < offset.shift < -1.7

    def test_categories_alone(self):
        left, right = frame()[["colour"]], frame(1, (0.2, 0.3, 0.5))[["colour"]]
        assert un.compare(left, right, categories="one-hot").verdict == "differ beyond noise and an offset"
        assert not un.compare(left, frame(2)[["colour"]], categories="one-hot").differs_beyond_noise

    def test_columns_with_another_role_stay_as_they_are(self):
        left, right = frame(), frame(1)
        left["unit"] = [f"a{number // 4}" for number in range(N)]
        right["unit"] = [f"b{number // 4}" for number in range(N)]
        answer = un.compare(left, right, clusters="unit", categories="one-hot")
        assert answer.n_clusters == (100, 100)
        assert list(answer.input.categories) == ["colour", "sex"]

    def test_missing_values(self):
        left = frame()
        left.loc[:4, "colour"] = None
        with pytest.raises(ValueError, match="NaN"):
            un.compare(left, frame(1), categories="one-hot")
        answer = un.compare(left, frame(1), categories="one-hot", missing="drop")
        assert answer.input.samples[0].n_dropped == 5

    def test_text_without_the_option_is_an_error(self):
        with pytest.raises(ValueError, match=r"numeric columns only.*categories=.one-hot. or one_hot$"):
            un.compare(frame(), frame(1))
        with pytest.raises(ValueError, match="categories must be None or \"one-hot\"; got 'dummy'"):
            un.compare(frame(), frame(1), categories="dummy")
        for other in (np.array([1.0, 2.0]), pd.NA, pd.Series(["one-hot"])):
            with pytest.raises(ValueError, match="categories must be None or"):
                un.compare(frame(), frame(1), categories=other)

    def test_pairs(self):
        left = frame()
        right = left.assign(x=left["x"] + np.random.default_rng(5).normal(size=N))
        answer = un.compare(left, right, paired=True, categories="one-hot")
        assert not answer.differs_beyond_noise


class TestOthers:
    def test_groups_of_a_frame(self):
        table = pd.concat(
            [frame().assign(site="A"), frame(1).assign(site="B"), frame(2, (0.2, 0.3, 0.5)).assign(site="C")]
        )
        answer = un.compare_groups(table, by="site", categories="one-hot")
        assert answer.outliers == ["C"]
        assert answer.input.categories == {"colour": ("blue", "green", "red"), "sex": ("f", "m")}
        assert answer.pair("A", "C").verdict == "differ beyond noise and an offset"
        only = un.compare_groups(table, by="site", columns=["colour"], categories="one-hot")
        assert only.columns == ("colour=blue", "colour=green", "colour=red")

    def test_groups_in_a_dict(self):
        groups = {"A": frame(), "B": frame(1, (0.5, 0.5), ("blue", "green"))}
        answer = un.compare_groups(groups, categories="one-hot")
        assert answer.columns == ("x", "colour=blue", "colour=green", "colour=red", "sex=m")
        assert answer.differing == [("A", "B")]

    def test_phase_test(self):
        assert un.phase_test(frame(), frame(1, noise=1.0), categories="one-hot").pvalue > 0.01
        moved = frame(1, noise=1.0)
        moved["x"] += 3
        assert un.phase_test(frame(), moved, categories="one-hot").pvalue < 0.001
        test = un.phase_test(frame(), moved, categories="one-hot", invariant_to="noise+shift")
        assert test.pvalue > 0.01
        assert test.shift[0] == pytest.approx(-3, abs=0.5)
        assert np.array_equal(test.shift[1:], np.zeros(4))
        assert (
            un.phase_test(frame(), frame(1, (0.2, 0.3, 0.5)), categories="one-hot", invariant_to="noise+shift").pvalue
            < 0.001
        )

    def test_arrays_have_no_categories(self):
        X, Y = np.random.default_rng(0).gamma(2, size=(2, 200))
        assert un.compare(X, Y, categories="one-hot").input.categories == {}


def test_no_frame_and_categories_that_one_sample_has_alone():
    with pytest.raises(ValueError, match="samples must be at least one frame; got none"):
        un.one_hot()
    only_x, only_y = (pd.DataFrame({"a": [category] * 60}) for category in "xy")
    answer = str(un.compare(only_x, only_y, categories="one-hot"))
    assert "larger than any number of SD, as neither sample varies" in answer
    assert "inf SD" not in answer.splitlines()[0]
