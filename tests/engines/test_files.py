import datetime
import gzip
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from opened_files import open_rows

import uptonoise as un
from uptonoise.engines import scan_csv, scan_parquet
from uptonoise.rows import read_rows, sample_rows, two_samples

N_ROWS = 1_000


@pytest.fixture
def values(rng):
    return rng.normal(size=(N_ROWS, 3))


@pytest.fixture
def frame(values):
    return pd.DataFrame(values, columns=["x", "y", "z"])


def written(path, frame):
    """Write a frame in the format that the suffixes of `path` name."""
    name = path.name
    if ".parquet" in name or ".pq" in name:
        frame.to_parquet(path, row_group_size=300)
    elif name.endswith((".feather", ".ipc")):
        frame.to_feather(path)
    elif name.endswith(".arrow"):
        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table, max_chunksize=70)
    elif name.endswith(".npz"):
        np.savez(path, **frame)
    elif name.endswith(".npy"):
        np.save(path, frame.to_numpy())
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name or ".tab" in name else ",")
    return path


def text_file(folder, text, name="a.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def refused(match, call, *arguments, error=ValueError, **options):
    """Check that the call fails with one readable line."""
    with pytest.raises(error, match=match) as caught:
        read_rows(call(*arguments, **options))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    return str(caught.value)


FORMATS = [
    *("a.csv", "a.CSV", "a.csv.gz", "a.tsv", "a.tsv.gz", "a.tab", "a.txt", "a.txt.gz"),
    *("a.parquet", "a.pq", "a.feather", "a.ipc", "a.arrow", "a.npy", "a.npz"),
]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_rows(name, tmp_path, frame, values):
    path = written(tmp_path / name, frame)
    source = open_rows(path)
    named = not name.endswith(".npy")
    assert source.named == named
    assert source.columns == (("x", "y", "z") if named else ("x0", "x1", "x2"))
    assert source.name == str(path)
    assert source.can_be_read_again
    known = name.endswith(("parquet", "pq", "feather", "ipc", "npy", "npz"))
    assert source.n_rows == (N_ROWS if known else None)
    for _ in range(2):
        np.testing.assert_array_equal(read_rows(source), values)
    assert source.n_dropped == 0
    np.testing.assert_array_equal(source.head(7), values[:7])
    np.testing.assert_array_equal(source.head(10 * N_ROWS), values)
    rows = np.array([0, 5, 998])
    np.testing.assert_array_equal(source.take(rows), values[rows])


@pytest.mark.parametrize("name", FORMATS)
def test_columns_are_chosen_and_ordered(name, tmp_path, frame, values):
    columns = ["x2", "x0"] if name.endswith(".npy") else ["z", "x"]
    source = open_rows(written(tmp_path / name, frame), columns=columns)
    assert source.columns == tuple(columns)
    np.testing.assert_array_equal(read_rows(source), values[:, [2, 0]])


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npy"])
def test_a_sketch_of_a_file_is_that_of_the_array(name, tmp_path, rng):
    values = rng.normal(size=(150_000, 2))
    path = written(tmp_path / name, pd.DataFrame(values, columns=["a", "b"]))
    W = un.sample_frequencies(7, 2, random_state=0)
    of_file, of_array = (un.Sketch(W, centre=[0.1, 0.2]).update(X) for X in (open_rows(path), values))
    np.testing.assert_array_equal(of_file.mean, of_array.mean)
    np.testing.assert_array_equal(of_file.covariance, of_array.covariance)
    np.testing.assert_array_equal(un.ecf(open_rows(path), W), un.ecf(values, W))


def test_tests_take_files(tmp_path, frame, values):
    path = written(tmp_path / "a.parquet", frame)
    other = frame[["z", "y", "x"]] + 0.5
    right = open_rows(written(tmp_path / "b.csv", other))
    result = un.phase_test(scan_parquet(path), right, random_state=0)
    expected = un.phase_test(frame, other, random_state=0)
    assert result.pvalue == expected.pvalue


def test_random_rows_of_a_file_are_those_of_the_array(tmp_path, frame, values):
    from uptonoise.rows import as_rows

    expected = sample_rows([as_rows(values)], 20, np.random.default_rng(3))
    for name in ("a.csv", "a.parquet"):
        source = open_rows(written(tmp_path / name, frame))
        np.testing.assert_array_equal(sample_rows([source], 20, np.random.default_rng(3)), expected)


def test_several_files_are_one_sample(tmp_path, frame, values):
    folder = tmp_path / "data"
    (folder / "below").mkdir(parents=True)
    (folder / "_log").mkdir()
    first, second = folder / "a.csv", folder / "below" / "b.csv.gz"
    written(first, frame[:600])
    written(second, frame[600:][["z", "x", "y"]])
    for ignored in (".hidden.csv", "_notes.csv", "_log/c.csv", "README.txt", "notes.md"):
        (folder / ignored).write_text("hello")
    for path in (
        folder,
        str(folder),
        [first, second],
        str(folder / "**" / "[ab].csv*"),
        [str(first), folder / "below"],
    ):
        for scan in (scan_csv, open_rows):
            np.testing.assert_array_equal(read_rows(scan(path)), values)
    assert scan_csv([first, second]).name == f"{first} and 1 more"


def test_several_parquet_files_know_their_rows(tmp_path, frame, values):
    written(tmp_path / "1.parquet", frame[:1])
    written(tmp_path / "2.parquet", frame[1:1])
    written(tmp_path / "3.pq", frame[1:])
    source = scan_parquet(tmp_path)
    assert source.n_rows == N_ROWS
    np.testing.assert_array_equal(read_rows(source), values)
    np.testing.assert_array_equal(read_rows(open_rows(tmp_path)), values)


def test_a_folder_of_text_files_only(tmp_path):
    text_file(tmp_path, "x\n1\n", "a.txt")
    np.testing.assert_array_equal(read_rows(scan_csv(tmp_path)), [[1.0]])


def test_files_that_do_not_agree(tmp_path):
    first, second = text_file(tmp_path, "x,y\n1,2\n"), text_file(tmp_path, "x,w\n1,2\n", "b.csv")
    refused(r"b\.csv must have the columns of .*a\.csv; it lacks 'y' and has also 'w'", scan_csv, [first, second])
    refused(r"b\.csv has no column 'y'", scan_csv, [first, second], columns=["y"])
    np.testing.assert_array_equal(read_rows(scan_csv([first, second], columns=["x"])), [[1.0], [1.0]])
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    refused(r"one format; got .*a\.csv and .*a\.parquet", open_rows, tmp_path)


# How CSV files are written


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_guessed(delimiter, tmp_path, frame, values):
    path = tmp_path / "a.csv"
    frame.to_csv(path, index=False, sep=delimiter)
    np.testing.assert_array_equal(read_rows(scan_csv(path)), values)
    np.testing.assert_array_equal(read_rows(scan_csv(path, delimiter=delimiter)), values)


def test_one_column_and_blanks_as_delimiters(tmp_path):
    np.testing.assert_array_equal(read_rows(scan_csv(text_file(tmp_path, "x\n1\n2\n"))), [[1.0], [2.0]])
    np.testing.assert_array_equal(read_rows(scan_csv(text_file(tmp_path, "x y\n1 2\n"), delimiter=" ")), [[1.0, 2.0]])


def test_decimal_commas(tmp_path, frame, values):
    path = tmp_path / "a.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    for scan in (scan_csv, open_rows):
        np.testing.assert_array_equal(read_rows(scan(path, decimal=",")), values)
    refused(r"'x' holds text .*row 1\); decimal=\",\" reads it", scan_csv, path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"])
def test_encodings(encoding, tmp_path):
    path = text_file(tmp_path, "größe,ort\n1.5,Köln\n", encoding=encoding)
    told = {} if encoding in ("utf-8", "utf-8-sig", "utf-16") else {"encoding": encoding}
    source = scan_csv(path, by="ort", **told)
    assert source.columns == ("größe",)
    np.testing.assert_array_equal(read_rows(source), [[1.5]])
    assert source.bag_ids == ["Köln"]


def test_other_encodings_are_named(tmp_path):
    path = text_file(tmp_path, "größe\n1\n", encoding="latin-1")
    refused(r'a\.csv is not utf-8 text \(byte 0xf6\).*encoding="latin-1"', scan_csv, path)
    late = text_file(tmp_path, "x,g\n" + "1,a\n" * 100_000 + "1,Köln\n", encoding="latin-1")
    refused(r'a\.csv is not utf-8 text.*encoding="latin-1"', scan_csv, late, by="g")
    refused(
        "not a text file, or it has another encoding", scan_csv, text_file(tmp_path, "x\n1\n", encoding="utf-16-le")
    )
    refused("encoding must be one of text that Python knows", scan_csv, path, encoding="klingon")


def test_lines_ends_quotes_and_blank_lines(tmp_path):
    for end in ("\n", "\r\n", "\r"):
        text = end.join(["", '"x, or so","a', 'note",y', '1,"a', '""b"", c", 2 ', "", '"3",d,4'])
        source = scan_csv(text_file(tmp_path, text), columns=["x, or so", "y"])
        np.testing.assert_array_equal(read_rows(source), [[1.0, 2.0], [3.0, 4.0]])


def test_numbers_as_they_are_written(tmp_path):
    text = "a,b,c\n1,True,1e3\n-2.5,false,+.5\n9007199254740992,TRUE, 7 \n"
    expected = [[1.0, 1.0, 1e3], [-2.5, 0.0, 0.5], [2.0**53, 1.0, 7.0]]
    np.testing.assert_array_equal(read_rows(scan_csv(text_file(tmp_path, text))), expected)
    longer = text_file(tmp_path, text.replace("9007199254740992", "9007199254740993"))
    refused(
        "the column 'a' has whole numbers beyond 2.53 in size, such as 9007199254740993", read_rows, scan_csv(longer)
    )


def test_integers_that_turn_out_as_floats_much_later(tmp_path):
    values = np.arange(400_000.0)
    values[-1] += 0.5
    text = "x\n" + "\n".join(f"{value:g}" if value % 1 else f"{value:.0f}" for value in values[:-1]) + "\n399999.5\n"
    np.testing.assert_array_equal(read_rows(scan_csv(text_file(tmp_path, text)))[:, 0], values)


def test_columns_without_a_name(tmp_path, frame, values):
    path = tmp_path / "a.csv"
    frame.to_csv(path)
    refused(r"column 1, which has no name,.*columns=\['x', 'y', 'z'\]", scan_csv, path)
    np.testing.assert_array_equal(read_rows(scan_csv(path, columns=["x", "y", "z"])), values)
    trailing = text_file(tmp_path, "x,,\n1,,\n")
    np.testing.assert_array_equal(read_rows(scan_csv(trailing, columns=["x"])), [[1.0]])


def test_wide_and_overlong_lines(tmp_path):
    names, numbers = [f"x{number}" for number in range(60_000)], ["0.12345678901234567"] * 60_000
    path = text_file(tmp_path, "\n".join([",".join(names), *[",".join(numbers)] * 3]))
    assert read_rows(scan_csv(path, columns=["x59999", "x0"])).shape == (3, 2)
    refused(r"a\.csv is not a CSV file", scan_csv, text_file(tmp_path, "x" * 200_000 + "\n1\n"))
    refused(r"no end of a line", scan_csv, text_file(tmp_path, "x" * 20_000_000))
    refused(r"a\.csv", scan_csv, text_file(tmp_path, "x,y\n1,2\n" + '3,"4\n' + "5,6\n" * 500_000))


def test_the_first_line_must_name_the_columns(tmp_path):
    for text in ("1,2\n3,4\n", "1.5;NA\n", "1\n2\n"):
        refused(r"a\.csv must name its columns in the first line; got '1", scan_csv, text_file(tmp_path, text))


# What columns hold


def test_text_is_named_by_column_row_and_file(tmp_path):
    path = text_file(tmp_path, "x,site,y\n1,,2\n1,Berlin,2\n")
    message = refused("holds text", scan_csv, path)
    assert message == (
        f"{path}: the column 'site' holds text ('Berlin' in row 2); name the columns to use, as columns=['x', 'y']"
    )
    refused(r"a\.csv: the column 'site' must hold numbers; it holds text", scan_csv, path, columns=["site"])
    refused("no other column holds numbers", scan_csv, text_file(tmp_path, "a,b\nc,d\n"))
    parquet = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [1.0], "site": ["Berlin"]}), parquet)
    refused(r"a\.parquet: the column 'site' holds text; name the columns.*\['x'\]", scan_parquet, parquet)


