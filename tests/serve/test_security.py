from __future__ import annotations

import socket
import time
from urllib.parse import quote

import httpx
import pytest

from uptonoise.serve import Server, run
from uptonoise.serve.settings import compare_arguments
from uptonoise.serve.uploads import plain_name

from .conftest import serving

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def _alive(request):
    """After every attack the server still answers."""
    yield
    if "running" in request.fixturenames:
        running = request.getfixturevalue("running")
        assert running.client.get(f"{running.base}/").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1.evil.example:{port}", "0.0.0.0:{port}", ""]
)
def test_a_foreign_host_is_refused(running, host):
    headers = {"Host": host.format(port=running.port)}
    answer = running.client.get(f"{running.base}/", headers=headers)
    assert answer.status_code == 403
    assert running.server.token not in answer.text


def test_localhost_is_the_same_machine(running):
    assert (
        running.client.get(
            f"{running.base}/",
            headers={"Host": f"localhost:{running.port}", "Origin": f"http://localhost:{running.port}"},
        ).status_code
        == 200
    )


@pytest.mark.parametrize("path", ["/", "/wrong/", "/page.js", "//", "/wrong/tabs/x/job", "/%00/", "/../"])
def test_without_the_token_nothing_is_there(running, path):
    answer = running.client.get(f"{running.origin}{path}")
    assert answer.status_code == 404
    assert running.server.token not in answer.text
    shorter = running.base[:-1]
    assert running.client.get(f"{shorter}/").status_code == 404


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(running, origin, two_files):
    tab = running.tab()
    for method, path in (("PUT", "files/first"), ("POST", "job"), ("DELETE", "job"), ("POST", "columns")):
        answer = running.client.request(method, f"{tab}/{path}", content=b"{}", headers={"Origin": origin})
        assert answer.status_code == 403
    assert running.client.get(f"{tab}/job", headers={"Origin": origin}).status_code == 403


def test_a_change_without_an_origin_is_refused(running):
    tab = running.tab()
    assert httpx.put(f"{tab}/files/first", content=b"x").status_code == 403
    assert httpx.post(f"{tab}/job", json={}).status_code == 403
    assert httpx.get(f"{tab}/job", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


def test_a_second_client_has_no_part_in_the_files_of_the_first(running, two_files):
    tab = running.tab()
    running.put(tab, "first", "old.csv", two_files[0])
    other = running.tab()
    assert other != tab
    assert running.client.post(f"{other}/columns", json={}).json()["columns"] == []
    assert running.client.get(f"{running.base}/tabs/0000000000000000/report").status_code == 410
    assert running.client.get(f"{other}/report").status_code == 404


@pytest.mark.parametrize(
    "name",
    ["../../evil.csv", "/etc/passwd", "..\\..\\evil.csv", "..", ".", "", "-", "--report", "a/../../b.csv", "x" * 5_000,
     ".ssh", "report.html", "*.csv", "nul\x00.csv", "~", "%2e%2e%2fevil.csv", "other/../../x"],
)  # fmt: skip
def test_names_of_files_never_leave_the_folder(running, name, two_files):
    tab = running.tab()
    answer = running.put(tab, "first", quote(name, safe=""), two_files[0])
    assert answer.status_code == 200
    stored = answer.json()["name"]
    folder = running.server.tabs[tab.rpartition("/")[2]].folder
    assert [path.name for path in folder.rglob("*")] == [stored]
    assert "/" not in stored
    assert not stored.startswith(("-", ".", "~"))
    assert len(stored) <= 120
    assert stored != "report.html"


def test_names_keep_what_is_harmless():
    assert plain_name("Messung 2024 (süd) 温度.csv.gz") == "Messung 2024 (süd) 温度.csv.gz"
    assert plain_name("x" * 300 + ".csv.gz").endswith("x.csv.gz")


@pytest.mark.parametrize("name", ["--fail", "-h"])
def test_settings_cannot_bring_options(name):
    for field in ("by", "cluster", "decimal", "delimiter", "encoding"):
        with pytest.raises(ValueError, match="must not start with a dash"):
            compare_arguments(["a.csv"], {"by": "x", field: name}, None)


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b"1", b'{"by": 1}', b'{"columns": "a"}', b'{"margin": "x"}', b"x" * 300_000]
)
def test_bad_settings_are_refused(running, body, two_files):
    tab = running.tab()
    running.put(tab, "first", "old.csv", two_files[0])
    answer = running.client.post(f"{tab}/job", content=body)
    assert answer.status_code in (400, 413)
    assert answer.json()["error"]


