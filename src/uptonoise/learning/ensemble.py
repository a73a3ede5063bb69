"""The model behind :class:`BagRegressor` and :class:`BagClassifier`: features, learners, weights and noise estimates.

Features of the bags and of their noisy copies go to three learners: ridge regression, kernel ridge regression, and
boosted trees. Two more, ridge and kernel ridge regression, are blind: they learn from features that independent
symmetric noise does not move on average. Each is cross-fitted, all copies of a bag in one part; what it predicts of
bags that it has not seen decides on penalties and weights, and calibrates intervals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.learning.bag_statistics import Blocks
from uptonoise.learning.forest import Forest, boosted
from uptonoise.learning.linear_learners import Linear, Standard, fitted_kernel, fitted_ridge
from uptonoise.learning.noise_estimate import Profile, heaviness
from uptonoise.learning.noisy_copies import NoisePlan
from uptonoise.learning.solver import Split
from uptonoise.learning.stack import Hats, Stack
from uptonoise.learning.summary import ALL_BLOCKS, INVARIANT_BLOCKS, PROFILE_BLOCKS, TREE_BLOCKS, BagSummary

_PARTS = 5  # of the bags, each judged by weights that were learnt from the others
_N_SIGHTED, _N_BLIND = 3, 2


class Inputs(NamedTuple):
    """What the linear learners, the trees, the noise estimate and the blind learners get of bags, of shape (n, p)."""

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


def _joined(blocks: Blocks, names: tuple[str, ...]) -> Floats:
    return np.concatenate([blocks[name] for name in names if name in blocks], axis=1)


class Copies(NamedTuple):
    """Features of bags and of their noisy copies."""

    inputs: Inputs
    sizes: Floats  # of the noise that was added
    rows: Floats  # how many
    heavy: NDArray[np.bool_]  # whether that noise has heavy tails
    bag: NDArray[np.int64]  # its number

    @classmethod
    def of(cls, bags: Bags, summary: BagSummary, plan: NoisePlan, generator: np.random.Generator) -> Copies:
        """Return the features of all copies that a plan asks for."""
        parts, sizes, heavy = [], [], []
        for run in plan.copies(bags, generator):
            parts.append(inputs_of(summary, run.bags))
            sizes.append(run.sizes)
            heavy.append(run.heavy)
        inputs = Inputs(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        number = len(inputs.linear) // len(bags)
        rows = np.tile(bags.sizes.astype(np.float64), number)
        bag = np.tile(np.arange(len(bags)), number)
        return cls(inputs, np.concatenate(sizes), rows, np.concatenate(heavy), bag)


class OutOfFold(NamedTuple):
    """Of every copy that some fold left out: its number, estimated noise and tails, predictions, their disagreement."""

    places: NDArray[np.int64]
    sizes: Floats
    tails: Floats
    predicted: Floats
    disagreement: Floats


class Linears(NamedTuple):
    """Both linear learners, and how features become comparable."""

    standard: Standard
    ridge: Linear
    kernel: Linear

    @classmethod
    def learnt(
        cls,
        features: Floats,
        is_clean: NDArray[np.bool_],
        targets: Floats,
        splits: list[Split],
        generator: np.random.Generator,
    ) -> tuple[Linears, list[Floats]]:
        """Fit on features of copies; return also predictions of each by learners that have not seen it."""
        standard = Standard.of(features[is_clean], features)
        X = standard(features)
        ridge, ridge_guess, _ = fitted_ridge(X, targets, splits)
        kernel, kernel_guess, _ = fitted_kernel(X, targets, splits, generator)
        return cls(standard, ridge, kernel), [ridge_guess, kernel_guess]

    def guesses(self, features: Floats) -> list[Floats]:
        """Return what each learner predicts."""
        X = self.standard(features)
        return [self.ridge.predict(X), self.kernel.predict(X)]


class Ensemble(NamedTuple):
    """Fitted learners and their weights; there are blind ones where the others see noise.

    The fields are also the names of arrays in files, so the sighted linear learners are not one :class:`Linears`.
    """

    profile: Profile
    standard: Standard
    ridge: Linear
    kernel: Linear
    forests: tuple[Forest, ...]
    stack: Stack
    blind: tuple[Linears, ...] = ()

    @classmethod
    def learnt(
        cls,
        copies: Copies,
        Y: Floats,
        of_bags: list[Split],
        has_trees: bool,
        largest: float,
        generator: np.random.Generator,
    ) -> tuple[Ensemble, OutOfFold]:
        """Fit on copies; Y, of shape (n_bags, n_targets), has the targets: one, or the classes."""
        targets, inputs, is_clean = Y[copies.bag], copies.inputs, copies.sizes == 0
        splits = [Split(*(np.flatnonzero(np.isin(copies.bag, part)) for part in split)) for split in of_bags]
        profile, sizes = Profile.learnt(inputs.profile, copies.sizes, splits)
        linears, guesses = Linears.learnt(inputs.linear, is_clean, targets, splits, generator)
        forests: list[Forest] = []
        blind: list[Linears] = []
        if has_trees:
            forests, forest_guess = _cross_fitted_trees(copies, targets, splits, generator)
            unmoved, blind_guesses = Linears.learnt(inputs.blind, is_clean, targets, splits, generator)
            blind.append(unmoved)
            guesses += [forest_guess, *blind_guesses]
        judged = np.unique(np.concatenate([test for _, test in splits]))
        guesses = [guess[judged] for guess in guesses]
        # Weights that depend on the noise would bring it back into a model that is to ignore it.
        hats = Hats.up_to(largest if has_trees else 0.0)
        # Who expects noise as in training may learn from it.
        n_blind = _N_BLIND if blind and largest > 0 else 0
        stack = Stack.learnt(hats, sizes[judged], guesses, targets[judged], n_blind)
        ensemble = cls(profile, *linears, tuple(forests), stack, tuple(blind))
        combined = _cross_stacked(stack, sizes[judged], guesses, targets[judged], copies.bag[judged], n_blind)
        tails = heaviness(inputs.profile[judged])
        return ensemble, OutOfFold(judged, sizes[judged], tails, combined, _disagreement(guesses))

    def predicted(self, inputs: Inputs) -> OutOfFold:
        """Return predictions of shape (n, n_targets), with what is known of them."""
        guesses = Linears(self.standard, self.ridge, self.kernel).guesses(inputs.linear)
        if self.forests:
            guesses.append(
                np.mean([forest.predict(inputs.trees, len(self.stack.mean)) for forest in self.forests], axis=0)
            )
        for blind in self.blind:
            guesses += blind.guesses(inputs.blind)
        sizes = self.profile.sizes(inputs.profile)
        tails, combined = heaviness(inputs.profile), self.stack.combined(sizes, guesses)
        return OutOfFold(np.arange(len(sizes)), sizes, tails, combined, _disagreement(guesses))


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
    copies: Copies, targets: Floats, splits: list[Split], generator: np.random.Generator
) -> tuple[list[Forest], Floats]:
    """Return the trees of each split, and predictions of copies by trees that have not seen them."""
    X, n_targets = copies.inputs.trees, targets.shape[1]
    y = targets[:, 0] if n_targets == 1 else targets.argmax(axis=1)
    forests, counts, sums = [], np.zeros(len(X)), np.zeros(targets.shape)
    for train, test in splits:
        if len(np.unique(y[train])) < n_targets:
            raise ValueError("cv must leave bags of every class in each part that is fitted on")
        forest = boosted(X[train], y[train], int(generator.integers(2**31)))
        sums[test] += forest.predict(X[test], n_targets)
        counts[test] += 1
        forests.append(forest)
    return forests, np.asarray(sums / np.maximum(counts, 1)[:, None])


def _disagreement(guesses: list[Floats]) -> Floats:
    """Return how much the learners differ that see all features."""
    return np.asarray(np.std(guesses[:_N_SIGHTED], axis=0).mean(axis=1))
