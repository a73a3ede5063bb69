"""The card that a notebook shows of a result: a sentence, a few numbers and one small drawing, without scripts.

A card has its own ground and colours, which follow the theme of JupyterLab, VS Code, Furo or the system.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from uptonoise._util.drawing import DARK, LIGHT, STYLE, printable

_GROUNDS = {
    "light": LIGHT | {"ground": "#ffffff", "text": "#1b1f24"},
    "dark": DARK | {"ground": "#1e2329", "text": "#e4e8ec"},
}
_DARK_THEMES = ('[data-jp-theme-light="false"]', ".vscode-dark", ".theme-dark", '[data-theme="dark"]')
_LIGHT_THEMES = ('[data-jp-theme-light="true"]', ".vscode-light", ".theme-light", '[data-theme="light"]')


def _colours(scheme: str) -> str:
    return "{ " + " ".join(f"--{name}: {colour};" for name, colour in _GROUNDS[scheme].items()) + " }"


def _selectors(themes: Sequence[str]) -> str:
    return ", ".join(f"{theme} .uptonoise-card" for theme in themes)


_STYLE = f"""
.uptonoise-card {_colours("light")}
@media (prefers-color-scheme: dark) {{ .uptonoise-card {_colours("dark")} }}
{_selectors(_DARK_THEMES)} {_colours("dark")}
{_selectors(_LIGHT_THEMES)} {_colours("light")}
.uptonoise-card {{ background: var(--ground); color: var(--text); border: 1px solid var(--line); border-radius: 6px;
  padding: 0.7rem 1rem; max-width: 50rem; font: 0.9rem/1.45 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }}
.uptonoise-card p {{ margin: 0 0 0.5rem; font-weight: 600; overflow-wrap: anywhere; }}
.uptonoise-card .body {{ display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; align-items: flex-start; }}
.uptonoise-card dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 0.9rem; margin: 0;
  flex: 1 1 17rem; font-variant-numeric: tabular-nums; }}
.uptonoise-card dt {{ color: var(--muted); font-weight: 400; }}
.uptonoise-card dd {{ margin: 0; overflow-wrap: anywhere; }}
.uptonoise-card .picture {{ flex: 0 1 17rem; min-width: min(100%, 13rem); }}
""".strip()


def card(sentence: str, facts: Sequence[tuple[str, str]], drawing: str = "") -> str:
    """Return a card as HTML: what the result says, labels and numbers, and an SVG element of a drawing.

    Numbers without a text are left out.

    Examples
    --------
    >>> from uptonoise._util.card import card
    >>> "<script" in card("a < b", [("rows", "10")]), "a &lt; b" in card("a < b", [])
    (False, True)
    """
    rows = "".join(f"<dt>{_text(label)}</dt><dd>{_text(value)}</dd>" for label, value in facts if value)
    body = f"<dl>{rows}</dl>" if rows else ""
    body += f'<div class="picture">{drawing}</div>' if drawing else ""
    style = f"<style>{_STYLE}\n{STYLE.strip()}</style>"
    return f'<div class="uptonoise-card">{style}<p>{_text(sentence)}</p><div class="body">{body}</div></div>'


def _text(text: str) -> str:
    return escape(printable(text))
