"""The page of a monitor: what it says now, its timeline, and its columns."""

from __future__ import annotations

import os
from dataclasses import asdict

from matplotlib.axes import Axes

from uptonoise import plots
from uptonoise._util.files import checked_target, written_whole
from uptonoise.monitor import Monitor, format_wealth
from uptonoise.report.page import environment
from uptonoise.report.svg import picture, printable

_SIZE = (7.0, 3.4)
_LISTED = 200  # batches, the last ones


def write_timeline(monitor: Monitor, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write the timeline of a monitor as one self-contained page of HTML.

    Parameters
    ----------
    monitor : Monitor
        With at least one batch.
    path : str or path
        The file; its folder must exist. It is written whole or not at all.
    force : bool
        Whether to overwrite a file that exists.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import uptonoise as un
    >>> from uptonoise.report import write_timeline
    >>> monitor = un.Monitor(np.random.default_rng(0).normal(size=200), random_state=0)
    >>> state = monitor.update(np.random.default_rng(1).normal(size=50))
    >>> page = Path(tempfile.mkdtemp()) / "timeline.html"
    >>> write_timeline(monitor, page)
    >>> page.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    target = checked_target(path, force=force)
    state, history = monitor.state, monitor.history
    if state is None:
        raise ValueError("monitor must have at least one batch for a report; got none")

    def plot(ax: Axes) -> None:
        plots.plot_timeline(history, ax=ax)

    timeline = picture(
        "timeline",
        plot,
        caption="The wealth after each batch. It stays low where only noise differs, and grows where the signal does.",
        description=f"Timeline of {len(history)} batches. {state.sentence}",
        size=_SIZE,
    )
    page = (
        environment()
        .get_template("timeline.html.j2")
        .render(
            state=state,
            tone="beyond" if state.alarm else "none",
            timeline=timeline,
            lines=[(line, format_wealth(line.log_wealth)) for line in history.lines[: -_LISTED - 1 : -1]],
            n_unlisted=max(0, len(history) - _LISTED),
            columns=list(zip(*state.table().values(), strict=True)),
            settings=[(name, str(value)) for name, value in asdict(monitor.settings).items() if value is not None],
        )
    )
    with written_whole(target, force=force) as file:
        file.write(printable(page).encode())
