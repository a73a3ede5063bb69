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
from scipy.special import chdtrc, fdtrc
from torch import Tensor

from uptonoise._util.typing import Floats
from uptonoise.experiments._experiment import NamedCell
from uptonoise.fourier import BLOCK_WEIGHTS, default_design, lengths_and_order
from uptonoise.twosample import Constants, cauchy_combination

_TINY = float(np.finfo(np.float64).tiny)
_MANY_ROWS = 1e5
_SMALLEST_C = 0.05
_ROUNDING = 1e-12
_NO_RANK = 1e-9
_LEAST_RIDGE = 0.1
_LEAST_VARIANCE = 0.25
_ALL_ERROR = 1 / 3
_FEW_ROWS = 1_000
_NUMBERS, _GPU_NUMBERS = 3e7, 3e8  # that a batch may hold
_MATRICES = 20  # of the squared number of frequencies, at a time
_PAIRS = 3e7  # of rows, at a time


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
        places = torch.arange(self.cos.shape[-1], device=self.cos.device)[block]
        both = torch.cat([places, places + self.cos.shape[-1]])
        features = None if self.features is None else self.features[:, :, both]
        cos, sin, covariance = self.cos[:, block], self.sin[:, block], self.covariance[:, both][:, :, both]
        return Moments(cos, sin, covariance, self.size, features)

    def across(self, directions: Tensor) -> Tensor:
        """Return the covariance over rows of what lies across directions, which are complex numbers."""
        m = self.cos.shape[-1]
        a, b, C = -directions.imag, directions.real, self.covariance
        crossed = a[:, :, None] * b[:, None, :] * C[:, :m, m:]
        return _scaled(C[:, :m, :m], a) + _scaled(C[:, m:, m:], b) + crossed + crossed.mT

    def influences(self, directions: Tensor, unit: Tensor) -> Tensor | None:
        """Return what each row adds across directions, in units of S."""
        if self.features is None:
            return None
        m = self.cos.shape[-1]
        a, b = (-directions.imag * unit)[:, None], (directions.real * unit)[:, None]
        return a * self.features[..., :m] + b * self.features[..., m:]


class _Parts(NamedTuple):
    """The parts of the correlations of S that come from X and from Y, and what is in both, and S itself."""

    A: Tensor
    B: Tensor
    twice: Tensor
    freedoms: tuple[Tensor, Tensor]
    S: Tensor
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
    of_blocks = [_block_pvalues(left.at(place), right.at(place), variants) for place in blocks.values()]
    return np.asarray(cauchy_combination(np.stack(of_blocks, axis=-1), weights))


def _block_pvalues(left: Moments, right: Moments, variants: Sequence[Constants]) -> Floats:
    smaller, larger = sorted((left.size, right.size))
    freedom = (1 / smaller + 1 / larger) ** 2 / (1 / smaller**3 + 1 / larger**3)
    parts: dict[tuple[float, ...], _Parts] = {}
    traces: dict[tuple[float, ...], list[Floats]] = {}
    rows = []
    for constants in variants:
        lam = max(_LEAST_RIDGE, constants.ridge * left.cos.shape[-1] / freedom)
        lam *= 1 + constants.unequal_ridge * (1 - smaller / larger)
        guard = (constants.tolerance, constants.cleaner, constants.borrowed) if smaller < larger else ()
        of_parts = (constants.own_phase, *guard)
        if of_parts not in parts:
            parts[of_parts] = _parts(left, right, constants)
        if (*of_parts, lam) not in traces:
            traces[*of_parts, lam] = [trace.cpu().numpy() for trace in _traces(parts[of_parts], lam)]
        T, trace, s1, s2, nu, excess, *skewness = traces[*of_parts, lam]
        balance = np.minimum(1, nu / (smaller + larger - 2))
        caution = 1 - constants.caution * (1 - balance)
        rows.append(_pvalues(T, (trace, s1, s2), balance * excess, skewness, caution * nu, (smaller - 1) ** 2))
    return np.stack(rows)


