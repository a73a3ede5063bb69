"""Aerosol optical depth from satellite pixels: a simulated stand-in of the MISR1 data, and their loader."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import numpy as np

from uptonoise._util.docs import described
from uptonoise._util.random import RandomState, as_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import positive_int
from uptonoise.bags import Bags
from uptonoise.datasets.files import data_file

# The instrument: MISR's four bands, and the middle three of its nine cameras.
_BANDS = ("blue", "green", "red", "infrared")
_WAVELENGTHS = np.array([0.446, 0.558, 0.672, 0.866])  # micrometres
_CAMERAS = ("aft", "nadir", "forward")
_VIEW_ZENITHS = np.deg2rad([26.1, 0.0, 26.1])
_TOWARDS_SUN = np.array([-1.0, 0.0, 1.0])  # the forward camera looks south, and meets light that went on ahead
_SENSOR_SD = 0.003  # of a reflectance: 3 % of a dark surface's 0.1
_SUN_ZENITHS = (20.0, 65.0)  # degrees: 25 to 49 degrees north at 10:30, over the year
_SUN_AZIMUTHS = (20.0, 70.0)  # degrees from the ground track: a morning sun in the south-east

# The aerosol: fine particles, as over the continental United States.
_DEPTH_MEDIAN, _DEPTH_LOG_SD = 0.15, 0.82  # lognormal, of SD 0.206: the error of the paper's mean predictor
_DEPTH_LOCAL_LOG_SD = 0.1  # optical depth varies little within 20 km
_DEPTH_SENSOR_LOG_SD = 0.05  # AERONET errs by 0.01, which is 5 % of a usual depth
_ANGSTROM_MEAN, _ANGSTROM_SD, _ANGSTROM_RANGE = 1.3, 0.4, (0.0, 2.2)  # 0 is coarse dust, 2 is fresh smoke
_ALBEDO_MEAN, _ALBEDO_SD, _ALBEDO_RANGE = 0.92, 0.03, (0.8, 1.0)  # the share of light scattered, not absorbed
_ASYMMETRY = 0.6  # mean cosine of the scattering angle
_AEROSOL_LOSS, _AIR_LOSS = 0.2, 0.5  # the share of extinction that does not go on downwards: air scatters half back

# The surface: plants and soil, with the reflectances of spectral libraries.
_PLANTS = np.array([0.03, 0.07, 0.04, 0.40])
_SOIL = np.array([0.10, 0.15, 0.20, 0.28])
_PLANT_SHARES = (0.2, 0.9)
_PLANT_CONCENTRATION = 8.0  # of the beta distribution of a pixel's share: an SD of 0.15 where half is green
_BRIGHTNESS_LOG_SDS = (0.15, 0.25)  # between bags, and between the pixels of one, where wet and bare spots skew it
_TILT_MEAN, _TILT_SD = -0.1, 0.05  # surfaces look 10 % brighter with the sun behind, where shadows hide

# The clouds: most scenes are nearly clear, few are mostly cloudy.
_CLOUD_SHARE = (0.75, 4.25)  # of the beta distribution of a bag's share of cloudy pixels: mean 0.15
_CLOUD_COVER = (0.1, 1.0)  # the covered part of a cloudy pixel
_CLOUD_MEDIAN, _CLOUD_LOG_SD = 0.5, 0.2  # white, and much brighter than the ground

REFLECTANCES = tuple(f"{band}_{camera}" for camera in _CAMERAS for band in _BANDS)
"""The names of the first twelve columns."""
_COLUMNS = (*REFLECTANCES, "cos_sun_zenith", *(f"cos_scattering_{camera}" for camera in _CAMERAS))
_MISR1_COLUMNS, _MISR1_ROWS, _MISR1_CONSTANT = 18, 100, slice(13, 18)
_MISR1_MISSING = (
    "no MISR1.mat at {place}: download the MISR1 data of Wang, Lan and Vucetic (2012), which its authors list at "
    "http://www.dabi.temple.edu/~vucetic/MIR.html,"
)


_MODEL = """
A bag holds pixels within 20 km of a ground sensor that measures the optical depth tau at 558 nm. The four bands b
(446, 558, 672, 866 nm) of three cameras k (aft, nadir, forward) give the reflectance of a pixel

    R = (1 - cover) (path_aerosol + path_air + transmission * surface) + cover * cloud + noise,

