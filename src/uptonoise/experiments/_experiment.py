"""What all experiments share: one way to run, to go on after an interruption, to record, and to draw.

An experiment is data and a function that makes the rows of a table from them. Its work is cut into tasks, each with a
key and seeds of its own; tasks are computed by joblib, and results are kept in a file beside the output, one line
per task, until all is done. So an interrupted run goes on where it stopped, and neither the order nor the number of
workers changes a number. The table is written as CSV; the figure is drawn from that file alone.
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed

import uptonoise
from uptonoise._util.files import written_whole
from uptonoise._util.progress import Progress
from uptonoise._util.threads import single_threaded_blas
from uptonoise.experiments._figures import Draw, save_figure, titled
from uptonoise.plots import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = dict[str, Any]

BATCH = 25
"""Repetitions in one task."""

_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "narwhals", "torch", "matplotlib")
_THREADS = "UPTONOISE_NUM_THREADS"


class Task(NamedTuple):
    """A piece of work: a key that no other piece of the experiment has, and a call whose result JSON can hold."""

    key: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Outputs(NamedTuple):
    """The files that an experiment writes."""

    table: Path
    record: Path
    png: Path
    svg: Path
    unfinished: Path

    @classmethod
    def of(cls, folder: Path, name: str) -> Outputs:
        """Return the files of an experiment in a folder."""
        return cls(*(folder / f"{name}.{end}" for end in ("csv", "json", "png", "svg", "unfinished.jsonl")))

    @property
    def is_quick(self) -> bool:
        """Whether the record says that the table is of a quick run."""
        return self.record.exists() and bool(json.loads(self.record.read_text(encoding="utf-8")).get("quick"))


@dataclass(frozen=True)
class NamedCell:
    """A cell of a table: the settings that make its name and its seeds."""

    settings: dict[str, Any]

    @property
    def name(self) -> str:
        """The settings as text."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items())

    def generator(self, seed: int, repetition: int) -> np.random.Generator:
        """Return a generator of the experiment's seed, the name and the repetition's number."""
        words = np.random.SeedSequence([seed, zlib.crc32(self.name.encode()), repetition])
        return np.random.default_rng(words)


