"""``--categories one-hot``: files of all formats, groups, sketches, models and monitors."""

import json

import numpy as np
import pandas as pd
import pytest

import uptonoise as un

from .helpers import bad, run

N = 300
WRITERS = {
    "csv": lambda table, path: table.to_csv(path, index=False),
    "parquet": lambda table, path: table.to_parquet(path),
    "feather": lambda table, path: table.to_feather(path),
    "xlsx": lambda table, path: table.to_excel(path, index=False),
}


def table(seed=0, shares=(0.5, 0.3, 0.2), colours=("blue", "green", "red"), noise=0.0):
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": (generator.gamma(2, size=N) + noise * generator.normal(size=N)).round(6),
            "colour": generator.choice(colours, N, p=shares),
            "sex": generator.choice(["f", "m"], N),
        }
    )


@pytest.fixture
def files(tmp_path):
    def written(suffix="csv", **tables):
        paths = [tmp_path / f"{name}.{suffix}" for name in tables]
        for path, content in zip(paths, tables.values(), strict=True):
            WRITERS[suffix](content, path)
        return paths

    return written


def answer(*args):
    result = run("compare", *args, "--categories", "one-hot", "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("suffix", WRITERS)
def test_files_of_all_formats_give_the_answer_of_frames(files, suffix):
    left, right = table(), table(1, (0.5, 0.5), ("blue", "green"), noise=1.0)
    given = answer(*files(suffix, a=left, b=right))
    expected = un.compare(left, right, names=(f"a.{suffix}", f"b.{suffix}"), categories="one-hot")
    assert given["columns"] == ["x", "colour=blue", "colour=green", "colour=red", "sex=m"]
    assert given["phase"]["pvalue"] == pytest.approx(expected.phase.pvalue)
    assert given["input"]["categories"] == {"colour": ["blue", "green", "red"], "sex": ["f", "m"]}


def test_what_was_coded_is_told_on_the_screen_and_in_the_report(files, tmp_path):
    a, b = files(a=table(), b=table(1))
    result = run("compare", a, b, "--categories", "one-hot", "--report", tmp_path / "page.html")
    assert "one-hot" in result.stdout
    assert "colour (3 categories); sex (1 is m, 0 is f)" in " ".join(result.stdout.split())
    page = (tmp_path / "page.html").read_text()
    assert "colour (3 categories)" in page
    quiet = run("compare", a, b, "--categories", "one-hot", "-q")
    assert "one-hot: colour (3 categories)" in quiet.stderr


def test_the_report_tells_shares_and_no_noise_of_categories(tmp_path):
    left, right = table(), table(1, (0.2, 0.3, 0.5))
    found = un.compare(left, right, names=("old", "new"), categories="one-hot")
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    shares = [100 * (of["colour"] == "red").mean() for of in (left, right)]
    assert f"{shares[0]:.3g} % in old, {shares[1]:.3g} % in new" in page
    assert "with noise of SD" not in page
    assert "categories=&#34;one-hot&#34;" in page


def test_by_default_text_is_left_out(files):
    a, b = files(a=table(), b=table(1))
    given = json.loads(run("compare", a, b, "--json").stdout)
    assert given["columns"] == ["x"]
    assert given["input"]["left_out"] == {"colour": "text", "sex": "text"}


def test_groups_of_one_file_get_the_same_categories(files):
    mixed = pd.concat([table().assign(site="A"), table(1, (0.5, 0.5), ("blue", "green")).assign(site="B")])
    (path,) = files(g=mixed)
    given = answer(path, "--by", "site")
    assert given["columns"] == ["x", "colour=blue", "colour=green", "colour=red", "sex=m"]
    assert "site" not in given["input"]["categories"]


def test_chosen_and_excluded_columns(files):
    a, b = files(a=table(), b=table(1))
    assert answer(a, b, "--columns", "colour")["columns"] == ["colour=blue", "colour=green", "colour=red"]
    assert answer(a, b, "--exclude", "colour")["columns"] == ["x", "sex=m"]
    given = json.loads(run("compare", a, b, "--columns", "x,colour=red", "--json").stdout)
    assert given["columns"] == ["x", "colour=red"]


def test_categories_without_any_number(files):
    a, b = files(a=table()[["colour"]], b=table(1, (0.2, 0.3, 0.5))[["colour"]])
    assert answer(a, b)["verdict"] == "differ beyond noise and an offset"


def test_a_column_with_one_category_is_constant(files):
    a, b = files(a=table().assign(lab="x"), b=table(1).assign(lab="x"))
    assert answer(a, b)["input"]["left_out"] == {"lab": "constant"}


def test_dates_are_no_categories(files):
    day = pd.date_range("2024-01-01", periods=N).strftime("%Y-%m-%d")
    a, b = files(a=table().assign(day=day), b=table(1).assign(day=day))
    assert answer(a, b)["input"]["left_out"] == {"day": "dates or times"}


@pytest.mark.parametrize("suffix", WRITERS)
def test_missing_values_are_counted_once_under_the_name_of_the_column(files, suffix):
    gaps = table()
    gaps.loc[[1, 2, 3], "colour"] = None
    a, b = files(suffix, a=gaps, b=table(1))
    line = bad("compare", a, b, "--categories", "one-hot")
    assert "a value is missing in row 2" in line
    assert "column 'colour'; fill it" in line
    given = answer(a, b, "--missing", "drop")
    assert given["input"]["samples"][0]["gaps"] == {"colour": 3}


def test_too_many_categories(files):
    names = [f"n{number}" for number in range(N)]
    a, b = files(a=table().assign(name=names), b=table(1).assign(name=names))
    line = bad("compare", a, b, "--categories", "one-hot")
    assert "the column 'name' has more than 50 categories" in line
    assert "leave it out with --exclude name, or merge categories" in line


def test_decimal_commas_are_no_categories(files):
    def commas(values):
        return [f"{value:.2f}".replace(".", ",") for value in values]

    a, b = files("parquet", a=table().assign(y=commas(range(N))), b=table(1).assign(y=commas(range(N))))
    assert "more than 50 categories, such as '0,00'" in bad("compare", a, b, "--categories", "one-hot")
    for path in (a, b):
        text = pd.read_parquet(path).to_csv(index=False, sep=";")
        path.with_suffix(".csv").write_text(text)
    line = bad("compare", a.with_suffix(".csv"), b.with_suffix(".csv"), "--categories", "one-hot")
    assert "looks like numbers with another decimal mark" in line


class TestSketches:
    def test_two_sites(self, files, tmp_path):
        a, b = files(a=table(), b=table(1, noise=1.0))
        first, second = tmp_path / "first.npz", tmp_path / "second.npz"
        assert run("sketch", a, "-o", first, "--categories", "one-hot").exit_code == 0
        assert run("sketch", b, "-o", second, "--like", first).exit_code == 0
        given = json.loads(run("compare", first, second, "--json").stdout)
        assert given["columns"] == ["x", "colour=blue", "colour=green", "colour=red", "sex=m"]
        mixed = json.loads(run("compare", first, b, "--json").stdout)
        assert mixed["phase"]["statistic"] == given["phase"]["statistic"]
        assert mixed["phase"]["positivity_pvalue"] == given["phase"]["positivity_pvalue"]

    def test_a_category_that_the_other_site_does_not_know(self, files, tmp_path):
        a, b = files(a=table(), b=table(1, colours=("blue", "green", "pink")))
        run("sketch", a, "-o", tmp_path / "a.npz", "--categories", "one-hot")
        line = bad("sketch", b, "-o", tmp_path / "b.npz", "--like", tmp_path / "a.npz")
        assert "the column 'colour' has the category 'pink', for which there is no column" in line


def test_models(files, tmp_path):
    generator = np.random.default_rng(0)
    bags = pd.concat([table(seed).assign(bag=f"b{seed}", y=generator.normal()).head(30) for seed in range(12)])
    (path,) = files(bags=bags)
    model = tmp_path / "m.npz"
    fitted = run(
        "fit", path, "--by", "bag", "--label", "y", "--model", "plrr", "-o", model, "--categories", "one-hot", "--json"
    )
    assert fitted.exit_code == 0, fitted.output
    assert json.loads(fitted.stdout)["columns"] == ["x", "colour=blue", "colour=green", "colour=red", "sex=m"]
    assert run("predict", model, path).exit_code == 0


def test_monitor(files, tmp_path):
    reference, night = files(reference=table(), night=table(1, noise=0.5).head(200))
    args = ["monitor", reference, night, "--state", tmp_path / "s.npz", "--categories", "one-hot"]
    result = run(*args, "--json")
    assert result.exit_code == 0, result.output
    line = bad(*args[:-1], "one-hot", "--up-to", "noise+shift")
    assert "--up-to must be noise with --categories one-hot" in line
