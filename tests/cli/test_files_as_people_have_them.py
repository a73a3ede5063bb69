"""Files as people have them: each with the exact answer or the exact message that the command gives."""

from __future__ import annotations

import bz2
import gzip
import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest

from .helpers import commands, run, runner

N = 60
GENERATOR = np.random.default_rng(24)
VALUES = {name: GENERATOR.gamma(2.0, size=(N, 2)).round(4) + 0.0001 for name in "ab"}
XY = ("x", "y")


def table(values, separator=",", header="x,y", decimal=".", end="\n", row=None):
    """Return rows as text; `row` makes a line of a number and two values as text."""
    lines = [] if header is None else [header]
    for number, pair in enumerate(values, 1):
        cells = [f"{value:.4f}".replace(".", decimal) for value in pair]
        lines.append(separator.join(cells) if row is None else row(number, *cells))
    return end.join(lines) + end


@dataclass
class Case:
    """One kind of file: how it is written, the options, and what must come out."""

    make: object  # values -> text, bytes, or a function that writes a path
    name: str = ".csv"
    options: str = ""
    columns: tuple[str, ...] = XY
    left_out: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # of the first file
    error: str | None = None
    rows: int = N


def text(**options):
    return lambda values: table(values, **options)


def lines(header, row, before="", after=""):
    return lambda values: before + table(values, header=header, row=row) + after


def frame(values, **more):
    return pd.DataFrame({"x": values[:, 0], "y": values[:, 1], **more})


def sheet(*, title=None, sheets=1, row=None):
    def make(values):
        def write(path):
            book = openpyxl.Workbook()
            for line in () if title is None else ([title], []):
                book.active.append(line)
            book.active.append(["x", "y"] if row is None else ["id", "x", "y", "site"])
            for number, (x, y) in enumerate(values.tolist(), 1):
                book.active.append([x, y] if row is None else row(number, x, y))
            for number in range(1, sheets):
                book.create_sheet(f"more {number}")
            book.save(path)

        return write

    return make


def written(method, **more):
    return lambda values: lambda path: getattr(frame(values, **more), method)(path)


def with_gaps(count):
    return lines("x,y", lambda n, x, y: f"{x}," if n <= count else f"{x},{y}")


HINT = "--no-header reads a file without names, --header takes this line as names"
FIRST_A = ",".join(f"{value:.4f}" for value in VALUES["a"][0])

