"""The phase test of many pairs of samples at once, with many choices of its constants, on a GPU where there is one.

It has the numbers of :mod:`uptonoise.twosample.phase.statistic` by other means: traces of inverses in place of
eigenpairs, which suit a GPU. A test holds both to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import fdtrc
from torch import Tensor

from uptonoise._util.typing import Floats
from uptonoise.experiments._experiment import NamedCell
from uptonoise.fourier import BLOCK_WEIGHTS, SKEWNESS, default_design, lengths_and_order
from uptonoise.twosample import Constants, cauchy_combination

_TINY = float(np.finfo(np.float64).tiny)
_CHI_SQUARED = 1e5
_LEAST_SPREAD = 1e-4
_SMALLEST_C = 0.05
_ROUNDING = 1e-12
_NO_RANK = 1e-9
_LEAST_MEAN = 1e-9 / 3
_ALL_ERROR = 1 / 3
_MOST_ERROR = 10.0
_FEW_ROWS = 1_000
_LEAST_ROWS, _MOST_CROWDED = 15, 3.5
_NUMBERS, _GPU_NUMBERS = 3e6, 3e8  # that a batch may hold
_MATRICES = 20  # of the squared number of frequencies, at a time
_PAIRS = 3e6  # of rows, at a time


@dataclass(frozen=True)
class PairCell(NamedCell):
    """One setting: its values for the table, and how to draw X and Y."""

    draw: Callable[[np.random.Generator], tuple[Floats, Floats]]

    @property
    def sizes(self) -> tuple[int, int]:
        """The rows of X and of Y."""
        return self.settings["n"], self.settings["k"]


class Moments(NamedTuple):
    """Means and covariances of cosines and sines of many samples with as many rows each."""

    cos: Tensor
    sin: Tensor
    covariance: Tensor
    size: int
    features: Tensor | None = None  # of all rows minus their mean, where they are few

    @classmethod
    def of(cls, rows: Tensor, frequencies: Tensor) -> Moments:
        """Return those of samples, of shape (b, n, d), at frequencies, of shape (b, m, d)."""
        angles = rows @ frequencies.mT
        values = torch.cat([angles.cos(), angles.sin()], dim=-1)
        means = values.mean(dim=1)
        values -= means[:, None]
        cos, sin = means.chunk(2, dim=-1)
        covariance, n_rows = values.mT @ values / (rows.shape[1] - 1), rows.shape[1]
        return cls(cos, sin, covariance, n_rows, values if n_rows <= _FEW_ROWS else None)

    @property
    def phi(self) -> Tensor:
        """The characteristic functions."""
        return torch.complex(self.cos, self.sin)

    def at(self, block: slice) -> Moments:
        """Return the moments at some of the frequencies."""
        many, m = self.cos.shape
        cos, sin = self.cos[:, block], self.sin[:, block]
        width = cos.shape[-1]
        covariance = self.covariance.reshape(many, 2, m, 2, m)[:, :, block, :, block].reshape(many, 2 * width, -1)
        features = self.features
        if features is not None:
            features = features.reshape(many, -1, 2, m)[..., block].reshape(many, -1, 2 * width)
        return Moments(cos, sin, covariance, self.size, features)

    def across(self, directions: Tensor) -> Tensor:
        """Return the covariance over rows of what lies across directions, which are complex numbers."""
        m = self.cos.shape[-1]
        a, b = -directions.imag, directions.real
        half = (a[:, :, None] * self.covariance[:, :m]).addcmul_(b[:, :, None], self.covariance[:, m:])
        return (half[..., :m] * a[:, None]).addcmul_(half[..., m:], b[:, None])

    def influences(self, directions: Tensor) -> Tensor | None:
        """Return what each row adds across directions."""
        if self.features is None:
            return None
        m = self.cos.shape[-1]
        a, b = -directions.imag[:, None], directions.real[:, None]
        return a * self.features[..., :m] + b * self.features[..., m:]

    def relative_errors(self) -> tuple[Tensor, Tensor]:
        """Return the variances of phi across its phase and along it, over its square."""
        m, phase = self.cos.shape[-1], self.phi / self.phi.abs().clamp(min=_TINY)
        variances, mixed = _diagonal(self.covariance), _diagonal(self.covariance[:, :m, m:])
        crossed = 2 * phase.real * phase.imag * mixed
        across = phase.imag**2 * variances[:, :m] + phase.real**2 * variances[:, m:] - crossed
        along = phase.real**2 * variances[:, :m] + phase.imag**2 * variances[:, m:] + crossed
        squares = (self.size * self.phi.abs() ** 2).clamp(min=_TINY)
        return (across / squares).clamp(0, _MOST_ERROR), (along / squares).clamp(0, _MOST_ERROR)


class _Parts(NamedTuple):
    """The parts of the correlations of S, or of its combinations, that come from X and from Y, and S itself."""

    A: Tensor
    B: Tensor
    freedoms: tuple[Tensor, Tensor]
    S: Tensor  # in units of standard deviations
    covariance: Tensor  # of S before it is combined, with S as it is here: as the rows have them
    variances: Tensor  # of S before it is combined, as the rows have them
    L: Tensor | None  # what combines S, in units of standard deviations
    bending: tuple[Tensor, Tensor]
    influences: tuple[Tensor | None, Tensor | None]
    sizes: tuple[int, int]
    borrowed: Tensor | None
    unguarded: Tensor


def cell_pvalues(cell: PairCell, variants: Sequence[Constants], seed: int, runs: Sequence[int]) -> list[list[float]]:
    """Return the p-values of some runs of a cell, a list of all variants for each run.

    Frequencies are those of the phase test, but for the ones that serve positivity and the effect.
    """
    pairs, designs = [], []
    for run in runs:
        generator = cell.generator(seed, run)
        X, Y = cell.draw(generator)
        lengths, order = lengths_and_order([X, Y])
        design = default_design(lengths[order], generator)
        centre = np.median(X, axis=0)
        pairs.append((X - centre, Y - centre))
        designs.append(design._replace(frequencies=design.frequencies[:, np.argsort(order)]))
    blocks = {name: slice(*place) for name, place in designs[0].blocks.items() if BLOCK_WEIGHTS[name] > 0}
    blocks[SKEWNESS] = blocks["single columns"]
    weights = np.array([BLOCK_WEIGHTS[name] for name in blocks])
    tested = max(place.stop for place in blocks.values())
    numbers = _GPU_NUMBERS if torch.cuda.is_available() else _NUMBERS
    at_once = max(1, int(numbers / (tested * (_MATRICES * tested + sum(cell.sizes)))))
    rows: list[list[float]] = []
    for start in range(0, len(runs), at_once):
        some = slice(start, start + at_once)
        X, Y = (np.stack(samples) for samples in zip(*pairs[some], strict=True))
        W = np.stack([design.frequencies[:tested] for design in designs[some]])
        rows += pvalues((X, Y), W, blocks, weights / weights.sum(), variants).T.tolist()
    return rows


def pvalues(
    samples: tuple[Floats, Floats],
    frequencies: Floats,
    blocks: Mapping[str, slice],
    weights: Floats,
    variants: Sequence[Constants],
) -> Floats:
    """Return the p-values of b pairs of samples, of shape (b, n, d) and (b, k, d), one row for each variant."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    X, Y, W = (torch.tensor(array, dtype=torch.float64, device=device) for array in (*samples, frequencies))
    left, right = Moments.of(X, W), Moments.of(Y, W)
    of_blocks = [
        _block_pvalues(left.at(place), right.at(place), W[:, place] if name == SKEWNESS else None, variants)
        for name, place in blocks.items()
    ]
    merged = zip(np.stack(of_blocks, axis=-1), variants, strict=True)
    return np.stack([cauchy_combination(block, weights, constants) for block, constants in merged])


