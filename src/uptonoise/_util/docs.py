"""Parts of docstrings that several classes or functions share, written once."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc
from textwrap import indent
from typing import TypeVar

Documented = TypeVar("Documented")

_PLACE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


_SHARED = {
    "examples": """
        Examples
        --------
        >>> import numpy as np
        >>> import uptonoise as un
        >>> rng = np.random.default_rng(0)
    """,
}


def described(**parts: str) -> Callable[[Documented], Documented]:
    """Return a decorator that puts parts into docstrings, each where its name stands in braces on its own line.

    A part is indented as its place is; it may have places for other parts. All docstrings may have ``{examples}``, the
    lines that most examples begin with.

    Examples
    --------
    >>> from uptonoise._util.docs import described
    >>> seed = '''
    ...     random_state : None or int
    ...         The seed.
    ...     '''
    >>> @described(random_state=seed)
    ... def sample():
    ...     '''Sample a number.
    ...
    ...     Parameters
    ...     ----------
    ...     {random_state}
    ...     '''
    >>> print(sample.__doc__)
    Sample a number.
    ...

    Parameters
    ----------
        random_state : None or int
            The seed.
    """
    known = _SHARED | parts

    def part(place: re.Match[str]) -> str:
        spaces, name = place.groups()
        if name not in known:
            raise ValueError(f"there is no shared part of docstrings called {name!r}; there are {', '.join(known)}")
        return indent(_PLACE.sub(part, cleandoc(known[name])), spaces)

    def decorate(documented: Documented) -> Documented:
        documented.__doc__ = _PLACE.sub(part, str(documented.__doc__))
        return documented

    return decorate
