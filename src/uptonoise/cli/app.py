"""The command line: ``uptonoise compare``, ``sketch``, ``fit``, ``predict``, ``demo`` and ``reproduce``.

A command says what it found and ends with 0; what it cannot do it says in one line on stderr, and ends with 2. Files
are read in pieces, with a progress bar on a terminal.
"""

from __future__ import annotations

import csv
import functools
import io
import json
import logging
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec, TypeVar

try:
    import typer
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text
except ImportError:
    sys.exit('uptonoise: the command line needs typer and rich: pip install "uptonoise[cli]"')

import uptonoise as un
from uptonoise._util.files import checked_target, written_whole
from uptonoise._util.wording import counted
from uptonoise.comparison import MARGIN, Verdict
from uptonoise.rows import ArrayRows, as_rows
from uptonoise.twosample import said_pvalue

if TYPE_CHECKING:
    from uptonoise.rows import RowSource

_CANNOT = 2
_DIFFERENT = 1
_TABLE_ROWS = 20
_SHOWN_PAIR = 2  # of the demo, in its report
_RESULTS = Path("results")
_WIDE = 100  # characters of a line where nobody knows how wide the screen is
_COLOURS = {
    Verdict.NO_DIFFERENCE: "blue",
    Verdict.NOT_BEYOND_NOISE: "blue",
    Verdict.ONLY_NOISE: "blue",
    Verdict.OFFSET: "yellow",
    Verdict.BEYOND_OFFSET: "magenta",
    Verdict.TOO_NOISY: "yellow",
}
# How the library's messages name what has another name here.
_OPTIONS = (
    (r'missing="drop"', "--missing drop"),
    (r'encoding="?([\w-]+)"?', r"--encoding \1"),
    (r'delimiter="?([^"\s]+)"?', r"--delimiter \1"),
    (r'decimal="?([^"\s]+)"?', r"--decimal \1"),
    (r"force=True", "--force"),
    (r"\bn_frequencies\b", "--frequencies"),
    (r"Make one of them with Sketch\.like\(the other\)", "Make one of them with uptonoise sketch --like the other"),
    (r"see encoding= \(such as '([\w-]+)'\)", r"give --encoding (such as \1)"),
    (r"columns=\[(.*?)\]", lambda found: f"--columns {_joined(found.group(1))}"),
    (r"\bby=", "--by "),
)

_COMPARE_EXAMPLES = """Examples:

- `uptonoise compare a.csv b.csv`
- `uptonoise compare a.csv b.csv --columns energy,time --missing drop`
- `uptonoise compare "runs/2023-*.parquet" "runs/2024-*.parquet" --json`
- `uptonoise compare data.parquet --by site`
- `uptonoise compare a.npz b.npz` for two sketches, which `uptonoise sketch` makes
- `uptonoise compare 2023/ 2024/ --scheduler tcp://10.0.0.1:8786` on a Dask cluster
"""
_FIT_EXAMPLES = """Examples:

- `uptonoise fit bags.csv --by patient --label y -o model.npz`
- `uptonoise fit bags.csv --by patient --label y --noise 3 -o model.npz`
- `uptonoise predict model.npz new.csv`
"""
_REPRODUCE_EXAMPLES = """Examples:

- `uptonoise reproduce --list`
- `uptonoise reproduce chi2-power --quick`
- `uptonoise reproduce chi2-level chi2-power --workers 2 --out results`
- `uptonoise reproduce chi2-power --draw` for the figure again, from the CSV file
"""
_SKETCH_EXAMPLES = """Examples:

- `uptonoise sketch a.parquet -o a.npz`
- `uptonoise sketch b.parquet --like a.npz -o b.npz`
- `uptonoise sketch folder/ -o a.npz --scheduler tcp://10.0.0.1:8786` on a Dask cluster
- `uptonoise compare a.npz b.npz`
"""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

