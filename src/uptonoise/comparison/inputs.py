"""From two inputs to a pair of sketches and the rows that some tests need, in at most two passes over each file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.typing import Floats
from uptonoise._util.validation import checked_choice
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
    find_dependence,
    read_rows,
    some_rows,
    two_clustered,
    without_missing,
)
from uptonoise.twosample import (
    Pair,
    Samples,
    as_sketches,
    categories_of_sketch,
    check_same_clusters,
    check_size,
    check_values,
    read_samples,
    warn_of_shared_clusters,
)

Sources = tuple[RowSource, RowSource]

IN_MEMORY = 100_000  # rows of both samples; beyond, everything takes linear time and bounded memory
_VALUES_IN_MEMORY = 20_000_000  # of all columns of these rows
_SAMPLED_ROWS = 20_000  # rows of each sample, where not all fit
_MOST_COLUMNS = 1_000
_SECONDS = 5.4e-9  # of one core, times the third power of the number of frequencies
_TOLD_SECONDS = 5


class Inputs(NamedTuple):
    """Two samples that were read: their sketches, their rows or why there are none, and what they are called."""

    pair: Pair
    samples: Samples | str
    names: tuple[str, str]
    differences: Sketch | None = None  # of rows that belong together
    dependent: tuple[Dependence, ...] = ()  # why rows look dependent, where there are no clusters
    records: Sequence[SourceRecord] = (SourceRecord(), SourceRecord())


def of_sketches(X: Sketch, Y: Sketch) -> Inputs:
    """Return two comparable sketches as inputs, as they are now; they know which columns are categories."""
    pair = Pair.of(copy(X), copy(Y))
    record = SourceRecord(categories=categories_of_sketch(pair.X))
    return Inputs(pair, "the rows: only sketches were given", ("X", "Y"), records=(record, record))


def read_inputs(
    X: Any,
    Y: Any,
    weights: tuple[Any, Any],
    clusters: Any,
    missing: Missing,
    n_frequencies: int | None,
    generator: np.random.Generator,
) -> Inputs:
    """Read two samples: the first pass scales the frequencies, the second one makes the sketches."""
    checked_choice(missing, get_args(Missing), "missing")
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        if n_frequencies is not None:
            raise ValueError("n_frequencies must be left out for sketches, which bring their own frequencies")
        left, right, _ = as_sketches(X, Y, weights, None, generator, clusters)
        return of_sketches(left, right)
    sources = two_clustered(X, Y, weights, clusters)
    name, n_columns = sources[0].name, len(sources[0].columns)
    if n_columns > _MOST_COLUMNS:
        raise ValueError(
            f"{name} must have at most {_MOST_COLUMNS:,} columns for a comparison; got {n_columns:,}. Choose those "
            "that matter"
        )
    if missing == "drop":
        sources = without_missing(sources[0]), without_missing(sources[1])
    why_no_rows = None
    if any(weight is not None for weight in weights):
        why_no_rows = "tests that take no weights"
    elif not all(source.can_be_read_again for source in sources):
        why_no_rows = "the rows: they could be read only once"
    read = _independent_inputs if sources[0].bag_ids is None else _clustered_inputs
    inputs = read(sources, n_frequencies, why_no_rows, generator)
    return inputs._replace(records=(sources[0].record(), sources[1].record()))


def _independent_inputs(
    sources: Sources, n_frequencies: int | None, why_no_rows: str | None, generator: np.random.Generator
) -> Inputs:
    """Read two samples of independent rows; of many rows, some are kept for the tests that need them."""
    names, n_columns = (sources[0].name, sources[1].name), len(sources[0].columns)
    kept: list[RowSource] = []
    for source in sources:
        # Those with passes of their own, as on a GPU or a cluster, need not keep rows.
        own_passes = source.is_remote or (type(source).fold is not RowSource.fold and source.n_rows is not None)
        kept.append(source if why_no_rows or own_passes else KeptRows(source))
    empty = Sketch.for_samples(*kept, n_frequencies=n_frequencies, random_state=generator)
    dependent = tuple(filter(None, map(find_dependence, kept)))  # before the pass, which may be the only one
    # The tests take a time that grows with the third power, which may be longer than most files take to read.
    seconds = _SECONDS * empty.n_frequencies**3
    if seconds > _TOLD_SECONDS:
        warn(
            f"tests with {empty.n_frequencies:,} frequencies take about {seconds:.0f} s of one core after the rows are "
            "read; fewer columns or frequencies are faster",
            FewerFrequenciesWarning,
        )
    rows_of: list[Callable[[], Floats]] = []  # what gives the rows after the second pass
    has_few = sum(source.n_rows or 0 for source in kept) <= rows_in_memory(n_columns)
    n_sampled = min(_SAMPLED_ROWS, _VALUES_IN_MEMORY // (2 * n_columns))
    for source in [] if why_no_rows else kept:
        if has_few:
            rows_of.append(partial(read_rows, source))
        elif isinstance(source, KeptRows) and source.all_rows is None:
            rows_of.append(source.pick(n_sampled, generator))
        else:
            rows_of.append(partial(np.asarray, some_rows(source, n_sampled, generator)))
    left, right = (copy(empty).update(source) for source in kept)
    for name, sketch in zip(names, (left, right), strict=True):
        check_size(name, sketch)
    pair = Pair.of(left, right)
    if why_no_rows:
        return Inputs(pair, why_no_rows, names, dependent=dependent)
    samples = Samples(rows_of[0](), rows_of[1](), pair.columns)
    for name, rows in zip(names, (samples.X, samples.Y), strict=True):
        check_values(rows, pair.columns, name)
    return Inputs(pair, samples, names, dependent=dependent)


def _clustered_inputs(
    sources: Sources, n_frequencies: int | None, why_no_rows: str | None, generator: np.random.Generator
) -> Inputs:
    """Read two samples of clusters; their rows too where they are few enough."""
    names = sources[0].name, sources[1].name
    empty = Sketch.for_samples(*sources, n_frequencies=n_frequencies, random_state=generator)
    left, right = (copy(empty).update(source, complete=True) for source in sources)
    for name, sketch in zip(names, (left, right), strict=True):
        check_size(name, sketch)
    warn_of_shared_clusters(left, right, *sources)
    pair = Pair.of(left, right)
    most = rows_in_memory(len(pair.columns))
    if any(source.is_remote for source in sources) or sum(pair.sizes) > most:
        why_no_rows = why_no_rows or f"all rows in memory where they come in clusters, at most {most:,}"
    if why_no_rows is not None:
        return Inputs(pair, why_no_rows, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SharedClustersWarning)  # which has been given
        samples = read_samples(*sources, needed=LEAST_CLUSTERS, why="a comparison")
    return Inputs(pair, samples, names)


def read_pairs(
    X: Any,
    Y: Any,
    weights: tuple[Any, Any],
    clusters: Any,
    missing: Missing,
    n_frequencies: int | None,
    generator: np.random.Generator,
) -> Inputs:
    """Read two samples whose rows belong together, into memory."""
    if missing != "error":
        raise ValueError(f'missing must be "error" with paired=True, as both rows of a pair must go; got {missing!r}')
    if not isinstance(weights, tuple | list) or any(weight is not None for weight in weights):
        raise ValueError("weights must be left out with paired=True; the exact test of pairs takes none")
    if isinstance(X, Sketch) or isinstance(Y, Sketch):
        raise ValueError("paired=True needs the rows of X and Y; a sketch does not know which rows belong together")
    sources = two_clustered(X, Y, clusters=clusters)
    names = sources[0].name, sources[1].name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SharedClustersWarning)  # both rows of a pair are of the same unit
        samples = read_samples(*sources, needed=2, why="a comparison of pairs")
    records = sources[0].record(), sources[1].record()
    origins: list[RowSource] = []
    for source in sources:
        while hasattr(source, "source"):  # which it was made of
            source = source.source
        origins.append(source)
    if any(record.n_dropped for record in records) and origins[0] is not origins[1]:
        raise ValueError("paired=True needs all rows; rows with missing values were left out, which breaks pairs")
    n_X, n_Y = samples.sizes
    if n_X != n_Y:
        raise ValueError(f"paired=True needs the same number of rows in X and in Y; got {n_X} and {n_Y}")
    ids = None  # of independent pairs
    if samples.clusters is not None:
        check_same_clusters(samples.clusters)
        ids = samples.clusters[0]
    left, right, both = (
        ArrayRows(values, name, samples.columns)
        for values, name in ((samples.X, names[0]), (samples.Y, names[1]), (samples.X - samples.Y, "X - Y"))
    )
    empty = Sketch.for_samples(left, right, n_frequencies=n_frequencies, random_state=generator)
    of_X, of_Y, differences = (copy(empty).update(rows, clusters=ids, complete=True) for rows in (left, right, both))
    for name, sketch in zip(names, (of_X, of_Y), strict=True):
        check_size(name, sketch)
    return Inputs(Pair.of(of_X, of_Y), samples, names, differences, records=records)


def rows_in_memory(n_columns: int) -> int:
    """Return how many rows of both samples may be in memory: fewer where rows are long."""
    return min(IN_MEMORY, _VALUES_IN_MEMORY // n_columns)


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
        if self.all_rows is None:
            return self.source.head(n_rows)
        return self.checked(Block(self.all_rows.values[:n_rows])).values

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
