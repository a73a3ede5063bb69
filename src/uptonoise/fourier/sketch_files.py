"""Files of sketches: a header and arrays, in the one format for everything that is saved."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from uptonoise._util.storage import load_archive, save_archive
from uptonoise._util.wording import counted
from uptonoise.fourier.cluster_pass import NO_CLUSTERS, SketchClusters
from uptonoise.fourier.moments import Moments
from uptonoise.fourier.sketch_statistics import SketchStatistics
from uptonoise.rows import as_real_array

AnySketch = TypeVar("AnySketch", bound=SketchStatistics)

_ROUNDING = 1e-9  # of sums of weights
_DAMAGE = 1e-4  # of a covariance, in units of its largest variance; float32 is good to 1e-6
_VERSION = 3  # version 1 has "drawn" for "provenance"; versions below 3 have no clusters


def save_sketch(sketch: SketchStatistics, path: str | os.PathLike[str], *, force: bool = True) -> None:
    """Write a sketch, whole or not at all; its clusters have ended then."""
    moments = sketch._moments_about()
    header = {
        "columns": list(sketch.columns),
        "named": sketch.named,
        "precision": sketch.precision,
        "provenance": sketch.provenance,
        "n_rows": sketch.n_rows,
        "n_clusters": sketch.n_clusters,
        "centre_is_given": sketch._centre_is_given,
    }
    arrays = {
        "frequencies": sketch.frequencies,
        "weights": np.array([sketch.weight, sketch.weight_squares]),
        "mean": moments.mean,
        "scatter": moments.scatter,
    }
    if moments.cross is not None:
        arrays |= {"cross": moments.cross, "cluster_hashes": sketch.cluster_hashes}
    if sketch.centre is not None:
        arrays["centre"] = sketch.centre
    save_archive(path, "sketch", _VERSION, header, arrays, force=force)


def load_sketch(new: Callable[..., AnySketch], path: str | os.PathLike[str]) -> AnySketch:
    """Read a sketch, of the type that `new` makes, that :func:`save_sketch` wrote; nothing in the file is executed."""
    header, arrays = load_archive(path, "sketch", _VERSION)
    try:
        sketch = new(
            arrays["frequencies"],
            columns=header["columns"] if header["named"] else None,
            centre=arrays["centre"] if header["n_rows"] else arrays.get("centre"),
            provenance=header.get("provenance", header.get("drawn")),
            precision=header["precision"],
        )
        sketch._centre_is_given = bool(header["centre_is_given"])
        moments, clusters = _checked_moments(header, arrays, 2 * sketch.n_frequencies), NO_CLUSTERS
        if moments.cross is not None:
            clusters = SketchClusters(None, np.sort(arrays["cluster_hashes"].astype(np.uint64)))
        return sketch._hold(moments, sketch._centre, clusters)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is a damaged sketch: {error}") from None


def _checked_moments(header: dict[str, Any], arrays: dict[str, Any], width: int) -> Moments:
    """Return moments that were read from a file, or raise where they cannot be those of cosines and sines."""
    names, n_rows, n_clusters = ("weights", "mean", "scatter"), header["n_rows"], header.get("n_clusters")
    weights, mean, scatter = (as_real_array(arrays[name], name).astype(np.float64) for name in names)
    if (weights.shape, mean.shape, scatter.shape) != ((2,), (width,), (width, width)):
        raise ValueError(f"its sums do not have the shape that {width // 2} frequencies need")
    if not all(np.isfinite(array).all() for array in (weights, mean, scatter)):
        raise ValueError("its sums are not finite")
    if type(n_rows) is not int or n_rows < 0 or ((weights > 0) != (n_rows > 0)).any():
        raise ValueError(f"it has {n_rows!r} rows of weight {weights[0]:g}")
    variances = np.diag(scatter)
    largest = float(variances.max(initial=0.0))
    if np.abs(mean).max() > 1 + 1e-6 or not np.array_equal(scatter, scatter.T) or variances.min() < 0:
        raise ValueError("its sums are not those of cosines and sines")
    if largest == 0 and scatter.any():
        raise ValueError("its covariance is none")
    if largest > 0:  # rounding explains no eigenvalue that is more negative than this
        try:
            np.linalg.cholesky(scatter / largest + _DAMAGE * np.eye(width))
        except np.linalg.LinAlgError:
            raise ValueError("its covariance has negative eigenvalues") from None
    cross, count = None, counted(n_rows, "row")
    if n_clusters is not None:
        cross = as_real_array(arrays["cross"], "cross").astype(np.float64)
        is_count = type(n_clusters) is int and 0 <= n_clusters <= n_rows
        if cross.shape != (width,) or not np.isfinite(cross).all() or not is_count:
            raise ValueError(f"its {n_clusters!r} clusters do not fit its rows")
        count = counted(n_clusters, "cluster")
    # So many weights, none of them negative, have this sum and this sum of squares.
    weight, squares = map(float, weights)
    n_weights = n_rows if n_clusters is None else n_clusters
    if squares > (1 + _ROUNDING) * weight * weight or weight * weight > (1 + _ROUNDING) * n_weights * squares:
        raise ValueError(f"its weights are not those of {count}")
    if n_clusters is None and n_rows > 0:
        # The squares of a cosine and its sine sum to 1 in each row.
        expected = weight * (1 - np.sum(mean.reshape(2, -1) ** 2, axis=0))
        if np.abs(variances.reshape(2, -1).sum(axis=0) - expected).max() > _DAMAGE * weight:
            raise ValueError("its sums are not those of cosines and sines")
    return Moments(n_rows, weight, squares, mean, scatter, n_clusters or 0, cross)