@pytest.mark.parametrize("row", [17, 150_000])
def test_text_among_numbers(row, tmp_path):
    lines = [f"{number},a,{number}" for number in range(1, 200_001)]
    lines[row - 1] = "1,a,abc"
    path = text_file(tmp_path, "x,g,y\n" + "\n".join(lines) + "\n")
    message = refused("must hold numbers", scan_csv, path, columns=["y", "x"])
    assert message == (
        f"{path}: the column 'y' must hold numbers; got 'abc' in row {row:,} (the first after the header is 1); "
        "correct it, or leave the column out with exclude=['y']"
    )
    gz = tmp_path / "b.csv.gz"
    gz.write_bytes(gzip.compress(path.read_bytes()))
    refused(rf"b\.csv\.gz: the column 'y' .* row {row:,} ", scan_csv, gz, columns=["y"])


def test_blanks_that_are_none_and_thousands(tmp_path):
    refused(r"got '1\\xa0' in row 1 ", scan_csv, text_file(tmp_path, "x\n1\u00a0\n2\n"))
    message = refused(r"got '1,234' in row 2 ", scan_csv, text_file(tmp_path, 'x\n1\n"1,234"\n'))
    assert "decimal" not in message


def test_text_among_booleans(tmp_path):
    refused(
        r"'x' must hold numbers; got 'ja' in row 120 ", scan_csv, text_file(tmp_path, "x\n" + "true\n" * 119 + "ja\n")
    )
    # No decimal mark makes a truth of a number.
    for value in ("5", "inf", "1,5"):
        path = text_file(tmp_path, "x;y\n" + "true;1\n" * 119 + f"{value};1\n")
        what = "numbers" if value == "1,5" else "true or false, as in its first rows"
        refused(
            rf"'x' must hold {what}; got '{value}' in row 120 .*; correct it, or leave the column out", scan_csv, path
        )


