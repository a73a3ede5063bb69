"""``uptonoise fit`` and ``predict``: what a bag of rows predicts."""

from __future__ import annotations

import csv
import functools
import io
import json
import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import uptonoise as un
from uptonoise._util.wording import printable
from uptonoise.cli.options import FILE_HELP, Answer, Columns, Reading, Seed, command, rows_option, split_columns

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula of a spreadsheet starts with
EXAMPLES = """Examples:

- `uptonoise fit bags.csv --by patient --label y -o model.npz`
- `uptonoise fit bags.csv --by station,day --label season --classes --group station -o model.npz`
- `uptonoise fit bags.csv --by patient --label y --noise 3 -o model.npz`
- `uptonoise predict model.npz new.csv --interval 0.9`
"""


# The best that the library has, linear models on phases and on Fourier features, and the paper's.
Model = StrEnum("Model", ["best", "phase", "fourier", "plrr", "glrr", "lgrr", "pgrr", "ggrr"])


@command
def fit(
    *,
    path: Annotated[str, typer.Argument(metavar="FILE", help=FILE_HELP)],
    by: Annotated[str, rows_option(metavar="A,B", help="The column that names bags, or several.")],
    label: Annotated[str, rows_option(metavar="COLUMN", help="The column with the target.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model (.npz).")],
    classes: Annotated[bool, typer.Option("--classes", help="The targets are classes, not numbers.")] = False,
    model: Annotated[
        Model,
        typer.Option(
            metavar="NAME",
            help="best (the default), phase, fourier, or plrr, glrr, lgrr, pgrr, ggrr of the paper.",
            show_default=False,
        ),
    ] = Model.best,
    noise: Annotated[
        float | None,
        typer.Option(
            metavar="SD",
            help="The largest noise that new bags may have beyond these, in SD of each column.",
            min=0.0,
        ),
    ] = None,
    group: Annotated[
        str | None,
        rows_option(metavar="COLUMN", help="The column of groups of bags that stay together in cross-validation."),
    ] = None,
    cv: Annotated[int | None, typer.Option(metavar="N", help="The number of folds; default: 3 or 5.", min=2)] = None,
    columns: Columns = None,
    reading: Reading,
    answer: Answer,
    seed: Seed = 0,
) -> None:
    """Learn to predict a number or a class from bags of rows: patients with cells, clusters with galaxies."""
    from uptonoise.cli.bag_reader import Roles, check_fit, read_bags
    from uptonoise.cli.printing import print_model
    from uptonoise.cli.reader import opened

    answer.check_output("--output", output, ".npz")
    if classes and model is not Model.best:
        raise ValueError(f"--classes is for --model best; got {model.value}")
    roles = Roles(split_columns([by], "--by") or [], label, classes, group)
    with opened(split_columns(columns), reading, answer) as reader:
        choice = reader.choose(path, kept_apart=[*roles.by, label, group])
        bags, groups = read_bags(reader, path, choice, roles)
        check_fit(len(bags), bags.values.shape, is_best=model is Model.best)
        reader.print_notes()
        if model is Model.best:
            make: Any = un.BagClassifier if classes else un.BagRegressor
            unfitted = make("unknown" if noise is None else noise, cv=cv, random_state=seed)
        else:
            ridge = functools.partial(un.BagRidgeCV, model.value)
            make = getattr(un, model.value) if model.value.endswith("rr") else ridge
            unfitted = make(cv=cv or 3, noise_augmentation=None if noise is None else noise**2, random_state=seed)
        fitted = unfitted.fit(bags, groups=groups)
        fitted.by_ = roles.by[0] if len(roles.by) == 1 else list(roles.by)
        fitted.save(output, force=answer.force)
        print_model(fitted, model.value, bags, output, answer)


@command
def predict(
    *,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What `uptonoise fit` wrote.")],
    path: Annotated[str, typer.Argument(metavar="FILE", help=FILE_HELP)],
    by: Annotated[
        str | None, rows_option(metavar="A,B", help="The column that names bags, or several; default: as in fit.")
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Add intervals that hold this share of targets.", min=0.0, max=1.0),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the predictions (.csv); default: print them.")
    ] = None,
    spreadsheet: Annotated[
        bool, typer.Option("--spreadsheet", help="Put ' before ids that a spreadsheet would run as a formula.")
    ] = False,
    reading: Reading,
    answer: Answer,
) -> None:
    """Predict the number or the class of each new bag, as a table of ids and predictions."""
    from uptonoise._util.files import written_whole
    from uptonoise._util.storage import archive_kind
    from uptonoise.cli.bag_reader import Roles, check_predict, read_bags
    from uptonoise.cli.reader import opened
    from uptonoise.engines import Choice

    answer.check_output("--output", output, ".csv")
    kinds = {"bag regressor": un.BagRegressor, "bag classifier": un.BagClassifier}
    fitted: Any = kinds.get(archive_kind(model) or "", un.BagRidgeCV).load(model)
    known = [fitted.by_] if isinstance(fitted.by_, str) else fitted.by_
    names = known if by is None else split_columns([by], "--by")
    if not names:
        raise ValueError("give the column of the bags with --by; the model does not know it")
    columns = list(getattr(getattr(fitted, "first_", fitted), "feature_names_in_", [])) or None
    with opened(None, reading, answer) as reader:
        bags, _ = read_bags(reader, path, Choice(columns, {}), Roles(names))
        check_predict(len(bags), bags.values.shape, is_best=not isinstance(fitted, un.BagRidgeCV))
        reader.print_notes()
        table = _predictions(fitted, bags, interval)
        text = _as_json(bags, table) if answer.as_json else _as_csv(bags, names, table, spreadsheet)
        if output is None:
            print(printable(text) if sys.stdout.isatty() else text, end="")
        else:
            with written_whole(output, force=answer.force) as file:
                file.write(text.encode())


def _predictions(fitted: Any, bags: un.Bags, interval: float | None) -> dict[str, list[Any]]:
    """Return the columns of the table of predictions."""
    if interval is not None and not hasattr(fitted, "predict_interval"):
        raise ValueError("--interval is for models of numbers that were fitted with --model best")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", un.UnusualBagsWarning)
        table = {"prediction": fitted.predict(bags).tolist()}
    for warning in caught:
        print(f"uptonoise: warning: {warning.message}", file=sys.stderr)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.UnusualBagsWarning)  # which was printed
        if interval is not None:
            table["low"], table["high"] = fitted.predict_interval(bags, interval).T.tolist()
        if hasattr(fitted, "predict_proba"):
            shares = fitted.predict_proba(bags).T.tolist()
            table |= {f"p({name})": share for name, share in zip(fitted.classes_, shares, strict=True)}
    return table


def _as_json(bags: un.Bags, table: dict[str, list[Any]]) -> str:
    """Return predictions by id: numbers, or objects where there is more than the prediction."""
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    entries = [row["prediction"] if len(row) == 1 else row for row in rows]
    ids = [" ".join(map(str, bag)) if isinstance(bag, tuple) else str(bag) for bag in bags.ids]
    return json.dumps(dict(zip(ids, entries, strict=True)), indent=2) + "\n"


def _as_csv(bags: un.Bags, names: list[str], table: dict[str, list[Any]], spreadsheet: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*names, *table))
    for bag, *row in zip(bags.ids, *table.values(), strict=True):
        ids = bag if isinstance(bag, tuple) else (bag,)
        if spreadsheet:
            ids = tuple(f"'{part}" if isinstance(part, str) and part.startswith(_FORMULA) else part for part in ids)
        writer.writerow((*ids, *(repr(value) if isinstance(value, float) else value for value in row)))
    return text.getvalue()
