"""What is read from a sketch: its size, and characteristic function, mean and covariance about any centre."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uptonoise._util.typing import Complex, Floats, Precision
from uptonoise._util.validation import checked_choice
from uptonoise._util.wording import counted
from uptonoise.fourier.cluster_pass import NO_CLUSTERS, SketchClusters
from uptonoise.fourier.cosine_sine import as_complex
from uptonoise.fourier.frequencies import as_frequencies
from uptonoise.fourier.moments import Moments
from uptonoise.fourier.provenance import Provenance
from uptonoise.rows import as_column_names, as_real_array, check_same_columns, numbered_columns

_ADVICE = "Make one of them with Sketch.like(the other), so that both have the same frequencies and columns"


class SketchStatistics:
    """The statistics of a sketch: moments of rows minus a centre, at frequencies, with the names of the columns."""

    name: str = "the sketch"
    provenance: Provenance | None
    precision: Any
    columns: tuple[str, ...]
    named: bool
    frequencies: Floats
    """The frequencies, of shape (m, d); read-only."""
    n_frequencies: int
    """The number of frequencies, m."""
    n_columns: int
    """The number of columns of the rows, d."""
    n_rows: int
    """The number of rows."""
    n_clusters: int | None
    """The number of clusters; None where rows came without."""
    is_clustered: bool
    """Whether the rows came in clusters."""
    weight: float
    """The sum of the weights; the number of rows where there were none."""
    weight_squares: float
    """The sum of the squared weights of rows, or of clusters."""
    effective_size: float
    """The number of equally weighted rows, or clusters, that would give the mean the same variance."""
    blocks: dict[str, slice]
    """The named blocks of frequencies, which tests look at one by one; a single block where none were named."""
    centre: Floats | None
    """What was subtracted from the rows; None before the first rows."""
    _centre: Floats | None
    _centre_is_given: bool
    _ended: Moments  # of rows, or of clusters that get no more rows
    _clusters: SketchClusters
    _whole: Moments | None  # of all rows, once somebody has asked for them
    _lock: Any  # of the thread that adds rows; it stays where it is

    def __init__(
        self,
        frequencies: Any,
        *,
        columns: Sequence[str] | None = None,
        centre: ArrayLike | None = None,
        provenance: Provenance | None = None,
        precision: Precision = "fast",
    ) -> None:
        self.frequencies = as_frequencies(frequencies)
        self.frequencies.flags.writeable = False
        self.n_frequencies, self.n_columns = self.frequencies.shape
        known = getattr(frequencies, "provenance", None) if provenance is None else provenance
        try:
            self.provenance = json.loads(json.dumps(known))  # a copy, as files give it back
        except (TypeError, ValueError) as error:
            raise ValueError(f"provenance must be a dict that JSON can hold; {error}") from None
        if not isinstance(self.provenance, dict | None):
            raise ValueError(f"provenance must be a dict; got {known!r}")
        blocks = (self.provenance or {}).get("blocks", {"all frequencies": [0, self.n_frequencies]})
        if not isinstance(blocks, dict) or not blocks:
            raise ValueError(f"provenance['blocks'] must name at least one block of frequencies; got {blocks!r}")
        for name, place in blocks.items():
            is_place = isinstance(place, list) and len(place) == 2 and all(type(end) is int for end in place)
            if not is_place or not 0 <= place[0] < place[1] <= self.n_frequencies:
                raise ValueError(
                    f"provenance['blocks'] must have a start and a stop within {self.n_frequencies} frequencies for "
                    f"each block; got {place!r} for {name!r}"
                )
        self.precision = checked_choice(precision, get_args(Precision), "precision")
        self.named = columns is not None
        names = numbered_columns(self.n_columns) if columns is None else columns
        self.columns = as_column_names(names, "columns", self.n_columns)
        self._centre_is_given = centre is not None
        given = None if centre is None else checked_centre(centre, self.n_columns)
        width = 2 * self.n_frequencies
        self._hold(Moments(0, 0.0, 0.0, np.zeros(width), np.zeros((width, width))), given)
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    def __copy__(self) -> Self:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__, provenance=deepcopy(self.provenance), _lock=threading.RLock())
        return new

    def _hold(self, ended: Moments, centre: Floats | None, clusters: SketchClusters = NO_CLUSTERS) -> Self:
        """Hold these moments in place of those before, and return this sketch."""
        self._ended, self._centre, self._clusters, more = ended, centre, clusters, clusters.open
        self.centre = None if centre is None else centre.copy()  # whoever changes it does not change the sketch
        blocks = (self.provenance or {}).get("blocks", {"all frequencies": (0, self.n_frequencies)})
        self.blocks = {name: slice(start, stop) for name, (start, stop) in blocks.items()}
        self._whole = ended if more is None else None  # those of clusters that may get more rows take long
        self.is_clustered = ended.cross is not None or more is not None
        self.n_rows = ended.n_rows + (0 if more is None else int(more.counts.sum()))
        n_clusters = ended.n_clusters + (0 if more is None else int(np.count_nonzero(more.weight)))
        self.n_clusters = n_clusters if self.is_clustered else None
        self.weight = ended.weight + (0.0 if more is None else float(more.weight.sum()))
        self.weight_squares = ended.weight_squares + (0.0 if more is None else float(more.weight @ more.weight))
        self.effective_size = self.weight**2 / self.weight_squares if self.weight else 0.0
        return self

    def check_comparable(self, other: Any) -> None:
        """Raise where another sketch has other frequencies or columns."""
        if not isinstance(other, SketchStatistics):
            raise ValueError(f"other must be a Sketch; got {type(other).__name__}")
        if not np.array_equal(self.frequencies, other.frequencies):
            raise ValueError(
                f"the sketches have different frequencies: {self.n_frequencies} in {counted(self.n_columns, 'column')} "
                f"and {other.n_frequencies} in {other.n_columns}"
                + (" with other values" if self.frequencies.shape == other.frequencies.shape else "")
                + f". {_ADVICE}"
            )
        if self.columns != other.columns:
            check_same_columns(other, self)
            if self.named and other.named:
                raise ValueError(
                    f"the sketches have their columns in different orders: {list(self.columns)} and "
                    f"{list(other.columns)}. {_ADVICE}"
                )

    def _wrong_clusters(self, name: str) -> ValueError:
        """Return the error for rows with clusters where those of the sketch came without, or the other way round."""
        came, wanted = ("without", "with") if self.is_clustered else ("with", "without")
        return ValueError(f"{name} must come {wanted} clusters, as the rows of the sketch did; got it {came} them")

    @property
    def cluster_hashes(self) -> NDArray[np.uint64]:
        """Sorted 64-bit hashes of the ids of clusters; none of clusters whose ids mean nothing in another sample."""
        return self._clusters.hashes

    @property
    def independent_rows(self) -> float:
        """How many independent rows would give the characteristic function the same sampling error, over frequencies.

        Without clusters that is the effective size. With clusters it lies between their number, where the rows of a
        cluster are all alike, and the number of rows, where they differ as much as those of different clusters.
        """
        if not self.is_clustered or self.effective_size < 1 + 1e-9:
            return self.effective_size
        mean, covariance = self.moments_about(np.asarray(self._centre))
        of_rows = float(np.sum(1 - np.abs(as_complex(mean)) ** 2))
        of_mean = float(np.trace(covariance)) / self.effective_size
        return float(min(self.n_rows, of_rows / of_mean)) if of_mean > 0 else float(self.n_rows)

    @property
    def ecf(self) -> Complex:
        """The characteristic function at the frequencies, of shape (m,)."""
        return as_complex(self.mean)

    @property
    def mean(self) -> Floats:
        """The mean of [cos(w.x), sin(w.x)], of shape (2m,): all cosines, then all sines."""
        return self.mean_about(np.zeros(self.n_columns))

    @property
    def covariance(self) -> Floats:
        """The covariance of [cos(w.x), sin(w.x)] over rows, of shape (2m, 2m)."""
        return self.covariance_about(np.zeros(self.n_columns))

    def mean_about(self, centre: ArrayLike) -> Floats:
        """Return the mean of [cos(w.(x - centre)), sin(w.(x - centre))].

        Examples
        --------
        >>> import uptonoise as un
        >>> un.Sketch([[1.0]]).update([1e9, 1e9 + 2]).mean_about([1e9 + 1]).round(6)
        array([0.540302, 0.      ])
        """
        if self.n_rows < 1:
            raise ValueError("the sketch must have at least 1 row for a mean; it has 0")
        return self._moments_about(centre).mean

    def covariance_about(self, centre: ArrayLike) -> Floats:
        """Return the covariance of [cos(w.(x - centre)), sin(w.(x - centre))] over rows."""
        return self.moments_about(centre)[1]

    def moments_about(self, centre: ArrayLike, block: slice | None = None) -> tuple[Floats, Floats]:
        """Return mean and covariance about a centre together, at all frequencies or at a block of them.

        Examples
        --------
        >>> import uptonoise as un
        >>> sketch = un.Sketch([[1.0], [2.0]]).update([0.5, 1.0, 3.0])
        >>> [moment.shape for moment in sketch.moments_about([1.0], slice(0, 1))]
        [(2,), (2, 2)]
        """
        if self.n_rows < 2:
            raise ValueError(f"the sketch must have at least 2 rows for a covariance; it has {self.n_rows}")
        moments = self._moments_about(centre, block)
        total, squares = moments.weight, moments.weight_squares
        if total**2 <= (1 + 1e-12) * squares:
            units = "cluster" if self.is_clustered else "row"
            raise ValueError(f"the sketch has an effective size of 1 {units}; a covariance needs 2")
        if not self.is_clustered:
            return moments.mean, moments.scatter / (total - squares / total)
        # Over clusters it is the effective size times that of the mean; no product of large weights overflows.
        return moments.mean, moments.scatter / squares / (1 - squares / total / total)

    def features_about(self, centre: ArrayLike) -> Complex | None:
        """Return exp(i w.(x - centre)) of every row, of shape (n, m), where rows are few and were not read from a file.

        Examples
        --------
        >>> import uptonoise as un
        >>> un.Sketch([[1.0], [2.0]]).update([0.5, 1.0, 3.0]).features_about([1.0]).shape
        (3, 2)
        """
        if self._moments_about().features is None:
            return None
        features = self._moments_about(centre).features
        return None if features is None else as_complex(features)

    def _moments_about(self, centre: ArrayLike | None = None, kept: slice | NDArray[np.intp] | None = None) -> Moments:
        """Return the moments of rows minus a centre, or minus their own; at all frequencies or at those to be kept."""
        if self._whole is None and self._clusters.open is not None:
            self._whole = self._ended + self._clusters.open.moments
        moments, frequencies = self._whole or self._ended, self.frequencies
        if kept is not None and len(frequencies[kept]) < len(frequencies):
            numbers, frequencies = np.arange(len(frequencies))[kept], frequencies[kept]
            places = np.concatenate([numbers, self.n_frequencies + numbers])  # of cosines, and of sines
            moments = replace(
                moments,
                mean=moments.mean[places],
                scatter=moments.scatter[np.ix_(places, places)],
                cross=None if moments.cross is None else moments.cross[places],
                features=None if moments.features is None else moments.features[:, places],
            )
        other = None if centre is None else checked_centre(centre, self.n_columns)
        if self._centre is None or other is None:
            return moments
        return moments.recentred(frequencies, self._centre, other)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SketchStatistics):
            return NotImplemented
        known, others = (
            (sketch.columns, sketch.provenance, sketch.n_rows, sketch.n_clusters, sketch.weight, sketch.weight_squares)
            for sketch in (self, other)
        )
        arrays = (
            (sketch.frequencies, sketch._centre, moments.mean, moments.scatter)
            for sketch, moments in ((self, self._moments_about()), (other, other._moments_about()))
        )
        return known == others and all(map(np.array_equal, *arrays))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = ", ".join(self.columns[:5]) + (", ..." if self.n_columns > 5 else "")
        frequencies = "1 frequency" if self.n_frequencies == 1 else f"{self.n_frequencies:,} frequencies"
        clusters = "" if self.n_clusters is None else f" in {counted(self.n_clusters, 'cluster')}"
        columns = counted(self.n_columns, "column")
        return f"Sketch({counted(self.n_rows, 'row')}{clusters}, {frequencies}, {columns}: {names})"


def checked_centre(centre: ArrayLike, n_columns: int) -> Floats:
    """Return a centre as float64, or raise where it is not one finite number for each column."""
    array = as_real_array(centre, "centre").astype(np.float64)
    if array.shape != (n_columns,) or not np.isfinite(array).all():
        raise ValueError(f"centre must be {n_columns} finite numbers, one for each column; got {centre!r}")
    return array
