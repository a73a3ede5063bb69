from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.io import savemat

from uptonoise.datasets import (
    aerosol,
    load_misr1,
    make_aerosol_like,
)


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
