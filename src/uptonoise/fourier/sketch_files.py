"""Files of sketches: a header and arrays, in the one format for everything that is saved."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from uptonoise._util.storage import load_archive, save_archive
from uptonoise.fourier.cluster_pass import SketchClusters
from uptonoise.fourier.moments import Moments
from uptonoise.fourier.sketch_statistics import SketchStatistics

AnySketch = TypeVar("AnySketch", bound=SketchStatistics)

_VERSION = 3  # version 1 has "drawn" for "provenance"; versions below 3 have no clusters


def save_sketch(sketch: SketchStatistics, path: str | os.PathLike[str], *, force: bool = True) -> None:
    """Write a sketch, whole or not at all; its clusters have ended then."""
    moments = sketch._moments
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
        return _sketch_of(new, header, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is a damaged sketch: {error}") from None


def _sketch_of(new: Callable[..., AnySketch], header: dict[str, Any], arrays: dict[str, Any]) -> AnySketch:
    sketch = new(
        arrays["frequencies"],
        columns=header["columns"] if header["named"] else None,
        centre=arrays["centre"] if header["n_rows"] else arrays.get("centre"),
        provenance=header.get("provenance", header.get("drawn")),
        precision=header["precision"],
    )
    sketch._centre_is_given = bool(header["centre_is_given"])
    sketch._ended = Moments.checked(header["n_rows"], arrays, sketch.n_frequencies)
    if header.get("n_clusters") is not None:
        sketch._ended = sketch._ended.with_clusters(header["n_clusters"], arrays["cross"])
        sketch._clusters = SketchClusters(None, np.sort(arrays["cluster_hashes"].astype(np.uint64)))
    elif sketch._ended.n_rows:
        sketch._ended.check_rows()
    return sketch
