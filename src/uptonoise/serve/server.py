"""The server of the local page: which requests it answers, which it refuses, and how it runs until it is interrupted.

Every answer lies below a random token. The Host must be the loopback address, so that no other site can reach the
server by a name that leads here; a request that changes something must come from the page itself, by its Origin.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import shlex
import shutil
import socket
import tempfile
import time
import webbrowser
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jinja2
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from uptonoise import __version__
from uptonoise.serve.jobs import Job, cancelled, previewed, start
from uptonoise.serve.settings import REPORT, Columns, compare_arguments, reading_arguments
from uptonoise.serve.uploads import PLACES, TOO_LARGE, Limits, RefusedError, Tab, drained

_ADDRESS = "127.0.0.1"
_HOSTS = (_ADDRESS, "localhost")
_PATIENCE = 3  # seconds for open requests at the end
_MOST_TABS = 12
_MOST_UPLOADS = 4
_MOST_PREVIEWS = 2
_MOST_JSON = 200_000  # bytes
_HERE = Path(__file__).parent
_MEDIA_TYPES = {"page.js": "text/javascript", "style.css": "text/css"}
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _PAGE_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Server:
    """The pages, their files and the one computation.

    Parameters
    ----------
    max_bytes : int
        The largest file that may be uploaded.
    idle_seconds : float
        How long an upload may pause.

    Examples
    --------
    >>> from uptonoise.serve import Server
    >>> server = Server(max_bytes=1_000_000)
    >>> len(server.token) > 30
    True
    """

    def __init__(self, max_bytes: int, idle_seconds: float = 30.0) -> None:
        self.token = secrets.token_urlsafe(32)
        self.limits = Limits(max_bytes, idle_seconds)
        self.folder: Path | None = None
        self.tabs: dict[str, Tab] = {}
        self.job: Job | None = None
        self._n_uploads = 0
        self._previews = asyncio.Semaphore(_MOST_PREVIEWS)
        inside = "/{token}"
        tab = inside + "/tabs/{tab}"
        self.app = Starlette(
            routes=[
                Route(f"{inside}/", self._page),
                Route(f"{inside}/page.js", self._file),
                Route(f"{inside}/style.css", self._file),
                Route(f"{tab}/files/{{place}}", self._upload, methods=["PUT"]),
                Route(f"{tab}/files/{{place}}", self._remove, methods=["DELETE"]),
                Route(f"{tab}/columns", self._columns, methods=["POST"]),
                Route(f"{tab}/command", self._command, methods=["POST"]),
                Route(f"{tab}/job", self._start, methods=["POST"]),
                Route(f"{tab}/job", self._status, methods=["GET", "DELETE"]),
                Route(f"{tab}/report", self._report),
            ],
            exception_handlers=dict.fromkeys((RefusedError, ValueError, HTTPException), _failed),
            lifespan=self._life,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse a foreign Host, a wrong token or a foreign Origin before anything is read."""
        refusal = None if scope["type"] == "lifespan" else self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            status, text = refusal
            headers = _HEADERS | {"Connection": "close"}
            await PlainTextResponse(text, status_code=status, headers=headers)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        if scope["type"] != "http":
            return 403, "no"
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        port = scope["server"][1]
        allowed = [f"{host}:{port}" for host in _HOSTS]
        if headers.get("host", "") not in allowed:
            return 403, "this server answers to 127.0.0.1 only"
        given = scope["path"].split("/")[1]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return 404, "not found: open the address that uptonoise serve has printed"
        origin = headers.get("origin")
        changes = scope["method"] not in ("GET", "HEAD")
        if (origin is None and changes) or (
            origin is not None and origin not in [f"http://{host}" for host in allowed]
        ):
            return 403, "this request does not come from the page"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "this request does not come from the page"
        return None

    @contextlib.asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        """Make the folder of all files, and remove it at the end, whatever ends the server."""
        folder = tempfile.mkdtemp(prefix="uptonoise-")
        self.folder = Path(folder)
        try:
            yield
        finally:
            if self.job is not None:
                await cancelled(self.job)
            shutil.rmtree(folder, ignore_errors=True)

    def _tab(self, request: Request) -> Tab:
        tab = self.tabs.get(request.path_params["tab"])
        if tab is None:
            raise RefusedError(410, "this page is no longer known to the server; reload it")
        tab.used = time.monotonic()
        return tab

    def _new_tab(self) -> str:
        """Make the folder of a page that is opened; the page that was used least recently goes where there are many."""
        assert self.folder is not None
        busy = self.job.tab if self.job is not None and self.job.state == "running" else None
        while len(self.tabs) >= _MOST_TABS:
            oldest = min((name for name in self.tabs if name != busy), key=lambda name: self.tabs[name].used)
            shutil.rmtree(self.tabs.pop(oldest).folder, ignore_errors=True)
        name = secrets.token_hex(8)
        folder = self.folder / name
        folder.mkdir()
        self.tabs[name] = Tab(folder)
        return name

    async def _page(self, _: Request) -> Response:
        environment = jinja2.Environment(loader=jinja2.PackageLoader("uptonoise.serve", "."), autoescape=True)
        page = environment.get_template("page.html.j2").render(
            tab=self._new_tab(), version=__version__, most=self.limits.most_bytes
        )
        return Response(page, media_type="text/html", headers=_HEADERS)

    async def _file(self, request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]  # one of the two that are routed here
        return FileResponse(_HERE / name, media_type=_MEDIA_TYPES[name], headers=_HEADERS)

    async def _upload(self, request: Request) -> Response:
        tab, place = self._tab(request), _place(request)
        name, length = unquote(request.headers.get("x-file-name", "file")), request.headers.get("content-length", "")
        if self._n_uploads >= _MOST_UPLOADS:
            raise RefusedError(429, "too many files are coming at once; wait for the others")
        self._n_uploads += 1
        try:
            self.limits.check_size(int(length) if length.isdigit() else 0)
            await tab.store(place, name, request.stream(), self.limits)
        except ClientDisconnect:
            raise RefusedError(400, "the file broke off") from None
        except RefusedError as error:
            if error.status == TOO_LARGE:
                await drained(request.stream())
            raise
        finally:
            self._n_uploads -= 1
        return _json({"name": tab.files[place]})

    async def _remove(self, request: Request) -> Response:
        self._tab(request).remove(_place(request))
        return _json({})

    async def _columns(self, request: Request) -> Response:
        tab, given = self._tab(request), await _settings(request)
        if not tab.paths:
            return _json({"columns": [], "notes": [], "problem": ""})
        async with self._previews:
            return _json(await previewed([*tab.paths, *reading_arguments(given)], tab.folder))

    async def _command(self, request: Request) -> Response:
        given = await _settings(request)
        return _json({"command": shlex.join(["uptonoise", *_arguments(self._tab(request), given)])})

    async def _start(self, request: Request) -> Response:
        tab, given = self._tab(request), await _settings(request)
        arguments = _arguments(tab, given)
        if self.job is not None and self.job.state == "running":
            own = self.job.tab == request.path_params["tab"]
            where = "of this page" if own else "of another page"
            raise RefusedError(409, f"a comparison {where} is running; wait for it, or cancel it there")
        (tab.folder / REPORT).unlink(missing_ok=True)
        self.job = Job(request.path_params["tab"], shlex.join(["uptonoise", *arguments]))
        try:
            await start(self.job, arguments, tab.folder)
        except OSError as error:
            self.job.state, self.job.message = "failed", str(error)
        return _json(self.job.to_dict(), status=202)

    async def _status(self, request: Request) -> Response:
        """Tell how far the computation of this page is, or end it."""
        self._tab(request)
        job = self.job
        if job is None or job.tab != request.path_params["tab"]:
            return _json({"state": "none"})
        if request.method == "DELETE":
            await cancelled(job)
        return _json(job.to_dict())

    async def _report(self, request: Request) -> Response:
        path = self._tab(request).folder / REPORT
        if not path.is_file():
            raise RefusedError(404, "there is no report yet")
        headers = _HEADERS | {"Content-Security-Policy": _REPORT_POLICY}
        name = REPORT if "download" in request.query_params else None
        return FileResponse(path, media_type="text/html", headers=headers, filename=name)


