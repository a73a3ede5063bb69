import importlib
import importlib.util
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "uptonoise"
author = "The uptonoise developers"
copyright = "2026, The uptonoise developers"
version = release = installed_version("uptonoise")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "mathml",
    "commands",
]
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # the notebook is kept without output, and is run whenever the pages are made
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_output_stderr = "remove"  # progress bars
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # nothing comes from another server
exclude_patterns = ["_build", "jupyter_execute"]
templates_path = ["_templates"]
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "uptonoise"
html_static_path = ["_static"]
html_css_files = ["site.css"]

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's parameter sections say it in words
# The pages of networks are made where torch is not installed, too.
autodoc_mock_imports = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]
if autodoc_mock_imports:  # scipy must not meet the stand-in of torch while it is loaded
    importlib.import_module("uptonoise.inference")
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def without_last_blank_lines(app, name, source):
    """Take off the blank line that examples need at their end to be tests, and that readers do not."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app):
    app.connect("source-read", without_last_blank_lines)