@dataclass(frozen=True)
class Experiment(ABC):
    """A figure or table: its name, what the paper shows, the seed, and how the figure is drawn from the rows.

    Where it can use a GPU, the record says on which device it ran.
    """

    name: str
    paper: str
    repetitions: int = field(default=1, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    draw: Draw | None = field(default=None, kw_only=True)
    uses_gpu: bool = field(default=False, kw_only=True)

    @property
    def default_repetitions(self) -> int:
        """How many repetitions a full run has."""
        return self.repetitions

    @abstractmethod
    def quickened(self) -> Self:
        """Return the experiment with few repetitions and small cells, for a look within a minute."""

    @abstractmethod
    def described(self) -> Any:
        """Return the settings as data for the record."""

    @abstractmethod
    def rows(self, runner: Runner, repetitions: int) -> list[Row]:
        """Return the rows of the table."""

    def table_columns(self, rows: Sequence[Row]) -> list[str]:
        """Return the columns of the table: those that any of the rows has, unless a subclass knows better."""
        return list(dict.fromkeys(key for row in rows for key in row))

    def run(
        self,
        folder: Path,
        repetitions: int | None = None,
        workers: int | None = None,
        *,
        quick: bool = False,
        progress: bool | None = False,
    ) -> Path:
        """Write the table (CSV), the figure (PNG and SVG) and the record (JSON) into `folder`; return the table.

        Parameters
        ----------
        folder : Path
            Where to write; it is made where there is none.
        repetitions : int, optional
            Instead of the number of a full run.
        workers : int, optional
            Processes; by default as many as there are cores, or workers of the backend that joblib is set to.
        quick : bool
            Only a look: few repetitions of small cells.
        progress : bool, optional
            As for :class:`~uptonoise._util.progress.Progress`.
        """
        chosen = self.quickened() if quick else self
        n = repetitions or chosen.default_repetitions
        outputs = Outputs.of(folder, self.name)
        if quick and outputs.table.exists() and not outputs.is_quick:
            raise FileExistsError(f"{outputs.table} is of a full run; give another folder for a quick one")
        folder.mkdir(parents=True, exist_ok=True)
        kept = chosen.kept(folder, n, quick=quick)
        start = time.monotonic()
        rows = chosen.rows(Runner(self.name, kept, workers, progress), n)
        write_table(outputs.table, rows, chosen.table_columns(rows))
        record = kept.header | {
            "title": titled(self.paper, rows),
            "versions": _versions(),
            **({"device": ", ".join(sorted(kept.devices))} if kept.devices else {}),
            "workers": workers or "all",
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "duration_s": round(time.monotonic() - start, 1),
            "work_s": round(kept.seconds, 1),
            "tasks": len(kept.results),
            "tasks_resumed": kept.n_resumed,
        }
        with written_whole(outputs.record) as file:
            file.write((json.dumps(record, indent=2) + "\n").encode())
        self.redraw(folder)
        outputs.unfinished.unlink(missing_ok=True)
        return outputs.table

    def kept(self, folder: Path, runs: int, *, quick: bool = False) -> Kept:
        """Return what an interrupted run with as many repetitions has left in `folder`, to which tasks are added."""
        header = {"experiment": self.name, "runs": runs, "quick": quick, "seed": self.seed}
        header |= {"version": uptonoise.__version__, "settings": self.described()}
        device = device_in_use() if self.uses_gpu else None
        return Kept(Outputs.of(folder, self.name).unfinished, header, device)

    def redraw(self, folder: Path) -> Path:
        """Draw the figure again from the table in `folder`, without running anything; return the PNG file."""
        outputs = Outputs.of(folder, self.name)
        if not outputs.table.is_file():
            raise FileNotFoundError(f"there is no {outputs.table} to draw; run the experiment first")
        try:
            figure = self.figure(read_table(outputs.table))
        except (KeyError, IndexError, TypeError, ValueError, csv.Error) as error:
            what = f"{type(error).__name__}: {error}"
            raise ValueError(f"{outputs.table} is not a table of {self.name} with rows to draw ({what})") from None
        save_figure(figure, outputs.png, outputs.svg)
        return outputs.png

    def figure(self, rows: Sequence[dict[str, str]]) -> Figure:
        """Return the figure of the rows of a table."""
        with styled():
            return self.drawing()(titled(self.paper, rows), rows)

    def drawing(self) -> Draw:
        """Return what draws the figure."""
        if self.draw is None:
            raise ValueError(f"the experiment {self.name} has no figure")
        return self.draw


class Kept:
    """The results of an interrupted run: a file with the run's settings in its first line, then one for each task.

    `device` is where networks are trained in this run, if any; what was kept may be from a machine with another one.
    """

    def __init__(self, path: Path, header: dict[str, Any], device: str | None = None) -> None:
        self.path, self.header, self.device = path, header, device
        self.results: dict[str, Any] = {}
        self.devices: set[str] = set()
        self.seconds = 0.0
        if path.exists():
            self._read()
        self.n_resumed = len(self.results)

    def add(self, key: str, result: Any, seconds: float) -> None:
        """Keep what a task gave."""
        if not self.path.exists():
            self._append(self.header)
        line = {"key": key, "result": result, "seconds": seconds}
        self._append(line if self.device is None else line | {"device": self.device})
        self._take(line, self.device)

    def _take(self, line: dict[str, Any], device: str | None) -> None:
        self.results[line["key"]] = line["result"]
        self.seconds += line["seconds"]
        if device is not None:
            self.devices.add(device)

    def _append(self, line: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _read(self) -> None:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]  # a line that was cut off is computed again
        lines = [json.loads(line) for line in whole.splitlines()]
        given = json.loads(json.dumps(self.header))
        if not lines:
            self.path.unlink()
            return
        other = [key for key in given if lines[0].get(key) != given[key]]
        if other:
            was = ", ".join(f"{key} {lines[0].get(key)}" for key in other if key != "settings") or "other settings"
            raise ValueError(
                f"{self.path} is from an interrupted run with {was}; run that again to end it, or delete the file to "
                "begin anew"
            )
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        for line in lines[1:]:
            self._take(line, line.get("device"))


class Runner:
    """Computes tasks in parallel, with a progress bar, but those whose results are kept already."""

    def __init__(self, name: str, kept: Kept, workers: int | None = None, progress: bool | None = False) -> None:
        self.name, self.kept, self.workers, self.progress = name, kept, workers, progress

    @property
    def folder(self) -> Path:
        """Where the outputs go."""
        return self.kept.path.parent

    def map(self, tasks: Sequence[Task], step: str = "") -> list[Any]:
        """Return the results in the order of the tasks; `step` says in the progress bar which part of the work it is.

        Results are what JSON makes of them: lists, numbers and texts, and dictionaries of these with text as keys.
        """
        waiting = [task for task in tasks if task.key not in self.kept.results]
        label = f"{self.name}, {step}" if step else self.name
        with Progress(label, len(waiting), self.progress, units="tasks") as progress:
            for key, result, seconds in as_computed(waiting, self.workers):
                self.kept.add(key, result, seconds)
                progress.advance()
        return [self.kept.results[task.key] for task in tasks]


def batches(repetitions: Sequence[int], size: int = BATCH) -> Iterator[Sequence[int]]:
    """Cut repetitions into batches of a fixed size."""
    return (repetitions[start : start + size] for start in range(0, len(repetitions), size))


def batched(
    runner: Runner, jobs: Sequence[tuple[str, Callable[..., Any], tuple[Any, ...]]], repetitions: range, step: str = ""
) -> list[list[Any]]:
    """Return for each job what ``function(*arguments, batch)`` lists for all repetitions.

    A job is its key, a function and arguments. The first batch of all jobs comes first, then the second: so the time
    left is told well, whatever the jobs take.
    """
    cut = list(batches(repetitions))
    tasks = [
        Task(f"{key} / {batch[0]} to {batch[-1]}", function, (*arguments, batch))
        for batch in cut
        for key, function, arguments in jobs
    ]
    results = runner.map(tasks, step)
    return [[value for batch in results[place :: len(jobs)] for value in batch] for place in range(len(jobs))]


def as_computed(tasks: Sequence[Task], workers: int | None = None) -> Iterator[tuple[str, Any, float]]:
    """Compute tasks in parallel; yield the key, the result and the seconds of each as soon as it is there."""
    parallel = Parallel(n_jobs=workers or -1, return_as="generator_unordered")
    for key, result, seconds in parallel(delayed(_timed)(task) for task in tasks):
        yield key, json.loads(result), seconds


def _timed(task: Task) -> tuple[str, str, float]:
    """Return a task's key, its result as JSON, and the seconds that it took, with one thread of ours and of BLAS."""
    start = time.monotonic()
    with _one_thread(), single_threaded_blas:
        result = json.dumps(task.function(*task.arguments))
    return task.key, result, time.monotonic() - start


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let each task have one thread, as the workers share the cores."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_THREADS, None)  # another thread may have been here
        else:
            os.environ[_THREADS] = before


def device_in_use() -> str:
    """Return the name of the GPU that torch sees here, or "cpu"."""
    try:
        import torch
    except ImportError:
        return "cpu"

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else "cpu"


def _versions() -> dict[str, str]:
    versions = {"uptonoise": uptonoise.__version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def write_table(path: Path, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Write rows as CSV, whole or not at all."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    with written_whole(path) as file:
        file.write(text.getvalue().encode())


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, as text."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise ValueError(f"{path} has no rows")
    return rows