where, with mu_0 and mu_k the cosines of the zenith angles of sun and camera, Theta_k the scattering angle and
m = 1 / mu_0 + 1 / mu_k the air mass, single scattering gives

    path = omega P(Theta) (1 - exp(-tau_b m)) / (4 (mu_0 + mu)),
    transmission = exp(-(0.2 tau_b + 0.5 tau_air) m),  since most scattered light goes on downwards.

- Aerosol: tau is lognormal (median 0.15, log-SD 0.82), and varies by 10 % between pixels; tau_b = tau
  (lambda / 558 nm)^-a with Angstrom exponent a ~ N(1.3, 0.4) in [0, 2.2]; single-scattering albedo
  omega ~ N(0.92, 0.03) in [0.8, 1]; P is Henyey and Greenstein's function of asymmetry 0.6.
- Air: Rayleigh scattering, tau_air = 0.00857 lambda^-4 (1 + 0.0113 lambda^-2), P = 3/4 (1 + cos^2 Theta).
- Surface: a pixel's share of plants over soil is beta with the mean of its bag, U(0.2, 0.9); its brightness is
  lognormal, so skewed, with log-SD 0.15 between bags and 0.25 between pixels; it looks exp(-t) times as bright to
  the aft camera and exp(t) times to the forward one, t ~ N(-0.1, 0.05).
- Clouds: a bag's share of cloudy pixels is Beta(0.75, 4.25), of mean 0.15; a cloudy pixel is covered by U(0.1, 1),
  and clouds are white with a lognormal reflectance (median 0.5, log-SD 0.2).
- Noise: Gaussian, SD 0.003, in every reflectance; the label is tau up to an error of the ground sensor of 5 %.
- Sun: its zenith angle is U(20, 65) degrees, its azimuth from the ground track U(20, 70) degrees; the cameras look
  26.1, 0 and 26.1 degrees off the vertical. mu_0 and the cosines of the three scattering angles make the last four
  columns, which are constant within a bag, as the last four of MISR1 are.

Its constants come from the physics and from the label's SD in the paper, not from how well models predict. It has
the shape of MISR1, not its values: numbers found here say nothing on the accuracy there.
"""

PIXELS = """
Parameters
----------
n_bags, n_rows : int
    The number of bags, and of pixels in each.
random_state : None, int, Generator or RandomState
    The seed.

Returns
-------
bags : Bags
    The pixels, with 16 columns; their labels are `y`.
"""


@described(model=_MODEL, pixels=PIXELS)
def make_aerosol_like(n_bags: int = 800, n_rows: int = 100, random_state: RandomState = None) -> tuple[Bags, Floats]:
    """Simulate bags of satellite pixels whose label is aerosol optical depth: a stand-in of the MISR1 data.

    {model}

    {pixels}
    y : array of shape (n_bags,)
        The optical depth at 558 nm, of mean 0.21 and SD 0.206.

    See Also
    --------
    load_misr1 : The data themselves.
    make_misr1_like : Bags that are calibrated to published errors, whose label survives noise.

    Examples
    --------
    >>> from uptonoise.datasets import make_aerosol_like
    >>> bags, y = make_aerosol_like(random_state=0)
    >>> bags
    Bags(800 bags of 100 rows, 80,000 rows in all, 16 columns: blue_aft, green_aft, red_aft, ...)
    >>> print(f"{y.std():.1f}")
    0.2
    """
    n, m = positive_int(n_bags, "n_bags"), positive_int(n_rows, "n_rows")
    generator = as_generator(random_state)
    depth = _DEPTH_MEDIAN * np.exp(_DEPTH_LOG_SD * generator.standard_normal(n))
    cos_sun, cos_scattering = _angles(generator, n)
    clear = _clear_sky(generator, depth, m, cos_sun, cos_scattering)
    cover = _cloud_cover(generator, n, m)
    cloud = _CLOUD_MEDIAN * np.exp(_CLOUD_LOG_SD * generator.standard_normal((n, m)))
    reflectances = clear + cover[..., None, None] * (cloud[..., None, None] - clear)
    reflectances += _SENSOR_SD * generator.standard_normal(reflectances.shape)
    y = depth * np.exp(_DEPTH_SENSOR_LOG_SD * generator.standard_normal(n))
    angles = np.column_stack([cos_sun, cos_scattering])
    pixels = np.concatenate([reflectances.reshape(n, m, -1), np.repeat(angles[:, None], m, axis=1)], axis=2)
    return Bags(pixels, labels=y.tolist(), columns=_COLUMNS), y


def _angles(generator: np.random.Generator, n_bags: int) -> tuple[Floats, Floats]:
    """Return the cosine of the sun's zenith angle, and of the scattering angle to each camera."""
    zenith = np.deg2rad(generator.uniform(*_SUN_ZENITHS, size=n_bags))
    azimuth = np.deg2rad(generator.uniform(*_SUN_AZIMUTHS, size=n_bags))
    vertical = np.outer(np.cos(zenith), np.cos(_VIEW_ZENITHS))
    horizontal = np.outer(np.sin(zenith) * np.cos(azimuth), np.sin(_VIEW_ZENITHS) * _TOWARDS_SUN)
    return np.cos(zenith), horizontal - vertical


