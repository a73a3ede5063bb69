import gzip
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.io import savemat

from uptonoise.datasets import (
    aerosol,
    dark_matter,
    load_dark_matter,
    load_misr1,
    make_aerosol_like,
    make_dark_matter_like,
    make_gamma_bags,
)

SIMULATORS = {
    "gamma": lambda seed: make_gamma_bags(20, (2, 30), 2, random_state=seed),
    "aerosol": lambda seed: make_aerosol_like(20, 7, random_state=seed),
    "dark matter": lambda seed: make_dark_matter_like(10, 2, random_state=seed),
}


def of_bags(bags, statistic):
    return np.array([statistic(bag) for bag in bags])


@pytest.mark.parametrize("name", SIMULATORS)
def test_the_seed_decides_and_labels_go_along(name):
    bags, y, *groups = SIMULATORS[name](3)
    again, y_again, *groups_again = SIMULATORS[name](3)
    assert bags == again
    np.testing.assert_array_equal(y, y_again)
    np.testing.assert_array_equal(groups, groups_again)
    other, y_other, *_ = SIMULATORS[name](4)
    assert bags != other
    assert (y != y_other).all()
    assert len(bags) == len(y) == 20
    np.testing.assert_array_equal(bags.ids, np.arange(20))
    np.testing.assert_array_equal(bags[[5, 2]].labels, y[[5, 2]])


@pytest.mark.parametrize(
    ("make", "change", "match"),
    [
        (make_gamma_bags, {"n_bags": 0}, "n_bags"),
        (make_gamma_bags, {"n_columns": 1.5}, "n_columns"),
        (make_gamma_bags, {"n_rows": 0}, "n_rows must be a positive integer"),
        (make_gamma_bags, {"n_rows": "9"}, "n_rows must be a positive integer"),
        (make_gamma_bags, {"n_rows": (9, 5)}, "in this order"),
        (make_gamma_bags, {"n_rows": (1, 2, 3)}, "smallest and a largest"),
        (make_gamma_bags, {"n_rows": [5, 6], "n_bags": 3}, "each of the 3 bags; got 2"),
        (make_gamma_bags, {"n_rows": [5, -6], "n_bags": 2}, "n_rows must be a positive integer; got -6"),
        (make_gamma_bags, {"prior": (0.0, 1.0)}, "prior"),
        (make_gamma_bags, {"prior": (1.0,)}, "prior"),
        (make_gamma_bags, {"noise": -0.1}, "noise"),
        (make_gamma_bags, {"noise": np.nan}, "noise"),
        (make_aerosol_like, {"n_bags": -1}, "n_bags"),
        (make_aerosol_like, {"n_rows": True}, "n_rows"),
        (make_dark_matter_like, {"n_clusters": 0}, "n_clusters"),
        (make_dark_matter_like, {"n_lines_of_sight": 0}, "n_lines_of_sight"),
        (make_dark_matter_like, {"interlopers": 0.6}, "interlopers"),
        (make_dark_matter_like, {"random_state": -1}, "random_state"),
    ],
)
def test_bad_arguments(make, change, match):
    with pytest.raises(ValueError, match=match):
        make(**change)


def test_gamma_bags_have_the_moments_of_the_model():
    bags, theta = make_gamma_bags(60, 20_000, 2, noise=0.0, random_state=0)
    np.testing.assert_allclose(of_bags(bags, np.mean), 0.5, atol=0.02)
    np.testing.assert_allclose(of_bags(bags, np.var) * 2 * theta, 1, atol=0.08)
    skewness = of_bags(bags, lambda bag: stats.skew(bag.ravel()))
    np.testing.assert_allclose(skewness / np.sqrt(8 / theta), 1, atol=0.25)
    first = bags[0].ravel()
    assert stats.kstest(first, stats.gamma(theta[0] / 2, scale=1 / theta[0]).cdf).pvalue > 1e-3


def test_theta_has_its_prior():
    _, theta = make_gamma_bags(5_000, 1, prior=(3.0, 0.5), random_state=0)
    assert stats.kstest(theta, stats.gamma(3.0, scale=2.0).cdf).pvalue > 1e-3


