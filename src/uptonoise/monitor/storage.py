"""A monitor in a file: numbers and texts, no pickles, and not the rows of the reference."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, fields
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from uptonoise._util.storage import flattened, load_archive, rebuilt, save_archive
from uptonoise.monitor.difference import spreads_of
from uptonoise.monitor.history import History, Line
from uptonoise.monitor.now import Now, Seen
from uptonoise.monitor.process import Process
from uptonoise.monitor.reading import arranged, read_table
from uptonoise.monitor.reference import Part, Progress, Reference
from uptonoise.monitor.settings import Settings
from uptonoise.monitor.state import MonitorState

_KIND = "monitor state"
_VERSION = 1
_ARRAYS_OF_STATE = ("differences", "standard_errors")
_PLAIN_OF_STATE = [field.name for field in fields(MonitorState) if field.name not in _ARRAYS_OF_STATE]
_TEXTS = ("name", "time")  # of a line of the timeline


def save_now(path: str | os.PathLike[str], settings: Settings, now: Now) -> None:
    """Write what a monitor was made with and what it knows to a file, whole or not at all."""
    header: dict[str, Any] = {
        "settings": asdict(settings),
        "columns": list(now.columns),
        "named": now.named,
        "reference": None if now.reference is None else now.reference.progress._asdict(),
        "last_time": now.last_time,
        "rows_used": now.rows_used,
        "state": now.state and {name: getattr(now.state, name) for name in _PLAIN_OF_STATE},
        "every": now.history.every,
    }
    arrays: dict[str, NDArray[Any]] = {}
    for name, numbers in now.seen._asdict().items():
        arrays[f"seen.{name}"] = np.array(numbers, dtype=np.uint64)
    for name in Line._fields:
        column = now.history.column(name)
        # Texts as bytes: an array of texts would take four bytes for each letter of the longest.
        texts = np.frombuffer(json.dumps(column).encode(), dtype=np.uint8) if name in _TEXTS else None
        arrays[f"history.{name}"] = np.array(column, dtype=float) if texts is None else texts
    if now.state is not None:
        arrays |= {f"state.{name}": getattr(now.state, name) for name in _ARRAYS_OF_STATE}
    if now.process is not None:
        arrays |= flattened(now.process, "process")
    save_archive(path, _KIND, _VERSION, header, arrays)


def saved_columns(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the columns of a monitor in a file."""
    return tuple(load_archive(path, _KIND, _VERSION).header.get("columns", ()))


def load_now(path: str | os.PathLike[str], reference: Any, clusters: Any) -> tuple[Settings, Now]:
    """Read what :func:`save_now` wrote, with the reference that it was made with."""
    header, arrays = load_archive(path, _KIND, _VERSION)
    try:
        settings = Settings(**header["settings"])
        state = since = progress = None
        if header["state"] is not None:
            known: dict[str, Any] = {name: arrays[f"state.{name}"] for name in _ARRAYS_OF_STATE}
            for name, value in header["state"].items():
                known[name] = tuple(value) if isinstance(value, list) else value
            state = MonitorState(**known)
            since = state.since
        if header["reference"] is not None:
            parts = tuple(Part(*part) for part in header["reference"]["parts"])
            progress = Progress(**header["reference"] | {"parts": parts})
        kinds, columns = get_type_hints(Line), []
        for name in Line._fields:
            array = arrays[f"history.{name}"]
            texts = json.loads(array.tobytes().decode()) if name in _TEXTS else None
            columns.append([kinds[name](value) for value in array.tolist()] if texts is None else texts)
        lines = tuple(Line(*values) for values in zip(*columns, strict=True))
        now = Now(
            columns=tuple(header["columns"]),
            named=header["named"],
            last_time=header["last_time"],
            rows_used=header["rows_used"],
            seen=Seen(*(tuple(arrays[f"seen.{name}"].tolist()) for name in Seen._fields)),
            state=state,
            process=rebuilt(Process | None, arrays, "process"),
            history=History(lines, header["every"], settings.threshold, since),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a complete {_KIND}: {error}") from None
    if (progress is None) != (reference is None):
        wanted = "left out: the state is of two streams" if progress is None else "given: the state lacks its rows"
        raise ValueError(f"reference must be {wanted}")
    if progress is None:
        return settings, now
    table = read_table(reference, "reference", clusters, list(now.columns) if now.named else None)
    table = arranged(table, now.columns, now.named, settings.missing, "reference")
    spreads = spreads_of(table.values)  # before rows are sorted by cluster, in place
    resumed = Reference.resumed(table, settings.seed, settings.when_used_up == "reuse", progress)
    return settings, now._replace(reference=resumed, spreads=spreads)
