from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time

import httpx
import pandas as pd
import pytest

import uptonoise as un

from .conftest import serving

ALL = {"columns": ["a", "b", "site"], "default": ["a", "b"], "ticked": ["a", "b"]}


@pytest.fixture
def filled(running, two_files):
    tab = running.tab()
    for place, name, content in zip(("first", "second"), ("old.csv", "new.csv"), two_files, strict=True):
        answer = running.put(tab, place, name, content)
        assert answer.json() == {"name": name}
    return tab


def test_columns_are_shown_with_those_that_are_compared(running, filled):
    seen = running.client.post(f"{filled}/columns", json={}).json()
    assert [(column["name"], column["used"]) for column in seen["columns"]] == [
        ("a", True),
        ("b", True),
        ("site", False),
    ]
    assert seen["columns"][2]["why"] == "text"
    assert seen["columns"][2]["groups"]
    assert len(seen["columns"][0]["values"]) == 2


def test_two_files_get_the_answer_of_the_command_line(running, filled, two_files):
    started = running.client.post(f"{filled}/job", json=ALL | {"margin": "0.3", "missing": "drop"})
    assert started.status_code == 202
    command = "uptonoise compare old.csv new.csv --missing drop --margin 0.3 --report report.html"
    assert started.json()["command"] == command
    job = running.ended(filled)
    assert job["state"] == "done"
    assert job["label"] == "computing"  # what follows the lines of progress
    assert not [note for note in job["notes"] if "progress" in note]
    samples = [pd.read_csv(io.BytesIO(content))[["a", "b"]] for content in two_files]
    assert job["message"] == un.compare(*samples, names=["old.csv", "new.csv"], margin=0.3).sentence
    report = running.client.get(f"{filled}/report")
    assert report.headers["content-security-policy"].startswith("sandbox")
    assert command in report.text
    download = running.client.get(f"{filled}/report?download")
    assert download.headers["content-disposition"] == 'attachment; filename="report.html"'


def test_one_file_with_a_column_of_groups(running, two_files):
    tab = running.tab()
    both = two_files[0] + two_files[1].split(b"\n", 1)[1].replace(b"north", b"south")
    running.put(tab, "first", "sites.csv", both)
    asked = running.client.post(f"{tab}/job", json=ALL)
    assert asked.status_code == 400
    assert "choose a second file, or the column that names the groups" in asked.json()["error"]
    started = running.client.post(f"{tab}/job", json=ALL | {"by": "site"})
    assert started.json()["command"] == "uptonoise compare sites.csv --by site --report report.html"
    assert running.ended(tab)["state"] == "done"
    assert "groups" in running.client.get(f"{tab}/report").text


def test_ticks_become_columns_or_exclude(running, filled):
    def command(**given):
        return running.client.post(f"{filled}/command", json=ALL | given).json()

    assert "--exclude" not in command()["command"]
    assert "--columns a " in command(ticked=["a"])["command"]
    assert "--columns a,b,site" in command(ticked=["a", "b", "site"])["command"]
    assert command(ticked=[])["error"] == "tick at least one column to compare"
    assert "--cluster site" in command(cluster="site")["command"]
    assert "--decimal , --no-header" in command(decimal=",", header="no")["command"]
    names = ["a,1", "b", "c"]
    chosen = command(columns=names, default=names, ticked=["a,1", "b"])
    assert "--exclude c" in chosen["command"]
    names = ["a,1", "b,2", "c"]
    assert "rename it" in command(columns=names, default=names, ticked=["a,1", "c"])["error"]


def test_errors_are_those_of_the_command_line(running, two_files):
    tab = running.tab()
    running.put(tab, "first", "old.csv", two_files[0])
    running.put(tab, "second", "new.csv", b"a,b\n1,2\n,3\n4,5\n")
    running.client.post(f"{tab}/job", json={})
    job = running.ended(tab)
    assert job["state"] == "failed"
    assert "new.csv" in job["message"]
    assert "leave such rows out with --missing drop" in job["message"]
    running.put(tab, "second", "notes.docx", b"PK")
    seen = running.client.post(f"{tab}/columns", json={}).json()
    assert seen["error"].startswith("notes.docx has the unknown suffix '.docx'")


def test_cancel_ends_the_process_and_a_second_computation_is_refused(running, filled, monkeypatch):
    monkeypatch.setattr("uptonoise.serve.server.compare_arguments", lambda *_: ["demo", "--seed", "1"])
    started = running.client.post(f"{filled}/job", json={})
    assert started.status_code == 202
    other = running.tab()
    refused = running.client.post(f"{other}/job", json={})
    assert refused.status_code == 409
    assert "of another page is running" in refused.json()["error"]
    assert running.client.get(f"{other}/job").json() == {"state": "none"}
    assert running.client.delete(f"{other}/job").json() == {"state": "none"}  # not one's own
    process = running.server.job.process
    began = time.monotonic()
    assert running.client.delete(f"{filled}/job").json()["state"] == "cancelled"
    assert time.monotonic() - began < 5
    assert process.returncode is not None


def test_files_can_be_replaced_and_removed(running, filled, two_files):
    tab = running.server.tabs[filled.rpartition("/")[2]]
    running.put(filled, "second", "old.csv", two_files[1])
    assert tab.paths == ["old.csv", "other/old.csv"]
    running.client.delete(f"{filled}/files/first")
    assert tab.paths == ["other/old.csv"]
    assert sorted(path.name for path in tab.folder.rglob("*.csv")) == ["old.csv"]


def test_tabs_are_bounded(two_files):
    with serving() as running:
        first = running.tab()
        running.put(first, "first", "old.csv", two_files[0])
        for _ in range(12):
            last = running.tab()
        # Without a body: the server refuses before it reads one, which can reset the connection.
        assert running.put(first, "first", "old.csv", b"").status_code == 410
        assert running.put(last, "first", "old.csv", two_files[0]).status_code == 200
        assert len(list(running.server.folder.iterdir())) == 12


def test_the_folder_is_removed_when_the_server_ends(two_files):
    with serving() as running:
        running.put(running.tab(), "first", "old.csv", two_files[0])
        folder = running.server.folder
        assert folder.stat().st_mode & 0o077 == 0  # for this user only
        assert list(folder.rglob("old.csv"))
    assert not folder.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_signal_removes_the_folder_and_ends_the_computation(number, two_files, tmp_path):
    arguments = [sys.executable, "-m", "uptonoise", "serve", "--no-browser"]
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    address = process.stdout.readline().split()[-1]
    assert address.startswith("http://127.0.0.1:")
    origin = address.rsplit("/", 2)[0]
    with httpx.Client(headers={"Origin": origin}) as client:
        page = client.get(address, timeout=60).text  # the port is open once the address is printed
        tab = f"{address}tabs/{page.split('data-tab=')[1][1:17]}"
        for place in ("first", "second"):
            client.put(f"{tab}/files/{place}", content=two_files[0], headers={"X-File-Name": f"{place}.csv"})
        assert client.post(f"{tab}/job", json=ALL).status_code == 202
    (folder,) = tmp_path.glob("uptonoise-*")
    process.send_signal(number)
    process.wait(15)
    assert not folder.exists()
    assert (process.returncode == 0) == (number == signal.SIGINT)  # Ctrl-C is how it ends
    process.stdout.close()