def test_the_noise_of_a_bag_has_one_uniform_variance_and_leaves_the_signal():
    noisy, theta = make_gamma_bags(400, 500, 3, noise=2.0, random_state=1)
    clean, same_theta = make_gamma_bags(400, 500, 3, noise=0.0, random_state=1)
    np.testing.assert_array_equal(theta, same_theta)
    noise = noisy.values - clean.values
    by_column = (noise**2).reshape(400, 500, 3).mean(axis=1)
    variance = by_column.mean(axis=1)
    np.testing.assert_allclose(by_column / variance[:, None], 1, atol=0.25)
    assert stats.kstest(variance, stats.uniform(0, 2).cdf).pvalue > 1e-3
    assert stats.kstest((noise / np.sqrt(np.repeat(variance, 500))[:, None]).ravel()[::50], "norm").pvalue > 1e-3


def test_sizes_of_gamma_bags():
    assert set(make_gamma_bags(5, 7, random_state=0)[0].sizes) == {7}
    np.testing.assert_array_equal(make_gamma_bags(3, [5, 1, 9], random_state=0)[0].sizes, [5, 1, 9])
    np.testing.assert_array_equal(make_gamma_bags(2, np.array([4, 6]), random_state=0)[0].sizes, [4, 6])
    assert set(make_gamma_bags(4, (6, 6), random_state=0)[0].sizes) == {6}
    sizes = make_gamma_bags(1_000, (5, 5_000), random_state=0)[0].sizes
    assert sizes.min() >= 5
    assert sizes.max() <= 5_000
    assert np.median(sizes) == pytest.approx(np.sqrt(5 * 5_000), rel=0.3)


def test_aerosol_bags_look_like_misr1():
    bags, y = make_aerosol_like(random_state=0)
    assert len(bags) == 800
    assert set(bags.sizes) == {100}
    pixels = bags.values.reshape(800, 100, 16)
    assert (pixels[:, :, 12:] == pixels[:, :1, 12:]).all()
    assert (pixels[:, :, :12].std(axis=1) > 0).all()
    assert bags.columns[0] == "blue_aft"
    assert bags.columns[12] == "cos_sun_zenith"
    assert (np.abs(pixels[:, :, 12:]) <= 1).all()
    assert 0.05 < np.median(pixels[:, :, :12]) < 0.3
    skewness = stats.skew(pixels[:, :, :12], axis=1)
    assert (np.median(skewness, axis=0) > 0.3).all()
    assert (y > 0).all()


def test_the_law_of_optical_depth():
    _, y = make_aerosol_like(20_000, 1, random_state=0)
    log_sd = np.hypot(0.82, 0.05)
    assert stats.kstest(np.log(y), stats.norm(np.log(0.15), log_sd).cdf).pvalue > 1e-3
    assert stats.lognorm(log_sd, scale=0.15).std() == pytest.approx(0.206, abs=0.003)


def test_dark_pixels_brighten_and_bright_ones_darken_with_optical_depth():
    def clear(depth):
        rng = np.random.default_rng(0)  # the same ground and the same sun
        return aerosol._clear_sky(rng, np.full(500, depth), 20, *aerosol._angles(rng, 500))

    levels = [clear(depth) for depth in (0.05, 0.2, 0.8)]
    dark = clear(0.0) < np.quantile(clear(0.0), 0.1, axis=(0, 1))
    bright = ~dark[..., 3]
    for thin, thick in pairwise(levels):
        assert (thick[..., 0] > thin[..., 0])[dark[..., 0]].mean() > 0.95
        assert (thick[..., 3] < thin[..., 3])[bright].mean() > 0.95  # plants in the infrared lose more than is added


def test_the_darkest_pixels_of_a_bag_tell_something():
    bags, y = make_aerosol_like(random_state=0)
    darkest_blue = np.quantile(bags.values.reshape(800, 100, 16)[:, :, [0, 4, 8]], 0.1, axis=1)
    for camera in range(3):
        rank, pvalue = stats.spearmanr(darkest_blue[:, camera], y)
        assert rank > 0
        assert pvalue < 1e-6


def test_scattering_grows_with_depth_as_its_limits_say():
    mu_0, mu, phase = 0.6, 0.9, 0.3
    depth = np.array([1e-6, 0.1, 0.5, 50.0])
    path = aerosol._scattered(depth, phase, mu_0, mu)
    assert (np.diff(path) > 0).all()
    assert path[0] == pytest.approx(phase * depth[0] / (4 * mu_0 * mu), rel=1e-4)
    assert path[-1] == pytest.approx(phase / (4 * (mu_0 + mu)))
    cosines = np.linspace(-1, 1, 20_001)
    assert np.trapezoid(aerosol._henyey_greenstein(cosines), cosines) / 2 == pytest.approx(1, rel=1e-6)
    assert np.trapezoid(cosines * aerosol._henyey_greenstein(cosines), cosines) / 2 == pytest.approx(0.6, rel=1e-6)


