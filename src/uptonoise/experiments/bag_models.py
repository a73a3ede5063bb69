"""Clean errors of the paper's models on bags, on the stand-ins of its two data sets (Tables 1 and F.2).

The aerosol stand-in by the paper's protocol: 640 bags to fit by 3-fold cross-validation, 160 to test. The dark matter
one: about 9,000 bags to fit, 3,000 to validate and 3,000 to test, lines of sight to one cluster together. Ten splits.
The paper has the real data; these are simulated, with constants that were fixed before any model was compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, GroupShuffleSplit, KFold, PredefinedSplit
from sklearn.preprocessing import StandardScaler

from uptonoise._util.typing import Floats
from uptonoise.bags import Bags
from uptonoise.datasets import make_aerosol_like, make_dark_matter_like
from uptonoise.engines import tensor_bags
from uptonoise.experiments._splits import SplitExperiment, root_mean_square
from uptonoise.fourier import embedding_kernel
from uptonoise.learning import BagRidgeCV, RowTransformer, ggrr, glrr, lgrr, pgrr, plrr

MODELS: dict[str, Callable[..., BagRidgeCV]] = {"plrr": plrr, "glrr": glrr, "lgrr": lgrr, "pgrr": pgrr, "ggrr": ggrr}


class Data(NamedTuple):
    """Bags, their targets, and what must stay together."""

    bags: Bags
    y: Floats
    groups: NDArray[Any] | None = None


class Part(NamedTuple):
    """Bags to fit on (of which some validate, where the protocol has a validation set), and bags to test on."""

    fit: NDArray[np.intp]
    test: NDArray[np.intp]
    validates: NDArray[np.bool_] | None

    @property
    def cv(self) -> Any:
        """How hyperparameters are chosen: by the validation set, or by three folds."""
        return 3 if self.validates is None else PredefinedSplit(np.where(self.validates, 0, -1))


@dataclass(frozen=True)
class Setting:
    """A data set of given sizes and the protocol of its splits."""

    name: str
    make: Callable[..., Any]
    split: Callable[[Data, np.random.Generator], Part]
    sizes: tuple[int, ...] = ()
    exact: bool = False

    def draw(self, seed: int) -> Data:
        """Return the bags of a seed."""
        return Data(*self.make(*self.sizes, random_state=seed))


def by_bag(data: Data, generator: np.random.Generator) -> Part:
    """Return four fifths of the bags to fit on, by three folds, and the others to test on."""
    order = generator.permutation(len(data.bags))
    n_fit = len(order) * 4 // 5
    return Part(order[:n_fit], order[n_fit:], None)


def _by_group(data: Data, generator: np.random.Generator) -> Part:
    seeds = generator.integers(2**31, size=2)
    places = np.arange(len(data.bags))
    fit, test = next(GroupShuffleSplit(1, test_size=0.2, random_state=int(seeds[0])).split(places, groups=data.groups))
    again = GroupShuffleSplit(1, test_size=0.25, random_state=int(seeds[1]))
    _, validating = next(again.split(fit, groups=np.asarray(data.groups)[fit]))
    return Part(fit, test, np.isin(np.arange(len(fit)), validating))


AEROSOL = Setting("aerosol-like", make_aerosol_like, by_bag, exact=True)
DARK_MATTER = Setting("dark-matter-like", make_dark_matter_like, _by_group)
SETTINGS = (AEROSOL, DARK_MATTER)
QUICK_SETTINGS = (replace(AEROSOL, sizes=(100, 20)), replace(DARK_MATTER, sizes=(60, 2)))


def standardised(bags: Bags, fitted_on: NDArray[np.intp]) -> Bags:
    """Return bags with columns in units of the standard deviations of some of them."""
    scaled: Bags = RowTransformer(StandardScaler()).fit(bags[fitted_on]).transform(bags)
    return scaled


def on_gpu(bags: Bags) -> Any:
    """Return bags whose rows are on the GPU, or the bags themselves where torch sees none."""
    try:
        import torch
    except ImportError:
        return bags
    if not torch.cuda.is_available():
        return bags
    return tensor_bags(torch.tensor(bags.values, device="cuda"), bags.offsets)


def _errors(setting: Setting, seed: int, number: int) -> dict[tuple[str], float]:
    """Return the root mean squared error of every model on one split."""
    data = setting.draw(seed)
    part = setting.split(data, np.random.default_rng([seed, number]))
    bags = standardised(data.bags, part.fit)
    y = data.y
    errors = {("mean",): root_mean_square(y[part.test] - y[part.fit].mean())}
    fit, test = on_gpu(bags[part.fit]), on_gpu(bags[part.test])
    for name, make in MODELS.items():
        model = make(cv=part.cv, random_state=number).fit(fit, y[part.fit])
        errors[(name,)] = root_mean_square(y[part.test] - model.predict(test))
    if setting.exact:
        errors[("exact kernel",)] = _exact(bags, y, part, number)
    return errors


def _exact(bags: Bags, y: Floats, part: Part, seed: int) -> float:
    """Return the error of kernel ridge regression on exact mean embeddings with a Gaussian kernel."""
    folds = KFold(3, shuffle=True, random_state=seed)
    centre = y[part.fit].mean()
    alphas = {"alpha": np.geomspace(1e-6, 1e1, 12)}
    best = (np.inf, np.inf)
    for scale in (0.5, 1.0, 2.0, 4.0):
        kernel = embedding_kernel(bags, scale=scale * np.sqrt(bags.n_columns))
        within, across = kernel[np.ix_(part.fit, part.fit)], kernel[np.ix_(part.test, part.fit)]
        search = GridSearchCV(KernelRidge(kernel="precomputed"), alphas, cv=folds, scoring="neg_mean_squared_error")
        search.fit(within, y[part.fit] - centre)
        if -search.best_score_ < best[0]:
            best = -search.best_score_, root_mean_square(y[part.test] - centre - search.predict(across))
    return best[1]


EXPERIMENT = SplitExperiment(
    "bag-models",
    __doc__.splitlines()[0],
    lambda quick: QUICK_SETTINGS if quick else SETTINGS,
    _errors,
    ("model",),
    uses_gpu=True,
)
