"""What transformers of bags share: reading bags or vectors, and matching their columns with those of fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from uptonoise.learning.docs import described
from uptonoise.learning.inputs import bag_source, fitted_columns, remember_columns
from uptonoise.rows import RowSource


class BagTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A transformer of bags; a subclass says what it learns from rows and what it makes of them."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    @described
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of the bags.

        {bags_to_fit}
        self
        """
        source = bag_source(X, self)
        remember_columns(self, source)
        self._fit_rows(source)
        return self

    @described
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from the rows of the bags, and return the same bags transformed.

        {bags_to_fit}
        array of shape (n_bags, n_features_out), or as :meth:`transform` returns it
        """
        source = bag_source(X, self)
        remember_columns(self, source)
        return self._fit_transform_rows(source, X)

    @described
    def transform(self, X: Any) -> Any:
        """Return the bags transformed, in their order.

        Columns are matched by name where both the bags and those of fit have names.

        Parameters
        ----------
        {bags_or_vectors}

        Returns
        -------
        array of shape (n_bags, n_features_out); of a RowTransformer: Bags, a RowSource, or an array of rows
        """
        return self._transform_rows(self.fitted_rows(X), X)

    def fitted_rows(self, X: Any) -> RowSource:
        """Return the rows to transform, with the columns of fit in the order of fit."""
        check_is_fitted(self)
        return bag_source(X, self, fitted_columns(self))

    @abstractmethod
    def _fit_rows(self, source: RowSource) -> None:
        """Learn from rows."""

    @abstractmethod
    def _transform_rows(self, source: RowSource, X: Any) -> Any:
        """Return what becomes of rows, which came as `X`."""

    def _fit_transform_rows(self, source: RowSource, X: Any) -> Any:
        if not source.can_be_read_again:
            raise ValueError(
                "X is read to fit and again to transform, and an iterator can be read once; call fit and "
                "transform, each with its own"
            )
        self._fit_rows(source)
        return self._transform_rows(source, X)
