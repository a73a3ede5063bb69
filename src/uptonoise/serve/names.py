"""Names of files as they are stored: one plain name, whatever a client sent."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

_MOST_LETTERS = 120
_RESERVED = ("report.html",)
# A file of such a name would be a folder, an option, a hidden file or a pattern.
_FORBIDDEN_START = ("-", ".", "_", "~")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\[\]\u200b-\u200f\u202a-\u202e\u2060-\u2069\ud800-\udfff]')


def plain_name(given: str) -> str:
    r"""Return a safe name for a file that a client calls `given`.

    Examples
    --------
    >>> from uptonoise.serve.names import plain_name
    >>> plain_name("../../etc/passwd"), plain_name("C:\\data\\old [1].csv"), plain_name("--report.csv")
    ('passwd', 'old _1_.csv', 'report.csv')
    """
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rstrip("/").rpartition("/")[2]
    name = _FORBIDDEN.sub("_", last).strip().lstrip("".join(_FORBIDDEN_START)).strip()
    suffixes = "".join(Path(name).suffixes[-2:])[-20:]
    name = name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - len(suffixes)] + suffixes
    return f"file {name}" if name.lower() in _RESERVED else name or "file"