CASES = {
    # Separators
    "commas": Case(text()),
    "semicolons": Case(text(separator=";", header="x;y")),
    "tabs": Case(text(separator="\t", header="x\ty"), ".tsv"),
    "tabs in csv": Case(text(separator="\t", header="x\ty")),
    "bars": Case(text(separator="|", header="x|y"), ".txt"),
    "one blank": Case(text(separator=" ", header="x y"), ".dat", notes=("a.dat: the values are separated by blanks",)),
    "aligned blanks": Case(
        lines("    x     y", lambda n, x, y: f"  {x}    {y}"),
        ".dat",
        notes=("a.dat: the values are separated by blanks",),
    ),
    "blanks in tab": Case(
        text(separator="  ", header="x  y"), ".tab", notes=("a.tab: the values are separated by blanks",)
    ),
    "blanks that are told": Case(text(separator="  ", header="x  y"), ".txt", "--delimiter blank"),
    "unusual separator": Case(text(separator="~", header="x~y"), options="--delimiter '~'"),
    "unusual separator, not told": Case(
        text(separator="~", header="x~y"),
        error="a.csv and b.csv have no common column of numbers; 'x~y' holds text ('",
    ),
    "blanks after commas": Case(text(separator=", ", header="x, y")),
    "windows line ends": Case(text(end="\r\n")),
    "old mac line ends": Case(text(end="\r")),
    "no line end at the end": Case(lambda values: table(values).rstrip("\n")),
    "trailing separators": Case(lines("x,y,", lambda n, x, y: f"{x},{y},"), left_out={"": "no values"}),
    "trailing separators, not in the header": Case(
        lines("x,y", lambda n, x, y: f"{x},{y},"), left_out={"": "no values"}
    ),
    "a line too long": Case(
        lines("x,y", lambda n, x, y: f"{x},{y},7" if n == 9 else f"{x},{y}"),
        error="a.csv: line 10 must have 2 values, as the header has; got 3: ",
    ),
    # Quotes and encodings
    "quoted names": Case(text(header='"x","y"')),
    "quoted numbers": Case(lines('"x","y"', lambda n, x, y: f'"{x}","{y}"')),
    "quoted text with commas": Case(
        lines("x,note,y", lambda n, x, y: f'{x},"well, ""good""",{y}'), left_out={"note": "text"}
    ),
    "quoted text with line ends": Case(lines("x,note,y", lambda n, x, y: f'{x},"a\nb",{y}'), left_out={"note": "text"}),
    "utf-8 with a mark": Case(lambda values: table(values).encode("utf-8-sig")),
    "utf-16": Case(lambda values: table(values).encode("utf-16")),
    "latin-1": Case(
        lambda values: table(values, header="größe,y").encode("latin-1"),
        error="a.csv is not utf-8 text (byte 0xf6); give its encoding, which often is --encoding latin-1",
    ),
    "latin-1 that is told": Case(
        lambda values: table(values, header="größe,y").encode("latin-1"),
        options="--encoding latin-1",
        columns=("größe", "y"),
    ),
    # Headers
    "no header": Case(
        text(header=None),
        error=f"a.csv must name its columns in the first line; got '{FIRST_A}', which looks like data; {HINT}",
    ),
    "no header that is told": Case(text(header=None), options="--no-header", columns=("x0", "x1")),
    "no header, text first": Case(
        lines(None, lambda n, x, y: f"S{n},{x},{y}"),
        error=f"a.csv must name its columns in the first line; got 'S1,{FIRST_A}', which looks like data; {HINT}",
    ),
    "no header, text first, told": Case(
        lines(None, lambda n, x, y: f"S{n},{x},{y}"),
        options="--no-header",
        columns=("x1", "x2"),
        left_out={"x0": "text"},
    ),
    "years as names": Case(
        text(header="2019,2020"),
        error=f"a.csv must name its columns in the first line; got '2019,2020', which looks like data; {HINT}",
    ),
    "years as names that are told": Case(text(header="2019,2020"), options="--header", columns=("2019", "2020")),
    "names 0, 1 of a frame": Case(
        text(header="0,1"),
        columns=("0", "1"),
        notes=("a.csv: the numbers in the first line are taken as names of columns",),
    ),
    "names of rows without a name": Case(
        lines(",x,y", lambda n, x, y: f"{n},{x},{y}"), left_out={"": "what may be the numbers of the rows"}
    ),
    "names of rows as R writes them": Case(
        lines('"x" "y"', lambda n, x, y: f'"{n}" {x} {y}'),
        ".txt",
        left_out={"": "what may be the numbers of the rows"},
        notes=(
            "a.txt: the first value of each line has no name; it is taken as the row's name",
            "a.txt: the values are separated by blanks",
        ),
    ),
    "names twice": Case(
        text(header="x,x"), error="a.csv must have distinct column names; more than once: 'x'. Rename them"
    ),
    "units below the names": Case(
        lambda values: table(values).replace("x,y\n", "x,y\nmm,s\n", 1),
        notes=("a.csv: the line below the names is left out, it looks like units (mm, s)",),
    ),
    "units in brackets, one without": Case(
        lambda values: table(values).replace("x,y\n", "x,y\n[mm],\n", 1),
        notes=("a.csv: the line below the names is left out, it looks like units ([mm])",),
    ),
    "blank lines": Case(lines("x,y", lambda n, x, y: f"{x},{y}\n", before="\n\n", after="\n\n")),
    # Comments
    "comments": Case(
        lambda values: "# made today\n# by hand\n" + table(values),
        error="a.csv: the first line looks like a comment ('# made today'); --comment '#' skips such lines",
    ),
    "comments that are told": Case(lambda values: "# made today\n# by hand\n" + table(values), options="--comment '#'"),
    "comments between rows": Case(
        lines("x,y", lambda n, x, y: f"{x},{y}" + ("\n# a pause" if n == 30 else "")), options="--comment '#'"
    ),
    "names in a comment": Case(
        lambda values: "# x y\n" + table(values, separator=" ", header=None),
        ".dat",
        "--comment '#'",
        notes=(
            "a.dat: the names of the columns are those of the comment 'x y'",
            "a.dat: the values are separated by blanks",
        ),
    ),
    "percent comments": Case(
        lambda values: "% relation\n" + table(values),
        error="a.csv: the first line looks like a comment ('% relation'); --comment % skips such lines",
    ),
    "a column called #": Case(lines("#,x,y", lambda n, x, y: f"{n},{x},{y}"), left_out={"#": "looks like an index"}),
    # Numbers
    "decimal commas": Case(
        text(separator=";", header="x;y", decimal=","),
        error="a.csv: the column 'x' looks like numbers with another decimal mark, text ('",
    ),
    "decimal commas that are told": Case(text(separator=";", header="x;y", decimal=","), options="--decimal ,"),
    "decimal commas beside whole numbers": Case(
        lines("ID;Age;x;y", lambda n, x, y: f"{n};{20 + n % 9};{x};{y}".replace(".", ",")),
        error="a.csv: the column 'x' looks like numbers with another decimal mark, text ('",
    ),
    "thousands": Case(
        lines("x;y;cost", lambda n, x, y: f"{x};{y};1,{n:03}"),
        error="a.csv: the column 'cost' may hold decimals or thousands, text ('1,001' in row 1); --decimal , reads "
        "decimals; thousands must be written without a mark; --exclude cost leaves the column out",
    ),
    "percentages": Case(
        lines("x,y", lambda n, x, y: f"{x}%,{y}"), notes=("a.csv: the percent signs of 'x' are left out, 61% is 61",)
    ),
    "percentages with decimal commas": Case(
        lines("x;y", lambda n, x, y: f"{x} %;{y}".replace(".", ",")),
        options="--decimal ,",
        notes=("a.csv: the percent signs of 'x' are left out, 61% is 61",),
    ),
    "exponents": Case(lines("x,y", lambda n, x, y: f"{x}e+00,{y}E0")),
    "truth values": Case(lines("x,y,ok", lambda n, x, y: f"{x},{y},{n % 2 == 0}"), columns=("x", "y", "ok")),
    "text among numbers": Case(
        lines("x,y", lambda n, x, y: f"{x},low" if n == 7 else f"{x},{y}"),
        error="a.csv: the column 'y' must hold numbers; got 'low' in row 7 (the first after the header is 1); correct "
        "it, or leave the column out with --exclude y",
    ),
    "text among numbers, excluded": Case(
        lines("x,y,z", lambda n, x, y: f"{x},{y},{'low' if n == 7 else n / 7}"),
        options="--exclude z",
        left_out={"z": "excluded"},
    ),
    # Missing values
    "question marks": Case(
        lines("x,y", lambda n, x, y: f"{x},?" if n == 7 else f"{x},{y}"),
        error="a.csv: a value is missing in row 7 (the first after the header is 1), column 'y'; fill it, or leave "
        "such rows out with --missing drop",
    ),
    "a few gaps": Case(with_gaps(3), options="--missing drop", rows=N - 3),
    "many gaps": Case(
        with_gaps(20),
        options="--missing drop",
        error="a.csv: 20 of 60 rows have missing values (most in y) and would be left out; leave such columns out with "
        "--exclude, or go on with --max-dropped 0.34",
    ),
    "many gaps, allowed": Case(with_gaps(20), options="--missing drop --max-dropped 0.34", rows=N - 20),
    "an empty column": Case(lines("x,y,z", lambda n, x, y: f"{x},{y},"), left_out={"z": "no values in the first rows"}),
    # Columns that are no measurements
    "an id": Case(lines("id,x,y", lambda n, x, y: f"{7 * n % 61},{x},{y}"), left_out={"id": "looks like an index"}),
    "a patient's id": Case(
        lines("PatientId,x,y", lambda n, x, y: f"{7 * n % 61},{x},{y}"), left_out={"PatientId": "looks like an index"}
    ),
    "numbers in steps": Case(lines("t,x,y", lambda n, x, y: f"{n},{x},{y}"), left_out={"t": "looks like an index"}),
    "an id that is wanted": Case(
        lines("id,x,y", lambda n, x, y: f"{7 * n % 61},{x},{y}"),
        options="--columns id,x",
        columns=("id", "x"),
        left_out={"y": "not chosen"},
    ),
    "only an id": Case(
        lines("id,name", lambda n, x, y: f"{n},Anna"),
        error="a.csv and b.csv: no column of numbers seems to be a measurement: id (looks like an index); --columns id "
        "takes them as such",
    ),
    "dates": Case(
        lines("when,x,y", lambda n, x, y: f"2024-01-{n % 28 + 1:02},{x},{y}"), left_out={"when": "dates or times"}
    ),
    "dates of other countries": Case(
        lines("when,at,x,y", lambda n, x, y: f"{n % 28 + 1}.1.2024,12:30,{x},{y}"),
        left_out={"when": "dates or times", "at": "dates or times"},
    ),
    "year and month": Case(
        lines("year,month,x,y", lambda n, x, y: f"{2000 + n % 7},{n % 12 + 1},{x},{y}"),
        left_out={"year": "looks like a date or time", "month": "looks like a date or time"},
    ),
    "mostly no measurements": Case(
        lines("No,year,month,x", lambda n, x, y: f"{n},{2000 + n % 7},{n % 12 + 1},{x}"),
        error="a.csv and b.csv: 3 of 4 columns of numbers would be left out: No (looks like an index); year, month "
        "(looks like a date or time); --columns x goes on without them",
    ),
    "seconds since 1970": Case(
        lines("timestamp,x,y", lambda n, x, y: f"{1700000000 + n * n},{x},{y}"),
        left_out={"timestamp": "looks like a date or time"},
    ),
    "a time that is measured": Case(text(header="x,time"), columns=("x", "time")),
    "a constant": Case(lines("x,y,run", lambda n, x, y: f"{x},{y},3"), left_out={"run": "constant"}),
    "categories": Case(lines("x,y,sex", lambda n, x, y: f"{x},{y},{'fm'[n % 2]}"), left_out={"sex": "text"}),
    "only text": Case(
        lines("a,b", lambda n, x, y: "u,v"),
        error="a.csv and b.csv have no common column of numbers; 'a' holds text ('u' in row 1)",
    ),
    # Formats
    "gzip": Case(lambda values: gzip.compress(table(values).encode()), ".csv.gz"),
    "bzip2": Case(lambda values: bz2.compress(table(values).encode()), ".csv.bz2"),
    "zstandard": Case(lambda values: pa.compress(table(values).encode(), "zstd", asbytes=True), ".csv.zst"),
    "gzip with a wrong suffix": Case(lambda values: gzip.compress(table(values).encode())),
    "gzip that is cut short": Case(
        lambda values: gzip.compress(table(values).encode())[:-200],
        ".csv.gz",
        error="a.csv.gz is a compressed file that is cut short or damaged: ",
    ),
    "another suffix": Case(text(), ".measured", error="a.measured has the unknown suffix '.measured' (csv: "),
    "another suffix that is told": Case(text(), ".measured", "--format csv"),
    "parquet": Case(written("to_parquet"), ".parquet"),
    "parquet with dates and text": Case(
        written("to_parquet", day=pd.Timestamp("2024-01-01"), site="north"),
        ".parquet",
        left_out={"day": "dates or times", "site": "text"},
    ),
    "parquet with an id": Case(
        written("to_parquet", id=np.arange(N)), ".parquet", left_out={"id": "looks like an index"}
    ),
    "feather": Case(written("to_feather"), ".feather"),
    "numpy": Case(lambda values: lambda path: np.save(path, values), ".npy", columns=("x0", "x1")),
    "numpy with names": Case(lambda values: lambda path: np.savez(path, x=values[:, 0], y=values[:, 1]), ".npz"),
    "excel": Case(sheet(), ".xlsx"),
    "excel with an id and text": Case(
        sheet(row=lambda n, x, y: [n, x, y, "north"]),
        ".xlsx",
        left_out={"site": "text", "id": "looks like an index"},
    ),
    "excel with several sheets": Case(
        sheet(sheets=3), ".xlsx", notes=("a.xlsx: only the first of 3 sheets is read, 'Sheet'",)
    ),
    "excel that is none": Case(
        text(), ".xlsx", error="a.xlsx is not an Excel or OpenDocument file, or it is damaged: "
    ),
    "an empty file": Case(lambda values: "", error="a.csv is empty; its first line must name the columns"),
    "a picture": Case(
        lambda values: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", error="a.csv is not a text file, or it has another encoding; "
    ),
}


