"""From two inputs to a pair of sketches and the rows that some tests need, in at most two passes over each file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.warning import warn
from uptonoise.fourier import FewerFrequenciesWarning, Sketch
from uptonoise.rows import (
    LEAST_CLUSTERS,
    ArrayRows,
    Block,
    Dependence,
    Missing,
    RowSource,
    SharedClustersWarning,
    SourceRecord,
    check_missing,
    find_dependence,
    read_rows,
    some_rows,
    split_name,
    two_clustered,
    without_missing,
)
from uptonoise.twosample import (
    Movable,
    Pair,
    Samples,
    as_sketches,
    categories_of_sketch,
    check_same_clusters,
    check_size,
    check_values,
    check_weights,
    read_samples,
    warn_of_shared_clusters,
)

IN_MEMORY = 100_000  # rows of both samples; beyond, everything takes linear time and bounded memory
_VALUES_IN_MEMORY = 20_000_000  # of all columns of these rows
_SAMPLED_ROWS = 20_000  # rows of each sample, where not all fit
_MOST_COLUMNS = 1_000
_SECONDS = 5.4e-9  # of one core, times the third power of the number of frequencies
_TOLD_SECONDS = 5


class Given(NamedTuple):
    """Two samples as :func:`compare` gets them."""

    X: Any
    Y: Any
    weights: tuple[Any, Any]
    clusters: Any
    missing: Missing
    n_frequencies: int | None


class Inputs(NamedTuple):
    """Two samples that were read: their sketches, their rows or why there are none, and what they are called."""

    pair: Pair
    samples: Samples | str
    names: tuple[str, str]
    differences: Sketch | None = None  # of rows that belong together
    dependent: tuple[Dependence, ...] = ()  # why rows look dependent, where there are no clusters
    records: tuple[SourceRecord, SourceRecord] = (SourceRecord(), SourceRecord())

    def with_categories(self, categories: Mapping[str, Sequence[str]]) -> Inputs:
        """Return the same inputs, which know the categories that became columns of 0 and 1."""
        if not categories:
            return self
        left, right = (record._replace(categories=categories) for record in self.records)
        return self._replace(records=(left, right))

    @property
    def movable(self) -> Movable:
        """Which columns may have an offset, as those of 0 and 1 that stand for categories may not; None for all."""
        known = {column for record in self.records for column in record.categories}
        return np.array([split_name(name, known) is None for name in self.pair.columns]) if known else None


def of_sketches(X: Sketch, Y: Sketch) -> Inputs:
    """Return two comparable sketches as inputs, as they are now; they know which columns are categories."""
    inputs = Inputs(Pair.of(copy(X), copy(Y)), "the rows: only sketches were given", ("X", "Y"))
    return inputs.with_categories(categories_of_sketch(inputs.pair.X))


def read_inputs(given: Given, generator: np.random.Generator) -> Inputs:
    """Read two samples: the first pass scales the frequencies, the second one makes the sketches."""
    X, Y, weights, clusters, missing, n_frequencies = given
    check_weights(weights)
    check_missing(missing)
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        if n_frequencies is not None:
            raise ValueError("n_frequencies must be left out for sketches, which bring their own frequencies")
        left, right, _ = as_sketches(X, Y, weights, None, generator, clusters)
        return of_sketches(left, right)
    sources = two_clustered(X, Y, weights, clusters)
    names = sources[0].name, sources[1].name
    if len(sources[0].columns) > _MOST_COLUMNS:
        raise ValueError(
            f"{names[0]} must have at most {_MOST_COLUMNS:,} columns for a comparison; got "
            f"{len(sources[0].columns):,}. Choose those that matter"
        )
    if missing == "drop":
        sources = without_missing(sources[0]), without_missing(sources[1])
    why_none = _why_no_rows(sources, weights)
    dependent = tuple(filter(None, map(find_dependence, sources)))  # before the pass, which may be the only one
    if sources[0].bag_ids is not None:
        inputs = _clustered_inputs(sources, n_frequencies, why_none, generator)
        return inputs._replace(records=(sources[0].record(), sources[1].record()))
    if why_none is None:
        sources = _keeping(sources[0]), _keeping(sources[1])
    empty = Sketch.for_samples(*sources, n_frequencies=n_frequencies, random_state=generator)
    _tell_of_long_work(empty.n_frequencies)
    rows_of = [] if why_none else _choose_rows(sources, generator)
    left, right = (Sketch.like(empty).update(source) for source in sources)
    for name, sketch in zip(names, (left, right), strict=True):
        check_size(name, sketch)
    records = sources[0].record(), sources[1].record()
    pair = Pair.of(left, right)
    samples = why_none or Samples(rows_of[0](), rows_of[1](), pair.columns)
    if isinstance(samples, Samples):
        for name, rows in zip(names, samples[:2], strict=True):
            check_values(rows, pair.columns, name)
    return Inputs(pair, samples, names, dependent=dependent, records=records)


def _tell_of_long_work(n_frequencies: int) -> None:
    """Warn where the tests, which take a time that grows with the third power, take longer than most files to read."""
    seconds = _SECONDS * n_frequencies**3
    if seconds > _TOLD_SECONDS:
        warn(
            f"tests with {n_frequencies:,} frequencies take about {seconds:.0f} s of one core after the rows are read; "
            "fewer columns or frequencies are faster",
            FewerFrequenciesWarning,
        )


def _clustered_inputs(
    sources: tuple[RowSource, RowSource],
    n_frequencies: int | None,
    why_none: str | None,
    generator: np.random.Generator,
) -> Inputs:
    """Read two samples of clusters; their rows too where they are few enough."""
    names = sources[0].name, sources[1].name
    empty = Sketch.for_samples(*sources, n_frequencies=n_frequencies, random_state=generator)
    left, right = (Sketch.like(empty).update(source, complete=True) for source in sources)
    for name, sketch in zip(names, (left, right), strict=True):
        check_size(name, sketch)
    warn_of_shared_clusters(left, right, *sources)
    pair = Pair.of(left, right)
    if any(source.is_remote for source in sources) or sum(pair.sizes) > rows_in_memory(len(pair.columns)):
        most = rows_in_memory(len(pair.columns))
        why_none = why_none or f"all rows in memory where they come in clusters, at most {most:,}"
    if why_none is not None:
        return Inputs(pair, why_none, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SharedClustersWarning)  # which has been given
        samples = read_samples(*sources, needed=LEAST_CLUSTERS, why="a comparison")
    return Inputs(pair, samples, names)


def read_pairs(given: Given, generator: np.random.Generator) -> Inputs:
    """Read two samples whose rows belong together, into memory."""
    X, Y, weights, clusters, missing, n_frequencies = given
    check_weights(weights)
    if missing != "error":
        raise ValueError(f'missing must be "error" with paired=True, as both rows of a pair must go; got {missing!r}')
    if any(weight is not None for weight in weights):
        raise ValueError("weights must be left out with paired=True; the exact test of pairs takes none")
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        raise ValueError("paired=True needs the rows of X and Y; a sketch does not know which rows belong together")
    sources = two_clustered(X, Y, clusters=clusters)
    names = sources[0].name, sources[1].name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SharedClustersWarning)  # both rows of a pair are of the same unit
        samples = read_samples(*sources, needed=2, why="a comparison of pairs")
    records = sources[0].record(), sources[1].record()
    if any(record.n_dropped for record in records) and _origin(sources[0]) is not _origin(sources[1]):
        raise ValueError("paired=True needs all rows; rows with missing values were left out, which breaks pairs")
    ids = _clusters_of_pairs(samples)
    rows = samples.X, samples.Y
    named = [ArrayRows(values, name, samples.columns) for values, name in zip(rows, names, strict=True)]
    empty = Sketch.for_samples(*named, n_frequencies=n_frequencies, random_state=generator)
    left, right, differences = (
        Sketch.like(empty).update(source, clusters=ids, complete=True)
        for source in (*named, ArrayRows(rows[0] - rows[1], "X - Y", samples.columns))
    )
    for name, sketch in zip(names, (left, right), strict=True):
        check_size(name, sketch)
    return Inputs(Pair.of(left, right), samples, names, differences, records=records)


def _clusters_of_pairs(samples: Samples) -> NDArray[np.int64] | None:
    """Return the number of each pair's cluster; None where pairs are independent."""
    if samples.sizes[0] != samples.sizes[1]:
        raise ValueError(
            f"paired=True needs the same number of rows in X and in Y; got {samples.sizes[0]} and {samples.sizes[1]}"
        )
    if samples.clusters is None:
        return None
    check_same_clusters(samples.clusters)
    return samples.clusters[0]


