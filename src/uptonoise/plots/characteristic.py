"""Characteristic and phase functions of samples along one column, as in the paper's Appendix F.2.

With c and s the real and the imaginary part of phi, and V their covariance over n rows, the delta method gives

    Var |phi|   = (c^2 V_cc + 2 c s V_cs + s^2 V_ss) / |phi|^2 n
    Var arg phi = (s^2 V_cc - 2 c s V_cs + c^2 V_ss) / |phi|^4 n
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from uptonoise._util.typing import Complex, Floats
from uptonoise.fourier import Sketch, as_complex, as_frequencies
from uptonoise.plots.densities import column_place
from uptonoise.plots.style import FAINT, LOOKS, Look, add_legend, canvas, documented, dress, require, short_name
from uptonoise.rows import SelectedRows, aligned, one_sample, some_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KnownFunction = Callable[[Floats], Any]
Part = Literal["both", "real", "imaginary", "amplitude"]
PhasePart = Literal["angle", "both", "real", "imaginary"]

_LINES = {"real": "-", "imaginary": "--", "amplitude": "-", "angle": "-"}
_BAND = 0.18  # opacity
_EXACT_POINTS = 500
_POINTS = 200
_REACH = 4.0  # the highest frequency, in units of one over the spread of the narrowest sample
_SPREAD_ROWS = 2_000  # rows that the spread is estimated from
_RELIABLE = 2.0  # times its sampling error, for an amplitude whose phase is shown in full


@documented
def plot_characteristic(
    *samples: Any,
    frequencies: Any = None,
    column: int | str = 0,
    part: Part = "both",
    law: KnownFunction | None = None,
    names: Sequence[str] | None = None,
    band: float | None = 0.95,
    centre: float = 0.0,
    ax: Axes | None = None,
) -> Axes:
    """Plot the empirical characteristic function of one or several samples along one column.

    Parameters
    ----------
    {samples}
    part : {"both", "real", "imaginary", "amplitude"}
        What to show; "both" is the real and the imaginary part.
    {curves}
    centre : float
        What is subtracted from the column and from the known distribution; far from 0 the function turns fast.
    {axes}
    >>> ax = plots.plot_characteristic(rng.normal(size=1_000), part="real", law=lambda t: np.exp(-(t**2) / 2))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['X', 'exact', '95% band']
    >>> plt.close()
    """
    parts = _checked_parts(part, Part)
    return _plot(curves(samples, frequencies, column, names, centre), parts, False, law, band, ax)


@documented
def plot_phase(
    *samples: Any,
    frequencies: Any = None,
    column: int | str = 0,
    part: PhasePart = "angle",
    law: KnownFunction | None = None,
    names: Sequence[str] | None = None,
    band: float | None = 0.95,
    centre: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the phase function of one or several samples along one column: symmetric noise does not change it.

    Where the amplitude is at its sampling error the phase is noise: it is faint there, and its band is wide.

    Parameters
    ----------
    {samples}
    part : {"angle", "both", "real", "imaginary"}
        What to show: the angle, or the real and imaginary part of phi/abs(phi).
    {curves}
    centre : float, optional
        What is subtracted from the column and from the known distribution; by default near the median of the first
        sample, so that the angle shows more than where the samples lie.
    {axes}
    >>> X, noisy = rng.exponential(size=1_000), rng.exponential(size=1_000) + rng.normal(size=1_000)
    >>> ax = plots.plot_phase(X, noisy, names=["X", "noisy"], law=lambda t: 1 / (1 - 1j * t), centre=0)
    >>> ax.get_ylabel()
    'phase (radians)'
    >>> plt.close()
    """
    parts = _checked_parts(part, PhasePart)
    return _plot(curves(samples, frequencies, column, names, centre), parts, True, law, band, ax)


