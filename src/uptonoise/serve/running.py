"""How the server runs: on a free port of the loopback address, until it is interrupted."""

from __future__ import annotations

import contextlib
import socket
import webbrowser
from collections.abc import Callable

import uvicorn

from uptonoise.serve.server import Server

_ADDRESS = "127.0.0.1"
_PATIENCE = 3  # seconds for open requests at the end


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
            server.guarded,
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
