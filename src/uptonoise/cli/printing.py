"""Answers on the screen: a sentence first, then tables; in colours on a terminal, as plain text in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text as RichText

import uptonoise as un
from uptonoise._util.results import changed
from uptonoise._util.wording import counted, printable
from uptonoise.cli.options import Answer
from uptonoise.comparison import Verdict
from uptonoise.twosample import pvalue_text

_TABLE_ROWS = 20
_COLUMNS_IN_LINE = 10
_WIDTH = 100  # characters of a line where the width of the screen is not known
_COLOURS = dict.fromkeys(Verdict, "yellow")
_COLOURS |= dict.fromkeys((Verdict.NO_DIFFERENCE, Verdict.ONLY_NOISE, Verdict.NEGLIGIBLE), "blue")
_COLOURS |= dict.fromkeys((Verdict.BEYOND_NOISE, Verdict.BEYOND_OFFSET), "magenta")


class Text(RichText):
    """Text whose control characters, as names of columns may have them, are written out."""

    def __init__(self, text: str = "", *args: Any, **options: Any) -> None:
        super().__init__(printable(text), *args, **options)


def print_json(values: Any) -> None:
    """Print what JSON can hold."""
    print(json.dumps(values, indent=2, allow_nan=False))


def print_comparison(comparison: un.Comparison, answer: Answer) -> None:
    """Print the verdict in a sentence, the steps to it, and a table of the columns."""
    if answer.as_json:
        print_json(comparison.to_dict())
        return
    console = _console()
    console.print(Text(comparison.sentence, style=f"bold {_COLOURS[comparison.verdict]}"), soft_wrap=True)
    if answer.quiet:
        return
    console.print()
    lines = Table.grid(padding=(0, 2))
    for question, reply, why in comparison.ladder():
        lines.add_row(f"{question}?", Text(reply, style="bold"), Text(why))
    for label, text in comparison.findings():
        lines.add_row(Text(label), "", Text(text))
    for text in comparison.missing:
        lines.add_row("missing", "", Text(text))
    for label, text in comparison.input.lines():
        lines.add_row(label, "", Text(text))
    lines.add_row("seed", "", str(comparison.seed))
    console.print(lines)
    if len(comparison.by_column) < 2:
        return
    ordered = sorted(comparison.by_column, key=lambda column: column.adjusted_beyond_noise)
    more = len(ordered) - _TABLE_ROWS
    note = "p-values adjusted by Holm's method" + (f"; {more} more columns with --json" if more > 0 else "")
    tests = ("p at all", "p beyond noise", "p beyond offset")
    table = Table("column", *tests, "effect (SD)", "offset", "noise added (SD)", caption=note)
    for column in ordered[:_TABLE_ROWS]:
        adjusted = (column.adjusted_at_all, column.adjusted_beyond_noise, column.adjusted_beyond_offset)
        noise, added = column.noise, ""
        if noise is not None and noise.sample is not None:
            added = f"{noise.sample}: {noise.sd:.2g} ({noise.low:.2g} to {noise.high:.2g})"
        table.add_row(
            Text(column.column),
            *map(pvalue_text, adjusted),
            f"{column.effect.estimate:.2g}",
            "" if column.offset is None else f"{column.offset.shift:.3g}",
            Text(added),
        )
    console.print()
    console.print(table)


def print_groups(groups: un.GroupComparison, answer: Answer) -> None:
    """Print which groups differ, in a sentence and a table of pairs."""
    if answer.as_json:
        print_json(groups.to_dict())
        return
    if groups.two is not None:
        print_comparison(changed(groups.two, input=groups.input), answer)
        return
    console = _console()
    console.print(Text(groups.sentence, style="bold"), soft_wrap=True)
    if answer.quiet:
        return
    pairs = groups.pairs
    n_pairs = len(groups.names) * (len(groups.names) - 1) // 2
    more = f"; {n_pairs - _TABLE_ROWS:,} more pairs with --json" if n_pairs > _TABLE_ROWS else ""
    sizes = f"{min(pairs.sizes):,} to {max(pairs.sizes):,} rows per group"
    note = f"{sizes}; adjusted ({pairs.adjust}); seed {groups.seed}{more}"
    table = Table("first", "second", "adjusted p", "verdict", "effect (SD)", caption=note)
    for i, j in list(zip(*pairs.ordered(), strict=True))[:_TABLE_ROWS]:
        names = (groups.names[i], groups.names[j])
        effect = f"{groups.pair(*names).effect.estimate:.2g}"
        table.add_row(*map(Text, names), pvalue_text(pairs.adjusted[i, j]), Text(groups.verdict(*names)), effect)
    lines = Table.grid(padding=(0, 2))
    for label, text in groups.input.lines():
        lines.add_row(label, Text(text))
    alike, others = groups.by_similarity[:_TABLE_ROWS], len(groups.names) - _TABLE_ROWS
    many = f" and {others:,} more" if others > 0 else ""
    lines.add_row("alike", Text(f"{', '.join(alike)}{many} (groups that are alike side by side, outliers first)"))
    console.print(lines)
    console.print(table)


def print_sketch(sketch: un.Sketch, path: Path, answer: Answer) -> None:
    """Print what a sketch holds and where it is."""
    if answer.as_json:
        print_json(
            {
                "path": str(path),
                "rows": sketch.n_rows,
                "clusters": sketch.n_clusters,
                "columns": sketch.columns,
                "sizes": sketch.n_frequencies,
            }
        )
    elif answer.in_words:
        shown = ", ".join(sketch.columns[:_COLUMNS_IN_LINE]) + (", ..." if sketch.n_columns > _COLUMNS_IN_LINE else "")
        clusters = "" if sketch.n_clusters is None else f" in {counted(sketch.n_clusters, 'cluster')}"
        rows = f"{counted(sketch.n_rows, 'row')}{clusters}"
        print(printable(f"{path}: {rows}, {sketch.n_frequencies} frequencies, columns {shown}"))


def print_model(
    fitted: un.BagRidgeCV | un.BagRegressor | un.BagClassifier, kind: str, bags: un.Bags, path: Path, answer: Answer
) -> None:
    """Print which parameters were chosen, and the error on bags that were held out."""
    labels: Any = bags.labels
    of_classes = isinstance(fitted, un.BagClassifier)
    if of_classes:
        counts = np.unique(labels, return_counts=True)[1]
        spread = 1 - float(counts.max()) / len(bags)
    else:
        spread = float(labels.std())
    params: dict[str, float]
    if isinstance(fitted, un.BagRidgeCV):
        error, params = (-fitted.best_score_) ** 0.5, fitted.best_params_
    else:
        error, params = fitted.cv_error_, {"largest_noise": fitted.largest_noise_}
    if answer.as_json:
        about = {"path": str(path), "bags": len(bags), "columns": bags.columns, "params": params}
        names = ("error_rate", "error_rate_of_the_largest_class") if of_classes else ("rmse", "rmse_of_the_mean")
        print_json(about | dict(zip(names, (error, spread), strict=True)))
    elif answer.in_words:
        chosen = ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in params.items())
        size = f"{counted(len(bags), 'bag')}, {counted(len(bags.columns), 'column')}"
        print(printable(f"{path}: {kind} of {size}; {chosen}"))
        words = ("wrong classes", "always the largest class") if of_classes else ("error (RMSE)", "of the mean")
        print(f"{words[0]} on held-out bags {error:.4g}; {words[1]} {spread:.4g}")


def print_demo(pairs: Sequence[un.datasets.DemoPair], comparisons: Sequence[un.Comparison], answer: Answer) -> None:
    """Print the story of each pair with the truth and the answer, and how many answers are right."""
    both = list(zip(pairs, comparisons, strict=True))
    if answer.as_json:
        print_json([{"story": pair.story, "truth": pair.truth} | result.to_dict() for pair, result in both])
        return
    console = _console()
    if not answer.quiet:
        console.print("Two simulated detectors with three columns; noise is Laplace, as large as the signal.")
        for pair, result in both:
            console.print()
            console.print(Text(pair.story, style="bold"))
            console.print(f"  truth   {pair.truth}")
            console.print(Text("  answer  ").append(result.verdict, style=_COLOURS[result.verdict]))
            console.print(Padding(Text(result.sentence), (0, 0, 0, 10)))
        console.print()
    right = sum(result.verdict == pair.truth for pair, result in both)
    console.print(f"{right} of {len(pairs)} answers are right.")


def print_experiments(experiments: Sequence[tuple[str, str]], quiet: bool) -> None:
    """Print the names of experiments, with their titles."""
    if quiet:
        print("\n".join(name for name, _ in experiments))
        return
    lines = Table.grid(padding=(0, 2))
    for name, title in experiments:
        lines.add_row(Text(name, style="bold"), Text(title))
    _console().print(lines)


def _console() -> Console:
    return Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