@pytest.mark.parametrize(("row", "n_values"), [("1,2,3", 3), ("1", 1)])
def test_a_line_of_another_length(row, n_values, tmp_path):
    path = text_file(tmp_path, "x,y\n" + "1,2\n" * 60_000 + f"\n{row}\n")
    refused(rf"a\.csv: line 60,003 must have 2 values, as the header has; got {n_values}: '{row}'", scan_csv, path)


def test_types_of_arrow_files(tmp_path):
    table = pa.table(
        {
            "int": pa.array([1, 2], pa.int8()),
            "big": pa.array([2**52 + 1, 2**53], pa.uint64()),
            "half": pa.array(np.array([0.5, 1.5], np.float16)),
            "single": pa.array([0.25, 2], pa.float32()),
            "truth": pa.array([True, False]),
            "decimal": pa.array([1, 2], pa.decimal128(10, 2)),
            "category": pa.array([7, 8]).dictionary_encode(),
        }
    )
    expected = [[1, 2.0**52 + 1, 0.5, 0.25, 1, 1, 7], [2, 2.0**53, 1.5, 2, 0, 2, 8]]
    for name, write in (("a.parquet", pq.write_table), ("a.feather", pyarrow.feather.write_feather)):
        write(table, tmp_path / name)
        np.testing.assert_array_equal(read_rows(open_rows(tmp_path / name)), expected)
        write(pa.table({"big": pa.array([2**53 + 1], pa.uint64())}), tmp_path / name)
        refused(rf"{name}: the column 'big' must have whole numbers up to 2.53", open_rows, tmp_path / name)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([datetime.date(2020, 1, 1)]),
        pa.array([datetime.datetime(2020, 1, 1)]),
        pa.array([[1.0]]),
        pa.array([b"1"]),
        pa.array([{"a": 1.0}]),
    ],
)
def test_types_that_are_no_numbers(column, tmp_path):
    pq.write_table(pa.table({"x": [1.0], "when": column}), tmp_path / "a.parquet")
    refused(r"a\.parquet: the column 'when' holds .*columns=\['x'\]", scan_parquet, tmp_path / "a.parquet")
    refused("'when' must hold numbers", scan_parquet, tmp_path / "a.parquet", columns=["when"])