@documented
def plot_phase_gap(
    X: Any,
    Y: Any,
    *,
    frequencies: Any = None,
    column: int | str = 0,
    names: Sequence[str] | None = None,
    band: float | None = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Plot by how much the phase of one sample is ahead of that of another along one column.

    It is 0, up to sampling, where they differ by symmetric noise only.

    Parameters
    ----------
    X, Y : array, tensor, frame, iterator of these, RowSource, or Sketch
        The two samples, or two sketches with the same frequencies.
    frequencies : array of shape (m,), optional
        As for :func:`plot_phase`.
    {column}
    {names}
    band : float or None
        The confidence level of the pointwise band; None draws none.
    {axes}
    >>> ax = plots.plot_phase_gap(rng.exponential(size=1_000), rng.normal(size=1_000))
    >>> ax.get_title(loc="left")
    'Phase of X ahead of that of Y in x0'
    >>> plt.close()
    """
    first, second = curves((X, Y), frequencies, column, names, None)
    if not np.array_equal(first.t, second.t):
        raise ValueError("X and Y must have the same frequencies; make one sketch with Sketch.like of the other")
    gap = np.unwrap(np.angle(first.phi * second.phi.conj()))
    errors = np.minimum(np.hypot(first.angle_error, second.angle_error), np.pi)
    reach = np.minimum(_quantile(band) * errors, np.pi)
    reliable = first.is_reliable & second.is_reliable
    with canvas(ax) as ax:
        _draw_curve(ax, first.t, (gap, gap - reach, gap + reach), LOOKS[0], band, reliable)
        _limit_to_reliable(ax, [(gap, errors, reliable)])
        both = f"Phase of {short_name(first.name, 16)} ahead of that of {short_name(second.name, 16)}"
        _dress(ax, f"{both} in {short_name(first.column)}", first, "phase difference (radians)")
        return ax


def _checked_parts(part: Any, known: Any) -> list[str]:
    if part not in get_args(known):
        raise ValueError(f"part must be one of {', '.join(get_args(known))}; got {part!r}")
    return ["real", "imaginary"] if part == "both" else [part]


def _quantile(band: float | None) -> float:
    if band is not None and not 0 < band < 1:
        raise ValueError(f"band must lie between 0 and 1, or be None; got {band!r}")
    return 0.0 if band is None else float(ndtri((1 + band) / 2))


def _plot(
    lines: list[Curve], parts: list[str], of_phase: bool, law: KnownFunction | None, band: float | None, ax: Axes | None
) -> Axes:
    """Draw parts of characteristic functions, or of their phases, with those of a known one."""
    quantile = _quantile(band)
    exact = [] if law is None else [_known(law, lines)]
    looks = list(zip(lines, cycle(LOOKS), strict=False))
    with canvas(ax) as ax:
        for curve, look in looks:
            reliable = curve.is_reliable if of_phase else np.ones(len(curve.t), dtype=bool)
            for part in parts:  # the line tells the part where two are drawn, the marker the sample
                values = _values(curve, part, of_phase, quantile)
                _draw_curve(ax, curve.t, values, look._replace(line=_LINES[part]), band, reliable)
        for curve in exact:
            for part in parts:
                values = _values(curve, part, of_phase, 0.0)
                ax.plot(curve.t, values[0], color="black", linestyle=_LINES[part], linewidth=0.9)
        if parts == ["angle"]:
            _limit_to_reliable(ax, [(curve.angle, curve.angle_error, curve.is_reliable) for curve in lines])
        label = "phase function" if of_phase else "characteristic function"
        label = {"angle": "phase (radians)", "amplitude": "amplitude"}.get(parts[0], label)
        column, centre = short_name(lines[0].column), lines[0].centre
        if centre != 0:
            column += f" {'−' if centre > 0 else '+'} {abs(centre):g}"  # noqa: RUF001
        _dress(ax, f"{'Phase' if of_phase else label.capitalize()} of {column}", lines[0], label)
        ax.margins(x=0)

        line, patch = require("matplotlib.lines").Line2D, require("matplotlib.patches").Patch
        entries: list[tuple[Any, str]] = [
            (line([], [], color=look.color, marker=look.marker, markersize=4), short_name(curve.name))
            for curve, look in looks
        ]
        if exact:
            entries.append((line([], [], color="black", linewidth=0.9), "exact"))
        if len(parts) > 1:
            entries += [(line([], [], color="0.4", linestyle=_LINES[part]), f"{part} part") for part in parts]
        if band is not None:
            entries.append((patch(color="0.4", alpha=2 * _BAND, linewidth=0), f"{band:.0%} band"))
        add_legend(ax, entries, loc="best")
        return ax


def _values(curve: Curve, part: str, of_phase: bool, quantile: float) -> tuple[Floats, Floats, Floats]:
    """Return a part of a curve or of its phase, and the ends of its band."""
    if of_phase:
        values, reach = curve.angle, np.minimum(quantile * curve.angle_error, np.pi)
        if part != "angle":
            of_angle: Any = np.cos if part == "real" else np.sin
            within = of_angle(values + reach * np.linspace(-1, 1, 41)[:, None])
            return of_angle(values), within.min(axis=0), within.max(axis=0)
    elif part == "amplitude":
        values, reach = curve.amplitude, quantile * curve.amplitude_error
    elif part == "real":
        values, reach = curve.phi.real, quantile * np.sqrt(curve.V_cc)
    else:
        values, reach = curve.phi.imag, quantile * np.sqrt(curve.V_ss)
    return values, values - reach, values + reach


def _draw_curve(
    ax: Axes,
    t: Floats,
    shown: tuple[Floats, Floats, Floats],
    look: Look,
    band: float | None,
    reliable: NDArray[np.bool_],
) -> None:
    """Draw a curve and its band, faint where they are unreliable."""
    values, low, high = shown
    faint = ~reliable
    faint[1:] |= ~reliable[:-1]  # with the points beside, so that there is no gap
    faint[:-1] |= ~reliable[1:]
    options: dict[str, Any] = {"color": look.color, "linestyle": look.line, "linewidth": 1.6}
    every = max(1, len(t) // 15)
    ax.plot(t, np.where(reliable, values, np.nan), marker=look.marker, markersize=4, markevery=every, **options)
    if faint.any():
        ax.plot(t, np.where(faint, values, np.nan), alpha=FAINT, **options)
    for where, opacity in ((reliable, _BAND), (faint, _BAND * FAINT)):
        if band is not None and (opacity == _BAND or faint.any()):
            ax.fill_between(t, low, high, where=where.tolist(), color=look.color, alpha=opacity, linewidth=0)


def _known(law: KnownFunction, lines: list[Curve]) -> Curve:
    """Return a known characteristic function over the range of the curves, about the same centre."""
    t = np.linspace(min(curve.t[0] for curve in lines), max(curve.t[-1] for curve in lines), _EXACT_POINTS)
    phi = np.asarray(law(t), dtype=np.complex128)
    if phi.shape != t.shape:
        raise ValueError(f"law must return one number for each frequency, of shape {t.shape}; got {phi.shape}")
    first, none = lines[0], np.zeros(len(t))
    return Curve("exact", first.column, first.centre, t, phi * np.exp(-1j * first.centre * t), none, none, none, np.inf)


def _limit_to_reliable(ax: Axes, curves_with_errors: list[tuple[Floats, Floats, NDArray[np.bool_]]]) -> None:
    """Let the reliable part fill the height, and cut off the rest."""
    low = min(float(np.min((values - 2 * errors)[full], initial=0.0)) for values, errors, full in curves_with_errors)
    high = max(float(np.max((values + 2 * errors)[full], initial=0.0)) for values, errors, full in curves_with_errors)
    margin = 0.1 * (high - low) or np.pi
    ax.set_ylim(low - margin, high + margin)


def _dress(ax: Axes, title: str, curve: Curve, ylabel: str) -> None:
    ax.axhline(0, color="black", linewidth=0.8)
    dress(ax, title, f"frequency on {short_name(curve.column)}, in 1 / the data's units", ylabel)


class Curve(NamedTuple):
    """The characteristic function of one sample at frequencies on one column, with the covariance of its parts."""

    name: str
    column: str
    centre: float
    t: Floats
    phi: Complex
    V_cc: Floats  # over rows, divided by their number
    V_cs: Floats
    V_ss: Floats
    size: float

    @classmethod
    def of(cls, name: str, column: str, sketch: Sketch, centre: float) -> Curve:
        """Return the curve of a sketch of one column; negative frequencies count as positive ones."""
        m, n, w = sketch.n_frequencies, sketch.effective_size, sketch.frequencies[:, 0]
        phi, V = as_complex(sketch.mean_about([centre])), sketch.covariance_about([centre]) / n
        order, sign = np.argsort(np.abs(w), kind="stable"), np.where(w < 0, -1.0, 1.0)
        cosines, sines = np.arange(m), np.arange(m) + m
        return cls(
            name=name,
            column=column,
            centre=centre,
            t=np.abs(w)[order],
            phi=np.where(w < 0, phi.conj(), phi)[order],
            V_cc=V[cosines, cosines][order],
            V_cs=(sign * V[cosines, sines])[order],
            V_ss=V[sines, sines][order],
            size=n,
        )

    @property
    def amplitude(self) -> Floats:
        """The modulus of phi."""
        return np.abs(self.phi)

    @property
    def amplitude_error(self) -> Floats:
        """The standard error of the amplitude."""
        c, s = self.phi.real, self.phi.imag
        variance = c**2 * self.V_cc + 2 * c * s * self.V_cs + s**2 * self.V_ss
        largest = np.sqrt(np.maximum(self.V_cc, self.V_ss))
        return np.divide(np.sqrt(np.maximum(variance, 0)), self.amplitude, out=largest, where=self.amplitude > 0)

    @property
    def angle(self) -> Floats:
        """The angle of phi, without jumps by a whole turn."""
        return np.unwrap(np.angle(self.phi))

    @property
    def angle_error(self) -> Floats:
        """The standard error of the angle, at most pi."""
        c, s = self.phi.real, self.phi.imag
        variance = np.maximum(s**2 * self.V_cc - 2 * c * s * self.V_cs + c**2 * self.V_ss, 0)
        size = self.amplitude**2
        errors = np.divide(np.sqrt(variance), size, out=np.full(len(size), np.pi), where=size > 0)
        return np.asarray(np.minimum(errors, np.pi))

    @property
    def is_reliable(self) -> NDArray[np.bool_]:
        """Where the amplitude is well above its sampling error, so that there is a phase."""
        return np.asarray(self.amplitude * np.sqrt(self.size) > _RELIABLE)


def curves(
    samples: Sequence[Any], frequencies: Any, column: int | str, names: Sequence[str] | None, centre: float | None
) -> list[Curve]:
    """Return the curves of samples or sketches; where `centre` is None it is a median of the first of them."""
    n = len(samples)
    if n == 0:
        raise ValueError("samples must be at least one sample or sketch; got none")
    if names is None:
        names = ["X", "Y"][:n] if n <= 2 else [f"sample {number}" for number in range(1, n + 1)]
    elif isinstance(names, str) or len(names) != n:
        raise ValueError(f"names must have one name per sample, {n} in all; got {names!r}")
    names = [str(name) for name in names]
    sources: list[Any] = list(samples)
    are_sketches = [isinstance(sample, Sketch) for sample in samples]
    if any(are_sketches):
        if frequencies is not None:
            raise ValueError("frequencies must be left out for sketches, which bring their own")
        if not all(are_sketches):
            raise ValueError("samples must all be rows or all be sketches; make the others with Sketch.like")
    else:
        sources = [one_sample(sample, name) for sample, name in zip(samples, names, strict=True)]
        sources = [aligned(source, sources[0]) for source in sources]
    columns = next((source for source in sources if source.named), sources[0]).columns
    place = column_place(column, columns)
    if any(are_sketches):
        sketches = [sketch.select([sketch.columns[place]]) for sketch in sources]
    else:
        sketches = _sketched([SelectedRows(source, (source.columns[place],)) for source in sources], frequencies)
    first = sketches[0].centre
    about = float(centre) if centre is not None else 0.0 if first is None else float(f"{first[0]:.3g}")
    return [Curve.of(name, columns[place], sketch, about) for name, sketch in zip(names, sketches, strict=True)]


def _sketched(sources: list[SelectedRows], frequencies: Any) -> list[Sketch]:
    """Return sketches at the frequencies given, or from 0 to where a smooth distribution's function has vanished."""
    if frequencies is not None:
        return [Sketch(as_frequencies(frequencies, 1)).update(source) for source in sources]
    narrowest = np.inf
    for source in sources:
        values = some_rows(source, _SPREAD_ROWS, np.random.default_rng(0))
        first, third = np.quantile(values, [0.25, 0.75])
        narrowest = min(narrowest, (third - first) / 1.349 or values.std() or np.inf)
    t = np.linspace(0, _REACH / (narrowest if np.isfinite(narrowest) else 1.0), _POINTS)[:, None]
    return [Sketch(t).update(source) for source in sources]
