"""Many samples at once: all pairs beyond noise, from one sketch of each; and two groups as two samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, get_args

import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.results import changed
from uptonoise._util.validation import checked_choice, checked_column, checked_columns
from uptonoise.comparison.evidence import MARGIN, check_options
from uptonoise.comparison.group_result import GroupComparison
from uptonoise.comparison.group_rows import MixedGroups, Records, SeparateGroups, read_coded_groups, read_groups
from uptonoise.comparison.ladder import compare
from uptonoise.comparison.result import Comparison
from uptonoise.fourier import Sketch
from uptonoise.rows import Coding, InputRecord, Missing, SourceRecord, check_coding
from uptonoise.twosample import Adjustment, pairwise_phase_test


def compare_groups(
    groups: Any,
    *,
    by: str | None = None,
    columns: Sequence[str] | None = None,
    clusters: Any = None,
    adjust: Adjustment = "holm",
    margin: float = MARGIN,
    alpha: float = 0.05,
    missing: Missing = "error",
    categories: Coding | None = None,
    random_state: RandomState = 0,
) -> GroupComparison:
    """Compare all pairs of many samples beyond noise, from one sketch of each.

    Parameters
    ----------
    groups : frame, Bags, dict of samples, dict of Sketch, or RowSource with groups
        A frame needs `by`; ``scan_parquet(path, by="site")`` brings its groups.
    by, columns : str and sequence of str, optional
        The column of the frame that names each row's group, and the columns to compare; by default all others.
    clusters : str, array of shape (n_rows,), or dict of arrays, optional
        Ids of rows that belong together. A bag with a label is a cluster of the group that its label names.
    adjust, margin, alpha, missing, categories, random_state
        As for :func:`pairwise_phase_test` and :func:`compare`.

    Returns
    -------
    GroupComparison

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"site": np.repeat(["a", "b", "c"], 400), "x": rng.exponential(size=1_200)})
    >>> frame.loc[frame["site"] == "c", "x"] *= -1                        # another distribution
    >>> un.compare_groups(frame, by="site").differing
    [('b', 'c'), ('a', 'c')]
    """
    check_options(margin, alpha)
    by = None if by is None else checked_column(by, "by")
    columns = None if columns is None else checked_columns(columns, "columns")
    checked_choice(missing, get_args(Missing), "missing")
    check_coding(categories)
    generator, seed = seeded_generator(random_state)
    numbers: dict[str, Any] = {"margin": float(margin), "alpha": float(alpha)}
    if isinstance(groups, Mapping) and any(isinstance(group, Sketch) for group in groups.values()):
        sketches, two, records = _given_sketches(groups, clusters), None, Records({"the groups": SourceRecord})
    else:
        read = read_groups if categories is None else read_coded_groups
        rows = read(groups, by, columns, clusters, missing)
        sketches, two, records = *_sketched(rows, generator, seed, numbers), rows.records
    record = _input_record(sketches, records)
    pairs = pairwise_phase_test(sketches, adjust=adjust)
    two = None if two is None else changed(two, input=record)
    named = {str(name): sketch for name, sketch in sketches.items()}
    numbers["seed"] = seed
    return GroupComparison(pairs=pairs, sketches=named, columns=record.columns, two=two, input=record, **numbers)


def _sketched(
    rows: SeparateGroups | MixedGroups, generator: np.random.Generator, seed: int | None, numbers: dict[str, Any]
) -> tuple[dict[Any, Sketch], Comparison | None]:
    """Return the sketches of groups; of two groups whose rows are here also the answer that two samples would get."""
    random_state = deepcopy(generator) if seed is None else seed
    sketches = rows.sketches(generator)
    samples = rows.two_samples() if len(sketches) == 2 else None
    if samples is None:
        return sketches, None
    names = list(map(str, sketches))
    del sketches  # which the comparison makes anew; of many columns they are large
    two = compare(*samples, names=names, random_state=random_state, **numbers)
    return dict(zip(two.names, two.sketches, strict=True)), two


def _given_sketches(groups: Mapping[Any, Any], clusters: Any) -> dict[Any, Sketch]:
    if clusters is not None:
        raise ValueError("clusters must be left out for sketches, which bring their own")
    for name, group in groups.items():
        if not isinstance(group, Sketch):
            raise ValueError(
                f"groups must all be samples or all be sketches; the group {name} is a {type(group).__name__}"
            )
    return dict(groups)


def _input_record(sketches: Mapping[Any, Sketch], records: Records) -> InputRecord:
    """Return what was read of the groups; raise where they are fewer than two."""
    if len(sketches) < 2:
        raise ValueError(f"groups must be at least two; got {len(sketches)}: {', '.join(map(str, sketches))}")
    named = next((sketch for sketch in sketches.values() if sketch.named), next(iter(sketches.values())))
    sizes = [int(sketch.n_rows) for sketch in sketches.values()]
    if len(records) != len(sketches):
        sizes = [sum(sizes)]
    return InputRecord.of(list(records), sizes, named.columns, [record() for record in records.values()])