def test_scattering_angles_are_those_of_the_geometry(rng):
    cos_sun, cos_scattering = aerosol._angles(rng, 1_000)
    zenith = np.rad2deg(np.arccos(cos_sun))
    assert 20 <= zenith.min() < 21
    assert 64 < zenith.max() <= 65
    np.testing.assert_allclose(cos_scattering[:, 1], -cos_sun)
    np.testing.assert_allclose(
        cos_scattering[:, [0, 2]].sum(axis=1), -2 * cos_sun * np.cos(np.deg2rad(26.1)), rtol=1e-12
    )
    assert (cos_scattering[:, 2] > cos_scattering[:, 0]).all()


def test_clouds_have_a_share_that_varies_by_bag(rng):
    cover = aerosol._cloud_cover(rng, 5_000, 200)
    share = (cover > 0).mean(axis=1)
    law = stats.betabinom(200, 0.75, 4.25)
    assert share.mean() == pytest.approx(0.15, abs=0.01)
    assert share.std() == pytest.approx(law.std() / 200, rel=0.05)
    assert stats.kstest(cover[cover > 0][::20], stats.uniform(0.1, 0.9).cdf).pvalue > 1e-3


def test_the_surface_has_its_spectrum(rng):
    ground = aerosol._surface(rng, 4_000, 20)
    assert ground.shape == (4_000, 20, 3, 4)
    bright = np.exp((0.15**2 + 0.25**2) / 2)
    np.testing.assert_allclose(
        ground[:, :, 1].mean(axis=(0, 1)), bright * (0.55 * aerosol._PLANTS + 0.45 * aerosol._SOIL), rtol=0.02
    )
    np.testing.assert_allclose(np.log(ground[:, :, 0] / ground[:, :, 2]).mean(), 0.2, atol=0.01)


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


def misr1_like(path, change=None, name="MISR1"):
    rng = np.random.default_rng(0)
    bag = np.repeat([7, 2, 5], 100)
    table = np.column_stack([bag, rng.random((300, 12)), np.outer(bag, [1, 2, 3, 4]), bag / 10])
    table = table[rng.permutation(300)]
    savemat(path, {name: table if change is None else change(table)})
    return path


def changed(row, column, value):
    def change(table):
        table[row, column] = value
        return table

    return change


def test_misr1_is_read(tmp_path):
    bags, y = load_misr1(misr1_like(tmp_path / "MISR1.mat"))
    assert bags.n_columns == 16
    np.testing.assert_array_equal(bags.ids, [2, 5, 7])
    np.testing.assert_array_equal(bags.sizes, [100, 100, 100])
    np.testing.assert_array_equal(y, [0.2, 0.5, 0.7])
    np.testing.assert_array_equal(bags.labels, y)
    np.testing.assert_array_equal(bags[1][:, 12:], np.tile([5.0, 10, 15, 20], (100, 1)))
    assert load_misr1(tmp_path)[0] == bags


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda table: table[:, :17], "18 columns .*got shape \\(300, 17\\)"),
        (lambda table: table[:299], "bags of 100 rows; bag . has 99"),
        (lambda table: table[:0], "18 columns"),
        (lambda table: np.array(["a"] * 300), "18 columns"),
        (changed(4, 3, np.nan), "finite numbers; row 4"),
        (changed(4, 0, 2.5), "whole numbers of bags .*2.5"),
        (changed(4, 17, 9.0), "same label"),
        (changed(4, 15, 9.0), "same last four features"),
    ],
)
def test_wrong_misr1_files(tmp_path, change, match):
    file = misr1_like(tmp_path / "wrong.mat", change)
    with pytest.raises(ValueError, match=r"wrong\.mat must h.*" + match):
        load_misr1(file)


def test_files_that_are_no_misr1(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"other\.mat must hold a matrix MISR1; it holds MISR2"):
        load_misr1(misr1_like(tmp_path / "other.mat", name="MISR2"))
    text = tmp_path / "text.mat"
    text.write_text("no numbers here, but a long line of text that is no header of a MATLAB file " * 9)
    with pytest.raises(ValueError, match=r"text\.mat is not a MATLAB file"):
        load_misr1(text)
    whole = misr1_like(tmp_path / "part.mat").read_bytes()
    (tmp_path / "part.mat").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"part\.mat is not a MATLAB file"):
        load_misr1(tmp_path / "part.mat")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UPTONOISE_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"Wang, Lan and Vucetic.*UPTONOISE_DATA"):
        load_misr1()


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
