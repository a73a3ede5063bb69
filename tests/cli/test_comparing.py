import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import uptonoise as un

from .helpers import bad, frames, one_line, run


def test_compare_prints_the_sentence_first(folder):
    result = run("compare", "a.csv", "b.csv")
    assert result.exit_code == 0
    assert result.stdout.startswith("a.csv and b.csv differ")
    assert "differ beyond noise?" in result.stdout
    assert "energy" in result.stdout
    assert result.stderr == ""


def test_compare_gives_what_compare_gives(folder):
    result = run("compare", "a.csv", "b.csv", "--json", "--seed", 3)
    read = json.loads(result.stdout)
    a, b = frames()
    found = un.compare(a, b, names=("a.csv", "b.csv"), random_state=3)
    assert read["phase"]["pvalue"] == pytest.approx(found.phase.pvalue, rel=1e-6)
    assert read["verdict"] == found.verdict
    assert read["seed"] == 3


def test_quiet_prints_the_answer_only(folder):
    result = run("compare", "a.csv", "b.csv", "--quiet")
    assert " ".join(result.stdout.split()).startswith("a.csv and b.csv differ")
    assert result.stdout.count("\n") <= 3


@pytest.mark.parametrize("suffix", [".tsv", ".csv.gz", ".parquet", ".feather", ".npy"])
def test_compare_reads_every_format(folder, suffix):
    for name, frame in zip("pq", frames(), strict=True):
        path = f"{name}{suffix}"
        if suffix == ".parquet":
            frame.to_parquet(path)
        elif suffix == ".feather":
            frame.to_feather(path)
        elif suffix == ".npy":
            np.save(path, frame.to_numpy())
        else:
            frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    read = json.loads(run("compare", f"p{suffix}", f"q{suffix}", "--json").stdout)
    expected = json.loads(run("compare", "a.csv", "b.csv", "--json").stdout)
    assert read["phase"]["pvalue"] == pytest.approx(expected["phase"]["pvalue"], rel=1e-6)


def test_columns_that_only_one_file_has_or_that_are_text_are_left_out_and_named(folder):
    a, b = frames()
    a.assign(id=range(len(a)), site="north").to_csv("a.csv", index=False)
    b.assign(site="south").to_csv("b.csv", index=False)
    result = run("compare", "a.csv", "b.csv")
    assert result.exit_code == 0
    assert "id (only in a.csv); site (text)" in result.stdout
    assert (
        run("compare", "a.csv", "b.csv", "--quiet").stderr == "uptonoise: left out: id (only in a.csv); site (text)\n"
    )
    assert json.loads(run("compare", "a.csv", "b.csv", "--json").stdout)["input"]["left_out"] == {
        "id": "only in a.csv",
        "site": "text",
    }
    assert run("compare", "a.csv", "b.csv", "--columns", "energy,time").stderr == ""


def test_missing_values_are_an_error_or_dropped_and_counted(folder):
    a, _ = frames()
    a.loc[[3, 7], "time"] = np.nan
    a.to_csv("a.csv", index=False)
    said = bad("compare", "a.csv", "b.csv")
    assert "row 4" in said
    assert "'time'" in said
    assert "--missing drop" in said
    result = run("compare", "a.csv", "b.csv", "--missing", "drop")
    assert result.exit_code == 0
    assert "a.csv: 398 of 400 rows (2 left out, missing values in time (2)); b.csv: all 400 rows" in one_line(result)


