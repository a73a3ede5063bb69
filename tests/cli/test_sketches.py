import json

import pytest

import uptonoise as un

from .helpers import bad, frames, run


def test_sketches_of_two_sites_compare_as_the_rows_do(folder):
    assert run("sketch", "a.csv", "-o", "a.npz").exit_code == 0
    assert run("sketch", "b.csv", "--like", "a.npz", "-o", "b.npz").exit_code == 0
    read = json.loads(run("compare", "a.npz", "b.npz", "--json").stdout)
    a, b = frames()
    left, right = (un.Sketch.like(un.Sketch.load("a.npz")).update(rows) for rows in (a, b))
    found = un.compare(left, right)
    assert read["phase"]["statistic"] == pytest.approx(found.phase.statistic, rel=1e-6)
    assert found.phase.pvalue < read["phase"]["pvalue"] < 1.2 * found.phase.pvalue  # a file holds no rows
    assert read["up_to_offset"]["pvalue"] == pytest.approx(found.up_to_offset.pvalue, rel=1e-6)
    mixed = json.loads(run("compare", "a.npz", "b.csv", "--json").stdout)
    assert found.phase.pvalue < mixed["phase"]["pvalue"] < read["phase"]["pvalue"]
    assert "a.npz and b.npz differ" in run("compare", "a.npz", "b.npz").stdout
    one = json.loads(run("compare", "a.npz", "b.npz", "--columns", "time", "--json").stdout)
    assert one["columns"] == ["time"]
    assert "columns must be some of" in bad("compare", "a.npz", "b.npz", "--columns", "speed")