def write(path, content):
    if callable(content):
        content(path)
    else:
        Path(path).write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize("name", CASES)
def test_a_file_as_people_have_it(name, tmp_path, monkeypatch):
    case = CASES[name]
    monkeypatch.chdir(tmp_path)
    for sample, values in VALUES.items():
        write(f"{sample}{case.name}", case.make(values))
    result = run("compare", f"a{case.name}", f"b{case.name}", "--json", *shlex.split(case.options))
    if case.error is not None:
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.count("\n") == 1
        expected = f"uptonoise: {case.error}"
        is_cut = expected.endswith((" ", "'"))
        assert result.stderr.startswith(expected) if is_cut else result.stderr == f"{expected}\n"
        return
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert tuple(answer["columns"]) == case.columns
    assert answer["input"]["left_out"] == case.left_out
    assert tuple(note for note in answer["input"]["notes"] if note.startswith(f"a{case.name}")) == case.notes
    assert answer["sizes"] == [case.rows, case.rows]


def test_there_are_at_least_60_kinds_of_files():
    assert len(CASES) >= 60


def test_the_values_are_read_right(tmp_path, monkeypatch):
    """All ways to write the same numbers give the same p-value."""
    monkeypatch.chdir(tmp_path)
    pvalues = set()
    kinds = ("commas", "aligned blanks", "units below the names", "percentages", "excel", "zstandard", "parquet")
    for kind in kinds:
        for sample, values in VALUES.items():
            write(f"{sample}{CASES[kind].name}", CASES[kind].make(values))
        result = run("compare", *(f"{sample}{CASES[kind].name}" for sample in VALUES), "--json")
        pvalues.add(round(json.loads(result.stdout)["phase"]["pvalue"], 10))
    assert len(pvalues) == 1


