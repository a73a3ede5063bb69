"""What scikit-learn estimators of bags read: bags or vectors, with the columns of fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from uptonoise.bags import Bags
from uptonoise.rows import Columns, RowSource, aligned, as_rows, is_series, is_tensor, numbered_columns, read_rows

_NAMES_SHOWN = 8


@dataclass
class FittedColumns:
    """The columns that an estimator was fitted on, for matching and for messages."""

    columns: tuple[str, ...]
    named: bool
    name: str = "the data of fit"


def fitted_columns(estimator: Any) -> FittedColumns:
    """Return the columns of a fitted estimator."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return FittedColumns(numbered_columns(estimator.n_features_in_), named=False)
    return FittedColumns(tuple(names), named=True)


def remember_columns(estimator: Any, fitted: Columns) -> None:
    """Let an estimator know the columns that it is fitted on, as scikit-learn's do."""
    estimator.n_features_in_ = len(fitted.columns)
    if fitted.named:
        estimator.feature_names_in_ = np.array(fitted.columns, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def bag_source(X: Any, estimator: Any, fitted: FittedColumns | None = None) -> RowSource:
    """Return the rows of bags, or of vectors as one sample, with the columns of fit, or their own, in their order.

    Numbers without a second axis could be either bags or vectors, and are refused.
    """
    if isinstance(X, list | tuple) and len(X) == 0:
        raise ValueError("X is empty; at least one bag is needed")
    is_array = isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray)  # whose mask would be dropped
    if is_array and X.ndim != 3 and not _is_array_of_arrays(X):
        X = check_array(X, dtype="numeric", ensure_all_finite=False, input_name="X", estimator=estimator)
    source = as_rows(X)
    if source.bag_ids is None:
        if isinstance(X, list | tuple):
            has_one_axis = np.ndim(X[0]) == 0
        else:
            has_one_axis = X.ndim == 1 if isinstance(X, np.ndarray) or is_tensor(X) else is_series(X)
        if has_one_axis:
            raise ValueError(
                "X must be bags (a Bags, a list of arrays, a 3-D array), or vectors in 2 dimensions; got one "
                "dimension. Give [X] for one bag of one column, or reshape it to one column for bags of one row each"
            )
    if fitted is None:
        return source
    if len(source.columns) != len(fitted.columns):
        own, theirs = (
            ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
            for names in (source.columns, fitted.columns)
        )
        names = f": it has {own}, and fit had {theirs}" if fitted.named else ""
        raise ValueError(  # in the words that scikit-learn's checks look for
            f"X has {len(source.columns)} features, but {type(estimator).__name__} is expecting {len(fitted.columns)} "
            f"features as input{names}"
        )
    return aligned(source, fitted)


def _is_array_of_arrays(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype == object


def bags_of(source: RowSource) -> Bags:
    """Return the bags of a source in memory; rows that are in no bag are bags of one row."""
    return Bags(read_rows(source)[:, None]) if source.bag_ids is None else Bags.from_rows(source)


def as_bags(X: Any) -> Bags:
    """Return bags in memory."""
    return X if isinstance(X, Bags) else Bags(X)


def bags_in_memory(X: Any) -> Bags:
    """Return bags in memory for models, which refuse tables: these could be one bag, or many bags of one row."""
    refuse_tables(X)
    return Bags.from_rows(X) if isinstance(X, RowSource) else as_bags(X)


def refuse_tables(X: Any) -> None:
    """Raise where models of bags are given a table."""
    if isinstance(X, Bags | RowSource | list | tuple | dict) or _is_array_of_arrays(X):
        return
    if getattr(X, "ndim", 3) != 3:
        raise ValueError(
            f"X must be bags: a Bags, a list of arrays or a 3-D array; got a table of shape {tuple(X.shape)}. Give [X] "
            "for one bag, or Bags.from_long(X, by=...) for a table with a column of ids"
        )


def matched_bags(X: Any, estimator: Any) -> Bags:
    """Return bags in memory with the columns of fit of a fitted estimator, in the order of fit."""
    check_is_fitted(estimator)
    bags = bags_in_memory(X)
    source = bag_source(bags, estimator, fitted_columns(estimator))
    return bags if source.columns == bags.columns else Bags.from_rows(source)