def _pvalues(
    T: Floats, of_H: Sequence[Floats], excess: Floats, skewness: Sequence[Floats], nu: Floats, few_rows: float
) -> Floats:
    """Return the p-values of statistics."""
    trace, s1, s2 = of_H
    c = np.maximum(1 - trace / np.maximum(nu, _TINY), _SMALLEST_C)
    mean = np.maximum((s1 + skewness[0]) / c, _TINY)
    gaussian = np.maximum(2 * (s1 / c**3 - (s1 - s2) / c**4), 2 * s2 / c**2)
    excess = excess * (s1 / np.maximum(trace, _TINY)) ** 2
    variance = np.maximum(gaussian - 2 * excess / c**2, _LEAST_VARIANCE * gaussian)
    variance = np.maximum(variance + skewness[1] / c**2, _TINY)
    freedom, ratio = 2 * mean**2 / variance, T / mean
    tail = fdtrc(freedom, few_rows, ratio) if few_rows < _MANY_ROWS else chdtrc(freedom, ratio * freedom)
    return np.where(trace > _NO_RANK, np.maximum(tail, _TINY), 1.0)


def _parts(left: Moments, right: Moments, constants: Constants) -> _Parts:
    across_A, across_B = _across(left, right, constants), _across(right, left, constants)
    A, freedom_A, unguarded_A = _covariance_part(left, right, across_A, constants)
    B, freedom_B, unguarded_B = _covariance_part(right, left, across_B, constants)
    variances = _diagonal(A) + _diagonal(B)
    used = variances > _ROUNDING / min(left.size, right.size)
    unit = torch.where(used, variances.clamp(min=_TINY).rsqrt(), torch.zeros_like(variances))
    S = left.sin * right.cos - left.cos * right.sin
    influences = left.influences(across_A, unit), right.influences(across_B, unit)
    freedoms, sizes = (freedom_A, freedom_B), (left.size, right.size)
    A, B, twice = (_scaled(matrices, unit) for matrices in (A, B, _of_both_errors(left, right)))
    small, large, across = (left, right, across_A) if left.size < right.size else (right, left, across_B)
    borrowed = None if left.size == right.size else large.influences(across, unit)
    if borrowed is not None:
        shorter = (small.phi.abs() / large.phi.abs().clamp(min=_TINY)).clamp(max=1)
        borrowed = borrowed * shorter[:, None] / small.size
    return _Parts(A, B, twice, freedoms, unit * S, influences, sizes, borrowed, unguarded_A + unguarded_B)


def _of_both_errors(left: Moments, right: Moments) -> Tensor:
    """Return the covariance of the part of S that is a product of the errors of both samples' means."""
    m, X, Y = left.cos.shape[-1], left.covariance / left.size, right.covariance / right.size
    crossed = X[:, m:, :m] * Y[:, :m, m:]
    return X[:, m:, m:] * Y[:, :m, :m] + X[:, :m, :m] * Y[:, m:, m:] - crossed - crossed.mT


def _traces(parts: _Parts, lam: float) -> tuple[Tensor, ...]:
    """Return T, tr H, s1, s2, nu, the excess, and what skewness adds to the mean and variance."""
    A, B, twice, freedoms, S, influences, sizes, borrowed, unguarded = parts
    K = torch.linalg.inv(A + B + lam * torch.eye(S.shape[-1], dtype=S.dtype, device=S.device))
    G, rest = A @ K, B @ K
    H = G + rest
    whole, from_A, from_B = (_square_trace(part) + _trace(part) ** 2 for part in (H, G, rest))
    nu = whole / (from_A / freedoms[0] + from_B / freedoms[1]).clamp(min=_TINY)
    excess = torch.zeros_like(nu)
    for of_rows, part, size in zip(influences, (G, rest), sizes, strict=True):
        if of_rows is not None:
            lengths = ((of_rows @ K) * of_rows).sum(-1)
            expected = torch.maximum(lengths.mean(-1), size * _trace(part))
            kappa = ((lengths**2).mean(-1) / (expected**2).clamp(min=_TINY)).clamp(min=1)
            excess += ((kappa - 1) * _trace(part) ** 2 - 2 * _square_trace(part)) / size
    covariance = H - twice @ K
    s1 = torch.maximum(_trace(covariance), _ALL_ERROR * _trace(H))
    s2 = torch.maximum(_square_trace(covariance), _ALL_ERROR**2 * _square_trace(H))
    T, skewness = (S * (K @ S[:, :, None])[:, :, 0]).sum(-1), torch.zeros(2, *nu.shape, dtype=S.dtype, device=S.device)
    if borrowed is not None:
        at_once = max(1, int(_PAIRS / borrowed.shape[1] ** 2))
        for start in range(0, len(borrowed), at_once):
            some = slice(start, start + at_once)
            skewness[:, some] = _skewness(borrowed[some], K[some], H[some], min(sizes))
    return T, _trace(H), s1, s2, nu, excess, *(unguarded * skewness)


