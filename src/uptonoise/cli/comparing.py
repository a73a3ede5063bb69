"""``uptonoise compare``, ``sketch`` and ``demo``: whether two samples differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import uptonoise as un
from uptonoise._util.results import changed
from uptonoise._util.wording import printable
from uptonoise.cli.options import (
    FILE_HELP,
    Answer,
    Columns,
    Frequencies,
    Reading,
    Report,
    Scheduler,
    Seed,
    Units,
    Weights,
    answer_option,
    command,
    command_line,
    rows_option,
    split_columns,
)

if TYPE_CHECKING:
    from uptonoise.cli.reader import Reader

COMPARE_EXAMPLES = """Examples:

- `uptonoise compare a.csv b.csv --columns energy,time --missing drop`
- `uptonoise compare "2023-*.parquet" "2024-*.parquet" --json`
- `uptonoise compare data.parquet --by site`
- `uptonoise compare data.xlsx --column-a SBP1 --column-b SBP2`
- `zcat a.csv.gz | uptonoise compare - b.csv`
- `uptonoise compare ill.parquet well.parquet --cluster patient`
- `uptonoise compare 2015.csv 2016.csv --block 168` for weeks of hours
- `uptonoise compare a.npz b.npz` for sketches (`uptonoise sketch`)
- `uptonoise compare 2023/ 2024/ --scheduler tcp://10.0.0.1:8786`
"""
SKETCH_EXAMPLES = """Examples:

- `uptonoise sketch a.parquet -o a.npz`
- `uptonoise sketch b.parquet --like a.npz -o b.npz`
- `uptonoise sketch folder/ -o a.npz --scheduler tcp://10.0.0.1:8786` on a Dask cluster
- `uptonoise compare a.npz b.npz`
"""

By = Annotated[str | None, rows_option(metavar="COLUMN", help="The column of groups to compare.")]
ColumnA = Annotated[list[str] | None, rows_option(metavar="COLUMN", help="A column to compare with --column-b.")]
ColumnB = Annotated[list[str] | None, rows_option(metavar="COLUMN", help="A column to compare with --column-a.")]
Margin = Annotated[float | None, answer_option(metavar="SD", help="The largest negligible shift; default: 0.2.")]
Alpha = Annotated[float, answer_option(metavar="P", help="The significance level; default: 0.05.")]
Fail = Annotated[bool, answer_option("--fail", help="End with 1 where they differ.")]
Paired = Annotated[bool, rows_option("--paired", help="Row i of both is of the same object.")]

_DIFFERENT = 1
_MOST_PAIRED_VALUES = 37_500_000  # of each file; the tests hold several copies
_PAIR_IN_REPORT = 2  # of the demo: noise and an offset


@command
def compare(
    *,
    first: Annotated[str, typer.Argument(metavar="A", help=FILE_HELP, show_default=False)],
    second: Annotated[
        str | None, typer.Argument(metavar="B", help="The other one; none with --by.", show_default=False)
    ] = None,
    by: By = None,
    column_a: ColumnA = None,
    column_b: ColumnB = None,
    columns: Columns = None,
    weights: Weights = None,
    units: Units,
    reading: Reading,
    margin: Margin = None,
    alpha: Alpha = 0.05,
    fail: Fail = False,
    paired: Paired = False,
    report: Report = None,
    answer: Answer,
    seed: Seed = 0,
    frequencies: Frequencies = None,
    scheduler: Scheduler = None,
) -> None:
    """Tell whether two samples differ, and whether by more than noise.

    Files may be text (CSV, tabs, blanks; also compressed), Parquet, Feather, numpy, Excel, or sketches; rows are
    observations. It ends with 0, or with 2 where something is wrong.
    """
    from uptonoise.cli.printing import print_comparison, print_groups
    from uptonoise.cli.reader import opened

    answer.check_output("--report", report, ".html")
    options: dict[str, Any] = {"alpha": alpha, "random_state": seed}
    if margin is not None:
        options["margin"] = margin
    with opened(split_columns(columns), reading, answer, scheduler, units) as reader:
        if by is not None:
            unused = {"--weights": weights, "--frequencies": frequencies, "--block": units.block}
            _check_groups(second, column_a or column_b, unused | {"--paired": paired or None})
            source = reader.rows(first, reader.choose(first, kept_apart=[by]), by)
            with reader.noting_warnings():
                groups = un.compare_groups(source, clusters=units.cluster, **options)
            groups = reader.finished(groups, answer, [first])
            print_groups(groups, answer)
            _write_report(groups, report, answer)
            different = any(groups.verdict(*pair).is_difference for pair in groups.differing)
        else:
            pair = split_columns(column_a, "--column-a"), split_columns(column_b, "--column-b")
            options |= {"n_frequencies": frequencies, "paired": paired}
            comparison = _compare_files(reader, first, second, weights, pair, **options)
            comparison = reader.finished(comparison, answer, [first] if second is None else [first, second])
            print_comparison(comparison, answer)
            _write_report(comparison, report, answer)
            different = comparison.verdict.is_difference
    if fail and different:
        raise typer.Exit(_DIFFERENT)


def _check_groups(second: str | None, columns: list[str] | None, unused: dict[str, Any]) -> None:
    """Raise on what has no meaning for the groups of one file."""
    if second is not None:
        raise ValueError("give one file with --by, or two files without it")
    if columns:
        raise ValueError("give --by, or --column-a and --column-b; got both")
    for option, value in unused.items():
        if value is not None:
            raise ValueError(f"{option} is for two files; leave it out with --by")


def _compare_files(
    reader: Reader,
    first: str,
    second: str | None,
    weights: str | None,
    pair: tuple[list[str] | None, list[str] | None],
    **options: Any,
) -> un.Comparison:
    """Compare two files, or columns of one file."""
    reader.most_values = _MOST_PAIRED_VALUES if options["paired"] else None
    if pair != (None, None):
        if second is not None or weights is not None:
            raise ValueError("--column-a and --column-b are for one file without --weights")
        if pair[0] is None or pair[1] is None:
            raise ValueError("--column-a and --column-b must be given together; got one of them")
        X, Y = reader.column_pair(first, pair[0], pair[1], paired=options["paired"])
        with reader.noting_warnings():
            return un.compare(X, Y, names=(", ".join(pair[0]), ", ".join(pair[1])), **options)
    if second is None:
        raise ValueError(
            f"give a second file to compare {first} with, the column of its groups with --by, or two of its columns "
            "with --column-a and --column-b"
        )
    if options["paired"] and reader.missing == "drop":
        raise ValueError("--missing drop breaks the pairs of --paired; leave one of them out")
    X, Y = reader.pair(first, second, weights)
    short = ["standard input" if path == "-" else Path(path).name or path for path in (first, second)]
    names = (first, second) if first != second else (f"{first} (1)", f"{second} (2)")
    if short[0] != short[1]:
        names = short[0], short[1]
    with reader.noting_warnings():
        of_rows = None if isinstance(X, un.Sketch) else weights  # sketches have theirs already
        comparison = un.compare(X, Y, names=names, weights=(of_rows, of_rows), **options)
    return changed(comparison, dependent=comparison.dependent + reader.units_in_text(first, second, names))


def _write_report(comparison: un.Comparison | un.GroupComparison, path: Path | None, answer: Answer) -> None:
    if path is None:
        return
    record = replace(comparison.input, settings=comparison.input.settings | command_line())
    changed(comparison, input=record).report(path, force=answer.force)
    if answer.in_words:
        print(printable(f"The report is in {path}"))


@command
def sketch(
    *,
    path: Annotated[str, typer.Argument(metavar="FILE", help=FILE_HELP)],
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
        reader.print_notes()
        made.save(output, force=answer.force)
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
