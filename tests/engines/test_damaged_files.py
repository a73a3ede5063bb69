"""Files with flipped bits, lost ends and foreign bytes: a clear error, or what the file says."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from opened_files import open_rows

import uptonoise as un
from uptonoise.rows import read_rows

CLEAR = (ValueError, FileNotFoundError)
FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)).round(3), columns=["a", "b"])


def as_csv(path):
    FRAME.to_csv(path, index=False)


def as_npy(path):
    np.save(path, FRAME.to_numpy())


def as_npz(path):
    np.savez(path, a=FRAME["a"].to_numpy(), b=FRAME["b"].to_numpy())


def as_parquet(path):
    pq.write_table(pa.Table.from_pandas(FRAME), path, write_page_checksum=True)


def as_feather(path):
    pyarrow.feather.write_feather(FRAME, path, compression="lz4")


def as_stream(path):
    table = pa.Table.from_pandas(FRAME)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=20)


def as_sketch(path):
    un.Sketch([[0.5, 1.0], [1.0, 0.1]]).update(FRAME).save(path)


def as_model(path):
    bags = FRAME.to_numpy().reshape(12, 5, 2)
    un.plrr(n_frequencies=4, random_state=0).fit(bags, np.arange(12.0)).save(path)


def rows(path):
    return read_rows(open_rows(path))


KINDS = {
    "a.csv": (as_csv, rows),
    "a.npy": (as_npy, rows),
    "a.npz": (as_npz, rows),
    "a.parquet": (as_parquet, rows),
    "a.feather": (as_feather, rows),
    "a.arrow": (as_stream, rows),
    "sketch.npz": (as_sketch, lambda path: un.Sketch.load(path).covariance),
    "model.npz": (as_model, lambda path: un.BagRidgeCV.load(path).coef_),
}
# Files with checksums over all numbers: what is read from a damaged one is what was written.
CHECKED = ("a.npz", "a.parquet", "sketch.npz", "model.npz")


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a file with some damage."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        start = int(rng.integers(len(data))) if data else 0
        length = int(min(rng.integers(1, 40), len(data) - start))
        kind = rng.integers(7)
        if kind == 0 and data:
            data[start] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            data[start : start + length] = rng.bytes(length)
        elif kind == 2:
            del data[start : start + length]
        elif kind == 3:
            data[start:start] = rng.bytes(length)
        elif kind == 4:
            data[start : start + length] = bytes(length)
        elif kind == 5:
            data[start:start] = data[start : start + length]
        else:
            del data[start:]
    return bytes(data)


def check(name, tmp_path, numbers):
    write, read = KINDS[name]
    path = tmp_path / name
    write(path)
    content, expected = path.read_bytes(), read(path)
    wrong = []
    for number in numbers:
        data = damaged(content, np.random.default_rng(number))
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                values = read(path)
            except CLEAR as error:
                if name not in str(error):
                    wrong.append(f"{number}: the file is not named: {error!r}")
                continue
            except Exception as error:
                wrong.append(f"{number}: {error!r}")
                continue
        if not np.isfinite(values).all():
            wrong.append(f"{number}: not finite")
        if name in CHECKED and not np.array_equal(values, expected):
            wrong.append(f"{number}: other values")
    assert not wrong, (len(wrong), wrong[:10])


@pytest.mark.parametrize("name", KINDS)
def test_some_damaged_files(name, tmp_path):
    check(name, tmp_path, range(25))


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_many_damaged_files(name, tmp_path):
    check(name, tmp_path, range(1_300))