def _block_pvalues(left: Moments, right: Moments, columns: Tensor | None, variants: Sequence[Constants]) -> Floats:
    smaller, larger = sorted((left.size, right.size))
    freedom = (1 / smaller + 1 / larger) ** 2 / (1 / smaller**3 + 1 / larger**3)
    parts: dict[tuple[float, ...], _Parts] = {}
    traces: dict[tuple[float, ...], list[Floats]] = {}
    rows = []
    for constants in variants:
        weights = _weights(left, right, columns, constants.heard)
        width = left.cos.shape[-1] if weights is None else weights.shape[-1]
        crowded = width / freedom
        lam = max(constants.least_ridge, constants.ridge * max(crowded, min(crowded, _MOST_CROWDED) ** 2))
        lam *= 1 + constants.unequal_ridge * (1 - smaller / larger)
        guard = (constants.tolerance, constants.borrowed) if smaller < larger else ()
        of_parts = (constants.own_phase, *guard, *(() if columns is None else (constants.heard,)))
        if of_parts not in parts:
            parts[of_parts] = _parts(left, right, weights, constants)
        if (*of_parts, lam) not in traces:
            traces[*of_parts, lam] = [trace.cpu().numpy() for trace in _traces(parts[of_parts], lam)]
        T, trace, squares, bent, bent_variance, nu, own_nu, excess, *skewness = traces[*of_parts, lam]
        less = bent, 2 * np.minimum(1, nu / (smaller + larger - 2)) * excess + bent_variance
        rows.append(_pvalues(T, (trace, squares), less, skewness, nu, own_nu))
    return np.stack(rows)


