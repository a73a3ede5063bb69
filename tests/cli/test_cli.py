"""The command line, as people type it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import uptonoise as un
from uptonoise.cli.app import app

runner = CliRunner()


def run(*args):
    return runner.invoke(app, [str(arg) for arg in args], catch_exceptions=False)


def frames(n=400, noise=1.0):
    generator = np.random.default_rng(0)
    signal_a, signal_b = generator.gamma(2.0, size=(2, n, 2))
    columns = ["energy", "time"]
    return (
        pd.DataFrame(signal_a, columns=columns),
        pd.DataFrame(signal_b + noise * generator.normal(size=(n, 2)), columns=columns),
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a, b = frames()
    a.to_csv("a.csv", index=False)
    b[["time", "energy"]].to_csv("b.csv", index=False)
    return tmp_path


def bad(*args):
    """Run what must fail: exit code 2, one line on stderr, no traceback; return that line."""
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("uptonoise: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


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
    assert "left out, not in both files: id" in result.stderr
    assert "left out, not numbers: site" in result.stderr
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
    assert "2 rows of a.csv left out for missing values" in result.stderr


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


def test_fail_ends_with_1_only_where_they_differ_beyond_noise(folder):
    a, _ = frames()
    (-a).to_csv("c.csv", index=False)
    assert run("compare", "a.csv", "c.csv", "--fail").exit_code == 1
    assert run("compare", "a.csv", "c.csv").exit_code == 0
    a.iloc[::-1].to_csv("turned.csv", index=False)
    assert run("compare", "a.csv", "turned.csv", "--fail").exit_code == 0


def test_sketches_of_two_sites_compare_as_the_rows_do(folder):
    assert run("sketch", "a.csv", "-o", "a.npz").exit_code == 0
    assert run("sketch", "b.csv", "--like", "a.npz", "-o", "b.npz").exit_code == 0
    read = json.loads(run("compare", "a.npz", "b.npz", "--json").stdout)
    a, b = frames()
    left, right = (un.Sketch.like(un.Sketch.load("a.npz")).update(rows) for rows in (a, b))
    found = un.compare(left, right)
    assert read["phase"]["pvalue"] == pytest.approx(found.phase.pvalue, rel=1e-6)
    assert read["up_to_offset"]["pvalue"] == pytest.approx(found.up_to_offset.pvalue, rel=1e-6)
    mixed = json.loads(run("compare", "a.npz", "b.csv", "--json").stdout)
    assert mixed["phase"]["pvalue"] == pytest.approx(found.phase.pvalue, rel=1e-6)
    assert "a.npz and b.npz differ" in run("compare", "a.npz", "b.npz").stdout
    one = json.loads(run("compare", "a.npz", "b.npz", "--columns", "time", "--json").stdout)
    assert one["columns"] == ["time"]
    assert "columns must be some of" in bad("compare", "a.npz", "b.npz", "--columns", "speed")


def test_weights_are_a_column(folder):
    for name, frame in zip("ab", frames(), strict=True):
        frame.assign(w=1.0).to_csv(f"{name}.csv", index=False)
    read = json.loads(run("compare", "a.csv", "b.csv", "--weights", "w", "--json").stdout)
    assert read["columns"] == ["energy", "time"]
    assert run("sketch", "a.csv", "--weights", "w", "-o", "w.npz").exit_code == 0
    assert un.Sketch.load("w.npz").columns == ("energy", "time")


def test_demo_is_right_about_every_pair():
    result = run("demo")
    assert result.exit_code == 0
    assert "5 of 5 answers are right." in result.stdout
    read = json.loads(run("demo", "--json").stdout)
    assert [one["verdict"] == one["truth"] for one in read] == [True] * 5
    assert run("demo", "--quiet").stdout.strip() == "5 of 5 answers are right."


class TestBadInput:
    def test_a_missing_file(self, folder):
        assert "nowhere.csv" in bad("compare", "nowhere.csv", "b.csv")

    def test_an_empty_file(self, folder):
        Path("e.csv").write_text("")
        assert "e.csv" in bad("compare", "a.csv", "e.csv")

    def test_a_header_alone(self, folder):
        Path("e.csv").write_text("energy,time\n")
        assert "rows" in bad("compare", "a.csv", "e.csv")

    def test_text_in_a_column_of_numbers(self, folder):
        lines = Path("a.csv").read_text().splitlines()
        lines[17] = "abc,1.0"
        Path("a.csv").write_text("\n".join(lines))
        said = bad("compare", "a.csv", "b.csv")
        assert "'abc'" in said
        assert "row 17" in said
        assert "'energy'" in said

    def test_no_common_columns(self, folder):
        Path("c.csv").write_text("p,q\n1,2\n3,4\n")
        assert "no common columns" in bad("compare", "a.csv", "c.csv")

    def test_another_delimiter(self, folder):
        a, _ = frames()
        a.to_csv("s.csv", index=False, sep=";")
        assert run("compare", "s.csv", "b.csv").exit_code == 0
        a.to_csv("o.csv", index=False, sep="~")
        assert "no common columns" in bad("compare", "o.csv", "b.csv")
        assert run("compare", "o.csv", "o.csv", "--delimiter", "~").exit_code == 0

    def test_another_encoding(self, folder):
        Path("l.csv").write_bytes("größe,x\n1,2\n2,3\n".encode("latin-1"))
        assert "--encoding latin-1" in bad("compare", "l.csv", "l.csv")
        assert run("compare", "l.csv", "l.csv", "--encoding", "latin-1").exit_code == 0

    def test_one_group_only(self, folder):
        a, _ = frames()
        a.assign(site="north").to_csv("one.csv", index=False)
        assert "at least two" in bad("compare", "one.csv", "--by", "site")
        assert "no column 'place'" in bad("compare", "one.csv", "--by", "place")

    def test_one_file_only_and_too_many(self, folder):
        assert "--by" in bad("compare", "a.csv")
        assert "--by" in bad("compare", "a.csv", "b.csv", "--by", "site")

    def test_an_unknown_column_or_format(self, folder):
        assert "'speed'" in bad("compare", "a.csv", "b.csv", "--columns", "speed")
        Path("a.xlsx").write_text("")
        assert ".parquet" in bad("compare", "a.xlsx", "b.csv")

    def test_outputs_that_cannot_be_written(self, folder):
        assert "does not exist" in bad("sketch", "a.csv", "-o", "no/where.npz")
        assert ".npz" in bad("sketch", "a.csv", "-o", "a.sketch")
        Path("there.npz").write_text("")
        assert "--force" in bad("sketch", "a.csv", "-o", "there.npz")
        assert Path("there.npz").read_text() == ""
        assert run("sketch", "a.csv", "-o", "there.npz", "--force").exit_code == 0

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
    def test_a_folder_without_write_permission(self, folder):
        Path("locked").mkdir(mode=0o500)
        assert "ermission" in bad("sketch", "a.csv", "-o", "locked/a.npz")

    def test_sketches_that_do_not_fit(self, folder):
        run("sketch", "a.csv", "-o", "a.npz")
        run("sketch", "b.csv", "-o", "b.npz")
        assert "different frequencies" in bad("compare", "a.npz", "b.npz")
        Path("broken.npz").write_bytes(Path("a.npz").read_bytes()[:500])
        assert "broken.npz" in bad("compare", "broken.npz", "a.npz")
        assert "--like" in bad("sketch", "a.csv", "--like", "a.npz", "--columns", "time", "-o", "c.npz")

    def test_numbers_out_of_range(self, folder):
        assert "margin" in bad("compare", "a.csv", "b.csv", "--margin", -1)
        assert "alpha" in bad("compare", "a.csv", "b.csv", "--alpha", 2)
        assert run("compare", "a.csv", "b.csv", "--seed", -1).exit_code == 2

    def test_an_interrupted_run_leaves_no_file(self, folder, monkeypatch):
        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(un.Sketch, "update", interrupted)
        assert "interrupted" in bad("sketch", "a.csv", "-o", "out.npz")
        assert list(Path().glob("*out.npz*")) == []
        assert "interrupted" in bad("compare", "a.csv", "b.csv")


def test_help_has_examples_and_version_is_told():
    assert "uptonoise compare a.csv b.csv" in run("compare", "--help").stdout
    assert "--like a.npz" in run("sketch", "--help").stdout
    assert run("--version").stdout == f"uptonoise {un.__version__}\n"


def test_help_imports_nothing_heavy():
    code = (
        "import sys, uptonoise.cli; print([name for name in sys.modules if name in ('numpy', 'uptonoise.experiments')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_it_runs_as_a_module():
    command = [sys.executable, "-m", "uptonoise", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("uptonoise ")


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


class TestModels:
    def bags(self, n_bags=60, seed=0):
        generator = np.random.default_rng(seed)
        shapes = generator.uniform(1, 6, n_bags)
        rows = [
            pd.DataFrame({"patient": f"p{i}", "size": generator.gamma(shape, size=20), "y": shape, "clinic": "north"})
            for i, shape in enumerate(shapes)
        ]
        return pd.concat(rows).sample(frac=1, random_state=0), shapes

    def test_a_model_is_fitted_and_predicts(self, folder):
        frame, _ = self.bags()
        frame.to_csv("bags.csv", index=False)
        result = run("fit", "bags.csv", "--by", "patient", "--label", "y", "--model", "plrr", "-o", "model.npz")
        assert result.exit_code == 0
        assert "error (RMSE) on held-out bags" in result.stdout
        assert "left out, not numbers: clinic" in result.stderr
        new, shapes = self.bags(30, seed=1)
        new.drop(columns="y").to_parquet("new.parquet")
        predicted = run("predict", "model.npz", "new.parquet")
        assert predicted.exit_code == 0
        lines = [line.split(",") for line in predicted.stdout.splitlines()]
        assert lines[0] == ["patient", "prediction"]
        found = {name: float(value) for name, value in lines[1:]}
        errors = [found[f"p{i}"] - shape for i, shape in enumerate(shapes)]
        assert np.sqrt(np.mean(np.square(errors))) < 0.7 * shapes.std()
        assert run("predict", "model.npz", "new.parquet", "-o", "out.csv").exit_code == 0
        assert Path("out.csv").read_text() == predicted.stdout
        assert json.loads(run("predict", "model.npz", "new.parquet", "--json").stdout) == found

    def test_it_is_the_model_of_the_library(self, folder):
        frame, _ = self.bags()
        frame.to_csv("bags.csv", index=False)
        run("fit", "bags.csv", "--by", "patient", "--label", "y", "--model", "pgrr", "-o", "model.npz", "--seed", 2)
        bags = un.Bags.from_long(frame.drop(columns="clinic"), by="patient", label="y")
        expected = un.pgrr(random_state=2).fit(bags)
        np.testing.assert_allclose(un.BagRidgeCV.load("model.npz").predict(bags), expected.predict(bags), rtol=1e-6)

    def test_a_model_against_noise(self, folder):
        self.bags()[0].to_csv("bags.csv", index=False)
        run("fit", "bags.csv", "--by", "patient", "--label", "y", "--noise", 2, "-o", "model.npz")
        model = un.BagRidgeCV.load("model.npz")
        assert (model.first, model.amplitude, model.noise_range_) == ("phase", "shrunk", (0.0, 2.0))

    def test_bad_input(self, folder):
        frame, _ = self.bags()
        frame.to_csv("bags.csv", index=False)
        fit = ("fit", "bags.csv", "--by", "patient", "-o", "m.npz", "--label")
        assert "'nothing'" in bad(*fit, "nothing")
        assert "one label in each bag" in bad(*fit, "size")
        run(*fit, "y")
        frame.rename(columns={"patient": "person"}).to_csv("other.csv", index=False)
        assert "'patient'" in bad("predict", "m.npz", "other.csv")
        frame.rename(columns={"size": "weight"}).to_csv("other.csv", index=False)
        assert "'size'" in bad("predict", "m.npz", "other.csv")
        run("sketch", "a.csv", "-o", "s.npz")
        assert "not a model" in bad("predict", "s.npz", "bags.csv")


def test_reproduce_lists_what_there_is():
    result = run("reproduce", "--list")
    assert result.exit_code == 0
    assert "chi2-power" in result.stdout
    assert "Figure 1 (right)" in " ".join(result.stdout.split())


def test_reproduce_writes_table_figure_and_record(tmp_path):
    out = tmp_path / "new" / "results"
    result = run("reproduce", "same-phase", "--quick", "--workers", 1, "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stdout.split() == [str(out / f"same-phase{end}") for end in (".csv", ".png", ".svg", ".json")]
    assert {path.name for path in out.iterdir()} == {f"same-phase{end}" for end in (".csv", ".png", ".svg", ".json")}
    (out / "same-phase.png").unlink()
    assert run("reproduce", "same-phase", "--draw", "--out", out, "--quiet").stdout == ""
    assert (out / "same-phase.png").exists()


def test_reproduce_says_what_is_wrong(tmp_path):
    (tmp_path / "file").write_text("")
    assert "no experiment 'chi2-pow'; did you mean chi2-power?" in bad("reproduce", "chi2-pow")
    assert "--list names all" in bad("reproduce")
    assert "is a file" in bad("reproduce", "same-phase", "--out", tmp_path / "file")
    assert "run the experiment first" in bad("reproduce", "same-phase", "--draw", "--out", tmp_path)


def test_an_interrupted_reproduction_says_how_to_go_on(tmp_path, monkeypatch):
    from uptonoise.experiments._experiment import Runner

    def interrupted(self, tasks, step=""):
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "map", interrupted)
    assert "the same command goes on from there" in bad("reproduce", "same-phase", "--out", tmp_path)
