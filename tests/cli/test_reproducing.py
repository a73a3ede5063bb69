from uptonoise import experiments

from .helpers import bad, run


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
    assert "name experiments, or give --all" in bad("reproduce")
    assert "name experiments, or give --all" in bad("reproduce", "same-phase", "--all")
    assert "is a file" in bad("reproduce", "same-phase", "--out", tmp_path / "file")
    assert "run the experiment first" in bad("reproduce", "same-phase", "--draw", "--out", tmp_path)


def test_an_interrupted_reproduction_says_how_to_go_on(tmp_path, monkeypatch):
    from uptonoise.experiments._experiment import Runner

    def interrupted(self, tasks, step=""):
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "map", interrupted)
    assert "the same command goes on from there" in bad("reproduce", "same-phase", "--out", tmp_path)


def test_reproduce_all_names_those_that_cannot_run(tmp_path, monkeypatch):
    def no_data(*arguments, **options):
        raise FileNotFoundError("there is no HIGGS here")

    monkeypatch.setattr(experiments, "NAMES", ("higgs-jet-phi", "same-phase"))
    monkeypatch.setattr(type(experiments.load("higgs-jet-phi")), "run", no_data)
    result = run("reproduce", "--all", "--quick", "--workers", 1, "--out", tmp_path)
    assert result.exit_code == 0
    assert "higgs-jet-phi was left out: there is no HIGGS here" in result.stderr
    assert (tmp_path / "same-phase.csv").exists()
