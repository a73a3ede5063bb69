"""The mean-embedding (ME) test: whether two samples differ in the means of a few Gaussian bumps.

Jitkrittum, Szabo, Chwialkowski and Gretton (2016). Where the bumps lie and how wide they are is learnt on a part of
the rows; the others give the p-value, so that, given the bumps, it is a Hotelling test. It sees every difference,
noise too; on paired differences it is the paper's SME.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice, checked_number, positive_int
from uptonoise.twosample.canonical import canonical
from uptonoise.twosample.docs import explained
from uptonoise.twosample.paper.gradient_ascent import ascend_bumps
from uptonoise.twosample.paper.hotelling import Null, clustered_hotelling_test, hotelling_test
from uptonoise.twosample.paper.locations import learn_bumps
from uptonoise.twosample.result import TwoSampleResult
from uptonoise.twosample.samples import Samples, read_samples

Optimizer = Literal["penalised", "gradient"]

_ENOUGH_TO_LEARN = 20_000
_MOST_LOCATIONS = 1_000
_LEARNERS = {"penalised": learn_bumps, "gradient": ascend_bumps}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MeResult(TwoSampleResult):
    """The outcome of :func:`me_test`.

    Attributes
    ----------
    locations : array of shape (n_locations, d)
        The centres of the bumps, in the data's units. They may lie outside of the data: then a bump weighs the rows in
        a tail.
    widths : array of shape (d,)
        The width of the bumps in each column, in the data's units.
    contributions : array of shape (n_locations,)
        What each bump adds to the statistic; they sum to it.
    regions : array of shape (n_locations, d)
        Where in the data each bump looks: the mean of the held-out rows, weighted by it.
    differences : array of shape (n_locations,)
        The mean of each bump over X minus that over Y: where it is positive, X has more rows there.
    n_train : tuple of int
        The numbers of rows of X and Y that the bumps were learnt on.
    """

    test: ClassVar[str] = "ME test"

    locations: Floats
    widths: Floats
    contributions: Floats
    regions: Floats
    differences: Floats
    n_train: tuple[int, int]

    def _more(self) -> list[str]:
        most = int(np.argmax(self.contributions))
        place = ", ".join(
            f"{column} = {value:.3g}" for column, value in list(zip(self.columns, self.regions[most], strict=True))[:6]
        ) + (", ..." if len(self.columns) > 6 else "")
        more = "X" if self.differences[most] > 0 else "Y"
        return [
            f"{len(self.locations)} locations learnt on {self.n_train[0]:,} and {self.n_train[1]:,} rows",
            f"largest contribution {self.contributions[most]:.3g}, where {more} has more rows: {place}",
        ]


@explained
def me_test(
    X: Any,
    Y: Any,
    *,
    n_locations: int = 10,
    train_size: float = 0.2,
    optimizer: Optimizer = "penalised",
    null: Null = "f",
    clusters: Any = None,
    random_state: RandomState = 0,
) -> MeResult:
    """Test whether two samples differ at all, by the means of Gaussian bumps whose places are learnt, and show where.

    Null hypothesis: X and Y have the same distribution, noise included.

    Parameters
    ----------
    X, Y : array, frame, or RowSource
        The two samples, without weights; they are read into memory.
    n_locations : int
        The number of bumps, J.
    train_size : float
        The share of each sample that the bumps are learnt on, between 0 and 1; at most 20,000 rows.
    optimizer : {"penalised", "gradient"}
        How bumps are learnt: "penalised" takes a few steps, held back by penalties, which has more power; "gradient" is
        the original of Jitkrittum et al. (2016), up to a maximum of the power on the rows to learn from.
    null : {"f", "chi2"}
        Hotelling's F distribution, or its limit for many rows as in the paper, which rejects too often for few.
    clusters : pair of arrays, or str, optional
        Which rows belong together, as for :func:`phase_test`. Whole clusters are held out, and T^2 has the covariance
        of clusters; with few clusters it looks at the few directions that vary most.
    random_state : None, int, Generator or RandomState
        The seed of the split and of the first locations.

    Returns
    -------
    MeResult

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(500, 2)), rng.normal(size=(400, 2)) * [1, 2]
    >>> result = un.me_test(X, Y, random_state=0)
    >>> result.pvalue < 0.01, result.locations.shape
    (True, (10, 2))
    """
    J = positive_int(n_locations, "n_locations", most=_MOST_LOCATIONS)
    checked_choice(optimizer, _LEARNERS, "optimizer")
    checked_choice(null, get_args(Null), "null")
    checked_number(train_size, "train_size", above=True, most=1.0)
    samples = read_samples(X, Y, needed=4, why="the ME test (2 to learn from and 2 to test)", clusters=clusters)
    if samples.clusters is not None and null != "f":
        raise ValueError(f'null must be "f" where rows come in clusters; got {null!r}')
    generator, seed = seeded_generator(random_state)
    return me_of_samples(samples, generator, J, train_size, null, optimizer, seed)


def me_of_samples(
    samples: Samples,
    generator: np.random.Generator,
    n_locations: int = 10,
    train_size: float = 0.2,
    null: Null = "f",
    optimizer: Optimizer = "penalised",
    seed: int | None = None,
) -> MeResult:
    """Learn bumps on a part of the rows, and test on the others."""
    # How many rows or clusters of a sample of each size the bumps are learnt on.
    n_train = {size: min(max(2, round(train_size * size)), size - 2, _ENOUGH_TO_LEARN) for size in samples.n_units}
    if samples.clusters is None:
        n, k = (size - n_train[size] for size in samples.sizes)
        if n + k < n_locations + 3:
            raise ValueError(
                f"X and Y must have at least {n_locations + 3} rows together beside those that {n_locations} locations "
                f"are learnt on; train_size={train_size:g} leaves {n} of X and {k} of Y. Give more rows, or a smaller "
                "n_locations or train_size"
            )
    own = canonical(samples, keep_units=False)
    rows, clusters = (own.samples.X, own.samples.Y), own.samples.clusters
    train, test = [], []  # places in X and in Y
    for sample, size in enumerate(own.samples.n_units):
        order = generator.permutation(size)
        parts = [order[: n_train[size]], order[n_train[size] :]]
        if clusters is not None:  # which stay whole
            parts = [np.flatnonzero(np.isin(clusters[sample], part)) for part in parts]
        train.append(parts[0])
        test.append(parts[1])
    bumps = _LEARNERS[optimizer](rows[0][train[0]], rows[1][train[1]], n_locations, generator)
    held_out = np.concatenate([rows[0][test[0]], rows[1][test[1]]])
    F, G = bumps.features(rows[0][test[0]]), bumps.features(rows[1][test[1]])
    if clusters is None:
        hotelling = hotelling_test(F, G, null)
    else:
        hotelling = clustered_hotelling_test(F, G, clusters[0][test[0]], clusters[1][test[1]])
    # The mean row under each bump, or its location where it reaches no row.
    features = np.concatenate([F, G])
    weights = features.sum(axis=0)[:, None]
    regions = np.where(weights > 0, (features.T @ held_out) / np.where(weights > 0, weights, 1), bumps.locations)
    first, second = hotelling.freedoms
    sizes = len(train[0]), len(train[1])
    return MeResult(
        statistic=hotelling.statistic,
        pvalue=hotelling.pvalue,
        sizes=samples.sizes,
        columns=samples.columns,
        null=f"F with {first:.3g} and {second:.4g} degrees of freedom"
        if null == "f"
        else f"chi-squared with {first:.3g} degrees of freedom",
        seed=seed,
        n_clusters=samples.n_clusters,
        locations=bumps.locations.take(own.places, axis=-1) * own.units,
        widths=bumps.widths.take(own.places, axis=-1) * own.units,
        contributions=hotelling.contributions,
        regions=regions.take(own.places, axis=-1) * own.units,
        differences=(F.mean(axis=0) - G.mean(axis=0)) * (-1 if own.is_swapped else 1),
        n_train=(sizes[1], sizes[0]) if own.is_swapped else sizes,
    )