def test_html_in_names_stays_text(running):
    tab = running.tab()
    rows = "\n".join(f"{i % 7},{i % 5}" for i in range(60)).encode()
    content = f'"{SCRIPT}",b\n'.encode() + rows
    for place in ("first", "second"):
        running.put(tab, place, "%3Cscript%3E" + place + ".csv", content)
    seen = running.client.post(f"{tab}/columns", json={})
    assert seen.headers["content-type"] == "application/json"
    assert seen.json()["columns"][0]["name"] == SCRIPT
    running.client.post(f"{tab}/job", json={})
    assert running.ended(tab)["state"] == "done"
    report = running.client.get(f"{tab}/report").text
    assert SCRIPT not in report
    assert "<script" not in report


def test_answers_forbid_frames_scripts_and_copies(running):
    page = running.client.get(f"{running.base}/")
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in page.headers
    assert "http://" not in page.text
    assert "https://" not in page.text
    for name in ("page.js", "style.css"):
        text = running.client.get(f"{running.base}/{name}").text
        assert "http" not in text.replace("XMLHttpRequest", "")


def test_an_upload_that_is_too_large_is_refused_at_once_or_on_the_way(two_files):
    with serving(max_bytes=100_000) as running:
        tab = running.tab()
        answer = running.put(tab, "first", "big.csv", b"x" * 200_000)
        assert answer.status_code == 413
        assert "larger than 100 kB" in answer.json()["error"]

        def endless():
            for _ in range(200):
                yield b"x" * 10_000

        assert running.put(tab, "first", "big.csv", endless()).status_code == 413  # without a length
        folder = running.server.tabs[tab.rpartition("/")[2]].folder
        assert list(folder.iterdir()) == []
        assert running.put(tab, "first", "old.csv", two_files[0]).status_code == 200


def test_an_upload_that_never_ends_is_given_up(two_files):
    with serving(idle_seconds=0.5) as running:
        tab = running.tab()
        path = tab.removeprefix(running.origin)
        with socket.create_connection(("127.0.0.1", running.port)) as client:
            head = f"PUT {path}/files/first HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nOrigin: {running.origin}\r\n"
            client.sendall(f"{head}Content-Length: 1000000\r\n\r\nabc".encode())
            client.settimeout(5)
            began = time.monotonic()
            assert b"408" in client.recv(1_000)
            assert time.monotonic() - began < 4
        folder = running.server.tabs[tab.rpartition("/")[2]].folder
        assert list(folder.iterdir()) == []
        with socket.create_connection(("127.0.0.1", running.port)) as client:  # and one that breaks off
            client.sendall(f"{head}Content-Length: 1000000\r\n\r\nabc".encode())
        time.sleep(0.3)
        assert list(folder.iterdir()) == []
        assert running.put(tab, "first", "old.csv", two_files[0]).status_code == 200


def test_the_server_listens_on_the_loopback_address_only():
    announced: list[str] = []

    def announce(address):
        announced.append(address)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Server(1_000), open_browser=False, announce=announce)
    assert announced[0].startswith("http://127.0.0.1:")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match=r"cannot be used: .*; choose another --port"):
            run(Server(1_000), port=taken.getsockname()[1], open_browser=False)
