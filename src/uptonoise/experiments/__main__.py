"""``python -m uptonoise.experiments`` is ``uptonoise reproduce``."""

import sys

from uptonoise.cli import app

if __name__ == "__main__":
    app(["reproduce", *sys.argv[1:]])