def test_folders_and_patterns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for sample, values in VALUES.items():
        Path(sample).mkdir()
        for number, part in enumerate(np.split(values, 3)):
            write(f"{sample}/{number}.csv", table(part))
    for inputs in (("a", "b"), ("a/*.csv", "b/[0-2].csv")):
        assert json.loads(run("compare", *inputs, "--json").stdout)["sizes"] == [N, N]
    write("a/more.csv", table(VALUES["a"], header="x,z"))
    result = run("compare", "a", "b")
    assert result.stderr == ("uptonoise: a/more.csv has no column 'y'; its columns are 'x', 'z'\n")


def test_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("b.csv", table(VALUES["b"]))
    result = runner.invoke(commands, ["compare", "-", "b.csv", "--json"], input=table(VALUES["a"]))
    answer = json.loads(result.stdout)
    assert answer["names"] == ["standard input", "b.csv"]
    assert answer["sizes"] == [N, N]
    broken = runner.invoke(commands, ["compare", "-", "b.csv"], input="x,y\n1,2\n3,low\n")
    assert broken.stderr.startswith("uptonoise: standard input: the column 'y' must hold numbers; got 'low' in row 2")
    blanks = runner.invoke(commands, ["compare", "-", "b.csv", "--quiet"], input=table(VALUES["a"], " ", "x y"))
    assert blanks.stderr == "uptonoise: note: standard input: the values are separated by blanks\n"
    twice = run("compare", "-", "-")
    assert twice.stderr == "uptonoise: only one of the two files can be standard input; got - twice\n"