app = typer.Typer(
    name="uptonoise",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Missing(StrEnum):
    """What to do with rows that have missing values."""

    error = "error"
    drop = "drop"


Columns = Annotated[
    list[str] | None, typer.Option("--columns", "-c", help="Columns to use, with commas between; default: all in both.")
]
Drop = Annotated[Missing, typer.Option("--missing", help="Rows with missing values: an error, or left out.")]
Delimiter = Annotated[str | None, typer.Option(help="Between the fields of a CSV file; default: guessed.")]
Decimal = Annotated[str, typer.Option(help="The decimal mark of a CSV file.")]
Encoding = Annotated[str, typer.Option(help="The encoding of a CSV file.")]
Weights = Annotated[str | None, typer.Option(help="The column with the weights of the rows.")]
Margin = Annotated[
    float, typer.Option(help='The effect below which "only by noise" is said; 0.04 is a shift by 0.2 SD.')
]
Alpha = Annotated[float, typer.Option(help="The level of the tests.")]
Seed = Annotated[int, typer.Option(help="The seed of all that is drawn.", min=0)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer only, and no progress bar.")]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Let the workers of a Dask cluster read the files: its address, such as tcp://10.0.0.1:8786."),
]
Frequencies = Annotated[
    int | None, typer.Option("--frequencies", help="At most so many; fewer are faster and see less.", min=1)
]
Report = Annotated[Path | None, typer.Option(help="Write a page with pictures, to open in a browser (.html).")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]


def main() -> None:
    """Run the command line."""
    app()


def _one_line_errors(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a command end with one line instead of a traceback where its input is at fault."""

    @functools.wraps(command)
    def guarded(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            found = command(*args, **kwargs)
            sys.stdout.flush()
            return found
        except BrokenPipeError:  # nobody reads on, as in a pipe to head
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
            raise typer.Exit(0) from None
        except (ValueError, OSError, ImportError, MemoryError) as error:
            _stop(_as_options(_said(error)), _CANNOT)
        except KeyboardInterrupt:
            _stop("interrupted; nothing was written, run it again", _CANNOT)

    return guarded


def _stop(message: str, code: int) -> NoReturn:
    print(f"uptonoise: {message}", file=sys.stderr)
    raise typer.Exit(code)


def _said(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory; give fewer columns (--columns)"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _as_options(message: str) -> str:
    """Return a message of the library with the names that options have here.

    Examples
    --------
    >>> from uptonoise.cli.app import _as_options
    >>> _as_options("name the columns to use, as columns=['x', 'the y']")
    "name the columns to use, as --columns 'x,the y'"
    """
    for pattern, option in _OPTIONS:
        message = re.sub(pattern, option, message)
    return message


def _joined(listed: str) -> str:
    """Return the names of a list in a message as an option takes them."""
    names = ",".join(single or double for single, double in re.findall(r"'([^']*)'|\"([^\"]*)\"", listed))
    return f"'{names}'" if re.search(r"[^\w,.-]", names) else names or "..."


@app.callback(invoke_without_command=True)
def _uptonoise(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Tell whether two samples really differ, or only by noise: additive, symmetric, of unknown size and kind."""
    if version:
        print(f"uptonoise {un.__version__}")
        raise typer.Exit


@app.command(epilog=_COMPARE_EXAMPLES)
@_one_line_errors
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="A file, folder or pattern; or a sketch (.npz).")],
    second: Annotated[str | None, typer.Argument(metavar="B", help="The other one; none with --by.")] = None,
    by: Annotated[str | None, typer.Option(help="Compare the groups that this column of A names.")] = None,
    columns: Columns = None,
    weights: Weights = None,
    missing: Drop = Missing.error,
    margin: Margin = MARGIN,
    alpha: Alpha = 0.05,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    fail: Annotated[
        bool, typer.Option("--fail", help="End with 1 where they differ beyond noise, for use in scripts.")
    ] = False,
    report: Report = None,
    force: Force = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    frequencies: Frequencies = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
) -> None:
    """Tell whether two samples differ, and whether by more than noise.

    Files may be CSV or TSV (also gzipped), Parquet, Feather, .npy, .npz, folders or patterns of them; rows are
    observations. Files of any size are read in pieces. It ends with 0, or with 2 where something is wrong.
    """
    if report is not None:
        _check_output("--report", report, ".html", force)
    with _working_at(scheduler):
        reader = _Reader(_split(columns), missing.value, delimiter, decimal, encoding, quiet, quiet or as_json)
        reader.on_cluster = scheduler is not None
        found = _compared(first, second, by, weights, reader, margin, alpha, frequencies, seed)
    if isinstance(found, un.GroupComparison):
        _print_groups(found, as_json, quiet)
        different = bool(found.differing)
    else:
        _print_comparison(found, as_json, quiet)
        different = found.differs_beyond_noise
    reader.say_notes()
    if report is not None:
        _write_report(found, report, force, as_json or quiet)
    if fail and different:
        raise typer.Exit(_DIFFERENT)