def _place(request: Request) -> str:
    place = str(request.path_params["place"])
    if place not in PLACES:
        raise RefusedError(404, f"files are {' and '.join(PLACES)}")
    return place


async def _settings(request: Request) -> dict[str, Any]:
    """Return what the page sent, which is a small JSON object."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_JSON:
            raise RefusedError(413, "the settings are too large")
    try:
        given = json.loads(body or b"{}")
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise RefusedError(400, "the settings must be a JSON object")
    return given


def _arguments(tab: Tab, given: dict[str, Any]) -> list[str]:
    parts = [given.get(name, []) for name in ("columns", "default", "ticked")]
    if not all(isinstance(part, list) and all(isinstance(name, str) for name in part) for part in parts):
        raise RefusedError(400, "columns must be lists of names")
    return compare_arguments(tab.paths, given, Columns(*parts) if parts[0] else None)


def _json(values: dict[str, Any], status: int = 200) -> Response:
    return JSONResponse(values, status_code=status, headers=_HEADERS)


async def _failed(_: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return PlainTextResponse(error.detail, status_code=error.status_code, headers=_HEADERS)
    if isinstance(error, RefusedError):  # what is left of a body is not read
        headers = _HEADERS | {"Connection": "close"}
        return JSONResponse({"error": str(error)}, status_code=error.status, headers=headers)
    return _json({"error": str(error)}, status=400)


def run(server: Server, *, port: int = 0, open_browser: bool = True, announce: Callable[[str], None] = print) -> None:
    """Serve the page until a signal ends it.

    Parameters
    ----------
    server : Server
        What is served.
    port : int
        The port; 0 takes a free one.
    open_browser : bool
        Whether to open the page in a browser.
    announce : callable
        Gets the address of the page.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((_ADDRESS, port))
        except OSError as error:
            raise OSError(
                f"port {port} of {_ADDRESS} cannot be used: {error.strerror}; choose another --port"
            ) from None
        listening.listen()  # a browser that comes before the server has started waits, and is not refused
        address = f"http://{_ADDRESS}:{listening.getsockname()[1]}/{server.token}/"
        config = uvicorn.Config(
            server,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            limit_concurrency=64,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=_PATIENCE,
        )
        announce(address)
        if open_browser:
            webbrowser.open(address)
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how it ends, and no fault
            uvicorn.Server(config).run(sockets=[listening])