def test_the_labels_of_a_pandas_frame_are_no_column(tmp_path, frame, values):
    path = tmp_path / "a.parquet"
    frame.set_index(pd.Index(np.arange(N_ROWS) % 7, name="patient")).to_parquet(path)
    np.testing.assert_array_equal(read_rows(scan_parquet(path)), values)
    assert scan_parquet(path, columns=["patient"]).head(3).ravel().tolist() == [0, 1, 2]


# Missing and infinite values


@pytest.mark.parametrize("word", ["", "NA", "na", "NaN", "nan", "null", "NULL", "None", "N/A", "n/a", " NA", '""'])
def test_missing_values_of_csv_files(word, tmp_path):
    path = text_file(tmp_path, f"x,y\n1,2\n3,{word}\n{word},4\n5,6\n")
    message = refused("missing", scan_csv, path)
    assert message == (
        f"{path}: a value is missing in row 2 (the first after the header is 1), column 'y'; fill it, or leave such "
        'rows out with missing="drop"'
    )
    source = scan_csv(path, missing="drop")
    assert source.n_dropped is None
    np.testing.assert_array_equal(read_rows(source), [[1.0, 2.0], [5.0, 6.0]])
    assert source.n_dropped == 2
    source.head(1)
    assert source.n_dropped == 2
    np.testing.assert_array_equal(read_rows(scan_csv(path, columns=["x"], missing="drop")), [[1.0], [3.0], [5.0]])


