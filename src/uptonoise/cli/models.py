"""``uptonoise fit`` and ``predict``: what a bag of rows predicts."""

from __future__ import annotations

import csv
import functools
import io
import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import uptonoise as un
from uptonoise.cli.options import Answer, Columns, Reading, Seed, command, split_columns

EXAMPLES = """Examples:

- `uptonoise fit bags.csv --by patient --label y -o model.npz`
- `uptonoise fit bags.csv --by patient --label y --noise 3 -o model.npz`
- `uptonoise predict model.npz new.csv`
"""


class Model(StrEnum):
    """Models on bags: the library's own on phases and on Fourier features, and the paper's."""

    phase = "phase"
    fourier = "fourier"
    plrr = "plrr"
    glrr = "glrr"
    lgrr = "lgrr"
    pgrr = "pgrr"
    ggrr = "ggrr"


@command
def fit(
    *,
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file, folder or pattern: one row per observation.")],
    by: Annotated[str, typer.Option(help="The column that says which bag a row belongs to.")],
    label: Annotated[str, typer.Option(help="The column with the target, the same in all rows of a bag.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model (.npz).")],
    model: Annotated[
        Model,
        typer.Option(
            help="Phases, which noise does not change, or Fourier features; or a model of the paper: phase (p), "
            "Fourier (g) or mean (l) features, linear (lrr) or with a Gaussian kernel (grr)."
        ),
    ] = Model.phase,
    noise: Annotated[
        float | None,
        typer.Option(
            help="Prepare for noise that these bags do not have and new bags may have: its largest variance, in units "
            "of each column's own variance.",
            min=0.0,
        ),
    ] = None,
    cv: Annotated[int, typer.Option(help="The number of folds.", min=2)] = 3,
    columns: Columns = None,
    reading: Reading,
    answer: Answer,
    seed: Seed = 0,
) -> None:
    """Learn to predict a number from bags of rows: patients with cells, clusters with galaxies."""
    from uptonoise.cli.printing import print_model
    from uptonoise.cli.reader import opened, with_column

    answer.check_output("--output", output, ".npz")
    with opened(split_columns(columns), reading, answer) as reader:
        choice = with_column(reader.choose(path, kept_apart=[by, label]), label)
        bags = un.Bags.from_rows(reader.rows(path, choice, by), label=label)
        reader.print_notes()
        make = getattr(un, model.value) if model.value.endswith("rr") else functools.partial(un.BagRidgeCV, model.value)
        fitted = make(cv=cv, noise_augmentation=noise, random_state=seed).fit(bags)
        fitted.by_ = by
        fitted.save(output, force=answer.force)
        print_model(fitted, model.value, bags, output, answer)


@command
def predict(
    *,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What `uptonoise fit` wrote.")],
    path: Annotated[str, typer.Argument(metavar="FILE", help="A file, folder or pattern with the rows of new bags.")],
    by: Annotated[str | None, typer.Option(help="The column of the bags; default: that of the fit.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the predictions (.csv); default: print them.")
    ] = None,
    reading: Reading,
    answer: Answer,
) -> None:
    """Predict the number of each new bag, as a table of ids and predictions."""
    from uptonoise._util.files import written_whole
    from uptonoise.cli.reader import opened
    from uptonoise.engines import Choice

    answer.check_output("--output", output, ".csv")
    fitted = un.BagRidgeCV.load(model)
    id_column = by or fitted.by_
    if id_column is None:
        raise ValueError("give the column of the bags with --by; the model does not know it")
    columns = list(getattr(fitted.first_, "feature_names_in_", [])) or None
    with opened(None, reading, answer) as reader:
        bags = un.Bags.from_rows(reader.rows(path, Choice(columns, {}), id_column))
        reader.print_notes()
        predicted = fitted.predict(bags).tolist()
        if answer.as_json:
            text = json.dumps(dict(zip(map(str, bags.ids), predicted, strict=True)), indent=2) + "\n"
        else:
            table = io.StringIO()
            writer = csv.writer(table, lineterminator="\n")
            writer.writerow((id_column, "prediction"))
            writer.writerows(zip(bags.ids, map(repr, predicted), strict=True))
            text = table.getvalue()
        if output is None:
            print(text, end="")
        else:
            with written_whole(output, force=answer.force) as file:
                file.write(text.encode())
