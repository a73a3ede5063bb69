"""Warnings name the line of the caller, not one inside of the package."""

import numpy as np
import pytest

import uptonoise as un


@pytest.fixture
def coded(rng):
    rows = rng.normal(13.0, 1.0, size=(200, 1))
    rows[3] = -999.0
    return rows


@pytest.mark.parametrize("test", [un.compare, un.phase_test, un.mmd_test])
def test_a_warning_of_codes_points_at_the_call(rng, coded, test):
    with pytest.warns(un.SuspiciousValuesWarning) as caught:
        test(coded, rng.normal(13.0, 1.0, size=(200, 1)))
    assert {warning.filename for warning in caught} == {__file__}


def test_a_warning_of_dependent_rows_points_at_the_call(rng):
    walk = np.cumsum(rng.normal(size=(2, 400, 1)), axis=1)
    with pytest.warns(un.DependentRowsWarning) as caught:
        un.compare(*walk)
    assert {warning.filename for warning in caught} == {__file__}