def _skewness(rows: Tensor, K: Tensor, H: Tensor, size: int) -> Tensor:
    """Return what skewed rows add to the mean and variance of T."""
    towards = rows @ K
    t, s = towards @ rows.mT, towards @ (H @ rows.mT)
    t_own, s_own = _diagonal(t), _diagonal(s)
    of_t, of_s = ((own[:, None] @ rows)[:, 0] for own in (t_own, s_own))
    by_K = (K @ of_t[:, :, None])[:, :, 0]
    diagonal, mixed_diagonal = (t_own**3).sum(-1), (t_own**2 * s_own).sum(-1)
    cubes, mixed = (t**3).sum((-2, -1)) - diagonal, (t**2 * s).sum((-2, -1)) - mixed_diagonal
    own, own_s = (of_t * by_K).sum(-1) - diagonal, (of_s * by_K).sum(-1) - mixed_diagonal
    own_H = (of_t * (K @ (H @ of_t[:, :, None]))[:, :, 0]).sum(-1) - mixed_diagonal
    variance = 16 * mixed + 4 * own_H + 12 * own_s - 4 * cubes - 4 * own
    return torch.stack([cubes + own, variance]).clamp(min=0) * (size / rows.shape[1]) ** 2


def _across(sample: Moments, other: Moments, constants: Constants) -> Tensor:
    both = constants.own_phase * sample.size * sample.phi.abs() * sample.phi + other.size * other.phi.abs() * other.phi
    return other.phi.abs() * both / both.abs().clamp(min=_TINY)


def _covariance_part(
    sample: Moments, other: Moments, across: Tensor, constants: Constants
) -> tuple[Tensor, Tensor, Tensor]:
    covariance = sample.across(across) / sample.size
    freedom = torch.full_like(covariance[:, 0, 0], sample.size - 1)
    if sample.size >= other.size:
        return covariance, freedom, torch.zeros_like(freedom)
    expected, unequal = other.across(across) / sample.size, 1 - sample.size / other.size
    variances, wanted = (_diagonal(matrix).clamp(min=_TINY) for matrix in (covariance, expected))
    kurtosis = other.phi.abs() ** 2 / (sample.size * wanted)
    error, gap = wanted * (kurtosis / sample.size).sqrt(), wanted - variances
    alike = (constants.tolerance * error / gap.abs().clamp(min=_TINY)).clamp(max=1) ** 2
    not_cleaner = (constants.cleaner * error / (-gap).clamp(min=_TINY)).clamp(max=1) ** 2
    borrowed = constants.borrowed * unequal * (alike * not_cleaner).mean(-1)
    unguarded = unequal * torch.where(gap < 0, 1 - alike, torch.zeros_like(gap)).mean(-1)
    own, others = _scaled(covariance, variances.rsqrt()), _scaled(expected, wanted.rsqrt())
    mixed = (1 - borrowed)[:, None, None] * own + borrowed[:, None, None] * others
    raised = variances + unequal * alike * gap.clamp(min=0)
    freedom = 1 / ((1 - borrowed) ** 2 / freedom + borrowed**2 / (other.size - 1))
    return _scaled(mixed, (raised / _diagonal(mixed).clamp(min=_TINY)).sqrt()), freedom, unguarded


def _scaled(matrices: Tensor, factors: Tensor) -> Tensor:
    return matrices * (factors[:, :, None] * factors[:, None, :])


def _diagonal(matrices: Tensor) -> Tensor:
    return torch.diagonal(matrices, dim1=-2, dim2=-1)


def _trace(matrices: Tensor) -> Tensor:
    return _diagonal(matrices).sum(-1)


def _square_trace(matrices: Tensor) -> Tensor:
    """Return the traces of the squares."""
    return (matrices * matrices.mT).sum((-2, -1))
