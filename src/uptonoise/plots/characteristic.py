"""Characteristic and phase functions of samples along one column, as in the paper's Appendix F.2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from uptonoise._util.typing import Complex, Floats
from uptonoise.plots.curves import Curve, curves
from uptonoise.plots.style import FAINT, LOOKS, Look, add_legend, canvas, documented, dress, require, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KnownFunction = Callable[[Floats], Any]
Part = Literal["both", "real", "imaginary", "amplitude"]
PhasePart = Literal["angle", "both", "real", "imaginary"]

_LINES = {"real": "-", "imaginary": "--", "amplitude": "-", "angle": "-"}
_BAND = 0.18  # opacity
_EXACT_POINTS = 500


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
    lines = curves(samples, frequencies, column, names, centre)
    with canvas(ax) as ax:
        for curve, look in _with_looks(lines):
            for name in parts:
                values, errors = _part_of(curve, name)
                reach = _quantile(band) * errors
                _draw_curve(ax, curve.t, values, (values - reach, values + reach), _look(look, name), band)
        if law is not None:
            t, phi = _known_values(law, lines)
            exact = {"real": phi.real, "imaginary": phi.imag, "amplitude": np.abs(phi)}
            _draw_exact(ax, t, {name: exact[name] for name in parts})
        label = "amplitude" if part == "amplitude" else "characteristic function"
        _finish(ax, lines, f"{label.capitalize()} of {_column_label(lines[0])}", label, parts, law is not None, band)
        return ax


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
    lines = curves(samples, frequencies, column, names, centre)
    with canvas(ax) as ax:
        for curve, look in _with_looks(lines):
            reach = np.minimum(_quantile(band) * curve.angle_error, np.pi)
            for name in parts:
                values, ends = _phase_part(curve.angle, reach, name)
                _draw_curve(ax, curve.t, values, ends, _look(look, name), band, curve.is_reliable)
        if law is not None:
            t, phi = _known_values(law, lines)
            angle, exactly = np.unwrap(np.angle(phi)), np.zeros(len(t))
            _draw_exact(ax, t, {name: _phase_part(angle, exactly, name)[0] for name in parts})
        if part == "angle":
            _limit_to_reliable(ax, [(curve.angle, curve.angle_error, curve.is_reliable) for curve in lines])
        label = "phase (radians)" if part == "angle" else "phase function"
        _finish(ax, lines, f"Phase of {_column_label(lines[0])}", label, parts, law is not None, band)
        return ax


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
        _draw_curve(ax, first.t, gap, (gap - reach, gap + reach), LOOKS[0], band, reliable)
        ax.axhline(0, color="black", linewidth=0.8)
        _limit_to_reliable(ax, [(gap, errors, reliable)])
        title = f"Phase of {short_name(first.name, 16)} ahead of that of {short_name(second.name, 16)}"
        dress(ax, f"{title} in {short_name(first.column)}", _frequency_label(first), "phase difference (radians)")
        return ax


def _checked_parts(part: Any, known: Any) -> list[str]:
    if part not in get_args(known):
        raise ValueError(f"part must be one of {', '.join(get_args(known))}; got {part!r}")
    return ["real", "imaginary"] if part == "both" else [part]


def _quantile(band: float | None) -> float:
    if band is not None and not 0 < band < 1:
        raise ValueError(f"band must lie between 0 and 1, or be None; got {band!r}")
    return 0.0 if band is None else float(ndtri((1 + band) / 2))


def _with_looks(lines: list[Curve]) -> list[tuple[Curve, Look]]:
    return [(curve, LOOKS[place % len(LOOKS)]) for place, curve in enumerate(lines)]


def _look(look: Look, part: str) -> Look:
    """Return the look of a part of a sample: the line tells the part where two are drawn, the marker the sample."""
    return look._replace(line=_LINES[part])


def _part_of(curve: Curve, part: str) -> tuple[Floats, Floats]:
    if part == "amplitude":
        return curve.amplitude, curve.amplitude_error
    if part == "real":
        return curve.phi.real, np.sqrt(curve.V_cc)
    return curve.phi.imag, np.sqrt(curve.V_ss)


def _phase_part(angle: Floats, reach: Floats, part: str) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return a part of the phase, and its lowest and highest value over an interval of angles."""
    if part == "angle":
        return angle, (angle - reach, angle + reach)
    of_angle: Any = np.cos if part == "real" else np.sin
    within = of_angle(angle + reach * np.linspace(-1, 1, 41)[:, None])
    return of_angle(angle), (within.min(axis=0), within.max(axis=0))


