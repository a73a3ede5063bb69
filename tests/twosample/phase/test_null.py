"""The null distribution of the statistic of a block against known ones."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import f

from uptonoise.twosample.phase.bending import Bending
from uptonoise.twosample.phase.statistic import Ridge

SMALL = (0.05, 0.01, 0.001)


def hotelling(p: int, nu: float) -> Ridge:
    """Return p directions without a ridge, whose covariance has nu degrees of freedom."""
    one, none = np.ones(()), np.zeros(())
    return Ridge(
        S=np.zeros(p),
        basis=np.eye(p),
        whitening=np.ones(p),
        variances=np.ones(p),
        covariance=np.eye(p),
        bending=Bending(np.zeros(p), np.zeros(p)),
        parts=((p * one, p * one), (none, none)),
        nu=nu * one,
        own_nu=nu * one,
        fewest=(nu + 1) * one,
        excess=none,
    )


@pytest.mark.parametrize(("p", "nu"), [(1, 20), (1, 60), (4, 30), (8, 40), (20, 60), (20, 200)])
def test_without_a_ridge_it_is_that_of_hotelling(p, nu):
    exact = f(p, nu - p + 1)
    statistics = exact.isf(SMALL) * nu * p / (nu - p + 1)
    block = hotelling(p, nu)
    assert block.null.mean == pytest.approx(nu * p / (nu - p - 1), rel=1e-12)
    assert block.pvalue(statistics) == pytest.approx(SMALL, rel=0.2)


def test_many_rows_make_it_chi_squared():
    block = hotelling(5, 1e7)
    assert block.pvalue(np.array([11.0705, 15.0863, 20.515])) == pytest.approx(SMALL, rel=1e-3)


@pytest.mark.parametrize("level", SMALL)
def test_the_critical_value_has_the_pvalue_that_was_asked_for(level):
    block = hotelling(6, 30)
    assert block.pvalue(block.critical_value(level)) == pytest.approx(level, rel=1e-9)


def test_what_is_borrowed_leaves_the_tail_to_the_own_rows():
    own = hotelling(6, 30)
    borrowed = replace(own, nu=np.asarray(300.0))
    sure = replace(borrowed, own_nu=borrowed.nu)
    assert own.pvalue(40.0) > borrowed.pvalue(40.0) > 5 * sure.pvalue(40.0)