def test_groups_are_compared_by_a_column(folder):
    a, b = frames()
    both = pd.concat([a.assign(site="north"), b.assign(site="south"), (-a).assign(site="west")])
    both.to_parquet("all.parquet")
    result = run("compare", "all.parquet", "--by", "site")
    assert result.exit_code == 0
    assert "differ beyond noise" in result.stdout
    read = json.loads(run("compare", "all.parquet", "--by", "site", "--json").stdout)
    assert read["pairs"]["names"] == ["north", "south", "west"]
    assert {("north", "west"), ("south", "west")} <= set(map(tuple, read["differing"]))
    np.testing.assert_allclose(read["pairs"]["pvalues"], un.compare_groups(both, by="site").pairs.pvalues, rtol=1e-6)
    assert run("compare", "all.parquet", "--by", "site", "--fail").exit_code == 1


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_two_groups_get_the_answer_of_two_files(folder, suffix):
    a, b = frames(300)
    samples = {"north": a, "south": b.add([0.8, 0.0])}
    write = {"csv": pd.DataFrame.to_csv, "parquet": pd.DataFrame.to_parquet}[suffix]
    for name, sample in samples.items():
        write(sample, f"{name}.{suffix}", index=False)
    mixed = pd.concat([sample.assign(site=name) for name, sample in samples.items()])
    write(mixed.sample(frac=1, random_state=0).sort_index(kind="stable"), f"all.{suffix}", index=False)
    files = json.loads(run("compare", f"north.{suffix}", f"south.{suffix}", "--json").stdout)
    groups = json.loads(run("compare", f"all.{suffix}", "--by", "site", "--json").stdout)["two"]
    if groups["names"] != ["north", "south"]:  # as they come in the file
        files = json.loads(run("compare", f"south.{suffix}", f"north.{suffix}", "--json").stdout)
    assert groups["verdict"] == files["verdict"] == "differ by noise and an offset"
    for key in ("effect", "noise", "by_column", "places", "at_all_pvalue", "beyond_noise_pvalue", "up_to_offset"):
        text = json.dumps(groups[key]), json.dumps(files[key])
        assert text[0] == text[1].replace(f".{suffix}", ""), key
    shown = one_line(run("compare", f"all.{suffix}", "--by", "site"))
    assert files["sentence"].replace(f".{suffix}", "") in shown
    assert "noise added" in shown
    assert "all 600 rows" in shown


def test_groups_are_shown_by_similarity_with_outliers_first(folder):
    generator = np.random.default_rng(0)
    shifts = {"a": 0.0, "b": 1.0, "c": 0.0, "d": 1.0, "e": 4.0}
    frame = pd.DataFrame({"site": np.repeat(list(shifts), 300), "x": generator.gamma(2, size=1_500)})
    frame["x"] += frame["site"].map(shifts)
    frame.to_csv("all.csv", index=False)
    read = json.loads(run("compare", "all.csv", "--by", "site", "--json").stdout)
    assert read["outliers"] == ["e"]
    assert [set(read["by_similarity"][i : i + 2]) for i in (1, 3)] in (
        [{"a", "c"}, {"b", "d"}],
        [{"b", "d"}, {"a", "c"}],
    )
    assert f"alike {', '.join(read['by_similarity'])}" in one_line(run("compare", "all.csv", "--by", "site"))


def test_fail_ends_with_1_only_where_they_differ_beyond_noise(folder):
    a, _ = frames()
    (-a).to_csv("c.csv", index=False)
    assert run("compare", "a.csv", "c.csv", "--fail").exit_code == 1
    assert run("compare", "a.csv", "c.csv").exit_code == 0
    a.iloc[::-1].to_csv("turned.csv", index=False)
    assert run("compare", "a.csv", "turned.csv", "--fail").exit_code == 0


def test_weights_are_a_column(folder):
    for name, frame in zip("ab", frames(), strict=True):
        frame.assign(w=1.0).to_csv(f"{name}.csv", index=False)
    read = json.loads(run("compare", "a.csv", "b.csv", "--weights", "w", "--json").stdout)
    assert read["columns"] == ["energy", "time"]
    assert run("sketch", "a.csv", "--weights", "w", "-o", "w.npz").exit_code == 0
    assert un.Sketch.load("w.npz").columns == ("energy", "time")


class TestReport:
    def test_compare_writes_a_page_and_says_where(self, folder):
        result = run("compare", "a.csv", "b.csv", "--report", "out.html")
        assert result.exit_code == 0
        assert "The report is in out.html" in result.stdout
        assert "a.csv and b.csv" in Path("out.html").read_text(encoding="utf-8")

    def test_groups_have_a_page_of_their_own(self, folder):
        a, b = frames()
        pd.concat([a.assign(site="north"), b.assign(site="south")]).to_csv("all.csv", index=False)
        assert run("compare", "all.csv", "--by", "site", "--report", "groups.html", "--quiet").exit_code == 0
        assert "north" in Path("groups.html").read_text(encoding="utf-8")

    def test_a_page_that_cannot_be_written_is_told_before_any_work(self, folder):
        Path("there.html").write_text("mine")
        assert "--force" in bad("compare", "a.csv", "b.csv", "--report", "there.html")
        assert Path("there.html").read_text() == "mine"
        assert ".html" in bad("compare", "a.csv", "b.csv", "--report", "page.pdf")
        assert "does not exist" in bad("demo", "--report", "no/where.html")
        assert run("compare", "a.csv", "b.csv", "--report", "there.html", "--force", "--quiet").exit_code == 0