def _draw_curve(
    ax: Axes,
    t: Floats,
    values: Floats,
    ends: tuple[Floats, Floats],
    look: Look,
    band: float | None,
    reliable: NDArray[np.bool_] | None = None,
) -> None:
    """Draw a curve and its band, faint where they are unreliable."""
    full = np.ones(len(t), dtype=bool) if reliable is None else reliable
    faint = ~full
    faint[1:] |= ~full[:-1]  # with the points beside, so that there is no gap
    faint[:-1] |= ~full[1:]
    options: dict[str, Any] = {"color": look.color, "linestyle": look.line, "linewidth": 1.6}
    every = max(1, len(t) // 15)
    ax.plot(t, np.where(full, values, np.nan), marker=look.marker, markersize=4, markevery=every, **options)
    if faint.any():
        ax.plot(t, np.where(faint, values, np.nan), alpha=FAINT, **options)
    if band is not None:
        ax.fill_between(t, *ends, where=full.tolist(), color=look.color, alpha=_BAND, linewidth=0)
        if faint.any():
            ax.fill_between(t, *ends, where=faint.tolist(), color=look.color, alpha=_BAND * FAINT, linewidth=0)


def _known_values(law: KnownFunction, lines: list[Curve]) -> tuple[Floats, Complex]:
    """Return a known characteristic function over the range of the curves, about the same centre."""
    t = np.linspace(min(curve.t[0] for curve in lines), max(curve.t[-1] for curve in lines), _EXACT_POINTS)
    phi = np.asarray(law(t), dtype=np.complex128)
    if phi.shape != t.shape:
        raise ValueError(f"law must return one number for each frequency, of shape {t.shape}; got {phi.shape}")
    return t, phi * np.exp(-1j * lines[0].centre * t)


def _draw_exact(ax: Axes, t: Floats, parts: dict[str, Floats]) -> None:
    for name, values in parts.items():
        ax.plot(t, values, color="black", linestyle=_LINES[name], linewidth=0.9)


def _limit_to_reliable(ax: Axes, curves_with_errors: list[tuple[Floats, Floats, NDArray[np.bool_]]]) -> None:
    """Let the reliable part fill the height, and cut off the rest."""
    low = min(float(np.min((values - 2 * errors)[full], initial=0.0)) for values, errors, full in curves_with_errors)
    high = max(float(np.max((values + 2 * errors)[full], initial=0.0)) for values, errors, full in curves_with_errors)
    margin = 0.1 * (high - low) or np.pi
    ax.set_ylim(low - margin, high + margin)


def _finish(
    ax: Axes, lines: list[Curve], title: str, ylabel: str, parts: list[str], has_exact: bool, band: float | None
) -> None:
    ax.axhline(0, color="black", linewidth=0.8)
    line, patch = require("matplotlib.lines").Line2D, require("matplotlib.patches").Patch
    entries: list[tuple[Any, str]] = [
        (line([], [], color=look.color, marker=look.marker, markersize=4), short_name(curve.name))
        for curve, look in _with_looks(lines)
    ]
    if has_exact:
        entries.append((line([], [], color="black", linewidth=0.9), "exact"))
    if len(parts) > 1:
        entries += [(line([], [], color="0.4", linestyle=_LINES[part]), f"{part} part") for part in parts]
    if band is not None:
        entries.append((patch(color="0.4", alpha=2 * _BAND, linewidth=0), f"{band:.0%} band"))
    dress(ax, title, _frequency_label(lines[0]), ylabel)
    ax.margins(x=0)
    add_legend(ax, entries, loc="best")


def _frequency_label(curve: Curve) -> str:
    return f"frequency on {short_name(curve.column)}, in 1 / the data's units"


def _column_label(curve: Curve) -> str:
    if curve.centre == 0:
        return short_name(curve.column)
    return f"{short_name(curve.column)} {'−' if curve.centre > 0 else '+'} {abs(curve.centre):g}"  # noqa: RUF001
