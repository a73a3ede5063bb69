"""``uptonoise serve``: a page on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from uptonoise.cli.options import command

EXAMPLES = """Examples:

- `uptonoise serve`
- `uptonoise serve --port 8000 --no-browser`
"""


@command
def serve(
    *,
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.", min=0, max=65_535)] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    max_size: Annotated[int, typer.Option(help="The largest file that may be uploaded, in MB.", min=1)] = 2_000,
) -> None:
    """Open a page on this machine that compares files without a shell.

    It listens on 127.0.0.1 only, behind a random address. Files are kept in a temporary folder, which is removed when
    it ends: press Ctrl-C.
    """
    from uptonoise.serve import Server, run

    def announce(address: str) -> None:
        print(f"The page is at {address}\nIt is for this machine only, until you press Ctrl-C.", flush=True)

    run(Server(max_size * 1_000_000), port=port, open_browser=browser, announce=announce)
