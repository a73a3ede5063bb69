"""Priors as users have them: distributions of scipy, a dict of named distributions, or a function that samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from uptonoise._util.typing import Floats
from uptonoise._util.wording import counted
from uptonoise.rows import as_real_array


class Prior(NamedTuple):
    """The distribution of parameters, with their names and the interval that each must be in."""

    names: tuple[str, ...]
    low: Floats
    high: Floats
    sampler: Callable[[int, np.random.Generator], Any]

    @classmethod
    def of(cls, prior: Any) -> Prior:
        """Return the prior in this form; a few draws check that it works."""
        if isinstance(prior, Mapping):
            return _named_prior(prior)
        if _is_distribution(prior):
            low, high = _support(prior)
            draw: Callable[[int, np.random.Generator], Any] = partial(_draws, prior)
        elif callable(prior) and not isinstance(prior, type) and not hasattr(prior, "freeze"):
            low, high, draw = -np.inf, np.inf, prior
        else:
            raise ValueError(
                "prior must be a frozen distribution of scipy, a dict of named ones, or a function prior(n, rng); "
                f"got a {type(prior).__name__}"
            )
        probe = draw(2, np.random.default_rng(0)) if draw is prior else _tried(draw, "prior")
        if isinstance(probe, Mapping):
            names = tuple(str(name) for name in probe)
        else:
            draws = as_real_array(probe, "a draw from prior")
            width = 1 if draws.ndim < 2 else draws.shape[-1]
            names = ("theta",) if width == 1 else tuple(f"theta{number}" for number in range(width))
        made = cls(names, np.full(len(names), low), np.full(len(names), high), draw)
        made.draw(2, np.random.default_rng(0))
        return made

    def draw(self, n: int, generator: np.random.Generator) -> Floats:
        """Return n draws of shape (n, p), or raise where they are not what parameters can be."""
        raw = self.sampler(n, generator)
        if isinstance(raw, Mapping):
            if tuple(map(str, raw)) != self.names:
                raise ValueError(f"prior must return the parameters {list(self.names)}; got {list(raw)}")
            raw = np.column_stack([as_real_array(values, f"prior[{name!r}]") for name, values in raw.items()])
        values = as_real_array(raw, "a draw from prior").astype(np.float64)
        p = len(self.names)
        if values.size != n * p or (values.ndim > 1 and n > 1 and values.shape[0] != n):
            wanted = counted(p, "parameter")
            raise ValueError(f"prior must return {n} draws of {wanted}; got an array of shape {values.shape}")
        values = values.reshape(n, p)
        bad = ~(np.isfinite(values) & (values >= self.low) & (values <= self.high))
        if bad.any():
            draw, place = np.argwhere(bad)[0]
            raise ValueError(
                f"prior must give finite numbers within its support, {self.low[place]:g} to {self.high[place]:g} for "
                f"{self.names[place]}; got {values[draw, place]:g}"
            )
        return values

    def in_words(self, theta: Floats) -> str:
        """Return one draw of parameters in words."""
        return ", ".join(f"{name} = {value:.6g}" for name, value in zip(self.names, theta, strict=True))


def _draws(distribution: Any, n: int, generator: np.random.Generator) -> Any:
    """Return draws from a distribution of scipy, of the older or of the newer kind."""
    if hasattr(distribution, "rvs"):
        return distribution.rvs(size=n, random_state=generator)
    return distribution.sample(n, rng=generator)


def _named_draws(distributions: list[Any], n: int, generator: np.random.Generator) -> Any:
    """Return draws from several distributions, one column each."""
    return np.column_stack([np.reshape(_draws(one, n, generator), n) for one in distributions])


def _named_prior(prior: Mapping[Any, Any]) -> Prior:
    if not prior:
        raise ValueError("prior must have at least one named distribution; got none")
    for name, distribution in prior.items():
        if not isinstance(name, str) or not _is_distribution(distribution):
            kind = type(distribution).__name__
            raise ValueError(f"prior must have a name and a frozen distribution of scipy each; got {name!r}: a {kind}")
        if np.size(_tried(partial(_draws, distribution), f"prior[{name!r}]")) != 2:
            raise ValueError(
                f"prior[{name!r}] must be of one number; give a distribution of several numbers without names"
            )
    low, high = np.array([_support(distribution) for distribution in prior.values()], dtype=np.float64).T
    made = Prior(tuple(prior), low, high, partial(_named_draws, list(prior.values())))
    made.draw(2, np.random.default_rng(0))
    return made


def _is_distribution(prior: Any) -> bool:
    """Tell frozen distributions from classes and from families such as ``scipy.stats.norm``, which must be frozen."""
    if isinstance(prior, type) or hasattr(prior, "freeze"):
        return False
    return hasattr(prior, "rvs") or (hasattr(prior, "sample") and hasattr(prior, "support"))


def _tried(draw: Callable[[int, np.random.Generator], Any], name: str) -> Any:
    try:
        return draw(2, np.random.default_rng(0))
    except ValueError as error:
        raise ValueError(f"{name} cannot be sampled, as its parameters are outside their domain: {error}") from None


def _support(distribution: Any) -> tuple[float, float]:
    if not hasattr(distribution, "support"):
        return -np.inf, np.inf
    low, high = distribution.support()
    return (float(low), float(high)) if np.ndim(low) == 0 and low <= high else (-np.inf, np.inf)