@pytest.mark.parametrize("kind", [pa.float64(), pa.int64(), pa.bool_(), pa.decimal128(20, 1)])
@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
def test_missing_values_of_arrow_files(name, kind, tmp_path):
    table = pa.table({"x": pa.array([0, None, 1]).cast(kind), "y": [1.0, 2.0, float("nan")]})
    write = pq.write_table if name == "a.parquet" else pyarrow.feather.write_feather
    write(table, tmp_path / name)
    refused(rf"{name}: a value is missing in row 2 \(the first is 1\), column 'x'", open_rows, tmp_path / name)
    source = open_rows(tmp_path / name, missing="drop")
    assert source.n_rows is None
    np.testing.assert_array_equal(read_rows(source), [[0.0, 1.0]])
    assert source.n_dropped == 2


def test_rows_are_numbered_within_their_file(tmp_path):
    first, second = text_file(tmp_path, "x\n1\n2\nNA\n"), text_file(tmp_path, "x\n3\ninf\n", "b.csv")
    for missing in ("error", "drop"):
        files = [first, second][missing == "error" :]
        refused(r"b\.csv: must be finite; got inf in row 2 .*, column 'x'", scan_csv, files, missing=missing)
    _, other = two_samples(scan_csv(second), scan_csv(second))
    with pytest.raises(ValueError, match=r"b\.csv.* row 2 "):
        read_rows(other)


def test_nothing_is_left(tmp_path):
    refused(
        "no rows without a missing value .2 rows with one", scan_csv, text_file(tmp_path, "x\nNA\nNA\n"), missing="drop"
    )
    refused("missing must be one of error, drop", scan_csv, text_file(tmp_path, "x\n1\n"), missing="fill")


# Groups


def bags_of(source):
    blocks = list(source.chunks())
    return np.concatenate([block.bags for block in blocks]), np.concatenate([block.values for block in blocks])


