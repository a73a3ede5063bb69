"""Files as batches: those that were not seen, one after the other, each counted fully or not at all.

The state is written after every batch, whole or not at all. So a job that is stopped goes on where it was, and a batch
that was not finished counts as not seen.
"""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uptonoise._util.errors import hinted
from uptonoise.engines import OpenFiles
from uptonoise.monitor.state import MonitorState
from uptonoise.monitor.storage import saved_columns
from uptonoise.monitor.watch import Monitor
from uptonoise.rows import RowSource, check_dropped, split_name

_MOST_VALUES = 63_000_000  # of the reference, and of a batch: with what they become, both take less than 2 GB


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a nightly job does."""

    reference: str  # a file, folder or pattern with the rows of the reference
    batches: Sequence[str]  # files, folders or patterns; each file is a batch
    state: Path  # where the state is kept, .npz
    settings: Mapping[str, Any] = field(default_factory=dict)  # arguments of a Monitor, which stay from night to night
    columns: Sequence[str] | None = None  # to watch; by default all of the reference that hold numbers
    clusters: str | None = None  # the column that says which cluster a row belongs to
    any_order: bool = False  # whether a file may come whose name sorts before one that was seen
    restart: bool = False  # whether to forget all evidence, and the alarm, first
    max_dropped: float = 1.0  # the largest part of the rows of a file that may be left out for missing values
    how: Mapping[str, Any] = field(default_factory=dict)  # how files are read

    def run(self) -> Iterator[tuple[Monitor, MonitorState | None]]:
        """Yield the monitor, and what it says after each new batch, once the state is written; None at the start."""
        with locked(self.state):
            paths = batch_files(self.batches)
            monitor = self._monitor()
            yield monitor, None
            for path in paths:
                name, size = str(path), f"{path.stat().st_size} bytes"
                if monitor.has_seen(name, size):
                    continue
                if monitor.has_seen(name):
                    raise ValueError(f"{path} has another size than when it was compared; give new rows in a new file")
                last = monitor.state.name if monitor.state is not None else ""
                if name < last and not self.any_order:
                    problem = f"{path} sorts before {last}, which was compared already: time would go backwards"
                    raise hinted(ValueError, problem, "{any_order} compares it all the same", any_order=True)
                files = OpenFiles(path, **self.how)
                names = files.described_columns() or monitor.columns
                known = [column for column in monitor.columns if column in names or split_name(column, names)]
                batch = self._rows(files, known)
                state = monitor.update(batch, name=name, version=size)
                check_dropped(name, batch.record(), self.max_dropped)
                monitor.save(self.state)
                yield monitor, state

    def _monitor(self) -> Monitor:
        """Return the monitor that goes on, or a new one."""
        files = OpenFiles(self.reference, **self.how)
        columns, described = self.columns, None if self.columns else files.described_columns()
        if described is not None:  # those that hold numbers
            columns = [name for name, problem in described.items() if problem is None and name != self.clusters]
        reference = self._rows(files, columns)
        is_new = not self.state.exists()
        if not is_new and columns is not None and tuple(columns) != (saved := saved_columns(self.state)):
            raise ValueError(
                f"columns are {', '.join(saved)} in {self.state}; got {', '.join(columns)}. "
                "Use the same, or another state"
            )
        monitor = Monitor(reference, **self.settings) if is_new else Monitor.load(self.state, reference)
        check_dropped(reference.name, reference.record(), self.max_dropped)
        if is_new:
            return monitor
        monitor.settings.check_same(dict(self.settings), str(self.state))
        if self.restart:
            monitor.restart()
            monitor.save(self.state)
        return monitor

    def _rows(self, files: OpenFiles, columns: Sequence[str] | None) -> RowSource:
        """Return the rows of files, of which there may be none, with missing values as the monitor wants them."""
        missing = self.settings.get("missing", "error")
        kept = "drop" if missing == "drop" else "error"
        source = files.rows(columns=columns, by=self.clusters, missing=kept, progress=False)
        source.may_be_empty, source.keeps_missing, source.most_values = True, missing == "use", _MOST_VALUES
        return source


def batch_files(patterns: Sequence[str]) -> list[Path]:
    """Return the files of all patterns, each once, sorted by name.

    Examples
    --------
    >>> from uptonoise.monitor.nightly import batch_files
    >>> batch_files(["no such folder/*.csv"])
    Traceback (most recent call last):
        ...
    FileNotFoundError: no file matches no such folder/*.csv
    """
    files: set[Path] = set()
    for pattern in patterns:
        path = Path(pattern)
        matches = list(path.iterdir()) if path.is_dir() else [Path(match) for match in glob.glob(pattern)]  # noqa: PTH207
        if path.is_file():  # a name with brackets in it is a pattern, too
            matches = [path]
        visible = {match.resolve() for match in matches if match.is_file() and match.name[:1] not in "._"}
        if not visible:
            raise FileNotFoundError(f"no file matches {pattern}")
        files |= visible
    return sorted(files)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that goes with a file, or raise where another process does.

    The lock is a file beside it, which stays; the operating system frees it when the process ends, however it ends.
    """
    with path.with_name(f"{path.name}.lock").open("a") as file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BlockingIOError(f"another job is working with {path.name}; wait until it has ended") from None
        yield