def _pvalues(
    T: Floats,
    of_H: Sequence[Floats],
    less: Sequence[Floats],
    skewness: Sequence[Floats],
    nu: Floats,
    own_nu: Floats,
) -> Floats:
    """Return the p-values of statistics."""
    trace, squares = of_H
    used = (trace + squares / np.maximum(trace, _TINY)) / np.maximum(nu, _TINY)
    c = np.maximum(1 - used, _SMALLEST_C)
    mean = np.maximum((np.maximum(trace - less[0], _ALL_ERROR * trace) + skewness[0]) / c, _LEAST_MEAN)
    gaussian = np.maximum(2 * (trace / c**3 - (trace - squares) / c**4), 2 * squares / c**2)
    variance = np.maximum(gaussian - less[1] / c**3, _ALL_ERROR**2 * gaussian) + skewness[1] / c**2
    own = np.maximum(own_nu - trace + 1, 4)
    spread = variance / mean**2 + 2 / own - 2 / np.maximum(nu - trace + 1, 4)
    denominator = np.maximum(np.minimum(own_nu - trace + 1, _CHI_SQUARED), 4 + 4 / spread.clip(min=_LEAST_SPREAD))
    numerator = 2 * (denominator - 2) / (spread.clip(min=_LEAST_SPREAD) * (denominator - 4) - 2)
    tail = fdtrc(numerator, denominator, T / mean * (denominator / (denominator - 2)))
    return np.where(trace > _NO_RANK, np.maximum(tail, _TINY), 1.0)


def _weights(left: Moments, right: Moments, columns: Tensor | None, least: float) -> Tensor | None:
    """Return what combines S: nothing, or the skewness of each column."""
    if columns is None:
        return None
    a = left.phi.abs() * right.phi.abs() * (min(left.size, right.size) >= _LEAST_ROWS)
    along = (left.phi * right.phi.conj()).real.clamp(min=0)
    for sample, other in ((left, right), (right, left)):
        variances = _diagonal(sample.covariance)
        errors = (variances[:, : a.shape[1]] + variances[:, a.shape[1] :]) / sample.size
        a = a * (along**2 > least**2 * errors * other.phi.abs() ** 2)
    w = columns / columns.abs().amax(dim=1, keepdim=True)
    of_shift, of_skewness = a[:, :, None] * w, a[:, :, None] * w**3
    slopes = (of_shift * of_skewness).sum(1) / (of_shift**2).sum(1).clamp(min=_TINY)
    return of_skewness - of_shift * slopes[:, None]


def _parts(left: Moments, right: Moments, weights: Tensor | None, constants: Constants) -> _Parts:
    across_A, across_B = _across(left, right, constants), _across(right, left, constants)
    plain_A, plain_B = left.across(across_A) / left.size, right.across(across_B) / right.size
    A, freedom_A, unguarded_A = _covariance_part(left, right, (across_A, plain_A), weights, constants)
    B, freedom_B, unguarded_B = _covariance_part(right, left, (across_B, plain_B), weights, constants)
    variances = _diagonal(A) + _diagonal(B)
    least = _ROUNDING / min(left.size, right.size) * (1 if weights is None else (weights**2).sum(1))
    unit = torch.where(variances > least, variances.clamp(min=_TINY).rsqrt(), torch.zeros_like(variances))
    A, B, L = _scaled(A, unit), _scaled(B, unit), None if weights is None else weights * unit[:, None]
    covariance = plain_A + plain_B
    (v_X, u_X), (v_Y, u_Y) = left.relative_errors(), right.relative_errors()
    of_X, of_Y = (v / (v_X + v_Y).clamp(min=_TINY) for v in (v_X, v_Y))
    v, v_r = 4 * of_X * v_Y, 4 * of_X * of_Y * (u_X + u_Y)
    bending = ((3 * v + v_r) / 4).clamp(max=1 - _ALL_ERROR), (3 * v).clamp(max=1 - _ALL_ERROR**2)
    small, large, across = (left, right, across_A) if left.size < right.size else (right, left, across_B)
    borrowed = None if left.size == right.size else large.influences(across)
    if borrowed is not None:
        shorter = (small.phi.abs() / large.phi.abs().clamp(min=_TINY)).clamp(max=1)
        borrowed = _by(borrowed * shorter[:, None] / small.size, L, unit)
    S = left.sin * right.cos - left.cos * right.sin
    moved = [
        None if part is None else _by(part, L, unit) for part in (left.influences(across_A), right.influences(across_B))
    ]
    return _Parts(
        A=A,
        B=B,
        freedoms=(freedom_A, freedom_B),
        S=_by(S[:, None], L, unit)[:, 0],
        covariance=_scaled(covariance, unit) if L is None else covariance @ L,
        variances=_diagonal(covariance) * (unit**2 if L is None else 1),
        L=L,
        bending=bending,
        influences=(moved[0], moved[1]),
        sizes=(left.size, right.size),
        borrowed=borrowed,
        unguarded=unguarded_A + unguarded_B,
    )