def _compared(
    first: str,
    second: str | None,
    by: str | None,
    weights: str | None,
    reader: _Reader,
    margin: float,
    alpha: float,
    frequencies: int | None,
    seed: int,
) -> un.Comparison | un.GroupComparison:
    if by is not None:
        if second is not None:
            raise ValueError("give one file with --by, or two files without it")
        if weights is not None:
            raise ValueError("--weights is for two files; leave it out with --by")
        if frequencies is not None:
            raise ValueError("--frequencies is for two files; leave it out with --by")
        source = reader.rows(first, reader.numeric(first, by), by)
        return un.compare_groups(source, margin=margin, alpha=alpha, random_state=seed)
    if second is None:
        raise ValueError(f"give a second file to compare {first} with, or the column of its groups with --by")
    X, Y = reader.pair(first, second, weights)
    return un.compare(
        X,
        Y,
        names=_names(first, second),
        margin=margin,
        alpha=alpha,
        weights=(weights, weights) if weights is not None else (None, None),
        n_frequencies=frequencies,
        random_state=seed,
    )


@contextmanager
def _working_at(scheduler: str | None) -> Iterator[None]:
    """Let Dask work on a cluster, where there is one; its own log would only be in the way of one clear line."""
    if scheduler is None:
        yield
        return
    from uptonoise.engines import connected

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with connected(scheduler):
        yield


@app.command(epilog=_SKETCH_EXAMPLES)
@_one_line_errors
def sketch(
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file, folder or pattern with the rows.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the sketch (.npz).")],
    like: Annotated[
        Path | None, typer.Option(help="Another sketch, whose frequencies and columns this one gets.")
    ] = None,
    columns: Columns = None,
    weights: Weights = None,
    missing: Drop = Missing.error,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    force: Force = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    frequencies: Frequencies = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
) -> None:
    """Write a sketch of a file: all that a comparison needs, without the rows.

    Two sites that cannot share rows share sketches. The second one is made like the first one, so that both have the
    same frequencies.
    """
    _check_output("--output", output, ".npz", force)
    with _working_at(scheduler):
        reader = _Reader(_split(columns), missing.value, delimiter, decimal, encoding, quiet, quiet or as_json)
        reader.on_cluster = scheduler is not None
        made = reader.sketched(path, weights, None if like is None else un.Sketch.load(like), seed, frequencies)
    made.save(output)
    if as_json:
        _print_json({"path": str(output), "rows": made.n_rows, "columns": made.columns, "sizes": made.n_frequencies})
    elif not quiet:
        rows = (
            f"{counted(made.n_rows, 'row')}, {made.n_frequencies} frequencies, columns {', '.join(made.columns[:10])}"
        )
        print(f"{output}: {rows}{', ...' if made.n_columns > 10 else ''}")
    reader.say_notes()


class Model(StrEnum):
    """Models on bags: the library's own on phases and on Fourier features, and the paper's."""

    phase = "phase"
    fourier = "fourier"
    plrr = "plrr"
    glrr = "glrr"
    lgrr = "lgrr"
    pgrr = "pgrr"
    ggrr = "ggrr"


