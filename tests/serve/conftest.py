from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager

import httpx
import numpy as np
import pandas as pd
import pytest
import uvicorn

from uptonoise.serve import Server


class Running:
    """A server that runs in a thread, and a client of its page."""

    def __init__(self, server: Server, port: int):
        self.server, self.port = server, port
        self.origin = f"http://127.0.0.1:{port}"
        self.base = f"{self.origin}/{server.token}"
        self.client = httpx.Client(headers={"Origin": self.origin}, timeout=30)

    def tab(self) -> str:
        page = self.client.get(f"{self.base}/")
        assert page.status_code == 200
        name = page.text.split('data-tab="')[1].split('"')[0]
        return f"{self.base}/tabs/{name}"

    def put(self, tab: str, place: str, name: str, content, **headers):
        headers = {"X-File-Name": name, **headers}
        return self.client.put(f"{tab}/files/{place}", content=content, headers=headers)

    def ended(self, tab: str, seconds: float = 60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            job = self.client.get(f"{tab}/job").json()
            if job["state"] != "running":
                return job
            time.sleep(0.1)
        raise AssertionError("the job did not end")


@contextmanager
def serving(max_bytes: int = 5_000_000, idle_seconds: float = 30.0):
    server = Server(max_bytes, idle_seconds)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        config = uvicorn.Config(server, log_level="error", access_log=False, timeout_graceful_shutdown=1)
        runner = uvicorn.Server(config)
        thread = threading.Thread(target=runner.run, kwargs={"sockets": [listening]})
        thread.start()
        while not runner.started:
            time.sleep(0.02)
        running = Running(server, port)
        try:
            yield running
        finally:
            running.client.close()
            runner.should_exit = True
            thread.join(10)


@pytest.fixture(scope="module")
def running():
    with serving() as running:
        yield running


@pytest.fixture(scope="session")
def two_files() -> tuple[bytes, bytes]:
    rng = np.random.default_rng(0)
    frames = [pd.DataFrame(rng.gamma(2, size=(300, 2)), columns=["a", "b"]) for _ in range(2)]
    frames[1]["b"] += 1
    for frame in frames:
        frame["site"] = "north"
    return tuple(frame.to_csv(index=False).encode() for frame in frames)