def test_two_columns_of_one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("a.csv", with_gaps(3)(VALUES["a"]))
    options = ("compare", "a.csv", "--column-a", "x", "--column-b", "y", "--missing", "drop", "--json")
    answer = json.loads(run(*options).stdout)
    assert (answer["names"], answer["columns"], answer["sizes"]) == (["x", "y"], ["x / y"], [N, N - 3])
    assert "as if they were independent" in answer["input"]["notes"][0]
    paired = json.loads(run(*options, "--paired").stdout)
    assert (paired["sizes"], paired["input"]["notes"]) == ([N - 3, N - 3], [])
    assert "must be given together" in run("compare", "a.csv", "--column-a", "x").stderr
    assert "breaks the pairs" in run("compare", "a.csv", "a.csv", "--missing", "drop", "--paired").stderr


def test_the_report_says_what_was_used_and_how(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make = lines("x,y,site", lambda n, x, y: f"{x},{'' if n <= 3 else y},north")
    for sample, values in VALUES.items():
        write(f"{sample}.csv", make(values))
    run("compare", "a.csv", "b.csv", "--missing", "drop", "--report", "out.html", "--quiet")
    page = Path("out.html").read_text(encoding="utf-8")
    for text in ("57 of 60 rows (3 left out, missing values in y (3))", "site (text)", "a.csv, b.csv"):
        assert text in page


def test_a_column_that_is_constant_in_each_file_alone_is_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for sample, values in VALUES.items():
        Path(sample).mkdir()
        for number, part in enumerate(np.split(values, 3)):
            write(f"{sample}/{number}.csv", table(part, header="x,y,run", row=lambda _, x, y, n=number: f"{x},{y},{n}"))
    answer = json.loads(run("compare", "a", "b", "--json").stdout)
    assert (answer["columns"], answer["input"]["left_out"]) == (["x", "y", "run"], {})
