"""The monitor: the question of a comparison, asked again with every batch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib import import_module
from typing import Any

import numpy as np

from uptonoise._util.random import RandomState, seeded_generator
from uptonoise._util.validation import checked_columns, checked_flag, checked_text
from uptonoise._util.wording import counted
from uptonoise.monitor.batches import batch_tables, batch_units, known_columns
from uptonoise.monitor.difference import spreads_of
from uptonoise.monitor.evidence import Guarantee
from uptonoise.monitor.history import History
from uptonoise.monitor.now import Now, judged
from uptonoise.monitor.process import Process
from uptonoise.monitor.reading import Missing, Table, arranged, read_table
from uptonoise.monitor.reference import Reference, digest
from uptonoise.monitor.settings import Invariance, Settings, WhenUsedUp, as_time
from uptonoise.monitor.state import MonitorState
from uptonoise.monitor.storage import load_now, save_now
from uptonoise.rows import InputRecord

_FEATURES = 1  # marks the random numbers of the features, beside those of batches
_ENOUGH = 32  # rows of another stream, to tell its spread
_RECOGNISED = 10  # rows from which on a batch with the same values is the same batch: fewer may repeat by chance


class Monitor:
    """Watch a stream for differences beyond symmetric noise, with an error rate that holds however often one looks.

    Every row of a batch is compared with a row of the reference. Noise of any size and kind, which may change at any
    time, does not raise the alarm; a signal that differs does. The guide :doc:`/monitor` says how it works, and when
    to prefer :func:`~uptonoise.compare`.

    Parameters
    ----------
    reference : array, frame, Bags, RowSource or None
        The rows to compare with. Each is used once, in random order; ``state.rows_left`` says how many are left. None
        for two streams side by side, ``update(batch, other)``.
    columns : sequence of str, optional
        The columns to watch; by default all of the reference.
    alpha : float
        With the guarantee "probability": the probability of a false alarm, ever. The columns that are named as
        different have this error rate with both guarantees.
    invariant_to : {"noise", "noise+shift"}
        What does not count as a difference: symmetric noise, or also a constant offset, which may be another one in
        every batch of at least 20 rows.
    guarantee : {"probability", "run length"}
        "probability": where only noise differs, the probability that there is ever an alarm is at most `alpha`. It
        suits a stream that should agree with the reference from the start, and finds late changes somewhat later.
        "run length": where only noise differs, there are on average at least `run_length` batches before an alarm. It
        suits a stream that is watched for years, finds late changes nearly as fast as early ones, and will raise a
        false alarm some day.
    run_length : float, optional
        The average number of batches to a false alarm, by default 1,000.
    clusters : array or str, optional
        One id for each row of the reference, or the column of a frame that has them: rows of one cluster are alike.
        Bags are clusters without this.
    when_used_up : {"stop", "reuse"}
        What happens when all rows of the reference were used. "stop": further rows are not compared, and the
        guarantee stays. "reuse": the rows are used again; the guarantee then holds only while the number of passes is
        small.
    missing : {"error", "drop", "use"}
        Rows with missing values: an error, left out, or used with their other columns. The last one needs values that
        are missing for reasons that have nothing to do with their size, or for the same reasons on both sides.
    random_state : None, int, Generator or RandomState
        The seed of the order of rows and of the frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> import uptonoise as un
    >>> rng = np.random.default_rng(0)
    >>> monitor = un.Monitor(rng.exponential(size=(5_000, 2)), random_state=0)
    >>> for night in range(5):
    ...     state = monitor.update(rng.exponential(size=(200, 2)) + night * rng.normal(size=(200, 2)))
    >>> state.alarm
    False
    >>> for night in range(5):
    ...     state = monitor.update(2 - rng.exponential(size=(200, 2)))
    >>> state.alarm, state.alarm_batch
    (True, 6)
    """

    def __init__(
        self,
        reference: Any = None,
        *,
        columns: Sequence[str] | None = None,
        alpha: float = 0.05,
        invariant_to: Invariance = "noise",
        guarantee: Guarantee = "probability",
        run_length: float | None = None,
        clusters: Any = None,
        when_used_up: WhenUsedUp = "stop",
        missing: Missing = "error",
        random_state: RandomState = None,
    ) -> None:
        generator, seed = seeded_generator(random_state)
        seed = int(generator.integers(2**63)) if seed is None else seed
        self._settings = Settings(alpha, invariant_to, guarantee, run_length, when_used_up, missing, seed)
        self._now = Now(history=History(threshold=self._settings.threshold))
        columns = None if columns is None else checked_columns(columns, "columns")
        if columns is not None and not columns:
            raise ValueError("columns must name at least one column; got none")
        if reference is not None:
            table = read_table(reference, "reference", clusters, columns)
            table = self._usable(table, table.columns, table.named, "reference")
            spreads = spreads_of(table.values)
            made = Reference.new(table, self._settings.seed, when_used_up == "reuse")
            self._now = self._started(table)._replace(reference=made, spreads=spreads)
        elif columns is not None:
            raise ValueError("columns is for a monitor with a reference; select the columns of both streams instead")
        elif clusters is not None:
            raise ValueError("clusters is for a reference; give those of two streams to update")

    def _usable(self, table: Table, columns: tuple[str, ...], named: bool, name: str) -> Table:
        """Return the rows of a reference that can be used, at least one."""
        table = arranged(table, columns, named, self._settings.missing, name)
        if not len(table.values):
            raise ValueError(f"{name} must have at least one row; got none")
        return table

    def _started(self, table: Table) -> Now:
        """Return the start with the columns of a table."""
        settings, generator = self._settings, np.random.default_rng([self._settings.seed, _FEATURES])
        up_to_offset = settings.invariant_to == "noise+shift"
        process = Process.new(table.values.shape[1], settings.guarantee, up_to_offset, generator)
        return self._now._replace(columns=table.columns, named=table.named, process=process)

    @property
    def settings(self) -> Settings:
        """What the monitor was made with."""
        return self._settings

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are watched; empty before the first batch of two streams."""
        return self._now.columns

    @property
    def state(self) -> MonitorState | None:
        """What was known after the last batch; None before the first one."""
        return self._now.state

    @property
    def is_used_up(self) -> bool:
        """Whether all rows of the reference were used and may not be used again: further rows are not compared."""
        reference = self._now.reference
        return reference is not None and not reference.n_left and not reference.reuse

    @property
    def history(self) -> History:
        """The timeline, as a table."""
        return self._now.history

    def update(
        self,
        batch: Any,
        other: Any = None,
        *,
        paired: bool = False,
        clusters: Any = None,
        name: str = "",
        version: str = "",
        time: Any = None,
    ) -> MonitorState:
        """Compare a batch, and say what is known now. Where it raises, nothing has changed.

        Parameters
        ----------
        batch : array, frame, Bags or RowSource
            The new rows; there may be none.
        other : array, frame, Bags or RowSource, optional
            The rows of the other stream, where there is no reference. Rows are paired at random, as many as the
            smaller of the two has.
        paired : bool
            Whether row i of `batch` and row i of `other` belong together, as the same object on two devices.
        clusters : array or str, or a pair of these, optional
            One id for each row, or the column of a frame that has them: rows of one cluster are one unit of evidence.
            A pair, for `batch` and for `other`, with two streams. A cluster must come in one batch as a whole.
        name : str
            A name for the batch, such as its file; no two batches may have the same.
        version : str
            What else to remember of a named batch, such as the size of its file, for :meth:`has_seen`.
        time : number, date or text, optional
            The time of the batch; times must not go backwards.

        Returns
        -------
        MonitorState
        """
        checked_text(name, "name")
        checked_text(version, "version")
        checked_flag(paired, "paired")
        moment, time_text = (self._now.last_time, "") if time is None else as_time(time)
        if moment < self._now.last_time:
            last = self._now.state.time if self._now.state is not None else ""
            raise ValueError(f"time must not go backwards; got {time_text} after {last or 'a later time'}")
        mine, theirs = batch_tables(self._now, self._settings.missing, batch, other, paired, clusters)
        now = self._now if self._now.process is not None else self._started(mine)
        values = [table.values for table in (mine, theirs) if table is not None]
        seen = now.seen.with_batch(name, version, digest(*values) if len(values[0]) >= _RECOGNISED else "")
        number = 1 + (0 if now.state is None else now.state.batch)
        spreads = now.spreads if theirs is None or len(theirs.values) < _ENOUGH else spreads_of(theirs.values)
        units, reference = batch_units(now, self._settings.seed, mine, theirs, paired, number)
        assert now.process is not None
        process = now.process.after(units, spreads, number)
        now = now._replace(
            reference=reference, process=process, seen=seen, last_time=moment, rows_used=now.rows_used + len(units.z)
        )
        state = judged(now, self._settings, mine, len(units.z), number=number, name=name, time=time_text)
        self._now = now._replace(state=state, history=now.history.with_state(state))
        return state

    def has_seen(self, name: str, version: str = "") -> bool:
        """Tell whether a batch with this name, and of this version where one is given, was compared."""
        return self._now.seen.has_name(checked_text(name, "name"), checked_text(version, "version"))

    def extend_reference(self, rows: Any, *, clusters: Any = None) -> None:
        """Add fresh rows to the reference; they are used after those that are left. The guarantee stays.

        Parameters
        ----------
        rows : array, frame, Bags or RowSource
            The rows, of the same columns.
        clusters : array or str, optional
            As for the reference.
        """
        now = self._now
        if now.reference is None:
            raise ValueError("this monitor compares two streams and has no reference")
        table = read_table(rows, "rows", clusters, known_columns(now, rows))
        table = self._usable(table, now.columns, now.named, "rows")
        self._now = now._replace(reference=now.reference.extended(table))

    def restart(self) -> None:
        """Forget all evidence and the alarm, for instance after a repair; the timeline and the reference go on.

        The guarantee holds for each start anew.
        """
        now = self._now
        if now.process is None or now.state is None:
            return
        fresh = self._started(Table(np.empty((0, len(now.columns))), now.columns, now.named))
        assert fresh.process is not None
        numbers = np.full_like(fresh.process.evidence.low_batches, now.state.batch)
        process = replace(fresh.process, evidence=replace(fresh.process.evidence, low_batches=numbers))
        self._now = now._replace(process=process, state=replace(now.state, alarm=False, alarm_batch=None, since=None))

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the timeline and return the Axes; :func:`uptonoise.plots.plot_timeline` says how."""
        return self.history.plot(ax=ax, **options)

    def report(self, path: str | os.PathLike[str], *, force: bool = False, record: InputRecord | None = None) -> None:
        """Write the timeline as one self-contained page of HTML.

        Batches whose names are paths of files are listed with their sizes and hashes.

        Parameters
        ----------
        path : path
            The file; its folder must exist. It is written whole or not at all.
        force : bool
            Whether to overwrite a file that exists.
        record : InputRecord, optional
            Further files, such as those of the reference, and the command, for the page to name.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import uptonoise as un
        >>> monitor = un.Monitor([0.0, 1.0, 2.0] * 30, random_state=0)
        >>> state = monitor.update([0.0, 1.0, 2.0] * 5)
        >>> page = pathlib.Path(tempfile.mkdtemp()) / "timeline.html"
        >>> monitor.report(page)
        >>> page.read_text(encoding="utf-8")[:15]
        '<!DOCTYPE html>'
        """
        # By name, so that no module imports what stands below it.
        import_module("uptonoise.report").write_timeline(self, path, force=force, record=record)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, whole or not at all; the rows of the reference are not in it.

        Parameters
        ----------
        path : path
            The file, which ends with ``.npz``.
        """
        save_now(path, self._settings, self._now)

    @classmethod
    def load(cls, path: str | os.PathLike[str], reference: Any = None, *, clusters: Any = None) -> Monitor:
        """Read a state and go on, bit for bit as if there had been no stop.

        Parameters
        ----------
        path : path
            What :meth:`save` wrote. Nothing in it is executed.
        reference : array, frame, Bags or RowSource, optional
            The same reference as before; it may have more rows after those that it had.
        clusters : array or str, optional
            As before.

        Returns
        -------
        Monitor

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rng = np.random.default_rng(0)
        >>> reference = rng.normal(size=1_000)
        >>> monitor = un.Monitor(reference, random_state=0)
        >>> _ = monitor.update(rng.normal(size=100))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     monitor.save(pathlib.Path(folder, "state.npz"))
        ...     resumed = un.Monitor.load(pathlib.Path(folder, "state.npz"), reference)
        >>> night = rng.normal(size=100)
        >>> monitor.update(night) == resumed.update(night)
        True
        """
        settings, now = load_now(path, reference, clusters)
        arguments = asdict(settings)
        monitor = cls(random_state=arguments.pop("seed"), **arguments)
        monitor._now = now
        return monitor

    def __repr__(self) -> str:
        watched = f"Monitor of {counted(len(self.columns), 'column')}, up to {self._settings.invariant_to}"
        return f"{watched}: no batch yet" if self.state is None else f"{watched}\n  {self.state.sentence}"

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>" if self.state is None else self.state._repr_html_()