def _clear_sky(
    generator: np.random.Generator, depth: Floats, n_rows: int, cos_sun: Floats, cos_scattering: Floats
) -> Floats:
    """Return the reflectances of pixels without clouds, of shape (bags, pixels, cameras, bands)."""
    n = len(depth)
    # The optical depth over each pixel in each band.
    local = depth[:, None] * np.exp(_DEPTH_LOCAL_LOG_SD * generator.standard_normal((n, n_rows)))
    angstrom = np.clip(generator.normal(_ANGSTROM_MEAN, _ANGSTROM_SD, size=(n, 1, 1)), *_ANGSTROM_RANGE)
    aerosol = (local[..., None] * (_WAVELENGTHS / _WAVELENGTHS[_BANDS.index("green")]) ** -angstrom)[:, :, None]
    albedo = np.clip(generator.normal(_ALBEDO_MEAN, _ALBEDO_SD, size=(n, 1, 1, 1)), *_ALBEDO_RANGE)
    air = 0.00857 * _WAVELENGTHS**-4 * (1 + 0.0113 * _WAVELENGTHS**-2)  # Hansen and Travis 1974
    mu_0, mu = cos_sun[:, None, None, None], np.cos(_VIEW_ZENITHS)[:, None]
    cos_angle = cos_scattering[:, None, :, None]
    path = _scattered(aerosol, albedo * _henyey_greenstein(cos_angle), mu_0, mu)
    path = path + _scattered(air, 0.75 * (1 + cos_angle**2), mu_0, mu)
    transmission = np.exp(-(_AEROSOL_LOSS * aerosol + _AIR_LOSS * air) * (1 / mu_0 + 1 / mu))
    return np.asarray(path + transmission * _surface(generator, n, n_rows))


def _scattered(depth: Floats, phase: Floats, mu_0: Floats, mu: Floats) -> Floats:
    """Return the reflectance of a layer by light that scatters once, towards `phase` times the mean over angles."""
    return np.asarray(phase * -np.expm1(-depth * (1 / mu_0 + 1 / mu)) / (4 * (mu_0 + mu)))


def _henyey_greenstein(cos_angle: Floats) -> Floats:
    return np.asarray((1 - _ASYMMETRY**2) / (1 + _ASYMMETRY**2 - 2 * _ASYMMETRY * cos_angle) ** 1.5)


def _surface(generator: np.random.Generator, n_bags: int, n_rows: int) -> Floats:
    """Return the reflectances of the ground, of shape (bags, pixels, cameras, bands)."""
    mean_share = generator.uniform(*_PLANT_SHARES, size=(n_bags, 1))
    share = generator.beta(
        _PLANT_CONCENTRATION * mean_share, _PLANT_CONCENTRATION * (1 - mean_share), size=(n_bags, n_rows)
    )
    of_bags, of_pixels = _BRIGHTNESS_LOG_SDS
    log_brightness = of_bags * generator.standard_normal((n_bags, 1))
    log_brightness = log_brightness + of_pixels * generator.standard_normal((n_bags, n_rows))
    tilt = generator.normal(_TILT_MEAN, _TILT_SD, size=(n_bags, 1, 1))
    brightness = np.exp(log_brightness[..., None] + tilt * _TOWARDS_SUN)
    spectrum = _SOIL + share[..., None] * (_PLANTS - _SOIL)
    return np.asarray(brightness[..., None] * spectrum[:, :, None])


