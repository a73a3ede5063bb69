"""scikit-learn's estimator checks: those that hold, and each exception with its reason (docs/prediction.md has them).

The checks know tables only. Transformers take the rows of a table as bags of one row. Models refuse a table, and say so
by their tag: here an adapter gives them its rows as bags of one row.
"""

from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import uptonoise as un


def as_bags(X):
    values = np.asarray(X)
    return values[:, None] if values.ndim == 2 else X


class OnRows:
    """Rows of a table as bags of one row."""

    def fit(self, X, y=None, groups=None):
        return super().fit(as_bags(X), y, groups)

    def predict(self, X):
        return super().predict(as_bags(X))

    def score(self, X, y=None, sample_weight=None):
        return super().score(as_bags(X), y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class RowsRegressor(OnRows, un.BagRegressor):
    """The regressor, for tables."""


class RowsClassifier(OnRows, un.BagClassifier):
    """The classifier, for tables."""

    def predict_proba(self, X):
        return super().predict_proba(as_bags(X))


FAST = {"noise": "as in training", "n_frequencies": 2, "cv": 2, "random_state": 0}
EXCEPTIONS = {
    "check_complex_data": "complex numbers are refused in our words, which name the bag",
    "check_dtype_object": "rows must hold numbers: objects are refused, also where each is a number",
    "check_estimators_empty_data_messages": "bags without a column are refused in our words",
    "check_estimator_sparse_tag": "sparse matrices are tables, which are refused in our words",
    "check_estimator_sparse_array": "the same",
    "check_estimator_sparse_matrix": "the same",
    "check_supervised_y_2d": "y must have one axis: a table of targets would be several models",
    "check_fit2d_predict1d": "numbers without a second axis are refused with advice on bags, not on reshape",
}


def exceptions(estimator):
    return EXCEPTIONS if isinstance(estimator, OnRows) else {}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [un.BagSummary(n_frequencies=2, random_state=0), un.NoiseAugmented(un.PhaseFeatures(2, random_state=0))],
)
def test_transformers(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([RowsRegressor(**FAST), RowsClassifier(**FAST)], expected_failed_checks=exceptions)
def test_models(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", [un.BagRegressor(), un.BagClassifier()])
def test_models_say_that_they_refuse_tables(model):
    assert not get_tags(model).input_tags.two_d_array
    assert get_tags(model).input_tags.three_d_array


def test_the_page_lists_each_exception():
    page = Path(__file__).parents[2].joinpath("docs", "prediction.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in EXCEPTIONS)
