"""The characteristic function of samples along one column, with its sampling errors: what the plots of it draw.

With c and s the real and the imaginary part of phi, and V their covariance over n rows, the delta method gives

    Var |phi|   = (c^2 V_cc + 2 c s V_cs + s^2 V_ss) / |phi|^2 n
    Var arg phi = (s^2 V_cc - 2 c s V_cs + c^2 V_ss) / |phi|^4 n
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Complex, Floats
from uptonoise.fourier import Sketch, as_complex, as_frequencies
from uptonoise.plots.densities import column_place
from uptonoise.rows import RowSource, SelectedRows, aligned, one_sample, some_rows

_POINTS = 200
_REACH = 4.0  # the highest frequency, in units of one over the spread of the narrowest sample
_SPREAD_ROWS = 2_000  # rows that the spread is estimated from
_RELIABLE = 2.0  # times its sampling error, for an amplitude whose phase is shown in full


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
    def from_sketch(cls, name: str, column: str, sketch: Sketch, centre: float) -> Curve:
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
    samples: Sequence[Any],
    frequencies: Any,
    column: int | str,
    names: Sequence[str] | None,
    centre: float | None,
) -> list[Curve]:
    """Return the curves of samples or sketches; where `centre` is None it is a median of the first of them."""
    if not samples:
        raise ValueError("samples must be at least one sample or sketch; got none")
    labels = _checked_names(names, len(samples))
    if any(isinstance(sample, Sketch) for sample in samples):
        shown, sketches = _sketches_of_column(samples, frequencies, column)
    else:
        shown, sketches = _sketch_rows(samples, frequencies, column, labels)
    first = sketches[0].centre
    about = float(centre) if centre is not None else 0.0 if first is None else float(f"{first[0]:.3g}")
    return [Curve.from_sketch(name, shown, sketch, about) for name, sketch in zip(labels, sketches, strict=True)]


def _checked_names(names: Sequence[str] | None, n_samples: int) -> list[str]:
    if names is None:
        return ["X", "Y"][:n_samples] if n_samples <= 2 else [f"sample {number}" for number in range(1, n_samples + 1)]
    if isinstance(names, str) or len(names) != n_samples:
        raise ValueError(f"names must have one name per sample, {n_samples} in all; got {names!r}")
    return [str(name) for name in names]


def _sketches_of_column(samples: Sequence[Any], frequencies: Any, column: int | str) -> tuple[str, list[Sketch]]:
    if frequencies is not None:
        raise ValueError("frequencies must be left out for sketches, which bring their own")
    if not all(isinstance(sample, Sketch) for sample in samples):
        raise ValueError("samples must all be rows or all be sketches; make the others with Sketch.like")
    columns = next((sketch for sketch in samples if sketch.named), samples[0]).columns
    place = column_place(column, columns)
    return columns[place], [sketch.select([sketch.columns[place]]) for sketch in samples]


def _sketch_rows(
    samples: Sequence[Any], frequencies: Any, column: int | str, names: Sequence[str]
) -> tuple[str, list[Sketch]]:
    sources = [one_sample(sample, name) for sample, name in zip(samples, names, strict=True)]
    sources = [aligned(source, sources[0]) for source in sources]
    columns = next((source for source in sources if source.named), sources[0]).columns
    place = column_place(column, columns)
    sources = [SelectedRows(source, (source.columns[place],)) for source in sources]
    t = _own_frequencies(sources) if frequencies is None else as_frequencies(frequencies, 1)
    return columns[place], [Sketch(t).update(source) for source in sources]


def _own_frequencies(sources: Sequence[RowSource]) -> Floats:
    """Return frequencies from 0 to where the characteristic function of a smooth distribution has nearly vanished."""
    narrowest = np.inf
    for source in sources:
        values = some_rows(source, _SPREAD_ROWS, np.random.default_rng(0))
        first, third = np.quantile(values, [0.25, 0.75])
        narrowest = min(narrowest, (third - first) / 1.349 or values.std() or np.inf)
    return np.linspace(0, _REACH / (narrowest if np.isfinite(narrowest) else 1.0), _POINTS)[:, None]
