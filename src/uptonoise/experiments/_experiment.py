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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed

import uptonoise
from uptonoise._util.files import written_whole
from uptonoise._util.progress import Progress
from uptonoise._util.threads import single_threaded_blas
from uptonoise.experiments._figures import Draw, Figure, save_figure, titled
from uptonoise.plots import styled

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
        return np.random.default_rng(np.random.SeedSequence([seed, zlib.crc32(self.name.encode()), repetition]))


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
        n = repetitions or chosen.repetitions
        path = folder / f"{self.name}.csv"
        if quick and path.exists() and not self.record(folder).get("quick"):
            raise FileExistsError(f"{path} is of a full run; give another folder for a quick one")
        folder.mkdir(parents=True, exist_ok=True)
        kept = chosen.kept(folder, n, quick=quick)
        start = time.monotonic()
        rows = chosen.rows(Runner(self.name, kept, workers, progress), n)
        write_table(path, rows, chosen.table_columns(rows))
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
        with written_whole(path.with_suffix(".json")) as file:
            file.write((json.dumps(record, indent=2) + "\n").encode())
        self.redraw(folder)
        kept.path.unlink(missing_ok=True)
        return path

    def record(self, folder: Path) -> dict[str, Any]:
        """Return the record of the last run into `folder`; it is empty where there was none."""
        path = folder / f"{self.name}.json"
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return record

    def kept(self, folder: Path, runs: int, *, quick: bool = False) -> Kept:
        """Return what an interrupted run with as many repetitions has left in `folder`, to which tasks are added."""
        header = {"experiment": self.name, "runs": runs, "quick": quick, "seed": self.seed}
        header |= {"version": uptonoise.__version__, "settings": self.described()}
        device = device_in_use() if self.uses_gpu else None
        return Kept(folder / f"{self.name}.unfinished.jsonl", header, device)

    def redraw(self, folder: Path) -> Path:
        """Draw the figure again from the table in `folder`, without running anything; return the PNG file."""
        path = folder / f"{self.name}.csv"
        if not path.is_file():
            raise FileNotFoundError(f"there is no {path} to draw; run the experiment first")
        try:
            figure = self.figure(read_table(path))
        except (KeyError, IndexError, TypeError, ValueError, csv.Error) as error:
            what = f"{type(error).__name__}: {error}"
            raise ValueError(f"{path} is not a table of {self.name} with rows to draw ({what})") from None
        save_figure(figure, path.with_suffix(".png"), path.with_suffix(".svg"))
        return path.with_suffix(".png")

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
        for line in self._read() if path.exists() else ():
            self._take(line)
        self.n_resumed = len(self.results)

    def add(self, key: str, result: Any, seconds: float) -> None:
        """Keep what a task gave."""
        line = {"key": key, "result": result, "seconds": seconds}
        line |= {} if self.device is None else {"device": self.device}
        begins = not self.path.exists()
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each) + "\n" for each in ([self.header] if begins else []) + [line])
        self._take(line)

    def _take(self, line: dict[str, Any]) -> None:
        self.results[line["key"]] = line["result"]
        self.seconds += line["seconds"]
        self.devices |= {line["device"]} if line.get("device") else set()

    def _read(self) -> list[dict[str, Any]]:
        """Return the lines of tasks, once the first one is known to have the same settings."""
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]  # a line that was cut off is computed again
        lines = [json.loads(line) for line in whole.splitlines()]
        given = json.loads(json.dumps(self.header))
        if not lines:
            self.path.unlink()
            return []
        other = [key for key in given if lines[0].get(key) != given[key]]
        if other:
            was = ", ".join(f"{key} {lines[0].get(key)}" for key in other if key != "settings") or "other settings"
            raise ValueError(
                f"{self.path} is from an interrupted run with {was}; run that again to end it, or delete the file to "
                "begin anew"
            )
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        return lines[1:]


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
        parallel = Parallel(n_jobs=self.workers or -1, return_as="generator_unordered")
        with Progress(label, len(waiting), self.progress, units="tasks") as progress:
            for key, result, seconds in parallel(delayed(_timed)(task) for task in waiting):
                self.kept.add(key, json.loads(result), seconds)
                progress.advance()
        return [self.kept.results[task.key] for task in tasks]


def batches(repetitions: Sequence[int], size: int = BATCH) -> list[Sequence[int]]:
    """Cut repetitions into batches of a fixed size."""
    return [repetitions[start : start + size] for start in range(0, len(repetitions), size)]


def batched(
    runner: Runner,
    jobs: Sequence[tuple[str, Callable[..., Any], tuple[Any, ...]]],
    repetitions: range | Sequence[range],
    step: str = "",
) -> list[list[Any]]:
    """Return for each job what ``function(*arguments, batch)`` lists for all repetitions, or for those of the job.

    A job is its key, a function and arguments. All jobs come equally far, batch by batch: so the time left is told
    well, whatever the jobs take.
    """
    ranges = [repetitions] * len(jobs) if isinstance(repetitions, range) else repetitions
    cut = [batches(numbers) for numbers in ranges]
    order = sorted((place / len(parts), job, place) for job, parts in enumerate(cut) for place in range(len(parts)))
    tasks = []
    for _, job, place in order:
        (key, function, arguments), batch = jobs[job], cut[job][place]
        tasks.append(Task(f"{key} / {batch[0]} to {batch[-1]}", function, (*arguments, batch)))
    results: list[list[Any]] = [[] for _ in jobs]
    for (_, job, _), values in zip(order, runner.map(tasks, step), strict=True):
        results[job] += values
    return results


def _timed(task: Task) -> tuple[str, str, float]:
    """Return a task's key, its result as JSON, and the seconds that it took, with one thread of ours and of BLAS."""
    start = time.monotonic()
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"  # the workers share the cores
    try:
        with single_threaded_blas():
            return task.key, json.dumps(task.function(*task.arguments)), time.monotonic() - start
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
