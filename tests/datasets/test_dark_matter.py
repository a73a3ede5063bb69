import gzip

import numpy as np
import pytest
from scipy import stats

from uptonoise.datasets import (
    dark_matter,
    load_dark_matter,
    make_dark_matter_like,
)


def of_bags(bags, statistic):
    return np.array([statistic(bag) for bag in bags])


def test_dark_matter_bags_are_grouped_by_cluster():
    bags, y, groups = make_dark_matter_like(50, 4, random_state=0)
    assert len(bags) == len(y) == len(groups) == 200
    np.testing.assert_array_equal(groups, np.repeat(np.arange(50), 4))
    np.testing.assert_array_equal(y.reshape(50, 4), y[::4, None] * np.ones(4))
    assert (bags.values >= 0).all()
    pure, *_ = make_dark_matter_like(50, 4, interlopers=0.0, random_state=0)
    sizes = pure.sizes.reshape(50, 4)
    assert (sizes == sizes[:, :1]).all()
    for bag, one in zip(bags, pure, strict=True):
        np.testing.assert_array_equal(bag[: len(one)], one)


def test_masses_decay_between_their_bounds(rng):
    log_mass = dark_matter._log_masses(rng, 50_000)
    assert stats.kstest(log_mass, stats.truncexpon(np.log10(30), loc=14).cdf).pvalue > 1e-3
    assert log_mass.var() == pytest.approx(0.16, abs=0.01)


def test_members_grow_with_mass():
    bags, y, _ = make_dark_matter_like(5_000, 1, interlopers=0.0, random_state=0)
    expected = 20 * 10 ** (y - 14)
    z = (bags.sizes - expected) / np.sqrt(expected)
    assert abs(z.mean()) < 0.05
    assert z.std() == pytest.approx(1, abs=0.05)


def test_dispersion_grows_as_the_third_root_of_mass():
    bags, y, _ = make_dark_matter_like(5_000, 3, interlopers=0.0, random_state=0)
    square = of_bags(bags, lambda bag: np.mean(bag**2)) * 10 ** (-2 / 3 * (y - 14))
    place = np.digitize(y, [14.25, 14.5, 14.75, 15.0, 15.25])
    found = np.sqrt([square[place == number].mean() for number in range(6)])
    np.testing.assert_allclose(found, 503, rtol=0.02)  # what is left once the law is taken out
    middle = [y[place == number].mean() for number in range(6)]
    assert np.polyfit(middle, np.log10(found), 1)[0] == pytest.approx(0, abs=0.01)  # so that the slope is 1/3


def test_lines_of_sight_see_one_cluster_from_different_sides():
    bags, y, _ = make_dark_matter_like(4_000, 2, interlopers=0.0, random_state=0)
    error = np.log10(of_bags(bags, lambda bag: np.mean(bag**2))) / 2 - y / 3
    first, second = error.reshape(-1, 2).T
    assert not np.allclose(first, second)
    assert 0.02 < first.std() < 0.15


def test_share_and_speeds_of_interlopers():
    bags, *_ = make_dark_matter_like(5_000, 1, interlopers=0.2, random_state=0)
    pure, *_ = make_dark_matter_like(5_000, 1, interlopers=0.0, random_state=0)
    assert ((bags.sizes - pure.sizes) / bags.sizes).mean() == pytest.approx(0.2, abs=0.01)
    speeds = np.concatenate([bag[len(one) :, 0] for bag, one in zip(bags, pure, strict=True)])
    assert stats.kstest(speeds[::10], stats.uniform(0, 3_000).cdf).pvalue > 1e-3


CATALOGUE = """velocity,cluster,extra,log_mass,line_of_sight
-300.5,9000000001,a,1.5,1
20,4,b,0.5,2
100,9000000001,c,1.5,0
7,4,d,0.5,2

-8,9000000001,e,1.5,1
"""


@pytest.mark.parametrize("name", ["dark_matter.csv", "dark_matter.csv.gz"])
def test_dark_matter_is_read(tmp_path, name):
    file = tmp_path / name
    file.write_bytes(gzip.compress(CATALOGUE.encode()) if name.endswith("gz") else CATALOGUE.encode())
    bags, y, groups = load_dark_matter(tmp_path)
    assert bags.ids.tolist() == ["4/2", "9000000001/0", "9000000001/1"]
    np.testing.assert_array_equal(groups, [4, 9_000_000_001, 9_000_000_001])
    np.testing.assert_array_equal(y, [0.5, 1.5, 1.5])
    np.testing.assert_array_equal(bags.labels, y)
    np.testing.assert_array_equal(bags[0].ravel(), [20, 7])
    np.testing.assert_array_equal(bags[2].ravel(), [300.5, 8])


def test_a_catalogue_as_r_and_spreadsheets_write_it(tmp_path):
    file = tmp_path / "quoted.csv"
    quoted = '\ufeff"cluster","line_of_sight","note","velocity","log_mass"\r\n"1","0","# a, b","-3","14.5"\r\n'
    file.write_text(quoted, encoding="utf-8", newline="")
    bags, y, groups = load_dark_matter(file)
    assert (bags[0].item(), y.item(), groups.item()) == (3.0, 14.5, 1)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "lacks"),
        ("cluster,velocity,log_mass\n1,2,3\n", r"must name the columns .*lacks \['line_of_sight'\]"),
        (CATALOGUE.splitlines()[0], "no rows"),
        (CATALOGUE.replace("100", "fast"), "fast"),
        (CATALOGUE.replace("-300.5", "nan"), "finite numbers; row 1 below"),
        (CATALOGUE.replace("20,4,", "20,4.5,"), "whole numbers as cluster and line_of_sight; row 2"),
        (CATALOGUE.replace("c,1.5", "c,1.6"), "one log_mass for each cluster; that of cluster 9000000001"),
    ],
)
def test_wrong_catalogues(tmp_path, text, match):
    file = tmp_path / "wrong.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"wrong\.csv.*" + match):
        load_dark_matter(file)


def test_absent_and_broken_catalogues(tmp_path, monkeypatch):
    file = tmp_path / "broken.csv.gz"
    file.write_bytes(b"no gzip")
    with pytest.raises(ValueError, match=r"broken\.csv\.gz is not a CSV file"):
        load_dark_matter(file)
    file.write_bytes(gzip.compress(CATALOGUE.encode())[:-20])
    with pytest.raises(ValueError, match=r"broken\.csv\.gz is not a CSV file"):
        load_dark_matter(file)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UPTONOISE_DATA", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"Ntampaka.*cluster, line_of_sight, velocity, log_mass.*UPTONOISE_DATA"
    ):
        load_dark_matter()
