import json
import os
from pathlib import Path

import pandas as pd
import pytest

import uptonoise as un

from .helpers import bad, frames, run


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
        Path("a.doc").write_text("")
        assert ".parquet" in bad("compare", "a.doc", "b.csv")

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
        assert "different frequencies; make the second sketch with --like a.npz" in bad("compare", "a.npz", "b.npz")
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


class TestSheets:
    @pytest.fixture
    def book(self, folder):
        first, second = frames()
        with pd.ExcelWriter("book.xlsx", engine="openpyxl") as writer:
            first.to_excel(writer, sheet_name="old", index=False)
            second.head(300).to_excel(writer, sheet_name="new", index=False)

    def test_a_sheet_by_name(self, book):
        result = run("compare", "book.xlsx", "a.csv", "--sheet", "new", "--json")
        record = json.loads(result.stdout)["input"]
        assert [sample["n_read"] for sample in record["samples"]] == [300, 400]
        assert record["notes"] == []
        assert record["settings"]["sheet"] == "new"

    def test_no_such_sheet(self, book):
        said = bad("compare", "book.xlsx", "book.xlsx", "--sheet", "nwe")
        assert "sheet must be one of book.xlsx: 'old', 'new'; got 'nwe'" in said


@pytest.mark.parametrize("name", ["compare", "sketch", "monitor", "fit", "predict"])
def test_help_fits_two_screens(name):
    said = run(name, "--help").stdout
    assert said.count("\n") <= 100
    assert "Which rows and columns" in said
    assert "How files are read" in said
