"""The candidates of a search: features of all bags at every scale of both layers and every noise size.

Each candidate's features are computed once. They are too large to keep those of all candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from uptonoise._util.typing import Floats
from uptonoise.bags import BagRows, Bags
from uptonoise.learning.augmentation import (
    check_no_target,
    checked_noise_range,
    checked_noise_sizes,
    pooled_variances,
    with_noise,
)
from uptonoise.learning.features import FourierFeatures, PhaseFeatures
from uptonoise.learning.mean_features import MeanFeatures, bag_means
from uptonoise.rows import RowSource, as_real_array

_NOISY_COPIES = 4
_JUDGED_COPIES = 2
NO_FEATURES = np.empty(0)


class BagStream:
    """Bags of a source that stay where they are: the rows, how many bags there are, and their ids."""

    labels = None

    def __init__(self, source: RowSource) -> None:
        if source.bag_ids is None:
            raise ValueError(f"{source.name} must say which row is in which bag, as a source made with by= does")
        if not source.can_be_read_again:
            raise ValueError(f"{source.name} is read once for each scale, and an iterator can be read only once")
        self.rows = source
        self.n_columns = len(source.columns)
        if not isinstance(source, BagRows):
            bag_means(source)  # a pass that meets all bags
        self.ids: Any = source.bag_ids

    def __len__(self) -> int:
        return len(self.ids)


class SearchNoise(NamedTuple):
    """Which noise to fit against, and which to judge by."""

    sizes: tuple[float, ...]
    target: tuple[float, float]
    variances: Floats
    seed: int

    @classmethod
    def checked(cls, sizes: Any, target: Any, bags: Any, seed: int) -> SearchNoise | None:
        """Return the noise that `noise_augmentation` and `noise_target` ask for; None for none."""
        if sizes is None:
            check_no_target(target)
            return None
        if not isinstance(bags, Bags):
            raise ValueError("noise_augmentation needs bags in memory; read them with Bags.from_rows, or leave it out")
        tried = checked_noise_sizes("noise_augmentation", sizes)
        return cls(tried, checked_noise_range(target, max(tried)), pooled_variances(bags), seed)

    def copies(self, first: Any, bags: Bags, number: int, low: float, high: float, part: int) -> list[Floats]:
        """Return features of the bags with noise, a size between `low` and `high` for each; the same at all scales."""
        generator = np.random.default_rng([self.seed, part])
        is_mean = isinstance(first, MeanFeatures)
        if not is_mean and not hasattr(first, "from_characteristic"):
            raise ValueError("noise_augmentation needs phase, Fourier or mean features as the first layer")
        clean = first.transform(bags) if is_mean else first.characteristic(bags)
        copies = []
        for _ in range(number):
            sizes = generator.uniform(low, high, len(bags))
            if is_mean:
                variances = generator.random(clean.shape) * sizes[:, None] * self.variances
                deviations = np.sqrt(variances / bags.sizes[:, None].astype(np.float64))
                copies.append(clean + deviations * generator.standard_normal(clean.shape))
            else:
                noisy = with_noise(clean, first.frequencies_, bags.values, self.variances, sizes, generator)
                copies.append(first.from_characteristic(noisy))
        return copies


class Candidate(NamedTuple):
    """Features at one scale and noise size: copies to fit on and to judge by; and errors, (splits, alphas)."""

    first: Any
    second: Any
    params: dict[str, float]
    fitted: Floats = NO_FEATURES
    judged: Floats = NO_FEATURES
    errors: Floats = NO_FEATURES

    def again(self, bags: Any, noise: SearchNoise | None) -> Candidate:
        """Return the same candidate with its features."""
        if noise is not None:
            noise = noise._replace(sizes=(self.params["noise_level"],))
        factor, second_factor = (self.params.get(name, 1.0) for name in ("scale_factor", "second_scale_factor"))
        (candidate,) = candidates(self.first, self.second, bags, [factor], [second_factor], noise)
        return candidate


def candidates(
    first: Any,
    second: Any,
    bags: Any,
    factors: Sequence[float],
    second_factors: Sequence[float],
    noise: SearchNoise | None,
) -> Iterator[Candidate]:
    """Yield the features of all bags at every pair of scales and every noise size."""
    for lower, params, scale in _at_scales(first, "scale_factor", factors, bags):
        clean = np.asarray(lower.fit_transform(bags), dtype=np.float64)
        lower.set_params(**scale)
        for noise_param, fitted, judged in _with_noise(lower, bags, clean, noise):
            if second is None:
                yield Candidate(lower, None, params | noise_param, fitted, judged)
                continue
            for upper, upper_params, scale in _at_scales(second, "second_scale_factor", second_factors, clean):
                upper.fit(clean).set_params(**scale)
                copies = _transformed(upper, fitted)
                others = copies if judged is fitted else _transformed(upper, judged)
                yield Candidate(lower, upper, params | upper_params | noise_param, copies, others)


def _transformed(transformer: Any, copies: Floats) -> Floats:
    return np.stack([np.asarray(transformer.transform(copy)) for copy in copies])


def _with_noise(
    first: Any, bags: Bags, clean: Floats, noise: SearchNoise | None
) -> Iterator[tuple[dict[str, float], Floats, Floats]]:
    """Yield copies of the features to fit on, with noise of each size, and copies to judge by."""
    if noise is None:
        alone = clean[None]
        yield {}, alone, alone
        return
    judged = np.stack(noise.copies(first, bags, _JUDGED_COPIES, *noise.target, part=0))
    for size in noise.sizes:
        noisy = noise.copies(first, bags, _NOISY_COPIES, 0.0, size, part=1) if size > 0 else []
        yield {"noise_level": size}, np.stack([clean, *noisy]), judged


def _at_scales(
    transformer: Any, name: str, factors: Sequence[float], rows: Any
) -> Iterator[tuple[Any, dict[str, float], dict[str, Any]]]:
    """Yield copies of a transformer, one for each scale; a single copy of what has no scale.

    A median scale is measured once for all copies. With each come its scale by name, and what to set back when it is
    fitted.
    """
    if "scale_factor" not in transformer.get_params():
        yield clone(transformer), {}, {}
        return
    measured: dict[str, Any] = {}
    if isinstance(transformer, FourierFeatures | PhaseFeatures):
        measured = transformer.measured_scale(rows)
    before = {param: transformer.get_params()[param] for param in measured}
    for factor in checked_numbers(f"{name}s", factors, least=np.finfo(np.float64).tiny).tolist():
        yield clone(transformer).set_params(scale_factor=factor, **measured), {name: factor}, before


def search_results(tried: list[Candidate], alphas: Floats) -> dict[str, Any]:
    """Return what was tried, as scikit-learn's searches have it."""
    params = [candidate.params | {"alpha": float(alpha)} for candidate in tried for alpha in alphas]
    scores = -np.concatenate([candidate.errors for candidate in tried], axis=1)
    mean = scores.mean(axis=0)
    return {
        "params": params,
        **{f"param_{name}": np.array([values[name] for values in params]) for name in params[0]},
        **{f"split{number}_test_score": of_split for number, of_split in enumerate(scores)},
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": 1 + np.argsort(np.argsort(-mean, kind="stable"), kind="stable"),
    }


def checked_numbers(name: str, values: Any, least: float = 0.0) -> Floats:
    """Return one or more finite numbers, none below `least`, as an array."""
    numbers = np.atleast_1d(as_real_array(values, name)).astype(np.float64)
    if numbers.ndim != 1 or len(numbers) == 0 or not (np.isfinite(numbers).all() and (numbers >= least).all()):
        wanted = "not negative" if least == 0 else "positive"
        raise ValueError(f"{name} must be one or more finite numbers that are {wanted}; got {values!r}")
    return numbers