def _traces(parts: _Parts, lam: float) -> tuple[Tensor, ...]:
    """Return T, tr H and tr H^2, what bent phases take off, both nu, the excess, and what skewness adds."""
    A, C, z, sizes = parts.A, parts.covariance, parts.S, parts.sizes
    identity = torch.eye(z.shape[-1], dtype=z.dtype, device=z.device)
    K = torch.cholesky_inverse(torch.linalg.cholesky(A + parts.B + lam * identity))
    H, G = identity - lam * K, A @ K  # H is (A + B) K, and the part from B is H - G
    trace, of_G = _trace(H), _trace(G)
    square, of_G_square, mixed = ((left * right.mT).sum((-2, -1)) for left, right in ((H, H), (G, G), (H, G)))
    of_X = of_G, of_G_square
    of_Y = trace - of_G, square - 2 * mixed + of_G_square
    whole, from_A, from_B = (squares + of**2 for of, squares in ((trace, square), of_X, of_Y))
    nu, own_nu = (
        whole / (from_A / freedom_A + from_B / freedom_B).clamp(min=_TINY)
        for freedom_A, freedom_B in (parts.freedoms, (sizes[0] - 1, sizes[1] - 1))
    )
    excess = torch.zeros_like(nu)
    for of_rows, (of_part, squares), size in zip(parts.influences, (of_X, of_Y), sizes, strict=True):
        if of_rows is not None:
            lengths = ((of_rows @ K) * of_rows).sum(-1)
            expected = torch.maximum(lengths.mean(-1), size * of_part)
            kappa = ((lengths**2).mean(-1) / (expected**2).clamp(min=_TINY)).clamp(min=1)
            excess += ((kappa - 1) * of_part**2 - 2 * squares) / size
    LK, LKH = (K, None) if parts.L is None else (parts.L @ K, parts.L @ (K @ H))
    # Where no sample guards the other, C is A + B, and its product with K is H.
    CK = H if parts.L is None and sizes[0] == sizes[1] else C @ K
    through, back = (LK * C).sum(-1), (CK * C).sum(-1) / parts.variances.clamp(min=_TINY)
    twice = through - lam * (K * CK).sum(-1) if LKH is None else (LKH * C).sum(-1)
    bent = (parts.bending[0] * through).sum(-1), (parts.bending[1] * (through * back + twice)).sum(-1)
    T, skewness = (z * (K @ z[:, :, None])[:, :, 0]).sum(-1), torch.zeros(2, *nu.shape, dtype=z.dtype, device=z.device)
    if parts.borrowed is not None:
        (unguarded,) = torch.nonzero(parts.unguarded, as_tuple=True)
        at_once = max(1, int(_PAIRS / parts.borrowed.shape[1] ** 2))
        for start in range(0, len(unguarded), at_once):
            some = unguarded[start : start + at_once]
            skewness[:, some] = _skewness(parts.borrowed[some], K[some], H[some], min(sizes))
    return T, trace, square, *bent, nu, own_nu, excess, *(parts.unguarded * skewness)


