"""``uptonoise compare``, ``sketch`` and ``demo``: whether two samples differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import uptonoise as un
from uptonoise.cli.options import (
    Answer,
    Columns,
    Frequencies,
    Reading,
    Report,
    Scheduler,
    Seed,
    Units,
    Weights,
    command,
    split_columns,
)

if TYPE_CHECKING:
    from uptonoise.cli.reader import Reader

COMPARE_EXAMPLES = """Examples:

- `uptonoise compare a.csv b.csv`
- `uptonoise compare a.csv b.csv --columns energy,time --missing drop`
- `uptonoise compare "runs/2023-*.parquet" "runs/2024-*.parquet" --json`
- `uptonoise compare data.parquet --by site`
- `uptonoise compare first.csv second.csv --paired` where row i of both is of one object
- `uptonoise compare ill.parquet well.parquet --cluster patient` where rows are cells of patients
- `uptonoise compare cells.parquet --by diagnosis --cluster patient`
- `uptonoise compare 2015.csv 2016.csv --block 168` where rows are hours, and weeks are independent
- `uptonoise compare a.npz b.npz` for two sketches, which `uptonoise sketch` makes
- `uptonoise compare 2023/ 2024/ --scheduler tcp://10.0.0.1:8786` on a Dask cluster
"""
SKETCH_EXAMPLES = """Examples:

- `uptonoise sketch a.parquet -o a.npz`
- `uptonoise sketch b.parquet --like a.npz -o b.npz`
- `uptonoise sketch folder/ -o a.npz --scheduler tcp://10.0.0.1:8786` on a Dask cluster
- `uptonoise compare a.npz b.npz`
"""

_DIFFERENT = 1
_PAIR_IN_REPORT = 2  # of the demo: noise and an offset


@command
def compare(
    *,
    first: Annotated[str, typer.Argument(metavar="A", help="A file, folder or pattern; or a sketch (.npz).")],
    second: Annotated[str | None, typer.Argument(metavar="B", help="The other file; none with --by.")] = None,
    by: Annotated[str | None, typer.Option(help="Compare the groups that this column of A names.")] = None,
    columns: Columns = None,
    weights: Weights = None,
    units: Units,
    reading: Reading,
    margin: Annotated[
        float | None,
        typer.Option(
            help="Largest difference that is negligible, as a shift in standard deviations. The default is 0.2."
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="The significance level of the tests.")] = 0.05,
    fail: Annotated[
        bool,
        typer.Option("--fail", help="End with 1 where they differ beyond noise by more than the margin, for scripts."),
    ] = False,
    paired: Annotated[
        bool, typer.Option("--paired", help="Row i of A and row i of B are of the same object, on two devices.")
    ] = False,
    report: Report = None,
    answer: Answer,
    seed: Seed = 0,
    frequencies: Frequencies = None,
    scheduler: Scheduler = None,
) -> None:
    """Tell whether two samples differ, and whether by more than noise.

    Files may be CSV or TSV (also gzipped), Parquet, Feather, .npy, .npz, folders or patterns of them; rows are
    observations. Files of any size are read in pieces. It ends with 0, or with 2 where something is wrong.
    """
    from uptonoise.cli.printing import print_comparison, print_groups
    from uptonoise.cli.reader import opened

    answer.check_output("--report", report, ".html")
    options: dict[str, Any] = {"alpha": alpha, "random_state": seed}
    if margin is not None:
        options["margin"] = margin
    with opened(split_columns(columns), reading, answer, scheduler, units) as reader:
        if by is not None:
            _check_groups(second, weights, frequencies, units.block, paired)
            source = reader.rows(first, reader.numeric(first, by), by)
            groups = un.compare_groups(source, clusters=units.cluster, **options)
            print_groups(groups, answer)
            _write_report(groups, report, answer)
            different = any(groups.verdict(*pair).is_difference for pair in groups.differing)
        else:
            options |= {"n_frequencies": frequencies, "paired": paired}
            comparison = _compare_files(reader, first, second, weights, **options)
            print_comparison(comparison, answer)
            _write_report(comparison, report, answer)
            different = comparison.verdict.is_difference
    if fail and different:
        raise typer.Exit(_DIFFERENT)


def _check_groups(
    second: str | None, weights: str | None, frequencies: int | None, block: int | None, paired: bool
) -> None:
    """Raise on what has no meaning for the groups of one file."""
    if second is not None:
        raise ValueError("give one file with --by, or two files without it")
    for option, value in (("--weights", weights), ("--frequencies", frequencies), ("--block", block)):
        if value is not None:
            raise ValueError(f"{option} is for two files; leave it out with --by")
    if paired:
        raise ValueError("--paired is for two files; leave it out with --by")


def _compare_files(
    reader: Reader, first: str, second: str | None, weights: str | None, **options: Any
) -> un.Comparison:
    if second is None:
        raise ValueError(f"give a second file to compare {first} with, or the column of its groups with --by")
    X, Y = reader.pair(first, second, weights)
    names = _short_names(first, second)
    with reader.noting_warnings():
        comparison = un.compare(X, Y, names=names, weights=(weights, weights), **options)
    signs = reader.units_in_text(first, second, names)
    return replace(comparison, dependent=comparison.dependent + signs)


def _short_names(first: str, second: str) -> tuple[str, str]:
    """Return short names for two files that are different."""
    short = Path(first).name or first, Path(second).name or second
    if short[0] != short[1]:
        return short
    return (first, second) if first != second else (f"{first} (1)", f"{second} (2)")


def _write_report(comparison: un.Comparison | un.GroupComparison, path: Path | None, answer: Answer) -> None:
    if path is None:
        return
    comparison.report(path, force=answer.force)
    if answer.in_words:
        print(f"The report is in {path}")


@command
def sketch(
    *,
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file, folder or pattern with the rows.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the sketch (.npz).")],
    like: Annotated[
        Path | None, typer.Option(help="Another sketch, whose frequencies and columns this sketch gets.")
    ] = None,
    columns: Columns = None,
    weights: Weights = None,
    units: Units,
    reading: Reading,
    answer: Answer,
    seed: Seed = 0,
    frequencies: Frequencies = None,
    scheduler: Scheduler = None,
) -> None:
    """Write a sketch of a file: all that a comparison needs, without the rows.

    Two sites that cannot share rows share sketches. The second sketch is made like the first one, so that both have
    the same frequencies.
    """
    from uptonoise.cli.printing import print_sketch
    from uptonoise.cli.reader import opened

    answer.check_output("--output", output, ".npz")
    with opened(split_columns(columns), reading, answer, scheduler, units) as reader:
        made = reader.sketched(path, weights, None if like is None else un.Sketch.load(like), seed, frequencies)
        made.save(output)
        print_sketch(made, output, answer)


@command
def demo(*, report: Report = None, answer: Answer, seed: Seed = 0) -> None:
    """Compare simulated detectors, one pair for each verdict, with the truth beside the answer.

    With --report the third pair gets a page: a new detector that is noisier, and whose zero has moved.
    """
    from uptonoise.cli.printing import print_demo
    from uptonoise.rows import ArrayRows

    answer.check_output("--report", report, ".html")
    pairs = un.datasets.make_demo_pairs(seed)
    comparisons = []
    for pair in pairs:
        samples = [ArrayRows(sample, columns=un.datasets.DEMO_COLUMNS) for sample in (pair.X, pair.Y)]
        comparisons.append(un.compare(*samples, names=pair.names, random_state=seed))
    print_demo(pairs, comparisons, answer)
    _write_report(comparisons[_PAIR_IN_REPORT], report, answer)