@app.command(epilog=_FIT_EXAMPLES)
@_one_line_errors
def fit(
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file, folder or pattern: one row an observation.")],
    by: Annotated[str, typer.Option(help="The column that says which bag a row belongs to.")],
    label: Annotated[str, typer.Option(help="The column with the target, the same in all rows of a bag.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model (.npz).")],
    model: Annotated[
        Model,
        typer.Option(
            help="Phases, which noise leaves alone, or Fourier features; or one of the paper's: phase (p), Fourier (g) "
            "or mean (l) features, linear (lrr) or with a Gaussian kernel (grr)."
        ),
    ] = Model.phase,
    noise: Annotated[
        float | None,
        typer.Option(
            help="Fit against noise that these bags do not have and new ones may: of a variance up to this many times "
            "that of each column.",
            min=0.0,
        ),
    ] = None,
    cv: Annotated[int, typer.Option(help="The number of folds.", min=2)] = 3,
    columns: Columns = None,
    missing: Drop = Missing.error,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    force: Force = False,
    as_json: AsJson = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Learn to predict a number from bags of rows: patients with cells, clusters with galaxies."""
    _check_output("--output", output, ".npz", force)
    reader = _Reader(_split(columns), missing.value, delimiter, decimal, encoding, quiet, quiet or as_json)
    used = reader.numeric(path, by)
    bags = un.Bags.from_rows(reader.rows(path, reader.with_column(used, label), by), label=label)
    make = getattr(un, model.value) if model.value.endswith("rr") else functools.partial(un.BagRidgeCV, model.value)
    fitted: un.BagRidgeCV = make(cv=cv, noise_augmentation=noise, random_state=seed).fit(bags)
    fitted.by_ = by
    fitted.save(output)
    error, spread = (-fitted.best_score_) ** 0.5, float(bags.labels.std())  # type: ignore[union-attr]
    if as_json:
        found = {"path": str(output), "bags": len(bags), "columns": bags.columns, "params": fitted.best_params_}
        _print_json(found | {"rmse": error, "rmse_of_the_mean": spread})
    elif not quiet:
        chosen = ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in fitted.best_params_.items())
        print(
            f"{output}: {model.value} of {counted(len(bags), 'bag')}, {counted(len(bags.columns), 'column')}; {chosen}"
        )
        print(f"error (RMSE) on held-out bags {error:.4g}; of the mean {spread:.4g}")
    reader.say_notes()


@app.command(epilog=_FIT_EXAMPLES)
@_one_line_errors
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What `uptonoise fit` wrote.")],
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file, folder or pattern with the rows of new bags.")],
    by: Annotated[str | None, typer.Option(help="The column of the bags; default: the one of the fit.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the predictions (.csv); default: print them.")
    ] = None,
    missing: Drop = Missing.error,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Predict the number of each new bag, as a table of ids and predictions."""
    if output is not None:
        _check_output("--output", output, ".csv", force)
    fitted = un.BagRidgeCV.load(model)
    named = by or fitted.by_
    if named is None:
        raise ValueError("give the column of the bags with --by; the model does not know it")
    reader = _Reader(None, missing.value, delimiter, decimal, encoding, quiet, quiet or as_json)
    columns = list(getattr(fitted.first_, "feature_names_in_", [])) or None
    bags = un.Bags.from_rows(reader.rows(path, columns, named))
    predicted = fitted.predict(bags)
    if as_json:
        text = json.dumps(dict(zip(map(str, bags.ids), predicted.tolist(), strict=True)), indent=2) + "\n"
    else:
        text = _as_csv([(named, "prediction"), *zip(bags.ids, map(repr, predicted.tolist()), strict=True)])
    if output is None:
        print(text, end="")
    else:
        with written_whole(output) as file:
            file.write(text.encode())
    reader.say_notes()


def _as_csv(rows: Sequence[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


@app.command()
@_one_line_errors
def demo(
    report: Report = None, force: Force = False, as_json: AsJson = False, seed: Seed = 0, quiet: Quiet = False
) -> None:
    """Compare simulated detectors, one pair for each verdict, with the truth beside the answer.

    With --report the third pair gets a page: a new detector that is noisier, and whose zero has moved.
    """
    if report is not None:
        _check_output("--report", report, ".html", force)
    pairs = un.datasets.make_demo_pairs(seed)
    columns = un.datasets.DEMO_COLUMNS
    found = [
        un.compare(
            ArrayRows(pair.X, columns=columns), ArrayRows(pair.Y, columns=columns), names=pair.names, random_state=seed
        )
        for pair in pairs
    ]
    right = sum(one.verdict == pair.truth for one, pair in zip(found, pairs, strict=True))
    if as_json:
        answers = zip(pairs, found, strict=True)
        _print_json([{"story": pair.story, "truth": pair.truth} | one.to_dict() for pair, one in answers])
    else:
        _print_demo(pairs, found, right, quiet)
    if report is not None:
        _write_report(found[_SHOWN_PAIR], report, force, as_json or quiet)


@app.command(epilog=_REPRODUCE_EXAMPLES)
@_one_line_errors
def reproduce(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="What --list names.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    runs: Annotated[int | None, typer.Option(help="Repetitions; default: those of the full run.", min=1)] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; default: one for each core.", min=1)] = None,
    out: Annotated[Path, typer.Option(help="The folder to write into; it is made where there is none.")] = _RESULTS,
    quick: Annotated[bool, typer.Option("--quick", help="A look within a minute: few runs of small settings.")] = False,
    draw: Annotated[bool, typer.Option("--draw", help="Only draw the figure again, from the CSV in --out.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment of the paper, or one of ours, again.

    It writes NAME.csv, the figure NAME.png and NAME.svg, and NAME.json with settings, seed, versions and duration.
    After an interruption the same command goes on where it stopped; the number of workers changes no number.
    """
    from uptonoise import experiments

    if listed:
        _print_experiments([(name, experiments.title(name)) for name in experiments.NAMES], quiet)
        return
    if not names:
        raise ValueError("name an experiment; uptonoise reproduce --list names all")
    chosen = [experiments.load(name) for name in names]
    for experiment in chosen:
        if draw:
            done = [experiment.redraw(out)]
        else:
            _check_folder(out)
            try:
                table = experiment.run(out, runs, workers, quick=quick, progress=False if quiet else None)
            except KeyboardInterrupt:
                _stop("interrupted; what was done is kept, and the same command goes on from there", _CANNOT)
            done = [table.with_suffix(end) for end in (".csv", ".png", ".svg", ".json")]
        if not quiet:
            print("\n".join(str(path) for path in done))


def _print_experiments(experiments: Sequence[tuple[str, str]], quiet: bool) -> None:
    if quiet:
        print("\n".join(name for name, _ in experiments))
        return
    lines = Table.grid(padding=(0, 2))
    for name, title in experiments:
        lines.add_row(Text(name, style="bold"), Text(title))
    _console().print(lines)


def _check_folder(folder: Path) -> None:
    """Raise before any work where a folder cannot be written into."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"--out must be a folder; {there} is a file")
    if not os.access(there, os.W_OK):
        raise PermissionError(f"the folder {there} is not writable")


def _print_demo(pairs: list[un.datasets.DemoPair], found: list[un.Comparison], right: int, quiet: bool) -> None:
    console = _console()
    if not quiet:
        console.print("Two simulated detectors with three columns; noise is Laplace, as large as the signal.")
        for pair, one in zip(pairs, found, strict=True):
            console.print()
            console.print(Text(pair.story, style="bold"))
            console.print(f"  truth   {pair.truth}")
            console.print(Text("  answer  ").append(one.verdict, style=_COLOURS[one.verdict]))
            console.print(Padding(Text(one.sentence), (0, 0, 0, 10)))
        console.print()
    console.print(f"{right} of {len(pairs)} answers are right.")


class _Reader:
    """How files are read: what the options say, and which sources were opened."""

    def __init__(
        self,
        columns: list[str] | None,
        missing: str,
        delimiter: str | None,
        decimal: str,
        encoding: str,
        quiet: bool,
        silent: bool,
    ) -> None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
        self.columns = columns
        self.how: dict[str, Any] = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
        self.kept: dict[str, Any] = {"missing": missing, "progress": False if silent else None}
        self.quiet = quiet
        self.on_cluster = False
        self.sources: list[Any] = []
        self.notes: list[str] = []

    def rows(self, path: str, columns: Sequence[str] | None = None, by: str | None = None) -> RowSource:
        """Open the rows of a file."""
        from uptonoise.engines import open_rows, scan_dask

        source = open_rows(path, columns=columns or self.columns, by=by, **self.how, **self.kept)
        if self.on_cluster:
            source = scan_dask(source)
        self.sources.append(source)
        return source

    def sketched(
        self, path: str, weights: str | None, like: un.Sketch | None, seed: int, frequencies: int | None = None
    ) -> un.Sketch:
        """Return the sketch of a file, with the frequencies of another one or with its own."""
        if like is None:
            source = self.rows(path, self.with_column(self.columns, weights))
            weighted = as_rows(source, weights=weights)
            empty = un.Sketch.for_samples(weighted, n_frequencies=frequencies, random_state=seed)
            return empty.update(weighted)
        if frequencies is not None:
            raise ValueError("--frequencies must be left out with --like, which brings its own")
        if self.columns is not None and list(self.columns) != list(like.columns):
            raise ValueError(f"--columns must be left out with --like, which has {', '.join(like.columns)}")
        columns = list(like.columns) if like.named else None
        return un.Sketch.like(like).update(self.rows(path, self.with_column(columns, weights)), weights=weights)

    def pair(self, first: str, second: str, weights: str | None) -> tuple[Any, Any]:
        """Return both samples, each rows or a sketch; rows beside a sketch become one like it."""
        sketches = [un.Sketch.load(path) if _is_sketch(path) else None for path in (first, second)]
        if sketches[0] is None and sketches[1] is None:
            columns = self.with_column(self.columns or self._common(first, second, weights), weights)
            return self.rows(first, columns), self.rows(second, columns)
        if weights is not None and None not in sketches:
            raise ValueError("--weights is for rows; sketches have theirs already")
        known = next(one for one in sketches if one is not None)
        if self.columns is not None:
            known = known.select(self.columns)
            sketches = [None if one is None else one.select(self.columns) for one in sketches]
        both = [
            one or self.sketched(path, weights, known, 0) for one, path in zip(sketches, (first, second), strict=True)
        ]
        return both[0], both[1]

    def numeric(self, path: str, by: str) -> list[str] | None:
        """Return the columns of a file that hold numbers, beside that of its groups."""
        from uptonoise.engines import described_columns

        described = described_columns(path, **self.how)
        if self.columns is not None or described is None or by not in described:
            return self.columns
        kept = [name for name, wrong in described.items() if wrong is None and name != by]
        self._say_left_out("not numbers", [name for name in described if name not in kept and name != by])
        return kept or None

    def _common(self, first: str, second: str, weights: str | None) -> list[str] | None:
        """Return the columns that both files have and that are numbers in one at least; none where they have no names.

        What holds text in both is no measurement; what does in one only is a mistake, which the reader tells.
        """
        from uptonoise.engines import described_columns

        left, right = (described_columns(path, **self.how) for path in (first, second))
        if left is None or right is None:
            return None
        common = [name for name in left if name in right and name != weights]
        if not common:
            raise ValueError(
                f"{first} and {second} have no common columns: {', '.join([*left][:8])} and {', '.join([*right][:8])}. "
                "The first line of a file must name its columns"
            )
        text = [name for name in common if left[name] is not None and right[name] is not None]
        if len(text) == len(common):
            raise ValueError(
                f"{first} and {second} have no common column of numbers; {text[0]!r} holds {left[text[0]]}"
            )
        self._say_left_out("not in both files", [name for name in (*left, *right) if name not in (*common, weights)])
        self._say_left_out("not numbers", text)
        return [name for name in common if name not in text]

    def _say_left_out(self, why: str, names: list[str]) -> None:
        if names and not self.quiet:
            self.notes.append(f"left out, {why}: {', '.join(name or '(without a name)' for name in names[:20])}")

    @staticmethod
    def with_column(columns: Sequence[str] | None, name: str | None) -> list[str] | None:
        """Return the columns with one more, where they are chosen and it is not among them."""
        if columns is None or name is None or name in columns:
            return None if columns is None else list(columns)
        return [*columns, name]

    def say_notes(self) -> None:
        """Say on stderr which columns and how many rows were left out."""
        dropped = [(source.n_dropped, source.name) for source in self.sources if source.n_dropped]
        notes = [f"{counted(number, 'row')} of {name} left out for missing values" for number, name in dropped]
        for note in (*self.notes, *notes):
            print(f"uptonoise: {note}", file=sys.stderr)


def _is_sketch(path: str) -> bool:
    """Tell whether a file is a sketch, by what is in it."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return {"header.npy", "scatter.npy"} <= set(archive.namelist())


def _split(columns: list[str] | None) -> list[str] | None:
    if not columns:
        return None
    names = [name.strip() for given in columns for name in given.split(",")]
    if not all(names):
        raise ValueError(f"--columns must be names with commas between; got {', '.join(columns)!r}")
    return names


def _names(first: str, second: str) -> tuple[str, str]:
    """Return short names for two files, which differ."""
    short = Path(first).name or first, Path(second).name or second
    if short[0] != short[1]:
        return short
    return (first, second) if first != second else (f"{first} (1)", f"{second} (2)")


def _write_report(found: un.Comparison | un.GroupComparison, path: Path, force: bool, silently: bool) -> None:
    found.report(path, force=force)
    if not silently:
        print(f"The report is in {path}")


def _check_output(option: str, path: Path, suffix: str, force: bool) -> None:
    """Raise before any work where the output cannot be written."""
    if path.suffix != suffix:
        raise ValueError(f"{option} must end with {suffix}; got {path}")
    checked_target(path, force=force)


def _console() -> Console:
    """Return where answers are printed: in colours on a terminal, as plain text in a pipe."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE)


def _print_json(what: Any) -> None:
    print(json.dumps(what, indent=2, allow_nan=False))


def _print_comparison(found: un.Comparison, as_json: bool, quiet: bool) -> None:
    if as_json:
        _print_json(found.to_dict())
        return
    console = _console()
    console.print(Text(found.sentence, style=f"bold {_COLOURS[found.verdict]}"), soft_wrap=True)
    if quiet:
        return
    console.print()
    lines = Table.grid(padding=(0, 2))
    for question, answer, why in found.ladder():
        lines.add_row(f"{question}?", Text(answer, style="bold"), Text(why))
    for label, text in found.findings():
        lines.add_row(Text(label), "", Text(text))
    for text in found.missing:
        lines.add_row("missing", "", Text(text))
    rows = f"{found.sizes[0]:,} and {found.sizes[1]:,}"
    lines.add_row("rows", "", Text(f"{rows}; seed {found.seed}"))
    console.print(lines)
    if len(found.by_column) > 1:
        console.print()
        console.print(_column_table(found))


def _column_table(found: un.Comparison) -> Table:
    ordered = sorted(found.by_column, key=lambda one: one.adjusted_beyond_noise)
    more = len(ordered) - _TABLE_ROWS
    note = "p-values adjusted by Holm's method" + (f"; {more} more columns with --json" if more > 0 else "")
    table = Table(
        "column", "p at all", "p beyond noise", "p beyond offset", "effect", "offset", "extra noise", caption=note
    )
    for one in ordered[:_TABLE_ROWS]:
        adjusted = (one.adjusted_at_all, one.adjusted_beyond_noise, one.adjusted_beyond_offset)
        table.add_row(
            Text(one.column),
            *map(said_pvalue, adjusted),
            f"{one.effect.estimate:.2g}",
            f"{one.offset:.3g}",
            f"{one.extra_noise:+.2g} +- {one.extra_noise_error:.1g}",
        )
    return table


def _print_groups(groups: un.GroupComparison, as_json: bool, quiet: bool) -> None:
    if as_json:
        _print_json(groups.to_dict())
        return
    console = _console()
    console.print(Text(groups.sentence, style="bold"), soft_wrap=True)
    if quiet:
        return
    table = Table("one", "other", "p", "adjusted p", "effect", caption=_groups_caption(groups))
    for i, j in list(zip(*groups.pairs.ordered(), strict=True))[:_TABLE_ROWS]:
        pair, numbers = (groups.names[i], groups.names[j]), (groups.pairs.pvalues[i, j], groups.pairs.adjusted[i, j])
        table.add_row(*map(Text, pair), *map(said_pvalue, numbers), f"{groups.pairs.effects[i, j]:.2g}")
    console.print(table)


def _groups_caption(groups: un.GroupComparison) -> str:
    n_pairs = len(groups.names) * (len(groups.names) - 1) // 2
    sizes = f"{min(groups.pairs.sizes):,} to {max(groups.pairs.sizes):,} rows a group"
    more = f"; {n_pairs - _TABLE_ROWS:,} more pairs with --json" if n_pairs > _TABLE_ROWS else ""
    return f"{sizes}; adjusted ({groups.pairs.adjust}); seed {groups.seed}{more}"
