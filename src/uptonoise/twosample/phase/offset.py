"""The shift between two samples that are otherwise equal up to noise, from their sketches.

Where X has the distribution of Y plus a constant d, up to symmetric noise in each, phi_X conj phi_Y is a positive
number times exp(i w.d). So with the phases of X about a centre that is further by d than that of Y

    S(d) = Im(phi_X conj phi_Y exp(-i w.d)) = 0        dS/dd = -C(d) w'        C(d) = Re(phi_X conj phi_Y exp(-i w.d))

The shift is first where the phases agree best, which is where the sum of C is largest: no row moves it far, whatever
its noise. On the frequencies of a single column a grid finds that column's part; then steps on all frequencies,

    d <- d + (sum |phi_X phi_Y| w w')^-1 sum S(d) w

go up and cannot overshoot, as no cosine bends more than its size. From there Gauss-Newton steps minimise
T(d) = S'K S, with K = (R + lam)^-1 of :mod:`uptonoise.twosample.phase.statistic` and G = dS/dd. The minimum has the
covariance

    (G'K G)^-1 G'K R K G (G'K G)^-1 / c^2

where c, one minus the trace of the scores' covariance once G is projected out over its degrees of freedom, stands for
what K as an estimate takes from accuracy, and for what the formula does not see of that: each is a factor 1/c, as for
least squares with an estimated covariance (Rao 1967). A test of anything else than a shift is that of S(d) with the
columns of G as nuisance directions; to first order it does not depend on the error of d.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtri, stdtrit

from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.fourier import Sketch
from uptonoise.twosample.phase.pair import FrequencyBlocks, Movable, Pair, SampleMoments, Shift, even_turns
from uptonoise.twosample.phase.statistic import decomposed

_SPARE_ROWS = 2  # that a sample has beyond one per column
_GRID_STEPS = 2.0  # per radian of the largest frequency of a column
_GRID = 2_000  # points in each direction
_AMBIGUOUS = 0.8  # agreement of the phases of two shifts, of 1, from which on they cannot be told apart
_APART = 0.5  # agreement below which two shifts are not the same one
_ALIGNED = 0.5  # agreement of the phases, of 1, below which no shift is accepted
_ASCENTS = 200
_MOST_STEPS = 20
_CONVERGED = 1e-3  # standard errors of a step
_HALVINGS = 20
_BEYOND_DOUBT = 1e-4  # the probability that a shift is further off than its doubt


def fitted_shift(
    X: Sketch, Y: Sketch, worth: float = 1.0, most_steps: int | None = None, movable: Movable = None
) -> Pair:
    """Estimate the shift of X against Y, up to noise, from two comparable sketches, and take it off.

    Where the sketches have centres of their own the shift may be as large as it likes; where they share one, columns
    that have frequencies of their own are searched as far as these are unambiguous. Steps of samples that no shift
    makes alike may never get small: they end after `most_steps`. Only the columns that are movable have a shift.
    """
    moves = np.ones(X.n_columns, dtype=bool) if movable is None else movable
    if not moves.any():
        return Pair.of(X, Y, worth)
    if (missing := why_no_shift(X, Y, moves)) is not None:
        raise ValueError(missing)
    place = FrequencyBlocks.of(X, Y).largest
    units = np.abs(X.frequencies[place]).max(axis=0)
    lengths = (1 / (units * np.sqrt(np.mean((X.frequencies[place] / units) ** 2, axis=0))))[moves]
    W = np.ascontiguousarray(X.frequencies[:, moves] * lengths)
    near, near_W = SampleMoments.of(Y, worth=worth).at(place), W[place]
    assert X.centre is not None  # as there are rows
    origin = np.where(moves, X.centre, near.centre)
    ahead = _best_aligned(SampleMoments.of(X, origin, place), near, near_W, (origin - near.centre)[moves] / lengths)
    for _ in range(most_steps or _MOST_STEPS):
        centre = origin.copy()
        centre[moves] += lengths * ahead
        moved = SampleMoments.of(X, centre, place, worth)
        product = moved.phi * near.phi.conj()
        G = -product.real[:, None] * near_W
        here = decomposed(moved, near)
        free = here.test()
        inverse = np.linalg.pinv(free.root.T @ G)
        step: Floats = -inverse @ free.z
        for _ in range(_HALVINGS):  # until T does not grow
            S = (product * np.exp(-1j * (near_W @ step))).imag
            if np.sum((S @ free.root) ** 2) <= free.statistic:
                break
            step = step / 2
        if np.linalg.norm(free.root.T @ G @ step) < _CONVERGED:
            break
        ahead = ahead + step
    if np.array_equal(origin, near.centre) and float(product.real.sum()) < _ALIGNED * float(np.abs(product).sum()):
        raise ValueError(
            "X and Y share a centre that was given, and lie too far apart to find their shift from there; sketch each "
            "about a centre of its own, which Sketch.like does where none was given"
        )
    # The error of the shift, from the scores with and without what a shift explains.
    bound = here._replace(nuisance=G).test()
    of_moved = (inverse * free.variances) @ inverse.T / bound.shrinkage**2
    shift, covariance = centre - near.centre, np.zeros((len(moves), len(moves)))
    covariance[np.ix_(moves, moves)] = of_moved * np.outer(lengths, lengths)
    freedom = max(float(bound.nu * bound.shrinkage), 1.0)
    half = stdtrit(freedom, 0.975) * np.sqrt(np.diag(covariance))
    variances = np.einsum("md,de,me->m", X.frequencies, covariance, X.frequencies)
    pair = Pair.of(X, Y, worth, (centre, near.centre))
    return pair._replace(
        shift=Shift(shift, covariance, freedom, np.stack([shift - half, shift + half], axis=1)),
        nuisance=-(pair.left.phi * pair.right.phi.conj()).real[:, None] * W,
        doubt=np.sqrt(chdtri(max(np.count_nonzero(half), 1), _BEYOND_DOUBT) * np.maximum(variances, 0)),
    )


def why_no_shift(X: Sketch, Y: Sketch, movable: Movable = None) -> str | None:
    """Return what is missing for a test up to a shift, or None where nothing is."""
    W = X.frequencies[FrequencyBlocks.of(X, Y).largest]
    W = W if movable is None else W[:, movable]
    m, d = W.shape
    largest = np.abs(W).max(axis=0)
    rank = int(np.linalg.matrix_rank(W / np.where(largest > 0, largest, 1)))
    if m <= d or rank < d:
        return (
            f"frequencies must be more than the columns, and in as many directions, for a test up to a shift; got {m} "
            f"in {rank} directions for {d} columns"
        )
    needed = d + _SPARE_ROWS
    for name, sketch in (("X", X), ("Y", Y)):
        if sketch.effective_size < needed - 1e-6:
            worth = (
                "" if sketch.effective_size > sketch.n_rows - 0.5 else f", worth {sketch.effective_size:.3g} by weight"
            )
            return (
                f"{name} must have at least {needed} rows for a test up to a shift of {counted(d, 'column')}; it has "
                f"{sketch.n_rows}{worth}"
            )
    return None


def _best_aligned(left: SampleMoments, right: SampleMoments, W: Floats, apart: Floats) -> Floats:
    """Return where phases agree best, from starts at the centres, where the grids say, and at no shift at all."""
    product = left.phi * right.phi.conj()
    on_grids = np.zeros_like(apart)  # a column without frequencies of its own stays at the centres
    own = np.count_nonzero(W, axis=1) == 1
    for column in range(W.shape[1]):
        mine = own & (W[:, column] != 0)
        if not mine.any():
            continue
        # A frequency and its negative say the same. The grid goes as far as frequencies are unambiguous together.
        w = np.abs(W[mine, column])
        upright = np.where(W[mine, column] > 0, product[mine], product[mine].conj())
        step = 1 / (_GRID_STEPS * float(w.max()))
        turns = even_turns(_GRID, step * w)
        agreement = turns.real @ np.abs(upright) / max(float(np.abs(upright).sum()), np.finfo(np.float64).tiny)
        # From one of two shifts that far apart the frequencies look as from the other, so half of it is told apart.
        again = (agreement > _AMBIGUOUS) & (np.cumsum(agreement < _APART) > 0)
        reach = int(again.argmax()) // 2 if again.any() else _GRID
        sums = np.array([(turns[:reach] @ either).real for either in (upright, upright.conj())])  # forward, and back
        back, place = divmod(int(sums.argmax()), reach)
        on_grids[column] = -place * step if back else place * step
    starts = [np.zeros_like(apart), on_grids, -apart] if apart.any() else [np.zeros_like(apart), on_grids]
    curvature = np.linalg.pinv((W.T * np.abs(product)) @ W, hermitian=True)
    best, best_sum = starts[0], -np.inf
    for ahead in starts:
        for _ in range(_ASCENTS):  # up the sum of C, by steps that never overshoot
            move = curvature @ (W.T @ (product * np.exp(-1j * (W @ ahead))).imag)
            ahead = ahead + move
            if np.abs(W @ move).max() < 1e-6:
                break
        reached = float((product * np.exp(-1j * (W @ ahead))).real.sum())
        if reached > best_sum:
            best, best_sum = ahead, reached
    return best
