"""``uptonoise reproduce``: the experiments again."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from uptonoise._util.wording import printable
from uptonoise.cli.options import Quiet, command, stop

EXAMPLES = """Examples:

- `uptonoise reproduce --list`
- `uptonoise reproduce chi2-power --quick`
- `uptonoise reproduce --all --quick` for a look at all of them
- `uptonoise reproduce chi2-level chi2-power --workers 2 --out results`
- `uptonoise reproduce chi2-power --draw` for the figure again, from the CSV file
"""

_RESULTS = Path("results")


@command
def reproduce(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="What --list names.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Run all; those whose data are missing are named.")] = False,
    runs: Annotated[int | None, typer.Option(help="Repetitions; default: those of the full run.", min=1)] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; default: one per core.", min=1)] = None,
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
    from uptonoise.cli.printing import print_experiments

    if listed:
        print_experiments([(name, experiments.title(name)) for name in experiments.NAMES], quiet)
        return
    if everything == bool(names):
        raise ValueError("name experiments, or give --all; uptonoise reproduce --list names them")
    existing = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not draw and not existing.is_dir():  # before any work
        raise NotADirectoryError(f"--out must be a folder; {existing} is a file")
    if not draw and not os.access(existing, os.W_OK):
        raise PermissionError(f"the folder {existing} is not writable")
    missing = []
    for experiment in [experiments.load(name) for name in names or experiments.NAMES]:
        try:
            if draw:
                written = [experiment.redraw(out)]
            else:
                table = experiment.run(out, runs, workers, quick=quick, progress=False if quiet else None)
                written = [table.with_suffix(suffix) for suffix in (".csv", ".png", ".svg", ".json")]
        except KeyboardInterrupt:
            stop("interrupted; what was done is kept, and the same command goes on from there")
        except (FileNotFoundError, ImportError) as error:
            if not everything:
                raise
            missing.append(f"uptonoise: {experiment.name} was left out: {printable(str(error))}")
            continue
        if not quiet:
            print("\n".join(map(str, written)))
    for line in missing:
        print(line, file=sys.stderr)