def _skewness(rows: Tensor, K: Tensor, H: Tensor, size: int) -> Tensor:
    """Return what skewed rows add to the mean and variance of T; sums over pairs of rows do with single precision."""
    towards, moved = rows @ K, rows @ H
    rows, towards, moved = (part.to(torch.float32) for part in (rows, towards, moved))
    t, s = towards @ rows.mT, towards @ moved.mT
    t_own, s_own = _diagonal(t), _diagonal(s)
    of_t, of_s = ((own[:, None] @ rows)[:, 0] for own in (t_own, s_own))
    by_K, by_KH = ((t_own[:, None] @ towards)[:, 0], (t_own[:, None] @ (towards @ H.to(torch.float32)))[:, 0])
    diagonal, mixed_diagonal = (t_own**3).sum(-1), (t_own**2 * s_own).sum(-1)
    squares = t * t
    cubes, mixed = (squares * t).sum((-2, -1)) - diagonal, (squares * s).sum((-2, -1)) - mixed_diagonal
    own, own_s = (of_t * by_K).sum(-1) - diagonal, (of_s * by_K).sum(-1) - mixed_diagonal
    own_H = (of_t * by_KH).sum(-1) - mixed_diagonal
    variance = 16 * mixed + 4 * own_H + 12 * own_s - 4 * cubes - 4 * own
    return torch.stack([cubes + own, variance]).clamp(min=0).to(torch.float64) * (size / rows.shape[1]) ** 2


def _across(sample: Moments, other: Moments, constants: Constants) -> Tensor:
    both = constants.own_phase * sample.size * sample.phi.abs() * sample.phi + other.size * other.phi.abs() * other.phi
    return other.phi.abs() * both / both.abs().clamp(min=_TINY)


def _covariance_part(
    sample: Moments, other: Moments, of_sample: tuple[Tensor, Tensor], weights: Tensor | None, constants: Constants
) -> tuple[Tensor, Tensor, Tensor]:
    across, plain = of_sample
    covariance = _combined(plain, weights)
    freedom = torch.full_like(covariance[:, 0, 0], sample.size - 1)
    if sample.size >= other.size:
        return covariance, freedom, torch.zeros_like(freedom)
    expected = _combined(other.across(across) / sample.size, weights)
    unequal = 1 - sample.size / other.size
    variances, wanted = (_diagonal(matrix).clamp(min=_TINY) for matrix in (covariance, expected))
    own, others = sample.influences(across), other.influences(across)
    if others is None:
        most = other.phi.abs() if weights is None else (weights * other.phi.abs()[:, :, None]).abs().sum(1)
        error = wanted * ((most**2 / (sample.size * wanted) - 1).clamp(min=0) / sample.size).sqrt()
        together = torch.ones_like(wanted)
    else:
        excess, together = _fourth_and_third_moments(others if weights is None else others @ weights, 1.0)
        error = wanted * (excess / sample.size).sqrt()
        if own is not None:
            own = own if weights is None else own @ weights
            together = torch.maximum(together, _fourth_and_third_moments(own, 0.0)[1])
    gap = wanted - variances
    alike = (constants.tolerance * error / gap.abs().clamp(min=_TINY)).clamp(max=1) ** 2
    borrowed = constants.borrowed * unequal * torch.where(gap < 0, torch.zeros_like(alike), alike).mean(-1)
    unguarded = unequal * torch.where(gap < 0, 1 - alike, torch.zeros_like(gap)).mean(-1)
    of_own, of_others = _scaled(covariance, variances.rsqrt()), _scaled(expected, wanted.rsqrt())
    mixed = (1 - borrowed)[:, None, None] * of_own + borrowed[:, None, None] * of_others
    raised = variances + unequal * alike * together * gap.clamp(min=0)
    freedom = 1 / ((1 - borrowed) ** 2 / freedom + borrowed**2 / (other.size - 1))
    return _scaled(mixed, (raised / _diagonal(mixed).clamp(min=_TINY)).sqrt()), freedom, unguarded


def _fourth_and_third_moments(influences: Tensor, unknown: float) -> tuple[Tensor, Tensor]:
    variances = (influences**2).mean(1)
    vary = variances > _ROUNDING
    standard = influences / torch.where(vary, variances, torch.ones_like(variances)).sqrt()[:, None]
    excess = ((standard**4).mean(1) - 1).clamp(min=_TINY)
    together = ((standard**3).mean(1) ** 2 / excess).clamp(max=1)
    return excess, torch.where(vary, together, torch.full_like(together, unknown))


def _by(rows: Tensor, L: Tensor | None, unit: Tensor) -> Tensor:
    """Return rows of S in units of standard deviations, combined by L where there is one."""
    return rows * unit[:, None] if L is None else rows @ L


def _combined(matrices: Tensor, weights: Tensor | None) -> Tensor:
    return matrices if weights is None else weights.mT @ matrices @ weights


def _scaled(matrices: Tensor, factors: Tensor) -> Tensor:
    return matrices * (factors[:, :, None] * factors[:, None, :])


def _diagonal(matrices: Tensor) -> Tensor:
    return torch.diagonal(matrices, dim1=-2, dim2=-1)


def _trace(matrices: Tensor) -> Tensor:
    return _diagonal(matrices).sum(-1)
