"""``uptonoise serve``: a page on this machine for people who do not use a shell.

The page takes files, shows their columns, and runs ``uptonoise compare`` on them, so that its answer and its errors are
those of the command line. Data stay on the machine: the server listens on the loopback address only, behind a random
token, and its files are removed when it ends.
"""

try:
    import jinja2
    import starlette
    import uvicorn
except ImportError:
    raise ImportError('the local page needs starlette and uvicorn: pip install "uptonoise[serve]"') from None

from uptonoise.serve.server import Server, run