GROUPS = {
    "text": (["b", "a", "b", "c"], ["b", "a", "c"]),
    "whole": ([7, 3, 7, -1], [7, 3, -1]),
    "dates": ([datetime.date(2020, 1, day) for day in (2, 1, 2, 3)], ["2020-01-02", "2020-01-01", "2020-01-03"]),
}


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather"])
@pytest.mark.parametrize("kind", list(GROUPS))
def test_groups(kind, name, tmp_path):
    groups, ids = GROUPS[kind]
    frame = pd.DataFrame({"g": groups, "x": [1.0, 2.0, 3.0, 4.0]})
    source = open_rows(written(tmp_path / name, frame), by="g")
    assert source.columns == ("x",)
    assert source.bag_ids == []
    for _ in range(2):
        bags, values = bags_of(source)
        np.testing.assert_array_equal(bags, [0, 1, 0, 2])
        assert bags.dtype == np.int64
        assert source.bag_ids == ids
        assert [type(one) for one in source.bag_ids] == [type(one) for one in ids]
    np.testing.assert_array_equal(values[:, 0], [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("column", "ids"),
    [
        (pa.array([True, False, True, True]), [True, False]),
        (pa.array(["b", "a", "b", "a"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())), ["b", "a"]),
        (pa.array(pd.Categorical(["b", "a", "b", "a"], categories=["unused", "a", "b"])), ["b", "a"]),
        (pa.array([2.0, 1.0, 2.0, 1.0]), [2, 1]),
        (pa.array(["b", "a", "b", "a"], pa.large_string()), ["b", "a"]),
    ],
)
def test_types_of_groups(column, ids, tmp_path):
    pq.write_table(pa.table({"g": column, "x": [1, 2, 3, 4]}), tmp_path / "a.parquet")
    source = scan_parquet(tmp_path / "a.parquet", by="g")
    bags_of(source)
    assert source.bag_ids == ids
    assert [type(one) for one in source.bag_ids] == [type(one) for one in ids]


def test_groups_of_csv_files_are_whole_numbers_or_text(tmp_path):
    source = scan_csv(text_file(tmp_path, "g,x\n1.0,1\n10,2\n1,3\n"), by="g")
    np.testing.assert_array_equal(bags_of(source)[0], [0, 1, 0])
    assert source.bag_ids == [1, 10]
    mixed = scan_csv(text_file(tmp_path, "g,x\n1,1\n2,2\n007,3\n1,4\n3,5\n"), by="g")
    np.testing.assert_array_equal(bags_of(mixed)[0], [0, 1, 2, 0, 3])
    assert mixed.bag_ids == ["1", "2", "007", "3"]


def test_columns_that_are_no_groups(tmp_path):
    path = text_file(tmp_path, "g,x\n1,1\n,2\n0.5,3\n")
    refused(r"a\.csv: the column 'g' must hold groups.*got 0\.5 in row 3 ", scan_csv, path, by="g", missing="drop")
    refused(r"a\.csv: a value is missing in row 2 .*, column 'g'", scan_csv, path, by="g")
    table = pa.table({"g": [1.0, float("nan"), 1.5], "x": [1, 2, 3], "l": [[1], [2], [3]]})
    pq.write_table(table, tmp_path / "a.parquet")
    refused(
        r"must hold groups.*got 1\.5 in row 3 ", scan_parquet, tmp_path / "a.parquet",
        columns=["x"], by="g", missing="drop",
    )  # fmt: skip
    refused("'l' must hold groups", scan_parquet, tmp_path / "a.parquet", columns=["x"], by="l")
    refused("take it out of columns", scan_parquet, tmp_path / "a.parquet", columns=["x", "g"], by="g")


def test_dropped_rows_make_no_groups(tmp_path):
    source = scan_csv(text_file(tmp_path, "g,x\na,NA\nb,1\n,2\na,3\n"), by="g", missing="drop")
    np.testing.assert_array_equal(bags_of(source)[0], [0, 1])
    assert source.bag_ids == ["b", "a"]
    assert source.n_dropped == 2


def test_the_characteristic_function_of_each_group(tmp_path, frame, values):
    groups = np.arange(N_ROWS) % 3
    source = open_rows(written(tmp_path / "a.parquet", frame.assign(g=groups)), by="g")
    list(source.chunks())
    W = un.sample_frequencies(5, 3, random_state=0)
    expected = un.ecf([values[groups == group] for group in range(3)], W)
    np.testing.assert_allclose(un.ecf(source, W), expected, atol=1e-6)


# Files that cannot be read


def test_files_that_are_not_there(tmp_path):
    for scan in (scan_csv, scan_parquet, open_rows):
        refused(r"^no such file: .*nothing\.csv$", scan, tmp_path / "nothing.csv", error=FileNotFoundError)
        refused(r"no file matches .*\*\.csv", scan, str(tmp_path / "*.csv"), error=FileNotFoundError)
        refused("no data files in the folder", scan, tmp_path, error=FileNotFoundError)
        for path in ([], 3, [3]):
            refused("path must be a file, a folder", scan, path)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything may be read")
def test_files_that_may_not_be_read(tmp_path):
    for name, scan in (("a.csv", scan_csv), ("a.parquet", scan_parquet), ("a.feather", open_rows)):
        text_file(tmp_path, "x\n1\n", name).chmod(0)
        refused("ermission denied", scan, tmp_path / name, error=PermissionError)


def test_csv_files_without_rows(tmp_path):
    refused(r"a\.csv is empty; its first line must name the columns", scan_csv, text_file(tmp_path, ""))
    refused(r"a\.csv is empty", scan_csv, text_file(tmp_path, "\n\n"))
    for text in ("x,y", "x,y\n", "x,y\n\n"):
        source = scan_csv(text_file(tmp_path, text))
        refused(r"a\.csv has no rows", lambda source=source: source)
        with pytest.raises(ValueError, match="no rows"):
            source.head()


def test_names_that_occur_twice(tmp_path):
    refused(r"a\.csv must have distinct column names; more than once: 'x'", scan_csv, text_file(tmp_path, "x,x\n1,2\n"))
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"]), tmp_path / "a.parquet")
    refused("distinct column names", scan_parquet, tmp_path / "a.parquet")


def test_columns_that_are_not_there(tmp_path):
    path = text_file(tmp_path, "x,y\n1,2\n")
    refused(r"a\.csv has no column 'w'; its columns are 'x', 'y'", scan_csv, path, columns=["x", "w"])
    refused(r"a\.csv has no column 'w'; its columns are 'x', 'y'", scan_csv, path, by="w")
    for columns in ("x", ["x", "x"], []):
        refused("columns must", scan_csv, path, columns=columns)
    refused("no column beside by='x'", scan_csv, text_file(tmp_path, "x\n1\n"), by="x")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"delimiter": ", "}, "delimiter must be one character"),
        ({"delimiter": "\n"}, "delimiter must be one character"),
        ({"decimal": "x"}, "decimal must be"),
        ({"decimal": ",", "delimiter": ","}, "must differ"),
    ],
)
def test_formats_that_cannot_be(options, match, tmp_path):
    for scan in (scan_csv, open_rows):
        refused(match, scan, text_file(tmp_path, "x\n1\n"), **options)