def _cloud_cover(generator: np.random.Generator, n_bags: int, n_rows: int) -> Floats:
    """Return which part of each pixel is covered: 0 for clear ones."""
    share = generator.beta(*_CLOUD_SHARE, size=(n_bags, 1))
    cloudy = generator.random((n_bags, n_rows)) < share
    return np.where(cloudy, generator.uniform(*_CLOUD_COVER, size=(n_bags, n_rows)), 0.0)


def load_misr1(path: str | os.PathLike[str] | None = None) -> tuple[Bags, Floats]:
    """Read the MISR1 data: 800 bags of 100 pixels with 16 features, and their aerosol optical depths.

    The data are those of Wang, Lan and Vucetic, "Mixture model for multiple instance regression and applications in
    remote sensing" (IEEE Transactions on Geoscience and Remote Sensing 50, 2012). The repository hcllaw/phase_learn of
    the paper's first author names http://www.dabi.temple.edu/~vucetic/MIR.html as their source.

    Parameters
    ----------
    path : path, optional
        The file ``MISR1.mat``, or a folder that holds it; by default the folder named in the environment variable
        ``UPTONOISE_DATA``, then ``data`` and ``../shared/data``. The file must be one of MATLAB (before version 7.3)
        with a matrix ``MISR1`` of 18 columns: the number of the bag, 16 features, of which the last four are constant
        within a bag, and the label.

    Returns
    -------
    bags : Bags
        The pixels; the ids are the numbers of the bags, the labels are `y`.
    y : array of shape (n_bags,)
        The optical depths.

    See Also
    --------
    make_misr1_like, make_aerosol_like : Simulated stand-ins.

    Examples
    --------
    >>> from uptonoise.datasets import load_misr1
    >>> bags, y = load_misr1("MISR1.mat")  # doctest: +SKIP
    """
    numbers, by_bag = _misr1_bags(data_file(path, ("MISR1.mat",), _MISR1_MISSING))
    y = by_bag[:, 0, -1].copy()
    return Bags(by_bag[:, :, 1:-1], ids=numbers.astype(np.int64).tolist(), labels=y.tolist()), y


def _misr1_bags(file: Path) -> tuple[Floats, Floats]:
    """Return the numbers of the bags, and the table by bag, checked."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        matrices = loadmat(file)
    except (MatReadError, NotImplementedError, OSError, TypeError, ValueError, zlib.error) as error:
        raise ValueError(f"{file} is not a MATLAB file that scipy.io.loadmat reads: {error}") from None
    if "MISR1" not in matrices:
        names = [name for name in matrices if not name.startswith("__")]
        raise ValueError(f"{file} must hold a matrix MISR1; it holds {', '.join(names) or 'nothing'}")
    table = matrices["MISR1"]
    if table.dtype.kind not in "fiu" or table.ndim != 2 or table.shape[1] != _MISR1_COLUMNS or len(table) == 0:
        raise ValueError(
            f"{file} must hold a matrix MISR1 of numbers with {_MISR1_COLUMNS} columns (bag, 16 features, label); "
            f"got shape {table.shape} of {table.dtype}"
        )
    if not np.isfinite(table).all():
        raise ValueError(
            f"{file} must hold finite numbers; row {int(np.argmin(np.isfinite(table).all(axis=1)))} does not"
        )
    table = np.asarray(table, dtype=np.float64)
    numbers, bag_of_row, sizes = np.unique(table[:, 0], return_inverse=True, return_counts=True)
    if (numbers % 1 != 0).any():
        raise ValueError(
            f"{file} must have whole numbers of bags in its first column; got {numbers[numbers % 1 != 0][0]}"
        )
    if (sizes != _MISR1_ROWS).any():
        odd = int(np.argmax(sizes != _MISR1_ROWS))
        raise ValueError(f"{file} must have bags of {_MISR1_ROWS} rows; bag {numbers[odd]:g} has {sizes[odd]}")
    by_bag = table[np.argsort(bag_of_row, kind="stable")].reshape(len(numbers), _MISR1_ROWS, _MISR1_COLUMNS)
    varies = (by_bag[:, :, _MISR1_CONSTANT] != by_bag[:, :1, _MISR1_CONSTANT]).any(axis=(1, 2))
    if varies.any():
        raise ValueError(
            f"{file} must have the same label and the same last four features in all rows of a bag; "
            f"those of bag {numbers[np.argmax(varies)]:g} differ"
        )
    return numbers, by_bag