def _origin(source: RowSource) -> RowSource:
    """Return the source that a source was made of."""
    while hasattr(source, "source"):
        source = source.source
    return source


def _why_no_rows(sources: tuple[RowSource, RowSource], weights: tuple[Any, Any]) -> str | None:
    if any(weight is not None for weight in weights):
        return "tests that take no weights"
    if not all(source.can_be_read_again for source in sources):
        return "the rows: they could be read only once"
    return None


def _choose_rows(sources: tuple[RowSource, RowSource], generator: np.random.Generator) -> list[Callable[[], Floats]]:
    """Choose all rows, or a sample of them, and return what gives these rows after the second pass."""
    n_columns = len(sources[0].columns)
    if sum(source.n_rows or 0 for source in sources) <= rows_in_memory(n_columns):
        return [partial(read_rows, source) for source in sources]
    n_sampled = min(_SAMPLED_ROWS, _VALUES_IN_MEMORY // (2 * n_columns))
    chosen: list[Callable[[], Floats]] = []
    for source in sources:
        if isinstance(source, KeptRows) and source.all_rows is None:
            chosen.append(source.pick(n_sampled, generator))
        else:
            rows = some_rows(source, n_sampled, generator)
            chosen.append(partial(np.asarray, rows))
    return chosen


def rows_in_memory(n_columns: int) -> int:
    """Return how many rows of both samples may be in memory: fewer where rows are long."""
    return min(IN_MEMORY, _VALUES_IN_MEMORY // n_columns)


def _keeping(source: RowSource) -> RowSource:
    """Return a source that keeps rows; those with passes of their own, as on a GPU or a cluster, need not."""
    has_own_passes = source.is_remote or (type(source).fold is not RowSource.fold and source.n_rows is not None)
    return source if has_own_passes else KeptRows(source)


class KeptRows(RowSource):
    """A source that keeps rows while it is read, so that nobody has to read them again.

    A pass keeps all rows unless they are many; later passes are then over memory. Of many rows, a pass keeps those
    that were picked before.
    """

    def __init__(self, source: RowSource) -> None:
        self.source = source
        self.name, self.columns, self.named, self.n_rows = source.name, source.columns, source.named, source.n_rows
        self.bag_ids, self.bags_in_order = source.bag_ids, source.bags_in_order
        self.all_rows: Block | None = None
        self._wanted = np.empty(0, dtype=np.int64)
        self._picked: list[NDArray[Any]] = []

    def record(self) -> SourceRecord:
        """Return what the source has left out."""
        return self.source.record()

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks of the source, or all rows where they were kept."""
        if self.all_rows is not None:
            yield self.all_rows
            return
        kept: list[Block] = []
        self._picked, stop = [], 0
        most = rows_in_memory(len(self.columns))
        for chunk in self.source.chunks():
            start, stop = stop, stop + len(chunk.values)
            first, last = np.searchsorted(self._wanted, [start, stop])
            self._picked.append(chunk.values[self._wanted[first:last] - start])
            kept = [*kept, chunk] if stop <= most else []
            yield chunk
        self.n_rows = stop
        if kept:
            self.all_rows = Block.concatenated(kept)

    def head(self, n_rows: int = 1_000) -> Floats:
        """Return the first rows, at most `n_rows`."""
        return self.source.head(n_rows) if self.all_rows is None else super().head(n_rows)

    def pick(self, n_rows: int, generator: np.random.Generator) -> Callable[[], Floats]:
        """Choose rows at random for the next pass to keep, and return what gives them then."""
        self._wanted = some_rows(_RowNumbers(self.n_rows or 0), n_rows, generator)[:, 0].astype(np.int64)
        return lambda: np.ascontiguousarray(np.concatenate(self._picked), dtype=np.float64)


class _RowNumbers(RowSource):
    """The numbers of rows in place of rows: to sample them is to choose rows without reading any."""

    columns = ("row",)

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    def chunks(self) -> Iterator[Block]:
        yield Block(np.arange(self.n_rows or 0)[:, None])

    def take(self, rows: NDArray[np.int64]) -> Floats:
        return rows[:, None].astype(np.float64)
