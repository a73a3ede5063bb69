"""The one computation at a time: ``uptonoise compare`` in a process of its own, which can be ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uptonoise._util.progress import PROGRESS_LINE, PROGRESS_VARIABLE

_PATIENCE = 2.0  # seconds between the request to end and the end by force
_PREFIX = "uptonoise: "
_MOST_LINES = 200
_PREVIEW_SECONDS = 60


@dataclass
class Job:
    """A comparison that runs, or has ended."""

    tab: str
    command: str
    state: str = "running"  # or done, failed, cancelled
    label: str = "starting"
    fraction: float | None = None
    message: str = ""
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    process: asyncio.subprocess.Process | None = None
    task: asyncio.Task[None] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what the page shows of it."""
        return {
            "state": self.state,
            "label": self.label,
            "fraction": self.fraction,
            "message": self.message,
            "notes": self.notes,
            "command": self.command,
            "seconds": round(time.monotonic() - self.started, 1),
        }


async def start(job: Job, arguments: Sequence[str], folder: Path) -> None:
    """Start the command line in a folder, and watch it."""
    job.process = await _python(["-m", "uptonoise", *arguments], folder)
    job.task = asyncio.create_task(_watched(job, job.process))


async def _python(arguments: Sequence[str], folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, PROGRESS_VARIABLE: "1", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100000"},
        start_new_session=True,  # so that its own children end with it
    )


async def _watched(job: Job, process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    assert process.stderr is not None
    answer = asyncio.create_task(process.stdout.read())
    lines: list[str] = []
    with contextlib.suppress(ValueError):  # a line that is longer than any of ours
        async for raw in process.stderr:
            line = raw.decode(errors="replace").rstrip("\n")
            if line.startswith(PROGRESS_LINE):
                with contextlib.suppress(ValueError, KeyError):
                    progress = json.loads(line.removeprefix(PROGRESS_LINE))
                    job.label, job.fraction = str(progress["label"]), progress["fraction"]
            elif line.strip():
                lines.append(line)
                del lines[:-_MOST_LINES]
    text, code = (await answer).decode(errors="replace"), await process.wait()
    if job.state == "cancelled":
        return
    messages = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
    if code == 0:
        job.state, job.message, job.notes = "done", text.strip().split("\n")[0].strip(), messages
    else:
        what = "\n".join(lines[-3:]) or f"the computation ended with the code {code}"
        job.state, job.message = "failed", messages[-1] if messages else what


async def cancelled(job: Job) -> None:
    """End a computation: its process is gone when this returns."""
    if job.state != "running" or job.process is None:
        return
    job.state, job.message = "cancelled", "cancelled"
    await _ended(job.process)
    if job.task is not None:
        with contextlib.suppress(asyncio.CancelledError):
            await job.task


async def _ended(process: asyncio.subprocess.Process) -> None:
    _send(process, signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), _PATIENCE)
    except TimeoutError:
        _send(process, getattr(signal, "SIGKILL", signal.SIGTERM))
        await process.wait()


def _send(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.kill()


async def previewed(arguments: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return what columns the files have, or the line that says what is wrong."""
    process = await _python(["-m", "uptonoise.serve.preview", *arguments], folder)
    try:
        text, problem = await asyncio.wait_for(process.communicate(), _PREVIEW_SECONDS)
    except TimeoutError:
        await _ended(process)
        return {"error": f"the files could not be read within {_PREVIEW_SECONDS} seconds"}
    except asyncio.CancelledError:
        await _ended(process)
        raise
    try:
        return dict(json.loads(text))
    except ValueError:
        last = problem.decode(errors="replace").strip().split("\n")[-1]
        return {"error": last or "the files could not be read"}
