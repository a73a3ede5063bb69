from importlib.metadata import version as installed_version

project = "uptonoise"
author = "The uptonoise developers"
copyright = "2026, The uptonoise developers"
version = release = installed_version("uptonoise")

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = "uptonoise"

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's parameter sections say it in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
