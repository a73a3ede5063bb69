"""The model behind :class:`BagRegressor` and :class:`BagClassifier`: features, learners, weights and noise estimates.

Features of the bags and of their noisy copies go to three learners: ridge regression, kernel ridge regression, and
boosted trees. Two more, ridge and kernel ridge regression, are blind: they learn from features that independent
symmetric noise does not move on average. Each is cross-fitted, all copies of a bag in one part; what it predicts of
bags that it has not seen decides on penalties and weights, and calibrates intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.learning.bag_statistics import Blocks
from uptonoise.learning.forest import Forest
from uptonoise.learning.linear_learners import Linear, Standard, fitted_kernel, fitted_ridge
from uptonoise.learning.noise_estimate import Profile, heaviness
from uptonoise.learning.noisy_copies import NoisePlan
from uptonoise.learning.solver import Split
from uptonoise.learning.stack import Hats, Stack
from uptonoise.learning.summary import ALL_BLOCKS, INVARIANT_BLOCKS, PROFILE_BLOCKS, TREE_BLOCKS, BagSummary

_PARTS = 5  # of the bags, each judged by weights that were learnt from the others
_N_SIGHTED, _N_BLIND = 3, 2

Grow = Callable[[Floats, NDArray[np.int64], int], Forest]
"""Fits trees on features and on the numbers of the bags that the rows are copies of."""
Link = Callable[[Floats], Floats]
"""What becomes of the sums of leaves."""


class Copies(NamedTuple):
    """Features of bags and of their noisy copies.

    Attributes
    ----------
    linear, trees, profile, blind : array of shape (n, p)
        What the linear learners, the trees, the noise estimate and the blind learners learn from.
    sizes, rows : array of shape (n,)
        The size of the noise that was added, and the number of rows.
    heavy, bag : array of shape (n,)
        Whether that noise has heavy tails, and the number of the bag.
    """

    linear: Floats
    trees: Floats
    profile: Floats
    blind: Floats
    sizes: Floats
    rows: Floats
    heavy: NDArray[np.bool_]
    bag: NDArray[np.int64]

    @classmethod
    def of(cls, bags: Bags, summary: BagSummary, plan: NoisePlan, generator: np.random.Generator) -> Copies:
        """Return the features of all copies that a plan asks for."""
        parts, sizes, heavy = [], [], []
        for run in chain.from_iterable(plan.copies(bags, generator)):
            parts.append(inputs_of(summary, run.bags))
            sizes.append(run.sizes)
            heavy.append(run.heavy)
        inputs = Inputs(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        number = len(inputs[0]) // len(bags)
        rows = np.tile(bags.sizes.astype(np.float64), number)
        bag = np.tile(np.arange(len(bags)), number)
        return cls(*inputs, np.concatenate(sizes), rows, np.concatenate(heavy), bag)

    def splits(self, of_bags: list[Split]) -> list[Split]:
        """Return splits of copies from splits of bags."""
        return [Split(*(np.flatnonzero(np.isin(self.bag, part)) for part in split)) for split in of_bags]


class Inputs(NamedTuple):
    """What learners get of bags."""

    linear: Floats
    trees: Floats
    profile: Floats
    blind: Floats


def inputs_of(summary: BagSummary, bags: Bags) -> Inputs:
    """Return what learners get of bags with the columns of fit."""
    blocks = summary.blocks(bags)
    profile, unmoved = _joined(blocks, PROFILE_BLOCKS), _joined(blocks, INVARIANT_BLOCKS)
    if summary.kind == "invariant":
        nothing = np.empty((len(profile), 0))
        return Inputs(unmoved, nothing, profile, nothing)
    return Inputs(_joined(blocks, ALL_BLOCKS), _joined(blocks, TREE_BLOCKS), profile, unmoved)


def _joined(blocks: Blocks, names: list[str] | tuple[str, ...]) -> Floats:
    return np.concatenate([blocks[name] for name in names if name in blocks], axis=1)


class OutOfFold(NamedTuple):
    """Of every copy that some fold left out: its number, estimated noise and tails, predictions, their disagreement."""

    places: NDArray[np.int64]
    sizes: Floats
    tails: Floats
    predicted: Floats
    disagreement: Floats


class Blind(NamedTuple):
    """Learners from features that noise does not move on average."""

    standard: Standard
    ridge: Linear
    kernel: Linear

    @classmethod
    def learnt(
        cls, copies: Copies, targets: Floats, splits: list[Split], generator: np.random.Generator
    ) -> tuple[Blind, list[Floats]]:
        """Fit on copies; return also predictions of each by learners that have not seen it."""
        standard = Standard.of(copies.blind[copies.sizes == 0], copies.blind)
        X = standard(copies.blind)
        ridge, ridge_guess, _ = fitted_ridge(X, targets, splits)
        kernel, kernel_guess, _ = fitted_kernel(X, targets, splits, generator)
        return cls(standard, ridge, kernel), [ridge_guess, kernel_guess]

    def guesses(self, features: Floats) -> list[Floats]:
        """Return what each learner predicts."""
        X = self.standard(features)
        return [self.ridge.predict(X), self.kernel.predict(X)]


class Ensemble(NamedTuple):
    """Fitted learners and their weights; there are blind ones where the others see noise."""

    profile: Profile
    standard: Standard
    ridge: Linear
    kernel: Linear
    forests: tuple[Forest, ...]
    stack: Stack
    blind: tuple[Blind, ...] = ()

    @classmethod
    def learnt(
        cls,
        copies: Copies,
        Y: Floats,
        of_bags: list[Split],
        grow: Grow | None,
        link: Link,
        largest: float,
        generator: np.random.Generator,
    ) -> tuple[Ensemble, OutOfFold]:
        """Fit on copies; Y, of shape (n_bags, n_targets), has the targets. Without `grow` there are no trees."""
        targets, splits = Y[copies.bag], copies.splits(of_bags)
        profile, sizes = Profile.learnt(copies.profile, copies.sizes, splits)
        standard = Standard.of(copies.linear[copies.sizes == 0], copies.linear)
        X = standard(copies.linear)
        ridge, ridge_guess, _ = fitted_ridge(X, targets, splits)
        kernel, kernel_guess, _ = fitted_kernel(X, targets, splits, generator)
        guesses = [ridge_guess, kernel_guess]
        forests: list[Forest] = []
        blind: list[Blind] = []
        if grow is not None:
            forests, forest_guess = _cross_fitted_trees(copies, splits, grow, link, generator)
            unmoved, blind_guesses = Blind.learnt(copies, targets, splits, generator)
            blind.append(unmoved)
            guesses += [forest_guess, *blind_guesses]
        judged = np.unique(np.concatenate([test for _, test in splits]))
        guesses = [guess[judged] for guess in guesses]
        # Weights that depend on the noise would bring it back into a model that is to ignore it.
        hats = Hats.up_to(0.0 if grow is None else largest)
        # Who expects noise as in training may learn from it.
        n_blind = _N_BLIND if blind and largest > 0 else 0
        stack = Stack.learnt(hats, sizes[judged], guesses, targets[judged], n_blind)
        ensemble = cls(profile, standard, ridge, kernel, tuple(forests), stack, tuple(blind))
        combined = _cross_stacked(stack, sizes[judged], guesses, targets[judged], copies.bag[judged], n_blind)
        tails = heaviness(copies.profile[judged])
        return ensemble, OutOfFold(judged, sizes[judged], tails, combined, _disagreement(guesses))

    def predicted(self, inputs: Inputs, link: Link) -> OutOfFold:
        """Return predictions of shape (n, n_targets), with what is known of them."""
        X = self.standard(inputs.linear)
        guesses = [self.ridge.predict(X), self.kernel.predict(X)]
        if self.forests:
            guesses.append(np.mean([link(forest.sums(inputs.trees)) for forest in self.forests], axis=0))
        for blind in self.blind:
            guesses += blind.guesses(inputs.blind)
        sizes = self.profile.sizes(inputs.profile)
        tails, combined = heaviness(inputs.profile), self.stack.combined(sizes, guesses)
        return OutOfFold(np.arange(len(X)), sizes, tails, combined, _disagreement(guesses))


def _cross_stacked(
    stack: Stack, sizes: Floats, guesses: list[Floats], targets: Floats, bag: NDArray[np.int64], n_blind: int
) -> Floats:
    """Return what is predicted of bags by weights that were learnt from other bags: as wrong as for new ones."""
    combined = stack.combined(sizes, guesses)
    for part in range(_PARTS):
        own = bag % _PARTS == part
        if own.any() and not own.all():
            others = Stack.learnt(stack.hats, sizes[~own], [guess[~own] for guess in guesses], targets[~own], n_blind)
            combined[own] = others.combined(sizes[own], [guess[own] for guess in guesses])
    return combined


def _cross_fitted_trees(
    copies: Copies, splits: list[Split], grow: Grow, link: Link, generator: np.random.Generator
) -> tuple[list[Forest], Floats]:
    """Return the trees of each split, and predictions of copies by trees that have not seen them."""
    forests, counts = [], np.zeros(len(copies.bag))
    sums: Any = 0.0
    for train, test in splits:
        forest = grow(copies.trees[train], copies.bag[train], int(generator.integers(2**31)))
        left_out = link(forest.sums(copies.trees[test]))
        part = np.zeros((len(copies.bag), left_out.shape[1]))
        part[test] = left_out
        sums, counts[test] = sums + part, counts[test] + 1
        forests.append(forest)
    return forests, np.asarray(sums / np.maximum(counts, 1)[:, None])


def _disagreement(guesses: list[Floats]) -> Floats:
    """Return how much the learners differ that see all features."""
    return np.asarray(np.std(guesses[:_N_SIGHTED], axis=0).mean(axis=1))