def test_damaged_files(tmp_path, frame):
    for name in ("a.parquet", "a.feather", "a.npy", "a.npz", "a.csv.gz", "a.arrow"):
        data = written(tmp_path / name, frame).read_bytes()
        for kept in (data[: len(data) // 2], data[:9]):
            (tmp_path / name).write_bytes(kept)
            refused(name.replace(".", r"\."), open_rows, tmp_path / name)
    for name in ("b.parquet", "b.feather", "b.npy", "b.npz", "b.arrow"):
        refused(name.replace(".", r"\."), open_rows, text_file(tmp_path, "x,y\n1,2\n" * 10, name))
    written(tmp_path / "a.parquet", frame)
    refused("not a text file", scan_csv, tmp_path / "a.parquet")


def test_a_parquet_file_with_a_damaged_page(tmp_path, frame):
    path = written(tmp_path / "a.parquet", frame)
    data = bytearray(path.read_bytes())
    data[4:2000] = b"\xff" * 1996
    path.write_bytes(data)
    refused(r"a\.parquet is not a Parquet file, or it is cut short or damaged", scan_parquet, path)


def test_unknown_suffixes_get_a_list_of_the_known(tmp_path):
    refused(
        r"a\.doc has the unknown suffix '\.doc'.*\.csv.*\.parquet.*\.npy.*format=.csv. reads it",
        open_rows,
        text_file(tmp_path, "", "a.doc"),
    )
    refused("has no suffix", open_rows, text_file(tmp_path, "", "a"))


# numpy's files


def test_numpy_files(tmp_path, values):
    np.save(tmp_path / "one.npy", values[:, 0].astype(np.float32))
    np.testing.assert_array_equal(
        read_rows(open_rows(tmp_path / "one.npy")), values[:, :1].astype(np.float32).astype(float)
    )
    np.savez(tmp_path / "one.npz", values)
    assert open_rows(tmp_path / "one.npz").columns == ("x0", "x1", "x2")
    table = np.array([(1.5, 2, "u"), (2.5, 3, "v")], dtype=[("a", float), ("b", int), ("g", "U1")])
    np.save(tmp_path / "table.npy", table)
    source = open_rows(tmp_path / "table.npy", by="g")
    np.testing.assert_array_equal(read_rows(source), [[1.5, 2.0], [2.5, 3.0]])
    assert source.bag_ids == ["u", "v"]
    refused("'g' holds text", open_rows, tmp_path / "table.npy")


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"a": np.zeros(2), "b": np.zeros(3)}, r"it holds 'a' of shape \(2,\), 'b' of shape \(3,\)"),
        ({"a": np.zeros((2, 2, 2))}, "one array"),
        ({"a": np.zeros((2, 0))}, "one array"),
        ({"a": np.zeros(2, dtype=complex)}, "complex"),
        ({"a": np.array([{}])}, "numpy file of plain numbers"),
        ({}, "it holds nothing"),
    ],
)
def test_archives_that_hold_no_rows(arrays, match, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    refused(match, open_rows, tmp_path / "a.npz")


def test_missing_values_of_arrays(tmp_path):
    np.save(tmp_path / "a.npy", [[1.0, np.nan], [2.0, 3.0]])
    refused(r"a\.npy: a value is missing in row 1 .*column 'x1'", open_rows, tmp_path / "a.npy")
    np.testing.assert_array_equal(read_rows(open_rows(tmp_path / "a.npy", missing="drop")), [[2.0, 3.0]])


def test_numpy_files_under_the_wrong_suffix(tmp_path, values):
    np.save(tmp_path / "a.npy", values)
    (tmp_path / "a.npy").rename(tmp_path / "b.npz")
    np.savez(tmp_path / "a.npz", values)
    (tmp_path / "a.npz").rename(tmp_path / "b.npy")
    for name in ("b.npz", "b.npy"):
        refused("not a numpy file", open_rows, tmp_path / name)


def test_a_file_of_polars(tmp_path, frame, values):
    pl.from_pandas(frame).write_ipc(tmp_path / "a.arrow", compression="zstd")
    assert open_rows(tmp_path / "a.arrow").n_rows == N_ROWS
    np.testing.assert_array_equal(read_rows(open_rows(tmp_path / "a.arrow")), values)


# Passes: pieces, progress, early ends


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.feather", "a.npy"])
def test_pieces_are_small_and_files_are_closed(name, tmp_path, rng):
    path = written(tmp_path / name, pd.DataFrame(rng.normal(size=(200_000, 1)).round(3), columns=["x"]))
    source = open_rows(path)

    def is_open():
        return any(link.readlink() == path for link in Path("/proc/self/fd").iterdir() if link.is_symlink())

    sizes = [len(block.values) for block in source.chunks()]
    assert max(sizes) <= 65_536
    assert len(sizes) > 1
    if not Path("/proc/self/fd").exists():
        return
    assert not is_open()
    chunks = source.chunks()
    next(chunks)
    chunks.close()
    source.head()
    assert not is_open()
    with pytest.raises(KeyboardInterrupt):
        source.fold(Interrupted())
    assert not is_open()
    assert len(read_rows(source)) == 200_000


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.npy"])
def test_long_rows_are_read_few_at_a_time(name, tmp_path, rng, monkeypatch):
    frame = pd.DataFrame(rng.normal(size=(100, 5)), columns=list("abcde"))
    source = open_rows(written(tmp_path / name, frame))
    monkeypatch.setattr("uptonoise.rows.block._CHUNK_VALUES", 80)
    assert max(len(block.values) for block in source.chunks()) == 16
    assert np.array_equal(read_rows(source), frame.to_numpy())


class Interrupted:
    block_rows = 1_000
    part_bytes = 0

    def part(self, block):
        return None

    def add(self, part):
        raise KeyboardInterrupt


def test_progress_is_shown_for_a_whole_pass_only(tmp_path, frame, capsys):
    for name in ("a.csv", "a.csv.gz", "a.parquet", "a.feather", "a.arrow", "a.npy"):
        path = written(tmp_path / name, frame)
        open_rows(path, progress=True).head()
        read_rows(open_rows(path))
        read_rows(open_rows(path, progress=False))
        assert capsys.readouterr().err == ""
        read_rows(open_rows(path, progress=True))
        shown = capsys.readouterr().err
        assert f"reading {path}: 100%" in shown
        assert "1000/1000" in shown
        assert shown.endswith("\n")


def test_a_source_can_go_to_another_process(tmp_path, frame, values):
    for name in ("a.csv", "a.parquet", "a.feather", "a.npy"):
        source = pickle.loads(pickle.dumps(open_rows(written(tmp_path / name, frame))))
        np.testing.assert_array_equal(read_rows(source), values)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    refused("a pipe or a device cannot be read twice", scan_csv, tmp_path / "a.csv")


def test_pyarrow_is_imported_late_and_missed_politely(tmp_path):
    text_file(tmp_path, "x\n1\n")
    np.save(tmp_path / "a.npy", np.ones(3))
    code = (
        "import sys; from uptonoise.engines import OpenFiles, scan_csv, scan_parquet\n"
        "assert 'pyarrow' not in sys.modules\n"
        "sys.modules['pyarrow'] = None\n"
        "assert OpenFiles('a.npy').rows().head().shape == (3, 1)\n"
        "try: scan_csv('a.csv')\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout.strip() == 'reading files needs pyarrow: pip install "uptonoise[io]"', done.stderr


def test_groups_of_a_stream_are_those_of_the_frame(tmp_path):
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"g": generator.choice(list("abc"), 1_000), "x": generator.normal(size=1_000)})
    frame.to_parquet(tmp_path / "g.parquet")
    W = un.sample_frequencies(5, 1, random_state=0)
    bags = un.Bags.from_long(frame, by="g")
    streamed = un.ecf(un.scan_parquet(tmp_path / "g.parquet", by="g"), W)
    np.testing.assert_allclose(streamed, un.ecf(bags, W), atol=1e-9)
    of_stream, of_frame = (
        un.compare_groups(groups).pairs.pvalues for groups in (un.scan_parquet(tmp_path / "g.parquet", by="g"), bags)
    )
    np.testing.assert_allclose(of_stream, of_frame, rtol=1e-6)
