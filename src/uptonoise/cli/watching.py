"""``uptonoise monitor``: batches against a reference, night after night."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uptonoise._util.wording import printable
from uptonoise.cli.options import (
    FILES_HELP,
    Answer,
    Cluster,
    Columns,
    Reading,
    Report,
    Seed,
    answer_option,
    command,
    command_line,
    rows_option,
    split_columns,
    stop,
)

if TYPE_CHECKING:
    from uptonoise.engines import OpenFiles
    from uptonoise.monitor import Job
    from uptonoise.rows import InputRecord

EXAMPLES = """Examples:

- `uptonoise monitor reference.parquet "night/*.parquet" --state state.npz`
- `uptonoise monitor reference.csv night/ --state state.npz --up-to noise+shift --report timeline.html --force`
- `uptonoise monitor reference.csv night/ --state state.npz --guarantee "run length" --run-length 365`
"""
_ALARM, _USED_UP = 1, 3

Missing = StrEnum("Missing", ["error", "drop", "use"])
UpTo = StrEnum("UpTo", {"noise": "noise", "noise_and_shift": "noise+shift"})
Guarantee = StrEnum("Guarantee", {"probability": "probability", "run_length": "run length"})
WhenUsedUp = StrEnum("WhenUsedUp", ["stop", "reuse"])


@dataclass(frozen=True)
class NightlyReading(Reading):
    """How files are read, night after night."""

    missing: Annotated[
        Missing, rows_option("--missing", metavar="error|drop|use", help="What to do with missing values.")
    ] = Missing.error  # type: ignore[assignment]


@dataclass(frozen=True)
class Promise:
    """What is promised about false alarms, and what does not count as a difference."""

    alpha: Annotated[
        float, answer_option(metavar="P", help="The probability of a false alarm, ever; default: 0.05.")
    ] = 0.05
    up_to: Annotated[UpTo, answer_option(help="What is no difference: noise (the default), or also an offset.")] = (
        UpTo.noise
    )
    guarantee: Annotated[
        Guarantee,
        answer_option(
            metavar="NAME", help='"probability" of any false alarm (the default), or "run length" before it.'
        ),
    ] = Guarantee.probability
    run_length: Annotated[
        float | None, answer_option(metavar="N", help="Batches before a false alarm, on average.")
    ] = None
    when_used_up: Annotated[
        WhenUsedUp, answer_option(help="After the last row of the reference: stop (the default), or use all again.")
    ] = WhenUsedUp.stop

    def settings(self, missing: str, seed: int) -> dict[str, Any]:
        """Return the arguments of a monitor."""
        return {
            "alpha": self.alpha,
            "invariant_to": self.up_to.value,
            "guarantee": self.guarantee.value,
            "run_length": self.run_length,
            "when_used_up": self.when_used_up.value,
            "missing": missing,
            "random_state": seed,
        }


@command
def monitor(
    *,
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help=f"{FILES_HELP}.")],
    batches: Annotated[
        list[str], typer.Argument(metavar="BATCHES", help=f"{FILES_HELP}, or several; each file is a batch.")
    ],
    state: Annotated[Path, typer.Option(metavar="FILE", help="Where the state is kept from night to night (.npz).")],
    columns: Columns = None,
    cluster: Cluster = None,
    reading: NightlyReading,
    promise: Promise,
    any_order: Annotated[
        bool, typer.Option("--any-order", help="Also compare files whose names sort before those already compared.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Forget the alarm and all evidence first, as after a repair.")
    ] = False,
    report: Report = None,
    answer: Answer,
    seed: Seed = 0,
) -> None:
    """Compare the files that were not seen with a reference, and raise an alarm when the signal differs beyond noise.

    Prints one line per batch. It ends with 1 if there is an alarm, with 3 if the reference is used up, so that nothing
    is compared any more, with 2 where something is wrong, and else with 0. Each file counts fully or not at all, and
    only once; two jobs cannot work with one state.
    """
    from uptonoise.engines import OpenFiles
    from uptonoise.monitor import Job
    from uptonoise.rows import FileStamp, InputRecord

    if state.suffix != ".npz":
        raise ValueError(f"--state must end with .npz; got {state}")
    if reading.coding is not None and promise.up_to is not UpTo.noise:
        raise ValueError("--up-to must be noise with --categories one-hot: categories have no zero that could move")
    answer.check_output("--report", report, ".html")
    files = OpenFiles(reference, **reading.text_options())
    job = Job(
        reference=reference,
        batches=batches,
        state=state,
        settings=promise.settings(reading.missing.value, seed),
        columns=_chosen(files, split_columns(columns), cluster, reading, is_new=not state.exists()),
        clusters=cluster,
        any_order=any_order,
        restart=restart,
        max_dropped=reading.max_dropped,
        how=reading.text_options(),
    )
    given = {"reference": reference, "batches": ", ".join(batches), "state": str(state)}
    stamps = tuple(FileStamp.of(file.path) for file in files.files)
    _watch(job, report, answer, InputRecord(files=stamps, settings=given | reading.chosen() | command_line()))


def _chosen(
    files: OpenFiles, columns: list[str] | None, cluster: str | None, reading: Reading, *, is_new: bool
) -> list[str] | None:
    """Return the columns to watch; tell which are left out, and of a new monitor whether rows look dependent."""
    from uptonoise.engines import chosen_columns
    from uptonoise.rows import find_dependence, left_out_text

    excluded = split_columns(reading.exclude, "--exclude") or []
    choice = chosen_columns([files], columns, excluded, [] if cluster is None else [cluster], reading.coding)
    if choice.left_out and columns is None:
        print(f"uptonoise: left out: {printable(left_out_text(choice.left_out))}", file=sys.stderr)
    if cluster is None and is_new:
        dependence = find_dependence(files.rows(columns=choice.columns, missing="drop", progress=False))
        if dependence is not None:
            warning = printable(f"the guarantee needs independent rows, and {dependence}")
            print(f"uptonoise: warning: {warning}", file=sys.stderr)
    return choice.columns


def _watch(job: Job, report: Path | None, answer: Answer, record: InputRecord) -> None:
    """Compare all new batches, print what is known after each, and write the report.

    It ends with 1 where there is an alarm, or with 3 where no further row can raise one.
    """
    runs = job.run()
    watched, _ = next(runs)
    n_new = 0
    try:
        for _, state in runs:
            if state is not None:
                n_new += 1
                text = json.dumps(state.to_dict(), allow_nan=False) if answer.as_json else printable(state.line)
                print(text, flush=True)
    except KeyboardInterrupt:
        stop("interrupted; the batches that were printed are saved, run it again to go on")
    known = watched.state
    if answer.in_words and n_new == 0:
        print("no new batch")
    if answer.in_words and known is not None:
        print(printable(known.sentence))
    if report is not None and known is not None:
        watched.report(report, force=answer.force, record=record)
    if known is not None and known.alarm:
        raise typer.Exit(_ALARM)
    if watched.is_used_up:
        print(
            "uptonoise: the reference is used up, so that further rows are not compared: give a longer reference, or "
            "--when-used-up reuse with a new state",
            file=sys.stderr,
        )
        raise typer.Exit(_USED_UP)
