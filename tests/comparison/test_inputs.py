"""What compare reads: each source once or twice, with the same answer as from memory."""

import numpy as np
import pytest

import uptonoise as un
from uptonoise.rows import ArrayRows, Block, RowSource


class Counted(RowSource):
    """Rows in chunks, of an unknown number, that count how often they are read."""

    def __init__(self, rows, name):
        self.rows, self.name, self.columns, self.passes = rows, name, ("x0", "x1"), 0

    def chunks(self):
        self.passes += 1
        for start in range(0, len(self.rows), 1_000):
            yield Block(self.rows[start : start + 1_000])

    def head(self, n_rows=1_000):
        return self.rows[:n_rows]


@pytest.fixture
def samples(rng):
    return rng.gamma(2.0, size=(3_000, 2)), rng.gamma(2.0, size=(5_000, 2)) + rng.normal(size=(5_000, 2))


def counted(samples):
    return [Counted(rows, name) for rows, name in zip(samples, "XY", strict=True)]


def test_few_rows_are_read_once(samples):
    sources = counted(samples)
    assert un.compare(*sources) == un.compare(*samples)
    assert [source.passes for source in sources] == [1, 1]


@pytest.mark.parametrize("limit", [4_000, 100])
def test_many_rows_are_read_twice_at_most(samples, limit, monkeypatch):
    monkeypatch.setattr("uptonoise.comparison.inputs.IN_MEMORY", limit)
    monkeypatch.setattr("uptonoise.comparison.inputs._SAMPLED_ROWS", 500)
    sources = counted(samples)
    comparison = un.compare(*sources)
    assert comparison == un.compare(*map(ArrayRows, samples))
    assert comparison.me.sizes == (500, 500)
    assert comparison.sizes == (3_000, 5_000)
    assert [source.passes for source in sources] == ([1, 2] if limit == 4_000 else [2, 2])


def test_fewer_rows_are_kept_where_they_are_long(samples, monkeypatch):
    monkeypatch.setattr("uptonoise.comparison.inputs._VALUES_IN_MEMORY", 300 * 2 * samples[0].shape[1])
    comparison = un.compare(*counted(samples))
    assert comparison.me.sizes == (300, 300)
    assert comparison.sizes == (3_000, 5_000)


def test_rows_of_a_sample_are_rows_of_the_source(samples, monkeypatch):
    monkeypatch.setattr("uptonoise.comparison.inputs.IN_MEMORY", 100)
    monkeypatch.setattr("uptonoise.comparison.inputs._SAMPLED_ROWS", 50)
    comparison = un.compare(*counted(samples))
    for shown, rows in zip(comparison.shown, samples, strict=True):
        assert len(shown) == 50
        assert {tuple(row) for row in shown} <= {tuple(row) for row in rows}


def test_a_fault_in_a_late_row_is_reported(samples):
    samples[1][4_321, 1] = np.nan
    with pytest.raises(ValueError, match=r"Y must be finite; got NaN .* in row 4321"):
        un.compare(*counted(samples))
