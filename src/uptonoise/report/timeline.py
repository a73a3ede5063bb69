"""The page of a monitor: what it says now, its timeline, and its columns."""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from pathlib import Path

import numpy as np

from uptonoise._util.drawing import Axis, Drawing
from uptonoise._util.files import checked_target
from uptonoise.monitor import History, Monitor, MonitorState, format_wealth
from uptonoise.report.page import write_page
from uptonoise.report.pictures import Picture
from uptonoise.rows import FileStamp, InputRecord

_LISTED = 30  # batches, the last ones


def write_timeline(
    monitor: Monitor, path: str | os.PathLike[str], *, force: bool = False, record: InputRecord | None = None
) -> None:
    """Write the timeline of a monitor as one self-contained page of HTML: what its method ``report`` calls."""
    target = checked_target(path, force=force)
    state, history = monitor.state, monitor.history
    if state is None:
        raise ValueError("monitor must have at least one batch for a report; got none")
    lines = [(line, format_wealth(line.log_wealth)) for line in reversed(history.lines)]
    record = record or InputRecord()
    # The files that batches are called after, as far as they are still there.
    paths = (Path(line.name) for line, _ in lines if line.name)
    stamps = [*record.files, *(FileStamp.of(path) for path in paths if path.is_file())]
    columns = list(zip(*state.table().values(), strict=True))
    columns.sort(key=lambda column: (not column[3], math.inf if math.isnan(column[1]) else -column[1]))
    write_page(
        "timeline.html.j2",
        target,
        stamps,
        force=force,
        state=state,
        tone="beyond" if state.alarm else "none",
        timeline=timeline_picture(history, state),
        lines=lines[:_LISTED],
        folded=lines[_LISTED:],
        columns=columns,
        advice=_what_next(state),
        record=record,
        call="monitor.report(path)",
        settings=[(name, str(value)) for name, value in asdict(monitor.settings).items() if value is not None],
    )


def _what_next(state: MonitorState) -> list[str]:
    if state.alarm:
        since = f" from batch {state.since} on" if state.since is not None else ""
        first = f"Compare the batches{since} with the reference: uptonoise compare tells an offset from another shape."
        return [first, "After a repair, go on with restart() or --restart; the evidence so far is then forgotten."]
    lines = [
        "No alarm means that no difference was shown yet, not that there is none; evidence adds up from batch to batch."
    ]
    if state.rows_left is not None and state.rows_left < 10 * max(state.rows, 1):
        lines.append(f"The reference has {state.rows_left:,} rows left: extend it soon (extend_reference).")
    return lines


def timeline_picture(history: History, state: MonitorState) -> Picture:
    """Draw the wealth after each batch, with the alarm and the estimate of when the change began."""
    batches, wealth = history.floats("batch"), history.floats("log_wealth") / math.log(10)
    limit = math.log10(history.threshold) if math.isfinite(history.threshold) else 1.0
    low, high = min(0.0, float(wealth.min())), max(limit, float(wealth.max()))
    reach = (high - low) or 1.0
    first, last = float(batches[0]), float(batches[-1])
    x = Axis(first - 0.5, last + 0.5) if first == last else Axis(first, last)
    drawing = Drawing(x, Axis(low - 0.05 * reach, high + 0.08 * reach), width=640, height=260, left=44, right=14)
    drawing.y_axis()
    drawing.level(limit, "second", thin=False)
    drawing.text(50, float(drawing.down(limit)) - 5, f"alarm at {history.threshold:,.6g}", kind="second")
    if history.since is not None:
        drawing.upright(float(np.clip(history.since, x.low, x.high)), "third", thin=False)
    if len(batches) > 1:
        drawing.line(batches, wealth, "first")
    if len(batches) < 60:
        for batch, value in zip(batches.tolist(), wealth.tolist(), strict=True):
            drawing.dot(batch, value, "first", radius=3)
    drawing.x_axis("batch", most=8)
    begun = "" if history.since is None else f" Dotted: batch {history.since:,}, when the change probably began."
    return Picture(
        drawing.svg(f"Timeline of {len(history)} batches. {state.sentence}"),
        f"The wealth after each batch, as a power of 10. It stays low where only noise differs, and grows where the "
        f"signal does. Dashed: the wealth that raises the alarm.{begun}",
    )
